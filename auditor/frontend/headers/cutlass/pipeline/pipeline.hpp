// All pipelines.
#pragma once
#include <cutlass/pipeline/sm90_pipeline.hpp>
#include <cutlass/pipeline/sm100_pipeline.hpp>
