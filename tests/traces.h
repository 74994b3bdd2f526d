/* traces.h - traces as tests read them: rows, and what repeats unfolded. */
#ifndef RIFT_TESTS_TRACES_H
#define RIFT_TESTS_TRACES_H

#include <jansson.h>
#include <stdint.h>

/* The rows of a file; fails the test where a line is no JSON. The caller releases it. */
json_t *traced_rows(const char *path);

/* Rows of that record, or all with NULL, for which `key`, where not NULL, is `text`. */
size_t trace_count(const json_t *rows, const char *record, const char *key, const char *text);

/* The first of them; fails the test where there is none. */
const json_t *trace_row(const json_t *rows, const char *record, const char *key, const char *text);

int64_t trace_int(const json_t *row, const char *key); /* 0 where it is missing */

/* What a row's "name" is; "" without one. */
const char *traced_name(const json_t *rows, const json_t *row);

/*
 * What a thread called, in order, folds unfolded: {class, name, stream, event, recording, bytes,
 * op: {kind, name, bytes}} as an array. The caller releases it.
 */
json_t *trace_calls(const json_t *rows, int64_t thread);

/* Calls and their operations of that class in all threads, folds unfolded. */
int64_t trace_calls_of(const json_t *rows, const char *class);
int64_t trace_ops_of(const json_t *rows, const char *kind);

/* The fold of the most calls, *threads: of how many threads they are; NULL: there is no fold. */
const json_t *trace_longest_fold(const json_t *rows, int *threads);

/*
 * Fails where rows break a rule of the format: ids before they are defined, calls of a thread that
 * overlap, operations of a stream that do, or that start before their call; counts of an "end"
 * that are not the rows'.
 */
void trace_judge(const json_t *rows);

#endif
