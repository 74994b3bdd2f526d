/*
 * atlas.h - many layers or platforms against one base: what each adds to the costs of a launch, to
 * the time of a step, and to copies, allocations and cold starts, on one page.
 *
 * Each is compared by harness/compare: a session of two sides with its own side a, which has to be
 * the base platform; a session of one side, or one side of two, with the base itself.
 */
#ifndef RIFT_COMPARE_ATLAS_H
#define RIFT_COMPARE_ATLAS_H

#include <jansson.h>
#include <stdio.h>

#include "harness/base/command.h"
#include "harness/compare/compare.h"
#include "harness/compare/format.h"
#include "harness/record/journal.h"

/* ---- what is held against what ---------------------------------------------------------- */

enum { ATLAS_NAME = 240 };

/* From ATLAS_NOT_RESOLVED on there is a figure. */
enum atlas_state {
	ATLAS_NOTHING,	     /* not identified, or not swept */
	ATLAS_NOT_SUPPORTED, /* the platform lacks a call that it takes */
	ATLAS_WRONG,	     /* of a step: there is no time, as results failed their check */
	ATLAS_NOT_RESOLVED,  /* the interval holds no difference */
	ATLAS_KNOWN,	     /* and also where there is no interval */
};

extern const char *const atlas_state_names[];

/*
 * Beside launches: a copy of the fewest bytes, waited for; how many bytes a second the largest one
 * in a row carries; memory taken and given back; a process from its command to a device that
 * answers. Each rate is behind its time.
 */
enum {
	ATLAS_COPY_TO_DEVICE,
	ATLAS_RATE_TO_DEVICE,
	ATLAS_COPY_TO_HOST,
	ATLAS_RATE_TO_HOST,
	ATLAS_ALLOCATION,
	ATLAS_START,
	ATLAS_COSTS
};

extern const char *const atlas_cost_names[ATLAS_COSTS];

/* Bytes a second; the others are ns. */
bool atlas_is_rate(int which);

struct atlas_cost {
	enum atlas_state state;
	struct interval of;	 /* b - a */
	struct interval own[2];	 /* of A, of B */
	const struct pair *pair; /* the point that says it; NULL: none, as of a start */
	double bytes;		 /* what a step of it copies or takes */
};

/* A row of the tables. */
struct atlas_entry {
	char *given_name;      /* by the command line, set before atlas_add(); malloc()ed or NULL */
	char name[ATLAS_NAME]; /* that; else its layers, the platform declared, or the file */
	bool is_model;	       /* some layer imitates another one's costs */
	bool own_base;	       /* it is held against side a of its own session */
	char not_comparable[256]; /* "gpu.name: .. -> ..", with force; "": it is comparable */
	struct journal session;
	struct compared_side side[2]; /* the first only where it is its own */
	struct comparison c;
	struct atlas_cost cost[ATLAS_COSTS];
};

struct atlas {
	/* the base, held against itself: A of it has the base's own values */
	struct atlas_entry base;
	struct atlas_entry *entry; /* in the order that they were named in */
	int n;
	/* margin and session_sd NAN: what is usual; force: what is not comparable is compared, too
	 */
	struct compare_options options;
};

/* Room for n entries; each stays where it is. */
void atlas_init(struct atlas *a, int n, const struct compare_options *options);
void atlas_release(struct atlas *a);

/*
 * The session of an entry has been read: one side of it, or both (SIDE_ANY). The base comes first.
 * Returns 0; -EPROTONOSUPPORT after one line that names file and field where it is not comparable
 * with the base; or another negative errno after one line.
 */
int atlas_set_base(struct atlas *a, int side);
int atlas_add(struct atlas *a, int number, int side);

/* ---- what is said of each --------------------------------------------------------------- */

enum { ATLAS_PARAMETERS = 6, ATLAS_DEPTHS = 2 };

extern const enum model_param atlas_parameters[ATLAS_PARAMETERS];
extern const int atlas_depths[ATLAS_DEPTHS];

struct atlas_cell {
	enum atlas_state state;
	struct interval of;	     /* b - a of a parameter in ns; b / a of the time of a step */
	const struct judged *judged; /* NULL: nothing was */
	const struct compared_parameter *parameter; /* or NULL */
	const struct compared_point *point;	    /* of a step's time; NULL: none */
	int wrong, processes; /* of a step: in how many of side b's results failed their check */
};

/*
 * What an entry says of a workload: the parameter of that place in atlas_parameters; the time of a
 * step near that depth, of the smallest kernels, in atlas_mode().
 */
struct atlas_cell atlas_parameter(const struct atlas_entry *e, const struct workload *w, int which);
struct atlas_cell atlas_step(const struct atlas *a, const struct atlas_entry *e,
			     const struct workload *w, int which);

/* Which mode that is: streams where the base has any. */
enum mode atlas_mode(const struct atlas *a, const struct workload *w);

/* The workloads of the base, in the order of its plan; NULL behind the last one. */
const struct workload *atlas_workload(const struct atlas *a, int i);

/* Does the entry have points of the workload? */
bool atlas_has(const struct atlas_entry *e, const struct workload *w);

/* Of the intervals of times and ratios, of all rows. */
struct levels atlas_levels(const struct atlas *a);

/* Results that are missing or failed their check, of both sides; not supported is neither. */
int atlas_failed(const struct atlas_entry *e);

enum exit_code atlas_exit_code(const struct atlas *a);

/* ---- what is printed -------------------------------------------------------------------- */

void atlas_print(const struct atlas *a, FILE *out);

/* New reference. */
json_t *atlas_json(const struct atlas *a);

#endif
