/* compare.h - what `rift compare` was asked for, and the page of many sessions. */
#ifndef RIFT_CMD_COMPARE_H
#define RIFT_CMD_COMPARE_H

#include "harness/cmd/options.h"
#include "harness/compare/atlas.h"
#include "harness/compare/compare.h"
#include "harness/compare/fleet.h"
#include "harness/compare/history.h"

struct compare_args {
	struct arguments given;		 /* words: A and B, or the base and all others */
	double margin, session_sd;	 /* shares of 1; NAN: not given */
	const struct workload *workload; /* NULL: all */
	const char *plot;		 /* of a page: folder of the charts; NULL: none */
	const char *each;		 /* "node", "date": each of many; NULL: not asked for */
	bool strict, force, self_test;
};

/* Not given is NAN. */
struct compare_options compare_options_given(const struct compare_args *a);

/* Is it a page that is asked for: three files or more, or one with a name before it? */
bool compare_is_of_many(const struct compare_args *a);

/* What --each is of: the files that are named, and all sessions in folders that are. */
struct each_files {
	char **path; /* owned, as its texts are */
	int n;
};

/* 0, or a negative errno after one line; each_files_release() in any case. */
int each_files_find(struct each_files *f, const struct word_list *words);
void each_files_release(struct each_files *f);

/* Each node against the fleet. An exit code, or -errno after one line. */
int compare_each(const struct compare_args *a);

/* Reads and judges it: as compared_read(); fleet_release() in any case. */
int compare_each_read(struct fleet *f, const struct compare_args *a);

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

/* Sessions of one plan over time. As compared_read(); history_release() in any case. */
int compare_history_read(struct history *h, const struct compare_args *a);

/* An exit code, or -errno after one line. */
int compare_history(const struct compare_args *a);

/* An option --each: "date". */
int option_each(void *field, const struct command_option *o, char *text);

/* Reads the base and all others. As compared_read(); atlas_release() in any case. */
int compare_many_read(struct atlas *atlas, const struct compare_args *a);

/* The page: many layers or platforms against one base. An exit code, or -errno after one line. */
int compare_many(const struct compare_args *a);

#endif
