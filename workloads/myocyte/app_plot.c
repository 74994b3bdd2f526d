/*
 * app_plot.c - the picture of `rift run myocyte --plot`: potential and calcium of one cell over its
 * span. Its curves are those of the published equations and of Rodinia's, whatever equations= is.
 * Where the span is a whole number of its rows, Rodinia's own solver has a curve, too.
 *
 * A curve is a trace of its own and a data file of its own, all with the same columns. A further
 * curve is a row of `kinds` and what sets its cells apart.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/plot.h"
#include "workloads/myocyte/myocyte.h"

/* Rows of a curve: every 0.5 ms of a beat, finer than a pixel. */
enum { ROWS = 2000 };

/* States beside V. */
enum { CA_SR = 30, CA_I = 37 };

/* Where repolarisation is read off, mV: steep there, and clear of the plateau and of rest. */
static const double mark_mV = -40;

enum { PUBLISHED, BENCHMARK, OWN_SOLVER, CURVES };

static const struct {
	const char *suffix, *title;
	bool benchmark;
} kinds[CURVES] = {
	{ "-published.csv", "published equations", false },
	{ "-rodinia.csv", "Rodinia's equations", true },
	{ "-rodinia-solver.csv", "Rodinia's solver, too", true },
};

struct curve {
	struct myocyte_trace trace;
	struct output file;
	int rows;
	double t, V[ROWS + 2];	  /* ms, mV; t of the last row */
	double falls;		  /* when V first falls through the mark; NaN: never */
	double SR_first, SR_last; /* mM */
};

static void find_fall(struct curve *c, double t, double V)
{
	double last = c->rows ? c->V[c->rows - 1] : NAN;

	if (isnan(c->falls) && last >= mark_mV && V < mark_mV)
		c->falls = c->t + (t - c->t) * (last - mark_mV) / (last - V);
}

static bool take_row(void *arg, const struct myocyte_row *row)
{
	struct curve *c = arg;
	double out[] = { row->t, row->y[MYOCYTE_V], 1e3 * row->y[CA_I], row->y[CA_SR] };

	CHECK(c->rows < ROWS + 2, "row %d at t=%g ms", c->rows, row->t);
	output_numbers(&c->file, out, 4);
	find_fall(c, row->t, row->y[MYOCYTE_V]);
	c->V[c->rows++] = row->y[MYOCYTE_V];
	c->t = row->t;
	c->SR_last = row->y[CA_SR];
	if (c->rows == 1)
		c->SR_first = c->SR_last;
	return !ferror(c->file.file);
}

/* ---- the runs --------------------------------------------------------------------------- */

/* The benchmark's solver makes a row each ms. */
static int curve_count(const struct myocyte_opts *o)
{
	return o->span >= 1 && o->span == floor(o->span) ? CURVES : CURVES - 1;
}

static enum myocyte_solver curve_solver(const struct myocyte_state *s, int kind)
{
	if (kind == OWN_SOLVER)
		return MYOCYTE_AS_RODINIA;
	return s->cells.solver == MYOCYTE_FIXED ? MYOCYTE_FIXED : MYOCYTE_ADAPTIVE;
}

/* Memory of one cell, with the parameters p. */
static int make_cell(const struct myocyte_state *s, const double *p, int kind,
		     struct myocyte_cells *c)
{
	double every = s->cells.span / ROWS;
	int err;

	*c = (struct myocyte_cells){
		.cells = 1,
		.stride = 1,
		.running = 1,
		.single = s->cells.single,
		.benchmark = kinds[kind].benchmark,
		.guarded = kind == OWN_SOLVER,
		.solver = curve_solver(s, kind),
		.span = s->cells.span,
		.tolerance = s->cells.tolerance,
		.step = s->cells.step,
		.every = kind == OWN_SOLVER ? ceil(every) : every,
	};
	err = myocyte_allocate(c);
	if (err)
		return err;
	CUDA(cudaMemcpy(c->start, s->initial, sizeof(s->initial), cudaMemcpyHostToDevice));
	myocyte_vary(c, p, 0, 0, NULL);
	CUDA(cudaStreamSynchronize(NULL));
	return 0;
}

static int begin_curve(const struct myocyte_state *s, const double *p, struct plot *plot, int i,
		       struct curve *c)
{
	char variable[16];
	int err;

	*c = (struct curve){ .falls = NAN };
	c->trace = (struct myocyte_trace){ .initial = s->initial, .take = take_row, .arg = c };
	snprintf(c->trace.name, sizeof(c->trace.name), "--plot: %s: the cell", kinds[i].title);
	snprintf(variable, sizeof(variable), "title%d", i + 1);
	plot_text(plot, variable, "%s", kinds[i].title);
	snprintf(variable, sizeof(variable), "file%d", i + 1);
	err = plot_open(plot, variable, kinds[i].suffix, &c->file);
	if (err)
		return err;
	fputs("t_ms,V_mV,Ca_i_uM,Ca_SR_mM\n", c->file.file);
	return make_cell(s, p, i, &c->trace.cells);
}

static int run_curves(struct curve *c, int n)
{
	struct myocyte_trace traces[CURVES];
	int err;

	for (int i = 0; i < n; i++)
		traces[i] = c[i].trace;
	err = myocyte_run_traces(traces, n);
	for (int i = 0; i < n && !err; i++)
		err = output_commit(&c[i].file);
	return err;
}

static void end_curve(struct curve *c)
{
	output_discard(&c->file);
	myocyte_free(&c->trace.cells);
}

