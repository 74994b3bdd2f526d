/* members.h - rows of JSON of which one member at a time is something else. */
#ifndef RIFT_TESTS_MEMBERS_H
#define RIFT_TESTS_MEMBERS_H

#include <jansson.h>

/* As the text says, in which ' is a quotation mark. The caller releases it. */
json_t *member_row(const char *text);

/* A line each. */
void members_write(const char *path, json_t *const row[], int n);

/*
 * For each member of each row, and each in it, of lists the first two: is null; of a whole number
 * -1, 0, one more and 2^54; else "?" and true. `looks` is called each time, with words for what was
 * changed: "2: call t0 = -1".
 */
void each_member(json_t *const row[], int n, void (*looks)(const char *what));

/*
 * What `reads` prints to `out` and to stderr, as a text that the caller frees. It returns an error
 * or 0.
 */
char *members_said(int (*reads)(FILE *out));

#endif
