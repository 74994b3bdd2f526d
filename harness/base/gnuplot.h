/* gnuplot.h - running gnuplot: found on PATH, 5.2 or newer, one line about what goes wrong. */
#ifndef RIFT_BASE_GNUPLOT_H
#define RIFT_BASE_GNUPLOT_H

#include <stdbool.h>

/* The last line that gnuplot wrote; control characters as '?'. "" where it wrote nothing. */
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

#endif
