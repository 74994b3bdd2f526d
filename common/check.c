/* check.c - one line that says what broke and where. */
#include "common/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_BYTES = 1024 };

static void (*on_death)(const char *line);

/* One fputs, so that lines of several threads or processes do not mix. */
static void put_line(char *line)
{
	size_t n = strlen(line);

	if (n > LINE_MAX_BYTES - 2)
		n = LINE_MAX_BYTES - 2;
	memcpy(line + n, "\n", 2);
	fflush(stdout);
	fputs(line, stderr);
	line[n] = '\0';
}

int complain(int err, const char *fmt, ...)
{
	char line[LINE_MAX_BYTES] = "rift: ";
	size_t used = strlen(line);
	va_list args;

	va_start(args, fmt);
	vsnprintf(line + used, sizeof(line) - used, fmt, args);
	va_end(args);
	put_line(line);
	return -err;
}

void die_hook(void (*hook)(const char *line))
{
	on_death = hook;
}

void die_at(const char *file, int line_no, const char *func, const char *expr, const char *fmt, ...)
{
	void (*hook)(const char *) = on_death;
	char line[LINE_MAX_BYTES];
	va_list args;
	int used;

	used = snprintf(line, sizeof(line), "%s:%d: %s: %s failed: ", file, line_no, func, expr);
	if (used < 0 || used >= (int)sizeof(line))
		used = (int)sizeof(line) - 1;
	va_start(args, fmt);
	vsnprintf(line + used, sizeof(line) - (size_t)used, fmt, args);
	va_end(args);
	put_line(line);

	on_death = NULL; /* a failure inside the hook must not call it again */
	if (hook)
		hook(line);
	abort();
}
