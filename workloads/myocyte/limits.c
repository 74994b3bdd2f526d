/* limits.c - which options of the myocyte workload contradict each other. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/check.h"
#include "common/output.h"
#include "workloads/myocyte/myocyte.h"
#include "workloads/workload.h"

static int check_files(const struct myocyte_opts *o)
{
	const char *const in[][2] = { { "initial", o->initial },
				      { "parameters", o->parameters },
				      { "states", o->states } };
	const char *const out[][2] = { { "trajectory", o->trajectory },
				       { "derivatives", o->derivatives } };

	for (size_t i = 0; i < sizeof(in) / sizeof(*in); i++)
		for (size_t j = 0; j < sizeof(out) / sizeof(*out); j++)
			if (output_same_file(in[i][1], out[j][1]))
				return complain(EINVAL,
						"%s=%s is read as %s=: write to another file",
						out[j][0], out[j][1], in[i][0]);
	return 0;
}

static int check_action(const struct myocyte_opts *o)
{
	if (o->derivatives && !o->states)
		return complain(EINVAL, "derivatives=%s needs states=FILE.csv to evaluate",
				o->derivatives);
	if (o->states && !o->derivatives)
		return complain(EINVAL, "states=%s needs derivatives=FILE.csv to write to",
				o->states);
	if (o->states && o->trajectory)
		return complain(EINVAL,
				"trajectory= and derivatives= are two jobs; ask for one at a time");
	if (o->states && o->initial)
		return complain(EINVAL, "initial=%s is not used with states=: each row is a state",
				o->initial);
	return 0;
}

double myocyte_trajectory_rows(const struct myocyte_opts *o)
{
	return 1 + ceil(o->span / o->every - 1e-9);
}

/* The shortest time between rows with which they fit, rounded up to two digits. */
static double least_every(const struct myocyte_opts *o)
{
	double least = o->span / (MYOCYTE_ROWS_MAX - 1);
	double unit = pow(10, floor(log10(least)) - 1);

	return ceil(least / unit) * unit;
}

static int check_trajectory(const struct myocyte_opts *o)
{
	double rows = myocyte_trajectory_rows(o);

	if (o->trajectory && rows > MYOCYTE_ROWS_MAX)
		return complain(EINVAL,
				"span=%g ms with every=%g ms makes %.0f rows of trajectory; at "
				"most %d fit; use every=%.2g or more",
				o->span, o->every, rows, MYOCYTE_ROWS_MAX, least_every(o));
	if (o->trace >= o->cells)
		return complain(EINVAL, "trace=%ld: cells=%ld has cells 0 to %ld", (long)o->trace,
				(long)o->cells, (long)o->cells - 1);
	return 0;
}

/* The benchmark's rows are whole milliseconds. */
static int check_rodinia(const struct myocyte_opts *o)
{
	if (o->solver != MYOCYTE_AS_RODINIA)
		return 0;
	if (o->span != floor(o->span) || o->span < 1)
		return complain(EINVAL, "span=%g ms: solver=rodinia needs a whole number of ms",
				o->span);
	if (o->trajectory && o->every != floor(o->every))
		return complain(EINVAL, "every=%g ms: solver=rodinia makes a row each whole ms",
				o->every);
	return 0;
}

/* A block for each cell, and decisions on the device. */
static int check_rosenbrock(const struct myocyte_opts *o)
{
	if (o->solver != MYOCYTE_ROSENBROCK)
		return 0;
	if (o->precision == MYOCYTE_FLOAT)
		return complain(EINVAL,
				"precision=float: solver=rosenbrock differentiates by differences, "
				"for which float has too few digits; use precision=double");
	if (o->granularity == MYOCYTE_BY_STAGE || o->control == MYOCYTE_BY_HOST)
		return complain(EINVAL,
				"%s: solver=rosenbrock has one kernel for a whole attempt, which "
				"decides too; it needs granularity=attempt control=device",
				o->control == MYOCYTE_BY_HOST ? "control=host"
							      : "granularity=stage");
	if (o->spread == MYOCYTE_THREAD || o->spread == MYOCYTE_CELLS_A_BLOCK)
		return complain(EINVAL,
				"spread=%s: solver=rosenbrock has a block for each cell; use "
				"spread=block or auto",
				o->spread == MYOCYTE_THREAD ? "thread" : "warps");
	return 0;
}

