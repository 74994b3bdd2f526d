/* test_align_status.c - pairs that cannot be aligned say why, and spoil no other. */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "tests/on_cpu.h"
#include "tests/races.h"
#include "workloads/alignment/test_batch.h"

TestSuite(small_align_status, .timeout = 300);
TestSuite(large_align_status, .timeout = 300);

static const char good[] = "ACGTACGTNNACGTTTACGA", near_good[] = "ACGTACGTNACGTTTACGAC";

static void expect_status(const struct run *r, int64_t pair, enum alignment_status status,
			  uint32_t at)
{
	const struct alignment_result *got = &r->out.result[pair];

	cr_assert(got->status == status, "pair %ld: %s, not %s", (long)pair,
		  alignment_status_name(got->status), alignment_status_name(status));
	if (status == ALIGN_BAD_CHARACTER)
		cr_assert(got->at == at, "pair %ld: at %u, not %u", (long)pair, got->at, at);
	if (status != ALIGN_OK)
		cr_assert(got->distance == ALIGN_UNKNOWN && !got->runs, "pair %ld", (long)pair);
}

Test(small_align_status, bad_letters_in_every_place)
{
	static const char bad[] = {
		'U', 'R', '-', ' ', '\0', '\x80', '\xff', '\xc1', '@', '[', '\n'
	};
	enum { BAD = sizeof(bad), LONG = 100 };
	static const uint32_t places[] = { 0, 31, 32, 63, 64, 99 };
	char s[LONG];
	struct run *r;
	int64_t pair = 0;

	need_device();
	r = run_new(default_opts());
	for (int b = 0; b < BAD; b++)
		for (int p = 0; p < 6; p++) {
			memset(s, 'G', LONG);
			s[places[p]] = bad[b];
			if (p < 3)
				s[99] = bad[(b + 1) % BAD];
			add(r, s, LONG, good, 20);
			add_text(r, good, near_good);
			add(r, good, 20, s, LONG);
		}
	run_setup(r, NULL);
	run_steps(r, 1);
	for (int b = 0; b < BAD; b++)
		for (int p = 0; p < 6; p++, pair += 3) {
			expect_status(r, pair, ALIGN_BAD_CHARACTER, places[p]);
			expect_edlib(r, pair + 1, "beside bad pairs");
			expect_status(r, pair + 2, ALIGN_BAD_CHARACTER, 20 + places[p]);
		}
	cr_assert(run_check(r, 1).passed, "%s", run_check(r, 1).worst);
	run_end(r);
}

Test(small_align_status, lower_case_folded_or_refused)
{
	need_device();
	for (int letters = ALIGN_FOLD; letters <= ALIGN_EXACT; letters++) {
		struct alignment_opts o = default_opts();
		struct run *r;

		o.letters = letters;
		r = run_new(o);
		add_text(r, "acgtnACGTN", "ACGTNacgtn");
		add_text(r, "ACGTN", "ACGTN");
		add_text(r, "ACGTN", "ACgTN");
		run_setup(r, NULL);
		run_steps(r, 1);
		expect_status(r, 0, letters == ALIGN_FOLD ? ALIGN_OK : ALIGN_BAD_CHARACTER, 0);
		expect_status(r, 1, ALIGN_OK, 0);
		expect_status(r, 2, letters == ALIGN_FOLD ? ALIGN_OK : ALIGN_BAD_CHARACTER, 7);
		if (letters == ALIGN_FOLD)
			cr_assert(!r->out.result[0].distance && !r->out.result[2].distance, "fold");
		cr_assert(run_check(r, 1).passed, "%s", run_check(r, 1).worst);
		run_end(r);
	}
}

/* Distances on either side of the cap, in `letters` letters, the first n of these. */
static void capped(const struct alignment_choice *choice, int cap, size_t letters, int n)
{
	static const int edits[] = { 0, 1, 5, 20, 31, 40, 70, 140 };
	struct alignment_opts o = default_opts();
	struct run *r;
	char q[400], t[400];

	memset(q, 'A', letters);
	o.cap = cap;
	r = run_new(o);
	for (int i = 0; i < n; i++) {
		memset(t, 'A', letters);
		memset(t + 50, 'C', (size_t)edits[i]);
		add(r, q, letters, t, letters);
		add(r, q, letters, q, letters - (size_t)edits[i]);
	}
	run_setup(r, choice);
	run_steps(r, 1);
	for (int i = 0; i < 2 * n; i++)
		expect_status(r, i, edits[i / 2] > cap ? ALIGN_OVER_CAP : ALIGN_OK, 0);
	cr_assert(run_check(r, 1).passed, "cap %d: %s", cap, run_check(r, 1).worst);
	run_end(r);
}

static const struct alignment_choice cap_choices[] = { { ALIGN_L4, ALIGN_S1, 0, false, 0, false },
						       { ALIGN_L32, ALIGN_S2, 0, false, 0, false },
						       { ALIGN_L4, ALIGN_L, 0, false, 0, false } };

Test(small_align_status, caps)
{
	static const int caps[] = { 0, 1, 4, 5 };

	need_device();
	for (int i = 0; i < (RACES ? 2 : 4); i++)
		capped(&cap_choices[i % 2 ? 2 : 0], caps[i], 100, 4);
}

Test(large_align_status, caps)
{
	need_device();
	for (int cap = 0; cap <= 141; cap += cap < 2 || cap > 138 ? 1 : 17)
		for (int c = 0; c < 3; c++)
			capped(&cap_choices[c], cap, ON_CPU ? 200 : 400, 8);
}

Test(small_align_status, sequences_that_are_too_long)
{
	char *s = malloc(ALIGN_LENGTH_MAX + 1);
	struct run *r;

	need_device();
	CHECK(s, "memory");
	memset(s, 'A', ALIGN_LENGTH_MAX + 1);
	r = run_new(default_opts());
	add(r, s, ALIGN_LENGTH_MAX + 1, good, 20);
	add_text(r, good, near_good);
	add(r, good, 20, s, ALIGN_LENGTH_MAX + 1);
	run_setup(r, NULL);
	run_steps(r, 1);
	expect_status(r, 0, ALIGN_LONG_SEQUENCE, 0);
	expect_edlib(r, 1, "between long ones");
	expect_status(r, 2, ALIGN_LONG_SEQUENCE, 0);
	cr_assert(run_check(r, 1).passed, "%s", run_check(r, 1).worst);
	run_end(r);
	free(s);
}

/* Where there is no room on the way back a pair says so, others have theirs, and the check fails.
 */
Test(small_align_status, results_that_are_cut_off)
{
	struct run *r;
	uint32_t last;

	need_device();
	r = run_new(default_opts());
	for (int i = 0; i < 5; i++)
		add_text(r, good, near_good);
	run_setup(r, NULL);
	run_steps(r, 1);
	last = r->out.result[4].at + r->out.result[4].runs;
	r->s.slot[0].part.runs_max = last - 1;
	run_reset(r);
	run_steps(r, 1);
	for (int i = 0; i < 4; i++)
		expect_edlib(r, i, "whole");
	cr_assert(r->out.result[4].status == ALIGN_RESULT_TRUNCATED, "the last");
	cr_assert(!r->out.runs[4], "its runs");
	cr_assert(!run_check(r, 1).passed, "a pair is missing");
	run_end(r);
}
