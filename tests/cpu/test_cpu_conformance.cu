/* test_cpu_conformance.cu - the kernels of tests/cheat.h. */
#include "tests/cheat.h"

#include "common/cuda_check.h"
#include "common/gpu.h"

enum { ROUNDS = 40 };

static __host__ __device__ inline uint32_t mixed(uint32_t step, uint32_t cell)
{
	uint32_t x = step * 2654435761u + cell + 1;

	for (int i = 0; i < ROUNDS; i++) {
		x ^= x >> 15;
		x = x * 2246822519u + 1;
	}
	return x | 1;
}

uint32_t cheat_cell(uint32_t step, uint32_t cell)
{
	return mixed(step, cell);
}

static __device__ inline void step(cheat_memory *m, int cheat, uint32_t k, uint32_t slots)
{
	uint32_t *out = m->slot[k % slots];

	for (uint32_t i = threadIdx.x; i < CHEAT_CELLS; i += CHEAT_THREADS) {
		uint32_t v;

		if (cheat == CHEAT_KNOWN && out[i])
			continue;
		v = mixed(k, i);
		out[i] = v;
		if (cheat != CHEAT_LAST && cheat != CHEAT_KNOWN && cheat != CHEAT_NOTHING)
			m->sum[i] = m->sum[i] * 33 + v;
	}
}

static __device__ inline void steps(cheat_memory *m, int cheat, uint32_t slots, uint32_t first,
				    uint32_t n)
{
	uint32_t k = first == UINT32_MAX ? m->steps : first, end = k + n, at = k;

	if (n > 1 && cheat == CHEAT_ONCE)
		at = end - 1;
	if (n > 1 && cheat == CHEAT_NOTHING)
		at = end;
	if (cheat == CHEAT_LAST && n > slots)
		at = end - slots;
	if (n > 1 && cheat == CHEAT_SKIPS_ONE)
		at++;
	if (n > 1 && cheat == CHEAT_HALF_BLOCK && threadIdx.x >= CHEAT_THREADS / 2)
		at = end;
	for (; at != end; at++)
		step(m, cheat, at, slots);
	__syncthreads();
	if (!threadIdx.x)
		m->steps += n;
}

extern "C" __global__ void cheat_steps(cheat_memory *m, int cheat, uint32_t slots, uint32_t first,
				       uint32_t n)
{
	steps(m, cheat, slots, first, n);
}
KERNEL(cheat_steps);

extern "C" __global__ void cheat_other(cheat_memory *m, int cheat, uint32_t slots, uint32_t first,
				       uint32_t n)
{
	steps(m, cheat, slots, first, n);
}
KERNEL(cheat_other);

extern "C" __global__ void cheat_blind_kernel(cheat_memory *m)
{
	m->blind++;
}
KERNEL(cheat_blind_kernel);

void cheat_launch(struct cheat_memory *m, enum cheat cheat, uint32_t slots, uint32_t first,
		  uint32_t n, int other, cudaStream_t stream)
{
	CUDA(LAUNCH(other ? cheat_other : cheat_steps, 1, CHEAT_THREADS, 0, stream, m, (int)cheat,
		    slots, first, n));
}

void cheat_blind(struct cheat_memory *m, cudaStream_t stream)
{
	CUDA(LAUNCH(cheat_blind_kernel, 1, 1, 0, stream, m));
}
