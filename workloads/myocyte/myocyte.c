/*
 * myocyte.c - the myocyte workload: its parameters and its entry in the table.
 *
 * The model is that of the "myocyte" benchmark of the Rodinia suite: Shannon et al., Biophys.
 * J. 87 (2004) 3351, joined to Saucerman and Bers, Biophys. J. 95 (2008) 4597.
 */
#include "workloads/myocyte/myocyte.h"

static const char *const equations[] = { "published", "rodinia", NULL };
static const char *const solvers[] = { "adaptive", "fixed", NULL };

/* clang-format off */
static const struct param params[] = {
	PARAM_AXIS(myocyte_opts, cells, "cells", "1", 1, MYOCYTE_CELLS_MAX,
		   "1,32,256,1k,4k,16k,64k", "cells integrated side by side"),
	PARAM_REAL(myocyte_opts, span, "ms", "1000", 1e-6, 1e6,
		   "time after which a cell starts over"),
	PARAM_CHOICE(myocyte_opts, solver, "adaptive", solvers,
		     "adaptive steps, or fixed ones of length step"),
	PARAM_REAL(myocyte_opts, tolerance, "1", "1e-6", 1e-12, 1e-2,
		   "relative error allowed in a step"),
	PARAM_REAL(myocyte_opts, step, "ms", "0.015625", 1e-6, 1,
		   "length of a step; unstable above 0.018"),
	PARAM_CHOICE(myocyte_opts, equations, "published", equations,
		     "the papers' equations, or the Rodinia benchmark's"),
	PARAM_REAL(myocyte_opts, jitter, "1", "0.01", 0, 0.5,
		   "parameters of cell 1 and up are raised by up to this share"),
	PARAM_INT(myocyte_opts, seed, "1", "1", 0, 9007199254740992.0,
		  "seed of the jitter"),
	PARAM_PATH(myocyte_opts, initial,
		   "CSV with the initial state, as workloads/myocyte/initial_state.csv"),
	PARAM_PATH(myocyte_opts, parameters,
		   "CSV with the parameters, as workloads/myocyte/parameters.csv"),
	PARAM_PATH(myocyte_opts, trajectory,
		   "CSV to write: time and state of a cell over its span"),
	PARAM_REAL(myocyte_opts, every, "ms", "1", 1e-6, 1e6,
		   "time between rows of trajectory"),
	PARAM_SIZE(myocyte_opts, trace, "1", "0", 0, MYOCYTE_CELLS_MAX - 1,
		   "number of the cell whose trajectory is written"),
	PARAM_PATH(myocyte_opts, states,
		   "CSV to read: t, y0..y90 and perhaps p0..p15; needs derivatives"),
	PARAM_PATH(myocyte_opts, derivatives,
		   "CSV to write: f0..f90 of each row of states; nothing is timed"),
	PARAM_END
};
/* clang-format on */

static const struct param_need needs[] = {
	{ "tolerance", "solver=adaptive" },
	{ "step", "solver=fixed" },
	{ "every", "trajectory" },
	{ "trace", "trajectory" },
	/* what evaluates rows of states integrates nothing */
	{ "cells", "!states" },
	{ "span", "!states" },
	{ "solver", "!states" },
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
	return fused(opts, state, stream, 1);
}

/*
 * Per attempt and cell, by counting the equations: an evaluation is 1,257 additions,
 * multiplications and divisions, 52 small powers as 2 each, and 70 exp, ln and pow, each taken
 * for 20. Per state a nonzero coefficient of the tableau costs 2 operations, a stage one more,
 * the new state 12 and its error 10. A coefficient reads a vector (91 doubles), a stage reads
 * and writes one, so do an evaluation and the copy of an accepted state.
 */
static int cost(const void *opts, const void *state, struct cost *out)
{
	const struct myocyte_opts *o = opts;
	bool fixed = o->solver == MYOCYTE_FIXED;
	double evaluations = fixed ? MYOCYTE_STAGES_FIXED : MYOCYTE_STAGES;
	double coefficients = fixed ? 40 : 55, stages = evaluations - 1;
	double combine = fixed ? 9 : 11; /* vectors: y, 7 or 9 of k, the new state */
	double flops = evaluations * (1257 + 52 * 2 + 70 * 20) +
		       MYOCYTE_STATES * (2 * coefficients + stages + (fixed ? 12 : 22));
	double vectors = coefficients + 2 * stages + 2 * evaluations + combine + 2;

	(void)state;
	*out = (struct cost){
		.launches = 1,
		.evaluations = evaluations,
		.evaluation = "right-hand side",
		.flops = flops * (double)o->cells,
		.bytes_moved = vectors * MYOCYTE_STATES * sizeof(double) * (double)o->cells,
		.formula = fixed ? "cells x (11 evaluations of 2,761 flops + 91 x 102); "
				   "cells x 93 vectors of 728 B"
				 : "cells x (13 evaluations of 2,761 flops + 91 x 144); "
				   "cells x 118 vectors of 728 B",
	};
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
	.cost = cost,
	.teardown = myocyte_teardown,
};
