/* Compiled with a default stream for each thread: other names of the runtime's functions. */
#include <cuda_runtime.h>

extern "C" __global__ void image_per_thread(int *to)
{
	*to += 1;
}

/* What comes back of the 42 that it copies, through calls with and without a stream. */
extern "C" int run_per_thread(int *to)
{
	int value = 42, back = 0;

	image_per_thread<<<1, 1>>>(to);
	if (cudaGetLastError() || cudaMemcpy(to, &value, sizeof(value), cudaMemcpyHostToDevice) ||
	    cudaMemcpyAsync(&back, to, sizeof(back), cudaMemcpyDeviceToHost, 0) ||
	    cudaStreamSynchronize(0))
		return -(int)cudaGetLastError();
	return back;
}
