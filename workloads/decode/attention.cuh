/*
 * attention.cuh - one query against the keys and values of its sequence, for each head.
 *
 * A few lanes hold a row of a head, eight numbers each; the groups of lanes of a block take
 * positions in turn, with a softmax that goes along (Milakov and Gimelshein, 2018), and what they
 * have is put together by shuffles and in shared memory. A long sequence is split among blocks, of
 * which the last one that is done puts the parts together, in their order.
 */
#ifndef RIFT_DECODE_ATTENTION_CUH
#define RIFT_DECODE_ATTENTION_CUH

#include "common/programmatic.cuh"
#include "workloads/decode/stored.cuh"

enum {
	ATTENTION_QUERIES = 4, /* of a block, where a warp has one each */
	ATTENTION_UNROLL = 8,  /* positions whose loads are under way together */
};

/* Of a group of lanes: the largest score, the sum of exponentials above it, the sums of values. */
struct attention_sums {
	float most, sum, value[DECODE_GROUP];
};

/* Positions of a group of lanes: from, then each one so many groups further, below end; all groups
 * of a block take so many. */
struct attention_walk {
	uint32_t from, end, rounds;
};

static __device__ inline attention_walk find_walk(const decode_device &d, uint32_t positions)
{
	uint32_t every = DECODE_ATTENTION_THREADS / d.head_lanes;
	uint32_t each = (positions + d.splits - 1) / d.splits, begin = blockIdx.z * each;
	uint32_t end = begin + each < positions ? begin + each : positions;
	uint32_t n = end > begin ? end - begin : 0;

	return { begin + threadIdx.x / d.head_lanes, end, (n + every - 1) / every };
}

/* Keys and values of some positions that a lane has loaded and not yet used. */
template <class T> struct attention_rows {
	raw_group<T> key[ATTENTION_UNROLL], value[ATTENTION_UNROLL];
};

/* Rows behind `end` are zeros. */
template <class T>
static __device__ inline void load_rows(const decode_device &d, uint32_t from, uint32_t every,
					uint32_t end, const T *key, const T *value,
					attention_rows<T> *out)
{
	for (uint32_t j = 0; j < ATTENTION_UNROLL; j++) {
		uint32_t p = from + j * every;

		out->key[j] = out->value[j] = {};
		if (p >= end)
			continue;
		out->key[j] = load_raw(key + (size_t)p * d.head_stride);
		out->value[j] = load_raw(value + (size_t)p * d.head_stride);
	}
}

template <class T>
static __device__ inline void attend_rows(const decode_device &d, const attention_rows<T> &rows,
					  uint32_t from, uint32_t every, uint32_t end,
					  const float *q, attention_sums *s)
{
	float score[ATTENTION_UNROLL], wide[DECODE_GROUP], most = s->most, shrink;

	for (uint32_t j = 0; j < ATTENTION_UNROLL; j++) {
		widen_group(rows.key[j], wide);
		score[j] = 0;
		for (int i = 0; i < DECODE_GROUP; i++)
			score[j] += q[i] * wide[i];
	}
	/* a shuffle of each, so that none waits for another one's */
	for (uint32_t bit = d.head_lanes / 2; bit; bit /= 2)
		for (uint32_t j = 0; j < ATTENTION_UNROLL; j++)
			score[j] += __shfl_xor_sync(0xffffffffu, score[j], (int)bit);
	for (uint32_t j = 0; j < ATTENTION_UNROLL; j++) {
		score[j] = from + j * every < end ? score[j] * d.scale : -INFINITY;
		most = fmaxf(most, score[j]);
	}
	if (most == -INFINITY)
		return;
	shrink = expf(s->most - most);
	s->most = most;
	s->sum *= shrink;
	for (int i = 0; i < DECODE_GROUP; i++)
		s->value[i] *= shrink;
	for (uint32_t j = 0; j < ATTENTION_UNROLL; j++) {
		float weight = expf(score[j] - most);

		if (from + j * every >= end)
			continue; /* what lies there may be no number */
		s->sum += weight;
		widen_group(rows.value[j], wide);
		for (int i = 0; i < DECODE_GROUP; i++)
			s->value[i] += weight * wide[i];
	}
}

