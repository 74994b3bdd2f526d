/*
 * journal_turns.c - what a pair of processes says of a point, by its turns.
 *
 * The two sides' visits of a round lie next to each other in time, so that whatever the machine
 * does for a second or more is in both. The median over the rounds of their ratio is therefore much
 * steadier than the ratio of the medians: on one H200 a launch call took 3.3 us in some seconds and
 * 4.1 us in others, of both sides alike.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/sorted.h"
#include "harness/sweep/journal_impl.h"

enum { TURN_TOTAL, TURN_ENQ, TURN_SERIES };
static const char *const series_names[TURN_SERIES] = { "t_total_ns", "t_enq_ns" };

/* The median of a round's blocks, of those without a mark where there are any; NAN: none. */
static double median_of_round(const json_t *line, const char *series, int round, double *room)
{
	const json_t *rounds = json_object_get(line, "round_of_block"), *of;
	const json_t *ns = json_object_get(line, series), *marks = json_object_get(line, "marks");
	int n = 0, unmarked = 0;
	size_t i;

	json_array_foreach(rounds, i, of) unmarked +=
		json_integer_value(of) == round && !json_integer_value(json_array_get(marks, i));
	json_array_foreach(rounds, i,
			   of) if (json_integer_value(of) == round &&
				   (!unmarked || !json_integer_value(json_array_get(marks, i))))
		room[n++] = json_number_value(json_array_get(ns, i));
	return median_of(room, n);
}

void journal_take_turns(struct journal *j, int slot, int point, const json_t *line)
{
	size_t rounds = (size_t)j->plan.design.rounds, points = (size_t)j->plan.n_points;
	size_t blocks = json_array_size(json_object_get(line, "round_of_block"));
	double *room;

	if (!j->plan.design.pairs)
		return;
	if (!j->turns)
		j->turns = journal_zeroed((size_t)j->slots, sizeof(*j->turns));
	if (!j->turns[slot])
		j->turns[slot] = journal_zeroed(points * rounds * TURN_SERIES, sizeof(double));
	room = journal_zeroed(blocks, sizeof(*room));
	for (size_t r = 0; r < rounds; r++)
		for (size_t k = 0; k < TURN_SERIES; k++)
			j->turns[slot][((size_t)point * rounds + r) * TURN_SERIES + k] =
				median_of_round(line, series_names[k], (int)r, room);
	free(room);
}

/* The median of b / a over the rounds that both have; NAN: none. */
static double ratio_of_turns(const struct journal *j, const double *a, const double *b, int series)
{
	int rounds = j->plan.design.rounds, n = 0;
	double ratio[ROUNDS_MAX];

	for (int r = 0; r < rounds && r < ROUNDS_MAX; r++) {
		double x = a[r * TURN_SERIES + series], y = b[r * TURN_SERIES + series];

		if (x > 0 && y > 0)
			ratio[n++] = y / x;
	}
	return median_of(ratio, n);
}

/* Both move by the same share. */
static void set_ratio(double *a, double *b, double ratio)
{
	double move = sqrt(ratio / (*b / *a));

	if (!isfinite(move) || !(move > 0))
		return;
	*a /= move;
	*b *= move;
}

void journal_pair_turns(struct journal *j, int slot, int point)
{
	int processes = j->plan.design.processes, process = slot % processes;
	size_t points = (size_t)j->plan.n_points, at[2];
	const double *turns[2];

	if (!j->turns || j->sides < 2)
		return;
	for (int side = 0; side < 2; side++) {
		int of = side * processes + process;

		at[side] = (size_t)of * points + (size_t)point;
		if (!j->turns[of] || j->status[at[side]] != POINT_OK)
			return;
		turns[side] =
			&j->turns[of][(size_t)point * (size_t)j->plan.design.rounds * TURN_SERIES];
	}
	set_ratio(&j->total_ns[at[0]], &j->total_ns[at[1]],
		  ratio_of_turns(j, turns[0], turns[1], TURN_TOTAL));
	set_ratio(&j->enq_ns[at[0]], &j->enq_ns[at[1]],
		  ratio_of_turns(j, turns[0], turns[1], TURN_ENQ));
}

double journal_first_turns_ns(const struct journal *j, int slot, int point, int n)
{
	int rounds = j->plan.design.rounds, found = 0;
	double ns[ROUNDS_MAX];

	if (!j->turns || !j->turns[slot])
		return NAN;
	for (int r = 0; r < rounds && found < n; r++) {
		double x = j->turns[slot][(point * rounds + r) * TURN_SERIES + TURN_TOTAL];

		if (isfinite(x))
			ns[found++] = x;
	}
	return median_of(ns, found);
}

void journal_keep_turns(struct journal *j, const bool *stays)
{
	size_t row = (size_t)j->plan.design.rounds * TURN_SERIES;

	for (int slot = 0; j->turns && slot < j->slots; slot++) {
		double *to = j->turns[slot];

		for (int i = 0; to && i < j->plan.n_points; i++) {
			if (!stays[i])
				continue;
			memmove(to, j->turns[slot] + (size_t)i * row, row * sizeof(*to));
			to += row;
		}
	}
}

void journal_release_turns(struct journal *j)
{
	for (int i = 0; j->turns && i < j->slots; i++)
		free(j->turns[i]);
	free(j->turns);
	j->turns = NULL;
}
