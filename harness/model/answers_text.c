/* answers_text.c - the answers of `rift fit` as tables. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/base/text.h"
#include "harness/measure/submit.h"
#include "harness/model/report.h"

enum { CELL = 18, PAY_CELL = 16, TIMES_CELL = 8 };

/* Right-aligned by characters, some of which (± and its like) have several bytes. */
static void put(const char *cell, int width, FILE *out)
{
	for (const char *c = cell; *c; c++)
		width += (*c & 0xc0) == 0x80;
	fprintf(out, "%*s", width, cell);
}

/* A bound, or what is said in place of a value. */
static void bound_text(const struct answer *a, const char *value, char *cell, size_t size)
{
	static const char *const words[] = { [ANSWER_NEVER] = "never", [ANSWER_UNKNOWN] = "-" };

	if (a->kind == ANSWER_BELOW || a->kind == ANSWER_ABOVE)
		snprintf(cell, size, "%s%s", a->kind == ANSWER_BELOW ? "≤" : ">", value);
	else
		snprintf(cell, size, "%s", words[a->kind]);
}

/* "16.5 us ±1.2 %", "16.5 us ±>1.2 %", "≤2.00 us", ">50.0 us", "-" */
static void put_kernel(const struct answer *a, int width, FILE *out)
{
	double half = interval_half_width(&a->interval);
	const struct text value = text_time(a->interval.value);
	char cell[96];

	if (a->kind != ANSWER_VALUE)
		bound_text(a, value.s, cell, sizeof(cell));
	else if (isfinite(half))
		snprintf(cell, sizeof(cell), "%s ±%s%.*f %%", value.s, a->cut ? ">" : "",
			 half < 0.0995, 100 * half);
	else
		snprintf(cell, sizeof(cell), "%s", value.s);
	put(cell, width, out);
}

/* "10", "10 (9 to 12)", "10 (9 to ≥16)", "≤1", "never" */
static void put_depth(const struct answer *a, FILE *out)
{
	const struct interval *i = &a->interval;
	char cell[96], value[32];

	snprintf(value, sizeof(value), "%.0f", i->value);
	if (a->kind != ANSWER_VALUE)
		bound_text(a, value, cell, sizeof(cell));
	else if (i->known && i->lo < i->hi)
		snprintf(cell, sizeof(cell), "%s (%.0f to %s%.0f)", value, i->lo, a->cut ? "≥" : "",
			 i->hi);
	else
		snprintf(cell, sizeof(cell), "%s", value);
	put(cell, CELL, out);
}

static void put_overheads(const char *corner, FILE *out)
{
	fprintf(out, "  %8s", corner);
	for (int i = 0; i < OVERHEADS; i++)
		fprintf(out, "%*.0f %%", CELL - 2, 100 * overheads[i]);
	fputc('\n', out);
}

/* ---- smallest kernels --------------------------------------------------------------------- */

static void print_over_ideal(const struct fit *f, enum mode mode, FILE *out)
{
	fprintf(out,
		"\nsmallest K by depth, %s mode, for an overhead over the kernels' own time of\n",
		mode_name(mode));
	put_overheads("depth", out);
	for (int i = 0; i < f->grid->n_depths; i++) {
		fprintf(out, "  %8ld", (long)f->grid->depth[i]);
		for (int k = 0; k < OVERHEADS; k++) {
			const struct answer a = smallest_kernel_over_ideal(
				f, mode, (double)f->grid->depth[i], overheads[k]);

			put_kernel(&a, CELL, out);
		}
		fputc('\n', out);
	}
}

static void print_over_platform(const struct fit_report *r, enum mode mode, FILE *out)
{
	const struct fit *f = r->fit;

	fprintf(out, "\nsmallest K by depth, %s mode, for an overhead over %s of\n",
		mode_name(mode), r->options.over_name);
	put_overheads("depth", out);
	for (int i = 0; i < f->grid->n_depths; i++) {
		fprintf(out, "  %8ld", (long)f->grid->depth[i]);
		for (int k = 0; k < OVERHEADS; k++) {
			const struct answer a = smallest_kernel_over(
				f, r->options.over, mode, (double)f->grid->depth[i], overheads[k]);

			put_kernel(&a, CELL, out);
		}
		fputc('\n', out);
	}
}

