/* memory.c - what the slots of a batch need on host and device. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/device.h"
#include "common/timing.h"
#include "workloads/alignment/alignment.h"

static int on_device(void *to, size_t bytes)
{
	return device_new(to, bytes, "use fewer or shorter pairs, or less memory=");
}

static int on_host(const struct alignment_state *s, void *to, size_t bytes)
{
	void *p = NULL;

	if (s->pageable)
		p = malloc(bytes ? bytes : 1);
	else if (CUDA_RESULT(cudaMallocHost(&p, bytes ? bytes : 1)))
		cudaGetLastError();
	memcpy(to, &p, sizeof(p));
	return p ? 0
		 : complain(ENOMEM, "cannot allocate %zu bytes of %s memory on the host", bytes,
			    s->pageable ? "pageable" : "page-locked");
}

static void free_host(const struct alignment_state *s, void *p)
{
	if (p && s->pageable)
		free(p);
	else if (p)
		CUDA(cudaFreeHost(p));
}

/* ---- slots ------------------------------------------------------------------------------ */

static int pack_letters(const struct alignment_opts *o, struct alignment_state *s,
			const struct alignment_slot *slot, uint8_t *packed)
{
	struct alignment_pair *pair = (struct alignment_pair *)slot->blob;
	int64_t begun = timing_now_ns();
	int err = alignment_pack_letters(o, &s->batch, slot->first, pair, slot->part.n, packed);

	s->packing_ns += timing_now_ns() - begun;
	return err;
}

/* Pairs, their order and their letters, offsets counted from the slot's first letter. */
static int fill_blob(const struct alignment_opts *o, struct alignment_state *s,
		     struct alignment_slot *slot, size_t from, size_t letters)
{
	struct alignment_pair *pair = (struct alignment_pair *)slot->blob;
	uint32_t n = slot->part.n, *order = (uint32_t *)(pair + n);

	for (uint32_t i = 0; i < n; i++) {
		pair[i] = s->batch.pair[slot->first + i];
		pair[i].query -= (uint32_t)from;
		pair[i].target -= (uint32_t)from;
	}
	alignment_order(&s->choice, pair, n, order, slot->part.first);
	if (slot->part.packed)
		return pack_letters(o, s, slot, (uint8_t *)(order + n));
	memcpy(order + n, s->batch.letters + from, letters);
	return 0;
}

/* Lanes that a pair keeps busy when each packs 32 letters. */
static uint32_t pack_lanes(size_t letters, uint32_t pairs)
{
	uint32_t lanes = 4;

	while (lanes < 32 && 2 * lanes * 32 <= letters / pairs)
		lanes *= 2;
	return lanes;
}

static size_t letters_before(const struct alignment_batch *b, int64_t pair)
{
	return pair < b->n ? b->pair[pair].query : b->bytes;
}

static int allocate_lists(struct alignment_part *p)
{
	size_t gather = (p->n + ALIGN_GATHER_THREADS - 1) / ALIGN_GATHER_THREADS;
	int err = on_device(&p->counters, sizeof(*p->counters));

	if (!err)
		CUDA(cudaMemset(p->counters, 0, sizeof(*p->counters)));
	for (int c = 0; !err && c < ALIGN_CLASSES; c++)
		err = on_device(&p->list[c], p->n * sizeof(uint32_t));
	err = err ? err : on_device(&p->slot, p->n * sizeof(uint32_t));
	return err ? err : on_device(&p->partial, gather * sizeof(uint32_t));
}

int alignment_allocate_back(const struct alignment_state *s, struct alignment_slot *slot)
{
	size_t results = slot->part.n * sizeof(struct alignment_result);
	int err;

	device_free(slot->back_device);
	free_host(s, slot->back);
	slot->back_device = slot->back = NULL;
	slot->back_bytes = results + slot->part.runs_max * sizeof(uint32_t);
	err = on_host(s, &slot->back, slot->back_bytes);
	err = err ? err : on_device(&slot->back_device, slot->back_bytes);
	slot->part.result = (struct alignment_result *)slot->back_device;
	slot->part.runs = (uint32_t *)(slot->back_device + results);
	return err;
}

