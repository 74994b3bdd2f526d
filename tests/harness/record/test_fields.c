/*
 * test_fields.c - the table of fields: docs/records.md explains each of them and no other, and a
 * record of today's schema with a field that it lacks is not valid.
 */
#include "tests/test.h"
#include "harness/record/fields.h"
#include "harness/record/record.h"
#include "tests/golden.h"

#include <ctype.h>

static char *read_document(void)
{
	FILE *f = fopen("docs/records.md", "r");
	char *text = calloc(1, 1 << 20);

	cr_assert(ne(ptr, f, NULL), "docs/records.md");
	cr_assert(ne(ptr, text, NULL));
	cr_assert(lt(sz, 10000, fread(text, 1, (1 << 20) - 1, f)));
	fclose(f);
	return text;
}

/* The part of the document on a record, from its beginning to the next part's. Ends the text. */
static char *part_of(char *text, const char *record)
{
	static const char *const begins[][2] = {
		{ "plan", "\n## plan:" },	  { "header", "\n## header:" },
		{ "point", "\n## point:" },	  { "failure", "\n**failure**" },
		{ "trailer", "\n**trailer**" },	  { "fewer", "\n**fewer**" },
		{ "summary", "\n| `summary` |" }, { "series", "\n| `summary` |" }
	};
	char *at = NULL, *end;

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (!strcmp(begins[i][0], record))
			at = strstr(text, begins[i][1]);
	cr_assert(ne(ptr, at, NULL), "%s", record);
	at += 3; /* not its own beginning */
	for (const char *const *next =
		     (const char *const[]){ "\n## ", "\n**fewer**", "\n**trailer**", "\n**visit**",
					    NULL };
	     *next; next++) {
		end = strstr(at, *next);
		if (end)
			*end = '\0';
	}
	return at;
}

static bool names(const char *part, const char *field)
{
	char quoted[64], array[64], member[64];

	snprintf(quoted, sizeof(quoted), "`%s`", field);
	snprintf(array, sizeof(array), "`%s[]`", field);
	snprintf(member, sizeof(member), "`%s.", field);
	return strstr(part, quoted) || strstr(part, array) || strstr(part, member);
}

Test(small_fields, the_document_names_each)
{
	for (const struct record_field *f = record_fields; f->record; f++) {
		char *text = read_document(), *part = part_of(text, f->record);

		cr_expect(names(part, f->name), "docs/records.md, %s: nothing of `%s`", f->record,
			  f->name);
		free(text);
	}
}

/* What is asked of each field is the format of a record, and changes with its schema alone. */
Test(small_fields, what_is_asked_of_each)
{
	static const char *const kinds[] = {
		"text", "whole", "number", "array", "object", "truth"
	};
	static const char *const flags[] = { "always", "measured", "thin",  "thinned", "old",
					     "joined", "summed",   "alike", "column" };
	static char text[16384];
	FILE *out = fmemopen(text, sizeof(text), "w");

	for (const struct record_field *f = record_fields; f->record; f++) {
		fprintf(out, "%s %s: %s", f->record, f->name, kinds[f->kind]);
		for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
			fprintf(out, "%s%s", f->flags >> i & 1 ? " " : "",
				f->flags >> i & 1 ? flags[i] : "");
		fputc('\n', out);
	}
	fclose(out);
	golden_said(text);
}

static bool is_in_table(const char *record, const char *name)
{
	for (const struct record_field *f = record_fields; f->record; f++)
		if (!strcmp(f->record, record) && !strcmp(f->name, name))
			return true;
	return false;
}

/* The names in the first column of a part's table, up to a dot or bracket. */
static void expect_rows_known(const char *record, char *part)
{
	int rows = 0;

	for (char *line = strtok(part, "\n"); line; line = strtok(NULL, "\n")) {
		char *end = *line == '|' ? strchr(line + 1, '|') : NULL;

		if (!end || !strchr(line, '`') || strchr(line, '`') > end)
			continue;
		*end = '\0';
		for (char *at = line; (at = strchr(at, '`')); at = strchr(at, '`') + 1) {
			char name[64] = "";
			bool known;

			at++;
			snprintf(name, sizeof(name), "%.*s",
				 (int)strspn(at, "abcdefghijklmnopqrstuvwxyz_0123456789"), at);
			rows++;
			known = !*name || is_in_table(record, name);
			cr_expect(known, "docs/records.md, %s: `%s` is not in the table", record,
				  name);
		}
	}
	cr_expect(lt(int, 5, rows), "%s", record);
}

