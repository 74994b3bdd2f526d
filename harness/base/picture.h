/*
 * picture.h - draws what a struct plot describes: NAME.png and NAME.svg in its folder, beside the
 * data files and NAME.gp, the script, which draws them again by hand.
 *
 * NAME.gp is whole in itself: values, plots/style.gp, and the picture's own script one after the
 * other. What such a script can rely on is said in plots/style.gp.
 */
#ifndef RIFT_BASE_PICTURE_H
#define RIFT_BASE_PICTURE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "common/plot.h"
#include "harness/base/gnuplot.h"

/* Where pictures go by default, from the folder rift is started in. */
#define PICTURE_FOLDER "results/plots"

struct picture {
	struct plot plot;	   /* plot.files: data files that are complete */
	bool asked;		   /* else everything is zero */
	bool written;		   /* NAME.gp is there */
	bool drawn;		   /* NAME.png and NAME.svg too */
	struct gnuplot_words said; /* by gnuplot while drawing: warnings */
};

/*
 * Makes the folder and those above it. Returns 0, or an errno after one line where it cannot be
 * made or written to. label is the option's, for the message.
 */
int picture_folder(const char *label, const char *folder);

/* Writes the script alone, if it is not written. Returns 0 or a negative errno after one line. */
int picture_write(struct picture *p);

/*
 * Draws p->plot, whose data files are complete; writes the script if it is not written. Pictures
 * appear whole or not at all; ones that were there stay until then. Returns 0 or a negative errno
 * after one line; of gnuplot_run() among others.
 */
int picture_draw(struct picture *p);

/* Frees what it holds; also on a zeroed struct. */
void picture_release(struct picture *p);

/* {folder, png, svg, script, data}: paths, null or none where not written; null if not asked. */
json_t *picture_json(const struct picture *p);

#endif
