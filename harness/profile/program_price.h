/*
 * program_price.h - how long a traced program would take on another platform: its trace simulated
 * at the prices of platform A, where it was recorded, and at those of platform B.
 *
 *   time on B = time on A without the recorder + simulated at B's prices - simulated at A's
 *
 * A's prices are the calibration of the trace, c, Z and g as that process met them. B's are A's and
 * what fits of launches say that B adds (A's fit given), or B's fit alone (without). Call costs of
 * both platforms price copies, allocations and event records: what B's cost more than A's is added
 * to each call that was recorded. Without them such calls cost on B what they cost on A.
 *
 * Kernels last as long on B as on A, and the host computes as fast: what differs is calls.
 *
 * A gap between queued kernels that B's session does not hold (fit.h, identified) is A's on B, too.
 * Where A's does not hold one, B's is taken as it is.
 *
 * Another wait policy changes what launches take beside the call, L and wake: by the difference of
 * two fits of one platform, whose sessions waited by one and by the other. The program is taken to
 * wait as the sessions of launches did.
 *
 * Ranges that the program names (NVTX) are simulated on both: no run without the recorder says how
 * long they took. They have no interval.
 *
 * A whole process also takes longer or shorter to begin and to end on B: by the row `process start
 * and end` of both files of costs, where their intervals tell them apart.
 *
 * Intervals: price_spread.h.
 */
#ifndef RIFT_PROFILE_PROGRAM_PRICE_H
#define RIFT_PROFILE_PROGRAM_PRICE_H

#include <jansson.h>
#include <stdio.h>

#include "harness/fit/fit.h"
#include "harness/measure/wait.h"
#include "harness/profile/profile.h"

struct price_sources {
	const struct fit *b;		 /* of launches on B */
	const struct fit *a;		 /* of launches on A; NULL: the trace's calibration alone */
	const json_t *costs_b, *costs_a; /* both or neither */
	/* Call costs' difference at its median (0), or at an end of its 95 % interval (-1, 1). */
	int costs_at;
	/* of launches that were waited for so, for REMEDY_SYNC; NULL: were not */
	const struct fit *sync_b[SYNC_COUNT], *sync_a[SYNC_COUNT];
};

/* ---- remedies --------------------------------------------------------------------------- */

enum remedy_kind {
	REMEDY_GRAPHS, /* launches in a row become one graph launch */
	REMEDY_BATCH,  /* of n synchronizes one is left */
	REMEDY_PINNED, /* pageable copies are of pinned memory */
	REMEDY_POOL,   /* allocations and frees cost nothing and wait for nothing */
	REMEDY_SYNC,   /* synchronizes wait by another policy */
	/* only where asked for */
	REMEDY_MERGE,	/* of n launches of a kernel one is left, and does the work of all */
	REMEDY_KERNELS, /* kernels last so many times as long */
	REMEDY_OVERLAP, /* what the host does after a synchronize is done before it */
	REMEDIES
};

extern const char *const remedy_names[]; /* "graphs", "batch", ...; then NULL */

struct remedy {
	enum remedy_kind kind;
	int64_t n;	       /* of REMEDY_BATCH and REMEDY_MERGE */
	double factor;	       /* of REMEDY_KERNELS */
	enum wait_policy sync; /* of REMEDY_SYNC */
	int64_t calls;	       /* that it changes; 0: the program has none, or it has no price */
	int64_t sloped;	       /* of REMEDY_MERGE: launches whose time is by a slope of their own */
	double a_ns, b_ns;     /* wall time with it; NAN: the sources do not say */
};

/* ---- the price -------------------------------------------------------------------------- */

/* What the interval of a price is made of. */
enum price_spread {
	SPREAD_RUNS,	   /* how the program's runs on A differ */
	SPREAD_STARTS,	   /* how unevenly processes start on A and, by the costs, on B */
	SPREAD_LAUNCHES_A, /* the intervals of launch costs */
	SPREAD_LAUNCHES_B,
	SPREAD_CALLS,	/* the intervals of call costs */
	SPREAD_SESSION, /* costs of launches differ from session to session */
	PRICE_SPREADS
};

struct program_price {
	const struct profile *profile;
	const struct price_sources *sources;
	struct call_prices on_a, on_b;
	struct call_extra *extra; /* of each call on B; owned */
	double simulated_a_ns, simulated_b_ns;
	double start_ns;      /* what a process takes more to begin and end on B; 0: not known */
	struct interval a_ns; /* wall time */
	struct interval b_ns; /* of the median of as many runs there, in a session of its own */
	double spread_ns[PRICE_SPREADS];  /* half the width of its interval by each part alone */
	struct ranges ranges_a, ranges_b; /* simulated: the same ones, in one order */
	struct shares shares_b;
	double cost_ns[PROFILE_COSTS];	 /* 1 us more on B; of the wall time there */
	const char *a_device, *b_device; /* models that differ between the sources; NULL: none do */
	bool reordered; /* kernels overlap for so long that B may order them otherwise */
	/*
	 * Copies of pageable memory of 64 KiB and more that are waited for: how many times as long
	 * they take in the program as in the probe on A. NAN: there are none, or no call costs.
	 * slow_copies: so much that the price does not know why. copies_in_turn: they take about as
	 * long as the probe's copies in turn, whose directions share a block of the host; then they
	 * are priced as these, and copies_ratio is over these.
	 */
	double copies_ratio;
	bool slow_copies, copies_in_turn;
	/* What copies that nobody waits for cost more on B, a share of the time there; below 0:
	 * less. dear_copies: more than COPIES_DOUBTFUL (harness/fit/copies.h). */
	double copies_share;
	bool dear_copies;
};

/* Is something in the program that the price cannot know of? Then it deserves low confidence. */
static inline bool program_price_doubtful(const struct program_price *p)
{
	return p->a_device || p->reordered || p->slow_copies || p->dear_copies;
}

/*
 * The profile is of a trace that was re-timed and not refused; it and the sources must outlive the
 * price.
 */
void program_price_make(struct program_price *out, const struct profile *p,
			const struct price_sources *sources);
void program_price_release(struct program_price *p);

/* What a remedy would give on both platforms; r->kind, and r->n or r->sync, are set. */
void program_price_remedy(const struct program_price *p, struct remedy *r);

/* ---- the output of `rift predict TRACE` ------------------------------------------------- */

struct program_report {
	const struct program_price *price;
	const struct remedy *remedy;
	int remedies;
	double measured_ns; /* wall time measured on B; NAN: none */
	const char *measured_path;
};

void program_report_print(const struct program_report *r, FILE *out);

/* New reference. */
json_t *program_report_json(const struct program_report *r);

#endif
