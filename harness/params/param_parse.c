/* param_parse.c - one value, parsed whole or refused with a line that says what would be right. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/spell.h"
#include "harness/params/param.h"

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

/* Exact, case included; the nearest spelling is suggested by refuse(). */
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

/* "LABEL=VALUE: WHY; must be RIGHT": one line whatever the user typed. */
static int refuse(const struct param *row, const char *label, const char *value, const char *why)
{
	static const char *const must[] = { "a whole number, ",
					    "a whole number (k, M, G: powers of 1024), ",
					    "a decimal number, ",
					    "one of ",
					    "a ",
					    "1 to 32 whole numbers with commas, each " };
	bool is_text = row->kind == PARAM_PATH && *row->unit;
	struct spell near = spell_start(value);
	char range[512];

	for (int i = 0; row->kind == PARAM_CHOICE && row->choices[i]; i++)
		spell_offer(&near, row->choices[i]);
	param_range(row, range, sizeof(range));
	return complain(EINVAL, "%s=%s: %s; must be %s%s%s%s", label, text_shown(value).s, why,
			is_text ? "" : must[row->kind], range, param_unit(row).s,
			spell_hint(&near).s);
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
	return why ? refuse(row, label, value, why) : 0;
}
