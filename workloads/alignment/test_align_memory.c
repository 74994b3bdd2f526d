/*
 * test_align_memory.c - memory that is scarce: traces that do not fit are worked out strip by
 * strip, what cannot be done is said, and everything is given back.
 */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "tests/ledger.h"
#include "tests/on_cpu.h"
#include "workloads/alignment/test_batch.h"

TestSuite(small_align_memory, .timeout = 300);
TestSuite(large_align_memory, .timeout = 600);

/* A copy of q with one letter in `every` replaced, and a piece that is missing. */
static size_t with_errors(uint64_t *state, const char *q, size_t m, size_t every, char *t)
{
	size_t gap = draw(state) % 200, at = draw(state) % (m - gap);

	memcpy(t, q, at);
	memcpy(t + at, q + at + gap, m - at - gap);
	for (size_t i = 0; i < m / every; i++)
		random_letters(state, &t[draw(state) % (m - gap)], 1, 4);
	return m - gap;
}

/* Pairs of one strip of 1,024 rows, of just more, and of several; alike and unrelated. The CPU
 * device takes one of the longest. */
static void add_long(struct run *r)
{
	static const size_t sizes[] = { 1025, 1600, 2048, 2049, 3000, 5000, 1030 };
	char *q = filled(5000, 'A'), *t = filled(7500, 'A');
	uint64_t state = 21;

	for (size_t i = 0; i < (r->light ? 2 : sizeof(sizes) / sizeof(*sizes)); i++) {
		size_t m = sizes[i], n;

		random_letters(&state, q, m, 4);
		n = with_errors(&state, q, m, 5, t);
		add(r, q, m, t, n);
		if (r->light || (ON_CPU && m == 5000))
			continue;
		add(r, t, n, q, m);
		n = with_errors(&state, q, m, 100, t);
		add(r, q, m, t, n);
		random_letters(&state, t, m * 3 / 2, 2);
		add(r, q, m, t, m * 3 / 2);
	}
	free(q);
	free(t);
}

/* With `memory` bytes of traces the answers are edlib's, and `least` pairs go strip by strip; the
 * graph is launched so many times. */
static void expect_kept(bool light, int64_t memory, uint32_t least, int times)
{
	struct alignment_opts o = default_opts();
	struct run *r;

	o.memory = memory;
	r = run_new(o);
	r->light = light;
	add_long(r);
	run_setup(r, NULL);
	cr_assert(r->s.slot[0].kept_pairs >= least, "%u pairs", r->s.slot[0].kept_pairs);
	run_graph(r, 1, times);
	expect_edlib_for_all(r, "strip by strip");
	cr_assert(run_check(r, times).passed, "%s", run_check(r, times).worst);
	run_end(r);
}

Test(small_align_memory, traces_strip_by_strip)
{
	need_device();
	expect_kept(true, 420 << 10, 1, 2);
}

/* Several, two, or one of 25 or 28 pairs strip by strip. */
Test(large_align_memory, traces_strip_by_strip)
{
	need_device();
	expect_kept(false, (ON_CPU ? 1250 : 1950) << 10, 6, 2);
	expect_kept(false, ON_CPU ? 2600 << 10 : 3 << 20, 2, 1);
	expect_kept(false, (ON_CPU ? 3 : 5) << 20, 1, 1);
}

/* The trace of one strip of 3,000 columns takes 0.8 MB: with half of one there is no walk back. */
Test(small_align_memory, a_strip_that_needs_more_than_the_memory)
{
	enum { LONG = 3000 };
	struct alignment_opts o = default_opts();
	char *q = filled(LONG, 'A'), *t = filled(LONG, 'C');
	struct run *r;

	need_device();
	o.memory = 1 << 19;
	r = run_new(o);
	add(r, q, LONG, t, LONG);
	add_text(r, "ACGTACGT", "ACGTTCGT");
	add(r, q, 1100, q, 1100);
	run_setup(r, NULL);
	run_steps(r, 1);
	cr_assert(r->out.result[0].status == ALIGN_OUT_OF_MEMORY, "status %d",
		  r->out.result[0].status);
	cr_assert(r->out.result[0].distance == ALIGN_UNKNOWN && !r->out.runs[0], "no answer");
	expect_edlib(r, 1, "beside a large one");
	expect_edlib(r, 2, "beside a large one");
	cr_assert(run_check(r, 1).passed, "%s", run_check(r, 1).worst);
	run_end(r);
	free(q);
	free(t);
}

