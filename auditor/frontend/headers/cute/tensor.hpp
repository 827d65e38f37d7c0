// The layer of CuTe that stands for instructions, and the names of what lies above it, which is not modelled.
#pragma once
#include <cute/algorithm/copy.hpp>
#include <cute/arch/cluster_sm90.hpp>
#include <cute/arch/copy_sm100.hpp>
#include <cute/arch/copy_sm100_tma.hpp>
#include <cute/arch/copy_sm80.hpp>
#include <cute/arch/mma_sm100_umma.hpp>
#include <cute/arch/mma_sm90_gmma.hpp>
#include <cute/arch/tmem_allocator_sm100.hpp>
#include <cute/layout.hpp>
