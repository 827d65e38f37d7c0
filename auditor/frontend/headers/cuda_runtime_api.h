// Part of what is included before each source.
#pragma once
#include <bw/prelude.h>
