/* test_runtime_nodes.cu - the kernels of test_runtime_nodes.c. */
#include "tests/graphs.cuh"