Test(small_fields, the_document_has_no_other)
{
	static const char *const records[] = { "plan", "header", "point", "trailer" };

	for (size_t i = 0; i < 4; i++) {
		char *text = read_document();

		expect_rows_known(records[i], part_of(text, records[i]));
		free(text);
	}
}

static json_t *plan_with(const char *name)
{
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:{}}", "record", "plan",
			      "schema", RECORD_SCHEMA, "tool", "rift", "tool_version", "0",
			      "session_id", "0", "plan_sha256", "0", "sides", 1, "plan");

	cr_assert(ne(ptr, o, NULL));
	if (name)
		json_object_set_new(o, name, json_integer(1));
	return o;
}

/* Takes over o. */
static struct text wrong_of(json_t *o, const char *record, struct field_rules rules)
{
	struct text wrong = fields_wrong(o, record, rules);

	json_decref(o);
	return wrong;
}

Test(small_fields, a_field_that_nobody_knows_is_wrong_today)
{
	struct field_rules today = { .knows_all = true }, other = { 0 };

	cr_expect(eq(str, wrong_of(plan_with(NULL), "plan", today).s, ""));
	cr_expect(eq(str, wrong_of(plan_with("colour"), "plan", today).s,
		     "a field that its schema does not have: colour"));
	cr_expect(eq(str, wrong_of(plan_with("colour"), "plan", other).s, ""));
	cr_expect(eq(str, wrong_of(plan_with("sides"), "plan", today).s, ""));
	cr_expect(eq(str, wrong_of(plan_with("argv"), "plan", today).s,
		     "a field is missing or of the wrong kind: argv"));
}

static json_t *without(const char *record, const char *name)
{
	json_t *o = json_object();

	for (const struct record_field *f = record_fields; f->record; f++) {
		if (strcmp(f->record, record) || !strcmp(f->name, name) || (f->flags & FIELD_OLD))
			continue;
		json_object_set_new(o, f->name,
				    f->kind == FIELD_TEXT     ? json_string("")
				    : f->kind == FIELD_WHOLE  ? json_integer(1)
				    : f->kind == FIELD_NUMBER ? json_real(1)
				    : f->kind == FIELD_ARRAY  ? json_array()
				    : f->kind == FIELD_OBJECT ? json_object()
							      : json_true());
	}
	return o;
}

/* Blocks are a measured point's, and a thinned record does without. */
Test(small_fields, what_is_needed_depends)
{
	struct field_rules plain = { .knows_all = true }, measured = { .is_measured = true },
			   thinned = { .is_measured = true, .is_thinned = true };

	cr_expect(eq(str, wrong_of(without("point", "marks"), "point", plain).s, ""));
	cr_expect(ne(str, wrong_of(without("point", "marks"), "point", measured).s, ""));
	cr_expect(eq(str, wrong_of(without("point", "marks"), "point", thinned).s, ""));
	cr_expect(ne(str, wrong_of(without("point", "summary"), "point", thinned).s, ""));
	cr_expect(eq(str, wrong_of(without("header", "gpu"), "header", thinned).s, ""));
	cr_expect(ne(str, wrong_of(without("header", "gpu"), "header", measured).s, ""));
}

/* What only older schemas have is no field of today. */
Test(small_fields, an_old_field_is_wrong_today)
{
	struct field_rules today = { .knows_all = true }, other = { 0 };
	json_t *o = without("point", "");

	json_object_set_new(o, "retries", json_integer(0));
	cr_expect(eq(str, fields_wrong(o, "point", other).s, ""));
	cr_expect(eq(str, wrong_of(o, "point", today).s,
		     "a field that its schema does not have: retries"));
}
