/*
 * test_align_modes.c - the same answers whatever way a batch goes: in a graph, in several streams,
 * from pageable memory, or staying on the device.
 */
#include "tests/plain.h"
#include "tests/on_cpu.h"
#include "tests/races.h"
#include "workloads/alignment/test_batch.h"

TestSuite(small_align_modes, .timeout = 300);
TestSuite(large_align_modes, .timeout = 300);

/* Short pairs of all classes, long ones, empty ones, bad ones. */
static void add_mixture(struct run *r)
{
	static char q[1100], t[1100];
	uint64_t state = 77;

	for (int i = 0; i < 20; i++) {
		size_t m = draw(&state) % 200, edits = draw(&state) % (m / 2 + 1);

		random_letters(&state, q, m, 4);
		memcpy(t, q, m);
		for (size_t e = 0; e < edits; e++)
			random_letters(&state, &t[draw(&state) % m], 1, 4);
		add(r, q, m, t, m);
	}
	random_letters(&state, q, sizeof(q), 4);
	memcpy(t, q, sizeof(q));
	random_letters(&state, t + 100, 200, 4);
	add(r, q, 250, t, 330);
	add(r, q, 0, t, 12);
	add(r, q, 12, t, 0);
	add_text(r, "ACGTRACGT", "ACGT");
	if (r->light)
		return;
	add(r, q, 1000, t, 1100);
	add(r, q, sizeof(q), t + 3, sizeof(t) - 3);
}

/* Everything that users see of a batch, as one number. */
static uint64_t digest(const struct run *r)
{
	uint64_t fnv = ALIGN_FNV_START;

	for (int64_t i = 0; i < r->s.batch.n; i++) {
		const struct alignment_result *a = &r->out.result[i];

		fnv = alignment_fnv(fnv, &a->distance, sizeof(a->distance));
		fnv = alignment_fnv(fnv, &a->status, sizeof(a->status));
		fnv = alignment_fnv(fnv, &a->rounds, sizeof(a->rounds));
		fnv = alignment_fnv(fnv, &a->runs, sizeof(a->runs));
		if (r->out.runs[i])
			fnv = alignment_fnv(fnv, r->out.runs[i], a->runs * sizeof(uint32_t));
	}
	return fnv;
}

static struct run *make_mixture(struct alignment_opts o, bool light)
{
	struct run *r = run_new(o);

	r->light = light;
	add_mixture(r);
	run_setup(r, NULL);
	return r;
}

static struct run *mixture(struct alignment_opts o)
{
	return make_mixture(o, true);
}

static uint64_t plain(bool light)
{
	struct run *r = make_mixture(default_opts(), light);
	uint64_t fnv;

	run_steps(r, 1);
	cr_assert(run_check(r, 1).passed, "%s", run_check(r, 1).worst);
	fnv = digest(r);
	run_end(r);
	return fnv;
}

Test(small_align_modes, steps_and_resets_repeat_the_same)
{
	struct run *r;
	uint64_t want;

	need_device();
	want = plain(true);
	r = mixture(default_opts());
	for (int i = 1; i < 4; i += 2) {
		run_reset(r);
		run_steps(r, i);
		cr_assert(digest(r) == want, "%d steps", i);
		cr_assert(run_check(r, i).passed, "%d steps: %s", i, run_check(r, i).worst);
		cr_assert(!run_check(r, i + 1).passed, "%d steps are not %d", i, i + 1);
	}
	run_end(r);
}

/* From page-locked, then pageable memory, resident, in a graph. */
static void expect_way(int kind, int streams, bool light, uint64_t want)
{
	struct alignment_opts o = default_opts();
	struct run *r;

	o.host = kind == 1 ? ALIGN_PAGEABLE : ALIGN_PINNED;
	o.resident = kind == 2;
	o.streams = streams;
	r = make_mixture(o, light);
	if (kind == 3)
		run_graph(r, 1, 2);
	else
		run_steps(r, 2);
	cr_assert(digest(r) == want, "kind %d, %d streams", kind, streams);
	cr_assert(run_check(r, 2).passed, "kind %d, %d streams: %s", kind, streams,
		  run_check(r, 2).worst);
	run_end(r);
}

