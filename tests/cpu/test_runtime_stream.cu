/* test_runtime_stream.cu - the kernels of test_runtime_stream.c. */
#include "tests/graphs.cuh"
