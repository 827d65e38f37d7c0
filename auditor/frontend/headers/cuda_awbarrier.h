#pragma once
#include <bw/barrier.h>
