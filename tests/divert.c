/* divert.c - what code under test writes to stderr, as often as a test likes. */
#include "tests/divert.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/check.h"

static int original = -1, terminal = -1;
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

void divert_terminal(void)
{
	int shown;

	CHECK(original < 0, "already diverted");
	fflush(stderr);
	terminal = posix_openpt(O_RDWR | O_NOCTTY);
	CHECK(terminal >= 0 && !grantpt(terminal) && !unlockpt(terminal), "no terminal");
	shown = open(ptsname(terminal), O_RDWR | O_NOCTTY);
	original = dup(STDERR_FILENO);
	CHECK(original >= 0 && shown >= 0 && dup2(shown, STDERR_FILENO) >= 0, "cannot divert");
	close(shown);
}

/* Until nobody has the terminal open any more. */
static size_t read_terminal(char *text, size_t size)
{
	ssize_t got;
	size_t n = 0;

	while (n < size && (got = read(terminal, text + n, size - n)) > 0)
		n += (size_t)got;
	close(terminal);
	terminal = -1;
	return n;
}

static size_t read_file(char *text, size_t size)
{
	size_t n;

	rewind(file);
	n = fread(text, 1, size, file);
	fclose(file);
	return n;
}

const char *diverted_stderr(void)
{
	static char text[8192];
	size_t n;

	fflush(stderr);
	dup2(original, STDERR_FILENO);
	close(original);
	original = -1;
	n = (terminal < 0 ? read_file : read_terminal)(text, sizeof(text) - 1);
	text[n] = '\0';
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
