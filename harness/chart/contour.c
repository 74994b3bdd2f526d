/* contour.c - lines of one value through a grid of measured values. */
#include "harness/chart/contour.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/check.h"

/*
 * Edges between neighbours have numbers: first those along rows, from (row, column) to the next
 * column, then those along columns, to the next row. Each belongs to two squares at most, so the
 * line that crosses it goes on to at most two other edges.
 */
struct trace {
	const struct contour_grid *g;
	double level;
	int edges;
	int (*next)[2]; /* of each edge; -1: none */
	void (*each)(void *arg, int line, double column, double row);
	void *arg;
};

static double value_at(const struct trace *t, int row, int column)
{
	return t->g->z[row * t->g->columns + column];
}

static int along_row(const struct trace *t, int row, int column)
{
	return row * t->g->columns + column;
}

static int along_column(const struct trace *t, int row, int column)
{
	return t->edges / 2 + along_row(t, row, column);
}

/* ---- joining edges ---------------------------------------------------------------------- */

static void add_edge(struct trace *t, int edge, int other)
{
	t->next[edge][t->next[edge][0] >= 0] = other;
}

static void join(struct trace *t, int a, int b)
{
	add_edge(t, a, b);
	add_edge(t, b, a);
}

/*
 * The square above and to the right of (row, column). Corners and edges go around: edge i is
 * between corners i and i + 1. Where all four edges are crossed, the mean of the corners says
 * which of them hang together.
 */
static void join_square(struct trace *t, int row, int column)
{
	const double z[4] = { value_at(t, row, column), value_at(t, row, column + 1),
			      value_at(t, row + 1, column + 1), value_at(t, row + 1, column) };
	const int edge[4] = { along_row(t, row, column), along_column(t, row, column + 1),
			      along_row(t, row + 1, column), along_column(t, row, column) };
	int crossed[4], n = 0;

	if (!isfinite(z[0] + z[1] + z[2] + z[3]))
		return;
	for (int i = 0; i < 4; i++)
		if ((z[i] >= t->level) != (z[(i + 1) % 4] >= t->level))
			crossed[n++] = edge[i];
	if (n == 2)
		join(t, crossed[0], crossed[1]);
	if (n == 4) {
		bool middle = (z[0] + z[1] + z[2] + z[3]) / 4 >= t->level;
		/* does the line go around corner 1, by edges 0 and 1, or around corner 0? */
		int first = middle == (z[0] >= t->level) ? 1 : 3;

		join(t, crossed[0], crossed[first]);
		join(t, crossed[2], crossed[4 - first]);
	}
}

/* ---- following -------------------------------------------------------------------------- */

/* Where the line crosses this edge. */
static void emit(const struct trace *t, int line, int edge)
{
	int half = t->edges / 2, at = edge % half, columns = t->g->columns;
	int row = at / columns, column = at % columns;
	bool up = edge >= half;
	double a = value_at(t, row, column), b = value_at(t, row + up, column + !up);
	double share = (t->level - a) / (b - a);

	t->each(t->arg, line, column + (up ? 0 : share), row + (up ? share : 0));
}

static void cut(struct trace *t, int a, int b)
{
	int *next = t->next[a];

	if (next[0] == b)
		next[0] = next[1];
	next[1] = -1;
}

static void follow_line(struct trace *t, int line, int edge)
{
	int next = t->next[edge][0];

	emit(t, line, edge);
	while (next >= 0) {
		cut(t, edge, next);
		cut(t, next, edge);
		edge = next;
		emit(t, line, edge);
		next = t->next[edge][0];
	}
}

int contour_trace(const struct contour_grid *g, double level,
		  void (*each)(void *arg, int line, double column, double row), void *arg)
{
	struct trace t = { .g = g, .level = level, .each = each, .arg = arg };
	int lines = 0;

	t.edges = 2 * g->columns * g->rows;
	t.next = malloc(((size_t)t.edges + 1) * sizeof(*t.next));
	CHECK(t.next, "memory of %d edges", t.edges);
	for (int i = 0; i < t.edges; i++)
		t.next[i][0] = t.next[i][1] = -1;
	for (int row = 0; row + 1 < g->rows; row++)
		for (int column = 0; column + 1 < g->columns; column++)
			join_square(&t, row, column);
	/* lines with ends first; what is left are closed ones */
	for (int i = 0; i < t.edges; i++)
		if (t.next[i][0] >= 0 && t.next[i][1] < 0)
			follow_line(&t, lines++, i);
	for (int i = 0; i < t.edges; i++)
		if (t.next[i][0] >= 0)
			follow_line(&t, lines++, i);
	free(t.next);
	return lines;
}
