/* param.c - declared parameters: name=value into a struct, and back into text. */
#include "harness/base/param.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/param.h"
#include "harness/base/json.h"
#include "harness/base/text.h"

/* ---- one struct of declared parameters: defaults, name=value, who was set --------------- */

int params_find(const struct param *rows, const char *name, size_t name_len)
{
	for (int i = 0; rows[i].name; i++)
		if (strlen(rows[i].name) == name_len && !memcmp(rows[i].name, name, name_len))
			return i;
	return -1;
}

void params_init(struct params *p, const struct param *rows, const char *owner, void *opts)
{
	*p = (struct params){ .rows = rows, .owner = owner, .prefix = "", .opts = opts };
	for (int i = 0; rows[i].name; i++) {
		CHECK(i < PARAM_ROWS_MAX, "%s declares more than %d parameters", owner,
		      PARAM_ROWS_MAX);
		if (!*rows[i].def)
			continue;
		CHECK(param_parse(&rows[i], rows[i].name, rows[i].def, opts) == 0,
		      "default of %s's parameter %s", owner, rows[i].name);
	}
}

static int refuse_unknown(const struct params *p, const char *name)
{
	struct suggestion near = suggest_start(name);
	struct text word = text_shown(name);

	for (const struct param *row = p->rows; row->name; row++)
		suggest_offer(&near, row->name);
	if (near.best)
		return complain(EINVAL, "unknown parameter '%s' of %s; did you mean '%s'?", word.s,
				p->owner, near.best);
	return complain(EINVAL, "unknown parameter '%s' of %s; `%s %s` shows them", word.s,
			p->owner, p->shown_by ? p->shown_by : "rift list", p->owner);
}

int params_set(struct params *p, const char *name, const char *value)
{
	int i = params_find(p->rows, name, strlen(name)), err;
	char label[512];

	if (i < 0)
		return refuse_unknown(p, name);
	snprintf(label, sizeof(label), "%s%s", p->prefix, name);
	if (p->given[i])
		return complain(EINVAL, "%s=%s: %s is given twice", label, text_shown(value).s,
				label);
	err = param_parse(&p->rows[i], label, value, p->opts);
	if (!err)
		p->given[i] = true;
	return err;
}

int params_assign(struct params *p, const char *assignment)
{
	const char *equals = strchr(assignment, '=');
	char *name;
	int err;

	if (!equals && params_find(p->rows, assignment, strlen(assignment)) >= 0)
		return complain(EINVAL, "'%s' has no value; write %s=VALUE", assignment,
				assignment);
	if (!equals || equals == assignment)
		return complain(EINVAL, "'%s' must be name=value, as parameters of %s are",
				text_shown(assignment).s, p->owner);
	name = strndup(assignment, (size_t)(equals - assignment));
	CHECK(name, "%zu bytes", (size_t)(equals - assignment));
	err = params_set(p, name, equals + 1);
	free(name);
	return err;
}

void params_release(struct params *p)
{
	for (const struct param *row = p->rows; row && row->name; row++) {
		char **path = (char **)((char *)p->opts + row->offset);

		if (row->kind != PARAM_PATH)
			continue;
		free(*path);
		*path = NULL;
	}
}

/* ---- one value, parsed whole or refused with a line that says what would be right ------- */

/* A parser of one value returns NULL, or why the text is refused. */
static const char *const out_of_range = "out of range";

/* Exact: a limit above 2^53 and its neighbours are different integers but equal doubles. */
static bool int_in_range(const struct param *row, int64_t v)
{
	if (row->min > -0x1p63 && v < (int64_t)ceil(row->min))
		return false;
	return !(row->max < 0x1p63) || v <= (int64_t)floor(row->max);
}

/* v * 1024^k for the suffix at *s, which is stepped over. False on overflow. */
static bool apply_suffix(const char **s, int64_t *v)
{
	int shift = **s == 'k' || **s == 'K' ? 10 : **s == 'M' ? 20 : **s == 'G' ? 30 : 0;

	if (shift)
		++*s;
	return !__builtin_mul_overflow(*v, (int64_t)1 << shift, v);
}

/*
 * A whole number in the len bytes at s. Digits are read to the end after an overflow, so that
 * 99999999999999999999x is called what it is: not a number.
 */
