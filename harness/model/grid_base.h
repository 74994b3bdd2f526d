/* grid_base.h - which of a session's configurations a grid is of. */
#ifndef RIFT_MODEL_GRID_BASE_H
#define RIFT_MODEL_GRID_BASE_H

#include "harness/model/grid.h"

/* The workload of that name, NULL: the session's only one. NULL after one line: there is none. */
const struct workload *grid_workload(const struct journal *j, const char *name);

/* Of its workload: the defaults where some configuration has them, else the first. */
const struct config *grid_base(const struct grid *g);

/* Sets g->others by its base. */
void grid_name_others(struct grid *g);

#endif
