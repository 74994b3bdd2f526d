/* cli.c - what tests of the command line share. */
#include "tests/cli.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <cuda_runtime_api.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/capture.h"
#include "tests/divert.h"
#include "tests/golden.h"

const char *rift(void)
{
	static char path[4096], self[2048];
	ssize_t n;

	if (getenv("RIFT_BIN"))
		return getenv("RIFT_BIN");
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	cr_assert(lt(i64, 0, n), "/proc/self/exe");
	for (char *dir = dirname(self); strlen(dir) > 1; dir = dirname(dir)) {
		snprintf(path, sizeof(path), "%s/rift", dir);
		if (!access(path, X_OK))
			return path;
	}
	cr_fatal("no rift beside or above the tests; set RIFT_BIN");
	return NULL;
}

/* Of a suite of the command line alone: others print their own, and times that differ. */
static void keep_said(const char *text)
{
	if (!strncmp(criterion_current_suite->name, "small_cli_", 10))
		golden_said(text);
}

int run_rift(enum stream which, const char **text, const char *fmt, ...)
{
	char args[1024];
	va_list list;
	int rc;

	va_start(list, fmt);
	vsnprintf(args, sizeof(args), fmt, list);
	va_end(list);
	rc = shell(text, "'%s' %s %s", rift(), args,
		   which == OUT ? "2>/dev/null" : "2>&1 >/dev/null");
	if (text)
		keep_said(*text);
	return rc;
}

const json_t *rift_json(const char *fmt, ...)
{
	static json_t *kept; /* so that a leak checker finds an owner */
	char args[1024];
	const char *text;
	json_error_t error;
	json_t *o;
	va_list list;

	va_start(list, fmt);
	vsnprintf(args, sizeof(args), fmt, list);
	va_end(list);
	cr_assert(zero(int, run_rift(OUT, &text, "%s", args)), "rift %s", args);
	o = json_loads(text, 0, &error);
	cr_assert(ne(ptr, o, NULL), "rift %s: %s in\n%s", args, error.text, text);
	if (!kept)
		kept = json_array();
	json_array_append_new(kept, o);
	return o;
}

void need_device(void)
{
	int count = 0;

	if (cudaGetDeviceCount(&count) || !count)
		cr_skip("no CUDA device");
}

/* The entry of `rift list --json` for launch, whose steps are the shortest; kept as long as a test.
 */
static const json_t *light_workload(void)
{
	static const json_t *list;
	const json_t *w;
	size_t i;

	if (!list)
		list = rift_json("list --json");
	json_array_foreach(json_object_get(list, "workloads"), i, w)
	{
		const char *text = json_string_value(json_object_get(w, "name"));

		if (text && !strcmp(text, "launch"))
			return w;
	}
	cr_fatal("rift list --json has no launch");
}

const char *get_text(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text ? text : "";
}

const char *name(void)
{
	return get_text(light_workload(), "name");
}

const json_t *axis(void)
{
	const json_t *params = json_object_get(light_workload(), "params");
	const json_t *row;
	size_t i;

	json_array_foreach(params, i, row) if (*get_text(row, "axis")) return row;
	return NULL;
}

int run_rift_once(const char **out, const char **err, const char *fmt, ...)
{
	static char said[8192];
	FILE *file = tmpfile();
	char args[1024];
	va_list list;
	int rc;

	va_start(list, fmt);
	vsnprintf(args, sizeof(args), fmt, list);
	va_end(list);
	cr_assert(ne(ptr, file, NULL), "no temporary file");
	rc = shell(out, "'%s' %s 2>/dev/fd/%d", rift(), args, fileno(file));
	said[fread(said, 1, sizeof(said) - 1, file)] = '\0';
	fclose(file);
	*err = said;
	keep_said(*out);
	keep_said(said);
	return rc;
}

void refused(int code, const char *says, const char *fmt, ...)
{
	char args[512];
	const char *out, *err;
	va_list list;

	va_start(list, fmt);
	vsnprintf(args, sizeof(args), fmt, list);
	va_end(list);
	cr_assert(eq(int, run_rift_once(&out, &err, "%s", args), code), "rift %s: %s", args, err);
	cr_assert(is_one_complaint(err), "rift %s: %s", args, err);
	cr_assert(tells(err, says), "rift %s: %s: %s", args, says, err);
	cr_assert(eq(str, (char *)out, ""), "rift %s writes to stdout", args);
}

void rows_refused(const char *command, const struct wrong_args *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		refused(3, rows[i].says, "%s %s", command, rows[i].args);
}

void words_refused(const char *command, const char *words)
{
	char word[64];

	for (int n; sscanf(words, " %63s%n", word, &n) == 1; words += n)
		refused(3, word, "%s %s", command, word);
}

void says(const char *args, const char *const *want)
{
	const char *out, *err;

	cr_assert(zero(int, run_rift_once(&out, &err, "%s", args)), "rift %s", args);
	cr_assert(eq(str, (char *)err, ""), "rift %s: stderr", args);
	for (; *want; want++)
		cr_assert(tells(out, *want), "rift %s: '%s' in\n%s", args, *want, out);
}

void let_sanitizer_come_second(void)
{
	const char *before = getenv("ASAN_OPTIONS");
	char value[512];

	snprintf(value, sizeof(value), "%s:verify_asan_link_order=0", before ? before : "");
	setenv("ASAN_OPTIONS", value, 1);
}