static int check_solver(const struct myocyte_opts *o)
{
	const double least = 1e-12, least_float = 1e-5;
	bool single = o->precision == MYOCYTE_FLOAT;

	if (o->solver == MYOCYTE_FIXED && o->step > o->span)
		return complain(EINVAL, "step=%g ms is longer than span=%g ms", o->step, o->span);
	if (o->solver == MYOCYTE_ADAPTIVE && single && o->tolerance > 0 &&
	    o->tolerance < least_float)
		return complain(
			EINVAL,
			"tolerance=%g is too small for float; use %g or more, or precision=double",
			o->tolerance, least_float);
	if (o->tolerance > 0 && o->tolerance < least)
		return complain(EINVAL, "tolerance=%g: must be %g or more, or 0", o->tolerance,
				least);
	return o->solver == MYOCYTE_ROSENBROCK ? check_rosenbrock(o) : check_rodinia(o);
}

/* Other patterns than the plain one are those of a thread for each cell. */
static bool is_plain(const struct myocyte_opts *o)
{
	return o->granularity == MYOCYTE_BY_ATTEMPT && o->control == MYOCYTE_BY_DEVICE &&
	       o->solver != MYOCYTE_AS_RODINIA;
}

/*
 * What takes least time on an H200, microseconds an attempt: a block for each cell 6.7 for every
 * 132 cells begun, as it has so many multiprocessors, in float 4.7; a block for 32 cells 26 to 42
 * for up to 4,224, in float 12. So blocks pay for two rounds in double, for one in float, and
 * perhaps for more: three and above were not measured.
 */
enum { ROUND = 132, CELLS_A_BLOCK_DOUBLE = 2 * ROUND, CELLS_A_BLOCK_FLOAT = ROUND };

/* A block of threads for a cell is slow where threads are simulated. */
static bool has_threads_to_spare(void)
{
#ifdef RIFT_CPU_DEVICE
	return false;
#else
	return true;
#endif
}

/* Rows of states=, which may be absurd, go to the kernel that takes any potential. */
enum myocyte_spread myocyte_spread(const struct myocyte_opts *o)
{
	int64_t most;

	if (o->spread != MYOCYTE_AUTO)
		return (enum myocyte_spread)o->spread;
	if (o->states)
		return MYOCYTE_THREAD;
	if (o->solver == MYOCYTE_ROSENBROCK)
		return MYOCYTE_CELL_A_BLOCK;
	if (!is_plain(o) || !has_threads_to_spare())
		return MYOCYTE_THREAD;
	most = o->precision == MYOCYTE_FLOAT ? CELLS_A_BLOCK_FLOAT : CELLS_A_BLOCK_DOUBLE;
	return o->cells <= most ? MYOCYTE_CELL_A_BLOCK : MYOCYTE_CELLS_A_BLOCK;
}

static int check_spread(const struct myocyte_opts *o)
{
	static const char *const names[] = { "auto", "thread", "block", "warps" };

	if (o->spread <= MYOCYTE_THREAD || is_plain(o))
		return 0;
	return complain(EINVAL,
			"spread=%s: solver=rodinia, granularity=stage and control=host have a "
			"thread for each cell; use spread=thread",
			names[o->spread]);
}

static int check_launch(const struct myocyte_opts *o)
{
	if (o->launch == PROGRAMMATIC_NO ||
	    (o->solver != MYOCYTE_ROSENBROCK && myocyte_spread(o) == MYOCYTE_CELL_A_BLOCK))
		return 0;
	return complain(EINVAL, "launch=programmatic: only launches of spread=block overlap, and "
				"not those of solver=rosenbrock");
}

static void refuse_modes(const struct myocyte_opts *o, struct limits *out)
{
	if (o->launch == PROGRAMMATIC_YES)
		out->mode_refused[MODE_FUSED] = programmatic_fused;
	if (o->granularity == MYOCYTE_BY_STAGE)
		out->mode_refused[MODE_FUSED] =
			"granularity=stage launches a kernel for each right-hand side";
	if (o->control != MYOCYTE_BY_HOST)
		return;
	out->mode_refused[MODE_GRAPH] = "control=host: the host decides after every attempt";
	out->mode_refused[MODE_FUSED] = out->mode_refused[MODE_GRAPH];
	out->depth_max = 1;
	out->depth_why = out->mode_refused[MODE_GRAPH];
}

int myocyte_limits(const void *opts, struct limits *out)
{
	const struct myocyte_opts *o = opts;
	int err = check_action(o);

	if (!err)
		err = check_files(o);
	if (!err)
		err = check_trajectory(o);
	if (!err)
		err = check_solver(o);
	if (!err)
		err = check_spread(o);
	if (!err)
		err = check_launch(o);
	out->action = o->derivatives != NULL;
	out->depth_run = 1024; /* 18 ms of the beat: past the upstroke */
	refuse_modes(o, out);
	return err;
}
