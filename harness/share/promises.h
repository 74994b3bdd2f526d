/* promises.h - what was asked for against what clients got: one record of `rift share --allow`, or
 * several, as of limits of 25, 50 and 75 %. */
#ifndef RIFT_SHARE_PROMISES_H
#define RIFT_SHARE_PROMISES_H

#include "harness/base/picture.h"
#include "harness/share/promise.h"

enum { PROMISES_MAX = 64 };

struct promises {
	struct share record[PROMISES_MAX];
	struct promise found[PROMISES_MAX];
	int records;
};

/* Is this record one of --allow? False, too, where it cannot be read, without a line. */
bool promises_are_in(const char *path);

/* Reads all. 0, or a negative errno after one line. promises_release() follows in any case. */
int promises_read(struct promises *p, char *const *paths, int n);
void promises_release(struct promises *p);

void promises_print(const void *promises, FILE *out);
json_t *promises_json(const void *promises);

/* The first of 1, 2 and 0 that some record has. */
int promises_exit_code(const struct promises *p);

/*
 * The data of a chart in the folder, which is there, and its script: share asked for against share
 * got. picture_draw() draws it. 0, or a negative errno after one line: no record has shares, a file
 * cannot be written. picture_release() follows in any case.
 */
int promises_chart_write(struct picture *picture, const struct promises *p, const char *folder);

#endif
