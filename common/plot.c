/* plot.c - a picture before it is drawn. */
#include "common/plot.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/escape.h"

void plot_begin(struct plot *p, const char *folder, const char *name, const char *device)
{
	*p = (struct plot){ .folder = folder, .name = name, .device = device, .option = "--plot" };
	p->out = open_memstream(&p->values, &p->size);
	CHECK(p->out, "memory for a picture's values");
	plot_text(p, "name", "%s", name);
	plot_text(p, "device", "%s", device);
}

void plot_end(struct plot *p)
{
	if (p->out)
		fclose(p->out);
	free(p->values);
	*p = (struct plot){ 0 };
}

int plot_open(struct plot *p, const char *variable, const char *suffix, struct output *out)
{
	char *name = p->file[p->files], *path;
	int n, err;

	CHECK(p->files < PLOT_FILES_MAX, "%s%s: file %d", p->name, suffix, p->files);
	n = snprintf(name, PLOT_NAME_BYTES, "%s%s", p->name, suffix);
	CHECK(n > 0 && n < PLOT_NAME_BYTES, "%s", name);
	CHECK(asprintf(&path, "%s/%s", p->folder, name) > 0, "%s", name);
	err = output_open(out, p->option, path);
	free(path);
	if (err)
		return err;
	p->files++;
	plot_text(p, variable, "%s", name);
	return 0;
}

/* With a point or an exponent: to gnuplot 1 is an integer, and 1/2 is 0. */
void plot_number(struct plot *p, const char *variable, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.17g", value);
	if (!isfinite(value))
		strcpy(text, "NaN");
	fprintf(p->out, "%s = %s%s\n", variable, text, strpbrk(text, ".eN") ? "" : ".0");
}

void plot_count(struct plot *p, const char *variable, long value)
{
	fprintf(p->out, "%s = %ld\n", variable, value);
}

static void keep_said(struct plot *p, const char *variable, const char *text)
{
	size_t n = strlen(p->says);

	if (strncmp(variable, "title", 5) && strcmp(variable, "finding"))
		return;
	snprintf(p->says + n, sizeof(p->says) - n, "%s%s", n ? ". " : "", text);
}

void plot_text(struct plot *p, const char *variable, const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	CHECK(vasprintf(&text, fmt, args) >= 0, "text %s", variable);
	va_end(args);
	fprintf(p->out, "%s = ", variable);
	escape_gnuplot(p->out, text);
	fputc('\n', p->out);
	keep_said(p, variable, text);
	free(text);
}
