/*
 * share.h - several clients on one GPU: which clients, sharing it in which way, and their windows.
 *
 * A client is a workload that is stepped without a pause. An arm is a way of sharing. A set is an
 * arm with a number of clients. Its clients are started, warmed up, and then timed together in
 * windows. They stay up across repetitions. What a window says is a line of the record
 * (docs/records.md); tables and charts are made of such lines alone.
 */
#ifndef RIFT_SHARE_SHARE_H
#define RIFT_SHARE_SHARE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "harness/base/param.h"
#include "harness/record/line_file.h"
#include "harness/share/allow.h"

/* ---- ways of sharing -------------------------------------------------------------------- */

enum share_arm {
	ARM_PROCESSES,
	ARM_MPS,
	ARM_REMOTE,
	ARM_REMOTE_MPS,
	ARM_REMOTE_ONE,
	ARM_REMOTE_SHARED,
	ARM_STREAMS,
	ARM_SERIAL,
	ARM_LIMITED, /* of --allow alone */
	ARMS,
};

/* How many clients a process holds, and who steps next. */
enum share_way {
	WAY_PROCESSES, /* one client a process */
	WAY_STREAMS,   /* all in one process, each in a stream of its own */
	WAY_SERIAL,    /* all in one process, one step after another */
};

struct share_arm_row {
	const char *name;
	enum share_way way;
	const char *layer;   /* every process is under it; NULL: none */
	const char *keeper;  /* a layer whose one daemon all processes have; NULL: none */
	enum share_arm base; /* what it is held against at the same n; itself: nothing */
	const char *what;    /* a line for people */
};

extern const struct share_arm_row share_arms[ARMS];

/* The arm of that name, or -EINVAL after one line with the nearest. */
int share_arm_find(const char *name);

/* Why it cannot be had here, one line; NULL: it can. Static memory. */
const char *share_arm_missing(enum share_arm arm);

/* ---- the plan --------------------------------------------------------------------------- */

enum {
	SHARE_CLIENTS_MAX = 48,
	SHARE_COUNTS_MAX = 16,
	SHARE_MIX_MAX = 8,
	SHARE_WORDS_MAX = 64,
	SHARE_WINDOWS_MAX = 1000, /* of a set: BOOTSTRAP_N_MAX */
	SHARE_WHY = 420,	  /* room for why something is not run */
};

/* A workload with its parameters; opts are the params'. */
struct share_workload {
	const struct workload *workload;
	struct params params;
	void *opts;
	json_t *words; /* ["launch", "us=0"] */
};

/* From words, the workload's name first. 0, or a negative errno after one line. */
int share_workload_parse(struct share_workload *w, char *const *words, int n);
int share_workload_from_json(struct share_workload *w, const json_t *words);
void share_workload_release(struct share_workload *w);

/* "launch us=0" */
struct text_line share_workload_text(const struct share_workload *w);

/* What one client does to the others, once (share_fault.h). */
enum share_fault { FAULT_NONE, FAULT_CRASH, FAULT_KILL, FAULT_HANG, FAULT_MEMORY, FAULTS };

extern const char *const share_fault_names[]; /* by enum share_fault, then NULL */

struct share_plan {
	struct share_workload mix[SHARE_MIX_MAX]; /* client i has mix[i % mixes] */
	int mixes;
	int clients[SHARE_COUNTS_MAX], counts; /* in ascending order */
	bool arm[ARMS];
	const char *layer_of[SHARE_CLIENTS_MAX]; /* of the command line or the record; NULL */
	enum share_fault fault;
	struct share_allow allow; /* what is tried instead of arms; nothing: arms are compared */
	uint64_t seed;
	double window_s;
	int windows, repetitions; /* windows of each repetition */
	int starts;		  /* of each set; repetition r is of start r % starts */
	const char *mode;	  /* NULL: the workload's first */
	const char *sync;	  /* of sync_names; NULL: sync_default() */
	int64_t depth;		  /* steps before a synchronize */
	json_t *kept;		  /* what strings above belong to, of a plan from a record */
};

int share_plan_windows(const struct share_plan *p); /* of a set */
bool share_plan_has_layers_of(const struct share_plan *p);

