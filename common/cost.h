/* cost.h - what a step of a workload costs by counting: filled in by its hook cost(). */
#ifndef RIFT_COST_H
#define RIFT_COST_H

#include <stdbool.h>

/* Copies that a step enqueues, of one kind: calls, and bytes in all of them. */
struct copies {
	double calls, bytes;
};

/* What a step costs by counting; formula says how it was counted. */
struct cost {
	double launches;	  /* kernel launches a step in stream mode */
	double flops;		  /* floating-point operations */
	double bytes_moved;	  /* device memory, each operand counted once */
	bool moves_only;	  /* a step moves them and does nothing else: they have a rate */
	double bytes_transferred; /* between host and device */
	/* the calls that these are; none where that is not known, or where kernels read the host */
	struct copies to_device, to_host, within; /* within: the device, not transferred */
	bool pageable;		/* the host's end of them lies in memory that is not pinned */
	double allocations;	/* calls that take or give back memory: none but in `memory` */
	double evaluations;	/* of the unit inside a step that users think in; 0: none */
	const char *evaluation; /* its name: "right-hand side" */
	const char *formula;
};

#endif
