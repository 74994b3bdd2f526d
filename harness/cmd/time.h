/* time.h - what a record of rift time says, for the commands that read one. */
#ifndef RIFT_CMD_TIME_H
#define RIFT_CMD_TIME_H

#include "harness/cmd/options.h"
#include "harness/trial/trial.h"

/*
 * Shows it, and draws its chart in the folder `plot`, which is there; NULL: no chart. margin: NAN:
 * the record's. Returns an exit code, or a negative errno after one line.
 */
int trial_show(const struct arguments *a, const struct trial *t, double margin, const char *plot);

/* The same of a file. */
int trial_show_file(const struct arguments *a, const char *path, double margin);

#endif
