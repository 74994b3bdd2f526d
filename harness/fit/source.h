/* source.h - sessions as the commands of the model read them: journal, grid, fit. */
#ifndef RIFT_FIT_SOURCE_H
#define RIFT_FIT_SOURCE_H

#include "harness/fit/fit.h"
#include "harness/record/recorded.h"

struct source {
	/*
	 * One that was read before, or NULL. A file that it, or one before it, has read by the same
	 * wait policy is not read again: it must be released after this one.
	 */
	const struct source *before;
	const char *sync; /* the wait policy that was asked for, or NULL */
	const struct journal *j;
	struct journal own; /* what j is, where it was read here */
	struct grid grid;
	struct fit fit; /* zeroed: none was made */
};

/*
 * The session alone: s->j, of which the argument names a side (session_arg in
 * harness/record/recorded.h). Returns 0, or a negative errno after one line. *s is zeroed before,
 * except for s->before, and may be released after a failure too.
 */
int source_read(struct source *s, const struct session_arg *arg, const char *sync, int *side);

/*
 * The grid of a workload, NULL: the only one, on the side that the argument names; grid.side says
 * which. As source_read().
 */
int source_grid(struct source *s, const struct session_arg *arg, const char *workload,
		const char *sync);

/*
 * Grid and fit of what says most of a platform: the workload launch where the session holds it,
 * else its only one. group: of fit_make().
 */
int source_platform(struct source *s, const struct session_arg *arg, const char *sync,
		    uint32_t group);

/*
 * What launches cost on the platform of a side of j: as source_platform(), refused where sizes are
 * no durations (-EINVAL) or it is of another device (-EXDEV). The argument has an option.
 */
int source_launches(struct source *s, const struct session_arg *arg, const char *sync,
		    const struct journal *j, int side);

/* Does the session hold the workload launch, beside others? */
bool source_has_launch(const struct journal *j);

/* Are these grids of one side of one session, read twice or copied? */
bool source_same(const struct grid *a, const struct grid *b);

void source_release(struct source *s);

/* The workloads of a session, each once, in the order of the plan: calls each() until it fails. */
int source_each_workload(const struct journal *j, int (*each)(const char *workload, void *arg),
			 void *arg);

/* Is this record (a header, a costs file) of the device of that side? Else -EXDEV after one line.
 */
int source_same_device(const char *option, const char *path, const json_t *record,
		       const struct journal *j, int side);

#endif
