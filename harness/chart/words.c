/* words.c - numbers as charts and their titles show them. */
#include "common/param.h"
#include "harness/chart/words.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "harness/base/text.h"

/* Two digits, three from 100 on. */
static int decimals(double v)
{
	return fabs(v) < 0.995 ? 2 : fabs(v) < 9.95 ? 1 : 0;
}

struct text words_time(double ns)
{
	static const char *const unit[] = { "ns", "µs", "ms", "s" };
	struct text t;
	int i = 0;

	for (; i < 3 && fabs(ns) >= 999.5; i++)
		ns /= 1e3;
	snprintf(t.s, sizeof(t.s), "%.*f %s", decimals(ns), ns, unit[i]);
	return t;
}

struct text words_percent(double share)
{
	double percent = 100 * fabs(share), thousands = percent / 1000;
	/* what rounds to nothing has no sign */
	const char *sign = share < 0 && percent >= 0.05 ? "−" : "";
	struct text t;

	if (percent < 9999.5)
		snprintf(t.s, sizeof(t.s), "%s%.*f", sign, percent < 9.95, percent);
	else
		snprintf(t.s, sizeof(t.s), "%s%.0fk", sign, thousands);
	return t;
}

struct text words_ratio(double ratio)
{
	double percent = 100 * fabs(ratio - 1);
	struct text t;

	if (ratio >= 1.995)
		snprintf(t.s, sizeof(t.s), "%.*f times as long", decimals(ratio), ratio);
	else
		snprintf(t.s, sizeof(t.s), "%.*f %% %s", percent < 9.95, percent,
			 ratio < 1 ? "less time" : "longer");
	return t;
}

/* ---- sizes ------------------------------------------------------------------------------ */

struct text words_size(const struct grid *g, int size)
{
	if (g->nominal)
		return text_real(g->size[size].kernel_ns / 1e3);
	return text_int((int64_t)g->size[size].value, 1);
}

struct text words_of_size(const struct grid *g, int size)
{
	struct text t;

	if (g->nominal && !(g->size[size].kernel_ns > 0))
		return (struct text){ "empty kernels" };
	if (g->nominal)
		snprintf(t.s, sizeof(t.s), "%.24s µs kernels", words_size(g, size).s);
	else
		snprintf(t.s, sizeof(t.s), "%.40s=%.24s", g->axis->name, words_size(g, size).s);
	return t;
}

struct text words_axis(const struct grid *g)
{
	struct text t;

	if (g->nominal)
		return (struct text){ "length of a kernel (µs)" };
	snprintf(t.s, sizeof(t.s), "%s", g->axis->name);
	return t;
}

const char *words_work(const struct grid *g)
{
	enum stack_step step = g->n_points ? stack_step_of(g, 0) : STACK_LAUNCHES;

	return step == STACK_LAUNCHES ? "kernels" : step == STACK_COPIES ? "copies" : "calls";
}

void words_ideal(const struct chart_set *s, int side, char *out, size_t size)
{
	const struct grid *g = &s->grid[side];
	size_t used;

	if (!g->nominal)
		used = (size_t)snprintf(out, size,
					"ideal: the %s of a step as the deepest samples have them",
					words_work(g));
	else if (s->fitted[side])
		used = (size_t)snprintf(
			out, size, "ideal: %.3f × the nominal length of the kernels, as fitted",
			s->fit[side].model.v[MODEL_CLOCK]);
	else
		used = (size_t)snprintf(out, size, "ideal: the nominal length of the kernels");
	if (g->failed && used < size)
		snprintf(out + used, size - used, "; failed points, left out: %d", g->failed);
}

/* ---- titles ----------------------------------------------------------------------------- */

struct text words_name(const char *stem, int number)
{
	struct text t;

	snprintf(t.s, sizeof(t.s), "%s%d", stem, number);
	return t;
}

void words_title(struct plot *p, const struct chart_set *s, int side, const char *fmt, ...)
{
	const char *letter = side < 0 ? "" : s->side[side].letter;
	char text[512];
	va_list args;
	int used;

	used = snprintf(text, sizeof(text), "%s%s%s: ", letter, *letter ? ": " : "", s->subject);
	va_start(args, fmt);
	vsnprintf(text + used, sizeof(text) - (size_t)used, fmt, args);
	va_end(args);
	words_cut(text, sizeof(text), TITLE_CHARACTERS);
	plot_text(p, "title", "%s", text);
}

void words_finding(struct plot *p, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	words_cut(text, sizeof(text), FINDING_CHARACTERS);
	plot_text(p, "finding", "%s", text);
}

/* ---- space ------------------------------------------------------------------------------ */

void words_cut(char *text, size_t capacity, int characters)
{
	static const char dots[] = "…";
	size_t at = 0, last = 0;
	int n = 0;

	for (; text[at]; at++) {
		if (((unsigned char)text[at] & 0xc0) == 0x80)
			continue; /* inside a character of several bytes */
		if (n == characters - 1)
			last = at;
		if (n++ == characters)
			break;
	}
	if (!text[at] || last + sizeof(dots) > capacity)
		return;
	memcpy(text + last, dots, sizeof(dots));
}