/* What all groups of a warp have, in each of them. */
static __device__ inline void add_up_warp(attention_sums *s, uint32_t lanes)
{
	float most = s->most, shrink;

	for (uint32_t bit = lanes; bit < 32; bit *= 2)
		most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, (int)bit));
	shrink = s->most == -INFINITY ? 0 : expf(s->most - most);
	s->most = most;
	s->sum *= shrink;
	for (int i = 0; i < DECODE_GROUP; i++)
		s->value[i] *= shrink;
	for (uint32_t bit = lanes; bit < 32; bit *= 2) {
		s->sum += __shfl_xor_sync(0xffffffffu, s->sum, (int)bit);
		for (int i = 0; i < DECODE_GROUP; i++)
			s->value[i] += __shfl_xor_sync(0xffffffffu, s->value[i], (int)bit);
	}
}

enum { ATTENTION_WARPS = DECODE_ATTENTION_THREADS / 32 };

/* All warps' sums, in shared memory. */
struct attention_shared {
	float most[ATTENTION_WARPS], sum[ATTENTION_WARPS];
	float value[ATTENTION_WARPS][DECODE_HEAD_DIM_MAX];
};

/* Parts of `n` that lie apart: values by `stride`. Element i of what they come to, unscaled. */
static __device__ inline float put_together(const float *most, uint32_t most_stride,
					    const float *sum, uint32_t sum_stride,
					    const float *value, uint32_t stride, uint32_t n,
					    float *all_most, float *all_sum)
{
	float out = 0;

	*all_most = -INFINITY;
	*all_sum = 0;
	for (uint32_t g = 0; g < n; g++)
		*all_most = fmaxf(*all_most, most[g * most_stride]);
	for (uint32_t g = 0; g < n; g++) {
		float weight = most[g * most_stride] == -INFINITY
				       ? 0
				       : expf(most[g * most_stride] - *all_most);

		*all_sum += weight * sum[g * sum_stride];
		out += weight * value[(size_t)g * stride];
	}
	return out;
}

/* Element i of a head's answer, where products read it. */
template <class Out>
static __device__ inline void store_answer(const decode_device &d, size_t head, uint32_t i, float v)
{
	const uint32_t b = (uint32_t)(head / d.heads), k = head % d.heads * d.head_dim + i;

	if (d.tensor)
		store((decode_bf16 *)d.att + decode_tile_place(&d, b, k), v);
	else
		store((Out *)d.att + (size_t)b * d.att_stride + k, v);
}

/* The last block of a head's splits puts them together. */
template <class Out>
static __device__ inline void finish_splits(const decode_device &d, size_t head, uint32_t *is_last)
{
	const uint32_t each = d.head_stride + 2, i = threadIdx.x;
	float *parts = d.part + head * d.splits * each, most, sum, value;

	__syncthreads();
	if (!i) {
		*is_last = atomic_add_acq_rel(&d.tickets[head], 1) + 1 == d.splits;
		if (*is_last)
			d.tickets[head] = 0;
	}
	__syncthreads();
	if (!*is_last || i >= d.head_dim)
		return;
	value = put_together(parts, each, parts + 1, each, parts + 2 + i, each, d.splits, &most,
			     &sum);
	store_answer<Out>(d, head, i, value / sum);
}

/* What all warps of a block have of element i, a thread each: the answer, or a split's part. */
template <class Out>
static __device__ inline void finish_block(const decode_device &d, const attention_shared *shared,
					   size_t head)
{
	const uint32_t each = d.head_stride + 2, i = threadIdx.x;
	float *part = d.part + (head * d.splits + blockIdx.z) * each, most, sum, value;

	if (i >= d.head_dim)
		return;
	value = put_together(shared->most, 1, shared->sum, 1, &shared->value[0][i],
			     DECODE_HEAD_DIM_MAX, ATTENTION_WARPS, &most, &sum);
	if (d.splits == 1) {
		store_answer<Out>(d, head, i, value / sum);
		return;
	}
	part[2 + i] = value;
	if (!i) {
		part[0] = most;
		part[1] = sum;
	}
}

/* The first group of each warp has its sums. */
static __device__ inline void store_sums(attention_shared *shared, const attention_sums &s,
					 uint32_t lane)
{
	const uint32_t warp = threadIdx.x / 32;

	if (lane != threadIdx.x % 32)
		return;
	if (!lane) {
		shared->most[warp] = s.most;
		shared->sum[warp] = s.sum;
	}
	for (int i = 0; i < DECODE_GROUP; i++)
		shared->value[warp][lane * DECODE_GROUP + i] = s.value[i];
}

