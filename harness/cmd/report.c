/* report.c - rift report FILE...: what records say, as one page that a person can send on. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "common/output.h"
#include "harness/base/text.h"
#include "harness/cmd/compare.h"
#include "harness/report/part.h"

/* ---- the command line ------------------------------------------------------------------- */

/* The words and options of a comparison, as rift compare has them. */
struct report_args {
	struct compare_args compare;
	bool markdown;
};

static const struct report_args defaults = { .compare = { .margin = NAN, .session_sd = NAN } };

#define COMPARED(name) offsetof(struct report_args, compare.name)

static const struct command_option options[] = {
	{ OPTION_OUTPUT("FILE", option_file),
	  "write the report to this file (default: report.html; with --markdown: stdout)" },
	{ OPTION("markdown", NULL, option_flag, offsetof(struct report_args, markdown)),
	  "write a short report for an issue or a pull request: the finding, one table, what "
	  "differs" },
	{ OPTION("each", "date|node", option_each, COMPARED(each)),
	  "date: take all sessions, or all in a FOLDER, as one series over time; node: find the "
	  "nodes that are slower than the others" },
	{ OPTION("margin", "PERCENT", option_percent, COMPARED(margin)),
	  "of sessions: ignore differences up to this (default: 2; separate sessions: 5; "
	  "--each date: 0.5)" },
	{ OPTION("session-sd", "PERCENT", option_percent, COMPARED(session_sd)),
	  "allow for this standard deviation between sessions of one system (default: 1; one "
	  "session: 0)" },
	{ OPTION("force", NULL, option_flag, COMPARED(force)),
	  "compare even if GPUs or --sync policies differ; with a base also if binaries or bases "
	  "differ" },
	{ OPTION_SIDE, "use this side of each session that has two (rift sweep --against); FILE:a "
		       "or FILE:b names a side of one session" },
	{ OPTION_SYNC, "use this wait policy, if a session was swept with several" },
	{ OPTION_QUIET, "print no progress and no remarks" },
	{ OPTION_HELP, "show this help" },
	{ 0 },
};

static const struct exit_text exits[] = {
	{ RIFT_OK, "the report was written, whatever it says" },
	{ RIFT_USAGE, EXIT_USUAL },
	{ RIFT_NOT_COMPARABLE, EXIT_USUAL },
	{ RIFT_INTERRUPTED, EXIT_USUAL },
	{ 0 },
};

/* ---- what it is of ---------------------------------------------------------------------- */

enum { PARTS_MAX = 16 };

/* Sessions together are one part; every other file is one of its own. */
struct sources {
	struct part part[PARTS_MAX];
	void *found[PARTS_MAX]; /* of a part that has read its file; else NULL */
	int parts;

	struct compare_args sessions; /* the words that are sessions */
	struct compared two;
	struct atlas many;
	struct history history;
	struct fleet fleet;
	bool has_two, has_many, has_history;
	struct session_found session;
	struct comparison_found comparison;
};

static const struct part_kind *const file_kinds[] = { &part_trial, &part_share, &part_trace };

/* NULL: it is a session, or nothing that is known. */
static const struct part_kind *kind_of(const char *path)
{
	for (size_t i = 0; i < sizeof(file_kinds) / sizeof(*file_kinds); i++)
		if (file_kinds[i]->is(path))
			return file_kinds[i];
	return NULL;
}

static int add_file(struct sources *s, const struct part_kind *kind, const char *path)
{
	int i = s->parts;

	s->part[i].kind = kind;
	s->parts++;
	if (kind->read(&s->found[i], path))
		return -EINVAL;
	s->part[i].found = s->found[i];
	return 0;
}

/* The files that are no sessions; the other words go into s->sessions. */
static int take_words(struct sources *s, const struct report_args *a)
{
	const struct word_list *words = &a->compare.given.words;
	struct word_list *sessions = &s->sessions.given.words;
	int err = 0;

	s->sessions = a->compare;
	sessions->n = 0;
	sessions->word = calloc((size_t)words->n + 1, sizeof(*sessions->word));
	CHECK(sessions->word, "memory of %d names", words->n);
	for (int i = 0; i < words->n && !err; i++) {
		const struct part_kind *kind = kind_of(words->word[i]);

		if (kind && s->parts == PARTS_MAX - 1)
			err = complain(EINVAL, "a report takes up to %d files that are no sessions",
				       PARTS_MAX - 1);
		else if (kind)
			err = add_file(s, kind, words->word[i]);
		else
			sessions->word[sessions->n++] = words->word[i];
	}
	return err;
}

