/* axis.c - the values that a sweep gives to one parameter: lists and ranges, read once. */
#include "harness/measure/axis.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/param.h"
#include "harness/base/text.h"

/* What is being parsed, for messages. */
struct source {
	const struct param *row;
	const char *label, *text;
};

static int refuse_text(const struct source *s, const char *why)
{
	return complain(EINVAL, "%s=%s: %s", s->label, text_shown(s->text).s, why);
}

/* Takes the value. A path is the only one, so none is refused here. */
static int keep_value(struct axis *out, const struct source *s, union param_value value)
{
	for (int i = 0; i < out->n; i++)
		if (param_equal(s->row, &out->value[i], &value))
			return refuse_text(s, "one value twice");
	if (out->n == AXIS_VALUES_MAX)
		return refuse_text(s, "more than 256 values");
	out->value = realloc(out->value, (size_t)(out->n + 1) * sizeof(*out->value));
	CHECK(out->value, "memory of %d values", out->n);
	out->value[out->n++] = value;
	return 0;
}

static int take_one(struct axis *out, const struct source *s, const char *text)
{
	union param_value value = { 0 };
	int err = param_read(s->row, s->label, text, &value);

	return err ? err : keep_value(out, s, value);
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
		return refuse_text(s,
				   "a range is FROM:TO:xFACTOR or FROM:TO:+STEP, factor above 1");
	return 0;
}

static double get_number(const struct param *row, const union param_value *v)
{
	return row->kind == PARAM_REAL ? v->real : (double)v->whole;
}

static union param_value make_number(const struct param *row, double v)
{
	if (row->kind == PARAM_REAL)
		return (union param_value){ .real = v };
	return (union param_value){ .whole = llround(v) };
}

/* Values from lo on; rounding must not lose the last one, nor go beyond it. */
static int take_range(struct axis *out, const struct source *s, double lo, double hi,
		      const char *step)
{
	double factor, more, v = lo;
	int err = parse_step(s, step, &factor, &more);

	if (!err && !(lo <= hi && (lo > 0 || factor == 1)))
		err = refuse_text(s, "a range must rise, and with a factor start above 0");
	for (; !err && v <= hi * (1 + 1e-12); v = v * factor + more)
		err = keep_value(out, s, make_number(s->row, fmin(v, hi)));
	return err;
}

/* FROM:TO:STEP; the parts are cut out of a copy. */
static int parse_range(struct axis *out, const struct source *s, char *item)
{
	char *to = strchr(item, ':') + 1, *step = strchr(to, ':');
	union param_value lo = { 0 }, hi = { 0 };
	int err;

	to[-1] = '\0';
	if (step)
		*step++ = '\0';
	err = param_read(s->row, s->label, item, &lo);
	if (!err)
		err = param_read(s->row, s->label, to, &hi);
	if (!err)
		err = take_range(out, s, get_number(s->row, &lo), get_number(s->row, &hi),
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

	*out = (struct axis){ .row = row };
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
		union param_value kept = a->value[from];

		a->value[from] = a->value[i];
		a->value[i] = kept;
	}
	while (a->n > n)
		param_drop(a->row, &a->value[--a->n]);
}

void axis_release(struct axis *a)
{
	while (a->n)
		param_drop(a->row, &a->value[--a->n]);
	free(a->value);
	*a = (struct axis){ 0 };
}
