/* plot_folder.h - where the files of `rift plot` go. */
#ifndef RIFT_CHART_PLOT_FOLDER_H
#define RIFT_CHART_PLOT_FOLDER_H

/*
 * output, or, where that is NULL, beside the first of n sessions, of rift's own ones in the
 * folder results/, and named after both, and after the side of each where it is not SIDE_ANY.
 * Without slashes at its end; freed by the caller.
 */
char *plot_folder(const char *const *session, const int *side, int n, const char *output);

#endif
