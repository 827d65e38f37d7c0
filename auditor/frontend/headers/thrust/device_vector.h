// As host_vector.h.
#pragma once
#include <thrust/host_vector.h>
