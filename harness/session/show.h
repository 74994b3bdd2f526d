/*
 * show.h - how far a sweep is: one changing line with a bar on a terminal, else a line for each
 * process.
 */
#ifndef RIFT_SWEEP_SHOW_H
#define RIFT_SWEEP_SHOW_H

#include <stdbool.h>
#include <stdint.h>

enum { SHOW_SEEN = 16 };

struct show {
	bool quiet, terminal;
	double predicted_ns, done_ns;	      /* of this run, by prediction */
	int64_t begun_ns, start_ns, shown_ns; /* the command's start; the first process's */
	int points, points_done;	      /* visits' points that have a record */
	int process, processes;		      /* under way, of how many */
	char *seen[SHOW_SEEN];		      /* workers' complaints, each shown once */
};

void show_start(struct show *s, bool quiet);

/* "[####....] 120/369 points, process 3 of 10, 2 min left: myocyte cells=32 graph depth 16" */
void show_progress(struct show *s, const char *at);

/* Predicted time that is left, corrected by how wrong predictions were so far. */
double show_left_ns(const struct show *s);

/* One line where stderr is no terminal, unless quiet. */
void show_line(struct show *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A worker's complaint: shown, the first time. */
void show_complaint(struct show *s, const char *line);

void show_end(struct show *s);

/* "45 s", "12 min", "3.2 h" into out, 16 bytes. */
const char *show_duration(double ns, char out[16]);

#endif
