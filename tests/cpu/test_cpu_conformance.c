/*
 * test_cpu_conformance.c - what workloads/workload.h promises and only the CPU device can show, of
 * every workload of the table: what lies in all of the device's memory, what a launch that is lost
 * or doubled leaves, how much kernels compute, what teardown gives back.
 *
 * Each judge returns a text that says what is wrong, or NULL. Workloads that cheat (cheat.h) show
 * that they find it.
 */
/* compiled with -O2: it computes much */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "tests/cheat.h"
#include "tests/conformance.h"

#include <stdarg.h>

#include "common/cpu/include/cpudev_watch.h"
#include "common/cuda_check.h"

TestSuite(large_cpu_conformance, .timeout = 300);
TestSuite(small_cpu_conformance, .timeout = 300);

enum { BLOCKS_MAX = 256, STEPS = 3, STEPS_SPOILED = 2, SLOTS = 16 };

static const char *const names[MODE_COUNT] = { "stream", "graph", "fused" };

__attribute__((format(printf, 1, 2))) static const char *flaw(const char *format, ...)
{
	static char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return text;
}

/* ---- the device's memory ---------------------------------------------------------------- */

/* All of it. */
struct image {
	struct cpudev_block block[BLOCKS_MAX];
	size_t n;
	char *copy[BLOCKS_MAX];
};

static void leave_out(struct image *i, const struct scratch_part *p)
{
	for (size_t b = 0; b < i->n; b++) {
		const char *base = i->block[b].base, *at = p->at;

		if (at < base || at >= base + i->block[b].bytes)
			continue;
		cr_assert(at + p->bytes <= base + i->block[b].bytes, "scratch beyond its block");
		memset(i->copy[b] + (at - base), 0, p->bytes);
	}
}

static struct image *take_all(void)
{
	struct image *i = calloc(1, sizeof(*i));

	CHECK(i, "memory");
	i->n = cpudev_device_blocks(i->block, BLOCKS_MAX);
	CHECK(i->n <= BLOCKS_MAX, "%zu blocks", i->n);
	for (size_t b = 0; b < i->n; b++) {
		i->copy[b] = malloc(i->block[b].bytes);
		CHECK(i->copy[b], "%zu bytes", i->block[b].bytes);
		memcpy(i->copy[b], i->block[b].base, i->block[b].bytes);
	}
	return i;
}

/* With zeros where there is scratch. */
static struct image *take_image(const struct driven *d)
{
	struct image *i = take_all();
	struct scratch scratch = { 0 };

	if (d->w->scratch)
		d->w->scratch(d->opts, d->state, &scratch);
	for (int p = 0; p < scratch.n; p++)
		leave_out(i, &scratch.part[p]);
	return i;
}

static void drop(struct image *i)
{
	for (size_t b = 0; b < i->n; b++)
		free(i->copy[b]);
	free(i);
}

/* What lies there now, compared with an image. */
static const char *differs(const struct driven *d, const struct image *before, const char *what)
{
	struct image *now = take_image(d);
	const char *found = NULL;

	if (now->n != before->n)
		found = flaw("%s: %zu blocks of memory, not %zu", what, now->n, before->n);
	for (size_t b = 0; b < now->n && !found; b++) {
		size_t bytes = now->block[b].bytes, at = 0;

		if (!memcmp(now->copy[b], before->copy[b], bytes))
			continue;
		while (at < bytes && now->copy[b][at] == before->copy[b][at])
			at++;
		if (at < bytes)
			found = flaw("%s: byte %zu of %zu of block %zu", what, at, bytes, b);
	}
	drop(now);
	return found;
}

/* Other bytes wherever resets and steps have written others than setup left, the image. */
static void poison_written(const struct image *start)
{
	struct image *end = take_all();

	for (size_t b = 0; b < end->n; b++)
		for (size_t i = 0; i < end->block[b].bytes; i++)
			if (end->copy[b][i] != start->copy[b][i])
				end->block[b].base[i] ^= 0x5a;
	drop(end);
}

/* ---- judges ----------------------------------------------------------------------------- */

