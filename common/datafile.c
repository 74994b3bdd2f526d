/* datafile.c - finding the data files that belong to rift. */
#include "common/datafile.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/check.h"

/* path = dir/name; true when it fits and can be read. */
static int readable_in(const char *dir, const char *name, char path[DATAFILE_PATH_BYTES])
{
	int n = snprintf(path, DATAFILE_PATH_BYTES, "%s/%s", dir, name);

	return n > 0 && n < DATAFILE_PATH_BYTES && access(path, R_OK) == 0;
}

/* Cuts the last component off; false when nothing is left. */
static int go_up(char *dir)
{
	char *slash = strrchr(dir, '/');

	if (!slash || !*dir)
		return 0;
	*slash = '\0';
	return 1;
}

bool datafile_there(const char *name, char path[DATAFILE_PATH_BYTES])
{
	const char *home = getenv("RIFT_HOME");
	char dir[DATAFILE_PATH_BYTES];
	ssize_t n;

	if (home && *home)
		return readable_in(home, name, path);
	n = readlink("/proc/self/exe", dir, sizeof(dir) - 1);
	dir[n < 0 ? 0 : n] = '\0';
	while (go_up(dir))
		if (readable_in(dir, name, path))
			return true;
	return false;
}

int datafile_find(const char *name, char path[DATAFILE_PATH_BYTES])
{
	const char *home = getenv("RIFT_HOME");
	char self[DATAFILE_PATH_BYTES];
	ssize_t n;

	if (datafile_there(name, path))
		return 0;
	if (home && *home)
		return complain(ENOENT, "cannot read %s in RIFT_HOME=%s", name, home);
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n <= 0)
		return complain(ENOENT,
				"cannot find %s: /proc/self/exe is unreadable; set RIFT_HOME",
				name);
	self[n] = '\0';
	return complain(ENOENT, "cannot find %s in any folder above %s; set RIFT_HOME", name, self);
}

/* The folder that a file is in, without links; NULL where there is none. The caller frees it. */
static char *folder_of(const char *path)
{
	char *copy = strdup(path), *folder = copy ? realpath(dirname(copy), NULL) : NULL;

	free(copy);
	return folder;
}

/* One of rift's own folders, without links; NULL where there is none. The caller frees it. */
static char *own_folder(const char *name)
{
	const char *home = getenv("RIFT_HOME");
	char path[DATAFILE_PATH_BYTES];

	if (home && *home)
		return readable_in(home, name, path) ? realpath(path, NULL) : NULL;
	/* not the first folder of that name above the binary: a build folder has one too */
	if (!datafile_there("README.md", path) || !go_up(path))
		return NULL;
	strcat(strcat(path, "/"), name); /* not longer than what was cut off */
	return realpath(path, NULL);
}

static bool is_in(const char *folder, const char *name)
{
	char *own = own_folder(name);
	size_t n = own ? strlen(own) : 0;
	bool inside = own && !strncmp(folder, own, n) && (!folder[n] || folder[n] == '/');

	free(own);
	return inside;
}

bool datafile_owns(const char *path)
{
	char *file = realpath(path, NULL), *folder = folder_of(file ? file : path);
	bool inside = folder && (is_in(folder, "workloads") || is_in(folder, "data"));

	free(file);
	free(folder);
	return inside;
}
