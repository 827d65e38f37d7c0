// wgmma: fences and groups, and the classes whose fma() is one instruction.
#pragma once
#include <cute/arch/mma_sm90_desc.hpp>

namespace cute {

BW_DEV void warpgroup_arrive() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
BW_DEV void warpgroup_commit_batch() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int n> BW_DEV void warpgroup_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(n) : "memory"); }
// They hold the compiler back, and are no instructions.
BW_DEV void warpgroup_fence_operand(uint32_t &) {}
BW_DEV void warpgroup_fence_operand(float &) {}

namespace SM90::GMMA {
enum class Major { K = 0, MN = 1 };
enum class ScaleOut { Zero = 0, One = 1 };
enum class ScaleIn { Neg = -1, One = 1 };
enum class SparseSel { Zero = 0, One = 1 };
#include <bw/wgmma_atoms.h>  // made by the frontend for the shapes that the source names
}  // namespace SM90::GMMA

}  // namespace cute
