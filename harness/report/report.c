/* report.c - the template of all reports, and what several kinds of part say alike. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/check.h"
#include "common/escape.h"
#include "common/output.h"
#include "common/plural.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/compare/compare.h"
#include "harness/compare/format.h"
#include "harness/record/journal.h"
#include "harness/report/part.h"

/* ---- what is printed elsewhere ---------------------------------------------------------- */

char *part_printed(void (*print)(const void *found, FILE *out), const void *found)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	CHECK(out, "memory of a text");
	print(found, out);
	CHECK(!fclose(out), "memory of a text");
	while (size && text[size - 1] == '\n')
		text[--size] = '\0';
	return text;
}

/* ---- charts ----------------------------------------------------------------------------- */

int part_picture(struct page *p, struct picture *picture, int err)
{
	char *path;

	if (!err)
		err = picture_draw(picture);
	if (err)
		return err;
	CHECK(asprintf(&path, "%s/%s.svg", picture->plot.folder, picture->plot.name) > 0,
	      "memory of a name");
	page_chart(p, path, picture->plot.says);
	free(path);
	return 0;
}

/* Anything but an interrupt leaves a page without charts, which says so. */
static int draw_all(struct page *p, const struct part *part, int parts)
{
	char folder[] = "/tmp/rift-report-XXXXXX";
	int err = 0;

	if (p->format != PAGE_HTML)
		return 0;
	if (!mkdtemp(folder))
		return complain(errno, "cannot make a folder in /tmp: %s", strerror(errno));
	for (int i = 0; i < parts && !err; i++)
		if (part[i].kind->charts)
			err = part[i].kind->charts(part[i].found, p, folder);
	output_remove_folder(folder);
	if (err && err != -EINTR)
		page_text(p, "Charts are missing here, because they could not be drawn.");
	return err == -EINTR ? err : 0;
}

int part_lone_picture(struct page *p, struct picture *picture, int err)
{
	err = part_picture(p, picture, err);
	picture_release(picture);
	return err;
}

/* ---- the template ----------------------------------------------------------------------- */

typedef void section_fn(const void *found, struct page *p);

static section_fn *differs_of(const struct part_kind *k)
{
	return k->differs;
}

static section_fn *how_of(const struct part_kind *k)
{
	return k->how;
}

static section_fn *lacks_of(const struct part_kind *k)
{
	return k->lacks;
}

static section_fn *repeat_of(const struct part_kind *k)
{
	return k->repeat;
}

/* A section that all parts fill in. */
static const struct section {
	const char *heading;
	section_fn *(*of)(const struct part_kind *k);
	bool brief; /* Markdown has it */
} sections[] = {
	{ "What differs between the platforms", differs_of, true },
	{ "How it was measured", how_of, false },
	{ "What was not measured", lacks_of, false },
	{ "Repeat it", repeat_of, true },
};

enum { SECTIONS = sizeof(sections) / sizeof(*sections) };

static bool is_filled(const struct section *s, const struct part *part, int parts)
{
	for (int i = 0; i < parts; i++)
		if (s->of(part[i].kind))
			return true;
	return false;
}

static void write_section(struct page *p, const struct section *s, const struct part *part,
			  int parts)
{
	if ((p->format != PAGE_HTML && !s->brief) || !is_filled(s, part, parts))
		return;
	page_section(p, s->heading);
	for (int i = 0; i < parts; i++)
		if (s->of(part[i].kind))
			s->of(part[i].kind)(part[i].found, p);
}

static void write_contents(struct page *p, const struct part *part, int parts)
{
	const char *heading[parts + SECTIONS + 2];
	int n = 0;

	for (int i = 0; i < parts; i++)
		heading[n++] = part[i].kind->what;
	heading[n++] = "Charts";
	for (int i = 0; i < SECTIONS; i++)
		if (is_filled(&sections[i], part, parts))
			heading[n++] = sections[i].heading;
	heading[n++] = "In full";
	page_contents(p, heading, n);
}

/* Every table, and below it all that a terminal shows, folded away. */
static void write_in_full(struct page *p, const struct part *part, int parts)
{
	if (p->format != PAGE_HTML)
		return;
	page_section(p, "In full");
	for (int i = 0; i < parts; i++) {
		const struct part_kind *k = part[i].kind;
		char *text = part_printed(k->print, part[i].found), *by;

		if (k->tables)
			k->tables(part[i].found, p);
		CHECK(asprintf(&by, "Everything, as %s prints it", k->print_by) > 0,
		      "memory of a text");
		page_fold(p, by, text);
		free(by);
		free(text);
	}
}

int report_write(FILE *out, enum page_format format, const struct part *part, int parts)
{
	struct page p;
	int err;

	page_begin(&p, out, format, "GPU overhead report");
	for (int i = 0; i < parts; i++)
		part[i].kind->finding(part[i].found, &p);
	write_contents(&p, part, parts);
	for (int i = 0; i < parts; i++) {
		page_section(&p, part[i].kind->what);
		part[i].kind->table(part[i].found, &p);
	}
	if (format == PAGE_HTML)
		page_section(&p, "Charts");
	err = draw_all(&p, part, parts);
	for (int i = 0; i < SECTIONS; i++)
		write_section(&p, &sections[i], part, parts);
	write_in_full(&p, part, parts);
	page_end(&p);
	return err;
}

/* ---- what several kinds say alike ------------------------------------------------------- */

void part_findings(struct page *p, enum page_tone tone, char *text)
{
	char *line;

	while ((line = strsep(&text, "\n")))
		page_finding(p, tone, "%s", line);
}

