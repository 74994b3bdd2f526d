/* child.h - a worker process seen from outside: started, read line by line, ended. */
#ifndef RIFT_SESSION_CHILD_H
#define RIFT_SESSION_CHILD_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

/* Bytes that came and are not yet a whole line. */
struct lines {
	int fd; /* -1: ended */
	char *bytes;
	size_t n, size;
};

/* What a worker is still to read on its stdin. */
struct feed {
	int fd; /* -1: it was given a file, or has ended */
	char *bytes;
	size_t n, sent;
};

struct child {
	pid_t pid; /* 0: none */
	struct lines out, err;
	struct feed in;	      /* of one that takes turns */
	char last_error[320]; /* the last line on its stderr */
	int status;	      /* of waitpid(), once ended */
	char phase[72];	      /* what it said that it would do next: "opening the device" */
};

/* How long a worker may take for a phase, s, where nothing foretells more: `--patience`. */
enum { PATIENCE_S = 30 };

/* How many workers can be alive together: one of each side. */
enum { CHILDREN_MAX = 2 };

/* How many child_wait() takes. */
enum { CHILDREN_WAITED_MAX = 64 };

/* The phase that lasts as long as the plan's warm-up and its longest block say. */
static const char phase_warm_up[] = "warming up";

/* {record: "phase", phase: NAME}: what a worker says before a call that may hang. New reference. */
json_t *child_phase_json(const char *name);

/*
 * {record: "digests", digests: {KEY: SHA-256}}: the large files that a worker has read
 * (common/digest.h). child_read() takes such a line itself, and whoever child_start() starts then
 * is told in its job, so that no two processes of a command read the same library. New reference.
 */
json_t *child_digests_json(void);

/* What a job or such a line says of digests is known from here on. */
void child_know_digests(const json_t *o);

/* None is running. */
struct child child_none(void);

/*
 * Starts this same binary as a worker, in a process group of its own, with the job as its stdin;
 * prefix, where not NULL, is a shell command that the worker's command line is put behind. The
 * worker ends when this process does. takes_turns: its stdin stays open behind the job, for
 * child_go(). Returns 0, or a negative errno after one line.
 */
int child_start(struct child *c, const json_t *job, const char *prefix, bool takes_turns);

/* It is its turn: a line on its stdin. */
void child_go(struct child *c);

/* Any other line for one that takes turns; text ends with a newline. */
void child_tell(struct child *c, const char *text);

/*
 * Takes what has come: calls each() with every whole line of stdout, and err_line() with those of
 * stderr, and keeps c->phase and digests. Returns 0, or what each() returned as soon as that is not
 * 0. Waits for nothing.
 */
int child_read(struct child *c, int (*each)(const json_t *o, void *arg),
	       void (*err_line)(const char *line, void *arg), void *arg);

/* Waits until one of them has written something or ended, at most so long. */
void child_wait(struct child *c[], int n, int ms);

/* Has it ended, and was all that it wrote read? Then status is set. */
bool child_ended(struct child *c);

void child_signal(struct child *c, int signal_number);

/* Asks it to end, kills it after wait_s seconds, waits. What it wrote can still be read. */
void child_stop(struct child *c, double wait_s);

/* Kills it if it runs, and frees everything. */
void child_release(struct child *c);

/* What its exit code means, after its own line: -ENODEV, -ENOSYS, -EINVAL; 0: it says nothing. */
int child_errno(const struct child *c);

/* "was killed by signal 9 (Killed)", "ended with exit code 3" */
void child_describe(const struct child *c, char *out, size_t size);

/* ---- why a point has no result: the `error` object of its record ------------------------ */

/* {code, name, call, file_line}; text: the complaint, "" none. New references. */
json_t *failure_of_hook(int code, const char *text);

/* The failure of a worker that ended or was killed; a last line from die_at() is taken apart. */
json_t *failure_of_worker(const struct child *c, bool hung);

#endif
