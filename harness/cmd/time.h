/* time.h - what a record of rift time says, for the commands that read one. */
#ifndef RIFT_CMD_TIME_H
#define RIFT_CMD_TIME_H

#include "harness/cmd/options.h"
#include "harness/trial/trial.h"

/* Shows the file. margin: NAN: the record's. An exit code, or a negative errno after one line. */
int trial_show_file(const struct arguments *a, const char *path, double margin);

#endif
