// Programmatic dependent launch, which a build turns on with a macro.
#pragma once
#include <cutlass/cutlass.h>

#if (defined(CUTLASS_ENABLE_GDC_FOR_SM90) && __CUDA_ARCH__ == 900) || (defined(CUTLASS_ENABLE_GDC_FOR_SM100) && __CUDA_ARCH__ >= 1000)
#define CUTLASS_GDC_ENABLED
#endif

namespace cutlass {
namespace arch {
#ifdef CUTLASS_GDC_ENABLED
BW_DEV void launch_dependent_grids() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
BW_DEV void wait_on_dependent_grids() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
static constexpr bool IsGdcGloballyEnabled = true;
#else
BW_DEV void launch_dependent_grids() {}
BW_DEV void wait_on_dependent_grids() {}
static constexpr bool IsGdcGloballyEnabled = false;
#endif
}  // namespace arch
}  // namespace cutlass
