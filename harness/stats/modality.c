/* modality.c - one mode or two. */
#include "harness/stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/check.h"
#include "harness/stats/sorted.h"

static const double gaps_wide = 5, share_wide = 0.03; /* of the median gap, of the median */
static const double share_of_mode = 0.03;

static double median_gap(const double *sorted, int64_t n)
{
	double *gap = malloc((size_t)(n - 1) * sizeof(*gap)), median;

	CHECK(gap, "room for %lld gaps", (long long)n - 1);
	for (int64_t i = 0; i + 1 < n; i++)
		gap[i] = sorted[i + 1] - sorted[i];
	sort_doubles(gap, n - 1);
	median = quantile_of_sorted(gap, n - 1, 0.5);
	free(gap);
	return median;
}

/* How many values are below the largest gap that parts two modes; 0: none does. */
static int64_t split_of(const double *sorted, int64_t n)
{
	double widest = fmax(gaps_wide * median_gap(sorted, n),
			     share_wide * fabs(quantile_of_sorted(sorted, n, 0.5)));
	int64_t least = (int64_t)ceil(share_of_mode * (double)n), split = 0;

	for (int64_t i = least; i <= n - least; i++) {
		if (sorted[i] - sorted[i - 1] > widest) {
			widest = sorted[i] - sorted[i - 1];
			split = i;
		}
	}
	return split;
}

int modality_of(struct modality *out, const double *value, int64_t n)
{
	double *sorted = sorted_copy(value, n);
	int64_t split;

	*out = (struct modality){ false, { { NAN, 1 }, { NAN, 0 } } };
	if (!sorted)
		return -EINVAL;
	split = n < 2 ? 0 : split_of(sorted, n);
	out->bimodal = split > 0;
	if (!split)
		split = n;
	out->mode[0].median = quantile_of_sorted(sorted, split, 0.5);
	out->mode[0].share = (double)split / (double)n;
	out->mode[1].median = quantile_of_sorted(sorted + split, n - split, 0.5);
	out->mode[1].share = (double)(n - split) / (double)n;
	free(sorted);
	return 0;
}
