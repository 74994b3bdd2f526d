/*
 * test_share_findings.c - what follows from windows that are made up: figures that can be
 * computed by hand, equal clients that are not called unfair, and injected unfairness that is.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/share/findings.h"

#include "common/philox.h"
#include "harness/base/command.h"
#include "harness/share/share_file.h"
#include "tests/made_share.h"

TestSuite(small_share_findings, .timeout = 60);

enum { WINDOWS = 10 };

static void begin(struct share *s, int n, int mixes)
{
	made_share_begin(s, n, mixes, 2, WINDOWS / 2);
}

static double uniform(unsigned seed, unsigned a, unsigned b, unsigned c)
{
	return ((double)philox4x32(a, b, c, 0, seed).word[0] + 0.5) / 4294967296.0;
}

/* Normal, by Box and Muller. */
static double normal(unsigned seed, unsigned a, unsigned b)
{
	return sqrt(-2 * log(uniform(seed, a, b, 0))) * cos(6.283185307 * uniform(seed, a, b, 1));
}

/* All sets: a window's noise is common to its clients by `common`, and their own by `own`; each
 * client has an effect of its own of `lasting`. share[i]: of what a client alone does. */
static void fill(struct share *s, unsigned seed, const double *share, double common, double own,
		 double lasting)
{
	for (int m = 0; m < s->sets; m++) {
		const struct share_set *set = &s->set[m].set;

		for (int k = 0; k < share_plan_windows(&s->plan); k++) {
			double rate[SHARE_CLIENTS_MAX];
			unsigned at = (unsigned)(100 * m);

			for (int i = 0; i < set->n; i++)
				rate[i] =
					1000 * (set->n > 1 ? share[i] : 1) *
					exp(common * normal(seed, at, (unsigned)k) +
					    own * normal(seed, at + 1 + (unsigned)i, (unsigned)k) +
					    lasting * normal(seed, at + 50 + (unsigned)i, 99));
			made_share_window(s, set, k, rate);
		}
		made_share_check(s, set, true);
	}
}

static const struct share_found *found(const struct share_findings *f, enum share_arm arm, int n)
{
	for (int i = 0; i < f->sets; i++)
		if (f->set[i].of->set.arm == arm && f->set[i].of->set.n == n)
			return &f->set[i];
	cr_fatal("no set of arm %d with %d clients", (int)arm, n);
	return NULL;
}

/* One client does a half of what it does alone, the other a quarter. */
Test(small_share_findings, figures_by_hand)
{
	static const double share[] = { 0.5, 0.25 };
	struct share_findings f;
	const struct share_found *e;
	struct share s;

	begin(&s, 2, 1);
	fill(&s, 1, share, 0, 0, 0);
	share_findings_init(&f, &s);
	e = found(&f, ARM_PROCESSES, 2);
	cr_expect(epsilon_eq(dbl, e->stp, 0.75, 1e-9));
	cr_expect(epsilon_eq(dbl, e->client[1].median_ns.value, e->client[1].quantile_ns[SHARE_P50],
			     1e-9));
	cr_expect(e->client[1].median_ns.known);
	cr_expect(eq(int, e->client[1].p99_ns.n, WINDOWS));
	cr_expect(epsilon_eq(dbl, e->mean_slowdown, 3, 1e-9));
	cr_expect(epsilon_eq(dbl, e->slowdown.value, 2 / 0.75, 1e-9));
	cr_expect(epsilon_eq(dbl, e->overhead, 1 / 0.75 - 1, 1e-9));
	cr_expect(epsilon_eq(dbl, e->jain, 0.5625 / (2 * 0.3125), 1e-9));
	cr_expect(epsilon_eq(dbl, e->max_min, 2, 1e-9));
	cr_expect(epsilon_eq(dbl, e->client[1].slowdown, 4, 1e-9));
	cr_expect(eq(dbl, e->daemons, 0.25));
	/* half a processor and a quarter, of 1000 steps a second alone: 750 of both */
	cr_expect(epsilon_eq(dbl, e->cpu_ns, 0.5e9 / 750, 1e-3), "%g", e->cpu_ns);
	cr_expect(epsilon_eq(dbl, e->daemons_ns, 0.25e9 / 750, 1e-3), "%g", e->daemons_ns);
	cr_expect(eq(dbl, e->memory, 4096), "of the windows in which it is known");
	cr_expect(isnan(e->busy));
	cr_expect(epsilon_eq(dbl, e->client[1].quantile_ns[SHARE_P50],
			     (1e9 + 1e6 * SHARE_P50) / 250, 1e-3));
	cr_expect(epsilon_eq(dbl, e->client[1].over_alone.ratio.value, 4, 1e-9));
	cr_expect(eq(int, e->client[0].over_alone.judged.verdict, VERDICT_SLOWER));
	cr_expect(eq(int, e->fairness, FAIRNESS_UNFAIR));
	cr_expect(eq(int, e->client[1].against_mean.judged.verdict, VERDICT_SLOWER));
	cr_expect(eq(int, e->client[0].against_mean.judged.verdict, VERDICT_FASTER));
	e = found(&f, ARM_STREAMS, 2);
	cr_expect(e->has_base);
	cr_expect(eq(int, e->over_base.judged.verdict, VERDICT_SAME));
	cr_expect(eq(int, share_exit_code(&s), RIFT_OK));
	share_findings_release(&f);
	share_release(&s);
}

