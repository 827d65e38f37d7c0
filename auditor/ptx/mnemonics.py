"""Instruction names of PTX: how a dotted name splits, which operations may block, and which spellings exist.

A dotted name is split into its *opcode*, the longest base name listed here, and its *modifiers*, the remaining parts
in order. Parts that are qualified with ``::`` stay whole, except in the last part of the opcode, where the qualifier
becomes the first modifier: ``tcgen05.wait::ld.sync.aligned`` is ``tcgen05.wait`` with ("ld", "sync", "aligned").
Section numbers in this package are those of PTX ISA 9.1.
"""

from __future__ import annotations

import re
from difflib import get_close_matches


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SYNC = """
mbarrier.init mbarrier.inval mbarrier.arrive mbarrier.arrive_drop mbarrier.expect_tx mbarrier.complete_tx
mbarrier.test_wait mbarrier.try_wait mbarrier.pending_count
cp.async cp.async.commit_group cp.async.wait_group cp.async.wait_all cp.async.mbarrier.arrive
cp.async.bulk cp.async.bulk.tensor cp.async.bulk.commit_group cp.async.bulk.wait_group cp.async.bulk.prefetch
cp.async.bulk.prefetch.tensor cp.reduce.async.bulk cp.reduce.async.bulk.tensor
tcgen05.alloc tcgen05.dealloc tcgen05.relinquish_alloc_permit tcgen05.ld tcgen05.st tcgen05.wait tcgen05.fence
tcgen05.cp tcgen05.shift tcgen05.mma tcgen05.commit
wgmma.fence wgmma.commit_group wgmma.wait_group wgmma.mma_async
barrier bar bar.warp.sync barrier.cluster fence fence.proxy fence.mbarrier_init membar
elect.sync griddepcontrol setmaxnreg mapa getctarank shfl shfl.sync vote vote.sync redux.sync activemask
match.any.sync match.all.sync
tensormap.replace tensormap.cp_fenceproxy clusterlaunchcontrol.try_cancel clusterlaunchcontrol.query_cancel
nanosleep trap brkpt exit ret bra brx.idx call
"""

_MEMORY = """
ld ldu st atom red st.async red.async st.bulk ldmatrix stmatrix movmatrix mma wmma.load wmma.store wmma.mma
multimem.ld_reduce multimem.st multimem.red multimem.cp.async.bulk multimem.cp.reduce.async.bulk
prefetch prefetchu applypriority discard createpolicy isspacep cvta istypep tex tld4 suld sust sured suq txq
alloca stacksave stackrestore pmevent
"""

_ARITHMETIC = """
mov add sub mul mad mul24 mad24 addc subc madc sad div rem abs neg min max popc clz bfind fns brev bfe bfi szext bmsk
dp4a dp2a shl shr shf and or xor not cnot lop3 prmt set setp selp slct cvt cvt.pack fma rcp sqrt rsqrt sin cos lg2 ex2
tanh testp copysign
vadd vsub vabsdiff vmin vmax vshl vshr vmad vset vadd2 vsub2 vavrg2 vabsdiff2 vmin2 vmax2 vset2 vadd4 vsub4 vavrg4
vabsdiff4 vmin4 vmax4 vset4
"""

OPCODES: frozenset[str] = _words(_SYNC + _MEMORY + _ARITHMETIC)
_LONGEST = max(name.count(".") for name in OPCODES) + 1

# Special registers (chapter 10), without a component such as ``.x`` and without trailing numbers.
_SPECIAL = _words(
    """
    %tid %ntid %laneid %warpid %nwarpid %ctaid %nctaid %smid %nsmid %gridid %is_explicit_cluster %clusterid %nclusterid
    %cluster_ctaid %cluster_nctaid %cluster_ctarank %cluster_nctarank %lanemask_eq %lanemask_le %lanemask_lt
    %lanemask_ge %lanemask_gt %clock %clock_hi %clock64 %pm %envreg %globaltimer %globaltimer_lo %globaltimer_hi
    %reserved_smem_offset_begin %reserved_smem_offset_end %reserved_smem_offset_cap %reserved_smem_offset_
    %total_smem_size %aggr_smem_size %dynamic_smem_size %current_graph_exec
    """
)

