// cuda::std is our std.
#pragma once
#include <bw/std_containers.h>
#include <cuda/atomic>

namespace cuda {
namespace std {
using namespace ::std;
}
}  // namespace cuda
