/* format.c - what comparisons print of ratios and differences. */
#include "harness/compare/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- numbers ---------------------------------------------------------------------------- */

struct text figure_times(double ratio)
{
	struct text t; /* of no more than 1e60: times are of ns and more */

	snprintf(t.s, sizeof(t.s), "%.*f", fabs(ratio) < 9.9995 ? 3 : 1, ratio);
	return t;
}

struct figure figure_ratio(const struct interval *i)
{
	struct figure t;

	if (!isfinite(i->value))
		snprintf(t.s, sizeof(t.s), "-");
	else if (!i->known)
		snprintf(t.s, sizeof(t.s), "%s (no interval)", figure_times(i->value).s);
	else
		snprintf(t.s, sizeof(t.s), "%s (%s to %s)", figure_times(i->value).s,
			 figure_times(i->lo).s, figure_times(i->hi).s);
	return t;
}

static struct text percent(double ratio, bool sign)
{
	double share = 100 * (ratio - 1);
	struct text t;

	snprintf(t.s, sizeof(t.s), sign ? "%+.*f" : "%.*f", fabs(share) < 99.95 ? 1 : 0, share);
	return t;
}

struct figure figure_percent(const struct interval *ratio)
{
	struct figure t;

	if (!isfinite(ratio->value))
		snprintf(t.s, sizeof(t.s), "-");
	else if (ratio->value >= 10)
		snprintf(t.s, sizeof(t.s), "%s times%s", figure_times(ratio->value).s,
			 strchr(figure_ratio(ratio).s, ' '));
	else if (!ratio->known)
		snprintf(t.s, sizeof(t.s), "%s %% (no interval)", percent(ratio->value, true).s);
	else
		snprintf(t.s, sizeof(t.s), "%s %% (%s to %s)", percent(ratio->value, true).s,
			 percent(ratio->lo, false).s, percent(ratio->hi, false).s);
	return t;
}

struct text figure_value(double value, bool is_ns)
{
	struct text t;

	if (is_ns && isfinite(value))
		return text_time(value);
	snprintf(t.s, sizeof(t.s), isfinite(value) ? "%.4g" : "-", value);
	return t;
}

struct figure figure_difference(const struct interval *i, bool is_ns)
{
	const char *plus = i->value > 0 ? "+" : "";
	struct figure t;

	if (!isfinite(i->value))
		snprintf(t.s, sizeof(t.s), "-");
	else if (!i->known)
		snprintf(t.s, sizeof(t.s), "%s%s (no interval)", plus,
			 figure_value(i->value, is_ns).s);
	else
		snprintf(t.s, sizeof(t.s), "%s%s (%s to %s)", plus, figure_value(i->value, is_ns).s,
			 figure_value(i->lo, is_ns).s, figure_value(i->hi, is_ns).s);
	return t;
}

struct figure figure_own(const struct interval *i, bool is_ns)
{
	struct figure t;

	if (i->known)
		snprintf(t.s, sizeof(t.s), "%s (%s to %s)", figure_value(i->value, is_ns).s,
			 figure_value(i->lo, is_ns).s, figure_value(i->hi, is_ns).s);
	else
		snprintf(t.s, sizeof(t.s), "%s", figure_value(i->value, is_ns).s);
	return t;
}

/* ---- levels ----------------------------------------------------------------------------- */

void levels_add(struct levels *l, double level)
{
	if (!isfinite(level))
		return;
	l->least = l->n ? fmin(l->least, level) : level;
	l->most = l->n ? fmax(l->most, level) : level;
	l->n++;
}

struct text levels_text(const struct levels *l)
{
	struct text least, t = { "95 %" };

	if (!l->n)
		return t;
	snprintf(least.s, sizeof(least.s), "%.3g", 100 * l->least);
	snprintf(t.s, sizeof(t.s), "%.3g %%", 100 * l->most);
	if (strncmp(least.s, t.s, strlen(least.s)) != 0 || t.s[strlen(least.s)] != ' ')
		snprintf(t.s, sizeof(t.s), "%.20s to %.3g %%", least.s, 100 * l->most);
	return t;
}
