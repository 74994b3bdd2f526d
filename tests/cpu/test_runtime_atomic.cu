/* test_runtime_atomic.cu - every atomic function with every type that CUDA has it for. */
#include "common/gpu.h"

/*
 * Each thread t < 1024 does the same to p[0..7], which start at 0: sum of t, sum of -t, lowest
 * and highest of t - 500, or of 1 << t % 16, xor of t, and of all bits without bit t % 16;
 * p[7] counts the threads by compare and swap.
 */
template <class T> static __device__ void count_by_cas(T *p)
{
	T seen = 0, expected; /* a guess: to read *p plainly here would be a race */

	do {
		expected = seen;
		seen = atomicCAS(p, expected, (T)(expected + 1));
	} while (seen != expected);
}

template <class T> static __device__ void bits(T *p, int t)
{
	atomicOr(&p[4], (T)1 << (t & 15));
	atomicXor(&p[5], (T)t);
	atomicAnd(&p[6], ~((T)1 << (t & 15)));
}

template <class T> static __device__ void lowest_and_highest(T *p, int t)
{
	atomicMin(&p[2], (T)(t - 500));
	atomicMax(&p[3], (T)(t - 500));
}

extern "C" __global__ void atomic_ints(int *p)
{
	int t = blockIdx.x * blockDim.x + threadIdx.x;

	atomicAdd(&p[0], t);
	atomicSub(&p[1], t);
	lowest_and_highest(p, t);
	bits(p, t);
	count_by_cas(&p[7]);
}
KERNEL(atomic_ints);

extern "C" __global__ void atomic_unsigneds(unsigned *p)
{
	int t = blockIdx.x * blockDim.x + threadIdx.x;

	atomicAdd(&p[0], (unsigned)t);
	atomicSub(&p[1], (unsigned)t);
	lowest_and_highest(p, t);
	bits(p, t);
	count_by_cas(&p[7]);
}
KERNEL(atomic_unsigneds);

/* There is no atomicSub, and atomicAdd and atomicCAS are unsigned only, as in CUDA. */
extern "C" __global__ void atomic_longs(long long *p)
{
	int t = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned long long *u = (unsigned long long *)p;

	atomicAdd(&u[0], (unsigned long long)t);
	atomicAdd(&u[1], 0ull - (unsigned long long)t);
	lowest_and_highest(p, t);
	bits(p, t);
	count_by_cas(&u[7]);
}
KERNEL(atomic_longs);

extern "C" __global__ void atomic_unsigned_longs(unsigned long long *p)
{
	int t = blockIdx.x * blockDim.x + threadIdx.x;

	atomicAdd(&p[0], (unsigned long long)t);
	atomicAdd(&p[1], 0ull - (unsigned long long)t);
	lowest_and_highest(p, t);
	bits(p, t);
	count_by_cas(&p[7]);
}
KERNEL(atomic_unsigned_longs);

/* f[0], d[0]: sum of 1; f[1] and the words: what threads put there is handed on, so that the sum
   of what they got back and of what is left is that of all they put. u[4] counts in
   its lower half. */
extern "C" __global__ void atomic_others(float *f, double *d, int *i, unsigned *u,
					 unsigned long long *l)
{
	int t = blockIdx.x * blockDim.x + threadIdx.x;

	atomicAdd(&f[0], 1.0f);
	atomicAdd(&d[0], 1.0);
	atomicAdd(&d[1], (double)atomicExch(&f[1], (float)t));
	atomicAdd(&i[1], atomicExch(&i[0], t));
	atomicAdd(&u[1], atomicExch(&u[0], (unsigned)t));
	atomicAdd(&l[1], atomicExch(&l[0], (unsigned long long)t));
	atomicInc(&u[2], 99);
	atomicDec(&u[3], 99);
	count_by_cas((unsigned short *)&u[4]);
}
KERNEL(atomic_others);

extern "C" const void *k_atomic(int which)
{
	static const void *const kernel[] = { (const void *)atomic_ints,
					      (const void *)atomic_unsigneds,
					      (const void *)atomic_longs,
					      (const void *)atomic_unsigned_longs };

	return kernel[which];
}

extern "C" const void *k_atomic_others(void)
{
	return (const void *)atomic_others;
}