_ALWAYS_BLOCKING = _words(
    """
    mbarrier.try_wait mbarrier.test_wait bar.warp.sync elect.sync shfl.sync vote.sync redux.sync
    match.any.sync match.all.sync
    tcgen05.alloc tcgen05.dealloc tcgen05.relinquish_alloc_permit tcgen05.ld tcgen05.st tcgen05.wait setmaxnreg
    wgmma.fence wgmma.commit_group wgmma.wait_group wgmma.mma_async tensormap.cp_fenceproxy
    cp.async.wait_group cp.async.wait_all cp.async.bulk.wait_group nanosleep
    """
)


def split(name: str) -> tuple[str, tuple[str, ...]]:
    """Opcode and modifiers of a dotted name. The opcode of an unknown instruction is the first part of its name."""
    parts = name.split(".")
    for n in range(min(len(parts), _LONGEST), 0, -1):
        last, _, qualifier = parts[n - 1].partition("::")
        base = ".".join((*parts[: n - 1], last))
        if base in OPCODES:
            rest = tuple(parts[n:])
            return base, (qualifier, *rest) if qualifier else rest
    return parts[0], tuple(parts[1:])


def is_known(opcode: str) -> bool:
    """Whether ``opcode`` is a base name of PTX in the sense of ``split``."""
    return opcode in OPCODES


def is_special(name: str) -> bool:
    """Whether ``name`` (with its ``%``) is a special register."""
    base = name.partition(".")[0]
    return base in _SPECIAL or base.rstrip("0123456789") in _SPECIAL or base.removesuffix("_64") in _SPECIAL


def may_block(opcode: str, mods: tuple[str, ...]) -> bool:
    """Whether an instruction may wait, or needs the lanes of the warp together. Arrivals do neither."""
    if opcode in _ALWAYS_BLOCKING:
        return True
    if opcode in ("bar", "barrier"):
        return "arrive" not in mods
    if opcode in ("barrier.cluster", "griddepcontrol"):
        return "wait" in mods
    return "sync" in mods


_SCOPES = "cta cluster gpu sys "
_SHARED = "shared shared::cta shared::cluster "
_GROUP = "cta_group::1 cta_group::2 "
_WIDTHS = "x1 x2 x4 x8 x16 x32 x64 x128 "
_TMEM_SHAPES = "16x64b 16x128b 16x256b 32x32b 16x32bx2 "
_BULK = _SHARED + "global mbarrier::complete_tx::bytes bulk_group multicast::cluster L2::cache_hint "
_TENSOR = (
    _BULK + _GROUP + "1d 2d 3d 4d 5d tile tile::gather4 tile::scatter4 im2col im2col::w im2col::w::128 im2col_no_offs "
)
_REDUCE = "add min max inc dec and or xor "
_SCALARS = "f16 bf16 f32 f64 b32 b64 u32 u64 s32 s64 "

