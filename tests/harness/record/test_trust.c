/*
 * test_trust.c - harness/record/trust.h: which results are noisy, and which sessions are not to be
 * believed; on sessions made by hand, and on kept ones, of which it is known how far processes were
 * off.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/record/trust.h"
#include "harness/stats/stats.h"
#include "tests/four_points.h"

TestSuite(small_trust, .timeout = 300);
TestSuite(large_trust, .timeout = 300);

/* ---- by hand ------------------------------------------------------------------------------ */

/* Marks the first so many processes of side a at a point. */
static void make_noisy(struct journal *j, int point, int processes)
{
	for (int i = 0; i < processes; i++)
		j->noisy[i * POINTS + point] = true;
}

/* Noisy results of one side, whose processes, of five, are so far apart at every point. */
static int noisy_of(int processes, int noisy, double spread)
{
	struct journal j = session_of(1, 5, true);
	struct trust t;

	for (int i = processes * POINTS; i < 5 * POINTS; i++)
		j.status[i] = POINT_PENDING;
	for (int i = 0; i < POINTS; i++)
		scale_times(&j, 0, i, 1, spread);
	make_noisy(&j, 2, noisy);
	t = trust_of(&j);
	cr_assert(eq(int, t.results, POINTS), "%d", t.results);
	cr_assert(zero(int, t.unknown), "%d", t.unknown);
	journal_release(&j);
	return t.noisy;
}

Test(small_trust, noise_of_half_of_the_processes_is_noise)
{
	cr_assert(zero(int, noisy_of(5, 0, 0.03)), "none");
	cr_assert(zero(int, noisy_of(5, 2, 0.03)), "outvoted");
	cr_assert(eq(int, noisy_of(5, 3, 0.03), 1), "the median is theirs");
	cr_assert(eq(int, noisy_of(4, 2, 0.03), 1), "half of it is");
	cr_assert(eq(int, noisy_of(5, 5, 0.03), 1), "all");
}

/* Processes at -2 to 2 steps of the spread: the median distance is a step. */
Test(small_trust, processes_that_agree_were_not_moved)
{
	cr_assert(zero(int, noisy_of(5, 5, 0.0099)), "within 1 %%");
	cr_assert(eq(int, noisy_of(5, 5, 0.0101), 1), "further apart");
	cr_assert(eq(int, noisy_of(4, 4, 0), 1), "too few to agree");
	cr_assert(eq(int, noisy_of(1, 1, 0), 1), "one");
}

/* Five processes that scatter at each point, noisy at so many of them. */
static struct journal noisy_session(int points)
{
	struct journal j = session_of(1, 5, true);

	for (int i = 0; i < POINTS; i++)
		scale_times(&j, 0, i, 1, 0.03);
	for (int i = 0; i < points; i++)
		make_noisy(&j, i, 5);
	return j;
}

Test(small_trust, those_of_several_sessions_that_cannot_be_trusted_are_named)
{
	struct journal good = noisy_session(2), bad = noisy_session(3);
	struct distrusted d = { 0 };
	char text[1024] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	distrusted_add(&d, "good", &good);
	distrusted_print(&d, out);
	for (int i = 0; i < 5; i++)
		distrusted_add(&d, (const char *[]){ "w", "x", "x", "y", "z" }[i], &bad);
	distrusted_print(&d, out);
	fclose(out);
	cr_expect(eq(int, d.n, 5));
	cr_expect(eq(str, text,
		     "5 sessions cannot be trusted: w (3 of 4 results are noisy), x (3 of 4 "
		     "results are noisy), y (3 of 4 results are noisy) and 2 more.\n"));
	journal_release(&good);
	journal_release(&bad);
}

/* What has no result is not counted; each side has results of its own. */
Test(small_trust, results_are_of_points_and_sides)
{
	struct journal j = session_of(2, 5, true);
	struct trust t;

	for (int i = 0; i < 5; i++)
		j.status[i * POINTS + 3] = POINT_FAILED;
	j.status[0] = POINT_CHECK_FAILED;
	j.total_ns[1 * POINTS] = NAN;
	t = trust_of(&j);
	cr_assert(eq(int, t.results, 2 * POINTS - 1), "%d", t.results);
	cr_assert(zero(int, t.noisy + t.unknown), "%d %d", t.noisy, t.unknown);
	journal_release(&j);
}

