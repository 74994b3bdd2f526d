/*
 * test_history.c - series of sessions that are resampled from a kept one, with a step and without:
 * how often a date is found, and how near.
 */
/* sanitizers: one thread */
#include "tests/test.h"

#include <fcntl.h>

#include "common/philox.h"
#include "harness/compare/history.h"
#include "harness/record/recorded.h"
#include "harness/stats/stats.h"

#include <math.h>
#include <stdlib.h>

TestSuite(small_history, .timeout = 300);

/* ---- series ----------------------------------------------------------------------------- */

enum { SESSIONS = 40, PROCESSES = 6 };
#define BETWEEN 0.01 /* standard deviation of what a session is off by */

/* The means of the processes of a kept session. */
static void kept_means(double mean[PROCESSES])
{
	const struct session_arg arg = { .word = "data/sessions/atlas-h200/none.jsonl.gz:a",
					 .side = SIDE_ANY };
	struct history h;
	int side;

	history_init(&h, 1, &compare_not_given);
	cr_assert(zero(int, session_read_any(&h.of[0].session, &arg, NULL, &side)));
	history_add(&h, 0, side);
	cr_assert(zero(int, history_make(&h)));
	cr_assert(eq(int, h.of[0].side.n, PROCESSES));
	cr_assert(eq(int, h.workloads, 12));
	memcpy(mean, h.of[0].mean, PROCESSES * sizeof(*mean));
	history_release(&h);
}

static double uniform(uint32_t series, uint32_t session, uint32_t draw)
{
	return (philox4x32(series, session, draw, 0, 11).word[0] + 0.5) / 4294967296.0;
}

static double normal(uint32_t series, uint32_t session)
{
	return sqrt(-2 * log(uniform(series, session, 100))) *
	       cos(2 * M_PI * uniform(series, session, 101));
}

/* From session `step` on, all takes so many times as long; 0: nothing changes. */
static void resample(struct history *h, const double *mean, uint32_t series, int step, double times)
{
	history_init(h, SESSIONS, &compare_not_given);
	for (uint32_t i = 0; i < SESSIONS; i++) {
		double value[PROCESSES];

		for (uint32_t k = 0; k < PROCESSES; k++)
			value[k] = mean[(int)(PROCESSES * uniform(series, i, k))];
		h->of[i].value = median_of(value, PROCESSES) * exp(BETWEEN * normal(series, i)) *
				 (step && (int)i >= step ? times : 1);
	}
	history_judge(h);
}

Test(small_history, series_without_a_step_have_no_date)
{
	enum { SERIES = 200, FOUND_MOST = 16 };
	double mean[PROCESSES];
	int found = 0;

	kept_means(mean);
	for (uint32_t s = 0; s < SERIES; s++) {
		struct history h;

		resample(&h, mean, s, 0, 1);
		cr_expect(h.enough);
		found += h.since != 0;
		history_release(&h);
	}
	printf("series without a step: %d of %d with a finding\n", found, SERIES);
	cr_expect(le(int, found, FOUND_MOST), "%d", found);
}

/* Anywhere but among the first and last five. */
static int found_near(const double *mean, double times, int series)
{
	int near = 0, found = 0;

	for (int s = 0; s < series; s++) {
		int step = 5 + (int)(31 * uniform(1000u + (uint32_t)s, 0, 200));
		struct history h;

		resample(&h, mean, 1000u + (uint32_t)s, step, times);
		found += h.since != 0;
		near += h.since && abs(h.since - step) <= 1 &&
			h.judged.verdict == (times > 1 ? VERDICT_SLOWER : VERDICT_FASTER);
		history_release(&h);
	}
	printf("series with a step of %+.0f %%: %d of %d found, %d within one session\n",
	       100 * (times - 1), found, series, near);
	return near;
}

Test(small_history, a_step_of_three_percent_is_found_within_one_session)
{
	double mean[PROCESSES];

	kept_means(mean);
	cr_expect(le(int, 18, found_near(mean, 1.03, 20)));
	cr_expect(le(int, 180, found_near(mean, 1.03, 200)));
	cr_expect(le(int, 180, found_near(mean, 1 / 1.03, 200)));
}

/* Sessions that all agree; half of them take twice as long. */
static struct history agreeing(int n)
{
	struct history h;

	history_init(&h, n, &compare_not_given);
	for (int i = 0; i < n; i++)
		h.of[i].value = (i < n / 2 ? 1 : 2) + 1e-6 * i;
	history_judge(&h);
	return h;
}

Test(small_history, eight_sessions_can_decide_and_seven_cannot)
{
	struct history h = agreeing(8);

	cr_expect(h.enough);
	cr_expect(eq(int, h.since, 4));
	cr_expect(eq(int, (int)history_exit_code(&h), RIFT_CHECK_FAILED));
	history_release(&h);
	for (int n = 2; n < 8; n++) {
		h = agreeing(n);
		cr_expect(not(h.enough), "%d", n);
		cr_expect(zero(int, h.since), "%d", n);
		cr_expect(eq(int, (int)history_exit_code(&h), RIFT_FAILED_POINTS));
		history_release(&h);
	}
}

/* Where reading stops at the first file, the others are released as they are. */
Test(small_history, sessions_that_were_never_read)
{
	struct history h;
	int first = open("/dev/null", O_RDONLY);

	cr_assert(le(int, 0, first));
	history_init(&h, 3, &(struct compare_options){ .margin = NAN });
	for (int i = 0; i < 3; i++)
		cr_expect(eq(int, h.of[i].session.part.fd, -1), "session %d", i);
	cr_expect(eq(dbl, h.options.margin, HISTORY_MARGIN));
	history_release(&h);
	for (int fd = 0; fd <= first; fd++)
		cr_expect(le(int, 0, fcntl(fd, F_GETFD)), "file %d is closed", fd);
	close(first);
}

/* Six processes: the sign test's interval is from the least to the most. */
Test(small_history, a_session_has_an_interval_of_its_own)
{
	const struct session_arg arg = { .word = "data/sessions/atlas-h200/none.jsonl.gz:a",
					 .side = SIDE_ANY };
	struct history h;
	double least = INFINITY;
	int side;

	history_init(&h, 1, &compare_not_given);
	cr_assert(zero(int, session_read_any(&h.of[0].session, &arg, NULL, &side)));
	history_add(&h, 0, side);
	cr_assert(zero(int, history_make(&h)));
	for (int i = 0; i < PROCESSES; i++)
		least = fmin(least, h.of[0].mean[i]);
	cr_expect(epsilon_eq(dbl, h.of[0].step.value, h.of[0].value, 1e-9));
	cr_expect(epsilon_eq(dbl, h.of[0].step.lo, least, 1e-9));
	cr_expect(eq(str, levels_text(&h.of_step).s, "96.9 %"));
	history_release(&h);
}

/* ---- texts ---------------------------------------------------------------------------------- */

Test(small_history, a_session_that_cannot_be_trusted_comes_first)
{
	struct history h = { .n = 2,
			     .distrusted = { 1, 1, "2026-11-02 (9 of 9 results are noisy)" } };
	char text[256] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	history_finding(&h, out);
	fclose(out);
	cr_expect(eq(str, text,
		     "1 session cannot be trusted: 2026-11-02 (9 of 9 results are noisy).\nNothing "
		     "is decided: 2 sessions are too few to find a date"));
}
