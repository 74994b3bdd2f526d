/*
 * trial.h - a user's program, timed by itself and under layers, in turns: which sides, their runs,
 * what follows from them.
 *
 * Side 0 is the program by itself. Each other side is the same program under a layer of rift's, or
 * behind a command such as `docker run`. In a round each side runs once, in an order that is
 * reversed from round to round, and so a run of a side and the run of side 0 in the same round are
 * a pair. A run is a line of the record (docs/records.md); all that is said is made of such lines.
 */
#ifndef RIFT_TRIAL_TIMED_H
#define RIFT_TRIAL_TIMED_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/recorder/span.h"
#include "harness/base/command.h"
#include "harness/base/picture.h"
#include "harness/record/line_file.h"
#include "harness/stats/contrast.h"
#include "harness/stats/outcome.h"

/* ---- the plan --------------------------------------------------------------------------- */

enum {
	TRIAL_SIDES_MAX = 13,
	TRIAL_ROUNDS_MAX = CONTRAST_N_MAX,
	TRIAL_LOOKS_MAX = 5,
	TRIAL_FILES_MAX = 16,
	TRIAL_WHY = 400,
};

struct trial_side {
	const char *layer;   /* as --layer has it; NULL: none */
	const char *against; /* a shell command that the program is put behind; NULL: none */
};

struct trial_plan {
	const char **argv; /* of the program, then NULL; owned, its texts are not */
	struct trial_side side[TRIAL_SIDES_MAX];
	int sides;
	int rounds;	 /* exactly so many; 0: as margin and within say */
	double margin;	 /* a share of side 0's time */
	double within_s; /* for all rounds; 0: TRIAL_WITHIN_S, but as many rounds as can decide */
	double patience_s;
	bool bare;	  /* calls of CUDA are not looked at */
	bool same_output; /* stdout and files are compared, too */
	const char *file[TRIAL_FILES_MAX];
	int files;
	json_t *kept; /* what the texts above belong to, of a plan from a record */
};

enum { TRIAL_WITHIN_S = 120 };

/* What a record calls the device of a machine without one. */
#define TRIAL_NO_DEVICE "no device"

json_t *trial_plan_json(const struct trial_plan *p); /* new reference */
/* 0, or -EINVAL after one line that begins with where. */
int trial_plan_parse(struct trial_plan *p, const json_t *o, const char *where);
void trial_plan_release(struct trial_plan *p);

/* "emulate call=20", "docker run ...", and of side 0 "by itself". */
struct text trial_side_name(const struct trial_plan *p, int side);

/* "./app --size 3", cut. */
struct text_line trial_program_name(const struct trial_plan *p);

/* ---- runs --------------------------------------------------------------------------------- */

/* What a run is compared in, beside the wall time; NAN where it is not known. */
enum trial_quantity {
	TRIAL_USER_S,	    /* processor time of the program's own */
	TRIAL_SYSTEM_S,	    /* and in the kernel for it */
	TRIAL_PEAK_BYTES,   /* memory of the largest process */
	TRIAL_BEFORE_S,	    /* from its start to its first call of CUDA */
	TRIAL_CALLS_S,	    /* from its first call of CUDA to the last */
	TRIAL_AFTER_S,	    /* from there to its end: what is left of the wall time */
	TRIAL_DEVICE_BYTES, /* of the device's memory, at most, beside what was in use before */
	TRIAL_ENERGY_J,	    /* of the device */
	TRIAL_QUANTITIES
};

struct trial_quantity_row {
	const char *name;  /* of the record's member, if it is one */
	const char *label; /* for people */
	bool derived;	   /* no member of the record: it follows from others */
};

extern const struct trial_quantity_row trial_quantities[TRIAL_QUANTITIES];

struct trial_run;
void trial_run_derive(struct trial_run *r);

/* All NVTX ranges of a name in a run. */
struct trial_range {
	char name[SPAN_NAME];
	int64_t count;
	double s; /* together */
};

struct trial_run {
	bool there;
	double wall_s, value[TRIAL_QUANTITIES];
	int status;		/* as waitpid() has it */
	bool late;		/* it ran out of patience */
	bool left;		/* it left processes behind, which were ended */
	char output[HASH_TEXT]; /* of stdout and files together; "": not compared */
	struct trial_range range[SPAN_RANGES_MAX];
	int ranges;
	char said[160]; /* the last line of stderr of one that failed */
};

