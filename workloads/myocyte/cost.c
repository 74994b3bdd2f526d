/* cost.c - what a step of the myocyte workload costs, by counting. */
#include "common/cost.h"
#include "workloads/myocyte/myocyte.h"

/* Per step: bytes that control=host copies in and out. */
static double bytes_copied(const struct myocyte_opts *o, const struct myocyte_cells *c)
{
	double vector = MYOCYTE_STATES * (double)myocyte_real_bytes(c);
	double outcome = sizeof(struct myocyte_outcome), stages = myocyte_stages(c->solver);

	if (!c->by_host)
		return 0;
	if (o->granularity == MYOCYTE_BY_STAGE)
		return stages * (2 * vector + sizeof(double) + outcome);
	return 2 * vector + 2 * sizeof(double) + outcome;
}

static const char *cost_formula(const struct myocyte_opts *o, bool fixed, bool on_chip)
{
	if (o->control == MYOCYTE_BY_HOST)
		return fixed ? "cells x (11 evaluations of 2,761 flops + 91 x 102); copied by "
			       "stage: cells x 11 x (2 vectors + 24 B), by attempt: cells x "
			       "(2 vectors + 32 B)"
			     : "cells x (13 evaluations of 2,761 flops + 91 x 144); copied by "
			       "stage: cells x 13 x (2 vectors + 24 B), by attempt: cells x "
			       "(2 vectors + 32 B)";
	if (on_chip)
		return fixed ? "cells x (11 evaluations of 2,761 flops + 91 x 102); cells x (2 "
			       "vectors of 91 numbers + 16 numbers + 128 B), in a fused launch once"
			     : "cells x (13 evaluations of 2,761 flops + 91 x 144); cells x (2 "
			       "vectors of 91 numbers + 16 numbers + 128 B), in a fused launch "
			       "once";
	return fixed ? "cells x (11 evaluations of 2,761 flops + 91 x 102); cells x 93 vectors of "
		       "91 numbers"
		     : "cells x (13 evaluations of 2,761 flops + 91 x 144); cells x 118 vectors "
		       "of 91 numbers";
}

/* Bytes that a launch moves for a cell whose numbers, of `real` bytes, stay on chip. */
static double bytes_on_chip(double real)
{
	const double course = 2 * 8 * sizeof(double);

	return (2 * MYOCYTE_STATES + MYOCYTE_PARAMS) * real + course;
}

/*
 * Per attempt that has a Jacobian to find, which all have but those behind a rejected one. The
 * inverse and each product with it are counted as if every entry were there; 91 x 220 are what
 * differences (40 a state), calmodulin's derivatives (60) and stages (120) take.
 */
static void cost_of_rosenbrock(const struct myocyte_opts *o, struct cost *out)
{
	const double n = MYOCYTE_STATES, evaluation = 1257 + 52 * 2 + 70 * 20;
	double flops = MYOCYTE_STIFF * evaluation + 2 * n * n * n + 8 * 2 * n * n + n * 220;

	*out = (struct cost){
		.launches = 1,
		.evaluations = MYOCYTE_STIFF,
		.evaluation = "right-hand side",
		.flops = flops * (double)o->cells,
		.bytes_moved = bytes_on_chip(sizeof(double)) * (double)o->cells,
		.formula =
			"cells x (17 evaluations of 2,761 flops + 2 x 91^3 for an inverse + 16 x "
			"91^2 for eight products + 91 x 220); cells x (2 vectors of 91 numbers + "
			"16 numbers + 128 B), in a fused launch once",
	};
}

/*
 * Per attempt and cell, by counting the equations: an evaluation is 1,257 additions,
 * multiplications and divisions, 52 small powers as 2 each, and 70 exp, ln and pow, each taken
 * for 20. Per state a nonzero coefficient of the tableau costs 2 operations, a stage one more,
 * the new state 12 and its error 10. A coefficient reads a vector (91 numbers), a stage reads
 * and writes one, so do an evaluation and the copy of an accepted state. With a block for a
 * cell or for 32 all that stays on the chip: states are read and written once, beside parameters
 * and what the cell's course is, 8 numbers each way. What a kernel saves by rearranging formulas
 * is not taken off.
 */
int myocyte_cost(const void *opts, const void *state, struct cost *out)
{
	const struct myocyte_opts *o = opts;
	const struct myocyte_cells *c = &((const struct myocyte_state *)state)->cells;
	bool fixed = o->solver == MYOCYTE_FIXED;
	double evaluations = myocyte_stages((enum myocyte_solver)o->solver);
	double coefficients = fixed ? 40 : 55, stages = evaluations - 1;
	double combine = fixed ? 9 : 11; /* vectors: y, 7 or 9 of k, the new state */
	double flops = evaluations * (1257 + 52 * 2 + 70 * 20) +
		       MYOCYTE_STATES * (2 * coefficients + stages + (fixed ? 12 : 22));
	double vectors = coefficients + 2 * stages + 2 * evaluations + combine + 2;
	bool on_chip = c->spread > MYOCYTE_THREAD;
	double real = (double)myocyte_real_bytes(c);
	double bytes = on_chip ? bytes_on_chip(real) : vectors * MYOCYTE_STATES * real;

	if (o->solver == MYOCYTE_ROSENBROCK) {
		cost_of_rosenbrock(o, out);
		return 0;
	}
	*out = (struct cost){
		.launches = o->granularity == MYOCYTE_BY_STAGE ? evaluations : 1,
		.evaluations = evaluations,
		.evaluation = "right-hand side",
		.flops = flops * (double)o->cells,
		.bytes_moved = bytes * (double)o->cells,
		.bytes_transferred = bytes_copied(o, c) * (double)o->cells,
		.formula = cost_formula(o, fixed, on_chip),
	};
	return 0;
}