Test(small_align_modes, graphs_streams_pageable_and_resident)
{
	uint64_t want;

	need_device();
	want = plain(true);
	for (int kind = 0; kind < 4; kind++)
		expect_way(kind, kind ? 2 : 3, true, want);
}

Test(large_align_modes, graphs_streams_pageable_and_resident)
{
	uint64_t want;

	need_device();
	want = plain(false);
	for (int kind = 0; kind < 4; kind++)
		for (int streams = 1; streams <= ALIGN_STREAMS_MAX; streams++)
			if (!ON_CPU || streams == 1 || streams == 3 || streams == ALIGN_STREAMS_MAX)
				expect_way(kind, streams, false, want);
}

/* Distances do not depend on whether CIGARs are wanted too. */
Test(small_align_modes, distances_alone)
{
	struct alignment_opts o = default_opts();
	struct run *r, *both;

	need_device();
	both = mixture(o);
	run_steps(both, 1);
	o.output = ALIGN_DISTANCE;
	r = mixture(o);
	run_steps(r, 1);
	cr_assert(run_check(r, 1).passed, "%s", run_check(r, 1).worst);
	for (int64_t i = 0; i < r->s.batch.n; i++) {
		cr_assert(r->out.result[i].distance == both->out.result[i].distance, "pair %ld",
			  (long)i);
		cr_assert(!r->out.runs[i], "pair %ld has runs", (long)i);
	}
	run_end(r);
	run_end(both);
}

/* A batch whose input does not arrive, or whose results do not leave, is no batch. */
Test(small_align_modes, nothing_of_an_earlier_block_passes_for_a_result)
{
	struct run *r;

	need_device();
	if (RACES)
		return;
	r = mixture(default_opts());
	run_steps(r, 1);
	run_reset(r);
	cr_assert(!run_check(r, 1).passed, "after a reset");
	run_steps(r, 1);
	cr_assert(run_check(r, 1).passed, "after another step");
	run_end(r);
}

/* One letter of one pair changes on its way: the check says which pair. */
Test(small_align_modes, the_check_finds_a_wrong_pair)
{
	struct run *r;
	struct verdict v;

	need_device();
	if (RACES)
		return;
	r = mixture(default_opts());
	((struct alignment_result *)r->s.slot[0].back)[0].distance = 0;
	run_steps(r, 1);
	((struct alignment_result *)r->s.slot[0].back)[5].distance++;
	v = run_check(r, 1);
	cr_assert(!v.passed && v.error == 1 && strstr(v.worst, "pair 5"), "%s", v.worst);
	((struct alignment_result *)r->s.slot[0].back)[5].distance--;
	cr_assert(run_check(r, 1).passed, "put right");
	*(uint32_t *)(uintptr_t)r->out.runs[7] ^= 1u << 4;
	v = run_check(r, 1);
	cr_assert(!v.passed && strstr(v.worst, "pair 7: a CIGAR"), "%s", v.worst);
	run_end(r);
}

/* ---- sizes ------------------------------------------------------------------------------ */

static void expect_batch(int pairs, int length)
{
	struct alignment_opts o = default_opts();
	struct run *r;

	o.pairs = pairs;
	o.length = length;
	r = run_new(o);
	run_setup(r, NULL);
	run_steps(r, 1);
	cr_assert(run_check(r, 1).passed, "%d pairs: %s", pairs, run_check(r, 1).worst);
	expect_edlib_for_all(r, "sizes");
	run_end(r);
}

Test(small_align_modes, sizes_of_batches)
{
	static const int sizes[] = { 1, 31, 33 };

	need_device();
	for (size_t i = 0; i < 3; i++)
		expect_batch(sizes[i], 30);
}

/* To more than a block of any kernel, and beyond what 16 bits count; on the CPU device of few
 * letters. */
Test(large_align_modes, sizes_of_batches)
{
	static const int sizes[] = { 2, 32, 127, 128, 129, 255, 256, 257, 513, 65537 };

	need_device();
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		expect_batch(sizes[i], ON_CPU ? 12 : sizes[i] > 1000 ? 30 : 60);
}
