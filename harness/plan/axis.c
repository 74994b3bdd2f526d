/* axis.c - the values that a sweep gives to one parameter. */
#include "harness/plan/request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/param.h"

/* Room for one value of any kind, as a parser wants it. */
union field {
	int64_t whole;
	double real;
	int choice;
	char *path;
	struct param_list list;
};

/* What is being parsed, for messages. */
struct source {
	const struct param *row;
	const char *label, *text;
};

static int refuse(const struct source *s, const char *why)
{
	return complain(EINVAL, "%s=%s: %s", s->label, text_shown(s->text).s, why);
}

static int keep(struct axis *out, const struct source *s, const char *value)
{
	for (int i = 0; i < out->n; i++)
		if (!strcmp(out->value[i], value))
			return refuse(s, "one value twice");
	if (out->n == AXIS_VALUES_MAX)
		return refuse(s, "more than 256 values");
	out->value = realloc(out->value, (size_t)(out->n + 1) * sizeof(*out->value));
	CHECK(out->value, "memory of %d values", out->n);
	out->value[out->n] = strdup(value);
	CHECK(out->value[out->n], "memory of a value");
	out->n++;
	return 0;
}

/* Parses the text into field, then keeps it in the spelling that all values of a row share. */
static int take(struct axis *out, const struct source *s, const char *text, union field *field)
{
	struct param alone = *s->row;
	char value[512];
	int err;

	alone.offset = 0;
	err = param_parse(&alone, s->label, text, field);
	if (err)
		return err;
	if (alone.kind == PARAM_PATH)
		return keep(out, s, text);
	param_format(&alone, field, value, sizeof(value));
	return keep(out, s, value);
}

static int take_one(struct axis *out, const struct source *s, const char *text)
{
	union field field = { 0 };
	int err = take(out, s, text, &field);

	if (s->row->kind == PARAM_PATH)
		free(field.path);
	return err;
}

/* "x2" or "+10" into a factor or an increment; the other one stays neutral. */
static int parse_step(const struct source *s, const char *step, double *factor, double *more)
{
	char *end;
	double v = strtod(*step ? step + 1 : step, &end);

	*factor = 1;
	*more = 0;
	if (*step == 'x' && !*end && v > 1)
		*factor = v;
	else if (*step == '+' && !*end && v > 0)
		*more = v;
	else
		return refuse(s, "a range is FROM:TO:xFACTOR or FROM:TO:+STEP, factor above 1");
	return 0;
}

static double number_of(const struct param *row, const union field *f)
{
	return row->kind == PARAM_REAL ? f->real : (double)f->whole;
}

/* Values from lo on; rounding must not lose the last one. */
static int take_range(struct axis *out, const struct source *s, double lo, double hi,
		      const char *step)
{
	double factor, more, v = lo;
	int err = parse_step(s, step, &factor, &more);
	char text[80];

	if (!err && !(lo <= hi && (lo > 0 || factor == 1)))
		err = refuse(s, "a range goes upwards, and by a factor only from above 0");
	for (; !err && v <= hi * (1 + 1e-12); v = v * factor + more) {
		if (s->row->kind == PARAM_REAL)
			snprintf(text, sizeof(text), "%s", text_real(v).s);
		else
			snprintf(text, sizeof(text), "%.0f", v);
		err = take_one(out, s, text);
	}
	return err;
}

/* FROM:TO:STEP; the parts are cut out of a copy. */
static int parse_range(struct axis *out, const struct source *s, char *item)
{
	char *to = strchr(item, ':') + 1, *step = strchr(to, ':');
	struct param alone = *s->row;
	union field lo = { 0 }, hi = { 0 };
	int err;

	to[-1] = '\0';
	if (step)
		*step++ = '\0';
	alone.offset = 0;
	err = param_parse(&alone, s->label, item, &lo);
	if (!err)
		err = param_parse(&alone, s->label, to, &hi);
	if (!err)
		err = take_range(out, s, number_of(&alone, &lo), number_of(&alone, &hi),
				 step ? step : "x2");
	return err;
}

static bool is_number(const struct param *row)
{
	return row->kind == PARAM_INT || row->kind == PARAM_SIZE || row->kind == PARAM_REAL;
}

int axis_parse(struct axis *out, const struct param *row, const char *label, const char *text)
{
	const struct source s = { row, label, text };
	char *copy, *rest, *item;
	int err = 0;

	*out = (struct axis){ 0 };
	if (row->kind == PARAM_PATH)
		return take_one(out, &s, text);
	copy = rest = strdup(text);
	CHECK(copy, "%zu bytes", strlen(text));
	while (!err && (item = strsep(&rest, row->kind == PARAM_LIST ? "/" : ",")))
		err = is_number(row) && strchr(item, ':') ? parse_range(out, &s, item)
							  : take_one(out, &s, item);
	free(copy);
	return err;
}

void axis_thin(struct axis *a, int n)
{
	if (a->n <= n || n < 2)
		return;
	for (int i = 0; i < n; i++) {
		/* nearest; never the same twice, as the axis has more values than n */
		int from = (int)((2 * (long)i * (a->n - 1) + (n - 1)) / (2 * (n - 1)));
		char *kept = a->value[from];

		a->value[from] = a->value[i];
		a->value[i] = kept;
	}
	for (int i = n; i < a->n; i++)
		free(a->value[i]);
	a->n = n;
}

void axis_release(struct axis *a)
{
	for (int i = 0; i < a->n; i++)
		free(a->value[i]);
	free(a->value);
	*a = (struct axis){ 0 };
}
