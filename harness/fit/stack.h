/*
 * stack.h - where the time of a block goes: kernels, gaps, submission, synchronize, transfers,
 * allocations, and what none of them explains.
 *
 * Steps that launch kernels have the parts of the model (model.h), with N launches a block:
 *
 *   kernel      N X, X device time of a launch, less what is known of copies in it
 *   gap         between kernels on the device: g, gn and G, bf
 *   submission  the part of launch calls and of a submission proxy that is not hidden behind
 *               kernels: the model's total less the other parts. The first call of a block never is
 *   sync        Z - c, Zg, Zf - c: from the last call on, what one launch and its synchronize take
 *               beside the kernel. That the device starts late is part of it (model.h says why)
 *   transfer    copies that the workload counts, by what they cost on the call costs
 *   allocation  -
 *   other       the measured total less all that is known; below 0 where parts come to more
 *
 * With a session of launches of the same platform (from), its fit gives all but X, which is
 * measured in the workload's own graphs (price.h): then other is what real kernels do that those
 * of `launch` do not. Without one the workload's own fit gives them, and other is its residual.
 * Where K is measured and there is no such session, gaps between graph nodes are part of kernel.
 *
 * Steps that launch nothing but copy (transfer): the same, from the session's own fit, with
 * transfer in the place of kernel. Steps that neither launch nor copy, or take memory (memory,
 * graph op=instantiate): all the time of the calls, which is t_enq, is allocation, or submission
 * where no memory is taken, and the rest is the synchronize.
 *
 * NaN is a part that there is not, or that is not known: what is not identified (fit.h) fills none.
 * It is part of another one then, which stack_notes() says. No part is ever made 0 or moved to make
 * them fit. Where they come to over FIT_ERROR_MAX more than the block took, or some part is less
 * than nothing by that much, they contradict what was measured: the block is refused and has no
 * parts. So is one of which its own fit leaves that much unexplained.
 */
#ifndef RIFT_FIT_STACK_H
#define RIFT_FIT_STACK_H

#include <jansson.h>
#include <stdio.h>

#include "harness/fit/price.h"

/* The order everywhere. */
enum stack_part {
	STACK_KERNEL,
	STACK_GAP,
	STACK_SUBMISSION,
	STACK_SYNC,
	STACK_TRANSFER,
	STACK_ALLOCATION,
	STACK_OTHER,
	STACK_PARTS,
};

extern const char *const stack_names[STACK_PARTS];

/* What copies cost: a call in a row of them, and a byte; NaN: the costs file does not say. */
struct copy_cost {
	double call_ns, byte_ns;
	double knee, below_byte_ns; /* copies of fewer bytes than the knee; 0: no knee */
};

/* From the costs file of `rift probe`: pinned and pageable memory, to device and to host. */
struct copy_costs {
	struct copy_cost to_device[2], to_host[2]; /* [pageable] */
};

struct stack_request {
	const struct grid *work;
	const struct fit *own;		/* of work; NULL: none */
	const struct fit *from;		/* of launches on the same platform; NULL: none */
	const struct copy_costs *costs; /* NULL: none */
};

struct stack {
	int point;	 /* number in work's grid */
	double total_ns; /* of the block, measured: the median over processes */
	double part_ns[STACK_PARTS];
	char refused[64]; /* "the parts come to 140 % of it"; "": it is not */
};

/* What a step of a point does; of older records, which do not say, that it launches kernels. */
enum stack_step {
	STACK_LAUNCHES,
	STACK_COPIES, /* no kernels */
	STACK_CALLS,  /* takes memory, or does neither */
};

enum stack_step stack_step_of(const struct grid *g, int point);

/* The fit that a point is taken apart by; NULL: none. */
const struct fit *stack_fit(const struct stack_request *r, int point);

/* ns a step for its copies between host and device, by the costs file; NaN: none, or not known. */
double stack_transfer_ns(const struct stack_request *r, int point);

/* A part's share of the block; NaN: there is no such part, or no share that is a number. */
double stack_share(const struct stack *s, enum stack_part part);

/* One for each of work's points, in their order; to be freed. */
struct stack *stacks_make(const struct stack_request *r);

enum { STACK_NOTES = 8 };

struct stack_notes {
	int n;
	char text[STACK_NOTES][200];
};

/* What a reader of these stacks has to know: how parts were found, what is part of what. */
void stack_notes(struct stack_notes *out, const struct stack_request *r, const struct stack *all);

/*
 * A selection that can be read: of each mode three sizes (the smallest, the middle and the largest
 * that were swept in it), each at its smallest and its largest depth. in is a buffer for all
 * points. Returns how many.
 */
int stacks_select(const struct grid *g, bool *in);

/* ---- the output of `rift fit --stack` --------------------------------------------------- */

/* all: every block; else the selection of stacks_select(). */
void stacks_print(const struct stack_request *r, const struct stack *stack, bool all, FILE *out);

/* Every block. New reference. */
json_t *stacks_json(const struct stack_request *r, const struct stack *stack);

#endif
