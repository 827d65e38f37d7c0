"""Each function of our CuTe and CUTLASS headers becomes PTX that the grammar accepts, with the opcode it stands for."""

from __future__ import annotations

import pytest

from auditor.frontend import build_program
from auditor.frontend.options import Options

PREAMBLE = """
#include <cute/tensor.hpp>
#include <cutlass/arch/arch.h>
#include <cutlass/arch/grid_dependency_control.h>
#include <cutlass/arch/reg_reconfig.h>
#include <cutlass/pipeline/pipeline.hpp>
using namespace cute;
using namespace cutlass::arch;
using Full = ClusterTransactionBarrier;
__global__ void k(unsigned *p, const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) char m[1024];
  uint64_t *bar = (uint64_t *)m, d = p[1];
  Full &b = *(Full *)m;
  uint32_t u = p[2], v[8];
  uint16_t h = u;
  CALL
  p[0] = v[0];
}
"""
LOAD = "cp.async.bulk.tensor"
CASES = [
    ("b.init(4);", "mbarrier.init"),
    ("b.wait(u);", "mbarrier.try_wait.parity"),
    ("v[0] = b.try_wait(u);", "mbarrier.try_wait.parity"),
    ("v[0] = b.test_wait(u);", "mbarrier.test_wait.parity"),
    ("b.arrive();", "mbarrier.arrive.shared::cta"),
    ("b.arrive(u);", "mbarrier.arrive.shared::cluster"),
    ("b.arrive_relaxed_cluster(u);", "mbarrier.arrive.relaxed.cluster.shared::cluster"),
    ("b.arrive_and_expect_tx(64);", "mbarrier.arrive.expect_tx.shared::cta"),
    ("b.arrive_and_expect_tx(64, u);", "mbarrier.arrive.expect_tx.shared::cluster"),
    ("b.arrive_and_expect_tx_relaxed_cluster(64, u);", "mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster"),
    ("b.expect_transaction(64);", "mbarrier.expect_tx"),
    ("b.complete_transaction(64);", "mbarrier.complete_tx"),
    ("Full::invalidate(bar);", "mbarrier.inval"),
    ("NamedBarrier(64, 1).arrive_and_wait();", "bar.sync"),
    ("NamedBarrier(64, 1).arrive_unaligned();", "barrier.arrive"),
    ("NamedBarrier::arrive(64, ReservedNamedBarriers::EpilogueBarrier);", "bar.arrive"),
    ("fence_barrier_init();", "fence.mbarrier_init.release.cluster"),
    ("fence_view_async_shared();", "fence.proxy.async.shared::cta"),
    ("fence_view_shared();", "fence.release.sync_restrict::shared::cta.cluster"),
    ("cpasync_barrier_arrive(bar);", "cp.async.mbarrier.arrive.shared::cta"),
    ("cpasync_barrier_arrive_noinc(bar);", "cp.async.mbarrier.arrive.noinc.shared::cta"),
    ("umma_arrive(bar);", "tcgen05.commit.cta_group::1"),
    ("umma_arrive_2x1SM(bar);", "tcgen05.commit.cta_group::2"),
    ("umma_arrive_multicast(bar, h);", "tcgen05.commit.cta_group::1"),
    ("umma_arrive_multicast_2x1SM_no_elect(bar, h);", "tcgen05.commit.cta_group::2"),
    ("umma_arrive_2x1SM_sm0(bar);", "mbarrier.arrive.shared::cluster"),
    ("fence_view_async_tmem_store();", "tcgen05.wait"),
    ("warpgroup_reg_alloc<240>();", "setmaxnreg.inc"),
    ("cluster_arrive_relaxed();", "barrier.cluster.arrive.relaxed"),
    ("store_shared_remote(u, u, u, u);", "st.async"),
    ("v[0] = elect_one_leader_sync().is_leader;", "elect.sync"),
    ("SM90_TMA_LOAD::copy(&map, bar, d, m, 0, 1, 2, 3, 4);", f"{LOAD}.5d.shared::cluster.global"),
    ("SM90_TMA_LOAD_MULTICAST::copy(&map, bar, h, d, m, 0, 1);", f"{LOAD}.2d.shared::cluster.global"),
    ("SM90_TMA_LOAD_IM2COL::copy(&map, bar, m, 0, 1, 2, 3, h, h);", f"{LOAD}.4d.shared::cluster.global.im2col"),
    ("SM90_TMA_LOAD::PREFETCH::copy(&map, 0, 1, 2);", "cp.async.bulk.prefetch.tensor.3d.L2.global"),
    ("SM100_TMA_2SM_LOAD::copy(&map, bar, d, m, 0, 1);", f"{LOAD}.2d.cta_group::2"),
    ("SM100_TMA_2SM_LOAD_MULTICAST::copy(&map, bar, h, d, m, 0);", f"{LOAD}.1d.cta_group::2"),
    ("SM90_TMA_STORE::copy(&map, m, 0, 1, 2);", f"{LOAD}.3d.global.shared::cta"),
    ("SM90_TMA_STORE_IM2COL::copy(&map, m, 0, 1, 2);", f"{LOAD}.3d.global.shared::cta.im2col_no_offs"),
    ("SM90_TMA_REDUCE_ADD::copy(&map, m, 0);", "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add"),
    ("SM90_BULK_COPY_S2G::copy(m, p, 64);", "cp.async.bulk.global.shared::cta"),
    ("tma_store_wait<2>();", "cp.async.bulk.wait_group.read"),
    ("tma_descriptor_cp_fence_release(&map, *(CUtensorMap *)m);", "tensormap.cp_fenceproxy"),
    ("tma_descriptor_replace_dims_strides_in_shared_mem(*(CUtensorMap *)m, {}, {});", "tensormap.replace.tile"),
    ("tma_descriptor_fence_acquire(&map);", "fence.proxy.tensormap::generic.acquire.gpu"),
    ("SM80_CP_ASYNC_CACHEGLOBAL<uint4>::copy(*(uint4 *)p, *(uint4 *)m);", "cp.async.cg.shared.global"),
    ("TMEM::Allocator2Sm().free(u, 64);", "tcgen05.dealloc.cta_group::2"),
    ("TMEM::Allocator1Sm().release_allocation_lock();", "tcgen05.relinquish_alloc_permit"),
    ("SM100::TMEM::UTCCP::SM100_UTCCP_4x32dp128bit_2cta::copy(d, u);", "tcgen05.cp.cta_group::2.32x128b.warpx4"),
]
ATOMS = [
    ("F16BF16_SS<half_t, half_t, float, 64, 64, UMMA::Major::K, UMMA::Major::MN>", "", "cta_group::1.kind::f16"),
    ("F16BF16_2x1SM_TS<half_t, half_t, float, 256, 64, UMMA::Major::K, UMMA::Major::K>", "", "cta_group::2.kind::f16"),
    ("TF32_SS_SCALED<float, float, float, 64, 64, UMMA::Major::K, UMMA::Major::K, 3>", "", "cta_group::1.kind::tf32"),
    ("S8_SS<int8_t, int8_t, int, 128, 64, UMMA::Major::K, UMMA::Major::K>", "", "cta_group::1.kind::i8"),
    ("F8F6F4_SS_SPARSE<float_e4m3_t, float_e4m3_t, float, 128, 64, UMMA::Major::K, UMMA::Major::K>", ", u",
     "sp.cta_group::1.kind::f8f6f4"),
    ("MXF8F6F4_SS<int, int, float, float, 128, 64, UMMA::Major::K, UMMA::Major::K>", ", u, u",
     "cta_group::1.kind::mxf8f6f4.block_scale"),
    ("MXF4_2x1SM_SS<int, int, float, int, 256, 64, 16, UMMA::Major::K, UMMA::Major::K>", ", u, u",
     "cta_group::2.kind::mxf4nvf4.block_scale.block16"),
    ("MXF4NVF4_SS_SPARSE<int, int, float, float, 128, 64, 64, UMMA::Major::K, UMMA::Major::K>", ", u, u, u",
     "sp.cta_group::1.kind::mxf4.block_scale.block32"),
]  # fmt: skip


