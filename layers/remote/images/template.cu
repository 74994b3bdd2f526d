/* Kernels of a template, whose names are mangled. */
#include <cuda_runtime.h>

template <class T, int N> static __global__ void image_template(T *to, T value)
{
	to[threadIdx.x] = value * N;
}

extern "C" int run_template(void *to)
{
	image_template<int, 3><<<1, 32>>>((int *)to, 7);
	image_template<double, 5><<<2, 64>>>((double *)to, 0.5);
	return (int)cudaGetLastError();
}
