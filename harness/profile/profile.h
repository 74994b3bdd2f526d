/*
 * profile.h - a trace analysed: re-timed at the prices of its own platform, held against runs
 * without the recorder, its shares and what kind of program it is, what would make it slower.
 *
 * A raw trace is not the program: the recorder adds to each call. So shares are of the re-timed
 * trace where it has a calibration.
 */
#ifndef RIFT_PROFILE_PROFILE_H
#define RIFT_PROFILE_PROFILE_H

#include <jansson.h>
#include <stdio.h>

#include "common/typed.h"
#include "harness/profile/ranges.h"
#include "harness/profile/shares.h"
#include "harness/stats/bootstrap.h"

/* The re-timed time is compared with that of runs without the recorder. */
enum trust {
	TRUST_FULL,
	TRUST_LOW,     /* for the reasons given */
	TRUST_REFUSED, /* the interval of their ratio is wholly outside 5 % around 1 */
};

extern const char *const trust_names[];

/* Why confidence is low: bits. */
enum doubt {
	DOUBT_CALIBRATION = 1,	/* there is none: shares are of the raw trace */
	DOUBT_DEVICE_TIMES = 2, /* none are recorded: what the device did is not known */
	DOUBT_RUNS = 4,		/* fewer than 5 without the recorder */
	DOUBT_WIDE = 8,		/* the interval is wider than 10 % on either side */
	DOUBT_UNFINISHED = 16,
	DOUBT_DROPPED = 32,
	DOUBT_GRAPHS = 64,     /* launch calls of graphs as CUPTI slows them down */
	DOUBT_PARTIAL = 128,   /* so there is no whole run to hold it against */
	DOUBT_PROCESSES = 256, /* one of several of a command, whose runs are whole */
	DOUBT_ESTIMATED = 512, /* the calibration is by the trace's own calls */
	DOUBTS = 10,	       /* how many */
};

extern const char *const doubt_texts[DOUBTS];

/* Of the self-check; where the program's own runs are further apart, recording.h records several.
 */
#define PROFILE_SELF_MARGIN 0.05
#define PROFILE_WIDE 0.10

/* What 1 us more would cost, by re-timing again. */
enum sensitivity_cost { COST_LAUNCH, COST_SYNC, COST_GAP, COST_COPY, PROFILE_COSTS };

extern const char *const profile_cost_names[PROFILE_COSTS]; /* "launch" */
extern const char *const profile_cost_texts[PROFILE_COSTS];

/* The same with so many ns more for one of these costs. */
struct call_prices prices_dearer(struct call_prices p, enum sensitivity_cost cost, double ns);

struct profile {
	struct trace trace;
	struct steps steps;
	struct timed times; /* re-timed, else as recorded */
	struct shares shares;
	struct ranges ranges;
	struct call_prices prices; /* of c, Z and g the medians */
	bool retimed;
	int64_t host_gaps; /* gaps corrected by runs with calls alone */

	struct interval predicted; /* wall time, ns; n: processes that prices are of, 1: the
				    * recorded one, whose calls they are of */
	struct interval measured;  /* of runs without the recorder, ns; known from 5 on */
	/* Re-timed over measured, by how processes differ on both sides; not known where not
	 * compared: fewer than 5 runs, only a part recorded, one process of several. */
	struct interval ratio;
	double recorded_ns; /* with it */
	enum trust trust;
	unsigned doubts;

	struct kind_rules rules;
	enum program_kind kind; /* where has_kind */
	bool has_kind;
	double cost_ns[PROFILE_COSTS]; /* of the wall time; NAN: not re-timed */
};

/*
 * Adds to BOOTSTRAP_DRAWS draws of a process's time what starts of processes differ by: those that
 * did nothing, without the recorder, less their median. On an H200 that is 0.02 to 0.3 s before the
 * first call. Nothing where a part of the program was recorded: no start is in its time.
 */
void profile_add_starts(const struct trace *t, double *draws);

/* BOOTSTRAP_DRAWS medians of the runs without the recorder, resampled; their median. */
double profile_draw_runs(const struct trace *t, double *draws);

/*
 * Reads a trace and analyses it. with_idle: p->shares.idle too. Returns 0, or a negative errno
 * after one line, as trace_read() does. profile_release() may follow a failure.
 */
int profile_make(struct profile *p, const char *path, const struct kind_rules *rules,
		 bool with_idle);
void profile_release(struct profile *p);

/* A line "label  VALUE (LO to HI)", of times; and as JSON, a new reference. */
void profile_interval_print(FILE *out, const char *label, const struct interval *i);
json_t *profile_interval_json(const struct interval *i);

/* "exited with 3", "ended by signal 11 (Segmentation fault)": a status as wait() has it. */
struct text profile_ended(int status);

/* The program's command line, or that the trace does not name it. */
const char *profile_program(const struct trace *t);

/* Of which times the shares are: "re-timed without the recorder". */
const char *profile_retimed(const struct profile *p);

/* On one screen; and all of it, a new reference. */
void profile_print(const struct profile *p, FILE *out);
json_t *profile_json(const struct profile *p);

#endif
