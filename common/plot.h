/*
 * plot.h - a picture before it is drawn: data files in a folder, a gnuplot script that comes with
 * rift, and values and texts for it. What describes the picture fills this in (a workload's hook
 * plot); harness/base/picture.h draws it.
 */
#ifndef RIFT_PLOT_H
#define RIFT_PLOT_H

#include <stdio.h>

#include "common/output.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PLOT_FILES_MAX = 8, PLOT_NAME_BYTES = 64, PLOT_SAYS_BYTES = 640 };

struct plot {
	const char *folder; /* exists; without a slash at its end */
	const char *name;   /* NAME.png and NAME.svg come of NAME.gp; data files are NAME-... */
	const char *device; /* what computed the data: belongs into every picture */
	const char *script; /* to be set: path in the source tree, "workloads/mlp/plot.gp" */
	const char *option; /* that named the folder, for messages: "--plot" if not set otherwise */

	/* by the functions below */
	int files;
	char file[PLOT_FILES_MAX][PLOT_NAME_BYTES]; /* data files, by their names in the folder */
	char *values; /* assignments in gnuplot's language, once closed; NULL: no memory stream */
	size_t size;
	FILE *out;
	char says[PLOT_SAYS_BYTES]; /* title and finding, for those who do not see the picture */
};

/*
 * Copies the three pointers, not what they point to. name and device are the script's variables of
 * these names.
 */
void plot_begin(struct plot *p, const char *folder, const char *name, const char *device);

/* Frees everything; also on a zeroed struct. */
void plot_end(struct plot *p);

/*
 * Opens the data file NAME-SUFFIX, say "-cells.csv", and puts it on the list. Its name is the
 * script's string variable `variable`. Returns what output_open() does.
 */
int plot_open(struct plot *p, const char *variable, const char *suffix, struct output *out);

/*
 * Variables of the script. A number that is not finite becomes gnuplot's NaN. Texts are taken as
 * they are, quotes and all; control characters become '?' (common/escape.h). Where they are shown,
 * the script should say noenhanced. Of those that are called title, title1, ... and finding,
 * p->says has the first ones.
 */
void plot_number(struct plot *p, const char *variable, double value);
void plot_count(struct plot *p, const char *variable, long value);
void plot_text(struct plot *p, const char *variable, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#ifdef __cplusplus
}
#endif
#endif
