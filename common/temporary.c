/* temporary.c - files that do not outlive the process; see temporary.h. */
#include "common/temporary.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "common/check.h"

/* Never freed, so that a handler on another thread reads no memory that is gone. */
static struct {
	atomic_bool used;
	char path[PATH_MAX];
} slot[TEMPORARY_MAX];

void temporary_add(const char *path)
{
	size_t bytes = strlen(path) + 1;
	int i = 0;

	while (i < TEMPORARY_MAX && slot[i].used)
		i++;
	CHECK(i < TEMPORARY_MAX && bytes <= sizeof(slot[i].path), "%s", path);
	memcpy(slot[i].path, path, bytes);
	slot[i].used = true;
}

void temporary_forget(const char *path)
{
	for (int i = 0; i < TEMPORARY_MAX; i++)
		if (slot[i].used && !strcmp(slot[i].path, path))
			slot[i].used = false;
}

void temporary_remove_all(void)
{
	for (int i = 0; i < TEMPORARY_MAX; i++)
		if (slot[i].used)
			unlink(slot[i].path);
}
