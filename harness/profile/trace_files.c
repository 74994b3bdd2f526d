/* trace_files.c - see trace_files.h. */
#include "harness/profile/trace_files.h"

#include <errno.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/check.h"
#include "common/escape.h"
#include "harness/base/text.h"

void trace_files_name(const char *output, int number, char out[PATH_MAX])
{
	char suffix[32] = "";

	if (number)
		snprintf(suffix, sizeof(suffix), ".again-%d", number);
	snprintf(out, PATH_MAX, "%s%s", output, suffix);
}

/*
 * Traces of processes that the program started, and perhaps others of such names (is_child()): for
 * globfree().
 */
static void find_children(const char *path, glob_t *children)
{
	char *pattern = malloc(2 * strlen(path) + 16), *to = pattern;

	CHECK(pattern, "memory of a path");
	for (const char *from = path; *from; from++) {
		if (strchr("\\*?[", *from))
			*to++ = '\\';
		*to++ = *from;
	}
	snprintf(to, 16, ".[0-9]*");
	if (glob(pattern, 0, NULL, children))
		*children = (glob_t){ 0 };
	free(pattern);
}

/* PATH.PID? */
static bool is_child(const char *found, const char *path)
{
	const char *pid = found + strlen(path) + 1;

	return !pid[strspn(pid, "0123456789")];
}

size_t trace_files_children(const char *path)
{
	glob_t children;
	size_t n = 0;

	find_children(path, &children);
	for (size_t i = 0; i < children.gl_pathc; i++)
		n += is_child(children.gl_pathv[i], path);
	globfree(&children);
	return n;
}

/* Fit for a terminal; to be freed. */
static char *shown_name(const char *name)
{
	char *safe = malloc(ESCAPE_MOST * strlen(name) + 1);

	CHECK(safe, "memory of a name");
	*escape_controls(safe, name, strlen(name)) = '\0';
	return safe;
}

/* Is it one of the names of a list? */
static bool is_listed(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = strstr(list, name); at; at = strstr(at + 1, name))
		if ((at == list || at[-1] == ' ') && (!at[n] || at[n] == ','))
			return true;
	return false;
}

char *trace_files_names(const char *path, const char *but)
{
	glob_t children;
	char *list;
	size_t size;
	FILE *out = open_memstream(&list, &size);

	CHECK(out, "memory of names");
	find_children(path, &children);
	for (size_t i = 0; i < children.gl_pathc; i++) {
		char *name = shown_name(children.gl_pathv[i]);

		if (is_child(children.gl_pathv[i], path) && !is_listed(but, name))
			fprintf(out, "%s%s", ftell(out) ? ", " : "", name);
		free(name);
	}
	globfree(&children);
	CHECK(!fclose(out), "memory of names");
	return list;
}

static int refuse_existing(const char *path)
{
	return complain(EEXIST, "%s: exists; give another name, as a trace replaces nothing",
			text_shown(path).s);
}

/* Those that are not kept are removed, with their children's: none may be there before. */
static int refuse_several(const char *output, int recordings)
{
	enum { LONGEST = PATH_MAX - 64 }; /* numbers and PIDs follow */
	char path[PATH_MAX];

	if (strlen(output) > LONGEST)
		return complain(ENAMETOOLONG, "--output: has %zu characters, must have at most %d",
				strlen(output), LONGEST);
	for (int i = 0; i < recordings; i++) {
		trace_files_name(output, i, path);
		if (!access(path, F_OK))
			return refuse_existing(path);
		if (trace_files_children(path))
			return complain(EEXIST,
					"%s.PID: traces of processes exist; remove them, as "
					"--recordings could not distinguish them from new ones",
					text_shown(path).s);
	}
	return 0;
}

/* To be freed. */
static char *folder_of(const char *output)
{
	const char *slash = strrchr(output, '/');
	char *folder = slash ? strndup(output, (size_t)(slash - output) + 1) : strdup(".");

	CHECK(folder, "memory of a name");
	return folder;
}

static int refuse_folder(const char *output)
{
	char *folder = folder_of(output);
	int err = access(folder, W_OK | X_OK) ? errno : 0;

	if (err)
		err = complain(err, "%s: no trace can be written there: %s", text_shown(folder).s,
			       strerror(err));
	free(folder);
	return err;
}

int trace_files_refuse(const char *output, int recordings)
{
	int err = refuse_folder(output);

	if (err)
		return err;
	if (!access(output, F_OK))
		return refuse_existing(output);
	return recordings > 1 ? refuse_several(output, recordings) : 0;
}

bool trace_files_free(const char *output, int recordings)
{
	bool is_free;

	complain_silence(true);
	is_free = !refuse_several(output, recordings);
	complain_silence(false);
	return is_free;
}

/* ---- holding a name ----------------------------------------------------------------------- */

/* By the folder's inode and the name's end: an address of a socket is short. */
static void address_of(const char *output, const struct stat *folder, struct sockaddr_un *out)
{
	enum { SHOWN = 60 };
	const char *slash = strrchr(output, '/'), *name = slash ? slash + 1 : output;
	size_t n = strlen(name);

	*out = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(out->sun_path + 1, sizeof(out->sun_path) - 1, "rift profile %lx %lx %s",
		 (unsigned long)folder->st_dev, (unsigned long)folder->st_ino,
		 n > SHOWN ? name + n - SHOWN : name);
}

void trace_files_let_go(int *held)
{
	if (*held >= 0)
		close(*held);
	*held = -1;
}

int trace_files_hold(const char *output, int *held)
{
	char *folder = folder_of(output);
	struct sockaddr_un a;
	struct stat st;
	bool taken;

	if (stat(folder, &st)) /* who opens the trace says what is wrong */
		st = (struct stat){ 0 };
	address_of(output, &st, &a);
	*held = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	taken = *held >= 0 && bind(*held, (struct sockaddr *)&a, sizeof(a)) && errno == EADDRINUSE;
	free(folder);
	if (!taken)
		return 0;
	trace_files_let_go(held);
	return complain(EEXIST, "%s: is being written by another rift profile",
			text_shown(output).s);
}

/* ---- a trace and its children's ------------------------------------------------------------ */

/* Calls f for a trace and for those of processes that its program started, until one fails. */
static int each_trace(const char *path,
		      int (*f)(const char *trace, const char *suffix, const char *to),
		      const char *to)
{
	glob_t children;
	int err = f(path, "", to);

	find_children(path, &children);
	for (size_t i = 0; i < children.gl_pathc && !err; i++)
		if (is_child(children.gl_pathv[i], path))
			err = f(children.gl_pathv[i], children.gl_pathv[i] + strlen(path), to);
	globfree(&children);
	return err;
}

static int remove_one(const char *trace, const char *suffix, const char *unused)
{
	(void)suffix, (void)unused;
	unlink(trace);
	return 0;
}

static int rename_one(const char *trace, const char *suffix, const char *to)
{
	char *name = NULL;
	int err;

	CHECK(asprintf(&name, "%s%s", to, suffix) > 0, "memory of a name");
	err = rename(trace, name) ? errno : 0;
	if (err)
		err = complain(err, "%s: %s", text_shown(name).s, strerror(err));
	free(name);
	return err;
}

void trace_files_remove(const char *path)
{
	each_trace(path, remove_one, NULL);
}

int trace_files_rename(const char *path, const char *to)
{
	return each_trace(path, rename_one, to);
}
