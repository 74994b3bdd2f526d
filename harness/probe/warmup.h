/*
 * warmup.h - the warm-up curve: what each block takes, from the very first on.
 *
 * Each curve is of one of three beginnings:
 *
 *   rested     a fresh process, after the device has idled
 *   resumed    the same process, which has run, after the device has idled as long again
 *   following  a fresh process, at once after another one has kept the device busy
 *
 * What a first block takes more than a later one is then of the process (code that is loaded
 * lazily, memory that is touched first) where `following` has it, and of the device's state (its
 * clock, its caches) where `resumed` has it.
 *
 * A warm-up file is one JSON object. Its fields are those of a session's header (docs/records.md),
 * and:
 *
 *   record, schema    "warmup_curves", WARMUP_SCHEMA; another major version is refused
 *   workload, params  and the parameters that were given, "name=value"
 *   mode, sync, processes, rest_s, seconds
 *   device            as in a costs file (harness/probe/costs.h)
 *   curves[]          process, depth, beginning; start_ns, setup_ns, prepare_ns (of its process:
 *                     to the set-up, the set-up, what makes graphs); begin_ns[], enq_ns[],
 *                     total_ns[] of the first blocks, by the clock from the first one on; bins: of
 *                     later ones first[], n[], begin_ns[], and the medians median_ns[]; samples:
 *                     at_ns[], host_canary_ns[], canary_ns[], sm_clock_mhz[] (by the canary; null
 *                     on the CPU device); gpu: what NVML says (watch_take() in watch.h);
 *                     check: passed, error
 */
#ifndef RIFT_PROBE_WARMUP_H
#define RIFT_PROBE_WARMUP_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "harness/measure/wait.h"
#include "harness/stats/bootstrap.h"

#define WARMUP_SCHEMA "1.0"
enum { WARMUP_SCHEMA_MAJOR = 1, WARMUP_DEPTHS_MAX = 8, WARMUP_PROCESSES_MAX = 100 };

enum beginning { BEGIN_RESTED, BEGIN_RESUMED, BEGIN_FOLLOWING, BEGINNINGS };

/* "rested", ... */
extern const char *const beginning_names[];

/* ---- taking curves (warmup_take.c) --------------------------------------------------------- */

struct warmup_request {
	const struct workload *workload;
	char *const *words; /* "name=value" */
	int n_words;
	bool mode_given;
	enum mode mode; /* by warmup_check() where it is not given */
	int64_t depth[WARMUP_DEPTHS_MAX];
	int depths;
	int processes;
	double rest_s, seconds; /* of idling; of each curve */
	enum wait_policy sync;
	const char *platform; /* as declared, or NULL */
	bool host_name;
	double patience_s;
};

/* 0, or -EINVAL after one line: what the workload refuses. Before anything is started. */
int warmup_check(struct warmup_request *r);

/*
 * Starts the processes one after the other. Returns 0 and a new reference in *curves, or a negative
 * errno after one line (-EINTR: none).
 */
int warmup_take(const struct warmup_request *r, json_t **curves);

/* What a process does (harness/probe/warmup_process.c): lines to out. Returns 0, or -errno. */
int warmup_work(FILE *out, const json_t *job);

/* ---- reading them (warmup.c) --------------------------------------------------------------- */

/* Returns 0 and a new reference, or a negative errno after one line. */
int warmup_read(const char *path, json_t **curves);

/* A curve as numbers: blocks, then bins. */
struct curve {
	int n, raw;	  /* of these, single blocks */
	double *begin_ns; /* owned */
	double *total_ns; /* of a block; of a bin the median */
	double depth;
	double *enq_ns; /* owned: what the launch calls of a single block took; NULL: not known */
};

void curve_init(struct curve *c, const json_t *curve);
void curve_release(struct curve *c);

struct curve_facts {
	double first_ns, steady_ns; /* a step: of the first block; median of the last quarter */
	double settled_block, settled_ns; /* from where on three in a row are within 5 % */
	/*
	 * What rift's own warm-up would do: blocks that it would leave out, and the median of those
	 * that it would then time over steady_ns.
	 */
	double warmup_blocks, after_warmup;
	/*
	 * Launch calls of a block, all of them, and the rest of it: of the first block, as the
	 * median of the last quarter of the single blocks, and how much more the first has.
	 */
	double call_first_ns, call_later_ns, call_more_ns;
	double rest_first_ns, rest_later_ns, rest_more_ns;
	/* A step of blocks that begin 1 to 10 ms after the first, and in the last second. */
	double early_ns, late_ns, late_over_early;
};

void curve_facts(struct curve_facts *out, const struct curve *c);

/* Facts over processes. */
struct warmup_row {
	int64_t depth;
	enum beginning beginning;
	int n; /* processes */
	struct interval first_ns, steady_ns, ratio, settled_block, settled_ns, warmup_blocks,
		after_warmup;
	struct interval call_first_ns, call_later_ns, call_more_ns, rest_first_ns, rest_later_ns,
		rest_more_ns, early_ns, late_ns, late_over_early;
};

/* Depth by depth; at most WARMUP_DEPTHS_MAX * BEGINNINGS. Returns how many. */
int warmup_rows(struct warmup_row *row, const json_t *curves);

/* Did some check fail? */
bool warmup_check_failed(const json_t *curves);

bool warmup_is_cpu(const json_t *curves);

/* ---- showing them (warmup_show.c) ---------------------------------------------------------- */

void warmup_print(const json_t *curves, FILE *out);

#endif
