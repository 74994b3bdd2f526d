/* capture.c - what tests read back. */
#include "tests/capture.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>

const char *captured_stderr(void)
{
	static char text[8192];
	size_t n;

	fflush(stderr);
	n = fread(text, 1, sizeof(text) - 1, cr_get_redirected_stderr());
	text[n] = '\0';
	return text;
}

int shell(const char **out, const char *fmt, ...)
{
	static char command[4096], text[1 << 18];
	va_list args;
	size_t n = 0, got;
	FILE *pipe;
	int status;

	va_start(args, fmt);
	vsnprintf(command, sizeof(command) - 16, fmt, args);
	va_end(args);
	pipe = popen(command, "r");
	cr_assert(pipe != NULL, "popen: %s", command);
	while ((got = fread(text + n, 1, sizeof(text) - 1 - n, pipe)) > 0)
		n += got;
	text[n] = '\0';
	status = pclose(pipe);
	if (out)
		*out = text;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

const char *beside_tests(const char *name)
{
	static const char folder[] = "/tests/";
	static char path[2304], self[2048];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *end = NULL;

	cr_assert(0 < n, "/proc/self/exe");
	self[n] = '\0';
	for (char *at = self; (at = strstr(at, folder)); at++)
		end = at;
	cr_assert(end != NULL, "%s is in no folder %s", self, folder);
	end[strlen(folder)] = '\0';
	snprintf(path, sizeof(path), "%s%s", self, name);
	return path;
}