static const char *parse_int(const struct param *row, const char *s, size_t len, int64_t *out)
{
	const char *end = s + len;
	bool negative = len > 0 && *s == '-', overflow = false;
	int64_t v = 0;

	if (len == 0)
		return "empty";
	s += negative;
	if (s == end || *s < '0' || *s > '9')
		return "not a whole number";
	for (; s < end && *s >= '0' && *s <= '9'; s++) {
		int digit = *s - '0';

		overflow |= __builtin_mul_overflow(v, 10, &v) ||
			    __builtin_add_overflow(v, negative ? -digit : digit, &v);
	}
	if (s < end && (*s == 'e' || *s == 'E'))
		return "whole numbers take no exponent";
	if (s < end && row->kind != PARAM_INT)
		overflow |= !apply_suffix(&s, &v);
	if (s != end)
		return "not a whole number";
	if (overflow || !int_in_range(row, v))
		return out_of_range;
	*out = v;
	return NULL;
}

static const char *parse_real(const struct param *row, const char *text, double *out)
{
	char *end;
	double v;

	if (!*text)
		return "empty";
	/* strtod() would also take blanks, inf, nan and 0x1p3 */
	if (text[strspn(text, "0123456789+-.eE")])
		return "not a decimal number";
	errno = 0;
	v = strtod(text, &end);
	if (end == text || *end)
		return "not a decimal number";
	if (errno == ERANGE || !(v >= row->min && v <= row->max))
		return out_of_range;
	*out = v;
	return NULL;
}

/* Into a copy, so that a bad element leaves the field as it was. */
static const char *parse_list(const struct param *row, const char *text, struct param_list *out)
{
	struct param_list list = { 0 };
	const char *why;
	size_t len;

	if (!*text)
		return "empty";
	for (;; text += len + 1) {
		if (list.n == PARAM_LIST_MAX)
			return "too many elements";
		len = strcspn(text, ",");
		if (!len)
			return "empty element";
		why = parse_int(row, text, len, &list.value[list.n++]);
		if (why)
			return why;
		if (!text[len])
			break;
	}
	*out = list;
	return NULL;
}

/* Exact, case included; the nearest spelling is suggested by refuse_value(). */
static const char *parse_choice(const struct param *row, const char *text, int *out)
{
	for (int i = 0; row->choices[i]; i++) {
		if (!strcmp(row->choices[i], text)) {
			*out = i;
			return NULL;
		}
	}
	return *text ? "no such choice" : "empty";
}

/* Whether the file can be opened is for the workload to say. */
static const char *parse_path(const char *text, char **out)
{
	char *copy;

	if (!*text)
		return "empty";
	copy = strdup(text);
	CHECK(copy, "%zu bytes", strlen(text));
	free(*out);
	*out = copy;
	return NULL;
}

/* Is its unit a form, which says all that its value must be? */
static bool has_form(const struct param *row)
{
	return (row->kind == PARAM_PATH && *row->unit) ||
	       (row->kind == PARAM_LIST && strchr(row->unit, ','));
}

/* "LABEL=VALUE: WHY; must be RIGHT": one line whatever the user typed. */
static int refuse_value(const struct param *row, const char *label, const char *value,
			const char *why)
{
	static const char *const must[] = { "a whole number, ",
					    "a whole number (k, M, G: powers of 1024), ",
					    "a decimal number, ",
					    "one of ",
					    "a ",
					    "1 to 32 whole numbers with commas, each " };
	bool says_all = has_form(row);
	struct text unit = param_unit(row);
	struct suggestion near;
	char range[512];

	param_range(row, range, sizeof(range));
	near = suggest_start(value);
	for (int i = 0; row->kind == PARAM_CHOICE && row->choices[i]; i++)
		suggest_offer(&near, row->choices[i]);
	return complain(EINVAL, "%s=%s: %s; must be %s%s%s%s", label, text_shown(value).s, why,
			says_all ? "" : must[row->kind], range, unit.s, suggest_hint(&near).s);
}