/* In each mode the same as in a stream, of whose answers none is left to be found. */
static const char *judge_modes(struct driven *d)
{
	static const int64_t numbers[] = { 1, 6 };
	struct image *start = take_all();
	const char *found = NULL;

	for (int i = 0; i < 2; i++)
		for (enum mode m = MODE_GRAPH; m < MODE_COUNT && !found; m++) {
			int64_t n = numbers[i];
			struct image *stream;

			if (!driven_allows(d, m, n) || !driven_allows(d, MODE_STREAM, n))
				continue;
			driven_run(d, MODE_STREAM, n);
			stream = take_image(d);
			poison_written(start);
			driven_run(d, m, n);
			found = differs(d, stream, names[m]);
			drop(stream);
		}
	drop(start);
	return found;
}

/* Nothing of what was there before is left, or missing: reset and steps make it anew. */
static const char *judge_poison(struct driven *d)
{
	struct image *start = take_all(), *end;
	const char *found;

	driven_run(d, MODE_STREAM, STEPS);
	end = take_image(d);
	poison_written(start);
	drop(start);
	driven_run(d, MODE_STREAM, STEPS);
	found = differs(d, end, "poisoned before");
	drop(end);
	return found;
}

static const char *judge_reset(struct driven *d)
{
	struct image *first;
	const char *found;

	driven_run(d, MODE_STREAM, STEPS);
	first = take_image(d);
	driven_add(d, MODE_STREAM, STEPS - 1);
	driven_run(d, MODE_STREAM, STEPS);
	found = differs(d, first, "again behind a reset");
	drop(first);
	return found;
}

static struct cpudev_work work_of(struct driven *d, enum mode mode, int64_t n)
{
	struct cpudev_work w;

	driven_reset(d);
	cpudev_watch();
	driven_add(d, mode, n);
	w = cpudev_watched();
	cpudev_watch_end();
	return w;
}

/* The steps once more, with launch i done so many times: passes the check? */
static bool unnoticed(struct driven *d, uint64_t i, unsigned times)
{
	driven_reset(d);
	cpudev_watch();
	cpudev_spoil_launch(i, times);
	driven_add(d, MODE_STREAM, STEPS_SPOILED);
	cpudev_watch_end();
	return driven_passes(d, MODE_STREAM, STEPS_SPOILED);
}

/* A launch that is lost fails the check; so does one that is doubled, or it changes nothing. */
static const char *judge_launches(struct driven *d)
{
	const char *found = NULL;
	struct image *right;
	uint64_t n = work_of(d, MODE_STREAM, STEPS_SPOILED).launches;

	driven_passes(d, MODE_STREAM, STEPS_SPOILED);
	right = take_image(d);
	for (uint64_t i = 0; i < n && !found; i++) {
		if (unnoticed(d, i, 0))
			found = flaw("launch %d of %d lost, and the check passes", (int)i, (int)n);
		else if (unnoticed(d, i, 2))
			found = differs(d, right, "a launch doubled, and the check passes");
	}
	drop(right);
	return found;
}

/* CPU time that n fused steps take, ns: the least of a few. */
static int64_t fused_ns(struct driven *d, int64_t n)
{
	const int64_t long_ns = 30000000;
	int64_t least = INT64_MAX;

	for (int i = 0; i < 3 && (!i || least < long_ns); i++) {
		int64_t ns = work_of(d, MODE_FUSED, n).cpu_ns;

		least = ns < least ? ns : least;
	}
	return least;
}

/*
 * One launch of the step's kernel, whose threads compute 16 times as long for 16 times the steps;
 * 10 to 16 times is what has been seen. Begins with so many that the launch itself, some 0.5 us,
 * hardly counts.
 */
static const char *judge_work(struct driven *d)
{
	enum { TIMES = 16, AT_LEAST = TIMES / 3, ENOUGH_NS = 20000 };
	struct cpudev_work step, fused;
	int64_t few = 1, few_ns, many_ns;

	if (!driven_allows(d, MODE_FUSED, TIMES))
		return NULL;
	step = work_of(d, MODE_STREAM, 1);
	fused = work_of(d, MODE_FUSED, STEPS);
	if (fused.launches != 1 || step.launches != 1)
		return flaw("%d launches", (int)fused.launches);
	if (fused.function != step.function || fused.blocks != step.blocks)
		return flaw("another kernel, or another grid, than the step's");
	few_ns = fused_ns(d, few);
	while (few_ns < ENOUGH_NS && driven_allows(d, MODE_FUSED, 4 * TIMES * few) && few < 4096)
		few_ns = fused_ns(d, few *= 4);
	many_ns = fused_ns(d, TIMES * few);
	return many_ns >= AT_LEAST * few_ns ? NULL
					    : flaw("%d steps take %d ns, %d take %d", (int)few,
						   (int)few_ns, (int)(TIMES * few), (int)many_ns);
}