json_t *share_plan_json(const struct share_plan *p); /* new reference */
/* 0, or -EINVAL after one line that begins with where. */
int share_plan_parse(struct share_plan *p, const json_t *o, const char *where);
void share_plan_release(struct share_plan *p);

/*
 * With an allowance the sets are the base, which is one client without layers, and clients under
 * the layers. Each start of a set has two windows, by enum timeline_how, so repetitions are starts.
 */
static inline bool share_plan_has_promise(const struct share_plan *p)
{
	return allow_is_given(&p->allow);
}

/* An arm with so many clients. With one client there is a set for each workload of the mix. */
struct share_set {
	enum share_arm arm;
	int n;
	int first; /* client i has mix[(first + i) % mixes] */
};

/* All of a plan in the order of the plan; those of one process alone are always among them. *n:
 * how many. To be freed. */
struct share_set *share_sets(const struct share_plan *p, int *n);

/* A client that waits in another way is another client: "blocking: launch us=0". */
struct text_line share_client_text(const struct share_plan *p, int mix);

/* The order in which they are started for this time: a shuffle by the plan's seed. */
void share_order(const struct share_plan *p, int start, int *order, int n);

/* The index of the workload that a client has. */
int share_client_mix(const struct share_plan *p, const struct share_set *s, int client);

/* ---- what was measured ------------------------------------------------------------------ */

/* Quantiles of a step's time that a window keeps. */
enum { SHARE_QUANTILES = 23 };
extern const double share_quantile[SHARE_QUANTILES];
enum { SHARE_P50 = 10, SHARE_P95 = 19, SHARE_P99 = 21 };

/* A set's lines. */
struct share_measured {
	struct share_set set;
	json_t **window;	 /* [share_plan_windows()]; NULL: not yet */
	json_t *checked;	 /* the line; NULL: not yet */
	json_t *fault;		 /* the line; NULL: none */
	char not_run[SHARE_WHY]; /* why; "": it was, or is still to come */
	bool lost;		 /* not_run, though it was begun */
};

/* A record, or what there is of one so far. */
struct share {
	struct share_plan plan;
	struct share_measured *set;
	int sets;
	json_t *platform;	      /* the line; NULL: not yet */
	json_t *sizes[SHARE_MIX_MAX]; /* lines "size" */
	json_t *memory;		      /* the line, of an allowance of memory; NULL: not yet */
	struct line_file file;
};

bool share_is_cpu(const struct share *s);
const char *share_device(const struct share *s);
bool share_set_is_whole(const struct share *s, const struct share_measured *m);

/* ---- measuring -------------------------------------------------------------------------- */

/*
 * Measures what the record lacks. A client that takes longer than patience_s for what it was told
 * ends its set. Returns 0, or a negative errno after one line; -EINTR.
 */
int share_measure(struct share *s, double patience_s);

/* Steps whose times a window keeps; more are counted alone. */
enum { SHARE_TIMES_MAX = 1 << 18 };

/* What a client did in a window. */
struct share_count {
	int64_t from_ns, to_ns;
	double steps;	  /* whole ones, and the parts of those that cross an end */
	double *times_ns; /* [SHARE_TIMES_MAX]: of a step, of those that ended in the window */
	int64_t n;	  /* of them */
};

/* A block of so many steps, from begun to ended, which may lie outside in part or as a whole. */
void share_count_block(struct share_count *c, int64_t begun_ns, int64_t ended_ns, double depth);

/* The process behind a client (harness/session/worker.h, struct worker_job), and one that only
 * keeps a layer's daemon for others. */
int share_client_work(FILE *out, const json_t *job);
int share_keeper_work(FILE *out, const json_t *job);

/* One that takes memory as it is told (taker.c). */
int share_taker_work(FILE *out, const json_t *job);

/* ---- for people and machines ------------------------------------------------------------ */

/* What the worst served client pays under the best and the worst way of sharing; nothing where that
 * is not known. */
void share_answer_print(const struct share *s, FILE *out);
void share_print(const struct share *s, FILE *out);
json_t *share_json(const struct share *s);
void share_plan_print(const struct share *s, FILE *out); /* a line */
void share_dry_print(const struct share *s, FILE *out);
json_t *share_dry_json(const struct share *s);

#endif
