/*
 * cgroup.c - what the control group of this process and those above it allow. A container sees
 * its own group as the root of the tree, or the path that the host gave it, or nothing at all.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/env/host.h"

/* Version 1 has no word for "no limit" of memory: a number near 2^63 in whole pages. */
static const int64_t no_limit_bytes = INT64_C(1) << 60;

/*
 * The group of this process for a controller, from lines "4:memory:/path" (version 1) and
 * "0::/path" (version 2: controller ""). Returns "/" where there is no such line.
 */
static void group_path(const struct place *p, const char *controller, char path[256])
{
	char *text = place_text(p, "/proc/self/cgroup"), *rest = text, *line, *names, *word;

	snprintf(path, 256, "/");
	while (text && (line = strsep(&rest, "\n"))) {
		strsep(&line, ":");
		names = line ? strsep(&line, ":") : NULL;
		if (!line)
			continue;
		while ((word = strsep(&names, ",")))
			if (!strcmp(word, controller))
				snprintf(path, 256, "%s", line);
	}
	free(text);
}

static const char none_set[] = "no limit is set";

/* "max", "-1" or "150000 100000": how many CPUs' time; one limit of one group. */
static struct fact cpus_of(const struct fact *quota, const struct fact *period)
{
	double q, t = 0;
	int n = sscanf(quota->text, "%lf %lf", &q, &t);

	if (n == 1 && fact_known(period))
		t = strtod(period->text, NULL);
	if (n < 1 || q <= 0 || t <= 0)
		return fact_unknown("%s", none_set);
	return fact_real(q / t);
}

static struct fact bytes_of(const struct fact *limit)
{
	int64_t bytes;

	if (sscanf(limit->text, "%" SCNd64, &bytes) != 1 || bytes >= no_limit_bytes)
		return fact_unknown("%s", none_set);
	return fact_int(bytes);
}

/* The smaller limit; without one, "none is set" says more than a file that is not there. */
static void tighten(struct fact *to, const struct fact *limit)
{
	bool smaller =
		limit->kind == FACT_REAL ? limit->real < to->real : limit->number < to->number;

	if (fact_known(limit) ? !fact_known(to) || smaller
			      : !fact_known(to) && strcmp(to->text, none_set))
		*to = *limit;
}

/* Where a controller's groups are, and the files with its limits. */
struct controller {
	const char *name, *folder, *quota, *period, *bytes, *cpuset;
};

static void read_group(struct host *h, const struct place *p, const struct controller *c,
		       const char *path)
{
	struct fact f, period = fact_unknown("none"), limit;

	if (c->quota) {
		f = place_line(p, "%s%s/%s", c->folder, path, c->quota);
		if (c->period)
			period = place_line(p, "%s%s/%s", c->folder, path, c->period);
		limit = fact_known(&f) ? cpus_of(&f, &period) : f;
		tighten(&h->cgroup_cpus, &limit);
	}
	if (c->bytes) {
		f = place_line(p, "%s%s/%s", c->folder, path, c->bytes);
		limit = fact_known(&f) ? bytes_of(&f) : f;
		tighten(&h->cgroup_mem_bytes, &limit);
	}
	if (c->cpuset && !fact_known(&h->cgroup_cpuset))
		h->cgroup_cpuset = place_line(p, "%s%s/%s", c->folder, path, c->cpuset);
}

/* The group of this process and every one above it. */
static void read_controller(struct host *h, const struct place *p, const struct controller *c)
{
	char path[256], *slash;
	size_t n;

	group_path(p, c->name, path);
	n = strlen(path);
	if (n && path[n - 1] == '/')
		path[n - 1] = '\0';
	for (;;) {
		read_group(h, p, c, path);
		slash = strrchr(path, '/');
		if (!slash)
			break;
		*slash = '\0';
	}
}

void cgroup_read(struct host *h, const struct place *p)
{
	static const struct controller v2 = { "",   "/sys/fs/cgroup", "cpu.max",
					      NULL, "memory.max",     "cpuset.cpus.effective" };
	static const struct controller v1[] = {
		{ "cpu", "/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "cpu.cfs_period_us", NULL,
		  NULL },
		{ "memory", "/sys/fs/cgroup/memory", NULL, NULL, "memory.limit_in_bytes", NULL },
		{ "cpuset", "/sys/fs/cgroup/cpuset", NULL, NULL, NULL, "cpuset.cpus" },
	};

	if (place_has(p, "/sys/fs/cgroup/cgroup.controllers")) {
		h->cgroup_version = fact_int(2);
		read_controller(h, p, &v2);
		return;
	}
	h->cgroup_version = place_has(p, "/sys/fs/cgroup/memory")
				    ? fact_int(1)
				    : fact_unknown("no control groups in /sys/fs/cgroup");
	for (size_t i = 0; i < sizeof(v1) / sizeof(*v1); i++)
		read_controller(h, p, &v1[i]);
}
