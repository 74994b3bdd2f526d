/*
 * test_align_edges.c - every kernel against edlib, where words, bands and strips begin and end: a
 * few pairs of each kind and three kernels (small), all of them (large).
 */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "tests/on_cpu.h"
#include "workloads/alignment/test_batch.h"

TestSuite(small_align_edges, .timeout = 300);
TestSuite(large_align_edges, .timeout = 600);

/* ---- by hand ----------------------------------------------------------------------------- */

static void by_hand(struct run *r)
{
	static const char *const pairs[][2] = {
		{ "", "" },
		{ "A", "" },
		{ "", "C" },
		{ "A", "A" },
		{ "A", "C" },
		{ "ATAAAAAAAA", "AAAAAAAAA" },
		{ "AAAAAAAAA", "ATAAAAAAAA" },
		{ "ACTGA", "GCTAG" },
		{ "AAAA", "TTAT" },
		{ "N", "N" },
		{ "N", "A" },
		{ "NNNNACGT", "NNACGTNN" },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		add_text(r, pairs[i][0], pairs[i][1]);
}

Test(large_align_edges, pairs_by_hand)
{
	all_choices(by_hand);
}

Test(small_align_edges, texts_by_hand)
{
	static const char *const extended[] = { "", "1I", "1D", "1=", "1X", "1=1I8=", "1=1D8=" };
	struct run *r;

	need_device();
	r = run_new(default_opts());
	by_hand(r);
	run_setup(r, NULL);
	run_steps(r, 1);
	for (int i = 0; i < 7; i++) {
		char *text = cigar(r, i, false);

		cr_assert(!strcmp(text, extended[i]), "pair %d: %s", i, text);
		free(text);
	}
	cr_assert(r->out.result[7].distance == 3, "ACTGA GCTAG");
	for (int i = 8; i < 9; i++) {
		char *text = cigar(r, i, true);

		cr_assert(!strcmp(text, "4M"), "AAAA TTAT: %s", text);
		free(text);
	}
	run_end(r);
}

/* ---- identical, all different, homopolymers, repeats -------------------------------------- */

/* Rows of the strips into which the kernels cut a long pair. */
static size_t strip_rows(const struct run *r)
{
	struct alignment_shape shape = alignment_strip_shape(all_kernels[r->choice].strip);

	return (size_t)(32 * shape.lanes * shape.words);
}

/* On the CPU device lengths beside 1,024 are for strips of so many rows, and for kernels of short
 * pairs, which take no longer ones. */
static void uniform(struct run *r)
{
	static const int sizes[] = {
		1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1023, 1024, 1025
	};
	char *a = filled(1100, 'A'), *c = filled(1100, 'C'), *repeat = filled(1101, 'A');
	bool shorts = all_kernels[r->choice].least < ALIGN_L;

	for (int i = 0; i < 1100; i += 2)
		repeat[i] = 'T';
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		size_t n = (size_t)sizes[i];

		if (r->light && (n == 2 || n == 63 || n == 127 || n > 129))
			continue;
		if (ON_CPU && strip_rows(r) != 1024 && (n == 1023 || (n == 1025 && !shorts)))
			continue;
		add(r, a, n, a, n);
		add(r, a, n, c, n);
		add(r, a, n, a, n / 2);
		add(r, a, n / 3, a, n);
		add(r, repeat, n, repeat + 1, n);
		add(r, repeat + 1, n, repeat, n);
	}
	free(a);
	free(c);
	free(repeat);
}

Test(large_align_edges, identical_different_and_repeated)
{
	all_choices(uniform);
}

/* ---- one edit, one gap ------------------------------------------------------------------- */

static void add_edit(struct run *r, const char *s, size_t n, size_t at, int kind)
{
	char *t = filled(n + 1, 'A');
	size_t length = kind == 0 ? n : kind == 1 ? n + 1 : n - 1;

	memcpy(t, s, at);
	if (kind == 0)
		memcpy(t + at, s + at, n - at);
	if (kind < 2)
		t[at] = s[at % n] == 'A' ? 'C' : 'A';
	if (kind == 1)
		memcpy(t + at + 1, s + at, n - at);
	if (kind == 2)
		memcpy(t + at, s + at + 1, n - at - 1);
	add(r, s, n, t, length);
	free(t);
}

static void one_edit(struct run *r)
{
	static const size_t at[] = { 0, 1, 30, 31, 32, 33, 62, 63, 64, 65, 127, 128, 129, 199 };
	uint64_t state = 5;
	char s[200];

	random_letters(&state, s, sizeof(s), 4);
	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i += r->light ? 3 : 1)
		for (int kind = 0; kind < 3; kind++)
			add_edit(r, s, sizeof(s), at[i], kind);
}

Test(large_align_edges, one_edit_beside_the_edges_of_words)
{
	all_choices(one_edit);
}

/* On the CPU device pairs are of several strips for three of the gaps, and either sequence has the
 * gap in turns. */
static void one_gap(struct run *r)
{
	static const size_t gaps[] = { 1, 31, 32, 33, 127, 128, 1000 };
	enum { ALL = 1300 };
	uint64_t state = 6;
	char s[ALL], t[ALL];

	random_letters(&state, s, ALL, 4);
	for (size_t i = 0; i < sizeof(gaps) / sizeof(*gaps); i++)
		for (size_t where = 0; where < 3; where += r->light ? 2 : 1) {
			size_t all = r->light ? 200 : ON_CPU && i % 3 ? 400 : ALL;
			size_t at = where * (all - gaps[i]) / 2, rest = all - at - gaps[i];

			if (gaps[i] >= all)
				continue;
			memcpy(t, s, at);
			memcpy(t + at, s + at + gaps[i], rest);
			if (r->light || !ON_CPU || (i + where) % 2)
				add(r, s, all, t, all - gaps[i]);
			if (!r->light && (!ON_CPU || (i + where) % 2 == 0))
				add(r, t, all - gaps[i], s, all);
		}
}

