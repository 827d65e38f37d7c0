"""The PTX parser: names, operands, scopes, labels and bad text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.ptx.grammar import (
    Addr,
    AsmBlock,
    Imm,
    Instr,
    Not,
    Pair,
    Param,
    Reg,
    Sink,
    Special,
    Symbol,
    VectorOperand,
    is_known,
    misspelled,
    number,
    parse_asm,
)
from auditor.ptx.mnemonics import split


def parse(template: str, *, n: int = 0, constants: dict[int, int] | None = None) -> AsmBlock:
    return parse_asm(template, ["r"] * n, 0, constants or {})


def one(template: str, constants: dict[int, int] | None = None) -> Instr:
    block = parse(template, constants=constants)
    assert block.errors == ()
    assert len(block.instrs) == 1
    return block.instrs[0]


@pytest.mark.parametrize(
    ("name", "opcode", "mods"),
    [
        ("mbarrier.try_wait.parity.shared::cta.b64", "mbarrier.try_wait", ("parity", "shared::cta", "b64")),
        ("mbarrier.arrive.expect_tx.shared.b64", "mbarrier.arrive", ("expect_tx", "shared", "b64")),
        ("mbarrier.arrive_drop.b64", "mbarrier.arrive_drop", ("b64",)),
        ("tcgen05.wait::ld.sync.aligned", "tcgen05.wait", ("ld", "sync", "aligned")),
        ("tcgen05.fence::before_thread_sync", "tcgen05.fence", ("before_thread_sync",)),
        ("tcgen05.mma.ws.sp.cta_group::1.kind::f16", "tcgen05.mma", ("ws", "sp", "cta_group::1", "kind::f16")),
        ("cp.async.ca.shared.global", "cp.async", ("ca", "shared", "global")),
        ("cp.async.wait_group", "cp.async.wait_group", ()),
        ("cp.async.mbarrier.arrive.noinc.b64", "cp.async.mbarrier.arrive", ("noinc", "b64")),
        ("cp.async.bulk.global.shared::cta.bulk_group", "cp.async.bulk", ("global", "shared::cta", "bulk_group")),
        ("cp.async.bulk.prefetch.tensor.2d.L2.global", "cp.async.bulk.prefetch.tensor", ("2d", "L2", "global")),
        ("cp.async.bulk.wait_group.read", "cp.async.bulk.wait_group", ("read",)),
        ("cp.reduce.async.bulk.tensor.1d.global", "cp.reduce.async.bulk.tensor", ("1d", "global")),
        ("fence.proxy.async.shared::cta", "fence.proxy", ("async", "shared::cta")),
        ("fence.proxy.tensormap::generic.acquire.gpu", "fence.proxy", ("tensormap::generic", "acquire", "gpu")),
        ("fence.mbarrier_init.release.cluster", "fence.mbarrier_init", ("release", "cluster")),
        ("fence.acq_rel.gpu", "fence", ("acq_rel", "gpu")),
        ("barrier.cluster.arrive.release.aligned", "barrier.cluster", ("arrive", "release", "aligned")),
        ("barrier.cta.sync.aligned", "barrier", ("cta", "sync", "aligned")),
        ("bar.warp.sync", "bar.warp.sync", ()),
        ("bar.sync", "bar", ("sync",)),
        ("shfl.sync.idx.b32", "shfl.sync", ("idx", "b32")),
        ("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "mma", None),
        ("ld.global.nc.L1::no_allocate.v4.u32", "ld", ("global", "nc", "L1::no_allocate", "v4", "u32")),
        ("st.async.weak.shared::cluster.b32", "st.async", ("weak", "shared::cluster", "b32")),
        ("tensormap.replace.tile.global_address.shared::cta.b1024.b64", "tensormap.replace", None),
        ("frobnicate.b32", "frobnicate", ("b32",)),
    ],
)
def test_names_split_into_the_longest_opcode_and_modifiers(name: str, opcode: str, mods: tuple[str, ...]) -> None:
    got = split(name)
    assert got[0] == opcode
    if mods is not None:
        assert got[1] == mods
    assert is_known(opcode) == (opcode != "frobnicate")


def test_tensor_copy() -> None:
    instr = one(
        "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster [$0], [$1, {$2, $3}], [$4 + 8], $5;"
    )
    assert instr.opcode == "cp.async.bulk.tensor"
    assert instr.operands == (
        Addr(Param(0)),
        Addr(Param(1), 0, (Param(2), Param(3))),
        Addr(Param(4), 8),
        Param(5),
    )
    assert instr.has("2d", "tile", "multicast::cluster")
    assert not instr.has("2d", "im2col")
    assert instr.mod_in({"global", "shared::cluster"}) == "shared::cluster"
    assert instr.mod_prefix("cta_group::") == "2"
    assert instr.mod_prefix("kind::") is None


def test_wait_loop() -> None:
    block = parse(
        "{\n\t.reg .pred P1;\n\tLAB_WAIT_${:uid}:\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 P1, [$0], $1, 0x989680;\n\t"
        "@P1 bra DONE;\n\t@!P1 bra LAB_WAIT_${:uid};\n\tDONE:\n\t}",
        n=2,
    )
    assert block.errors == ()
    assert block.blocking
    wait, leave, again = block.instrs
    assert wait.operands == (Reg("P1"), Addr(Param(0)), Param(1), Imm(10_000_000))
    assert leave.pred == (False, Reg("P1"))
    assert again.pred == (True, Reg("P1"))
    assert block.labels == {"LAB_WAIT_0": 0, "DONE": 3}
    assert again.operands == (Symbol("LAB_WAIT_0"),)
    assert [i.line for i in block.instrs] == [4, 5, 6]
    assert block.regs == {"P1": "pred"}
    assert block.n_inputs == 2


def test_election_and_parameterised_registers() -> None:
    block = parse("{ .reg .pred p<3>; .reg .b32 %laneid; elect.sync %laneid|p1, 0xffffffff; @!p1 bra $$L; $$L: }")
    assert block.errors == ()
    assert block.regs == {"p0": "pred", "p1": "pred", "p2": "pred", "%laneid": "b32"}
    assert block.instrs[0].operands == (Pair(Reg("%laneid"), Reg("p1")), Imm(0xFFFFFFFF))
    assert block.labels == {"$L": 2}


def test_operand_inside_the_name() -> None:
    text = "tcgen05.mma.cta_group::$6.kind::f16 [$0], $1, $2, $3, {_, $4}, !p, $6"
    instr = one(text, {6: 2})
    assert instr.mod_prefix("cta_group::") == "2"
    assert instr.operands[-1] == Imm(2)
    assert instr.operands[-2] == Not(Symbol("p"))
    assert instr.operands[4] == VectorOperand((Sink(), Param(4)))
    unknown = parse(text)
    assert "operand" in unknown.errors[0]
    assert unknown.instrs[0].mod_prefix("cta_group::") == "$6"
    assert misspelled(unknown.instrs[0]) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0f3F800000", 1.0),
        ("0d4000000000000000", 2.0),
        ("0x1FU", 31),
        ("017", 15),
        ("0b101", 5),
        ("-3", -3),
        ("1.5", 1.5),
        ("42U", 42),
        ("(1<<4)|3", 19),
        ("1 << 4 | 1 + 2 * 3", 23),
        ("~0", -1),
        ("WARP_SZ", 32),
        ("${0:h}", 7),
    ],
)
def test_immediates(text: str, value: int | float) -> None:
    assert one(f"mov.b32 x, {text};", {0: 7}).operands[1] == Imm(value)


@pytest.mark.parametrize(
    ("text", "addr"),
    [
        ("[$0]", Addr(Param(0))),
        ("[$0+16]", Addr(Param(0), 16)),
        ("[ $0 + 8*2 ]", Addr(Param(0), 16)),
        ("[$0 + -4]", Addr(Param(0), -4)),
        ("[$0-4]", Addr(Param(0), -4)),
        ("[$0 + $1]", Addr(Param(0), Param(1))),
        ("[4096+16]", Addr(None, 4112)),
        ("[buf+8]", Addr(Symbol("buf"), 8)),
        ("[%rd4]", Addr(Reg("%rd4"))),
        ("[$0, {1}, {$1, 2}]", Addr(Param(0), 0, (Imm(1),), (Param(1), Imm(2)))),
    ],
)
def test_addresses(text: str, addr: Addr) -> None:
    assert one(f"ld.shared.b32 x, {text};").operands[1] == addr


def test_special_registers_unless_declared() -> None:
    assert one("mov.u32 $0, %tid.x;").operands[1] == Special("%tid.x")
    assert one("mov.u32 $0, %cluster_ctarank;").operands[1] == Special("%cluster_ctarank")
    block = parse(".reg .b32 %tid; mov.u32 $0, %tid;")
    assert block.instrs[0].operands[1] == Reg("%tid")


def test_scopes_rename_hidden_registers_and_labels() -> None:
    block = parse("{ .reg .b32 r; mov.b32 r, 1; { .reg .u64 r; mov.b64 r, 2; L: bra L; } { L: bra L; } mov.b32 r, 3; }")
    assert block.errors == ()
    assert [i.operands[0] for i in block.instrs if i.opcode == "mov"] == [Reg("r"), Reg("r#2"), Reg("r")]
    assert block.regs == {"r": "b32", "r#2": "u64"}
    branches = [i.operands[0] for i in block.instrs if i.opcode == "bra"]
    assert branches == [Symbol("L"), Symbol("L#2")]
    assert block.labels == {"L": 2, "L#2": 3}


def test_comments_pragmas_and_layout() -> None:
    block = parse('// first\n.pragma "nounroll";\n/* two\nlines */ fence.proxy.async; /* x */ membar.gl // end')
    assert [(i.opcode, i.line) for i in block.instrs] == [("fence.proxy", 4), ("membar", 4)]
    assert block.errors == ()


@pytest.mark.parametrize(
    "text",
    [
        "foo.bar 3x; ",
        "mov.b32 x, ; ",
        "ld.b32 x, [a; ",
        "@ ; ",
        "mov.b32 x y; ",
        '"text"; ',
        "mov.b32 x, \x00; ",
        "= ;",
    ],
)
def test_bad_statements_are_kept_and_reported(text: str) -> None:
    block = parse(text + "trap;")
    assert len(block.errors) == 1
    assert [i.opcode for i in block.instrs] == ["?", "trap"]


def test_undefined_label() -> None:
    assert parse("bra NOWHERE;").errors == ("label 'NOWHERE' is not defined",)


@given(st.text(alphabet="{}[](),;:@!|$%<>.\"'\n\t _+-*/0123456789abpr\\\x01\x02", max_size=60))
def test_never_raises(text: str) -> None:
    block = parse(text)
    assert all(0 <= index <= len(block.instrs) for index in block.labels.values())


@pytest.mark.parametrize(
    ("text", "blocking"),
    [
        ("mbarrier.test_wait.parity.b64 p, [$0], $1;", True),
        ("mbarrier.arrive.b64 _, [$0];", False),
        ("bar.sync 1, 128;", True),
        ("barrier.cta.red.popc.u32 $0, 1, p;", True),
        ("bar.arrive 1, 128;", False),
        ("barrier.cluster.arrive.relaxed.aligned;", False),
        ("barrier.cluster.wait.acquire.aligned;", True),
        ("elect.sync _|p, -1;", True),
        ("tcgen05.ld.32x32b.x1.b32 {$0}, [$1];", True),
        ("tcgen05.mma.cta_group::1.kind::f16 [$0], $1, $2, $3, p;", False),
        ("tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [$0];", False),
        ("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {a, b, c, d}, [$0];", True),
        ("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 a, b, c, d;", True),
        ("cp.async.wait_all;", True),
        ("cp.async.bulk.wait_group.read 0;", True),
        ("cp.async.bulk.commit_group;", False),
        ("griddepcontrol.wait;", True),
        ("griddepcontrol.launch_dependents;", False),
        ("nanosleep.u32 20;", True),
        ("L: add.u32 a, b, c; @p bra L;", True),
        ("@p bra L; add.u32 a, b, c; L:", False),
        ("fence.acq_rel.cluster;", False),
    ],
)
def test_blocking(text: str, blocking: bool) -> None:
    assert parse(text).blocking is blocking


def test_operands_of_the_statement() -> None:
    block = parse_asm("add.u32 $0, $0, $2; mov.u32 $1, $3;", ["+r", "=r", "r", "n"], 2, {3: 5})
    assert (block.n_outputs, block.n_inputs, block.tied) == (2, 2, (0,))
    assert block.instrs[1].operands == (Param(1), Imm(5))
    assert parse_asm("add.u32 $0, $0, $2; mov.u32 $1, $3;", ["+r", "=r", "r", "n"], 2, {3: 5}) is block


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("mbarrier.ival.shared.b64 [$0];", "mbarrier.inval"),
        ("mbarrier.init.shared::bta.b64 [$0], 1;", "shared::cta"),
        ("tcgen05.allocate.sync.aligned [$0], 32;", "tcgen05.alloc"),
        ("tcgen05.mma.cta_group::3.kind::f16 [$0], $1, $2, $3, p;", "cta_group::"),
        (
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::byte [$0], [$1, {1, 2}], [$2];",
            "bytes",
        ),
        ("fence.proxy.asynch;", "async"),
        ("wgmma.wait_groups.sync.aligned 0;", "wgmma.wait_group"),
    ],
)
def test_misspelled(text: str, hint: str) -> None:
    message = misspelled(one(text))
    assert message is not None
    assert hint in message


@pytest.mark.parametrize(
    "text",
    [
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {a}, $0, $1, p, 1, 1, 0, 0;",
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;",
        "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [$0], $1, $2, $3, [$4], [$5], p;",
        "mbarrier.arrive.noComplete.release.cta.shared::cta.b64 s, [$0], 1;",
        "cp.async.ca.shared.global [$0], [$1], 16;",
    ],
)
def test_spelled_well(text: str) -> None:
    assert misspelled(one(text)) is None


def test_digits_that_make_no_octal_number_are_read_all_the_same() -> None:
    assert [number(text) for text in ("010", "08", "0", "09U")] == [8, 8, 0, 9]
