/* journal_impl.h - what session_file.c and session_data.c share. */
#ifndef RIFT_RECORD_JOURNAL_IMPL_H
#define RIFT_RECORD_JOURNAL_IMPL_H

#include "harness/record/journal.h"

enum { JOURNAL_NAME = 4200 };

void *journal_zeroed(size_t n, size_t size);
void journal_name(const struct journal *j, const char *suffix, char out[JOURNAL_NAME]);
void journal_allocate(struct journal *j);
void journal_forget_visits(struct journal *j, int side);

/* Is NAME.jsonl.part the file that is open? 0, or -ESTALE after one line. */
int journal_check_part(const struct journal *j);

/* "2026-11-21T14:30:00Z". New reference. */
json_t *journal_now_utc(void);

/* What a line says, whether just written or read back. */
void journal_apply_header(struct journal *j, int replicate, json_t *line);
void journal_apply_point(struct journal *j, int replicate, int point, const json_t *line);

/* ---- turns.c ---------------------------------------------------------------------------- */

/* A point's rounds are kept ... */
void journal_take_turns(struct journal *j, int replicate, int point, const json_t *line);

/* ... where the other side of the pair has it too, both process values are moved ... */
void journal_pair_turns(struct journal *j, int replicate, int point);

/* ... and only those of the points that stay. */
void journal_keep_turns(struct journal *j, const bool *stays);

void journal_release_turns(struct journal *j);

/*
 * What the ratio of a pair at a point comes from: the replicate's times in the round, or the two,
 * whose ratio b / a is the median over the rounds. series: enum turn. Returns how many; 0: no pair.
 */
int journal_middle_turns(const struct journal *j, int replicate, int point, int series,
			 double ns[2]);

/* The point of a key, or of the first digits of one; -1: none. */
int journal_point_of(const struct journal *j, const char *key);

/* The median of a point's first n rounds in a replicate, ns a block; NAN: none. */
double journal_first_turns_ns(const struct journal *j, int replicate, int point, int n);

void journal_apply_trailer(struct journal *j, int replicate, const json_t *line);

#endif