/* A value of a header, cut: libraries and variables may be long. */
static char *value_text(const json_t *v)
{
	enum { MOST = 240 };
	char *text = json_is_string(v) ? strdup(json_string_value(v))
		     : v	       ? json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY)
				       : strdup("not recorded");
	size_t n;

	CHECK(text, "memory of a value");
	n = strlen(text);
	if (n > MOST) {
		for (n = MOST - strlen("..."); (text[n] & 0xc0) == 0x80; n--)
			;
		strcpy(text + n, "...");
	}
	return text;
}

void part_differences(struct page *p, const json_t *rows, const char *left, const char *right)
{
	const char *const heads[] = { "field", left, right };
	const json_t *o;
	size_t i;

	if (!json_array_size(rows)) {
		page_text(p, "Nothing differs, as far as it is recorded.");
		return;
	}
	page_table(p, "as recorded; a list shows what only one side has", heads, 3);
	json_array_foreach(rows, i, o)
	{
		char *a = value_text(json_object_get(o, "a"));
		char *b = value_text(json_object_get(o, "b"));

		page_cell(p, "%s", json_get_text(o, "field"));
		page_cell(p, "%s", a);
		page_cell(p, "%s", b);
		free(a);
		free(b);
	}
}

enum page_tone part_tone(enum ratio_verdict verdict)
{
	static const enum page_tone tones[] = {
		[VERDICT_SAME] = TONE_SAME,
		[VERDICT_SLOWER] = TONE_SLOWER,
		[VERDICT_FASTER] = TONE_FASTER,
		[VERDICT_INCONCLUSIVE] = TONE_OPEN,
	};

	return tones[verdict];
}

enum page_tone part_outcome_tone(enum outcome outcome)
{
	static const enum page_tone tones[] = {
		[OUTCOME_SAME] = TONE_SAME,	    [OUTCOME_SLOWER] = TONE_SLOWER,
		[OUTCOME_FASTER] = TONE_FASTER,	    [OUTCOME_NOT_SLOWER] = TONE_SAME,
		[OUTCOME_INCONCLUSIVE] = TONE_OPEN, [OUTCOME_WRONG] = TONE_WRONG,
	};

	return tones[outcome];
}

const char *part_verdict_text(const struct judged *j)
{
	if (!j->known)
		return "not decided: too few processes";
	if (j->verdict != VERDICT_INCONCLUSIVE)
		return verdict_names[j->verdict];
	if (j->alone == VERDICT_SLOWER)
		return "slower by its interval, not proven";
	if (j->alone == VERDICT_FASTER)
		return "faster by its interval, not proven";
	return "not decided";
}

struct text_line part_device(const json_t *header)
{
	const json_t *gpu = json_object_get(header, "gpu");
	const char *name = json_get_text(gpu, "name"),
		   *driver = json_get_text(gpu, "driver_version");
	struct text_line t;

	snprintf(t.s, sizeof(t.s), "%.200s%s%.100s", *name ? name : "unknown device",
		 *driver ? ", driver " : "", driver);
	return t;
}

static void say_replicates(struct page *p, int paired, int n)
{
	if (paired)
		page_item(p, "The two sides took turns on the same machine: a pair is one process "
			     "of each, and n counts pairs.");
	if (paired < n)
		page_item(p, "%sn counts processes of a side; each is a fresh process.",
			  paired ? "Where the two sides disturbed each other they ran one after "
				   "the other: "
				 : "");
}

static void say_separate(struct page *p, const struct comparison *c)
{
	if (c->options.session_sd > 0)
		page_item(p,
			  "These are separate sessions. Two of one system may be %.3g %% apart "
			  "by themselves (standard deviation %.3g %% each, assumed, not "
			  "measured); intervals are wider by that.",
			  100 * (c->contrast.apart - 1), 100 * c->options.session_sd);
}

void part_say_terms(struct page *p, const struct comparison *const *c, int n)
{
	struct levels levels = { 0 };
	int paired = 0;

	for (int i = 0; i < n; i++) {
		levels_add(&levels, c[i]->contrast.level);
		paired += c[i]->contrast.paired;
	}
	page_item(p, "A step is one unit of a workload, such as a video frame or a launch. Its "
		     "time was taken on both sides, and a ratio of 2 means twice as long.");
	say_replicates(p, paired, n);
	if (levels.n)
		page_item(
			p,
			"The numbers in parentheses after a ratio are its %s interval: if all "
			"were measured again, such intervals would hold the true ratio that often.",
			levels_text(&levels).s);
	page_item(p,
		  "Differences up to %.3g %% count as none (the margin). Slower means that the "
		  "whole interval lies beyond the margin, and that a test agrees which allows for "
		  "the number of tests. Where the test does not, as with too few processes, the "
		  "difference is not proven.",
		  100 * c[0]->options.margin);
	say_separate(p, c[0]);
	page_item(p, "Every timed run was checked against an independent reference.");
}

static bool is_plain(const char *word)
{
	return *word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789_-./=:,+@%") == strlen(word);
}

void part_command(struct page *p, const char *command, const char *const *words)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK(out, "memory of a command");
	fputs(command, out);
	for (; *words; words++) {
		fputc(' ', out);
		if (is_plain(*words))
			fputs(*words, out);
		else
			escape_shell(out, *words);
	}
	CHECK(!fclose(out), "memory of a command");
	page_command(p, "%s", text);
	free(text);
}

void part_say_cpu(struct page *p, bool is_cpu)
{
	if (is_cpu)
		page_item(p, "A GPU: this is the CPU device, and these are not GPU figures.");
}

void part_recorded_command(struct page *p, const char *command)
{
	if (!command)
		return;
	if (strncmp(command, "rift ", 5) != 0 || strpbrk(command, ";&|<>`\n") ||
	    strstr(command, "$("))
		page_text(p, "As the record says, to be read before it is typed: %s", command);
	else
		page_command(p, "%s", command);
}
