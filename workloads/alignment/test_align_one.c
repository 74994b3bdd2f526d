/* test_align_one.c - batches that are done in one launch: which they are, and the same answers. */
#include "tests/plain.h"
#include "tests/races.h"
#include "workloads/alignment/test_batch.h"

TestSuite(small_align_one, .timeout = 300);
TestSuite(large_align_one, .timeout = 300);

static struct alignment_opts make_opts(int host)
{
	struct alignment_opts o = default_opts();

	o.host = host;
	return o;
}

static void add_random(struct run *r, uint64_t *state, size_t m, size_t n, int alphabet)
{
	char q[ALIGN_SHORT_MAX], t[ALIGN_SHORT_MAX];

	random_letters(state, q, m, alphabet);
	memcpy(t, q, m);
	random_letters(state, t + m, n > m ? n - m : 0, alphabet);
	for (size_t e = 0; e < n / 12; e++)
		random_letters(state, &t[draw(state) % n], 1, alphabet);
	add(r, q, m, t, n);
}

static void expect_one(struct run *r, bool one, const char *what)
{
	run_setup(r, NULL);
	cr_assert(r->s.slot[0].one == one, "%s: one launch: %d", what, r->s.slot[0].one);
	run_steps(r, 2);
	expect_edlib_for_all(r, what);
	cr_assert(run_check(r, 2).passed, "%s: %s", what, run_check(r, 2).worst);
}

/* Every remainder of 4, 8, 32 and 128 letters in some pair; bands of all three widths. */
static void lengths(size_t step)
{
	uint64_t state = 5;
	struct run *r;

	need_device();
	for (int host = ALIGN_AUTO; host <= ALIGN_MAPPED; host += RACES ? ALIGN_MAPPED : 1) {
		const size_t by = RACES ? 75 : step > 1 ? 50 : 25;

		r = run_new(make_opts(host));
		for (size_t m = 75 * (size_t)host; m < 75 * (size_t)host + 75; m += by) {
			for (size_t i = m % step; i < 25; i += step)
				add_random(r, &state, m + i, m + draw(&state) % 40, 2 + host);
			expect_one(r, true, "lengths");
			run_clear(r);
		}
		run_end(r);
	}
}

Test(small_align_one, lengths)
{
	lengths(12);
}

Test(large_align_one, lengths)
{
	lengths(1);
}

Test(small_align_one, the_longest_pairs)
{
	uint64_t state = 6;
	struct run *r;

	need_device();
	r = run_new(make_opts(ALIGN_MAPPED));
	for (size_t n = ALIGN_SHORT_MAX - (RACES ? 1 : 5); n <= ALIGN_SHORT_MAX; n++)
		add_random(r, &state, n, ALIGN_SHORT_MAX, 5);
	add(r, "", 0, "ACGT", 4);
	add(r, "ACGTACGT", 8, "", 0);
	add(r, "", 0, "", 0);
	expect_one(r, true, "long");
	run_end(r);
}

/* Batches of about 2 KiB, up to which each block takes in all of it. */
static void around_2_kib(size_t step)
{
	uint64_t state = 11;
	struct run *r;

	need_device();
	r = run_new(make_opts(ALIGN_MAPPED));
	for (size_t n = 505; n <= 520; n += step) {
		add_random(r, &state, 484, 485, 4);
		add_random(r, &state, n, n + 1, 4);
		expect_one(r, true, "2 KiB");
		run_clear(r);
	}
	run_end(r);
}

Test(small_align_one, a_batch_as_large_as_a_block_takes_in_whole)
{
	around_2_kib(14);
}

Test(large_align_one, a_batch_as_large_as_a_block_takes_in_whole)
{
	around_2_kib(1);
}

/* What a band of 32, 64 or 128 rows just proves, and just not. */
Test(large_align_one, distances_at_the_edge_of_a_band)
{
	char *q = filled(300, 'A'), *t = filled(300, 'A');
	struct run *r;

	need_device();
	r = run_new(make_opts(ALIGN_AUTO));
	for (size_t d = 30; d <= 129; d += d % 32 == 1 ? 29 : 1) {
		size_t n = d < 70 ? 100 : 300;
		bool proven = d <= 127;

		memset(t, 'A', 300);
		memset(t + 20, 'C', d);
		add(r, q, n, t, n);
		add(r, q, n - 10, t, n);
		if (proven)
			add(r, t, n, q, n - 20);
		expect_one(r, proven, "edges");
		run_clear(r);
	}
	run_end(r);
	free(q);
	free(t);
}

