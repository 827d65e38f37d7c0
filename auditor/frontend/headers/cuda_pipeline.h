// The pipeline primitives are among the built-ins.
#pragma once
#include <bw/prelude.h>
