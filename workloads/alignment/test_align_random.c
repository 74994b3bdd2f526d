/* test_align_random.c - properties of random pairs, and the reference against edlib. */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "tests/on_cpu.h"
#include "workloads/alignment/test_batch.h"

TestSuite(small_align_random, .timeout = 300);
TestSuite(large_align_random, .timeout = 300);

enum { LONGEST = 600 };

/* A query, and a target that is a copy with edits and a gap or two. */
static void random_pair(uint64_t *state, char *q, size_t *m, char *t, size_t *n)
{
	int alphabet = 1 + (int)(draw(state) % 5);
	size_t rate = draw(state) % 40 + 1;

	*m = draw(state) % LONGEST;
	*n = 0;
	random_letters(state, q, *m, alphabet);
	for (size_t i = 0; i < *m; i++) {
		size_t kind = draw(state) % (4 * rate);

		if (kind == 0)
			i += draw(state) % 50;
		if (kind < 3)
			random_letters(state, &t[(*n)++], 1, alphabet);
		if (kind != 1 && i < *m)
			t[(*n)++] = q[i];
	}
}

static void backwards(char *to, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = s[n - 1 - i];
}

/* Each pair, exchanged, and both reversed. */
static void add_pairs(struct run *r, int pairs, uint64_t seed)
{
	static char q[LONGEST], t[2 * LONGEST], rq[LONGEST], rt[2 * LONGEST];
	uint64_t state = seed;
	size_t m, n;

	for (int i = 0; i < pairs; i++) {
		random_pair(&state, q, &m, t, &n);
		backwards(rq, q, m);
		backwards(rt, t, n);
		add(r, q, m, t, n);
		add(r, t, n, q, m);
		add(r, rq, m, rt, n);
	}
}

static void expect_properties(const struct run *r, int64_t pair)
{
	const struct alignment_pair *p = &r->s.batch.pair[pair];
	uint32_t d = r->out.result[pair].distance, gap = p->m > p->n ? p->m - p->n : p->n - p->m;
	struct alignment_view v = view(r, pair);
	bool equal = p->m == p->n && !memcmp(v.query, v.target, p->m);

	cr_assert(d == r->out.result[pair + 1].distance, "pair %ld: exchanged", (long)pair);
	cr_assert(d == r->out.result[pair + 2].distance, "pair %ld: reversed", (long)pair);
	cr_assert(gap <= d && d <= (p->m > p->n ? p->m : p->n), "pair %ld: %u", (long)pair, d);
	cr_assert(equal == !d, "pair %ld: %u", (long)pair, d);
}

static void properties(int pairs)
{
	static const struct alignment_choice choices[] = {
		{ ALIGN_L4, ALIGN_S1, 0, false, 0, false },
		{ ALIGN_L8, ALIGN_L, 0, false, 0, false },
		{ ALIGN_L32, ALIGN_L, 0, false, 0, false }
	};
	struct run *r;

	need_device();
	r = run_new(default_opts());
	for (int c = 0; c < 3; c++) {
		add_pairs(r, pairs, 1000 + (uint64_t)c);
		run_setup(r, &choices[c]);
		run_steps(r, 1);
		for (int64_t i = 0; i < r->s.batch.n; i += 3)
			expect_properties(r, i);
		expect_edlib_for_all(r, "random");
		run_clear(r);
	}
	run_end(r);
}

Test(small_align_random, properties)
{
	properties(15);
}

Test(large_align_random, properties)
{
	properties(ON_CPU ? 80 : 200);
}

/* What the kernels are checked against, itself against edlib. */
static void reference(int pairs)
{
	static char q[LONGEST], t[2 * LONGEST];
	uint64_t state = 12;
	size_t m, n;

	for (int i = 0; i < pairs; i++) {
		struct alignment_view v;
		uint32_t *runs;
		int64_t count, d;
		EdlibAlignResult want;

		random_pair(&state, q, &m, t, &n);
		v = (struct alignment_view){ (uint8_t *)q, (uint8_t *)t, (int64_t)m, (int64_t)n,
					     true };
		want = edlibAlign(
			q, (int)m, t, (int)n,
			edlibNewAlignConfig(-1, EDLIB_MODE_NW, EDLIB_TASK_DISTANCE, NULL, 0));
		d = alignment_distance(&v, -1);
		cr_assert(d == want.editDistance, "%zu x %zu: %ld not %d", m, n, (long)d,
			  want.editDistance);
		cr_assert(alignment_distance(&v, d) == d, "%zu x %zu: a cap of %ld", m, n, (long)d);
		cr_assert(!d || alignment_distance(&v, d - 1) == -1, "%zu x %zu: a cap below", m,
			  n);
		count = alignment_path(&v, &runs);
		cr_assert(alignment_replay(&v, runs, count) == d, "%zu x %zu: its own path", m, n);
		free(runs);
		edlibFreeAlignResult(want);
	}
}

Test(small_align_random, the_reference_agrees_with_edlib)
{
	reference(100);
}

Test(large_align_random, the_reference_agrees_with_edlib)
{
	reference(ON_CPU ? 600 : 1500);
}

/* A replay that accepted anything would make every CIGAR right. */
Test(small_align_random, a_replay_refuses_what_is_no_alignment)
{
	static const uint32_t bad[][3] = {
		{ 4 * 16 + ALIGN_EQUAL, 0, 0 },		       /* a letter is left */
		{ 5 * 16 + ALIGN_EQUAL, 0, 0 },		       /* X taken for = */
		{ 5 * 16 + ALIGN_X, 0, 0 },		       /* = taken for X */
		{ 4 * 16 + ALIGN_EQUAL, 2 * 16 + ALIGN_X, 0 }, /* beyond the end */
		{ 4 * 16 + ALIGN_EQUAL, 16 + ALIGN_I, 0 },     /* a letter of the target left */
		{ 2 * 16 + ALIGN_EQUAL, 2 * 16 + ALIGN_EQUAL,
		  17 + 7 },					 /* runs that should be one */
		{ 4 * 16 + ALIGN_EQUAL, 16 + 0, 0 },		 /* M */
		{ ALIGN_I, 4 * 16 + ALIGN_EQUAL, 16 + ALIGN_X }, /* a run of none */
	};
	static const uint32_t right[] = { 4 * 16 + ALIGN_EQUAL, 16 + ALIGN_X };
	struct alignment_view v = { (const uint8_t *)"ACGTA", (const uint8_t *)"ACGTC", 5, 5,
				    true };

	cr_assert(alignment_replay(&v, right, 2) == 1, "the right one");
	for (int i = 0; i < 8; i++) {
		int n = bad[i][2] ? 3 : bad[i][1] ? 2 : 1;

		cr_assert(alignment_replay(&v, bad[i], n) == -1, "number %d", i);
	}
}
