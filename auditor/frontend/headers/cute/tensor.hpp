// The layer of CuTe that stands for instructions. Tensors, layouts and their algorithms are not modelled.
#pragma once
#include <cute/arch/cluster_sm90.hpp>
#include <cute/arch/copy_sm100.hpp>
#include <cute/arch/copy_sm100_tma.hpp>
#include <cute/arch/mma_sm100_umma.hpp>
#include <cute/arch/mma_sm90_gmma.hpp>
#include <cute/arch/tmem_allocator_sm100.hpp>
#include <cute/container/array.hpp>
#include <cutlass/numeric_types.h>
