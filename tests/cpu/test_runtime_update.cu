/* test_runtime_update.cu - the kernels of test_runtime_update.c. */
#include "tests/graphs.cuh"
