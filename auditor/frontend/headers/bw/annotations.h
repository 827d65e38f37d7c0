// Launch attributes as annotations, which keep their arguments as expressions that the frontend can evaluate.
// Included after a toolkit's headers too.
#pragma once

#undef __launch_bounds__
#undef __cluster_dims__
#undef __block_size__
#undef __maxnreg__
#undef __grid_constant__
#define __launch_bounds__(...) __attribute__((annotate("bw.launch_bounds", __VA_ARGS__)))
#define __cluster_dims__(...) __attribute__((annotate("bw.cluster_dims", __VA_ARGS__)))
#define __block_size__(...) __attribute__((annotate("bw.block_size")))
#define __maxnreg__(...) __attribute__((annotate("bw.maxnreg", __VA_ARGS__)))
#define __grid_constant__ __attribute__((annotate("bw.grid_constant")))
// In place of __shared__ where clang takes it for an error that a class initialises its members: nvcc does not run that.
#define __bw_shr__ __attribute__((annotate("bw.shared")))
