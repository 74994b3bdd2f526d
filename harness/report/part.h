/*
 * part.h - what a report is made of: a part for each thing that it is about, and the sections that
 * every part fills in.
 *
 * A kind of part is a table of functions, one a section (struct part_kind); NULL: it has nothing to
 * say there. report_write() puts the sections of all parts in order. It is the one template: HTML
 * has every section, Markdown the finding, the table and what differs.
 */
#ifndef RIFT_REPORT_PART_H
#define RIFT_REPORT_PART_H

#include <jansson.h>

#include "common/typed.h"
#include "harness/base/picture.h"
#include "harness/report/page.h"
#include "harness/stats/outcome.h"

struct comparison;
struct journal;

struct part_kind {
	const char *what; /* the heading of its table */
	void (*finding)(const void *found, struct page *p);
	void (*table)(const void *found, struct page *p); /* the one of Markdown, too */
	/* Draws into the folder, which is there: 0, or a negative errno after one line. */
	int (*charts)(const void *found, struct page *p, const char *folder);
	void (*tables)(const void *found, struct page *p); /* all others */
	void (*differs)(const void *found, struct page *p);
	void (*how)(const void *found, struct page *p);	   /* items of a list */
	void (*lacks)(const void *found, struct page *p);  /* items: what was not measured */
	void (*repeat)(const void *found, struct page *p); /* commands */
	void (*print)(const void *found, FILE *out);	   /* all of it, as in a terminal */
	const char *print_by;				   /* the command that prints it */

	/* Of a kind that one file is: is this one? Reads it: 0, or a negative errno after one line.
	 */
	bool (*is)(const char *path);
	int (*read)(void **found, const char *path);
	void (*release)(void *found); /* also of NULL */
};

struct part {
	const struct part_kind *kind;
	const void *found; /* as the kind has it below */
};

/* One side of one session. */
struct session_found {
	const struct journal *journal;
	int side;
};
extern const struct part_kind part_session;

/* Two sides; the journals are those that they are of. */
struct comparison_found {
	const struct comparison *comparison;
	const struct journal *journal[2];
	int side[2];
};
extern const struct part_kind part_comparison;

extern const struct part_kind part_atlas;   /* struct atlas */
extern const struct part_kind part_history; /* struct history */
extern const struct part_kind part_fleet;   /* struct fleet */

/* A record of rift time, one of rift share, a trace; they read what they are of. */
extern const struct part_kind part_trial, part_share, part_trace;

/*
 * Writes the whole report. Charts are drawn in a temporary folder that is gone afterwards; without
 * gnuplot, after one line, the report has none. Returns 0, or -EINTR.
 */
int report_write(FILE *out, enum page_format format, const struct part *part, int parts);

/* ---- what several kinds say alike ------------------------------------------------------- */

/* Draws a picture whose files are written (err: what writing them came to), and shows it. */
int part_picture(struct page *p, struct picture *picture, int err);

/* The same, and releases it. */
int part_lone_picture(struct page *p, struct picture *picture, int err);

/* The item of what was not measured, where figures are the CPU device's. */
void part_say_cpu(struct page *p, bool is_cpu);

/* What a function prints, without the newline at the end; to be freed. */
char *part_printed(void (*print)(const void *found, FILE *out), const void *found);

/* A finding for each line of the text, which is changed. */
void part_findings(struct page *p, enum page_tone tone, char *text);

/* A table of fields that differ, as environment_diff.h has them; left, right: its heads. */
void part_differences(struct page *p, const json_t *rows, const char *left, const char *right);

enum page_tone part_tone(enum ratio_verdict verdict);
enum page_tone part_outcome_tone(enum outcome outcome);

/* What a verdict comes to in words: also where only the correction for many tests leaves it open.
 */
const char *part_verdict_text(const struct judged *j);

/* "NVIDIA H200, driver 580.1" of a header. */
struct text_line part_device(const json_t *header);

/* The items on what all comparisons share: what a step, a pair and an interval are. */
void part_say_terms(struct page *p, const struct comparison *const *c, int n);

/* A command and words of it that come from files, quoted where a shell needs that; NULL ends them.
 */
void part_command(struct page *p, const char *command, const char *const *words);

/*
 * A whole command as a record has it; NULL: it has none. Records come from strangers: one that
 * would have a shell do more than run rift is shown as text, to be read before it is typed.
 */
void part_recorded_command(struct page *p, const char *command);

#endif
