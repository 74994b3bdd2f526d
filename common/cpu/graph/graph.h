/* exec.h - executable graphs from inside (CPU device, internal): exec.c runs, update.c changes. */
#ifndef RIFT_CPU_EXEC_H
#define RIFT_CPU_EXEC_H

#include "common/cpu/base/base.h"

/* What a launch runs. It is not changed while launches in flight, or other graphs, refer to it. */
struct body {
	struct op **op; /* own copies: the graph may be destroyed before */
	size_t n_ops;
	atomic_int n_refs;
};

struct exec {
	struct body *body;		  /* of the next launch */
	uint64_t graph_id;		  /* of the graph it was made from */
	size_t *needs;			  /* indices of nodes that node i needs: */
	size_t *needs_end;		  /* those before needs[needs_end[i]] */
	atomic_uint_least64_t n_launches; /* ever submitted */
	struct progress finished;	  /* launches that have run */
	atomic_int n_refs;
};

/* Copies of operations, arguments included; NULL: no memory. */
struct body *body_new(struct op *const *op, size_t n);
struct body *body_of_graph(const struct graph *g);

#endif
