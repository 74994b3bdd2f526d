/* cost.c - what a frame of the particle filter costs, by counting. */
#include "common/cost.h"
#include "workloads/particlefilter/particlefilter.h"

/*
 * Per particle and frame. Flops: 2 logarithms, 2 square roots, 2 cosines and an exponential, each
 * taken for 20; 24 additions, multiplications and divisions of motion, likelihood, sums and
 * threshold. Bytes: positions of the ancestor in, 2 reals; own positions and the inclusive sum
 * out, 3 reals; that sum again for the search, 1 real. split moves positions once more (2 in, 2
 * out) and the weight (1 out, 1 in). Its inclusive sums are doubles (1 out, 1 in). Rodinia's
 * generators: a state in and out, 8 bytes.
 */
int particlefilter_cost(const void *opts, const void *state, struct cost *out)
{
	const struct particlefilter_opts *o = opts;
	const struct pf_filter *f = &((const struct particlefilter_state *)state)->filter;
	double real = f->single ? sizeof(float) : sizeof(double);
	double bytes = f->split ? 10 * real + 2 * sizeof(double) : 6 * real;

	*out = (struct cost){
		.launches = f->split ? 4 : 1,
		.flops = (7 * 20 + 24) * (double)o->particles,
		.bytes_moved = (bytes + (f->rules.lcg ? 8 : 0)) * (double)o->particles,
		.evaluations = (double)o->particles,
		.evaluation = "particle",
		.formula = f->split ? "particles x (7 functions of 20 flops + 24); particles x "
				      "(10 reals + 16 B), 8 B more with rng=lcg"
				    : "particles x (7 functions of 20 flops + 24); particles x 6 "
				      "reals, 8 B more with rng=lcg",
	};
	return 0;
}
