/* check.c - one line that says what broke and where. */
#include "common/check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/escape.h"

enum { LINE_MAX_BYTES = 1024, HEAD_BYTES = 600 };

static void (*on_death)(const char *line);
static _Thread_local bool is_silent;

static int is_continuation(char c)
{
	return (c & 0xc0) == 0x80;
}

/*
 * One fputs, so that lines of several threads or processes do not mix. A text that is too long
 * loses its middle, mostly a long name: what is wrong with it comes last.
 */
static void put_line(const char *before, const char *text)
{
	char line[ESCAPE_MOST * LINE_MAX_BYTES], *end = stpcpy(line, before);
	size_t n = strlen(text), head = n, tail = n;

	if (n > LINE_MAX_BYTES - 16) {
		head = HEAD_BYTES;
		tail = n - (LINE_MAX_BYTES - 16 - HEAD_BYTES);
		while (head > HEAD_BYTES - 4 && is_continuation(text[head]))
			head--;
		while (is_continuation(text[tail]))
			tail++;
	}
	end = escape_controls(end, text, head);
	if (tail > head)
		end += sprintf(end, " ... ");
	end = escape_controls(end, text + tail, n - tail);
	strcpy(end, "\n");
	fflush(stdout);
	fputs(line, stderr);
}

void complain_silence(bool silent)
{
	is_silent = silent;
}

int complain(int err, const char *fmt, ...)
{
	char *text = NULL;
	va_list args;
	int n;

	if (is_silent)
		return -err;
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