/* 20 sets of equal clients: windows differ by 5 %, clients in them by 3 %, and each lastingly by
 * 0.5 %, as processes of one program do. */
Test(small_share_findings, equal_clients_are_not_called_unfair)
{
	static const double share[] = { 0.25, 0.25, 0.25, 0.25 };
	int unfair = 0, fair = 0;

	for (unsigned seed = 1; seed <= 20; seed++) {
		struct share_findings f;
		struct share s;

		begin(&s, 4, 1);
		fill(&s, seed, share, 0.05, 0.03, 0.005);
		share_findings_init(&f, &s);
		unfair += found(&f, ARM_PROCESSES, 4)->fairness == FAIRNESS_UNFAIR;
		fair += found(&f, ARM_PROCESSES, 4)->fairness == FAIRNESS_FAIR;
		share_findings_release(&f);
		share_release(&s);
	}
	cr_expect(zero(int, unfair));
	cr_expect(lt(int, 11, fair), "%d of 20 are called fair", fair);
}

/* One of four gets 15 % less than the others, in the same noise. */
Test(small_share_findings, an_unfair_share_is_found)
{
	static const double share[] = { 0.26, 0.26, 0.22, 0.26 };
	int found_it = 0;

	for (unsigned seed = 1; seed <= 20; seed++) {
		const struct share_found *e;
		struct share_findings f;
		struct share s;

		begin(&s, 4, 1);
		fill(&s, seed, share, 0.05, 0.03, 0.005);
		share_findings_init(&f, &s);
		e = found(&f, ARM_PROCESSES, 4);
		found_it += e->fairness == FAIRNESS_UNFAIR &&
			    e->client[2].against_mean.judged.verdict == VERDICT_SLOWER;
		share_findings_release(&f);
		share_release(&s);
	}
	cr_expect(lt(int, 17, found_it), "%d of 20 are found", found_it);
}

/* One of two gets a tenth: 5 windows leave it open, whatever they say, and 6 show it. */
Test(small_share_findings, few_windows_cannot_show_unfairness)
{
	static const double share[] = { 0.9, 0.09 };

	cr_expect(eq(int, share_fairness_needs(2), 6));
	cr_expect(eq(int, share_fairness_needs(3), 6));
	cr_expect(eq(int, share_fairness_needs(6), 7));
	for (int windows = 5; windows <= 6; windows++) {
		struct share_findings f;
		struct share s;

		made_share_begin(&s, 2, 1, 1, windows);
		fill(&s, 1, share, 0.01, 0.01, 0);
		share_findings_init(&f, &s);
		cr_expect(eq(int, f.units, windows));
		cr_expect(eq(int, found(&f, ARM_PROCESSES, 2)->fairness,
			     windows < 6 ? FAIRNESS_OPEN : FAIRNESS_UNFAIR));
		share_findings_release(&f);
		share_release(&s);
	}
}

