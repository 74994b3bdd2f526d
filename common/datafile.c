/* datafile.c - finding the data files that belong to rift. */
#include "common/datafile.h"

#include <errno.h>
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

int datafile_find(const char *name, char path[DATAFILE_PATH_BYTES])
{
	const char *home = getenv("RIFT_HOME");
	char dir[DATAFILE_PATH_BYTES], self[DATAFILE_PATH_BYTES];
	ssize_t n;

	if (home && *home) {
		if (readable_in(home, name, path))
			return 0;
		return complain(ENOENT, "cannot read %s in RIFT_HOME=%s", name, home);
	}
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n <= 0)
		return complain(ENOENT,
				"cannot find %s: /proc/self/exe is unreadable; set RIFT_HOME",
				name);
	self[n] = '\0';
	memcpy(dir, self, (size_t)n + 1);
	while (go_up(dir))
		if (readable_in(dir, name, path))
			return 0;
	return complain(ENOENT, "cannot find %s in any folder above %s; set RIFT_HOME", name, self);
}