/* One of five that takes four times as long leaves the median, but not what is known of it. */
Test(small_trust, what_spreads_by_more_than_itself_is_unknown)
{
	struct journal j = session_of(1, 5, true);

	j.total_ns[4 * POINTS + 1] *= 3.9; /* 0.6 of 2.9, halved: 87 % */
	cr_assert(zero(int, trust_of(&j).unknown), "87 %%");
	j.total_ns[4 * POINTS + 1] *= 4.5 / 3.9; /* 105 % */
	cr_assert(eq(int, trust_of(&j).unknown, 1), "105 %%");
	cr_assert(zero(int, trust_of(&j).noisy), "nothing disturbed it");
	make_noisy(&j, 1, 5);
	j.total_ns[3 * POINTS + 1] *= 1.1;
	j.total_ns[0 * POINTS + 1] *= 0.9;
	j.total_ns[1 * POINTS + 1] *= 0.95;
	cr_assert(eq(int, trust_of(&j).noisy, 1), "noisy");
	cr_assert(zero(int, trust_of(&j).unknown), "once is enough");
	journal_release(&j);
}

static void distrust_is(const struct journal *j, const char *want)
{
	char why[TRUST_TEXT];

	session_distrust(j, why);
	if (*want)
		cr_assert(tells(why, want), "'%s' in: %s", want, why);
	else
		cr_assert(eq(str, why, ""), "%s", why);
}

Test(small_trust, a_session_of_mostly_bad_results_is_not_to_be_trusted)
{
	struct journal j = session_of(1, 5, true);

	for (int i = 0; i < POINTS; i++)
		scale_times(&j, 0, i, 1, 0.05);
	distrust_is(&j, "");
	make_noisy(&j, 0, 5);
	make_noisy(&j, 1, 5);
	distrust_is(&j, ""); /* two of four */
	j.total_ns[4 * POINTS + 2] *= 100;
	distrust_is(&j, "2 of 4 *, 1 of 4 * 100 %");
	make_noisy(&j, 3, 5);
	make_noisy(&j, 2, 5);
	distrust_is(&j, "4 of 4 results are noisy");
	journal_release(&j);
}

/* ---- kept sessions ------------------------------------------------------------------------ */

/* Process values, and those of them that are more than 1 % from the median of their point. */
struct tally {
	int n, off;
};

static void tally_point(struct tally of[2], const struct journal *j, int side, int point)
{
	int n = j->plan.design.processes;
	double *value = calloc((size_t)n, sizeof(*value)), median;

	for (int i = 0; i < n; i++)
		value[i] = j->total_ns[(side * n + i) * j->plan.n_points + point];
	median = median_of(value, n);
	free(value);
	for (int i = 0; i < n; i++) {
		int at = (side * n + i) * j->plan.n_points + point;
		struct tally *t = &of[j->noisy[at]];

		t->n++;
		t->off += fabs(j->total_ns[at] / median - 1) > NOISE_SHARE;
	}
}

/*
 * Sixty sessions of the CPU device on a busy machine (data/sessions/emulate-sets), 5,400 values:
 * a noisy one is off several times as often as one that is not. So it says something; marks alone
 * do not, which nearly every one of these values has.
 */
Test(large_trust, noisy_values_are_off)
{
	struct tally of[2] = { { 0 } };
	char path[96];

	for (int set = 0; set < 60; set++) {
		struct journal j;

		snprintf(path, sizeof(path), "data/sessions/emulate-sets/set-%02d.jsonl.gz", set);
		cr_assert(zero(int, journal_read(&j, path)), "%s", path);
		for (int side = 0; side < j.sides; side++)
			for (int i = 0; i < j.plan.n_points; i++)
				tally_point(of, &j, side, i);
		journal_release(&j);
	}
	cr_assert(lt(int, 200, of[1].n), "%d", of[1].n);
	cr_assert(lt(dbl, 3 * of[0].off / (double)of[0].n, of[1].off / (double)of[1].n),
		  "noisy: %d of %d, others: %d of %d", of[1].off, of[1].n, of[0].off, of[0].n);
}
