/* stats.h - series of measurements in order, and what is said of them and of a process. */
#ifndef RIFT_STATS_STATS_H
#define RIFT_STATS_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/philox.h"

/* ---- doubles in order: what the files of statistics share ------------------------------- */

/* Whether there are values and each is a finite number. */
bool all_finite(const double *value, int64_t n);

/* Ascending. No value may be NaN: there is no order then. */
void sort_doubles(double *value, int64_t n);

/* Sorts and takes the mean of the two middle ones; NAN where n < 1. */
double median_of(double *value, int n);

/* A standard normal number of two random words (Box and Muller, Ann. Math. Statist. 29, 1958). */
double standard_normal(struct philox random);

/* A sorted copy for the caller to free; NULL unless all_finite(). Aborts without memory. */
double *sorted_copy(const double *value, int64_t n);

/* ---- what is said about a series of measurements, and about the blocks of a process ----- */

/*
 * Intervals over processes are in harness/stats/bootstrap.h, what is concluded from them in
 * harness/stats/decide.h. A function that returns int returns 0, or -EINVAL for no values at all,
 * or for a value that is NaN or infinite; *out then holds NaN where it holds doubles. It prints
 * nothing: only the caller can name the point. No function changes the values it is given.
 */

#define STATS_MUST_CHECK __attribute__((warn_unused_result))

struct stats {
	double median, min;
	int64_t n;
};

/*
 * Median (mean of the two middle ones where n is even) and minimum of n values, each divided by
 * `per` (steps in a block, say). NaN for n < 1. Does not change the values.
 */
struct stats stats_of(const int64_t *value, int64_t n, double per);

/*
 * The quantile p, 0 to 1, of n >= 1 values in ascending order: the straight line between the two
 * order statistics beside position p * (n - 1), counted from 0 (Hyndman and Fan's type 7). So 0.5
 * is the median above, 0 the minimum, 1 the maximum. NaN for n < 1 or another p.
 */
double quantile_of_sorted(const double *sorted, int64_t n, double p);

/* Where p99 has fewer than 100 values to go by, it is little else than the maximum. */
struct sample {
	int64_t n;
	double min, p10, p25, median, p75, p90, p99, max;
	double mad; /* median of |value - median|; a normal sd is 1.4826 of it */
};

int sample_of(struct sample *out, const double *value, int64_t n) STATS_MUST_CHECK;

/* A disturbance matters where it moves a median by more than this share of it. */
#define NOISE_SHARE 0.01

/*
 * What one process says about a point. A block is marked when something disturbed it (a context
 * switch, another CPU, a clock off its pace). Nothing is deleted: both samples are kept.
 */
struct process_value {
	double value;	    /* median of `used` */
	struct sample used; /* the unmarked blocks; all, if fewer than half are unmarked */
	struct sample all;
	double marked_share; /* of the blocks, 0 to 1 */
	/*
	 * The medians with and without the marked blocks are more than NOISE_SHARE apart, or no
	 * block is unmarked, so that nothing shows what the disturbance did. Many marks alone make
	 * no noise (tests/harness/record/test_trust.c has what kept sessions say of that).
	 */
	bool noisy;
};

/* marks: n bit sets, 0 for an unmarked block; NULL where nothing was marked. */
int process_value_of(struct process_value *out, const double *block, const uint32_t *marks,
		     int64_t n) STATS_MUST_CHECK;

/*
 * Two modes: in ascending order, two neighbours are further apart than 5 median neighbour gaps and
 * than 3 % of the median of all. The largest such gap splits the values. It takes 4 values to say
 * so. Each side must hold 3 % of the values: one process of 30 is a mode, one block of 1000 is an
 * outlier.
 */
struct modality {
	bool bimodal;
	struct {
		double median, share;
	} mode[2]; /* the lower first; not bimodal: all values, and NaN with share 0 */
};

int modality_of(struct modality *out, const double *value, int64_t n) STATS_MUST_CHECK;

#endif
