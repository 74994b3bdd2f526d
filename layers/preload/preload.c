/* preload.c - any library that a program can be made to load first: a wrapper of the CUDA runtime
 * or of the driver, with the variables and the daemon that it needs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/check.h"
#include "layers/layer.h"

struct preload_opts {
	const char *lib, *set, *daemon;
};

static const struct param params[] = {
	PARAM_PATH(preload_opts, lib, "library to load, as in LD_PRELOAD"),
	PARAM_TEXT(preload_opts, set, "NAME=VALUE,NAME=VALUE,...",
		   "variables to set for the command; values cannot contain a comma"),
	PARAM_TEXT(preload_opts, daemon, "a shell command",
		   "what to run in the foreground next to the command; ends with it"),
	PARAM_END,
};

/* "A=1,B=2" */
static int set_variables(struct entry *e, const char *set)
{
	char *text = strdup(set), *rest = text, *word;
	int err = 0;

	CHECK(text, "%zu bytes", strlen(set));
	while (!err && (word = strsep(&rest, ","))) {
		char *value = strchr(word, '=');

		if (value && value > word) {
			*value = '\0';
			entry_setenv(e, word, value + 1);
		} else {
			err = complain(EINVAL, "set=%s: must be NAME=VALUE,NAME=VALUE", word);
		}
	}
	free(text);
	return err;
}

/* The shell says that it has started; what it runs may take longer. */
static void run_daemon(const void *opts, int ready)
{
	const struct preload_opts *o = opts;

	if (write(ready, "r", 1) != 1)
		return;
	close(ready);
	execl("/bin/sh", "sh", "-c", o->daemon, (char *)NULL);
	fprintf(stderr, "rift: layer preload: /bin/sh: %s\n", strerror(errno));
}

static int enter(const void *opts, struct entry *e)
{
	const struct preload_opts *o = opts;
	int err;

	if (!o->lib)
		return complain(EINVAL, "layer preload: needs lib=FILE, the library");
	err = entry_preload(e, o->lib);
	if (!err && o->set)
		err = set_variables(e, o->set);
	if (!err && o->daemon)
		entry_helper(e, run_daemon);
	return err;
}

/* "7f..-7f.. r-xp 00001000 08:01 1234   /usr/lib/libx.so" */
static bool is_mapped(const char *path)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4400];
	bool found = false;

	while (maps && !found && fgets(line, sizeof(line), maps)) {
		const char *file = strchr(line, '/');

		line[strcspn(line, "\n")] = '\0';
		found = file && !strcmp(file, path);
	}
	if (maps)
		fclose(maps);
	return found;
}

static bool in_force(const void *opts, char detail[LAYER_DETAIL])
{
	const struct preload_opts *o = opts;
	char *path = o->lib ? realpath(o->lib, NULL) : NULL;
	bool found = path && is_mapped(path);

	snprintf(detail, LAYER_DETAIL, "%.120s is %s", o->lib ? o->lib : "no library",
		 found ? "mapped" : "not mapped");
	free(path);
	return found;
}

const struct layer layer_preload = {
	.name = "preload",
	.summary = "loads a library of your choice first: HAMi-core, nvshare or any other wrapper",
	.opts_size = sizeof(struct preload_opts),
	.params = params,
	.enter = enter,
	.in_force = in_force,
};