/* blocks: x heads, y sequences, z splits. Out: of what products read. */
template <class T, class Out>
__global__ void __launch_bounds__(DECODE_ATTENTION_THREADS)
	decode_attention(decode_device d, decode_layer l)
{
	SHARED_ARRAY(attention_shared, shared, [1]);
	SHARED_ARRAY(uint32_t, is_last, [1]);
	const uint32_t head = blockIdx.x, b = blockIdx.y;
	const uint32_t of = b * d.kv_heads + head / (d.heads / d.kv_heads);
	const uint32_t lane = threadIdx.x % d.head_lanes;
	const bool holds = lane * DECODE_GROUP < d.head_stride;
	const size_t row = (size_t)b * d.heads + head;
	attention_sums s = { -INFINITY, 0, {} };
	float q[DECODE_GROUP] = {};

	const size_t at = (size_t)of * d.positions * d.head_stride + lane * DECODE_GROUP;
	const T *key = (const T *)l.key + at, *value = (const T *)l.value + at;
	const uint32_t every = DECODE_ATTENTION_THREADS / d.head_lanes;
	const uint32_t group = threadIdx.x / d.head_lanes;
	attention_rows<T> rows;

	programmatic_go();
	programmatic_wait();
	/* the first rows are on their way while it is found out how many there are */
	if (d.splits == 1)
		load_rows<T>(d, group, every, holds ? d.positions : 0, key, value, &rows);
	if (holds)
		widen_group(load_raw(d.q + row * d.head_stride + lane * DECODE_GROUP), q);
	const attention_walk w = find_walk(d, d.progress->position + 1);
	const uint32_t end = holds ? w.end : 0;

	for (uint32_t round = 0; round < w.rounds; round += ATTENTION_UNROLL) {
		uint32_t from = w.from + round * every;

		if (round || d.splits > 1)
			load_rows<T>(d, from, every, end, key, value, &rows);
		attend_rows<T>(d, rows, from, every, w.end, q, &s);
	}
	add_up_warp(&s, d.head_lanes);
	store_sums(shared, s, lane);
	__syncthreads();
	finish_block<Out>(d, shared, row);
	if (d.splits > 1)
		finish_splits<Out>(d, row, is_last);
}

/*
 * For tensor cores, where there are many sequences: a warp has a query to itself, and nothing is
 * put together but by shuffles. blocks: x some queries, of which neighbours read the same keys; y
 * sequences.
 */
extern "C" __global__ void __launch_bounds__(32 * ATTENTION_QUERIES)
	decode_attention_warps(decode_device d, decode_layer l)
{
	const uint32_t head = blockIdx.x * ATTENTION_QUERIES + threadIdx.x / 32, b = blockIdx.y;
	const uint32_t of = b * d.kv_heads + head / (d.heads / d.kv_heads);
	const uint32_t lane = threadIdx.x % d.head_lanes, group = threadIdx.x % 32 / d.head_lanes;
	const uint32_t every = 32 / d.head_lanes;
	const bool holds = lane * DECODE_GROUP < d.head_stride && head < d.heads;
	const size_t row = (size_t)b * d.heads + head;
	const size_t at = (size_t)of * d.positions * d.head_stride + lane * DECODE_GROUP;
	const decode_bf16 *key = (const decode_bf16 *)l.key + at;
	const decode_bf16 *value = (const decode_bf16 *)l.value + at;
	attention_sums s = { -INFINITY, 0, {} };
	float q[DECODE_GROUP] = {};
	attention_rows<decode_bf16> rows;

	programmatic_go();
	programmatic_wait();
	load_rows<decode_bf16>(d, group, every, holds ? d.positions : 0, key, value, &rows);
	if (holds)
		widen_group(load_raw(d.q + row * d.head_stride + lane * DECODE_GROUP), q);
	const uint32_t n = d.progress->position + 1, end = holds ? n : 0;

	for (uint32_t from = group; from - group < n; from += ATTENTION_UNROLL * every) {
		if (from != group)
			load_rows<decode_bf16>(d, from, every, end, key, value, &rows);
		attend_rows<decode_bf16>(d, rows, from, every, n, q, &s);
	}
	add_up_warp(&s, d.head_lanes);
	if (!holds || group)
		return;
	for (uint32_t i = 0; i < DECODE_GROUP && lane * DECODE_GROUP + i < d.head_dim; i++)
		store_answer<decode_bf16>(d, row, lane * DECODE_GROUP + i, s.value[i] / s.sum);
}
KERNEL(decode_attention_warps);

KERNEL(decode_attention<float, float>);
KERNEL(decode_attention<decode_bf16, float>);
KERNEL(decode_attention<decode_bf16, decode_bf16>);

#endif
