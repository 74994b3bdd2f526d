/* test_cpu_made.cu - the kernels of test_cpu_made.c. */
#include "tests/graphs.cuh"
