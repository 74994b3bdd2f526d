/* test_cpu_fork.cu - the kernels of test_cpu_fork.c. */
#include "tests/graphs.cuh"