/* An arm that takes 30 % longer than its base at the same n, and one that is the base. */
Test(small_share_findings, an_arm_against_its_base)
{
	static const double half[] = { 0.5, 0.5 }, less[] = { 0.4, 0.4 };
	struct share_findings f;
	struct share s;

	begin(&s, 2, 1);
	for (int m = 0; m < s.sets; m++) {
		const struct share_set *set = &s.set[m].set;

		for (int k = 0; k < WINDOWS; k++) {
			double rate[2], noise = exp(0.01 * normal(3, (unsigned)m, (unsigned)k));

			for (int i = 0; i < set->n; i++)
				rate[i] = noise * (set->n == 1		     ? 1
						   : set->arm == ARM_STREAMS ? less[i]
									     : half[i]);
			made_share_window(&s, set, k, rate);
		}
	}
	share_findings_init(&f, &s);
	cr_expect(eq(int, found(&f, ARM_STREAMS, 2)->over_base.judged.verdict, VERDICT_SLOWER));
	cr_expect(epsilon_eq(dbl, found(&f, ARM_STREAMS, 2)->over_base.ratio.value, 1.25, 0.02));
	cr_expect(eq(int, found(&f, ARM_STREAMS, 1)->over_base.judged.verdict, VERDICT_SAME));
	cr_expect(not(found(&f, ARM_PROCESSES, 2)->has_base));
	share_findings_release(&f);
	share_release(&s);
}

/* Five starts differ by 20 %, the windows of one not at all: a difference of 10 % between arms is
 * then none, though it would be one over windows. */
Test(small_share_findings, starts_are_what_is_resampled)
{
	static const double of_start[2][5] = { { 1, 1.2, 0.9, 1.1, 1 }, { 1.1, 1, 1.3, 0.8, 1.1 } };

	for (int starts = 1; starts <= 5; starts += 4) {
		struct share_findings f;
		struct share s;

		begin(&s, 2, 1);
		s.plan.starts = starts;
		for (int m = 0; m < s.sets; m++)
			for (int k = 0; k < WINDOWS; k++) {
				bool streams = s.set[m].set.arm == ARM_STREAMS;
				double rate = 1000 / (starts == 5 ? of_start[streams][k / 2]
								  : (streams ? 1.1 : 1));

				made_share_window(&s, &s.set[m].set, k, (double[]){ rate, rate });
			}
		share_findings_init(&f, &s);
		cr_expect(eq(int, found(&f, ARM_STREAMS, 2)->over_base.ratio.n,
			     starts == 5 ? 5 : WINDOWS));
		cr_expect(eq(int, found(&f, ARM_STREAMS, 2)->over_base.judged.verdict,
			     starts == 5 ? VERDICT_INCONCLUSIVE : VERDICT_SLOWER));
		share_findings_release(&f);
		share_release(&s);
	}
}

/* It did nothing at all in half of the windows: there is a figure all the same. */
Test(small_share_findings, a_client_that_starves)
{
	static const double on[] = { 1000, 0 };
	struct share_findings f;
	struct share s;

	begin(&s, 2, 1);
	for (int m = 0; m < s.sets; m++)
		for (int k = 0; k < WINDOWS; k++)
			made_share_window(&s, &s.set[m].set, k, on);
	share_findings_init(&f, &s);
	cr_expect(found(&f, ARM_PROCESSES, 2)->known);
	cr_expect(eq(int, found(&f, ARM_PROCESSES, 2)->fairness, FAIRNESS_UNFAIR));
	cr_expect(epsilon_eq(dbl, found(&f, ARM_PROCESSES, 2)->jain, 0.5, 1e-4));
	cr_expect(isfinite(found(&f, ARM_PROCESSES, 2)->client[1].slowdown));
	share_findings_release(&f);
	share_release(&s);
}

