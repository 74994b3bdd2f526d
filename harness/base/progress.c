/* progress.c - one changing line on stderr, where that is a terminal. */
#include "harness/base/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static bool on, shown;

void progress_init(bool quiet)
{
	on = !quiet && isatty(STDERR_FILENO);
}

void progress(const char *fmt, ...)
{
	char line[96];
	va_list args;

	if (!on)
		return;
	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	/* the cursor goes back, so that a complaint from a hook overwrites the line */
	fprintf(stderr, "\033[K%s\r", line);
	fflush(stderr);
	shown = true;
}

void progress_clear(void)
{
	if (!shown)
		return;
	fputs("\033[K", stderr);
	fflush(stderr);
	shown = false;
}
