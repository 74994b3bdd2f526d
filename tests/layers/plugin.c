/* plugin.c - a library with a CUDA runtime of its own beside it, which its program knows nothing
 * of. */
#include <cuda_runtime_api.h>
#include <stdint.h>

int plugin(void);

/* Nine calls; 0, a CUDA error, or -1 for bytes that are not those that were copied. */
int plugin(void)
{
	uint64_t out = 0, in = 0x0123456789abcdef;
	cudaStream_t stream;
	void *memory;
	int count, err = (int)cudaGetDeviceCount(&count);

	err = err ? err : (int)cudaStreamCreate(&stream);
	err = err ? err : (int)cudaMalloc(&memory, sizeof(in));
	err = err ? err
		  : (int)cudaMemcpyAsync(memory, &in, sizeof(in), cudaMemcpyHostToDevice, stream);
	err = err ? err
		  : (int)cudaMemcpyAsync(&out, memory, sizeof(in), cudaMemcpyDeviceToHost, stream);
	err = err ? err : (int)cudaStreamSynchronize(stream);
	err = err ? err : (int)cudaFree(memory);
	err = err ? err : (int)cudaStreamDestroy(stream);
	err = err ? err : (int)cudaGetLastError();
	return err ? err : in == out ? 0 : -1;
}
