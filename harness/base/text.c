/* text.c - what a person reads: numbers, the line that changes. */
#include "harness/base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ---- numbers as a person reads them ------------------------------------------------------- */

/* Three significant digits without an exponent for 1 <= |v| < 1000. */
static struct text three_digits(double v, const char *suffix)
{
	double a = fabs(v);
	int decimals = a >= 99.95 ? 0 : a >= 9.995 ? 1 : 2;
	struct text t;

	snprintf(t.s, sizeof(t.s), "%.*f%s", decimals, v, suffix);
	return t;
}

/* The largest unit that leaves at least 1 of it; below the first one: the first. */
static struct text scaled_text(double v, double base, const char *const *suffix, int n)
{
	int i = 0;

	for (; i < n - 1 && fabs(v) >= base * 0.99995; i++)
		v /= base;
	if (i == 0 && v == trunc(v)) {
		struct text t;

		snprintf(t.s, sizeof(t.s), "%.0f%s", v, suffix[0]);
		return t;
	}
	return three_digits(v, suffix[i]);
}

struct text text_time(double ns)
{
	static const char *const unit[] = { " ns", " us", " ms", " s" };

	return scaled_text(ns, 1e3, unit, 4);
}

struct text text_count(double value)
{
	static const char *const prefix[] = { "", " k", " M", " G", " T" };

	return scaled_text(value, 1e3, prefix, 5);
}

struct text text_digits(double value)
{
	static const char *const none[] = { "" };

	return scaled_text(value, 1e3, none, 1);
}

struct text text_half_width(double share, int digits)
{
	struct text t = { ">100" };

	if (share <= 1)
		snprintf(t.s, sizeof(t.s), "%.*f", share < 0.0995 ? digits : 0, 100 * share);
	return t;
}

struct text text_bytes(double bytes)
{
	static const char *const unit[] = { " B", " KiB", " MiB", " GiB", " TiB" };

	return scaled_text(bytes, 1024, unit, 5);
}

/* 1e+06 and 1e-06 to 1e6 and 1e-6. */
static void shorten_exponent(char *text)
{
	char *e = strchr(text, 'e'), *digits;

	if (!e)
		return;
	e += e[1] == '-';
	digits = e + 1 + strspn(e + 1, "+0");
	memmove(e + 1, digits, strlen(digits) + 1);
}

struct text text_real(double value)
{
	struct text t, plain;

	for (int digits = 1; digits <= 17; digits++) {
		snprintf(t.s, sizeof(t.s), "%.*g", digits, value);
		if (strtod(t.s, NULL) == value)
			break;
	}
	shorten_exponent(t.s);
	/* 1000 reads better than 1e3, and 1e6 better than 1000000 */
	if (value != trunc(value) || !(fabs(value) < 1e15))
		return t;
	snprintf(plain.s, sizeof(plain.s), "%.0f", value);
	return strlen(plain.s) <= strlen(t.s) + 2 ? plain : t;
}

struct text text_int(int64_t value, int as_size)
{
	static const char *const suffix[] = { "", "k", "M", "G" };
	struct text t;
	int i = 0;

	for (; as_size && i < 3 && value && value % 1024 == 0; i++)
		value /= 1024;
	snprintf(t.s, sizeof(t.s), "%" PRId64 "%s", value, suffix[i]);
	return t;
}

/* NVIDIA_API_KEY, for one. */
bool text_names_secret(const char *text)
{
	static const char *const words[] = { "KEY",	 "TOKEN",      "SECRET",
					     "PASSWORD", "CREDENTIAL", NULL };

	for (const char *const *w = words; *w; w++)
		if (strstr(text, *w))
			return true;
	return false;
}

/* ---- columns ---------------------------------------------------------------------------- */

int text_columns(int fd, int most)
{
	const char *given = getenv("COLUMNS");
	long n = given ? strtol(given, NULL, 10) : 0;
	struct winsize window;

	if (n <= 0 && isatty(fd) && !ioctl(fd, TIOCGWINSZ, &window))
		n = window.ws_col;
	if (n <= 0 || n > most)
		return most;
	return n < TEXT_COLUMNS_LEAST ? TEXT_COLUMNS_LEAST : (int)n;
}

/* ---- one changing line on stderr, where that is a terminal ------------------------------ */

static bool on, shown, parts;

void progress_init(bool quiet)
{
	on = !quiet && isatty(STDERR_FILENO);
	parts = !quiet && !on;
}

/* Cut to the terminal: what is wrapped is not overwritten. */
static void show_over(const char *fmt, va_list args)
{
	char line[96];
	int columns = text_columns(STDERR_FILENO, sizeof(line));

	vsnprintf(line, sizeof(line), fmt, args);
	/* the cursor goes back, so that a complaint from a hook overwrites the line */
	fprintf(stderr, "\033[K%.*s\r", columns - 1, text_escaped(line).s);
	fflush(stderr);
	shown = true;
}

void progress(const char *fmt, ...)
{
	va_list args;

	if (!on)
		return;
	va_start(args, fmt);
	show_over(fmt, args);
	va_end(args);
}

void progress_part(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (on)
		show_over(fmt, args);
	if (parts) {
		vfprintf(stderr, fmt, args);
		fputc('\n', stderr);
	}
	va_end(args);
}

void progress_clear(void)
{
	if (!shown)
		return;
	fputs("\033[K", stderr);
	fflush(stderr);
	shown = false;
}