/* ---- depth and modes ---------------------------------------------------------------------- */

static void print_depths(const struct fit *f, enum mode mode, FILE *out)
{
	fprintf(out,
		"\nsmallest depth by K, %s mode, for an overhead over the kernels' own time of\n",
		mode_name(mode));
	put_overheads("K", out);
	for (int i = 0; i < f->grid->n_sizes; i++) {
		double kernel_ns = f->grid->size[i].kernel_ns;

		if (!(kernel_ns > 0))
			continue;
		fprintf(out, "  %8s", text_time(kernel_ns).s);
		for (int k = 0; k < OVERHEADS; k++) {
			const struct answer a = depth_needed(f, mode, kernel_ns, overheads[k]);

			put_depth(&a, out);
		}
		fputc('\n', out);
	}
}

static const struct {
	enum mode mode, other;
	const char *title;
} pairs[] = { { MODE_STREAM, MODE_GRAPH, "graph/stream" },
	      { MODE_STREAM, MODE_FUSED, "fused/stream" },
	      { MODE_GRAPH, MODE_FUSED, "fused/graph" } };

enum { PAIRS = 3 };

/* Up to which K, and how many times faster at the smallest. */
static void put_pair(const struct fit *f, int pair, double depth, FILE *out)
{
	static const double matters = 0.05;
	enum mode mode = pairs[pair].mode, other = pairs[pair].other;
	const struct answer k = largest_kernel_gain(f, mode, other, depth, matters);
	const struct answer gain = mode_gain(f, mode, other, f->grid->size[0].kernel_ns, depth);
	char times[32] = "-";

	if (k.kind == ANSWER_BELOW || k.kind == ANSWER_ABOVE)
		put(k.kind == ANSWER_BELOW ? "none" : "all", PAY_CELL, out);
	else
		put_kernel(&k, PAY_CELL, out);
	if (gain.kind == ANSWER_VALUE && isfinite(gain.interval.value))
		snprintf(times, sizeof(times), "%.3g", gain.interval.value);
	put(times, TIMES_CELL, out);
}

static void print_pays(const struct fit *f, FILE *out)
{
	fprintf(out,
		"\nup to which K one mode is 5 %% faster than another, by depth (none or all of "
		"those "
		"swept), and\nhow many times faster it is at the smallest, K = %s\n  %8s",
		text_time(f->grid->size[0].kernel_ns).s, "depth");
	for (int i = 0; i < PAIRS; i++)
		fprintf(out, "%*s%*s", PAY_CELL, pairs[i].title, TIMES_CELL, "times");
	fputc('\n', out);
	for (int d = 0; d < f->grid->n_depths; d++) {
		fprintf(out, "  %8ld", (long)f->grid->depth[d]);
		for (int i = 0; i < PAIRS; i++)
			put_pair(f, i, (double)f->grid->depth[d], out);
		fputc('\n', out);
	}
}

void answers_print(const struct fit_report *r, FILE *out)
{
	const struct fit *f = r->fit;

	for (int mode = 0; mode <= MODE_GRAPH; mode++)
		if (f->has[mode])
			print_over_ideal(f, (enum mode)mode, out);
	for (int mode = 0; mode <= MODE_GRAPH; mode++)
		if (f->has[mode] && r->options.over && r->options.over->has[mode])
			print_over_platform(r, (enum mode)mode, out);
	for (int mode = 0; mode <= MODE_GRAPH; mode++)
		if (f->has[mode])
			print_depths(f, (enum mode)mode, out);
	if (f->has[MODE_STREAM] && (f->has[MODE_GRAPH] || f->has[MODE_FUSED]))
		print_pays(f, out);
	fprintf(out,
		"\n± is half of the 95 %% interval, ±> and ≥ of one that ends where the sweep did. "
		"≤: all that was\nswept will do; >: nothing that was swept will; never: no depth "
		"is "
		"enough, enlarge or fuse;\n-: not swept. "
		"What making a graph costs, sweeps do not time: it is in no answer.\n");
}
