/* preload.c - see preload.h. */
#include "common/preload.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/check.h"

const char *const preload_variables[] = { "LD_PRELOAD", "ASAN_OPTIONS", NULL };

bool preload_beside(const char *name, char path[PATH_MAX])
{
	const size_t room = strlen(name) + 1;
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - room);

	while (n > 0 && path[n - 1] != '/')
		n--;
	memcpy(path + (n > 0 ? n : 0), name, room);
	return !access(path, R_OK);
}

bool preload_can(const char *path)
{
	return !strpbrk(path, " :");
}

/* In front of what a list has. */
static void put_first(const char *variable, const char *first)
{
	const char *before = getenv(variable);
	char *value;

	CHECK(asprintf(&value, "%s%s%s", first, before && *before ? ":" : "",
		       before ? before : "") >= 0,
	      "memory of %s", variable);
	CHECK(!setenv(variable, value, 1), "memory of %s", variable);
	free(value);
}

void preload_add(const char *library)
{
	static const char order[] = "verify_asan_link_order=0";
	const char *options = getenv("ASAN_OPTIONS");

	put_first("LD_PRELOAD", library);
	if (!options || !strstr(options, "verify_asan_link_order"))
		put_first("ASAN_OPTIONS", order);
}
