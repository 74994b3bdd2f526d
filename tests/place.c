/* place.c - the machines of tests/platforms, unpacked so that rift can look at them. */
#include "tests/place.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/check.h"
#include "common/datafile.h"

enum { PLACES_MAX = 64, VARIABLES_MAX = 32 };

static char folder[64];
static struct cpuid cpuid;
static char *env[VARIABLES_MAX + 1], *kernel_log;

/* The path of the folder with the machines. */
static const char *platforms(void)
{
	static char path[DATAFILE_PATH_BYTES];

	CHECK(!datafile_find("tests/platforms/README.md", path), "no tests/platforms");
	*strrchr(path, '/') = '\0';
	return path;
}

/* "\0" to a byte of 0; returns the length. */
static size_t unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		bool zero = from[0] == '\\' && from[1] == '0';

		*to = zero ? '\0' : *from;
		from += zero ? 2 : 1;
	}
	return (size_t)(to - text);
}

/* All folders of the path. No shell makes them: tests unpack hundreds of files. */
static void make_folder_of(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		CHECK(!mkdir(path, 0777) || errno == EEXIST, "%s", path);
		*slash = '/';
	}
}

static void write_file(const char *name, char *text)
{
	char path[768];
	size_t n = unescape(text);
	FILE *f;

	snprintf(path, sizeof(path), "%s%s", folder, name);
	make_folder_of(path);
	f = fopen(path, "w");
	CHECK(f && fwrite(text, 1, n, f) == n && !fclose(f), "%s", path);
}

static void write_link(const char *name, const char *target)
{
	char path[768];

	snprintf(path, sizeof(path), "%s%s", folder, name);
	make_folder_of(path);
	CHECK(!symlink(target, path), "%s", path);
}

/* "hypervisor 1", then signatures, each padded to twelve bytes as the processor does. */
static void take_cpuid(char *text, struct place *p)
{
	char *line = strsep(&text, "\n");

	cpuid = (struct cpuid){ .hypervisor = !strcmp(line, "hypervisor 1") };
	while ((line = strsep(&text, "\n")) && *line)
		snprintf(cpuid.signature[cpuid.n++], sizeof(*cpuid.signature), "%s", line);
	p->cpuid = &cpuid;
}

static void take_environ(char *text)
{
	char *line;
	int n = 0;

	while ((line = strsep(&text, "\n")) && *line && n < VARIABLES_MAX)
		env[n++] = strdup(line);
	env[n] = NULL;
}

/* What follows one "== NAME". */
static void take_section(struct place *p, char *name, char *text)
{
	char *arrow = strstr(name, " -> ");

	if (!strcmp(name, "cpuid"))
		take_cpuid(text, p);
	else if (!strcmp(name, "environ"))
		take_environ(text);
	else if (!strcmp(name, "kernel_log"))
		p->kernel_log = kernel_log = strdup(text);
	else if (arrow)
		*arrow = '\0', write_link(name, arrow + 4);
	else
		write_file(name, text);
}

static struct place make_folder(void)
{
	CHECK(!*folder, "a place is unpacked already");
	snprintf(folder, sizeof(folder), "/tmp/rift-place-XXXXXX");
	CHECK(mkdtemp(folder), "%s", folder);
	return (struct place){ .root = folder, .env = env };
}

struct place place_made(const char *const (*files)[2])
{
	struct place p = make_folder();

	for (; (*files)[0]; files++) {
		char *text = strdup((*files)[1]);

		CHECK(text, "memory of %s", (*files)[0]);
		write_file((*files)[0], text);
		free(text);
	}
	return p;
}

struct place place_of(const char *name)
{
	struct place here = { .root = platforms() }, p = make_folder();
	char file[128], *text, *at, *next;

	snprintf(file, sizeof(file), "/%s.txt", name);
	text = place_text(&here, file);
	CHECK(text, "%s%s", here.root, file);
	for (at = strstr(text, "\n== "); at; at = next) {
		char *end = strchr(at + 1, '\n');

		next = strstr(end, "\n== ");
		*end = '\0';
		if (next)
			next[1] = '\0'; /* its own text ends with a newline */
		take_section(&p, at + 4, end == next ? "" : end + 1);
		if (next)
			next[1] = '=';
	}
	free(text);
	return p;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

void place_remove(void)
{
	if (*folder)
		CHECK(!nftw(folder, remove_one, PLACES_MAX, FTW_DEPTH | FTW_PHYS), "%s", folder);
	for (char **e = env; *e; e++)
		free(*e);
	free(kernel_log);
	env[0] = kernel_log = NULL;
	*folder = '\0';
}

const char *const *place_all(void)
{
	static const char *names[PLACES_MAX + 1];
	struct place here = { .root = platforms() };
	int n, found = 0;
	struct dirent **list = place_names(&here, "/", &n);

	for (int i = 0; i < n; i++) {
		char *dot = strstr(list[i]->d_name, ".txt");

		if (dot)
			names[found++] = strndup(list[i]->d_name, (size_t)(dot - list[i]->d_name));
		CHECK(found < PLACES_MAX, "more than %d machines", PLACES_MAX);
	}
	place_names_free(list, n);
	return names;
}