int param_parse(const struct param *row, const char *label, const char *value, void *opts)
{
	void *field = (char *)opts + row->offset;
	const char *why = NULL;

	switch (row->kind) {
	case PARAM_INT:
	case PARAM_SIZE:
		why = parse_int(row, value, strlen(value), field);
		break;
	case PARAM_REAL:
		why = parse_real(row, value, field);
		break;
	case PARAM_CHOICE:
		why = parse_choice(row, value, field);
		break;
	case PARAM_PATH:
		why = parse_path(value, field);
		break;
	case PARAM_LIST:
		why = parse_list(row, value, field);
		break;
	}
	return why ? refuse_value(row, label, value, why) : 0;
}

int param_read(const struct param *row, const char *label, const char *text, union param_value *out)
{
	struct param alone = *row;

	alone.offset = 0;
	return param_parse(&alone, label, text, out);
}

void params_put(struct params *p, int i, const union param_value *value)
{
	void *field = (char *)p->opts + p->rows[i].offset;

	switch (p->rows[i].kind) {
	case PARAM_INT:
	case PARAM_SIZE:
		*(int64_t *)field = value->whole;
		break;
	case PARAM_REAL:
		*(double *)field = value->real;
		break;
	case PARAM_CHOICE:
		*(int *)field = value->choice;
		break;
	case PARAM_PATH:
		parse_path(value->path, field);
		break;
	case PARAM_LIST:
		*(struct param_list *)field = value->list;
		break;
	}
	p->given[i] = true;
}

/* Fields, which are smaller than a param_value: each is read as what it is. */
bool param_equal(const struct param *row, const void *a, const void *b)
{
	const struct param_list *x = a, *y = b;
	const char *p, *q;

	switch (row->kind) {
	case PARAM_INT:
	case PARAM_SIZE:
		return *(const int64_t *)a == *(const int64_t *)b;
	case PARAM_REAL:
		return *(const double *)a == *(const double *)b;
	case PARAM_CHOICE:
		return *(const int *)a == *(const int *)b;
	case PARAM_PATH:
		p = *(const char *const *)a;
		q = *(const char *const *)b;
		return p && q ? !strcmp(p, q) : p == q;
	case PARAM_LIST:
		return x->n == y->n &&
		       !memcmp(x->value, y->value, (size_t)x->n * sizeof(*x->value));
	}
	return false;
}

void param_drop(const struct param *row, union param_value *value)
{
	if (row->kind != PARAM_PATH)
		return;
	free(value->path);
	value->path = NULL;
}

/* ---- declared parameters as text and JSON: values, ranges, units, rows ------------------ */

/* Appends to out, cut to fit; *used counts what is there. */
static void append_text(char *out, size_t size, size_t *used, const char *s)
{
	int n = snprintf(out + *used, size - *used, "%s", s);

	*used = *used + (size_t)n < size ? *used + (size_t)n : size - 1;
}

static bool is_whole(const struct param *row)
{
	return row->kind == PARAM_INT || row->kind == PARAM_SIZE || row->kind == PARAM_LIST;
}

static void format_list(const struct param_list *list, char *out, size_t size)
{
	size_t used = 0;

	*out = '\0';
	for (int i = 0; i < list->n; i++) {
		append_text(out, size, &used, i ? "," : "");
		append_text(out, size, &used, text_int(list->value[i], 1).s);
	}
}

void param_format(const struct param *row, const void *opts, char *out, size_t size)
{
	const void *field = (const char *)opts + row->offset;
	const char *path;

	switch (row->kind) {
	case PARAM_INT:
	case PARAM_SIZE:
		snprintf(out, size, "%s",
			 text_int(*(const int64_t *)field, row->kind == PARAM_SIZE).s);
		break;
	case PARAM_REAL:
		snprintf(out, size, "%s", text_real(*(const double *)field).s);
		break;
	case PARAM_CHOICE:
		snprintf(out, size, "%s", row->choices[*(const int *)field]);
		break;
	case PARAM_PATH:
		path = *(const char *const *)field;
		snprintf(out, size, "%s", path ? path : "");
		break;
	case PARAM_LIST:
		format_list(field, out, size);
		break;
	}
}

/* A limit as text; whole numbers beyond int64 cannot be reached and have no text. */
static struct text limit_text(const struct param *row, double limit)
{
	if (is_whole(row))
		return text_int((int64_t)limit, row->kind != PARAM_INT);
	return text_real(limit);
}

static bool is_bound(const struct param *row, double limit)
{
	return is_whole(row) ? fabs(limit) < 0x1p63 : fabs(limit) < HUGE_VAL;
}

