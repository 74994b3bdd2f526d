/* memory.cu - overruns, use after free, undefined arithmetic in kernels (see bugs.cuh). */
#include "tests/bugs/bugs.cuh"

enum { N = 256 };

extern "C" __global__ void fill(int *p, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		p[i] = i;
}
KERNEL(fill);

static void global_overrun(void)
{
	CUDA(LAUNCH(fill, 2, N, 0, 0, zeroed_ints(N), N + 1));
}

static void use_after_free(void)
{
	int *p = zeroed_ints(N);

	CUDA(cudaFree(p));
	CUDA(LAUNCH(fill, 1, N, 0, 0, p, N));
}

/* Rotates through shared memory, `shift` elements too far. */
extern "C" __global__ void rotate_dynamic(int *p, int shift)
{
	DYN_SHARED(int, tile);

	tile[threadIdx.x + shift] = threadIdx.x;
	__syncthreads();
	p[threadIdx.x] = tile[threadIdx.x];
}
KERNEL(rotate_dynamic);

static void dynamic_shared_overrun(void)
{
	CUDA(LAUNCH(rotate_dynamic, 1, N, N * sizeof(int), 0, zeroed_ints(N), 1));
}

extern "C" __global__ void rotate_static(int *p, int shift)
{
	SHARED_ARRAY(int, tile, [N]);

	tile[threadIdx.x + shift] = threadIdx.x;
	__syncthreads();
	p[threadIdx.x] = tile[threadIdx.x];
}
KERNEL(rotate_static);

static void static_shared_index(void)
{
	CUDA(LAUNCH(rotate_static, 1, N, 0, 0, zeroed_ints(N), 1));
}

static __device__ __attribute__((noinline)) void put(int *where, int value)
{
	*where = value;
}

/* Through a pointer, where the size of the array is not in sight. */
extern "C" __global__ void rotate_by_pointer(int *p, int shift)
{
	SHARED_ARRAY(int, tile, [N]);

	put(&tile[0] + threadIdx.x + shift, threadIdx.x);
	__syncthreads();
	p[threadIdx.x] = tile[threadIdx.x];
}
KERNEL(rotate_by_pointer);

static void static_shared_pointer(void)
{
	CUDA(LAUNCH(rotate_by_pointer, 1, N, 0, 0, zeroed_ints(N), 1));
}

extern "C" __global__ void local_sum(int *p, int n)
{
	int a[8];

	for (int i = 0; i < 8; i++)
		a[i] = i;
	__syncthreads();
	p[threadIdx.x] = a[(threadIdx.x % 8) + n];
}
KERNEL(local_sum);

static void local_array_index(void)
{
	CUDA(LAUNCH(local_sum, 1, N, 0, 0, zeroed_ints(N), 1));
}

extern "C" __global__ void powers(int *p, int more)
{
	p[threadIdx.x] = 1 << (threadIdx.x % 31 + more);
}
KERNEL(powers);

static void shift_too_far(void)
{
	CUDA(LAUNCH(powers, 1, N, 0, 0, zeroed_ints(N), 2));
}

extern "C" __global__ void add_up(int *p, int much)
{
	p[threadIdx.x] = (int)threadIdx.x + much;
}
KERNEL(add_up);

static void signed_overflow(void)
{
	CUDA(LAUNCH(add_up, 1, N, 0, 0, zeroed_ints(N), 0x7fffffff));
}

extern "C" __global__ void fill_by_bytes(char *p)
{
	*(int *)(p + 6 * threadIdx.x) = threadIdx.x;
}
KERNEL(fill_by_bytes);

static void misaligned_pointer(void)
{
	CUDA(LAUNCH(fill_by_bytes, 1, 32, 0, 0, (char *)zeroed_ints(N)));
}

#define ASAN(name)                                                                                 \
	{                                                                                          \
#name, "asan", name                                                                \
	}
const struct bug memory_bugs[] = {
	ASAN(global_overrun),	      ASAN(use_after_free),
	ASAN(dynamic_shared_overrun), ASAN(static_shared_index),
	ASAN(static_shared_pointer),  ASAN(local_array_index),
	ASAN(shift_too_far),	      ASAN(signed_overflow),
	ASAN(misaligned_pointer),     {},
};
