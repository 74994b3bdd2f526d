/* step.c - a batch: copy in, kernels, copy out; in one stream or spread over several. */
#include "common/cuda_check.h"
#include "workloads/alignment/alignment.h"
#include "workloads/alignment/kernels.h"

static void launch_kernel(const void *kernel, const struct alignment_part *part, dim3 grid,
			  int threads, size_t shared, cudaStream_t stream)
{
	const dim3 block = { (uint32_t)threads, 1, 1 };
	void *args[] = { (void *)part };

	CUDA(cudaLaunchKernel(kernel, grid, block, args, shared, stream));
}

static dim3 grid_1d(uint32_t n)
{
	return (dim3){ n, 1, 1 };
}

/* Bytes of shared memory for the trace of a pair in a band of class c. */
static size_t trace_bytes(const struct alignment_slot *slot, int c)
{
	size_t columns = slot->columns + ALIGN_WARP_SPARE;

	return slot->part.cigar ? columns * sizeof(uint2) << c : 0;
}

static void launch_short(const struct alignment_slot *slot, int c, cudaStream_t stream)
{
	const struct alignment_part *p = &slot->part;
	enum alignment_class class = (enum alignment_class)c;

	if (slot->warps[c])
		launch_kernel(alignment_warp_kernel(class, p->cigar), p, grid_1d(slot->warps[c]),
			      32, trace_bytes(slot, c), stream);
	else
		launch_kernel(alignment_short_kernel(class, p->cigar), p, grid_1d(p->short_blocks),
			      ALIGN_SHORT_THREADS, 0, stream);
}

/* Page-locked memory has the same address on host and device. */
static void launch_one(const struct alignment_slot *slot, bool mapped, cudaStream_t stream)
{
	struct alignment_part part = slot->part;
	int widest = ALIGN_S4;

	if (mapped) {
		part.pair = (const struct alignment_pair *)slot->blob;
		part.order = (const uint32_t *)(part.pair + part.n);
		part.letters = (const uint8_t *)(part.order + part.n);
		part.result = (struct alignment_result *)slot->back;
		part.runs = (uint32_t *)(part.result + part.n);
	}
	while (widest > ALIGN_S1 && !(slot->classes >> widest & 1))
		widest--;
	launch_kernel(alignment_one_kernel(part.cigar), &part, grid_1d(part.n), 32,
		      trace_bytes(slot, widest), stream);
}

static uint32_t ceil_div(uint32_t a, uint32_t b)
{
	return (a + b - 1) / b;
}

/* Blocks that share the copying of 256 pairs' runs, of at most 8 pairs each: about 512 in all. */
static uint32_t gather_split(uint32_t columns)
{
	uint32_t split = ceil_div(512, columns);

	return split < ALIGN_GATHER_THREADS / 8 ? split : ALIGN_GATHER_THREADS / 8;
}

/* The kernel's counters and steps start at 0. */
static void launch_wave(const struct alignment_slot *slot, cudaStream_t stream)
{
	const struct alignment_part *p = &slot->part;

	CUDA(cudaMemsetAsync(p->wave, 0, slot->wave_pairs * p->wave_bytes, stream));
	launch_kernel(alignment_wave_kernel(p->cigar), p,
		      (dim3){ p->wave_blocks, slot->wave_pairs, 1 }, 32, 0, stream);
}

int alignment_launch(const struct alignment_state *s, const struct alignment_slot *slot,
		     cudaStream_t stream)
{
	const struct alignment_part *p = &slot->part;
	uint32_t gather = ceil_div(p->n, ALIGN_GATHER_THREADS);
	uint32_t pack_pairs = (uint32_t)alignment_pack_threads() / p->pack_lanes;
	int launches = 1;

	if (slot->one) {
		launch_one(slot, s->mapped, stream);
		return 1;
	}
	launch_kernel(alignment_pack_kernel(), p, grid_1d(ceil_div(p->n, pack_pairs)),
		      alignment_pack_threads(), 0, stream);
	for (int c = ALIGN_S1; c < ALIGN_L; c++)
		if (slot->classes >> c & 1) {
			launch_short(slot, c, stream);
			launches++;
		}
	if (slot->classes >> ALIGN_L & 1) {
		if (slot->wave)
			launch_wave(slot, stream);
		else
			launch_kernel(alignment_long_kernel(s->choice.strip, p->cigar), p,
				      grid_1d(p->long_blocks), (int)p->long_threads, 0, stream);
		launches++;
	}
	if (slot->kept_pairs) {
		launch_kernel(alignment_kept_kernel(), p, grid_1d(p->kept_blocks), 32, 0, stream);
		launches++;
	}
	if (!p->cigar)
		return launches;
	launch_kernel(alignment_sum_kernel(), p, grid_1d(gather), ALIGN_GATHER_THREADS, 0, stream);
	launch_kernel(alignment_gather_kernel(), p, (dim3){ gather, gather_split(gather), 1 },
		      ALIGN_GATHER_THREADS, 0, stream);
	return launches + 2;
}

/* What an earlier block left behind must not pass for the results of the next one. */
int alignment_reset(const void *opts, void *state, cudaStream_t stream)
{
	const struct alignment_opts *o = opts;
	const struct alignment_state *s = state;

	for (int i = 0; i < s->slots; i++) {
		const struct alignment_slot *slot = &s->slot[i];

		CUDA(cudaMemsetAsync(slot->part.counters, 0, sizeof(*slot->part.counters), stream));
		CUDA(cudaMemsetAsync(slot->back_device, 0xff, slot->back_bytes, stream));
		if (o->resident)
			continue;
		CUDA(cudaMemsetAsync(slot->blob_device, 0, slot->blob_bytes, stream));
		CUDA(cudaMemcpyAsync(slot->back, slot->back_device, slot->back_bytes,
				     cudaMemcpyDeviceToHost, stream));
	}
	return 0;
}

static void run_slot(const struct alignment_opts *o, const struct alignment_state *s,
		     const struct alignment_slot *slot, cudaStream_t stream)
{
	bool copies = !o->resident && !(slot->one && s->mapped);

	if (copies)
		CUDA(cudaMemcpyAsync(slot->blob_device, slot->blob, slot->blob_bytes,
				     cudaMemcpyHostToDevice, stream));
	alignment_launch(s, slot, stream);
	if (copies)
		CUDA(cudaMemcpyAsync(slot->back, slot->back_device, slot->back_bytes,
				     cudaMemcpyDeviceToHost, stream));
}

/* The other streams start where this one stands, and this one goes on when they are done. */
int alignment_step(const void *opts, void *state, cudaStream_t stream)
{
	const struct alignment_opts *o = opts;
	const struct alignment_state *s = state;

	if (s->slots > 1)
		CUDA(cudaEventRecord(s->forked, stream));
	for (int i = 1; i < s->slots; i++) {
		CUDA(cudaStreamWaitEvent(s->slot[i].stream, s->forked, 0));
		run_slot(o, s, &s->slot[i], s->slot[i].stream);
		CUDA(cudaEventRecord(s->slot[i].joined, s->slot[i].stream));
	}
	run_slot(o, s, &s->slot[0], stream);
	for (int i = 1; i < s->slots; i++)
		CUDA(cudaStreamWaitEvent(stream, s->slot[i].joined, 0));
	return 0;
}