/* A missing limit is left out rather than printed as a huge number. */
static void range_of_numbers(const struct param *row, char *out, size_t size)
{
	bool low = is_bound(row, row->min), high = is_bound(row, row->max);

	if (low && high)
		snprintf(out, size, "%s to %s", limit_text(row, row->min).s,
			 limit_text(row, row->max).s);
	else if (low)
		snprintf(out, size, "at least %s", limit_text(row, row->min).s);
	else if (high)
		snprintf(out, size, "at most %s", limit_text(row, row->max).s);
	else
		snprintf(out, size, "any");
}

void param_range(const struct param *row, char *out, size_t size)
{
	size_t used = 0;

	*out = '\0';
	if (row->kind == PARAM_PATH)
		append_text(out, size, &used, *row->unit ? row->unit : "file name");
	else if (has_form(row)) {
		used = (size_t)snprintf(out, size, "%s: whole numbers, each ", row->unit);
		range_of_numbers(row, out + used, size - used);
	} else if (row->kind != PARAM_CHOICE)
		range_of_numbers(row, out, size);
	else
		for (int i = 0; row->choices[i]; i++) {
			append_text(out, size, &used, i ? ", " : "");
			append_text(out, size, &used, row->choices[i]);
		}
}

const char *param_kind_name(const struct param *row)
{
	static const char *const name[] = { "int", "size", "real", "choice", "path", "list" };

	return row->kind == PARAM_PATH && *row->unit ? "text" : name[row->kind];
}

bool param_is_default(const struct param *row, const void *opts)
{
	union param_value def = { 0 };
	bool same;

	if (!*row->def && row->kind != PARAM_PATH && row->kind != PARAM_LIST)
		return false;
	if (*row->def && param_read(row, row->name, row->def, &def))
		return false;
	same = param_equal(row, (const char *)opts + row->offset, &def);
	param_drop(row, &def);
	return same;
}

struct text param_unit(const struct param *row)
{
	struct text t = { "" };

	if (row->kind != PARAM_PATH && !has_form(row) && *row->unit && strcmp(row->unit, "1"))
		snprintf(t.s, sizeof(t.s), " %s", row->unit);
	return t;
}

json_t *param_json(const struct param *row, const void *opts)
{
	const void *field = (const char *)opts + row->offset;
	const struct param_list *list = field;
	json_t *array;

	switch (row->kind) {
	case PARAM_INT:
	case PARAM_SIZE:
		return json_integer(*(const int64_t *)field);
	case PARAM_REAL:
		return json_number(*(const double *)field);
	case PARAM_CHOICE:
		return json_string(row->choices[*(const int *)field]);
	case PARAM_PATH:
		return json_text(*(const char *const *)field);
	case PARAM_LIST:
		array = json_array();
		for (int i = 0; i < list->n; i++)
			json_array_append_new(array, json_integer(list->value[i]));
		return array;
	}
	return json_null();
}

/* Integers stay integers, and what is no limit is null. */
static json_t *limit_json(const struct param *row, double limit)
{
	if (row->kind == PARAM_CHOICE || row->kind == PARAM_PATH || !is_bound(row, limit))
		return json_null();
	return is_whole(row) ? json_integer((int64_t)limit) : json_real(limit);
}

json_t *param_row_json(const struct param *row)
{
	json_t *choices = json_null(), *o = json_object();

	if (row->kind == PARAM_CHOICE) {
		choices = json_array();
		for (int i = 0; row->choices[i]; i++)
			json_array_append_new(choices, json_string(row->choices[i]));
	}
	json_object_set_new(o, "name", json_string(row->name));
	json_object_set_new(o, "kind", json_string(param_kind_name(row)));
	json_object_set_new(o, "unit", json_string(row->unit));
	json_object_set_new(o, "default", *row->def ? json_string(row->def) : json_null());
	json_object_set_new(o, "min", limit_json(row, row->min));
	json_object_set_new(o, "max", limit_json(row, row->max));
	json_object_set_new(o, "choices", choices);
	json_object_set_new(o, "help", json_string(row->help));
	json_object_set_new(o, "axis", json_text(row->axis));
	json_object_set_new(o, "one_factor", json_text(row->one_factor));
	return o;
}
