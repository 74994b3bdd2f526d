/* test_runtime_fork.cu - the kernels of test_runtime_fork.c. */
#include "tests/graphs.cuh"