# The modifiers of each opcode of the families that are checked. A restriction of combinations is ptxas's business.
_VOCABULARY: dict[str, frozenset[str]] = {
    "mbarrier.init": _words(_SHARED + "b64"),
    "mbarrier.inval": _words(_SHARED + "b64"),
    "mbarrier.arrive": _words(_SCOPES + _SHARED + "release relaxed expect_tx noComplete b64"),
    "mbarrier.arrive_drop": _words(_SCOPES + _SHARED + "release relaxed expect_tx noComplete b64"),
    "mbarrier.expect_tx": _words(_SCOPES + _SHARED + "relaxed b64"),
    "mbarrier.complete_tx": _words(_SCOPES + _SHARED + "relaxed b64"),
    "mbarrier.test_wait": _words(_SCOPES + _SHARED + "acquire relaxed parity b64"),
    "mbarrier.try_wait": _words(_SCOPES + _SHARED + "acquire relaxed parity b64"),
    "mbarrier.pending_count": _words("b64"),
    "cp.async.bulk": _words(_BULK + "cp_mask ignore_oob"),
    "cp.async.bulk.tensor": _words(_TENSOR),
    "cp.async.bulk.commit_group": frozenset(),
    "cp.async.bulk.wait_group": _words("read"),
    "cp.async.bulk.prefetch": _words("L2 global L2::cache_hint"),
    "cp.async.bulk.prefetch.tensor": _words(_TENSOR + "L2"),
    "cp.reduce.async.bulk": _words(_BULK + _REDUCE + _SCALARS + "noftz"),
    "cp.reduce.async.bulk.tensor": _words(_TENSOR + _REDUCE),
    "tcgen05.alloc": _words(_GROUP + _SHARED + "sync aligned b32"),
    "tcgen05.dealloc": _words(_GROUP + "sync aligned b32"),
    "tcgen05.relinquish_alloc_permit": _words(_GROUP + "sync aligned"),
    "tcgen05.ld": _words(_TMEM_SHAPES + _WIDTHS + "sync aligned pack::16b red min max abs NaN b32 f32 u32 s32"),
    "tcgen05.st": _words(_TMEM_SHAPES + _WIDTHS + "sync aligned unpack::16b b32"),
    "tcgen05.wait": _words("ld st sync aligned"),
    "tcgen05.fence": _words("before_thread_sync after_thread_sync"),
    "tcgen05.cp": _words(
        _GROUP + "128x256b 4x256b 128x128b 64x128b 32x128b warpx2::02_13 warpx2::01_23 warpx4 b8x16 b6x16_p32 b4x16_p64"
    ),
    "tcgen05.shift": _words(_GROUP + "down"),
    "tcgen05.mma": _words(
        _GROUP
        + "ws sp kind::f16 kind::tf32 kind::f8f6f4 kind::i8 kind::mxf8f6f4 kind::mxf4 kind::mxf4nvf4 block_scale "
        + "scale_vec::1X scale_vec::2X scale_vec::4X block16 block32 ashift "
        + " ".join(
            f"collector::{buffer}::{use}"
            for buffer in ("a", "b0", "b1", "b2", "b3")
            for use in ("fill", "use", "lastuse", "discard")
        )
    ),
    "tcgen05.commit": _words(_GROUP + _SHARED + "mbarrier::arrive::one multicast::cluster b64"),
    "wgmma.fence": _words("sync aligned"),
    "wgmma.commit_group": _words("sync aligned"),
    "wgmma.wait_group": _words("sync aligned"),
    "wgmma.mma_async": _words("sp sync aligned f16 bf16 tf32 f32 s32 e4m3 e5m2 s8 u8 b1 and popc satfinite"),
    "barrier": _words("cta sync arrive red aligned popc and or pred u32"),
    "bar": _words("cta sync arrive red aligned popc and or pred u32"),
    "bar.warp.sync": frozenset(),
    "barrier.cluster": _words("arrive wait release relaxed acquire aligned"),
    "fence": _words(_SCOPES + "sc acq_rel acquire release sync_restrict::shared::cta sync_restrict::shared::cluster"),
    "fence.proxy": _words(
        _SCOPES
        + _SHARED
        + "alias async global local tensormap::generic async::generic acquire release "
        + "sync_restrict::shared::cta sync_restrict::shared::cluster"
    ),
    "fence.mbarrier_init": _words("release cluster"),
}

_FAMILIES = ("mbarrier", "tcgen05", "wgmma")
_WGMMA_SHAPE = re.compile(r"m64n\d+k\d+$")


def spelling_problem(opcode: str, mods: tuple[str, ...]) -> str | None:
    """A message when a part of the name does not exist in its family; None when it does, or is not checked.

    Checked: mbarrier, cp.async.bulk, cp.reduce.async.bulk, tcgen05, wgmma, barrier and fence. Parts that hold an asm
    operand of unknown value (``$6``) are skipped.
    """
    vocabulary = _VOCABULARY.get(opcode)
    if vocabulary is None:
        if opcode not in _FAMILIES:
            return None
        name = f"{opcode}.{mods[0]}" if mods else opcode
        near = get_close_matches(name, [n for n in OPCODES if n.startswith(opcode + ".")], 1)
        return f"'{name}' is not a PTX instruction" + (f"; did you mean '{near[0]}'?" if near else "")
    for part in mods:
        if part in vocabulary or "$" in part:
            continue
        if opcode == "wgmma.mma_async" and _WGMMA_SHAPE.match(part):
            continue
        near = get_close_matches(part, vocabulary, 1)
        return f"'{opcode}' has no modifier '.{part}'" + (f"; did you mean '.{near[0]}'?" if near else "")
    return None
