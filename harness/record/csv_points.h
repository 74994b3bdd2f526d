/* csv_points.h - summaries of points as CSV, a line each. */
#ifndef RIFT_SWEEP_CSV_POINTS_H
#define RIFT_SWEEP_CSV_POINTS_H

#include <jansson.h>
#include <stdio.h>

struct csv_points {
	FILE *out;
	const char *side; /* "a", "b": the points of this side only; NULL: of all */
	json_t *columns;  /* names of the axes, of the first point; NULL before it */
};

/*
 * A point of another side is passed over. The names first, before the first point. An axis that
 * only later points have is left out. What could not be written shows in ferror().
 */
void csv_point(struct csv_points *c, const json_t *point);

/* A text in quotes where it needs them; what is missing or null stays empty. */
void csv_value(FILE *out, const json_t *v);

void csv_points_release(struct csv_points *c);

#endif