/* ---- the longest ------------------------------------------------------------------------- */

/* Substitutions and a gap far apart. A narrow first band makes it a matter of seconds, as do low
 * strips on the CPU device. */
static void longest(int64_t memory, bool kept)
{
	struct alignment_opts o = default_opts();
	char *q = filled(ALIGN_LENGTH_MAX, 'A'), *t = filled(ALIGN_LENGTH_MAX, 'A');
	struct alignment_choice choice;
	uint64_t state = 22;
	struct run *r;

	need_device();
	random_letters(&state, q, ALIGN_LENGTH_MAX, 4);
	memcpy(t, q, ALIGN_LENGTH_MAX);
	memmove(t + 700000, t + 700007, ALIGN_LENGTH_MAX - 700007);
	for (int i = 0; i < 8; i++)
		random_letters(&state, &t[i * 131071], 1, 4);
	o.band = 0;
	o.memory = memory;
	r = run_new(o);
	add(r, q, ALIGN_LENGTH_MAX, t, ALIGN_LENGTH_MAX);
	choice = alignment_choose(&o, &r->s.batch);
	choice.strip = ON_CPU ? ALIGN_L4 : choice.strip;
	run_setup(r, &choice);
	cr_assert(r->s.slot[0].kept_pairs == kept, "%u pairs", r->s.slot[0].kept_pairs);
	run_steps(r, 1);
	expect_edlib(r, 0, "the longest");
	cr_assert(run_check(r, 1).passed, "%s", run_check(r, 1).worst);
	run_end(r);
	free(q);
	free(t);
}

Test(large_align_memory, the_longest_pair)
{
	longest((int64_t)4 << 30, false);
}

Test(large_align_memory, the_longest_pair_strip_by_strip)
{
	longest(ON_CPU ? 16 << 20 : 64 << 20, true);
}

/* ---- the device's ------------------------------------------------------------------------ */

/* Whichever allocation it is that fails. */
Test(small_align_memory, a_batch_that_does_not_fit_on_the_device)
{
	int given = 0, err;

	need_device();
	do {
		struct alignment_opts o = default_opts();
		struct alignment_state s;
		const char *text;

		memset(&s, 0, sizeof(s));
		o.pairs = 20;
		ledger_room = given;
		divert_stderr();
		err = workload_alignment.setup(&o, &s);
		text = diverted_stderr();
		ledger_room = -1;
		workload_alignment.teardown(&s);
		cr_assert(!*ledger_open(), "left: %s", ledger_open());
		cr_assert(!err || (err == -ENOMEM && is_one_complaint(text) &&
				   strstr(text, "bytes on the device")),
			  "%d given: %d: %s", given, err, text);
	} while (err && given++ < 100);
	cr_assert(0 < given && !err, "%d", given);
}

/* Whatever is on the way, and in steps nothing is taken. */
Test(small_align_memory, teardown_takes_everything_back)
{
	struct alignment_state nothing;

	need_device();
	memset(&nothing, 0, sizeof(nothing));
	workload_alignment.teardown(&nothing);
	for (int host = ALIGN_AUTO; host <= ALIGN_MAPPED; host++) {
		struct alignment_opts o = default_opts();
		char before[256];
		struct run *r;

		o.host = host;
		o.pairs = 8;
		o.length = 40;
		o.streams = 2;
		r = run_new(o);
		run_setup(r, NULL);
		cr_assert(*ledger_open(), "a run takes nothing");
		snprintf(before, sizeof(before), "%s", ledger_open());
		run_steps(r, 2);
		cr_assert(!strcmp(before, ledger_open()), "%s, then %s", before, ledger_open());
		run_end(r);
		cr_assert(!*ledger_open(), "host %d left: %s", host, ledger_open());
	}
}
