/* compare.h - what `rift compare` was asked for, and the page of many sessions. */
#ifndef RIFT_CMD_COMPARE_H
#define RIFT_CMD_COMPARE_H

#include "harness/cmd/options.h"
#include "harness/compare/atlas.h"
#include "harness/compare/compare.h"

struct compare_args {
	struct arguments given;		 /* words: A and B, or the base and all others */
	double margin, session_sd;	 /* shares of 1; NAN: not given */
	const struct workload *workload; /* NULL: all */
	const char *plot;		 /* of a page: folder of the charts; NULL: none */
	const char *each;		 /* "node": each against all; NULL: not asked for */
	bool strict, force, self_test;
};

/* Not given is NAN. */
struct compare_options compare_options_given(const struct compare_args *a);

/* Is it a page that is asked for: three files or more, or one with a name before it? */
bool compare_is_of_many(const struct compare_args *a);

/* Each node against the fleet. An exit code, or -errno after one line. */
int compare_each(const struct compare_args *a);

/* What two sessions, or the sides of one, come to. */
struct compared {
	struct journal session[2];
	int side[2]; /* of each; SIDE_ANY: both, of one that is alone */
	struct compared_side of[2];
	struct comparison comparison;
};

/*
 * Reads one session or two; of one with a single side nothing is compared, and c->of stays zeroed.
 * Returns 0, or a negative errno after one line. compared_release() in any case.
 */
int compared_read(struct compared *c, const struct compare_args *a);
int compared_make(struct compared *c, const struct compare_args *a);
void compared_release(struct compared *c);

/* Reads the base and all others. As compared_read(); atlas_release() in any case. */
int compare_many_read(struct atlas *atlas, const struct compare_args *a);

/* The page: many layers or platforms against one base. An exit code, or -errno after one line. */
int compare_many(const struct compare_args *a);

#endif
