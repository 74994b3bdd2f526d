/*
 * recorded.h - what show, fit, predict, compare and plot share: reading a recorded session, and
 * what it says of where it was measured.
 */
#ifndef RIFT_RECORD_RECORDED_H
#define RIFT_RECORD_RECORDED_H

#include "common/unpacked.h"
#include "harness/record/journal.h"

/* ---- call costs, as rift probe keeps them (harness/probe/costs.h) ------------------------ */

/* Bytes, of what is unpacked: 300 times one of 5 processes. How much of it tells what it is. */
enum { COSTS_BYTES_MAX = 1 << 24, COSTS_HEAD = 1024 };

/* A file that could hold them, plain or compressed with gzip. */
struct costs_file {
	struct unpacked in;
	char head[COSTS_HEAD + 1]; /* how it begins */
	int64_t bytes;		   /* that were read */
};

/*
 * Returns 0, -EFBIG: more than COSTS_BYTES_MAX, or without a line another negative errno. f->in is
 * to be closed in any case.
 */
int costs_open(struct costs_file *f, const char *path);

/* The JSON that it begins with; flags and error are jansson's. NULL: none. */
json_t *costs_parse(struct costs_file *f, size_t flags, json_error_t *error);

/* Why costs_parse() did not see all that it wanted to, as of costs_open(); 0: it did. */
int costs_unread(const struct costs_file *f);

/* A file of one JSON object, its `record` and `schema` among its members; as large as call costs.
 */
struct object_kind {
	const char *name;  /* "grid of probes" */
	const char *maker; /* "rift probe WORKLOAD --output FILE makes one" */
	const char *schema;
	int major;
	bool (*is_named)(const char *record);
	const char *(*damage)(const json_t *o); /* what is wrong with it; NULL: nothing */
};

/* Returns 0 and a new reference, or NULL and a negative errno after one line. */
int object_read(json_t **out, const char *path, const struct object_kind *kind);

/* Is this what their `record` says? Files of schema 1 call them a card. */
bool costs_is_named(const char *record);

/* Does this file begin like one of them? No word of anything else that it may be, or lack. */
bool costs_is(const char *path);

/* The same of grids of probes (harness/probe/grid.h). */
bool grid_is_named(const char *record);
bool grid_is(const char *path);

/* And of warm-up curves (harness/probe/warmup.h). */
bool warmup_is_named(const char *record);
bool warmup_is(const char *path);

/* ---- sessions --------------------------------------------------------------------------- */

/*
 * Reads it after `rift show --check` has found nothing wrong with it, and refuses what is not
 * whole: a session under way, one that ended too soon, a file whose end was cut off. Returns 0;
 * -EPROTONOSUPPORT after one line for another major version of the schema; or another negative
 * errno after one line. *j may be released after a failure too.
 *
 * sync: the wait policy that --sync names, or NULL. A session that was swept with several has
 * to be told which, and is read as if it had been swept with that alone: points of different
 * policies are different points. One that was swept with another alone is refused.
 */
int session_read(struct journal *j, const char *path, const char *sync);

/*
 * A session as the command line names it: FILE, or FILE:a or FILE:b for a side of one that has two
 * (rift sweep --against). A file whose whole name ends so is taken as it is; where FILE is there as
 * well, the name says nothing clear and is refused.
 */
struct session_arg {
	const char *option; /* that names it, "--on"; NULL: a word, which --side is for as well */
	const char *word;
	int side; /* what --side says; SIDE_ANY: not given */
};

enum { SIDE_ANY = -1 };

/* "a" or "b", as --side takes them: 0 and *side, or -EINVAL after one line. */
int session_side_parse(const char *text, int *side);

/*
 * session_read() of what the argument names. *side: the one that is named, 0 of a session with one
 * side, SIDE_ANY where it has two and none is named. Side b of a session with one is refused.
 */
int session_read_any(struct journal *j, const struct session_arg *arg, const char *sync, int *side);

/* The same where it has to be one side: of two, one has to be named. */
int session_read_side(struct journal *j, const struct session_arg *arg, const char *sync,
		      int *side);

/*
 * Has a session that was read otherwise the side that the argument names? *side as above, after
 * session_word_parse(). 0, or -EINVAL after one line.
 */
int session_side_check(const struct journal *j, const struct session_arg *arg, int *side);

/* The same where it has to be one side. */
int session_side_one(const struct journal *j, const struct session_arg *arg, int *side);

/* For the file alone: FILE of the word, to be freed, and the side that it ends with. */
int session_word_parse(const struct session_arg *arg, char **path, int *side);

/* Is this the name of a wait policy? 0, or -EINVAL after one line. */
int session_sync_check(const char *sync);

/* What a side ran on, for people: "NVIDIA H200 (kvm-guest)"; "unknown device" without a header. */
void session_platform(const struct journal *j, int side, char *out, size_t size);

/* Was this side measured on the CPU device? */
bool session_is_cpu(const struct journal *j, int side);

#define CPU_DEVICE "CPU device"

/* The model of a side's device, or CPU_DEVICE; "": the session does not say. */
const char *session_device(const struct journal *j, int side);

/* Are these two sessions one, read twice or copied? */
bool session_same(const struct journal *a, const struct journal *b);

#endif
