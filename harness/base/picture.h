/* picture.h - pictures: what a struct plot describes, drawn by gnuplot. */
#ifndef RIFT_BASE_PICTURE_H
#define RIFT_BASE_PICTURE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "common/plot.h"

/* ---- running gnuplot -------------------------------------------------------------------- */

/* The last line that gnuplot wrote, fit for a terminal; control characters as '?'. "" where it
 * wrote nothing. */
struct gnuplot_words {
	char s[256];
};

/*
 * Runs the script of that name in the folder, with its string variable `part` set: the script
 * appends it to the names of what it writes. The user's gnuplot settings are not read, its output
 * is captured.
 *
 * Returns 0, and what it wrote in *said: a warning, as a rule. Or after one line: -ENOENT without
 * gnuplot or with one that is too old, -EINTR when Ctrl-C ended it, -EIO with gnuplot's own words
 * when it failed, another errno when it could not be started. The lines say how to draw by hand.
 */
int gnuplot_run(const char *folder, const char *script, const char *part,
		struct gnuplot_words *said);

/*
 * Is there one on PATH that can draw our charts? 0, or after one line, which says how to draw the
 * scripts by hand, -ENOENT or why it could not be started. script may have a '*' for several.
 */
int gnuplot_check(const char *folder, const char *script);

/* "cd 'FOLDER' && gnuplot SCRIPT", for a shell, whatever is in the folder's name; to be freed. */
char *gnuplot_by_hand(const char *folder, const char *script);

/* What the gnuplot on PATH says of its version; -ENOENT without one, else why it did not start. */
int gnuplot_ask(struct gnuplot_words *version);

/* Is that version, "gnuplot 5.4 patchlevel 4", one that can draw our charts? */
bool gnuplot_suffices(const char *version);

/* ---- a picture -------------------------------------------------------------------------- */

/*
 * Draws what a struct plot describes: NAME.png and NAME.svg in its folder, beside the data files
 * and NAME.gp, the script, which draws them again by hand.
 *
 * NAME.gp is whole in itself: values, plots/style.gp, and the picture's own script one after the
 * other. What such a script can rely on is said in plots/style.gp.
 */

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
