/*
 * history.h - sessions of one plan over time: from which date on is it slower?
 *
 * A session says one thing here: the median over its processes of the geometric mean over
 * workloads, each the mean of the time of a step over the points that all sessions have. What
 * sessions differ by, though nothing was changed, is seen in the series itself, so nothing is
 * assumed of it. Of a series of more than 2 HISTORY_LEAST sessions each date that has HISTORY_LEAST
 * or more on either side parts the series in two groups, which harness/stats/contrast.h compares,
 * sessions in place of processes; the tests are corrected for the number of dates (Holm). Of the
 * dates that are found, the one is named that explains most of the squares of the logarithms.
 *
 * One step is looked for. Of several the clearest is found, of a slow drift some date in it.
 */
#ifndef RIFT_COMPARE_HISTORY_H
#define RIFT_COMPARE_HISTORY_H

#include <jansson.h>
#include <stdio.h>

#include "harness/base/command.h"
#include "harness/compare/compare.h"
#include "harness/compare/format.h"
#include "harness/record/journal.h"
#include "harness/record/trust.h"

#define HISTORY_MARGIN 0.005

enum { HISTORY_LEAST = 3, HISTORY_DATE = 32 };

struct history_session {
	struct journal session;
	struct compared_side side;
	char date[HISTORY_DATE]; /* its start */
	double *mean;		 /* of each process, ns per step */
	double value;		 /* their median */
	struct interval step;	 /* the same, over its processes */
	struct interval ratio;	 /* over the first session; informs */
};

struct history {
	struct history_session *of; /* in the order of their dates, once made */
	int n;
	struct compare_options options;
	int points, workloads; /* that all sessions have */

	int dates;	       /* that were tested */
	bool enough;	       /* sessions that agree could decide */
	int since;	       /* of[since] is the first of the sessions that differ; 0: none do */
	struct interval ratio; /* the sessions from there on over those before */
	struct judged judged;  /* of that date */
	double level;	       /* of that interval; NAN: none */
	struct levels of_step, of_ratio; /* of the intervals of each session */
	struct distrusted distrusted;	 /* sessions, by their dates */
	double scatter; /* half of the sessions lie within this share of their group's median */
};

/* Room for n sessions, which the caller reads into of[i].session. */
void history_init(struct history *h, int n, const struct compare_options *options);

/* of[number].session has been read; which side of it. */
void history_add(struct history *h, int number, int side);

/*
 * All have been added. Returns 0, -EINVAL after one line where two are the same session,
 * -EPROTONOSUPPORT after one line where some are not comparable, or have no point in common.
 */
int history_make(struct history *h);

/* The second half of it: dates and verdicts, from of[].value. */
void history_judge(struct history *h);
void history_release(struct history *h);

/* 0 no date found, or faster; 1 slower; 2 too few sessions. */
enum exit_code history_exit_code(const struct history *h);

/* What was found, in one line without its end. */
void history_finding(const struct history *h, FILE *out);
void history_print(const struct history *h, FILE *out);
json_t *history_json(const struct history *h); /* new reference */

#endif
