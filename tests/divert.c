/* divert.c - what code under test writes to stderr, as often as a test likes. */
#include "tests/divert.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/check.h"

static int original = -1;
static FILE *file;

void divert_stderr(void)
{
	CHECK(original < 0, "already diverted");
	fflush(stderr);
	file = tmpfile();
	CHECK(file, "no temporary file");
	original = dup(STDERR_FILENO);
	CHECK(original >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0, "cannot divert");
}

const char *diverted_stderr(void)
{
	static char text[8192];
	size_t n;

	fflush(stderr);
	dup2(original, STDERR_FILENO);
	close(original);
	original = -1;
	rewind(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	text[n] = '\0';
	fclose(file);
	return text;
}

int tells(const char *text, const char *what)
{
	for (; text && *what; what += strcspn(what, "*"), what += *what == '*') {
		size_t n = strcspn(what, "*");

		text = memmem(text, strlen(text), what, n);
		text += text ? n : 0;
	}
	return text != NULL;
}

int is_one_complaint(const char *text)
{
	const char *end = strchr(text, '\n');

	return !strncmp(text, "rift: ", 6) && end && !end[1];
}