def opcodes(calls: str, preamble: str = PREAMBLE) -> set[str]:
    """The opcodes with their modifiers of a kernel that makes these calls."""
    program = build_program("k.cu", preamble.replace("CALL", calls), Options(arch="sm_100a"))
    assert program.notes == []
    assert [block.errors for block in program.asm] == [()] * len(program.asm)
    return {".".join((instr.opcode, *instr.mods)) for block in program.asm for instr in block.instrs}


@pytest.fixture(scope="module")
def all_opcodes() -> set[str]:
    return opcodes("\n".join(call for call, _ in CASES))


@pytest.mark.parametrize("opcode", sorted({opcode for _, opcode in CASES}))
def test_operations(all_opcodes: set[str], opcode: str) -> None:
    assert any(found.startswith(opcode) for found in all_opcodes)


def test_mma() -> None:
    calls = [f"SM100_MMA_{atom}::fma({'u' if '_TS' in atom else 'd'}, d, u, 1u, d{more});" for atom, more, _ in ATOMS]
    found = opcodes("\n".join(calls))
    assert {f"tcgen05.mma.{form}" for _, _, form in ATOMS} <= found
    assert "elect.sync" in found


def test_dependent_launch_only_in_a_build_that_turns_it_on() -> None:
    calls = "wait_on_dependent_grids(); launch_dependent_grids();"
    built = "#define CUTLASS_ENABLE_GDC_FOR_SM100\n" + PREAMBLE
    operations = {"griddepcontrol.wait", "griddepcontrol.launch_dependents"}
    assert not operations & opcodes(calls)
    assert operations <= opcodes(calls, built)
