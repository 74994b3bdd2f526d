/* kernels.cu - the kernels of the launch workload: three bodies, three sizes of arguments. */
#include "common/cuda_check.h"
#include "common/device.h"
#include "common/gpu.h"
#include "workloads/launch/device.h"

static __constant__ struct launch_config configs[LAUNCH_CONFIGS];
SYMBOL(configs);

/* A warp alone pays for every branch of the chain; 64 multiply-adds hide it. */
#ifdef __CUDACC__
#define UNROLLED _Pragma("unroll 64")
#else
#define UNROLLED
#endif

/* By value to a kernel: its argument block. */
template <int WORDS> struct launch_block {
	uint64_t word[WORDS];
};

template <int WORDS> static __device__ inline uint32_t unit_count(const launch_block<WORDS> &a)
{
	return (uint32_t)(a.word[0] >> 32);
}

/* Of the state that this launch is of: a process may have several at a time. */
template <int WORDS>
static __device__ inline const struct launch_config &config_of(const launch_block<WORDS> &a)
{
	return configs[(uint32_t)a.word[0] >> LAUNCH_CONFIG_BIT & (LAUNCH_CONFIGS - 1)];
}

/* Index of this block's slot. */
template <int WORDS>
static __device__ inline uint32_t slot_index(const launch_block<WORDS> &a,
					     const struct launch_config &config)
{
	return (uint32_t)(a.word[0] & 255) * config.blocks + blockIdx.x;
}

/*
 * Says "I ran, and these were my arguments". The threads share the words, so that 4,096 bytes
 * take 16 loads each. Nothing is read back, so the trace ends with the kernel's writes.
 */
template <int WORDS>
static __device__ inline void leave_trace(const launch_block<WORDS> &a, struct launch_slot *slot)
{
	unsigned long long sum = 0;

	if (threadIdx.x == 0)
		atomicAdd(&slot->runs, 1ull);
	if (threadIdx.x >= WORDS)
		return;
	for (uint32_t i = threadIdx.x; i < WORDS; i += LAUNCH_THREADS)
		sum += (i ? a.word[i] : a.word[0] & 0xffffffff) * (2 * i + 1);
	atomicAdd(&slot->args, sum);
}

template <int WORDS> static __device__ inline void run_empty(const launch_block<WORDS> &a)
{
	const struct launch_config &config = config_of(a);
	struct launch_slot *slot = config.slot + slot_index(a, config);

	for (uint32_t u = unit_count(a); u; u--)
		leave_trace(a, slot);
}

/* The trace is inside the time that is spun. */
template <int WORDS> static __device__ inline void run_spin(const launch_block<WORDS> &a)
{
	const struct launch_config &config = config_of(a);
	uint32_t at = slot_index(a, config);

	for (uint32_t u = unit_count(a); u; u--) {
		long long start = threadIdx.x ? 0 : clock64();
		unsigned long long spun;

		leave_trace(a, config.slot + at);
		if (threadIdx.x)
			continue;
		do
			spun = (unsigned long long)(clock64() - start);
		while (spun < config.cycles);
		atomicMin(config.shortest + at, spun);
		atomicAdd(&config.slot[at].cycles, spun);
	}
}

/*
 * x <- x^2 - 15/8, one rounding each: chaotic, so that every step of the chain decides the last
 * bit. It stays within [-2, 2].
 */
template <int WORDS> static __device__ inline void run_work(const launch_block<WORDS> &a)
{
	const struct launch_config &config = config_of(a);
	struct launch_slot *slot = config.slot + slot_index(a, config);
	uint32_t lane = threadIdx.x % LAUNCH_STARTS;

	for (uint32_t u = unit_count(a); u; u--) {
		float x = 0.125f + 0.0625f * (float)lane;

		leave_trace(a, slot);
		UNROLLED for (uint32_t i = config.chain; i; i--) x = __fmaf_rn(x, x, -1.875f);
		atomicAdd(&slot->work, (unsigned long long)__float_as_uint(x));
	}
}

#define LAUNCH_KERNEL(body, bytes)                                                                 \
	extern "C" __global__ void __launch_bounds__(LAUNCH_THREADS)                               \
		launch_##body##_##bytes(struct launch_block<bytes / 8> a)                          \
	{                                                                                          \
		run_##body(a);                                                                     \
	}                                                                                          \
	KERNEL(launch_##body##_##bytes)

LAUNCH_KERNEL(empty, 8);
LAUNCH_KERNEL(empty, 256);
LAUNCH_KERNEL(empty, 4096);
LAUNCH_KERNEL(spin, 8);
LAUNCH_KERNEL(spin, 256);
LAUNCH_KERNEL(spin, 4096);
LAUNCH_KERNEL(work, 8);
LAUNCH_KERNEL(work, 256);
LAUNCH_KERNEL(work, 4096);

extern "C" __global__ void launch_nothing()
{
}
KERNEL(launch_nothing);

/* ---- for the host ---------------------------------------------------------------------- */

const void *launch_kernel(enum launch_body body, enum launch_args args)
{
	static const void *const table[LAUNCH_BODIES][LAUNCH_ARGS_COUNT] = {
		{ (const void *)launch_empty_8, (const void *)launch_empty_256,
		  (const void *)launch_empty_4096 },
		{ (const void *)launch_spin_8, (const void *)launch_spin_256,
		  (const void *)launch_spin_4096 },
		{ (const void *)launch_work_8, (const void *)launch_work_256,
		  (const void *)launch_work_4096 },
	};

	return table[body][args];
}

int launch_words(enum launch_args args)
{
	static const int words[LAUNCH_ARGS_COUNT] = { 1, 32, LAUNCH_WORDS_MAX };

	return words[args];
}

void launch_load_kernels(void)
{
	for (int body = 0; body < LAUNCH_BODIES; body++)
		for (int args = 0; args < LAUNCH_ARGS_COUNT; args++)
			device_load_kernel(
				launch_kernel((enum launch_body)body, (enum launch_args)args));
}

void launch_configure(const struct launch_config *c, int number, cudaStream_t stream)
{
	CUDA(cudaMemcpyToSymbolAsync((const void *)&configs, c, sizeof(*c),
				     (size_t)number * sizeof(*c), cudaMemcpyHostToDevice, stream));
}

void launch_touch_stream(cudaStream_t stream)
{
	CUDA(LAUNCH(launch_nothing, 1, 1, 0, stream));
}
