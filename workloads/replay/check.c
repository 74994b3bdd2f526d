/*
 * check.c - has every kernel run as often as it was launched, and has every copy come to its place,
 * and to no other? Every byte of every destination is compared, guards behind it included. What
 * lies on the device is compared by the device, so that a check does not rest on copies.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "workloads/replay/replay.h"
#include "workloads/workload.h"

/* What is said of the first that is wrong. */
static void wrong(struct verdict *v, double units, const char *what, long number, long found,
		  long right)
{
	if (!*v->worst)
		snprintf(v->worst, sizeof(v->worst), "%s %ld: %ld, not %ld", what, number, found,
			 right);
	v->error += units;
}

/* ---- kernels ---------------------------------------------------------------------------- */

/* How often each counter goes up in a step. */
static unsigned long long *counts_of_step(const struct replay_plan *p)
{
	unsigned long long *right = calloc((size_t)p->counters + 1, sizeof(*right));

	CHECK(right, "memory of %ld counters", (long)p->counters);
	for (int64_t i = 0; i < p->acts; i++)
		if (p->act[i].kind == ACT_KERNEL)
			right[p->act[i].place] += (unsigned long long)p->act[i].blocks;
	for (int g = 0; g < p->graphs; g++)
		for (int64_t k = 0; k < p->graph[g].kernels; k++)
			right[p->graph[g].place + k] += (unsigned long long)p->graph[g].number;
	return right;
}

static void check_counts(const struct replay_state *s, int64_t steps, struct verdict *v)
{
	int64_t n = s->plan.counters;
	unsigned long long *right = counts_of_step(&s->plan);
	unsigned long long *found = calloc((size_t)n + 1, sizeof(*found));

	CHECK(found, "memory of %ld counters", (long)n);
	CUDA(cudaMemcpy(found, s->count, (size_t)n * sizeof(*found), cudaMemcpyDeviceToHost));
	for (int64_t i = 0; i < n; i++) {
		unsigned long long runs = right[i] * (unsigned long long)steps;

		if (found[i] != runs)
			wrong(v, 1, "blocks of kernel", (long)i, (long)found[i], (long)runs);
	}
	v->compared += n;
	free(found);
	free(right);
}

static void check_functions(const struct replay_state *s, int64_t steps, struct verdict *v)
{
	int64_t right = s->plan.number[ACT_HOSTFUNC] * steps;
	int64_t found = __atomic_load_n(&s->functions, __ATOMIC_RELAXED);

	v->compared += right > 0;
	v->total += right > 0;
	if (found != right)
		wrong(v, 1, "host functions of", (long)steps, (long)found, (long)right);
}

/* ---- copies ----------------------------------------------------------------------------- */

static struct pattern_wrong compare_on_device(const struct replay_state *s, const char *at,
					      size_t size, uint64_t word, uint64_t bytes)
{
	struct pattern_wrong w = pattern_all_wrong(size);

	CUDA(cudaMemcpy(s->wrong, &w, sizeof(w), cudaMemcpyHostToDevice));
	pattern_compare(at, size, word, bytes, s->wrong, 0);
	CUDA(cudaMemcpy(&w, s->wrong, sizeof(w), cudaMemcpyDeviceToHost));
	return w;
}

/* Words that the copy of that step to a slot has not left as it should; step -1: no copy. */
static struct pattern_wrong compare_slot(const struct replay_state *s, int area, int slot,
					 int64_t step)
{
	const struct replay_area *a = &s->plan.area[area];
	size_t stride = replay_stride(a);
	const char *at = s->area[area].base + (size_t)slot * stride;
	uint64_t word = step < 0 ? 0 : replay_source_word(slot, step);
	uint64_t bytes = step < 0 ? 0 : (uint64_t)a->bytes;

	return s->area[area].on_device ? compare_on_device(s, at, stride, word, bytes)
				       : pattern_compare_host(at, stride, word, bytes);
}

static int64_t set_wrong(const struct replay_state *s, int area, int64_t step)
{
	const struct replay_area *a = &s->plan.area[area];
	size_t stride = replay_stride(a);
	unsigned char *found = malloc(stride);
	int64_t n = 0;

	CHECK(found, "%zu bytes", stride);
	CUDA(cudaMemcpy(found, s->area[area].base, stride, cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < stride; i++)
		n += found[i] != (step >= 0 && i < (size_t)a->bytes ? replay_set_byte(step)
								    : PATTERN_GUARD_BYTE);
	free(found);
	return n;
}

static int64_t area_wrong(const struct replay_state *s, int area, int64_t step)
{
	int64_t n = 0;

	if (s->plan.area[area].memset)
		return set_wrong(s, area, step);
	for (int slot = 0; slot < s->plan.area[area].slots; slot++)
		n += (int64_t)compare_slot(s, area, slot, step).words;
	return n;
}

/*
 * Steps that were enqueued one by one say which was the last. Those in a graph were when it was
 * captured: the last of a graph, which may be any of the longest one's.
 */
static int64_t wrong_in(const struct replay_state *s, int area, int64_t steps, int64_t graph_steps)
{
	int64_t least = -1, last = s->steps - 1;

	if (s->steps || !steps || !graph_steps)
		return area_wrong(s, area, last);
	for (int64_t step = graph_steps - 1; step >= 0 && least; step--) {
		int64_t n = area_wrong(s, area, step);

		least = least < 0 || n < least ? n : least;
		if (graph_steps - step >= REPLAY_SOURCES)
			break; /* the same bytes come again */
	}
	return least;
}

int replay_check(const void *opts, void *state, int64_t steps, struct verdict *v)
{
	struct replay_state *s = state;

	(void)opts;
	v->measure = "kernels that did not run as often as launched, and words of copies that are "
		     "wrong";
	v->tolerance = 0;
	v->error = 0;
	v->compared = 0;
	v->total = s->plan.counters + s->plan.areas;
	check_counts(s, steps, v);
	check_functions(s, steps, v);
	for (int i = 0; i < s->plan.areas; i++) {
		int64_t n = wrong_in(s, i, steps, v->graph_steps);

		if (interrupted())
			return -EINTR;
		if (n)
			wrong(v, (double)n, "words of copies of size", (long)s->plan.area[i].bytes,
			      (long)n, 0);
		v->compared++;
	}
	if (!v->graph_steps && s->steps != steps)
		wrong(v, 1, "steps after", (long)s->steps, (long)s->steps, (long)steps);
	v->passed = v->error <= v->tolerance;
	return 0;
}
