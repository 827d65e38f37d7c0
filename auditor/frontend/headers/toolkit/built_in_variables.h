// What takes the place of clang's header of the built-in variables beside a toolkit's headers. Clang's reads each field
// through a property, which libclang does not show; here a field is a field, as nvcc has it.
#ifndef __CUDA_BUILTIN_VARS_H
#define __CUDA_BUILTIN_VARS_H

struct uint3;
struct dim3;

// The conversions are defined by clang's wrapper, behind the vector types.
#define BW_BUILT_IN_VARIABLE(NAME)                             \
    struct __cuda_builtin_##NAME##_t {                         \
        unsigned int x, y, z;                                  \
        __attribute__((device)) operator dim3() const;         \
        __attribute__((device)) operator uint3() const;        \
    };                                                         \
    extern const __attribute__((device)) __cuda_builtin_##NAME##_t NAME

BW_BUILT_IN_VARIABLE(threadIdx);
BW_BUILT_IN_VARIABLE(blockIdx);
BW_BUILT_IN_VARIABLE(blockDim);
BW_BUILT_IN_VARIABLE(gridDim);
#undef BW_BUILT_IN_VARIABLE

__attribute__((device)) const int warpSize = 32;

#endif
