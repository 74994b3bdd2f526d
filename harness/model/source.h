/* source.h - sessions as the commands of the model read them: journal, grid, fit. */
#ifndef RIFT_MODEL_SOURCE_H
#define RIFT_MODEL_SOURCE_H

#include "harness/model/fit.h"

struct source {
	struct journal journal;
	struct grid grid;
	struct fit fit; /* zeroed: none was made */
};

/* Of a session with two sides, which: the last one, else the first. */
enum source_side { SOURCE_FIRST, SOURCE_LAST };

/*
 * The grid of a workload, NULL: the only one. Returns 0, or a negative errno after one line. *s is
 * zeroed before, and may be released after a failure too.
 */
int source_grid(struct source *s, const char *path, enum source_side side, const char *workload,
		const char *sync);

/*
 * Grid and fit of what says most of a platform: the workload launch where the session holds it,
 * else its only one. group: of fit_make().
 */
int source_platform(struct source *s, const char *path, enum source_side side, const char *sync,
		    uint32_t group);

/*
 * What launches cost on the platform of a side of j: as source_platform() of a session's first
 * side, refused where sizes are no durations (-EINVAL) or it is of another device (-EXDEV). option:
 * that named the path, for messages.
 */
int source_launches(struct source *s, const char *option, const char *path, const char *sync,
		    const struct journal *j, int side);

void source_release(struct source *s);

/* The workloads of a session, each once, in the order of the plan: calls each() until it fails. */
int source_each_workload(const struct journal *j, int (*each)(const char *workload, void *arg),
			 void *arg);

/* Is this record (a header, a card) of the device of that side? Else -EXDEV after one line. */
int source_same_device(const char *option, const char *path, const json_t *record,
		       const struct journal *j, int side);

#endif
