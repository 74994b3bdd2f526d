/* find.c - see find.h. */
#include "harness/layer/find.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/check.h"

static int is_runnable(const char *path)
{
	struct stat s;

	if (stat(path, &s))
		return errno == EACCES ? -EACCES : -ENOENT;
	return S_ISREG(s.st_mode) && !access(path, X_OK) ? 0 : -EACCES;
}

/* PATH, or what stands for it where there is none. To be freed. */
static char *folders(void)
{
	const char *path = getenv("PATH");
	size_t n = confstr(_CS_PATH, NULL, 0);
	char *copy = path ? strdup(path) : calloc(1, n + 1);

	CHECK(copy, "memory of PATH");
	if (!path)
		confstr(_CS_PATH, copy, n);
	return copy;
}

int find_command(const char *command, char out[PATH_MAX])
{
	char *copy, *rest, *folder;
	int err = -ENOENT;

	if (strchr(command, '/') || !*command) {
		snprintf(out, PATH_MAX, "%s", command);
		return is_runnable(out);
	}
	copy = rest = folders();
	while (err && (folder = strsep(&rest, ":"))) {
		int here;

		snprintf(out, PATH_MAX, "%s/%s", *folder ? folder : ".", command);
		here = is_runnable(out);
		err = here == -ENOENT ? err : here;
	}
	free(copy);
	return err;
}
