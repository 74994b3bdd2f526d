/*
 * check.c - did every block of every launch run, exactly as often as it should have, with its
 * arguments whole and its work done?
 *
 * Counters are whole numbers and chains of multiply-adds agree bit by bit, so nothing may be off:
 * the error is the number of blocks whose trace is wrong. All of them are looked at.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/cuda_check.h"
#include "workloads/launch/launch.h"
#include "workloads/workload.h"

/*
 * A spin ends late by an iteration of its loop, some 50 cycles, and by what else the SM does. It is
 * also late where it is shorter than the trace that it writes: 4,096 bytes of arguments take
 * microseconds, and more where all blocks of a full device write theirs. On a GPU the shortest of
 * many spins is late by no more than this, in cycles and as a share. Few spins may be late by a
 * second. So may those of the CPU device: its clock goes on while its threads wait for a processor.
 */
enum { LATE_CYCLES = 10000, LATE_CYCLES_4096 = 100000, LATE_RUNS = 16 };
static const double late_share = 0.01, late_us = 1e6;

/* What each block must have left behind. */
struct expected {
	enum launch_body body;
	uint64_t runs, work;
	uint64_t cycles; /* at least, a run */
	uint64_t most;	 /* of the shortest run */
	uint64_t args[LAUNCH_STREAMS_MAX];
};

static uint64_t most_cycles(const struct launch_opts *o, const struct launch_state *s,
			    int64_t steps)
{
	double cycles = (double)s->config.cycles;
	uint64_t late = o->args == LAUNCH_ARGS_4096 ? LATE_CYCLES_4096 : LATE_CYCLES;

	if (!s->device.major || steps < LATE_RUNS)
		return (uint64_t)(cycles + late_us * s->cycles_per_us);
	return (uint64_t)(cycles * (1 + late_share)) + late;
}

/*
 * Every start occurs in LAUNCH_THREADS / LAUNCH_STARTS threads of a block. No end may be one that
 * is not finite, with all bits of its exponent set.
 */
static uint64_t chain_work(int64_t chain)
{
	uint64_t sum = 0;

	for (int start = 0; start < LAUNCH_STARTS; start++) {
		uint32_t bits = launch_chain_end(start, chain);

		CHECK((bits & 0x7f800000) != 0x7f800000, "chain %d of %ld", start, (long)chain);
		sum += bits;
	}
	return sum * (LAUNCH_THREADS / LAUNCH_STARTS);
}

static struct expected make_expected(const struct launch_opts *o, const struct launch_state *s,
				     int64_t steps)
{
	uint64_t n = (uint64_t)steps;
	struct expected e = { .body = launch_effective_body(o), .runs = n, .most = UINT64_MAX };

	for (int64_t i = 0; i < o->streams; i++)
		e.args[i] =
			n * launch_args_sum(s->args[i], launch_words((enum launch_args)o->args));
	if (e.body == LAUNCH_WORK)
		e.work = n * chain_work(s->config.chain);
	if (e.body == LAUNCH_SPIN) {
		e.cycles = s->config.cycles;
		e.most = most_cycles(o, s, steps);
	}
	return e;
}

/* What a block left behind. */
struct trace {
	struct launch_slot slot;
	uint64_t shortest;
};

/* One thing to compare. A bound where the other is not of interest: 0 or UINT64_MAX. */
struct item {
	const char *what;
	uint64_t found, least, most;
};

/* The first item of a block that is wrong; .what is NULL where none is. */
static struct item check_trace(const struct expected *e, int64_t stream, const struct trace *t)
{
	const struct launch_slot *slot = &t->slot;
	/* before the first run the shortest is UINT64_MAX, and nothing is known of it */
	uint64_t most = e->runs ? e->most : UINT64_MAX;
	const struct item items[] = {
		{ "runs", slot->runs, e->runs, e->runs },
		{ "sum of arguments", slot->args, e->args[stream], e->args[stream] },
		{ "sum of chains", slot->work, e->work, e->work },
		{ "shortest spin", t->shortest, e->cycles, most },
		{ "cycles spun", slot->cycles, e->runs * e->cycles, UINT64_MAX },
	};

	for (size_t i = 0; i < sizeof(items) / sizeof(*items); i++)
		if (items[i].found < items[i].least || items[i].found > items[i].most)
			return items[i];
	return (struct item){ 0 };
}

static void describe_item(struct verdict *v, int64_t stream, int64_t block,
			  const struct item *wrong)
{
	bool low = wrong->found < wrong->least;

	snprintf(v->worst, sizeof(v->worst), "stream %ld, block %ld: %s %" PRIu64 ", not %" PRIu64,
		 (long)stream, (long)block, wrong->what, wrong->found,
		 low ? wrong->least : wrong->most);
}

static void compare_traces(const struct expected *e, const struct launch_config *c,
			   const struct launch_slot *slot, const unsigned long long *shortest,
			   struct verdict *v)
{
	for (int64_t i = 0; i < v->total; i++) {
		const struct trace t = { slot[i], shortest[i] };
		struct item wrong = check_trace(e, i / c->blocks, &t);

		v->compared++;
		if (wrong.what && !v->error++)
			describe_item(v, i / c->blocks, i % c->blocks, &wrong);
	}
}

int launch_check(const void *opts, void *state, int64_t steps, struct verdict *v)
{
	const struct launch_opts *o = opts;
	const struct launch_state *s = state;
	size_t slots = (size_t)o->streams * s->config.blocks;
	struct launch_slot *slot = malloc(slots * sizeof(*slot));
	unsigned long long *shortest = malloc(slots * sizeof(*shortest));
	struct expected e = make_expected(o, s, steps);

	CHECK(slot && shortest, "%zu traces", slots);
	CUDA(cudaMemcpy(slot, s->config.slot, slots * sizeof(*slot), cudaMemcpyDeviceToHost));
	CUDA(cudaMemcpy(shortest, s->config.shortest, slots * sizeof(*shortest),
			cudaMemcpyDeviceToHost));
	v->measure = "blocks whose trace is wrong";
	v->total = (int64_t)slots;
	v->compared = 0;
	v->error = 0;
	v->tolerance = 0;
	compare_traces(&e, &s->config, slot, shortest, v);
	v->passed = v->error <= v->tolerance;
	free(slot);
	free(shortest);
	return 0;
}