struct trial_runs {
	struct trial_run untimed;
	struct trial_run *run; /* [TRIAL_ROUNDS_MAX] */
};

/* A record, or what there is of one so far. */
struct trial {
	struct trial_plan plan;
	struct trial_runs side[TRIAL_SIDES_MAX];
	int look[TRIAL_LOOKS_MAX], looks; /* rounds after which it may end; 0: not yet known */
	bool outputs_differ;		  /* of two runs of side 0: they say nothing about layers */
	json_t *platform;		  /* the line; NULL: not yet */
	struct line_file file;
};

/* ---- the record ----------------------------------------------------------------------------- */

bool trial_file_is(const char *path);
void trial_init(struct trial *t);
void trial_release(struct trial *t);

/* As those of share_file.h: 0, or a negative errno after one line. */
int trial_create(struct trial *t, const char *path);
int trial_read(struct trial *t, const char *path);
int trial_resume(struct trial *t, const char *path);
int trial_add(struct trial *t, json_t *line);
int trial_check(const char *path, bool *incomplete);

/* The line of a run; round -1: the untimed one. New reference. */
json_t *trial_run_json(int side, int round, const struct trial_run *r);

/* ---- measuring -------------------------------------------------------------------------- */

/*
 * Measures what the record lacks, and ends it. Returns 0, or a negative errno after one line;
 * -EINTR.
 */
int trial_measure(struct trial *t);

/* ---- what follows ------------------------------------------------------------------------- */

/* Quantities, and behind them the ranges of the first run by itself. */
enum { TRIAL_BESIDE_MAX = TRIAL_QUANTITIES + SPAN_RANGES_MAX };

struct trial_beside {
	struct interval own;  /* the median of the side's runs */
	struct interval over; /* the ratio over side 0; it informs */
};

struct trial_result {
	struct interval wall_s;	      /* of the side's own runs */
	struct interval ratio;	      /* over side 0 */
	struct interval difference_s; /* what the ratio adds to side 0's median */
	struct trial_beside beside[TRIAL_BESIDE_MAX];
	struct judged judged;
	char wrong[TRIAL_WHY]; /* why the program is wrong on this side; "": it is not */
	int wrong_runs, runs;  /* untimed ones included */
};

struct trial_findings {
	const struct trial *trial;
	int rounds; /* whole ones, that all sides which are not wrong have a run of */
	double margin;
	struct contrast contrast;
	struct trial_result side[TRIAL_SIDES_MAX];
	int beside; /* how many of these there are */
	int needed; /* rounds below which nothing can be decided */
	enum outcome outcome;
};

/* margin: NAN: the plan's. */
void trial_findings_init(struct trial_findings *f, const struct trial *t, double margin);
void trial_findings_release(struct trial_findings *f);

/* "user time", "range warm up" */
struct text trial_beside_label(const struct trial_findings *f, int which);

/* Is it timed on the CPU device? A machine without any device is none. */
bool trial_is_cpu(const struct trial *t);

/* All first runs together: about what a round takes. */
double trial_round_s(const struct trial *t);

/* Is there a verdict of each side? */
bool trial_is_decided(const struct trial_findings *f);

/* 0 the same or faster, or nothing to compare; 1 slower or wrong; 2 inconclusive. */
enum exit_code trial_exit_code(const struct trial_findings *f);

/* ---- for people and machines ------------------------------------------------------------ */

struct interval trial_in_ns(const struct interval *s);

/* "ended with status 3", "ended by signal 11 (Segmentation fault)", "did not end in time". */
struct text trial_ended(const struct trial_run *r);

/* The verdict of each side, a line each; of a program alone, its time. */
void trial_finding_print(const struct trial_findings *f, FILE *out);
void trial_print(const struct trial_findings *f, FILE *out);
/* "same", "slower", ..., "wrong"; "": side 0, or nothing was timed. */
const char *trial_verdict(const struct trial_findings *f, int side);
/* "412 MiB", "3.20 s": of such a quantity. */
struct text trial_quantity_text(enum trial_quantity q, double value);
json_t *trial_json(const struct trial_findings *f); /* new reference */

/* A dot a run, a row a side. As chart functions do (harness/chart/chart.h). */
int trial_chart_write(struct picture *picture, const struct trial_findings *f, const char *folder);

#endif
