/* test_cpu_nodes.cu - the kernels of test_cpu_nodes.c. */
#include "tests/graphs.cuh"
