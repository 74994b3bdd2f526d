/* Kernels of test_cpu_remote_nodes.c: those of the calls. */
#include "layers/remote/test_cpu_remote_calls.cu"