Test(large_align_edges, one_gap_at_the_start_in_the_middle_at_the_end)
{
	all_choices(one_gap);
}

/* ---- lengths ----------------------------------------------------------------------------- */

static bool at_edge(size_t n)
{
	return n <= 2 || (n >= 31 && n <= 33) || (n >= 63 && n <= 65);
}

/* Lengths of 0 to 70 on both sides, on the CPU device a 29th of them and all pairs of those beside
 * the edges of words; alphabets of 1 to 5 letters in turns. */
static void lengths(struct run *r)
{
	size_t stride = r->light ? 41 : ON_CPU ? 29 : 1;
	uint64_t state = 7;
	char q[70], t[70];

	for (size_t m = 0; m <= 70; m++)
		for (size_t n = 0; n <= 70; n++) {
			int alphabet = 1 + (int)((m * 71 + n) % 5);

			if (n % stride != m % stride && (r->light || !at_edge(m) || !at_edge(n)))
				continue;
			random_letters(&state, q, m, alphabet);
			random_letters(&state, t, n, alphabet);
			add(r, q, m, t, n);
		}
}

Test(large_align_edges, lengths_up_to_70)
{
	all_choices(lengths);
}

/* On the CPU device the longest for one kernel: that for long pairs, with the lowest strips. For
 * the others just more than a strip; bands and lists of several turns begin and end there too. */
static void unequal(struct run *r)
{
	enum { LOWEST_STRIPS = 3 };
	size_t strips = strip_rows(r) > 1024 ? 4200 : 1300;
	size_t longest = ON_CPU && r->choice != LOWEST_STRIPS ? strips : 65536;
	const size_t sizes[][2] = {
		{ 1, 46 },	  { 20, 150 }, { 150, 400 }, { 1, ON_CPU ? strips : 10000 },
		{ 100, longest },
	};
	uint64_t state = 8;
	char *q = filled(65536, 'A'), *t = filled(65536, 'A');

	for (size_t i = 0; i < (r->light ? 2 : sizeof(sizes) / sizeof(*sizes)); i++) {
		random_letters(&state, q, sizes[i][0], 4);
		random_letters(&state, t, sizes[i][1], 4);
		add(r, q, sizes[i][0], t, sizes[i][1]);
		add(r, t, sizes[i][1], q, sizes[i][0]);
		add(r, q, sizes[i][0], t, 0);
		add(r, t, sizes[i][1], t, 0);
		add(r, t, 0, t, sizes[i][1]);
	}
	free(q);
	free(t);
}

Test(large_align_edges, very_unequal_lengths)
{
	all_choices(unequal);
}

/* Pairs of 1 to 65,536 letters in one batch, the same and with an edit. A narrow first band and low
 * strips are the least work for the CPU device. */
Test(large_align_edges, mixed_lengths)
{
	static const size_t sizes[] = { 65536, 1, 31, 1024, 20000, 46, 1025, 150, 5000, 65535 };
	char *s = filled(65536, 'A');
	uint64_t state = 11;
	struct alignment_opts o = default_opts();
	struct alignment_choice choice;
	struct run *r;

	need_device();
	o.band = ON_CPU ? 0.002 : o.band;
	r = run_new(o);
	random_letters(&state, s, 65536, 4);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		add(r, s, sizes[i], s, sizes[i]);
		add_edit(r, s, sizes[i], sizes[i] / 3, 1);
	}
	choice = alignment_choose(&r->o, &r->s.batch);
	choice.strip = ON_CPU ? ALIGN_L4 : choice.strip;
	run_setup(r, &choice);
	run_steps(r, 1);
	expect_edlib_for_all(r, "mixed");
	cr_assert(run_check(r, 1).passed, "%s", run_check(r, 1).worst);
	run_end(r);
	free(s);
}

/* Bands double to the top; on the CPU device the longest are of four letters only. */
static void unrelated(struct run *r)
{
	static const size_t sizes[] = { 40, 100, 300, 700 };
	uint64_t state = 9;
	char *q = filled(2000, 'A'), *t = filled(2000, 'A');

	for (size_t i = 0; i < (r->light ? 2 : sizeof(sizes) / sizeof(*sizes)); i++)
		for (int alphabet = 2; alphabet <= 4; alphabet += 2) {
			if (ON_CPU && sizes[i] == 700 && alphabet == 2)
				continue;
			random_letters(&state, q, sizes[i], alphabet);
			random_letters(&state, t, sizes[i] * 3 / 2, alphabet);
			add(r, q, sizes[i], t, sizes[i] * 3 / 2);
			add(r, q, sizes[i], t, sizes[i]);
		}
	free(q);
	free(t);
}

Test(large_align_edges, unrelated_sequences)
{
	all_choices(unrelated);
}

/* ---- a few of each ----------------------------------------------------------------------- */

static void each_kind(struct run *r)
{
	by_hand(r);
	uniform(r);
	one_edit(r);
	one_gap(r);
	lengths(r);
	unequal(r);
	unrelated(r);
}

Test(small_align_edges, each_kind)
{
	few_choices(each_kind);
}
