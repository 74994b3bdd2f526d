/*
 * copies.h - what copies between host and device cost on a platform: what it adds to a step.
 *
 * From blocks of the workloads transfer and graph in the session that holds launches, or from call
 * costs (rift probe). A copy is a call on the host, keeps the submission busy, and has the device
 * for a fixed time and a time for each byte. Only platforms are compared: the fixed times of both
 * are known by their difference alone.
 *
 * Where copies and kernels take turns, the device goes from a copy engine to kernels and back. What
 * that takes is in no copy alone: on an H200 a copy to the device, a kernel and a copy back take 8
 * us less under nvshare in streams, 13 us less in graphs, and one more copy in that turn 1 to 2 us
 * more and 0.3 us less (docs/validation.md). The workload graph tells, with streamed nodes.
 */
#ifndef RIFT_FIT_COPIES_H
#define RIFT_FIT_COPIES_H

#include "harness/record/journal.h"

/* One direction and kind of host memory; NAN: not known. */
struct copy_pace {
	double call_ns;		 /* of a small copy: the call alone ... */
	double submit_ns;	 /* ... and one after another, a copy */
	double bytes;		 /* of a large one ... */
	double large_ns;	 /* ... one after another, a copy */
	double host_ns_per_byte; /* of the call, where it lasts longer for more bytes */
};

/*
 * What copies to the device, a kernel and a copy to the host in turn take of the device, by how
 * many copies come before the kernel and by the bytes of each. Pinned memory; kernels of
 * COPY_TURN_US, so that the device is what all else waits for.
 */
enum { COPY_TURNS_MAX = 32, COPY_TURN_US = 20, COPY_TURN_NODES = 3, COPIES_BACK_MAX = 2 };

struct copy_turn {
	double copies, bytes, ns;
	/* A block of one, beyond one more; NAN: lines of a single turn were not swept. */
	double first_ns;
};

struct copy_turns {
	int n; /* 0: not known */
	struct copy_turn of[COPY_TURNS_MAX];
};

struct copy_paces {
	struct copy_pace to_device[2], to_host[2]; /* [1]: memory that is not pinned */
	struct copy_turns turns[MODE_COUNT];	   /* in streams, and in graphs */
};

/* Nothing is known. */
struct copy_paces copy_paces_none(void);

/* Those of one side of a session; what it did not sweep stays unknown. Returns 0, or -EINVAL. */
int copy_paces_of(struct copy_paces *out, const struct journal *j, int side);

/* What the copies of a step take, in ns. */
struct step_copies {
	double copies;	  /* how many; a number, not ns */
	double submit_ns; /* of the host, and of what passes them on: the slower of both */
	double device_ns; /* of the device, beyond the other platform's */
	double first_ns;  /* the ends of a block, beyond the other platform's; NAN: not known */
	bool in_turn;	  /* that is by turns with kernels */
};

/*
 * On `own`; device_ns beyond what `other` takes. Copies that either does not know take none. A step
 * that copies in both directions is taken to copy to the device, to have kernels, and to copy back,
 * where both know what that takes in blocks of this mode: but not one with more than
 * COPIES_BACK_MAX copies back for each launch.
 */
struct step_copies copies_of_step(const struct copy_paces *own, const struct copy_paces *other,
				  const struct cost *step, enum mode mode);

/*
 * Copies are measured alone, and a price adds what they cost more. Beside kernels and other copies
 * they may cost something else. So a price deserves low confidence where they are a fifth of it,
 * and not known in turn with kernels: of 85 such prices under the layers of data/sessions/atlas-*
 * half were 46 % off and more, of 1,315 others one in twenty 7 % and more (docs/validation.md).
 * Chosen with these in view.
 */
#define COPIES_DOUBTFUL 0.2

/* Does a step copy between host and device, and do both platforms say what that costs? */
enum step_copying { STEP_COPIES_NOTHING, STEP_COPIES_UNKNOWN, STEP_COPIES_KNOWN };

/* own and other NULL: they do not. */
enum step_copying copying_of_step(const struct copy_paces *own, const struct copy_paces *other,
				  const struct cost *step);

#endif