Test(small_align_one, what_goes_the_longer_way)
{
	char *a = filled(ALIGN_SHORT_MAX + 1, 'A'), *c = filled(500, 'C');
	uint64_t state = 7;
	struct run *r;

	need_device();
	r = run_new(make_opts(ALIGN_AUTO));
	for (int i = 0; !RACES && i <= ALIGN_ONE_PAIRS; i++)
		add_random(r, &state, 40, 40, 4);
	if (!RACES)
		expect_one(r, false, "33 pairs");
	run_clear(r);
	add_random(r, &state, 100, 120, 4);
	add(r, "", 0, a, ALIGN_SHORT_MAX + 1);
	expect_one(r, false, "a long sequence");
	run_clear(r);
	r->o.host = ALIGN_MAPPED;
	add(r, a, 500, c, 500);
	cr_assert(alignment_setup_batch(&r->o, &r->s, alignment_choose(&r->o, &r->s.batch)) ==
			  -EINVAL,
		  "mapped memory");
	run_end(r);
	free(a);
	free(c);
}

/* A pair that the kernel cannot prove does not pass for done, nor does one harm others. */
Test(small_align_one, a_pair_that_is_left_fails_the_check)
{
	char *a = filled(200, 'A'), *c = filled(200, 'C');
	uint64_t state = 8;
	struct run *r;

	need_device();
	r = run_new(make_opts(ALIGN_PINNED));
	add(r, a, 200, c, 200);
	add_random(r, &state, 90, 100, 4);
	expect_one(r, false, "a pair for strips");
	r->s.slot[0].one = true;
	run_reset(r);
	run_steps(r, 1);
	cr_assert(r->out.result[0].status == ALIGN_NOT_DONE, "left");
	expect_edlib(r, 1, "beside");
	cr_assert(!run_check(r, 1).passed, "a pair is missing");
	run_end(r);
	free(a);
	free(c);
}

/* Bad letters, caps and room that is too small: as in test_align_status.c. */
Test(small_align_one, statuses)
{
	char s[300];
	struct run *r;
	uint64_t state = 9;

	need_device();
	for (int cap = 0; cap < (RACES ? 1 : 40); cap += 26) {
		r = run_new(make_opts(ALIGN_MAPPED));
		r->o.cap = cap;
		for (size_t i = 0; i < 28; i++) {
			random_letters(&state, s, sizeof(s), 4);
			s[i * 10] = i % 2 ? 'U' : 'g';
			add(r, s, 280, s, 280 + i % 4);
			add_random(r, &state, 100 + i, 100 + i % 7, 4);
			i++;
		}
		run_setup(r, NULL);
		cr_assert(r->s.slot[0].one, "one launch");
		run_steps(r, 1);
		cr_assert(run_check(r, 1).passed, "cap %d: %s", cap, run_check(r, 1).worst);
		run_end(r);
	}
	r = run_new(make_opts(ALIGN_MAPPED));
	for (int i = 0; i < 4; i++)
		add_random(r, &state, 100, 100, 4);
	expect_one(r, true, "room");
	r->s.slot[0].part.runs_max = r->out.result[3].at + r->out.result[3].runs - 1;
	run_reset(r);
	run_steps(r, 1);
	cr_assert(r->out.result[3].status == ALIGN_RESULT_TRUNCATED && !run_check(r, 1).passed,
		  "cut off");
	expect_edlib(r, 2, "whole");
	run_end(r);
}

/* Graphs, streams and distances alone. */
Test(small_align_one, ways)
{
	uint64_t state = 10;

	need_device();
	for (int kind = RACES ? 4 : 0; kind < 8; kind += kind == 3 ? 1 : 3) {
		struct run *r = run_new(make_opts(kind & 1 ? ALIGN_MAPPED : ALIGN_PINNED));

		r->o.output = kind & 2 ? ALIGN_DISTANCE : ALIGN_CIGAR;
		r->o.streams = kind & 4 ? 3 : 1;
		for (size_t i = 0; i < 12; i++)
			add_random(r, &state, 60 + i, 70, 4);
		run_setup(r, NULL);
		cr_assert(r->s.slot[0].one, "kind %d", kind);
		run_graph(r, 2, 3);
		expect_edlib_for_all(r, "ways");
		cr_assert(run_check(r, 6).passed, "kind %d: %s", kind, run_check(r, 6).worst);
		run_end(r);
	}
}
