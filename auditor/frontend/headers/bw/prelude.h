// Included before each source: what nvcc provides without an include.
#pragma once
#include <bw/keywords.h>
#include <bw/types.h>
#include <bw/vector_types.h>
#include <bw/libc.h>
#include <bw/new.h>
#include <bw/math.h>
#include <bw/device.h>
#include <bw/atomics.h>
#include <bw/driver.h>
#include <bw/runtime.h>
#include <bw/std_core.h>
