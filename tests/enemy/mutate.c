/* mutate.c - damages a sample; see mutate.h. */
#include "tests/enemy/mutate.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/record/record.h"

enum { LONG = 70000, DEEP = 3000 };

uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15); /* SplitMix64, Steele et al. 2014 */

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

size_t draw_below(uint64_t *state, size_t limit)
{
	return (size_t)(draw(state) % limit);
}

void bytes_set(struct bytes *to, const char *s, size_t n)
{
	char *copy = malloc(n + 1);

	CHECK(copy, "%zu bytes", n);
	memcpy(copy, s, n);
	copy[n] = '\0';
	free(to->s);
	*to = (struct bytes){ copy, n };
}

/* The bytes [at, at + n) become others. */
static void replace(struct bytes *b, size_t at, size_t n, const char *with, size_t m)
{
	char *s = malloc(b->n - n + m + 1);

	CHECK(s, "%zu bytes", b->n - n + m);
	memcpy(s, b->s, at);
	memcpy(s + at, with, m);
	memcpy(s + at + m, b->s + at + n, b->n - at - n);
	b->n += m - n;
	s[b->n] = '\0';
	free(b->s);
	b->s = s;
}

static void repeat(struct bytes *b, size_t at, size_t n, const char *what, int times)
{
	size_t length = strlen(what);
	char *s = malloc(length * (size_t)times + 1), *end = s;

	CHECK(s, "%d times %s", times, what);
	for (int i = 0; i < times; i++)
		end = stpcpy(end, what);
	replace(b, at, n, s, length * (size_t)times);
	free(s);
}

/* ---- bytes ------------------------------------------------------------------------------ */

static const char *const numbers[] = { "0",
				       "-1",
				       "1",
				       "-0",
				       "1e308",
				       "-1e308",
				       "1e999",
				       "1e-320",
				       "NaN",
				       "Infinity",
				       "-inf",
				       "2147483647",
				       "2147483648",
				       "-2147483649",
				       "4294967296",
				       "9223372036854775807",
				       "9223372036854775808",
				       "-9223372036854775808",
				       "99999999999999999999999999",
				       "0x10",
				       "1e",
				       "0.1.2",
				       "+5",
				       "1000000",
				       "65537",
				       "" };
static const char *const pieces[] = { "\xff\xfe",
				      "\xc0\x80",
				      "\xed\xa0\x80",
				      "\xf4\x90\x80\x80",
				      "\x1b[31m",
				      "''\x1b]0;owned\x07\nrift: FORGED''",
				      "\r",
				      "\t",
				      "\"",
				      "\\u0000",
				      "\\ud800",
				      "null",
				      "true",
				      "{}",
				      "[]",
				      "\"\"",
				      ",",
				      ",,",
				      ":",
				      "}",
				      "]",
				      "\n\n",
				      ">",
				      "@",
				      "+\n",
				      "P6\n",
				      "#",
				      "%s%n",
				      "../../../etc/passwd",
				      "'; exit 9; '",
				      "A,B,C" };

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* From one at random on, the first run of digits: its beginning, and its length in *n. */
static size_t find_number(const struct bytes *b, uint64_t *state, size_t *n)
{
	size_t at = draw_below(state, b->n);

	while (at < b->n && !isdigit((unsigned char)b->s[at]))
		at++;
	for (*n = 0; at + *n < b->n && strchr("0123456789.eE", b->s[at + *n]) && b->s[at + *n];)
		++*n;
	return at;
}

/* The line around a random byte: its beginning, and its length with its end in *n. */
static size_t find_line(const struct bytes *b, uint64_t *state, size_t *n)
{
	size_t at = draw_below(state, b->n), end = at;

	while (at && b->s[at - 1] != '\n')
		at--;
	while (end < b->n && b->s[end] != '\n')
		end++;
	*n = end - at + (end < b->n);
	return at;
}

static void mutate_lines(struct bytes *b, uint64_t *state)
{
	struct bytes first = { 0 }, second = { 0 };
	size_t n, m, at = find_line(b, state, &n), other = find_line(b, state, &m);

	bytes_set(&first, b->s + at, n);
	bytes_set(&second, b->s + other, m);
	switch (draw_below(state, 3)) {
	case 0: /* doubled, elsewhere */
		replace(b, other, 0, first.s, n);
		break;
	case 1: /* lost */
		replace(b, at, n, "", 0);
		break;
	default: /* swapped; the later one first, so that the other stays where it is */
		replace(b, at > other ? at : other, at > other ? n : m,
			at > other ? second.s : first.s, at > other ? m : n);
		replace(b, at > other ? other : at, at > other ? m : n,
			at > other ? first.s : second.s, at > other ? n : m);
	}
	free(first.s);
	free(second.s);
}

static void mutate_number(struct bytes *b, uint64_t *state)
{
	const char *with = numbers[draw_below(state, COUNT(numbers))];
	size_t n, at = find_number(b, state, &n);

	replace(b, at, n, with, strlen(with));
}

