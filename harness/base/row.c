/* row.c - rows of a table for people. */
#include "harness/base/row.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/check.h"
#include "common/escape.h"
#include "harness/base/text.h"

/* Bytes of text that fit into the width, cut at the last blank; a longer word stays whole. */
static size_t fitting(const char *text, size_t width)
{
	size_t n = strlen(text);

	if (n <= width)
		return n;
	for (n = width; n > 0 && text[n] != ' '; n--)
		;
	return n ? n : strcspn(text, " ");
}

/* A file name may hold anything. HARD_BLANKs stay; to be freed. */
static char *escaped(const char *text)
{
	static const char hard[] = { HARD_BLANK, '\0' };
	char *safe = malloc(ESCAPE_MOST * strlen(text) + 1), *end = safe;

	CHECK(safe, "memory of a row");
	while (*text) {
		size_t n = strcspn(text, hard);

		end = escape_controls(end, text, n);
		text += n;
		if (*text)
			*end++ = *text++;
	}
	*end = '\0';
	return safe;
}

static void wrap(FILE *out, int width, int label_width, const char *label, const char *text)
{
	char *safe = escaped(text);
	size_t n;

	for (const char *rest = safe; *label || *rest; rest += n + (rest[n] == ' ')) {
		n = fitting(rest, (size_t)(width - label_width - 1));
		fprintf(out, "%-*s ", label_width, label);
		for (size_t i = 0; i < n; i++)
			fputc(rest[i] == HARD_BLANK ? ' ' : rest[i], out);
		fputc('\n', out);
		label = "";
	}
	free(safe);
}

void row_of(FILE *out, int label_width, const char *label, const char *text)
{
	wrap(out, text_columns(STDOUT_FILENO, ROW_WIDTH), label_width, label, text);
}

void row_last(FILE *out, const char *cells, const char *text)
{
	enum { UNBOUND = 1 << 20, ROOM_LEAST = 20 };
	int before = (int)strlen(cells), width = text_columns(STDOUT_FILENO, UNBOUND);

	wrap(out, width - before < ROOM_LEAST ? UNBOUND : width, before, cells, text);
}

void row(FILE *out, const char *label, const char *fmt, ...)
{
	char *text;
	va_list args;

	va_start(args, fmt);
	CHECK(vasprintf(&text, fmt, args) >= 0, "row %s", label);
	va_end(args);
	row_of(out, ROW_LABEL, label, text);
	free(text);
}
