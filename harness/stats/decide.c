/* decide.c - what is concluded from intervals. */
#include "harness/stats/decide.h"

#include <errno.h>
#include <math.h>

static const int looks[] = { 5, 10, 20, 30 };
enum { LOOKS = sizeof(looks) / sizeof(*looks), NARROW_PERCENT = 95 };

int next_look(int processes)
{
	for (int i = 0; i < LOOKS; i++) {
		if (looks[i] > processes)
			return looks[i];
	}
	return 0;
}

static bool look_is_due(int processes)
{
	for (int i = 0; i < LOOKS; i++) {
		if (looks[i] == processes)
			return true;
	}
	return false;
}

int look_at(struct look *out, int processes, const struct interval *point, int points,
	    double half_width_max, bool *wide)
{
	*out = (struct look){ .points = points, .next = next_look(processes) };
	if (!look_is_due(processes) || points < 1)
		return -EINVAL;
	for (int i = 0; i < points; i++) {
		/* NaN, not known, is wide. */
		bool is_wide = !(interval_half_width(&point[i]) <= half_width_max);

		out->wide += is_wide;
		if (wide)
			wide[i] = is_wide;
	}
	if (100 * (int64_t)(points - out->wide) >= NARROW_PERCENT * (int64_t)points)
		out->next = 0;
	out->stop = !out->next;
	return 0;
}

const char *const verdict_names[] = { "same", "slower", "faster", "open" };

/* An interval that is not known is NaN, and so compares to nothing: open. */
enum ratio_verdict verdict_of(const struct interval *ratio, double margin)
{
	if (ratio->lo > 1 + margin)
		return VERDICT_SLOWER;
	if (ratio->hi < 1 - margin)
		return VERDICT_FASTER;
	if (ratio->lo >= 1 - margin && ratio->hi <= 1 + margin)
		return VERDICT_SAME;
	return VERDICT_OPEN;
}

struct same_system same_system_of(const struct interval *ratio, int points, double margin)
{
	struct same_system s = { .points = points, .share = NAN };

	for (int i = 0; i < points; i++) {
		enum ratio_verdict v = verdict_of(&ratio[i], margin);

		s.known += ratio[i].known;
		s.slower += v == VERDICT_SLOWER;
		s.faster += v == VERDICT_FASTER;
	}
	if (s.known)
		s.share = (double)(s.slower + s.faster) / s.known;
	return s;
}