/* ---- what they show --------------------------------------------------------------------- */

/* The largest difference of V, over rows at the same times. */
static double largest_difference(const struct curve *a, const struct curve *b)
{
	double worst = 0;

	for (int i = 0; i < a->rows && i < b->rows; i++)
		worst = fmax(worst, fabs(a->V[i] - b->V[i]));
	return worst;
}

/* A number as a picture shows it: with a minus sign, and no minus before 0. */
static struct label {
	char s[32];
} number(double value, int decimals)
{
	double rounded = round(value * pow(10, decimals)) / pow(10, decimals);
	struct label label;

	snprintf(label.s, sizeof(label.s), "%s%.*f", rounded < 0 ? "−" : "", decimals,
		 fabs(rounded));
	return label;
}

/* What a run has added to the calcium of the sarcoplasmic reticulum, %. */
static double calcium_gained(const struct curve *c)
{
	return 100 * (c->SR_last / c->SR_first - 1);
}

static double highest_V(const struct curve *c)
{
	double V = c->V[0];

	for (int i = 1; i < c->rows; i++)
		V = fmax(V, c->V[i]);
	return V;
}

/* silent: with the benchmark's own solver V never rises that far. */
static void print_fall(double published, double other, bool silent, struct plot *p)
{
	plot_text(p, "title", "Rodinia's equations end the beat %.1f ms %s%s",
		  fabs(published - other), other <= published ? "early" : "late",
		  silent ? "; with its solver there is none" : "");
	plot_text(p, "finding", "V falls through %s mV at %.1f ms, not at %.1f ms",
		  number(mark_mV, 0).s, other, published);
	plot_number(p, "t_first", fmin(published, other));
	plot_number(p, "t_last", fmax(published, other));
	plot_number(p, "mark", mark_mV);
}

/* A span that ends before the action potential does. */
static void print_difference(const struct curve *published, const struct curve *other,
			     struct plot *p)
{
	plot_text(p, "title", "Rodinia's equations change V by up to %.2g mV in %g ms",
		  largest_difference(published, other), published->t);
	plot_text(p, "finding", "V at the end: %s mV, not %s mV",
		  number(other->V[other->rows - 1], 2).s,
		  number(published->V[published->rows - 1], 2).s);
}

/* Only over a whole number of beats may the calcium be expected to come back. */
static void print_calcium(const struct curve *published, const struct curve *other, double cycle,
			  struct plot *p)
{
	double beats = round(published->t / cycle);
	bool whole = beats >= 1 && fabs(published->t - beats * cycle) <= 1e-9 * published->t;

	plot_text(p, "calcium",
		  whole ? "; SR calcium changes by %s %% over %g ms, not by %s %%" : "",
		  number(calcium_gained(other), 1).s, published->t,
		  number(calcium_gained(published), 1).s);
}

/* 1e-6, where printf writes 1e-06. */
static struct label power_text(double value)
{
	struct label label;
	char *zero;

	snprintf(label.s, sizeof(label.s), "%g", value);
	zero = strstr(label.s, "e-0");
	if (zero)
		memmove(zero + 2, zero + 3, strlen(zero + 3) + 1);
	return label;
}

static void print_run(const struct myocyte_opts *o, struct plot *p)
{
	char steps[64], which[32] = "";

	if (o->solver == MYOCYTE_FIXED)
		snprintf(steps, sizeof(steps), "fixed steps of %g ms", o->step);
	else
		snprintf(steps, sizeof(steps), "adaptive steps, tolerance %s",
			 power_text(myocyte_tolerance(o)).s);
	if (o->cells > 1)
		snprintf(which, sizeof(which), ", trace=%ld,", (long)o->trace);
	/* a line holds some 130 characters */
	plot_text(p, "made", "Rabbit ventricular cell%s over %g ms; %s, %s; computed on: %.60s",
		  which, o->span, steps, o->precision == MYOCYTE_FLOAT ? "float" : "double",
		  p->device);
	plot_number(p, "span", o->span);
}

static void print_texts(const struct myocyte_opts *o, const struct curve *c, double cycle,
			struct plot *p)
{
	const struct curve *published = &c[PUBLISHED], *other = &c[BENCHMARK];
	bool silent = curve_count(o) > OWN_SOLVER && highest_V(&c[OWN_SOLVER]) < mark_mV;
	bool fall = !isnan(published->falls) && !isnan(other->falls);

	plot_count(p, "curves", curve_count(o));
	plot_count(p, "fall", fall);
	if (fall)
		print_fall(published->falls, other->falls, silent, p);
	else
		print_difference(published, other, p);
	print_calcium(published, other, cycle, p);
	print_run(o, p);
	p->script = "workloads/myocyte/plot.gp";
}

int myocyte_plot(const void *opts, void *state, struct plot *plot)
{
	const struct myocyte_opts *o = opts;
	struct myocyte_state *s = state;
	struct curve *c = calloc(CURVES, sizeof(*c));
	struct myocyte_cell cell;
	int n = curve_count(o);
	int err = myocyte_read_cells(s, &o->trace, 1, &cell);

	CHECK(c, "%d curves", CURVES);
	for (int i = 0; i < n && !err; i++)
		err = begin_curve(s, cell.p, plot, i, &c[i]);
	if (!err)
		err = run_curves(c, n);
	if (!err)
		print_texts(o, c, cell.p[0], plot);
	for (int i = 0; i < n; i++)
		end_curve(&c[i]);
	free(c);
	return err;
}
