/* show.c - how far a sweep is. */
#include "harness/session/show.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/measure.h"
#include "harness/progress.h"

enum { BAR = 20, SHOW_EVERY_NS = 200000000 };

const char *show_duration(double ns, char out[16])
{
	double s = ns / 1e9;

	if (!isfinite(s))
		snprintf(out, 16, "unknown");
	else if (s < 100)
		snprintf(out, 16, "%.0f s", s);
	else if (s < 6000)
		snprintf(out, 16, "%.0f min", s / 60);
	else
		snprintf(out, 16, "%.1f h", s / 3600);
	return out;
}

void show_start(struct show *s, bool quiet)
{
	*s = (struct show){ .quiet = quiet, .terminal = isatty(STDERR_FILENO) };
	s->begun_ns = s->start_ns = clock_ns();
	progress_init(quiet);
}

double show_left_ns(const struct show *s)
{
	double left = s->predicted_ns - s->done_ns;
	double passed = (double)(clock_ns() - s->start_ns);

	if (s->done_ns > 0.02 * s->predicted_ns)
		left *= passed / s->done_ns;
	return fmax(left, 0);
}

void show_progress(struct show *s, const char *at)
{
	int64_t now = clock_ns();
	char bar[BAR + 1], left[16];
	int full;

	if (now - s->shown_ns < SHOW_EVERY_NS)
		return;
	s->shown_ns = now;
	full = s->predicted_ns > 0 ? (int)(BAR * fmin(s->done_ns / s->predicted_ns, 1)) : 0;
	memset(bar, '.', BAR);
	memset(bar, '#', (size_t)full);
	bar[BAR] = '\0';
	progress("[%s] %d/%d points, process %d/%d, %s left: %s", bar, s->points_done, s->points,
		 s->process, s->processes, show_duration(show_left_ns(s), left), at);
}

void show_line(struct show *s, const char *fmt, ...)
{
	va_list args;

	if (s->quiet || s->terminal)
		return;
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
}

void show_complaint(struct show *s, const char *line)
{
	int i;

	for (i = 0; i < SHOW_SEEN && s->seen[i]; i++)
		if (!strcmp(s->seen[i], line))
			return;
	if (i == SHOW_SEEN)
		return;
	s->seen[i] = strdup(line);
	progress_clear();
	fprintf(stderr, "%s\n", line);
}

void show_end(struct show *s)
{
	progress_clear();
	for (int i = 0; i < SHOW_SEEN; i++)
		free(s->seen[i]);
	memset(s->seen, 0, sizeof(s->seen));
}