/* A window is missing: no figures; a check that failed, and a set that was lost: exit codes. */
Test(small_share_findings, what_is_missing)
{
	static const double share[] = { 0.5, 0.5 };
	struct share_findings f;
	struct share s;
	json_t *lost;

	begin(&s, 2, 1);
	fill(&s, 1, share, 0, 0, 0);
	json_decref(s.set[1].window[3]);
	s.set[1].window[3] = NULL;
	share_findings_init(&f, &s);
	cr_expect(not(f.set[1].known));
	cr_expect(isnan(f.set[1].stp));
	share_findings_release(&f);
	lost = share_line("not_run", &s.set[1].set);
	json_object_set_new(lost, "why", json_string("a client was killed"));
	json_object_set_new(lost, "lost", json_true());
	cr_assert(zero(int, share_add(&s, lost)));
	cr_expect(eq(int, share_exit_code(&s), RIFT_FAILED_POINTS));
	made_share_check(&s, &s.set[0].set, false);
	cr_expect(eq(int, share_exit_code(&s), RIFT_CHECK_FAILED));
	share_release(&s);
}

/* Client i has workload i % 2, and one client alone is measured of each. */
Test(small_share_findings, a_mix)
{
	static const double share[] = { 0.5, 0.5 };
	struct share_findings f;
	struct share s;

	begin(&s, 2, 2);
	cr_assert(eq(int, s.sets, 6));
	cr_expect(eq(int, share_client_mix(&s.plan, &s.set[1].set, 0), 1));
	fill(&s, 1, share, 0, 0, 0);
	share_findings_init(&f, &s);
	cr_expect(epsilon_eq(dbl, found(&f, ARM_PROCESSES, 2)->stp, 1, 1e-9));
	cr_expect(eq(int, found(&f, ARM_PROCESSES, 2)->fairness, FAIRNESS_FAIR));
	share_findings_release(&f);
	share_release(&s);
}

/* Window 100 to 200: parts count, and the time of a step is of the window in which it ends. */
Test(small_share_findings, steps_of_a_window)
{
	static const struct {
		int64_t begun, ended;
		double steps;
		int timed;
	} blocks[] = { { 0, 90, 0, 0 },	   { 50, 150, 1, 1 },  { 110, 130, 2, 1 },
		       { 0, 400, 0.5, 0 }, { 150, 250, 1, 0 }, { 200, 210, 0, 0 },
		       { 60, 100, 0, 0 },  { 180, 200, 2, 1 } };
	double times[SHARE_CLIENTS_MAX];

	for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++) {
		struct share_count c = { .from_ns = 100, .to_ns = 200, .times_ns = times };

		share_count_block(&c, blocks[i].begun, blocks[i].ended, 2);
		cr_expect(epsilon_eq(dbl, c.steps, blocks[i].steps, 1e-12), "%zu", i);
		cr_expect(eq(i64, c.n, blocks[i].timed), "%zu", i);
		if (c.n)
			cr_expect(epsilon_eq(dbl, times[0],
					     (double)(blocks[i].ended - blocks[i].begun) / 2, 1e-9),
				  "%zu", i);
	}
}

/* The same seed gives the same order, another one another, and every set is in it. */
/* What was measured is gone on with in the same order. */
Test(small_share_findings, the_order_of_a_seed)
{
	static const struct {
		uint32_t seed;
		int start, order[5];
	} rows[] = { { 1, 0, { 2, 3, 4, 1, 0 } },
		     { 1, 1, { 2, 1, 4, 3, 0 } },
		     { 2, 0, { 3, 1, 2, 0, 4 } } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct share_plan p = { .seed = rows[i].seed };
		int order[5];

		share_order(&p, rows[i].start, order, 5);
		for (int k = 0; k < 5; k++)
			cr_expect(eq(int, order[k], rows[i].order[k]), "row %zu, %d", i, k);
	}
}

Test(small_share_findings, the_order_is_a_shuffle)
{
	struct share_plan p = { .seed = 7 };
	int a[20], b[20], moved = 0, sum = 0;

	share_order(&p, 0, a, 20);
	share_order(&p, 0, b, 20);
	for (int i = 0; i < 20; i++) {
		cr_expect(eq(int, a[i], b[i]));
		moved += a[i] != i;
		sum += a[i];
	}
	cr_expect(lt(int, 10, moved));
	cr_expect(eq(int, sum, 190));
	p.seed = 8;
	share_order(&p, 0, b, 20);
	moved = 0;
	for (int i = 0; i < 20; i++)
		moved += a[i] != b[i];
	cr_expect(lt(int, 5, moved));
}
