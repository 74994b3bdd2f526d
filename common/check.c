/* check.c - one line that says what broke and where. */
#include "common/check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_BYTES = 1024, HEAD_BYTES = 600 };

static void (*on_death)(const char *line);

/*
 * Appends n bytes of text, control characters as \n, \x1b or \u009b: the name of a file breaks
 * no line and commands no terminal. At most 4 bytes for each. Returns the end.
 */
static char *escape(char *out, const char *text, size_t n)
{
	const unsigned char *c = (const unsigned char *)text, *end = c + n;

	for (; c < end; c++) {
		if (*c == '\n' || *c == '\t')
			out += sprintf(out, "\\%c", *c == '\n' ? 'n' : 't');
		else if (*c < 0x20 || *c == 0x7f)
			out += sprintf(out, "\\x%02x", *c);
		else if (*c == 0xc2 && c + 1 < end && c[1] >= 0x80 && c[1] < 0xa0)
			out += sprintf(out, "\\u%04x", *++c);
		else
			*out++ = (char)*c;
	}
	return out;
}

static int is_continuation(char c)
{
	return (c & 0xc0) == 0x80;
}

/*
 * One fputs, so that lines of several threads or processes do not mix. Of a text that is too long
 * the middle is left out, a long name mostly: what is wrong with it comes last.
 */
static void put_line(const char *before, const char *text)
{
	char line[4 * LINE_MAX_BYTES], *end = stpcpy(line, before);
	size_t n = strlen(text), head = n, tail = n;

	if (n > LINE_MAX_BYTES - 16) {
		head = HEAD_BYTES;
		tail = n - (LINE_MAX_BYTES - 16 - HEAD_BYTES);
		while (head > HEAD_BYTES - 4 && is_continuation(text[head]))
			head--;
		while (is_continuation(text[tail]))
			tail++;
	}
	end = escape(end, text, head);
	if (tail > head)
		end += sprintf(end, " ... ");
	end = escape(end, text + tail, n - tail);
	strcpy(end, "\n");
	fflush(stdout);
	fputs(line, stderr);
}

int complain(int err, const char *fmt, ...)
{
	char *text = NULL;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	put_line("rift: ", n < 0 ? "no memory to say what is wrong" : text);
	if (n >= 0)
		free(text);
	return -err;
}

void die_hook(void (*hook)(const char *line))
{
	on_death = hook;
}

void die_at(const char *file, int line_no, const char *func, const char *expr, const char *fmt, ...)
{
	void (*hook)(const char *) = on_death;
	bool starved = errno == ENOMEM;
	char line[LINE_MAX_BYTES];
	va_list args;
	int used;

	used = snprintf(line, sizeof(line), "%s:%d: %s: %s failed: ", file, line_no, func, expr);
	if (used < 0 || used >= (int)sizeof(line))
		used = (int)sizeof(line) - 1;
	va_start(args, fmt);
	vsnprintf(line + used, sizeof(line) - (size_t)used, fmt, args);
	va_end(args);
	if (starved && !hook) {
		put_line("rift: no memory or threads left, see ulimit -a: ", line);
		quick_exit(NO_MEMORY);
	}
	put_line("", line);

	on_death = NULL; /* a failure inside the hook must not call it again */
	if (hook)
		hook(line);
	abort();
}
