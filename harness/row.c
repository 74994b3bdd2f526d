/* row.c - rows of a table for people. */
#include "harness/row.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"

/* Bytes of text that fit into the room, cut at the last blank; a longer word stays whole. */
static size_t fitting(const char *text, size_t room)
{
	size_t n = strlen(text);

	if (n <= room)
		return n;
	for (n = room; n > 0 && text[n] != ' '; n--)
		;
	return n ? n : strcspn(text, " ");
}

/* A file name may hold anything. */
static char shown(char c)
{
	return c == HARD_BLANK ? ' ' : iscntrl((unsigned char)c) ? '?' : c;
}

void row_of(FILE *out, int label_width, const char *label, const char *text)
{
	size_t n;

	for (const char *rest = text; *label || *rest; rest += n + (rest[n] == ' ')) {
		n = fitting(rest, (size_t)(ROW_WIDTH - label_width - 1));
		fprintf(out, "%-*s ", label_width, label);
		for (size_t i = 0; i < n; i++)
			fputc(shown(rest[i]), out);
		fputc('\n', out);
		label = "";
	}
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