static int refuse_packed(size_t letters)
{
	return complain(EINVAL,
			"transfer=packed: %zu letters where each sequence takes a multiple of 32: "
			"a batch takes 4 GiB; use transfer=bytes or fewer pairs",
			letters);
}

int alignment_slot_init(const struct alignment_opts *o, struct alignment_state *s, int i)
{
	struct alignment_slot *slot = &s->slot[i];
	struct alignment_part *p = &slot->part;
	int64_t end = s->batch.n * (i + 1) / s->slots;
	size_t from, letters;
	int err;

	slot->first = s->batch.n * i / s->slots;
	p->n = (uint32_t)(end - slot->first);
	from = letters_before(&s->batch, slot->first);
	letters = letters_before(&s->batch, end) - from;
	if (p->packed)
		letters = alignment_packed_letters(&s->batch.pair[slot->first], p->n);
	if (p->packed && letters > ALIGN_BYTES_MAX)
		return refuse_packed(letters);
	p->pack_lanes = pack_lanes(letters, p->n);
	slot->blob_bytes = p->n * (sizeof(struct alignment_pair) + sizeof(uint32_t)) +
			   (p->packed ? letters / 4 : letters);
	p->bytes = (uint32_t)(slot->blob_bytes < UINT32_MAX ? slot->blob_bytes : UINT32_MAX);
	err = on_host(s, &slot->blob, slot->blob_bytes);
	err = err ? err : on_device(&slot->blob_device, slot->blob_bytes);
	err = err ? err
		  : on_device(&p->planes, 4 * alignment_planes_at(letters, 2 * (uint64_t)p->n + 1));
	err = err ? err : allocate_lists(p);
	if (s->choice.wave) {
		alignment_plan_wave(s, slot);
		err = err ? err : on_device(&p->wave, p->n * p->wave_bytes);
	}
	err = err ? err : alignment_allocate_back(s, slot);
	if (err)
		return err;
	p->pair = (const struct alignment_pair *)slot->blob_device;
	p->order = (const uint32_t *)(p->pair + p->n);
	p->letters = (const uint8_t *)(p->order + p->n);
	return fill_blob(o, s, slot, from, letters);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

int alignment_allocate_workspace(const struct alignment_state *s, struct alignment_slot *slot)
{
	struct alignment_part *p = &slot->part;
	uint64_t shorts = p->short_words * p->short_blocks;
	uint64_t in_block =
		p->long_threads / (uint32_t)alignment_strip_shape(s->choice.strip).lanes;
	uint64_t longs =
		larger(p->long_words * p->long_blocks * in_block, p->kept_words * p->kept_blocks);

	if (slot->wave)
		longs = p->wave_words * slot->wave_pairs;
	device_free(p->workspace);
	p->workspace = NULL;
	return on_device(&p->workspace, 4 * larger(shorts, longs));
}

int alignment_allocate_staging(struct alignment_slot *slot)
{
	return on_device(&slot->part.staging, slot->part.staging_runs * sizeof(uint32_t));
}

/* ---- the end ---------------------------------------------------------------------------- */

/* Without a device even freeing nothing is an error. */
static void free_device(void *p)
{
	device_free(p);
}

void alignment_slot_release(const struct alignment_state *s, struct alignment_slot *slot)
{
	struct alignment_part *p = &slot->part;

	if (slot->stream)
		CUDA(cudaStreamDestroy(slot->stream));
	if (slot->joined)
		CUDA(cudaEventDestroy(slot->joined));
	free_host(s, slot->blob);
	free_host(s, slot->back);
	free_device(slot->blob_device);
	free_device(slot->back_device);
	free_device(p->planes);
	free_device(p->counters);
	for (int c = 0; c < ALIGN_CLASSES; c++)
		free_device(p->list[c]);
	free_device(p->slot);
	free_device(p->wave);
	free_device(p->staging);
	free_device(p->partial);
	free_device(p->workspace);
	memset(slot, 0, sizeof(*slot));
}
