/* Kernels of test_cpu_remote_together.c: those of the calls. */
#include "layers/remote/test_cpu_remote_calls.cu"
