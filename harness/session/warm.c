/* warm.c - warming up until the device's clock stands still. */
#include "harness/session/warm.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/interrupt.h"
#include "harness/measure.h"
#include "harness/sorted.h"

bool warm_is_steady(const double ns[WARM_CANARIES])
{
	double mean = 0, slope = 0, squares = 0, least = ns[0], most = ns[0];

	for (int i = 0; i < WARM_CANARIES; i++) {
		mean += ns[i] / WARM_CANARIES;
		least = fmin(least, ns[i]);
		most = fmax(most, ns[i]);
	}
	for (int i = 0; i < WARM_CANARIES; i++) {
		double x = i - (WARM_CANARIES - 1) / 2.0;

		slope += x * ns[i];
		squares += x * x;
	}
	slope /= squares;
	return fabs(slope) < 1e-3 * mean && most - least < 1e-2 * mean;
}

/* A window of the last canaries, the oldest first. */
static void push(double window[WARM_CANARIES], int *n, double ns)
{
	if (*n == WARM_CANARIES)
		memmove(window, window + 1, (WARM_CANARIES - 1) * sizeof(*window));
	else
		++*n;
	window[*n - 1] = ns;
}

static void summarize(struct warm *out, const double *window, int n)
{
	double v[WARM_CANARIES];

	memcpy(v, window, sizeof(v));
	out->canary_ns = median_of(v, n);
	for (int i = 0; i < n; i++)
		v[i] = fabs(window[i] / out->canary_ns - 1);
	out->spread = median_of(v, n);
}

int warm_up(struct warm *out, const struct canary *c, struct prepared *longest,
	    const struct design *d)
{
	int64_t start = clock_ns(), passed;
	double window[WARM_CANARIES] = { 0 };
	int n = 0, err;

	out->ended_by = "time";
	do {
		err = longest ? visit_first(longest) : interrupted() ? -EINTR : 0;
		if (err)
			return err;
		push(window, &n, (double)canary_run(c));
		passed = clock_ns() - start;
		if (n == WARM_CANARIES && passed >= d->warmup_min_ns && warm_is_steady(window)) {
			out->ended_by = "steady";
			break;
		}
	} while (n < WARM_CANARIES || passed < d->warmup_max_ns);
	out->seconds = (double)passed / SECOND_NS;
	summarize(out, window, n);
	return 0;
}
