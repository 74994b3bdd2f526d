/*
 * myocyte.c - the myocyte workload: its parameters and its entry in the table.
 *
 * A step is one attempt of an ODE solver for every cell, 91 states each:
 *
 *   plan      the step size h, cut at the next edge of the stimulus or output
 *   stages    13 right-hand sides of the model; 11 with solver=fixed, 8 with solver=rosenbrock
 *   decide    error within tolerance: accept and advance t; else a shorter h next time
 *
 * spread= chooses who shares a cell: a thread (kernels.cuh), a block (block.cuh), or the eight
 * warps of a block that has 32 cells (warps.cuh). solver=rosenbrock is in rosenbrock.cuh.
 * model*.cuh are the equations, reference*.c what check.c compares with.
 *
 * The model is that of the "myocyte" benchmark of the Rodinia suite: Shannon et al., Biophys.
 * J. 87 (2004) 3351, joined to Saucerman and Bers, Biophys. J. 95 (2008) 4597.
 */
#include "workloads/myocyte/myocyte.h"
#include "workloads/workload.h"

static const char *const equations[] = { "published", "rodinia", "auto", NULL };
static const char *const solvers[] = { "adaptive", "fixed", "rodinia", "rosenbrock", NULL };
static const char *const precisions[] = { "double", "float", NULL };
static const char *const granularities[] = { "attempt", "stage", NULL };
static const char *const controls[] = { "device", "host", NULL };
static const char *const spreads[] = { "auto", "thread", "block", "warps", NULL };

/* clang-format off */
static const struct param params[] = {
	PARAM_AXIS(myocyte_opts, cells, "cells", "1", 1, MYOCYTE_CELLS_MAX,
		   "1,32,256,1k,4k,16k,64k", "cells integrated side by side"),
	PARAM_REAL(myocyte_opts, span, "ms", "1000", 1e-6, 1e6,
		   "time after which a cell starts over"),
	PARAM_CHOICE(myocyte_opts, solver, "adaptive", solvers,
		     "adaptive steps, fixed ones of length step, the Rodinia benchmark's, or stiff"),
	PARAM_CHOICE(myocyte_opts, precision, "double", precisions,
		     "precision of the states and the arithmetic; time is always double"),
	PARAM_CHOICE(myocyte_opts, granularity, "attempt", granularities,
		     "a launch for each attempt of the solver, or for each right-hand side"),
	PARAM_CHOICE(myocyte_opts, control, "device", controls,
		     "where steps are decided; host: copies in, launch, copies out, each time"),
	PARAM_CHOICE(myocyte_opts, spread, "auto", spreads,
		     "one cell per thread, or per block, or 32 per block, in its warps"),
	PROGRAMMATIC_PARAM(myocyte_opts),
	PARAM_REAL(myocyte_opts, tolerance, "1", "0", 0, 1e-2,
		   "relative error allowed in a step; 0: 1e-6, in float 1e-4"),
	PARAM_REAL(myocyte_opts, step, "ms", "0.015625", 1e-6, 1,
		   "length of a step; unstable above 0.018"),
	PARAM_CHOICE(myocyte_opts, equations, "auto", equations,
		     "the papers' or the Rodinia benchmark's; auto: Rodinia's with its solver"),
	PARAM_REAL(myocyte_opts, jitter, "1", "0.01", 0, 0.5,
		   "parameters of cell 1 and up are raised by up to this share"),
	PARAM_INT(myocyte_opts, seed, "1", "1", 0, 9007199254740992.0,
		  "seed of the jitter"),
	PARAM_PATH(myocyte_opts, initial,
		   "CSV with the initial state, as workloads/myocyte/initial_state.csv"),
	PARAM_PATH(myocyte_opts, parameters,
		   "CSV with the parameters, as workloads/myocyte/parameters.csv"),
	PARAM_PATH_OUT(myocyte_opts, trajectory,
		   "CSV to write: time and state of a cell over its span"),
	PARAM_REAL(myocyte_opts, every, "ms", "1", 1e-6, 1e6,
		   "time between rows of trajectory"),
	PARAM_SIZE(myocyte_opts, trace, "1", "0", 0, MYOCYTE_CELLS_MAX - 1,
		   "number of the cell whose trajectory is written"),
	PARAM_PATH(myocyte_opts, states,
		   "CSV to read: t, y0..y90 and perhaps p0..p15; needs derivatives"),
	PARAM_PATH_OUT(myocyte_opts, derivatives,
		   "CSV to write: f0..f90 of each row of states; nothing is timed"),
	PARAM_END
};
/* clang-format on */

enum myocyte_equations myocyte_equations(const struct myocyte_opts *o)
{
	if (o->equations != MYOCYTE_MATCHING)
		return (enum myocyte_equations)o->equations;
	return o->solver == MYOCYTE_AS_RODINIA ? MYOCYTE_RODINIA : MYOCYTE_PUBLISHED;
}

double myocyte_tolerance(const struct myocyte_opts *o)
{
	if (o->tolerance > 0)
		return o->tolerance;
	return o->precision == MYOCYTE_FLOAT ? 1e-4 : 1e-6;
}

static const struct param_need needs[] = {
	{ "tolerance", "solver=adaptive|rosenbrock" },
	{ "step", "solver=fixed" },
	{ "every", "trajectory" },
	/* what evaluates rows of states integrates nothing */
	{ "cells", "!states" },
	{ "span", "!states" },
	{ "solver", "!states" },
	{ "granularity", "!states" },
	{ "control", "!states" },
	{ "launch", "!states" },
	{ "tolerance", "!states" },
	{ "step", "!states" },
	{ "jitter", "!states" },
	{ "seed", "!states" },
	{ NULL, NULL },
};

static int reset(const void *opts, void *state, cudaStream_t stream)
{
	const struct myocyte_state *s = state;

	(void)opts;
	if (s->cells.by_host)
		myocyte_host_reset(&s->host);
	else
		myocyte_start(&s->cells, stream);
	return 0;
}

static int fused(const void *opts, void *state, cudaStream_t stream, int64_t n)
{
	const struct myocyte_state *s = state;

	(void)opts;
	myocyte_attempt(&s->cells, n, stream);
	return 0;
}

static int step(const void *opts, void *state, cudaStream_t stream)
{
	const struct myocyte_opts *o = opts;
	const struct myocyte_state *s = state;
	bool stages = o->granularity == MYOCYTE_BY_STAGE;

	if (s->cells.by_host)
		(stages ? myocyte_host_stages : myocyte_host_attempt)(&s->host, &s->cells);
	else if (stages)
		myocyte_attempt_by_stages(&s->cells, stream);
	else
		myocyte_attempt(&s->cells, 1, stream);
	return 0;
}

const struct workload workload_myocyte = {
	.name = "myocyte",
	.summary = "heart muscle cells: 91 differential equations each, Runge-Kutta 7(8)",
	.source = "Shannon et al. 2004 and Saucerman and Bers 2008; Rodinia's myocyte",
	.step_unit = "attempt of the solver for every cell",
	.params = params,
	.needs = needs,
	.opts_size = sizeof(struct myocyte_opts),
	.state_size = sizeof(struct myocyte_state),
	.limits = myocyte_limits,
	.setup = myocyte_setup,
	.reset = reset,
	.step = step,
	.fused = fused,
	.check = myocyte_check,
	.report = myocyte_report,
	.plot = myocyte_plot,
	.cost = myocyte_cost,
	.teardown = myocyte_teardown,
};
