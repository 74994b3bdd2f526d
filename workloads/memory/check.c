/*
 * check.c - was memory allocated and freed as often as it should have been? Is it usable?
 *
 * A step without touch leaves nothing behind but its address. So the check takes memory once more
 * in the same way, and writes and reads every byte of it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/cuda_check.h"
#include "workloads/memory/memory.h"

enum { PIECE = 1 << 20 }; /* of host memory, copied and compared at a time */

/* Words of 8 bytes that are compared; memory of fewer bytes than that is larger than asked for. */
static size_t whole_words(int64_t bytes)
{
	return (size_t)(bytes + 7) / 8 * 8;
}

static void fill_host(uint64_t *p, size_t size)
{
	for (size_t i = 0; i < size / 8; i++)
		p[i] = pattern_word(i);
}

/* What the device gets of host memory, piece by piece. */
static void compare_copies(const char *p, size_t size, struct pattern_wrong *out)
{
	char *piece;

	CUDA(cudaMalloc((void **)&piece, PIECE));
	for (size_t at = 0; at < size; at += PIECE) {
		size_t n = size - at < PIECE ? size - at : PIECE;

		CUDA(cudaMemcpy(piece, p + at, n, cudaMemcpyHostToDevice));
		pattern_compare(piece, n, at / 8, n, out, 0);
		CUDA(cudaDeviceSynchronize());
	}
	CUDA(cudaFree(piece));
}

/* Returns how many words are wrong. */
static double use_buffer(enum memory_call call, void *p, size_t size, struct pattern_wrong *out)
{
	struct pattern_wrong wrong = pattern_all_wrong(size);
	double on_host = 0;

	CUDA(cudaMemcpy(out, &wrong, sizeof(wrong), cudaMemcpyHostToDevice));
	if (memory_on_device(call)) {
		pattern_fill(p, size, 0, size, 0);
		pattern_compare(p, size, 0, size, out, 0);
	} else {
		fill_host(p, size);
		on_host = (double)pattern_compare_host(p, size, 0, size).words;
		compare_copies(p, size, out);
	}
	CUDA(cudaMemcpy(&wrong, out, sizeof(wrong), cudaMemcpyDeviceToHost));
	return on_host + (double)wrong.words;
}

int memory_try(enum memory_call call, int64_t bytes, double *wrong)
{
	size_t size = whole_words(bytes);
	void *buffer = call == MEMORY_REGISTER ? memory_buffer(size) : NULL, *p = buffer;
	struct pattern_wrong *out;
	cudaError_t err;

	CUDA(cudaMalloc((void **)&out, sizeof(*out)));
	err = memory_take(call, &p, size, 0);
	if (err) {
		cudaGetLastError();
		complain(ENOMEM, "%zu bytes to check: %s", size, cudaGetErrorString(err));
	} else {
		CUDA(cudaDeviceSynchronize());
		*wrong = use_buffer(call, p, size, out);
		memory_give(call, p, 0);
	}
	CUDA(cudaDeviceSynchronize());
	CUDA(cudaFree(out));
	free(buffer);
	return err ? -ENOMEM : 0;
}

/* Pages that should have been touched and were not, or the other way about. */
static double pages_missing(const struct memory_opts *o, const struct memory_state *s)
{
	int64_t pages = o->touch ? (o->bytes + MEMORY_PAGE - 1) / MEMORY_PAGE * s->steps : 0;
	unsigned long long on_device;

	CUDA(cudaMemcpy(&on_device, s->stamps, sizeof(on_device), cudaMemcpyDeviceToHost));
	pages -= s->pages + (int64_t)on_device;
	return pages < 0 ? -(double)pages : (double)pages;
}

static void describe_wrong(struct verdict *v, const struct memory_state *s, int64_t steps,
			   double pages, double wrong)
{
	if (s->steps != steps)
		snprintf(v->worst, sizeof(v->worst), "%" PRId64 " times, not %" PRId64, s->steps,
			 steps);
	else if (s->strays)
		snprintf(v->worst, sizeof(v->worst), "%" PRId64 " addresses are not memory",
			 s->strays);
	else if (pages > 0)
		snprintf(v->worst, sizeof(v->worst), "%.0f pages were not touched", pages);
	else if (wrong > 0)
		snprintf(v->worst, sizeof(v->worst), "%.0f words of 8 bytes are wrong", wrong);
}

int memory_check(const void *opts, void *state, int64_t steps, struct verdict *v)
{
	const struct memory_opts *o = opts;
	const struct memory_state *s = state;
	double pages = pages_missing(o, s), wrong = 0;
	int64_t missing = steps - s->steps;
	int err = memory_try((enum memory_call)o->call, o->bytes, &wrong);

	if (err)
		return err;
	v->measure = "steps that are missing, addresses, pages and words that are wrong";
	v->compared = v->total = (o->bytes + 7) / 8;
	v->tolerance = 0;
	v->error = (double)(missing < 0 ? -missing : missing) + (double)s->strays + pages + wrong;
	describe_wrong(v, s, steps, pages, wrong);
	v->passed = v->error <= v->tolerance;
	return 0;
}
