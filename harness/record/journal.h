/*
 * journal.h - the files of one session, and what is known from them.
 *
 *   NAME.jsonl.part     plan, then for each process header, points, trailer; only grows; locked by
 *                       who writes (lock_take())
 *   NAME.jsonl.visits   the visits of the processes under way, one a side; emptied when they are
 *                       complete
 *   NAME.jsonl.lock     who writes, for messages
 *   NAME.jsonl          the .part, renamed, when the session is complete
 *
 * A process has a number among those of its platform (side 0 is this command itself, side 1 what
 * --against names); replicate = side * processes + process.
 */
#ifndef RIFT_RECORD_JOURNAL_H
#define RIFT_RECORD_JOURNAL_H

#include "harness/measure/plan.h"
#include "harness/record/record.h"

/* ---- one session, one writer ------------------------------------------------------------ */

/*
 * The lock is the kernel's (fcntl, F_OFD_SETLK), on NAME.jsonl.part. It is held as long as that
 * file is open for writing and goes with its process, whatever ends it: no reboot and no PID
 * namespace makes it look stale or free. NAME.jsonl.lock has the pid, start and boot of the holder.
 * It is a note for messages, with two exceptions: a file system without such locks, and a session
 * that an older rift writes, which takes none. There a note whose process lives counts as the lock.
 */

struct lock {
	char *note; /* NULL: there is none to remove */
};

/*
 * Locks the file behind fd, PATH.part open for writing, and writes PATH.lock. A note that somebody
 * left who is gone is replaced. Where the file system has no locks, one line says so and the note
 * alone must do. Returns 0, -EBUSY after one line that names the holder, or another errno after
 * one. The lock goes when fd is closed.
 */
int lock_take(struct lock *l, int fd, const char *path);

/* Removes the note, before fd is closed: the next holder's must stay. */
void lock_release(struct lock *l);

/* ---- a session -------------------------------------------------------------------------- */

/*
 * A launch and a synchronize with nothing set up, and with a configuration set up that did nothing:
 * a layer may charge a synchronize for what is held.
 */
struct held {
	char key[HASH_TEXT]; /* of a point of the configuration; "": none was recorded */
	double before_ns, set_up_ns;
};

enum point_status {
	POINT_PENDING,
	POINT_OK,
	POINT_CHECK_FAILED,
	POINT_FAILED,
	POINT_SKIPPED,
	POINT_NOT_SUPPORTED, /* the platform lacks a call that it needs */
};

struct journal {
	struct plan plan;
	int sides;
	char *against; /* NULL: one side */
	char *argv;    /* what the user typed, of a session that was read; NULL: not recorded */
	char session_id[17];
	char plan_hash[HASH_TEXT];
	char *path; /* NAME.jsonl */
	struct lock lock;
	struct record_file part, visits;

	int replicates;
	/* what is known of replicates; journal_view() copies it row by row */
	unsigned char *status; /* [replicate * points + point], enum point_status */
	/*
	 * The same: process values, medians over the blocks. For a pair that took turns they are
	 * moved so that b over a is the median of the ratios of the turns.
	 */
	double *total_ns, *enq_ns;
	double *company;  /* a replicate: in company over alone (company.h); NAN: not known */
	double *alone_ns; /* [replicate * points + point]: a block of it, alone; NAN: not known */
	double **turns; /* of a replicate: medians of its rounds (session_data.c); NULL: none yet */
	double *launches;    /* [point]: of a step, as the last record says; 0: none did */
	struct cost *step;   /* the same: launches, copies, allocations; launches NAN: none */
	bool *noisy;	     /* the same: what disturbed the blocks moved it (trust.h) */
	bool *complete;	     /* a replicate */
	int *attempts;	     /* a replicate: headers written */
	int looks;	     /* interim analyses, as its last trailer with one says; 0: none did */
	double *canary_ns;   /* a replicate: median of its header; NAN: none */
	double *startup_ns;  /* a replicate: startup of its first header; NAN: not known */
	struct held held[2]; /* of a side: where it took longest */
	double host_ns[2]; /* host canaries: the shortest and the longest median of a point; 0: none
			    */
	double drift_ns[2][2]; /* of a side: canaries of its current process, first and last */
	json_t *layers[2]; /* of a side: what its layers had to say at the end of its last process
			    */
	double drift_most[2]; /* of a side: canary_drift of the trailer that is furthest from 0 */
	int *failures;	      /* [replicate * points + point]: times a worker was lost at it */
	json_t *header[2];    /* the first of each side */
	json_t *of_policy[2][SYNC_COUNT]; /* the first of each side and wait policy */
	json_t *refused[2];	/* of a side: "POINT" (its number) -> error of its record */
	json_t **visit[2];	/* of a side: [point * rounds + round] of its replicate under way */
	int visits_capacity;	/* how many there can be of each */
	int visit_replicate[2]; /* of a side: whose they are; -1: nobody's */
	bool torn;		/* a torn last line was dropped */
	int visits_dropped;	/* visits that were damaged: they are measured again */
	bool moved;		/* its name was taken at the end: path is another one */
};

