/* journal_impl.h - what journal.c and journal_read.c share. */
#ifndef RIFT_SWEEP_JOURNAL_IMPL_H
#define RIFT_SWEEP_JOURNAL_IMPL_H

#include "harness/sweep/journal.h"

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
void journal_saw_header(struct journal *j, int slot, json_t *line);
void journal_saw_point(struct journal *j, int slot, int point, const json_t *line);

/* A point's rounds are kept; where the other side of the pair has it too, both values are moved. */
void journal_take_turns(struct journal *j, int slot, int point, const json_t *line);
void journal_pair_turns(struct journal *j, int slot, int point);
void journal_keep_turns(struct journal *j, const bool *stays);
void journal_release_turns(struct journal *j);

/* The median of a point's first n rounds in a slot, ns a block; NAN: none. */
double journal_first_turns_ns(const struct journal *j, int slot, int point, int n);

void journal_saw_trailer(struct journal *j, int slot, const json_t *line);

#endif