static void mutate_range(struct bytes *b, uint64_t *state)
{
	size_t at = draw_below(state, b->n), n = draw_below(state, b->n - at) + 1;

	n = draw(state) % 2 ? n : n % 16 + (n % 16 == 0);
	if (draw(state) % 2) {
		replace(b, at, n < b->n - at ? n : b->n - at, "", 0);
	} else {
		struct bytes again = { 0 };

		bytes_set(&again, b->s + at, n < b->n - at ? n : b->n - at);
		replace(b, at, 0, again.s, again.n);
		free(again.s);
	}
}

void mutate_bytes(struct bytes *b, uint64_t *state)
{
	size_t at = b->n ? draw_below(state, b->n) : 0;
	const char *piece = pieces[draw_below(state, COUNT(pieces))];

	switch (b->n ? draw_below(state, 12) : 8) {
	case 0:
	case 1:
		b->s[at] = (char)(b->s[at] ^ 1 << draw_below(state, 8));
		break;
	case 2:
		b->s[at] = (char)draw(state);
		break;
	case 3:
		b->s[b->n = at] = '\0';
		break;
	case 4:
		mutate_range(b, state);
		break;
	case 5:
	case 6:
		mutate_number(b, state);
		break;
	case 7:
		mutate_lines(b, state);
		break;
	case 8:
	case 9:
		replace(b, at, 0, piece, strlen(piece));
		break;
	case 10:
		repeat(b, at, 0, draw(state) % 2 ? "[" : "{\"a\":", DEEP);
		break;
	default:
		repeat(b, at, 0, draw(state) % 2 ? "A" : "9", LONG);
	}
}

/* ---- JSON ------------------------------------------------------------------------------- */

static json_t *deep(void)
{
	json_t *o = json_integer(1);

	for (int i = 0; i < 1500; i++) { /* less than jansson takes */
		json_t *outer = json_array();

		json_array_append_new(outer, o);
		o = outer;
	}
	return o;
}

static json_t *long_text(void)
{
	char *s = malloc(LONG + 1);
	json_t *o;

	CHECK(s, "memory");
	memset(s, 'x', LONG);
	s[LONG] = '\0';
	o = json_string(s);
	free(s);
	return o;
}

/* A value that is not what `old` was. */
static json_t *another(const json_t *old, uint64_t *state)
{
	static const json_int_t integers[] = { 0,	  -1,	     1,		2,
					       3,	  17,	     1000,	65536,
					       INT32_MAX, INT64_MAX, INT64_MIN, 1LL << 31,
					       1LL << 32, 1000000,   -5 };
	static const double reals[] = { 0.0, -0.0, -1.5, 1e308, -1e308, 1e-320, 0.1, 1e18, 1e-9 };
	static const char *const texts[] = {
		"",	  "x",	    "-1",     "1e999", "\x1b[31mred", "a\nb", "\xc2\x9b",
		"launch", "stream", "graph",  "fused", "a",	      "b",    "0",
		"failed", "passed", "%s%n%d", "2.0",   "1.999",	      "spin"
	};
	json_t *o;

	switch (draw_below(state, 13)) {
	case 0:
		return json_null();
	case 1:
		return json_boolean(draw(state) % 2);
	case 2:
		return json_array();
	case 3:
		return json_object();
	case 4:
	case 5:
		return json_integer(integers[draw_below(state, COUNT(integers))]);
	case 6:
		return json_real(reals[draw_below(state, COUNT(reals))]);
	case 7:
	case 8:
		return json_string(texts[draw_below(state, COUNT(texts))]);
	case 9:
		return long_text();
	case 10:
		return deep();
	case 11: /* of its own kind, only more of it */
		if (!json_is_array(old))
			return json_real(json_number_value(old) * 1e6);
		o = json_deep_copy(old);
		for (int i = 0; i < 7; i++)
			json_array_extend(o, (json_t *)(uintptr_t)old);
		return o;
	default: /* or less */
		if (!json_is_array(old) || !json_array_size(old))
			return json_real(-json_number_value(old));
		o = json_deep_copy(old);
		json_array_remove(o, draw_below(state, json_array_size(o)));
		return o;
	}
}

/* Counts *left down at every value under o; where it is 0, that one becomes another, or is lost. */
static bool change(json_t *o, size_t *left, uint64_t *state)
{
	json_t *value;
	const char *key;
	size_t i;
	void *next;

	json_object_foreach_safe(o, next, key, value)
	{
		if (!(*left)--)
			return draw(state) % 8 ? !json_object_set_new(o, key, another(value, state))
					       : !json_object_del(o, key);
		if (change(value, left, state))
			return true;
	}
	json_array_foreach(o, i, value)
	{
		if (!(*left)--)
			return draw(state) % 8 ? !json_array_set_new(o, i, another(value, state))
					       : !json_array_remove(o, i);
		if (change(value, left, state))
			return true;
	}
	return false;
}

