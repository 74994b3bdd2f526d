/* company.c - does it matter to a side that a process of the other one is there too? */
#include "harness/session/company.h"

#include <math.h>
#include <stdlib.h>

#include "common/check.h"
#include "harness/base/json.h"
#include "harness/record/journal_impl.h"
#include "harness/stats/stats.h"

static const double a_quarter = 0.22314; /* log 1.25 */
static const double errors_off = 4;
enum { ALONE_LEAST = 3 }; /* processes of a side that know */

static double alone_median_ns(const double *alone_ns, int point)
{
	double ns[ALONE_ROUNDS];
	int n = 0;

	for (int r = 0; r < ALONE_ROUNDS; r++)
		if (alone_ns[point * ALONE_ROUNDS + r] > 0)
			ns[n++] = alone_ns[point * ALONE_ROUNDS + r];
	return median_of(ns, n);
}

json_t *company_json(const struct journal *j, int replicate, const double *alone_ns)
{
	int points = j->plan.n_points, n = 0;
	double *ratio = journal_zeroed((size_t)points, sizeof(*ratio)), median;
	json_t *alone = json_object();

	for (int i = 0; i < points; i++) {
		double ns = alone_median_ns(alone_ns, i);
		double beside_ns = journal_first_turns_ns(j, replicate, i, ALONE_ROUNDS);

		if (isnan(ns))
			continue;
		json_object_set_new(alone, j->plan.point[i].key, json_real(ns));
		if (isfinite(beside_ns))
			ratio[n++] = beside_ns / ns;
	}
	median = median_of(ratio, n);
	free(ratio);
	return json_pack("{s:i, s:o, s:o}", "rounds", ALONE_ROUNDS, "t_total_ns", alone,
			 "company_over_alone", json_number(median));
}

/* Logarithms of the side's ratios; returns how many. */
static int logs(const struct journal *j, int side, double *log_ratio)
{
	int processes = j->plan.design.processes, n = 0;

	for (int i = side * processes; i < (side + 1) * processes; i++)
		if (j->complete[i] && j->company[i] > 0)
			log_ratio[n++] = log(j->company[i]);
	return n;
}

/* The value that is nearest to 0, where all are on one side of it; else 0. */
static double smallest(const double *x, int n)
{
	double least = n ? x[0] : 0;

	for (int i = 1; i < n; i++) {
		if (x[i] * least <= 0)
			return 0;
		least = fabs(x[i]) < fabs(least) ? x[i] : least;
	}
	return least;
}

static double standard_error(const double *x, int n, double *mean)
{
	double sum = 0, squares = 0;

	for (int i = 0; i < n; i++)
		sum += x[i];
	*mean = sum / n;
	for (int i = 0; i < n; i++)
		squares += (x[i] - *mean) * (x[i] - *mean);
	return sqrt(squares / (n - 1) / n);
}

/* Every process in company against this one alone: the ratio nearest to 1, as a logarithm, or 0. */
static double least_beside(const struct journal *j, int alone, double *log_ratio)
{
	int processes = j->plan.design.processes, points = j->plan.n_points, n = 0;
	int first = alone / processes * processes;
	double *ratio = journal_zeroed((size_t)points, sizeof(*ratio));

	for (int k = first; k < first + processes; k++) {
		int found = 0;

		for (int i = 0; i < points; i++) {
			double x = j->total_ns[k * points + i] / j->alone_ns[alone * points + i];

			if (j->complete[k] && isfinite(x))
				ratio[found++] = x;
		}
		if (found)
			log_ratio[n++] = log(median_of(ratio, found));
	}
	free(ratio);
	return smallest(log_ratio, n);
}

static bool is_apart(const struct journal *j, int side, double *log_ratio)
{
	int processes = j->plan.design.processes, sign = 0, n = 0;

	for (int i = side * processes; i < (side + 1) * processes; i++) {
		double least;

		if (!j->complete[i] || !(j->company[i] > 0))
			continue;
		least = least_beside(j, i, log_ratio);
		if (!(fabs(least) > a_quarter) || sign * least < 0)
			return false;
		sign = least > 0 ? 1 : -1;
		n++;
	}
	return n >= ALONE_LEAST;
}

struct company company_of(const struct journal *j, int side)
{
	double *log_ratio, least, mean = 0, error;
	struct company c = { .ratio = NAN };

	if (!j->company || !j->plan.design.pairs || side >= j->sides)
		return c;
	log_ratio = journal_zeroed((size_t)j->replicates, sizeof(*log_ratio));
	c.n = logs(j, side, log_ratio);
	least = smallest(log_ratio, c.n);
	error = standard_error(log_ratio, c.n, &mean);
	c.differs = c.n >= ALONE_LEAST && fabs(least) > 0 && fabs(mean) > errors_off * error;
	c.ratio = exp(median_of(log_ratio, c.n));
	c.matters = is_apart(j, side, log_ratio);
	free(log_ratio);
	return c;
}