/* One side is shown, two are compared. */
static int take_two(struct sources *s)
{
	struct compared *c = &s->two;
	int n = s->sessions.given.words.n, err = compared_read(c, &s->sessions);

	s->has_two = true;
	if (err)
		return err;
	if (n == 1 && c->side[0] != SIDE_ANY) {
		s->session = (struct session_found){ &c->session[0], c->side[0] };
		s->part[s->parts++] = (struct part){ &part_session, &s->session };
		return 0;
	}
	err = compared_make(c, &s->sessions);
	s->comparison.comparison = &c->comparison;
	for (int k = 0; k < 2; k++) {
		s->comparison.journal[k] = &c->session[n > 1 ? k : 0];
		s->comparison.side[k] = n > 1 ? c->side[k] : k;
	}
	if (!err)
		s->part[s->parts++] = (struct part){ &part_comparison, &s->comparison };
	return err;
}

static int take_many(struct sources *s)
{
	int err = compare_many_read(&s->many, &s->sessions);

	s->has_many = true;
	if (!err)
		s->part[s->parts++] = (struct part){ &part_atlas, &s->many };
	return err;
}

static int take_history(struct sources *s)
{
	int err = compare_history_read(&s->history, &s->sessions);

	s->has_history = true;
	if (!err)
		s->part[s->parts++] = (struct part){ &part_history, &s->history };
	return err;
}

static int take_fleet(struct sources *s)
{
	int err = compare_each_read(&s->fleet, &s->sessions);

	if (!err)
		s->part[s->parts++] = (struct part){ &part_fleet, &s->fleet };
	return err;
}

static int take_each(struct sources *s)
{
	return strcmp(s->sessions.each, "node") ? take_history(s) : take_fleet(s);
}

static int take_all(struct sources *s, const struct report_args *a)
{
	int err = take_words(s, a);

	if (!err && s->sessions.given.words.n)
		err = (s->sessions.each			  ? take_each
		       : compare_is_of_many(&s->sessions) ? take_many
							  : take_two)(s);
	return err;
}

static void sources_release(struct sources *s)
{
	for (int i = 0; i < s->parts; i++)
		if (s->part[i].kind->release)
			s->part[i].kind->release(s->found[i]);
	if (s->has_two)
		compared_release(&s->two);
	if (s->has_many)
		atlas_release(&s->many);
	if (s->has_history)
		history_release(&s->history);
	fleet_release(&s->fleet);
	free(s->sessions.given.words.word);
}

/* ---- the report ------------------------------------------------------------------------- */

static int write_file(const struct sources *s, const struct report_args *a, const char *path)
{
	enum page_format format = a->markdown ? PAGE_MARKDOWN : PAGE_HTML;
	struct output out = { 0 };
	int err = output_create(&out, "--output", path);

	if (!err)
		err = report_write(out.file, format, s->part, s->parts);
	if (!err)
		err = output_commit(&out);
	output_discard(&out);
	if (!err && !a->compare.given.quiet)
		printf("%s\n", path);
	return err;
}

static int report(void *arguments)
{
	const struct report_args *a = arguments;
	const char *path = a->compare.given.output;
	struct sources *s = calloc(1, sizeof(*s));
	int err;

	CHECK(s, "memory of a report");
	interrupt_install();
	progress_init(a->compare.given.quiet);
	err = take_all(s, a);
	if (!err && a->markdown && !path)
		err = report_write(stdout, PAGE_MARKDOWN, s->part, s->parts);
	else if (!err)
		err = write_file(s, a, path ? path : "report.html");
	sources_release(s);
	free(s);
	return err == -EPROTONOSUPPORT ? (int)RIFT_NOT_COMPARABLE : err;
}

const struct command command_report = {
	.name = "report",
	.usage = "FILE...",
	.line = "write what records say as one page to send on",
	.words = "FILE...\nA B\nBASE [NAME=]SESSION...\n--each date|node FOLDER|SESSION...",
	.doc = "Writes one HTML file that needs no network, no script and no other file: the "
	       "finding, charts, tables, what differs between the platforms, how it was measured, "
	       "what was not, and the commands that repeat it. Sessions of rift sweep are taken as "
	       "rift compare takes them: one alone, two, or many with a base. A record of rift "
	       "time or rift share and a trace of rift profile become a part of their own each.",
	.remarks = "A report decides nothing: rift compare has exit codes for CI. Without gnuplot "
		   "it has no charts.",
	.exits = exits,
	.options = options,
	.missing = "no file; write rift report FILE",
	.size = sizeof(struct report_args),
	.defaults = &defaults,
	.run = report,
};