static const char *judge_held(const struct cpudev_held *before)
{
	struct cpudev_held now = cpudev_held();

	return memcmp(&now, before, sizeof(now))
		       ? flaw("not given back: device %zu, pinned %zu, registered %zu, streams "
			      "%zu, events %zu, graphs %zu, executable %zu",
			      now.device, now.pinned, now.registered, now.streams, now.events,
			      now.graphs, now.execs)
		       : NULL;
}

/* ---- every workload --------------------------------------------------------------------- */

typedef const char *judge(struct driven *d);

static void each(judge *of, int slots)
{
	for (int i = 0; workloads[i]; i++) {
		struct driven *d = driven_begin(workloads[i], slots);
		const char *found = of(d);

		cr_expect(!found, "%s: %s", workloads[i]->name, found);
		driven_end(d);
	}
}

Test(large_cpu_conformance, modes_leave_the_same_bytes)
{
	each(judge_modes, SLOTS);
}

Test(large_cpu_conformance, steps_write_what_was_poisoned)
{
	each(judge_poison, SLOTS);
}

Test(large_cpu_conformance, reset_restores)
{
	each(judge_reset, SLOTS);
}

Test(large_cpu_conformance, launches_that_are_lost_or_doubled_are_found)
{
	each(judge_launches, SLOTS);
}

Test(large_cpu_conformance, fused_steps_do_the_work_of_each)
{
	each(judge_work, 2);
}

Test(large_cpu_conformance, teardown_gives_everything_back)
{
	for (int i = 0; workloads[i]; i++) {
		struct cpudev_held before = cpudev_held();
		struct driven *d = driven_begin(workloads[i], SLOTS);
		const char *found;

		for (enum mode m = 0; m < MODE_COUNT; m++)
			if (driven_allows(d, m, STEPS))
				driven_run(d, m, STEPS);
		driven_passes(d, MODE_STREAM, STEPS); /* or not: of whatever mode came last */
		driven_end(d);
		found = judge_held(&before);
		cr_expect(!found, "%s: %s", workloads[i]->name, found);
	}
}

/* ---- workloads that cheat --------------------------------------------------------------- */

struct cheat_opts {
	int64_t slots;
	int cheat;
};

struct cheat_state {
	struct cheat_memory *m;
	uint32_t enqueued;
};

static int next_cheat; /* what setup takes */

static const struct param cheat_params[] = {
	PARAM_INT(cheat_opts, slots, "1", "2", 1, CHEAT_SLOTS, "data sets"),
	PARAM_END,
};

static int cheat_limits(const void *opts, struct limits *out)
{
	(void)opts;
	(void)out;
	return 0;
}

static int cheat_setup(const void *opts, void *state)
{
	struct cheat_state *s = state;

	(void)opts;
	CUDA(cudaMalloc((void **)&s->m, sizeof(*s->m)));
	CUDA(cudaMemset(s->m, 0, sizeof(*s->m)));
	return 0;
}

static int cheat_reset(const void *opts, void *state, cudaStream_t stream)
{
	struct cheat_state *s = state;
	size_t at = next_cheat == CHEAT_RESET ? sizeof(uint32_t) : 0;
	size_t end = offsetof(struct cheat_memory, slot);

	(void)opts;
	if (at) /* the count only */
		end = at;
	else if (next_cheat != CHEAT_KNOWN && next_cheat != CHEAT_NOTHING)
		end = sizeof(*s->m);
	s->enqueued = 0;
	CUDA(cudaMemsetAsync(s->m, 0, end, stream));
	return 0;
}

static int cheat_step(const void *opts, void *state, cudaStream_t stream)
{
	const struct cheat_opts *o = opts;
	struct cheat_state *s = state;
	uint32_t first = next_cheat == CHEAT_GRAPH ? s->enqueued++ : UINT32_MAX;

	cheat_launch(s->m, (enum cheat)next_cheat, (uint32_t)o->slots, first, 1, 0, stream);
	if (next_cheat == CHEAT_BLIND)
		cheat_blind(s->m, stream);
	return 0;
}

