/* test_runtime_graph.cu - the kernels of test_runtime_graph.c. */
#include "tests/graphs.cuh"