static bool is_empty(const json_t *o)
{
	return !json_object_size(o) && !json_array_size(o);
}

/* Every level is as likely as those below it, whatever its arrays hold: another, or lost. */
static bool change_near(json_t *o, uint64_t *state)
{
	size_t members = json_object_size(o), n = members ? members : json_array_size(o);
	size_t i = n ? draw_below(state, n) : 0;
	void *at = json_object_iter(o);
	json_t *value;

	if (!n)
		return false;
	for (size_t k = 0; members && k < i; k++)
		at = json_object_iter_next(o, at);
	value = members ? json_object_iter_value(at) : json_array_get(o, i);
	if (!is_empty(value) && draw(state) % 3)
		return change_near(value, state);
	if (draw(state) % 4)
		return members ? !json_object_iter_set_new(o, at, another(value, state))
			       : !json_array_set_new(o, i, another(value, state));
	return members ? !json_object_del(o, json_object_iter_key(at)) : !json_array_remove(o, i);
}

/* Values under o, itself not among them. */
static size_t count_values(const json_t *o)
{
	const char *key;
	json_t *value;
	size_t i, n = 0;

	json_object_foreach((json_t *)(uintptr_t)o, key, value)
	{
		n += 1 + count_values(value);
	}
	json_array_foreach(o, i, value)
	{
		n += 1 + count_values(value);
	}
	return n;
}

/*
 * One byte is as likely as another, but points are many, and their figures are checked against each
 * other: the first two lines, plan and header, are chosen as often as all others.
 */
static size_t choose_line(const struct bytes *b, uint64_t *state, size_t *n)
{
	size_t at = 0;
	const char *end = memchr(b->s, '\n', b->n);

	if (!end || draw(state) % 2)
		return find_line(b, state, n);
	if (draw(state) % 2) {
		at = (size_t)(end + 1 - b->s);
		end = memchr(b->s + at, '\n', b->n - at);
	}
	*n = end ? (size_t)(end + 1 - b->s) - at : b->n - at;
	return at;
}

bool mutate_json(struct bytes *b, uint64_t *state)
{
	size_t n = b->n, at = 0, left, values;
	json_t *o = b->n ? json_loadb(b->s, b->n, 0, NULL) : NULL;
	char *text;

	if (!o && b->n) {
		at = choose_line(b, state, &n);
		o = json_loadb(b->s + at, n, 0, NULL);
	}
	values = o ? count_values(o) : 0;
	left = values ? draw_below(state, values) : 0;
	if (!values || !(draw(state) % 2 ? change(o, &left, state) : change_near(o, state))) {
		json_decref(o);
		return false;
	}
	text = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	if (!text)
		return false;
	replace(b, at, n, text, strlen(text));
	if (at || n < b->n)
		replace(b, at + strlen(text), 0, "\n", 1);
	free(text);
	return true;
}

/* ---- signatures ------------------------------------------------------------------------- */

static bool is_record(const json_t *o, const char *kind)
{
	const char *record = json_string_value(json_object_get(o, "record"));

	return record && !strcmp(record, kind);
}

/* The line again, with its signatures; false: it has none. */
static bool diagnostic_line(struct bytes *line, const struct hash *before, char plan[HASH_TEXT])
{
	json_t *o = json_loadb(line->s, line->n, 0, NULL);
	char hash[HASH_TEXT], *text = NULL;
	bool signs = false;

	if (o && is_record(o, "plan") && json_object_get(o, "plan"))
		hash_json(json_object_get(o, "plan"), plan);
	if (json_object_get(o, "plan_sha256"))
		signs = !json_object_set_new(o, "plan_sha256", json_string(plan));
	if (json_object_get(o, "lines_sha256")) {
		hash_text(before, hash);
		signs = !json_object_set_new(o, "lines_sha256", json_string(hash));
	}
	if (json_object_get(o, "crc32"))
		signs = !json_object_set_new(o, "crc32", json_integer(record_crc32(o)));
	if (signs)
		text = json_dumps(o, JSON_COMPACT);
	if (text) {
		bytes_set(line, text, strlen(text));
		replace(line, line->n, 0, "\n", 1);
	}
	free(text);
	json_decref(o);
	return text != NULL;
}

void mutate_sign(struct bytes *b)
{
	char plan[HASH_TEXT] = "";
	struct hash all;
	size_t at = 0;

	hash_start(&all);
	while (at < b->n) {
		const char *end = memchr(b->s + at, '\n', b->n - at);
		size_t n = end ? (size_t)(end + 1 - b->s) - at : b->n - at;
		struct bytes line = { 0 };

		bytes_set(&line, b->s + at, n);
		if (diagnostic_line(&line, &all, plan))
			replace(b, at, n, line.s, line.n);
		hash_add(&all, line.s, line.n);
		at += line.n;
		free(line.s);
	}
}
