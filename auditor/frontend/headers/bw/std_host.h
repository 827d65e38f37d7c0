#pragma once
#include <bw/std_containers.h>
