/*
 * worker.h - the process that measures: one fresh one for each replicate.
 *
 * It reads its job, one JSON object, from stdin, and writes what it finds to stdout, a JSON
 * object a line; the supervisor (supervisor.h) writes the files. So a worker needs nothing but its
 * binary: it may run behind any command that passes stdin and stdout on.
 *
 *   job     {job: "probe"|"measure", plan, process, side, sync, done: [[point, round]...],
 *           skip: [point...], canary_ns, check_all, probe_limit_ns, probe_smallest, takes_turns,
 *           alone, digests, started: {boot_id, at_ns}}
 *           takes_turns: it waits for a line before whatever takes the device's time; alone: the
 *           points of its first configuration so many times before the other side starts;
 *           digests: {KEY: SHA-256} of files that other processes have read (child.h);
 *           started: when the supervisor set about starting it, by clock_ns() of that boot
 *   lines   {record: "phase", phase}, {record: "setup", config}, {record: "begin", point, round}
 *           before what may hang; {record: "turn", turn: [configuration's place, round, place],
 * config} before it waits, and what it will do then (worker_await_turn()); {record: "probe",
 * config, ...}; {record: "calibrated", calibrate_ns}; {record: "warmed",
 * warmup_ns}; {record: "header", ...}; {record: "digests",
 * digests} (child.h); {record: "alone", point, round, t_total_ns}; {record: "visit", point, round,
 * ...}; {record: "failed", point, code}; {record: "refused", point, error: {call, name,
 *           file_line}}; {record: "bye", ...} when all is done, or, with left: true, what a fresh
 *           process is to go on with
 */
#ifndef RIFT_SESSION_WORKER_H
#define RIFT_SESSION_WORKER_H

#include <stdio.h>

#include "common/refusal.h"
#include "harness/measure/plan.h"
#include "harness/session/calibrate.h"
#include "harness/session/visit.h"

enum { CHECK_SEED = 1 };

struct worker {
	struct plan plan;
	int process, side;
	enum wait_policy sync;	/* how it waits for blocks */
	bool check_all;		/* check every point; else as long as the budget lasts */
	bool takes_turns;	/* with the other side's worker */
	int alone;		/* rounds before the other side starts */
	int turn;		/* the place that its configuration has in the process */
	int turn_config;	/* which one that is */
	double canary_ref_ns;	/* of earlier processes; NAN: none */
	double sentinel_ns;	/* launch and synchronize before the first set-up; 0: not timed */
	json_t *sentinels;	/* the same with each configuration, and after it; NULL: none yet */
	bool left;		/* it ends before all is measured: its sentinel has changed */
	int64_t probe_limit_ns; /* of a probe: beyond that only the smallest sizes are set up */
	bool probe_smallest;	/* of a probe: of each workload its first configuration alone */
	bool *skip;		/* a point: not to be measured */
	bool *done;		/* [point * rounds + round] */
	FILE *out;
	cudaStream_t stream;
	struct canary canary;
	struct calibration calibration;
	struct warm warm;
	struct instance *instance; /* a configuration; state NULL: not set up; one at a time is */
	struct prepared *prepared; /* a point */
	int pinned;
	double process_ns;	      /* from `started` to this process's first line; NAN */
	double device_ns;	      /* from then on, to open the device */
	int64_t blocks_ns, checks_ns; /* spent so far */
	int64_t spare_ns;	      /* of checks_ns: in checks that were not due */
	double visited_ns;	      /* what the visits so far should have taken */
	struct visit visit;
};

/* A job that is neither a session's nor a handshake: what does it, by the name that it has. */
struct worker_job {
	const char *name;
	int (*work)(FILE *out, const json_t *job);
};

/* The process behind `rift sweep`, whose job comes from stdin; others ends with name NULL. */
int worker_main(const struct worker_job *others);

/* A job of its kind: tries small sizes. Returns 0, -EINTR, or what cannot be gone on from. */
int worker_probe(struct worker *w);

/* Writes a line and drops the reference. */
void worker_send(struct worker *w, json_t *o);

/*
 * Waits until it is this worker's turn to use the device, where it takes turns with another: it
 * sleeps in read(). What comes next is told by its round and its place there; the set-up of a
 * configuration comes before all rounds, then those alone, what gives it back after all. Returns 0,
 * or -EINTR.
 */
enum { TURN_SET_UP = -2, TURN_ALONE = -1, TURN_PUT_AWAY = ROUNDS_MAX };
int worker_await_turn(struct worker *w, int round, int place);

/* Says what it is about to do, before a call that may hang: "opening the device". */
void worker_phase(struct worker *w, const char *name);

/* The hook of this point failed with err, after its line on stderr: the point is left out. */
void worker_report_point_failed(struct worker *w, int point, int err);

/*
 * The platform lacks what this point needs: it is left out, and so is every other one of the same
 * configuration and mode.
 */
void worker_refused(struct worker *w, int point, const struct refusal *r);

/* -EINTR comes back; what else is not 0 costs the point, by one of the two above. */
int worker_lose(struct worker *w, int point, int err, const struct refusal *r);

#endif
