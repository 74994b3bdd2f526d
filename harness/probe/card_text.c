/* card_text.c - a card on one page. */
#include <math.h>
#include <string.h>

#include "common/datafile.h"
#include "harness/base/row.h"
#include "harness/base/text.h"
#include "harness/env/platform.h"
#include "harness/probe/card.h"

enum { SECTION = 15, LABEL = 29, VALUE = 13, INTERVAL = 23 };

static const char *text_of(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text ? text : "";
}

static double number_of(const json_t *row, const char *key)
{
	const json_t *v = json_object_get(row, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

static void print_head(const json_t *card, const json_t *reference, FILE *out)
{
	const json_t *virt = json_object_get(card, "virt");
	const char *declared = text_of(virt, "declared_platform");

	row(out, "platform card", "%s%s%s", declared, *declared ? ", " : "",
	    text_of(json_object_get(card, "device"), "name"));
	row(out, "taken", "%s, %d processes, sync %s; 95 %% intervals over processes",
	    text_of(card, "start_utc"), card_processes(card), text_of(card, "sync"));
	if (reference)
		row(out, "reference", "%s, %s: for orientation",
		    text_of(json_object_get(reference, "device"), "name"),
		    text_of(reference, "start_utc"));
	fputc('\n', out);
}

/* "2.40 us to 2.47 us", "1020 to 1023"; empty where it is not known. */
static void interval_text(const json_t *row, char *out, size_t size)
{
	double lo = number_of(row, "lo"), hi = number_of(row, "hi");
	const char *unit = text_of(row, "unit");

	if (strcmp(unit, "us") && strcmp(unit, "bytes"))
		unit = "1"; /* the value before it says which */
	*out = '\0';
	if (isfinite(lo) && isfinite(hi))
		snprintf(out, size, "%s to %s", card_number(lo, unit), card_number(hi, unit));
}

static void print_line(const struct card_line *line, const json_t *row, const json_t *reference,
		       FILE *out)
{
	double value = number_of(row, "median"), other = number_of(reference, "median");
	const char *why = text_of(row, "text");
	char interval[64];

	fprintf(out, "%-*s %-*s ", SECTION, line->section ? line->section : "", LABEL, line->label);
	if (!isfinite(value)) {
		fprintf(out, "%s\n", *why ? text_escaped(why).s : "not measured");
		return;
	}
	interval_text(row, interval, sizeof(interval));
	fprintf(out, "%*s", VALUE, card_number(value, text_of(row, "unit")));
	if (isfinite(other))
		fprintf(out, "  %-*s %*s\n", INTERVAL, interval, VALUE,
			card_number(other, text_of(reference, "unit")));
	else
		fprintf(out, "%s%s\n", *interval ? "  " : "", interval);
}

static void print_failed(const json_t *card, FILE *out)
{
	const json_t *failed = json_object_get(card, "failed"), *o;
	size_t i;

	json_array_foreach(failed, i, o)
	{
		fprintf(out, "failed: the probe of %s in process %d; its line is on stderr\n",
			text_escaped(text_of(o, "workload")).s,
			(int)json_integer_value(json_object_get(o, "process")) + 1);
	}
}

void card_print_beside(const json_t *card, const json_t *reference, FILE *out)
{
	print_head(card, reference, out);
	if (reference)
		fprintf(out, "%*s\n", SECTION + LABEL + VALUE + INTERVAL + VALUE + 5, "reference");
	for (const struct card_line *l = card_lines; l->workload; l++)
		print_line(l, card_row(card, l->workload, l->name),
			   reference ? card_row(reference, l->workload, l->name) : NULL, out);
	print_failed(card, out);
	if (card_is_cpu(card))
		fprintf(out, "%s\n", platform_not_gpu);
}

/* Without a word where there is none. */
static json_t *reference_of(const json_t *card)
{
	char path[DATAFILE_PATH_BYTES];
	json_t *reference = NULL;

	if (!datafile_there(CARD_REFERENCE, path) || card_read(path, &reference))
		return NULL;
	if (!strcmp(text_of(reference, "session_id"), text_of(card, "session_id"))) {
		json_decref(reference);
		reference = NULL;
	}
	return reference;
}

void card_print(const json_t *card, FILE *out)
{
	json_t *reference = reference_of(card);

	card_print_beside(card, reference, out);
	json_decref(reference);
}