/* How each begins: no file is open, no visits are anybody's. It may be released. */
#define JOURNAL_NONE                                                                               \
	((struct journal){ .part.fd = -1, .visits.fd = -1, .visit_replicate = { -1, -1 } })

/* A new session: takes the lock, writes the plan. argv_text is what the user typed. */
int journal_create(struct journal *j, struct plan *plan, const char *path, const char *against,
		   const char *argv_text);

/*
 * Refuses a path where a session is or was, where none could be written, or a link that leads
 * nowhere; with one line.
 */
int journal_refuse(const char *path);

/*
 * One to go on with, by its .jsonl, .part or .visits name. What `rift show --check` would refuse in
 * the .part is refused, -EINVAL; in the .visits it is dropped, and measured again.
 */
int journal_open(struct journal *j, const char *path);

/*
 * Reads a complete session or one under way, without taking its lock and without writing. Returns
 * 0, or a negative errno after one line. *j may be released after a failure too.
 */
int journal_read(struct journal *j, const char *path);

/*
 * What journal_read() does with a line, for who reads the file himself: *j is JOURNAL_NONE before
 * the first. Returns 0, or a negative errno after one line.
 */
int journal_take_line(struct journal *j, const json_t *o, const struct record_scan *scan);

/* Processes that each side has completed, 1 or more. */
int journal_processes(const struct journal *j);

/* How many interim analyses could end it (design_looks()); 1: its processes were a fixed number. */
int journal_looks(const struct journal *j);

/* The group of draws (harness/stats/bootstrap.h) that a side's processes have: pairs share one. */
uint32_t journal_draw_group(const struct journal *j, int side);

/* Slots in the order in which they run: ABBA for two sides. */
int journal_replicate(const struct journal *j, int i);
const char *journal_side_name(int side);
int journal_side(const struct journal *j, int replicate);

/*
 * The wait policy of a replicate's i-th operating-system process, i below plan_policies(): in the
 * plan's order and, in every other process of a side, backwards, so that a drift hits all alike.
 */
enum wait_policy journal_policy(const struct journal *j, int replicate, int i);

/*
 * Leaves the points of one policy of several: the session is then as if it had been swept with that
 * policy alone. The session was read, not begun; nothing can be written to it any more.
 */
void journal_keep_policy(struct journal *j, enum wait_policy policy);

/*
 * The session is from here on one without the points that do not stay (stays[point]); those that do
 * have new numbers. journal_drop() is for a session that is being written: its file says so, with
 * `why`, an object whose reference it drops. Returns 0 or a negative errno after one line.
 */
void journal_keep_points(struct journal *j, const bool *stays);
int journal_drop(struct journal *j, const bool *stays, json_t *why);

/* Makes `replicate` the one of its side whose visits are kept; forgets those of another. */
int journal_begin(struct journal *j, int replicate);

/* Each writes a line; they drop the reference of o. Returns 0 or a negative errno after one line.
 */
int journal_header(struct journal *j, int replicate, json_t *o);
int journal_visit(struct journal *j, int replicate, int point, int round, json_t *o);
/* A worker was lost at this point, or its hook failed: final, or to be tried again. */
int journal_failure(struct journal *j, int replicate, int point, const char *status, json_t *error,
		    bool final);
int journal_trailer(struct journal *j, int replicate, json_t *bye);

/* A point's visits by the replicate of its side that is under way, of each round; NULL: missing. */
json_t **journal_visits(const struct journal *j, int replicate, int point);

/* The visits of a point are complete: its record. */
int journal_point(struct journal *j, int replicate, int point);

/* Median of the canaries of a side's processes so far; NAN: none. */
double journal_canary_ns(const struct journal *j, int side);

/* Has this point ended two workers in one process of this replicate's side? */
bool journal_is_deadly(const struct journal *j, int replicate, int point);

/* Why a point is not supported on this replicate's side, {call, name, ...}; NULL: nothing said so.
 */
const json_t *journal_refusal(const struct journal *j, int replicate, int point);

int journal_count(const struct journal *j, enum point_status status);
/* Points and processes without a result that did not fail their check. */
int journal_count_failed(const struct journal *j);

/*
 * Renames the .part, and removes the files beside it. Replaces nothing: where something has come
 * to be under the name, the record is kept as output_rename_new() says, and one line names it.
 * Returns 0 or a negative errno after one line.
 */
int journal_finish(struct journal *j);

/* Removes the files of a session under way. */
void journal_discard(struct journal *j);

void journal_release(struct journal *j);

/* ---- a part of one ---------------------------------------------------------------------- */

/*
 * Some processes of one side of a session, as if they were a session of their own
 * with one side: what is written for a session then also serves for a half of it.
 */

/*
 * process[k] of that side becomes process k of side a; n of them, all complete. Plan and header are
 * those of j, which must live as long; nothing can be written to a view.
 */
void journal_view(struct journal *out, const struct journal *j, int side, const int *process,
		  int n);

/* Not journal_release(): a view owns little of what it shows. */
void journal_view_release(struct journal *view);

#endif
