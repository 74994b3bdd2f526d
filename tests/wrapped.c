/* wrapped.c - programs run under the logging wrapper (see wrapped.h). */
#include "tests/wrapped.h"

#include "tests/capture.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void split(struct log *log)
{
	int n = 0;

	for (const char *p = log->text; *p; p++)
		n += *p == '\n';
	log->line = calloc((size_t)n + 1, sizeof(*log->line));
	cr_assert(log->line != NULL, "memory");
	for (char *p = log->text; log->n < n; p = strchr(p, '\0') + 1) {
		*strchr(p, '\n') = '\0';
		log->line[log->n++] = p;
	}
	log->line[n] = "";
}

static void read_log(struct log *log, const char *path)
{
	FILE *f = fopen(path, "r");
	size_t bytes;

	cr_assert(f != NULL, "%s", path);
	*log = (struct log){ 0 };
	fseek(f, 0, SEEK_END);
	bytes = (size_t)ftell(f);
	rewind(f);
	log->text = calloc(1, bytes + 1);
	cr_assert(log->text && fread(log->text, 1, bytes, f) == bytes, "%s", path);
	fclose(f);
	split(log);
	cr_assert(0 < log->n, "nothing was logged");
}

const char *run_wrapped(struct log *log, const char *fmt, ...)
{
	char path[] = "/tmp/rift_wrapper_XXXXXX", command[4096];
	const char *out;
	va_list args;
	int rc;

	va_start(args, fmt);
	vsnprintf(command, sizeof(command), fmt, args);
	va_end(args);
	close(mkstemp(path));
	/* the address sanitizer would want to be preloaded first */
	rc = shell(&out,
		   "ASAN_OPTIONS=\"$ASAN_OPTIONS:verify_asan_link_order=0\" LD_PRELOAD='%s' "
		   "RIFT_WRAPPER_LOG=%s %s",
		   beside_tests("wrapper.so"), path, command);
	cr_assert(rc == 0, "exit %d: %s", rc, out);
	read_log(log, path);
	unlink(path);
	return out;
}

void log_release(struct log *log)
{
	free(log->text);
	free(log->line);
}
