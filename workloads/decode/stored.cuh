/*
 * stored.cuh - numbers as they are stored, float or bfloat16, eight at a time; and sums of a warp.
 */
#ifndef RIFT_DECODE_STORED_CUH
#define RIFT_DECODE_STORED_CUH

#include "common/gpu.h"
#include "workloads/decode/device.h"

/* A group of DECODE_GROUP numbers as it is loaded, 16 or 32 bytes. */
template <class T> struct raw_group;

template <> struct raw_group<decode_bf16> {
	uint4 pair;
};

template <> struct raw_group<float> {
	float4 low, high;
};

static __device__ inline raw_group<decode_bf16> load_raw(const decode_bf16 *p)
{
	return { *(const uint4 *)p };
}

static __device__ inline raw_group<float> load_raw(const float *p)
{
	return { ((const float4 *)p)[0], ((const float4 *)p)[1] };
}

/*
 * The same of weights, which each step reads once: they leave the first cache to activations.
 */
#ifdef __CUDACC__
static __device__ inline uint4 load_once(const void *p)
{
	uint4 v;

	asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
	    : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
	    : "l"(p));
	return v;
}

static __device__ inline float4 as_floats(uint4 v)
{
	return make_float4(__uint_as_float(v.x), __uint_as_float(v.y), __uint_as_float(v.z),
			   __uint_as_float(v.w));
}

static __device__ inline raw_group<decode_bf16> load_weights(const decode_bf16 *p)
{
	return { load_once(p) };
}

static __device__ inline raw_group<float> load_weights(const float *p)
{
	return { as_floats(load_once(p)), as_floats(load_once(p + 4)) };
}
#else
template <class T> static inline raw_group<T> load_weights(const T *p)
{
	return load_raw(p);
}
#endif

static __device__ inline float widen_low(uint32_t pair)
{
	return decode_widen({ (uint16_t)pair });
}

static __device__ inline float widen_high(uint32_t pair)
{
	union decode_float_bits u;

	u.bits = pair & 0xffff0000u;
	return u.value;
}

static __device__ inline void widen_group(const raw_group<decode_bf16> &g, float out[DECODE_GROUP])
{
	const uint32_t pair[] = { g.pair.x, g.pair.y, g.pair.z, g.pair.w };

	for (int i = 0; i < DECODE_GROUP / 2; i++) {
		out[2 * i] = widen_low(pair[i]);
		out[2 * i + 1] = widen_high(pair[i]);
	}
}

static __device__ inline void widen_group(const raw_group<float> &g, float out[DECODE_GROUP])
{
	out[0] = g.low.x, out[1] = g.low.y, out[2] = g.low.z, out[3] = g.low.w;
	out[4] = g.high.x, out[5] = g.high.y, out[6] = g.high.z, out[7] = g.high.w;
}

/* Four numbers. */
static __device__ inline float4 load_quarter(const decode_bf16 *p)
{
	uint2 pair = *(const uint2 *)p;

	return { widen_low(pair.x), widen_high(pair.x), widen_low(pair.y), widen_high(pair.y) };
}

static __device__ inline float4 load_quarter(const float *p)
{
	return *(const float4 *)p;
}

static __device__ inline float4 times(float4 a, float4 b)
{
	return { a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w };
}

static __device__ inline float widen(decode_bf16 v)
{
	return decode_widen(v);
}

static __device__ inline float widen(float v)
{
	return v;
}

static __device__ inline void store(decode_bf16 *p, float v)
{
	*p = decode_round(v);
}

static __device__ inline void store(float *p, float v)
{
	*p = v;
}

/* A loop whose loads are to be under way so many times over. */
#ifdef __CUDACC__
#define PRAGMA(text) _Pragma(#text)
#define UNROLLED(times) PRAGMA(unroll(times))
#else
#define UNROLLED(times)
#endif

/* The sum of groups of `lanes` neighbours, a power of two; each lane has it. */
static __device__ inline float sum_lanes(float v, uint32_t lanes)
{
	for (uint32_t bit = lanes / 2; bit; bit /= 2)
		v += __shfl_xor_sync(0xffffffffu, v, (int)bit);
	return v;
}

/* The better of two candidates is the larger one; of equals, the first token. */
static __device__ inline bool is_better(float logit, uint32_t token, float than, uint32_t its_token)
{
	return logit > than || (logit == than && token < its_token);
}

#endif