static int cheat_fused(const void *opts, void *state, cudaStream_t stream, int64_t n)
{
	const struct cheat_opts *o = opts;
	struct cheat_state *s = state;

	if (next_cheat == CHEAT_LAUNCHES) {
		for (; n; n--)
			cheat_step(o, s, stream);
		return 0;
	}
	cheat_launch(s->m, (enum cheat)next_cheat, (uint32_t)o->slots, UINT32_MAX, (uint32_t)n,
		     next_cheat == CHEAT_OTHER_KERNEL, stream);
	if (next_cheat == CHEAT_BLIND)
		for (; n; n--)
			cheat_blind(s->m, stream);
	return 0;
}

static int cheat_check(const void *opts, void *state, int64_t steps, struct verdict *v)
{
	const struct cheat_opts *o = opts;
	const struct cheat_state *s = state;
	struct cheat_memory m;
	uint32_t last = (uint32_t)steps - 1;

	CUDA(cudaMemcpy(&m, s->m, sizeof(m), cudaMemcpyDeviceToHost));
	v->error = m.steps != steps;
	for (uint32_t i = 0; i < CHEAT_CELLS; i++)
		v->error += m.slot[last % (uint32_t)o->slots][i] != cheat_cell(last, i);
	v->compared = CHEAT_CELLS;
	v->tolerance = 0;
	v->measure = "cells that are wrong";
	v->passed = v->error <= v->tolerance;
	return 0;
}

static void cheat_teardown(void *state)
{
	struct cheat_state *s = state;

	if (next_cheat != CHEAT_TEARDOWN)
		CUDA(cudaFree(s->m));
}

static const struct workload cheater = {
	.name = "cheater",
	.params = cheat_params,
	.opts_size = sizeof(struct cheat_opts),
	.state_size = sizeof(struct cheat_state),
	.limits = cheat_limits,
	.setup = cheat_setup,
	.reset = cheat_reset,
	.step = cheat_step,
	.fused = cheat_fused,
	.check = cheat_check,
	.teardown = cheat_teardown,
};

/* Who finds it. */
enum {
	BY_CHECK = 1,
	BY_MODES = 2,
	BY_POISON = 4,
	BY_RESET = 8,
	BY_LAUNCHES = 16,
	BY_WORK = 32,
	BY_HELD = 64,
};

static bool finds(judge *of, int slots)
{
	struct driven *d = driven_begin(&cheater, slots);
	bool found = of(d) != NULL;

	driven_end(d);
	return found;
}

static const char *judge_check(struct driven *d)
{
	for (enum mode m = 0; m < MODE_COUNT; m++) {
		driven_run(d, m, STEPS);
		if (!driven_passes(d, m, STEPS))
			return names[m];
	}
	return NULL;
}

static unsigned found_by(enum cheat cheat)
{
	static judge *const judges[] = { judge_check, judge_modes,    judge_poison,
					 judge_reset, judge_launches, judge_work };
	struct cpudev_held before = cpudev_held();
	unsigned by = 0;

	next_cheat = cheat;
	for (int i = 0; i < 6; i++)
		by |= finds(judges[i], judges[i] == judge_work ? 2 : SLOTS) ? 1u << i : 0u;
	return by | (judge_held(&before) ? BY_HELD : 0u);
}

/* What the check alone, a weak one, would let pass. */
Test(small_cpu_conformance, cheats_are_found)
{
	static const unsigned by[CHEATS] = {
		[CHEAT_ONCE] = BY_MODES | BY_WORK,
		[CHEAT_NOTHING] = BY_MODES | BY_WORK,
		[CHEAT_LAST] = BY_WORK,
		[CHEAT_SKIPS_ONE] = BY_MODES,
		[CHEAT_HALF_BLOCK] = BY_MODES,
		[CHEAT_LAUNCHES] = BY_WORK,
		[CHEAT_OTHER_KERNEL] = BY_WORK,
		[CHEAT_KNOWN] = BY_MODES | BY_POISON,
		[CHEAT_BLIND] = BY_LAUNCHES,
		[CHEAT_GRAPH] = BY_MODES,
		[CHEAT_RESET] = BY_MODES | BY_RESET,
		[CHEAT_TEARDOWN] = BY_HELD,
	};

	cr_expect(!found_by(CHEAT_NONE), "an honest one: %x", found_by(CHEAT_NONE));
	for (enum cheat c = CHEAT_NONE + 1; c < CHEATS; c++) {
		unsigned found = found_by(c);

		cr_expect((found & by[c]) == by[c], "cheat %d: found by %x, not %x", (int)c, found,
			  by[c]);
	}
}
