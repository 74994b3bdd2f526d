/* check_session.h - do the records of a session agree with its plan and with each other? */
#ifndef RIFT_SWEEP_CHECK_SESSION_H
#define RIFT_SWEEP_CHECK_SESSION_H

#include <jansson.h>
#include <stdbool.h>

#include "harness/sweep/hash.h"

/* What is known of one process. */
struct checked_process {
	int ok, other; /* points with status ok; with another */
	bool complete; /* it has its trailer */
};

struct checked_session {
	char id[32], plan_hash[HASH_TEXT];
	int sides, processes;		 /* of each side, as planned */
	int points, rounds;		 /* of the plan; points less those of a record `fewer` */
	struct checked_process *process; /* [side * processes + process_index] */
	json_t *seen;			 /* "slot key" of each point -> true */
};

/*
 * Each returns NULL, or what is wrong with the record in a few words. The records have the fields
 * and kinds that RECORDS.md says. *s is zeroed before the plan; release it after a failure too.
 */
const char *session_check_plan(struct checked_session *s, const json_t *record);
const char *session_check_header(struct checked_session *s, const json_t *record);
const char *session_check_point(struct checked_session *s, const json_t *record);
const char *session_check_fewer(struct checked_session *s, const json_t *record);
const char *session_check_trailer(struct checked_session *s, const json_t *record);

void session_check_release(struct checked_session *s);

#endif
