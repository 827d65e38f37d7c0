// Where a thread stands, and the status that host functions return.
#pragma once
#include <cute/config.hpp>

namespace cutlass {

enum class Status {
    kSuccess, kErrorMisalignedOperand, kErrorInvalidDataType, kErrorInvalidLayout, kErrorInvalidProblem, kErrorNotSupported,
    kErrorWorkspaceNull, kErrorInternal, kErrorArchMismatch, kErrorInsufficientDriver, kErrorMemoryAllocation, kInvalid
};
__host__ __device__ const char *cutlassGetStatusString(Status);

static const int NumThreadsPerWarp = 32;
static const int NumThreadsPerWarpGroup = 128;
static const int NumWarpsPerWarpGroup = 4;
static const int NumThreadsPerHalfWarp = 16;
static const int NumThreadsPerQuad = 4;
static const int NumThreadsPerQuadPair = 8;

BW_DEV bool thread0() { return threadIdx.x + threadIdx.y + threadIdx.z + blockIdx.x + blockIdx.y + blockIdx.z == 0; }
BW_DEV int canonical_lane_idx() { return threadIdx.x % 32; }
BW_DEV int canonical_warp_idx() { return threadIdx.x / 32; }
BW_DEV int canonical_warp_idx_sync() { return __shfl_sync(0xffffffffu, (int)(threadIdx.x / 32), 0); }
BW_DEV int canonical_warp_group_idx() { return __shfl_sync(0xffffffffu, (int)(threadIdx.x / 128), 0); }

}  // namespace cutlass
