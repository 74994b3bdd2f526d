/* turns.c - what a pair of processes says of a point, by its turns. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/record/journal_impl.h"
#include "harness/record/point_record.h"
#include "harness/stats/stats.h"

/*
 * The two sides' visits of a round lie next to each other in time, so that whatever the machine
 * does for a second or more is in both. The median over the rounds of their ratio is therefore much
 * steadier than the ratio of the medians: on one H200 a launch call took 3.3 us in some seconds and
 * 4.1 us in others, of both sides alike.
 */

/* A point's rounds are kept; where the other side of the pair has it too, both values are moved. */
void journal_take_turns(struct journal *j, int replicate, int point, const json_t *line)
{
	size_t rounds = (size_t)j->plan.design.rounds, points = (size_t)j->plan.n_points;

	if (!j->plan.design.pairs)
		return;
	if (!j->turns)
		j->turns = journal_zeroed((size_t)j->replicates, sizeof(*j->turns));
	if (!j->turns[replicate])
		j->turns[replicate] = journal_zeroed(points * rounds * TURN_SERIES, sizeof(double));
	for (size_t r = 0; r < rounds; r++)
		for (size_t k = 0; k < TURN_SERIES; k++)
			j->turns[replicate][((size_t)point * rounds + r) * TURN_SERIES + k] =
				point_turn_ns(line, (int)k, (int)r);
}

/* A round that both sides of a pair have. */
struct both {
	double a_ns, b_ns, ratio;
};

static int by_ratio(const void *x, const void *y)
{
	const struct both *p = x, *q = y;

	return (p->ratio > q->ratio) - (p->ratio < q->ratio);
}

/* Those of them whose ratios decide the median of b / a: the middle one, or two. Returns how many.
 */
static int middle_turns(const struct journal *j, const double *a, const double *b, int series,
			struct both out[2])
{
	struct both all[ROUNDS_MAX];
	int rounds = j->plan.design.rounds, n = 0;

	for (int r = 0; r < rounds && r < ROUNDS_MAX; r++) {
		double x = a[r * TURN_SERIES + series], y = b[r * TURN_SERIES + series];

		if (x > 0 && y > 0)
			all[n++] = (struct both){ x, y, y / x };
	}
	if (!n)
		return 0;
	qsort(all, (size_t)n, sizeof(*all), by_ratio);
	out[0] = all[(n - 1) / 2];
	out[1] = all[n / 2];
	return n % 2 ? 1 : 2;
}

static double ratio_of_turns(const struct journal *j, const double *a, const double *b, int series)
{
	struct both middle[2];
	int n = middle_turns(j, a, b, series, middle);

	return n ? (middle[0].ratio + middle[n - 1].ratio) / 2 : NAN;
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

/*
 * The turns of both sides of the pair that replicate belongs to, at a point. False: they are no
 * pair there. Apart, no turn of one side lies beside one of the other.
 */
static bool find_pair(const struct journal *j, int replicate, int point, size_t at[2],
		      const double *turns[2])
{
	int processes = j->plan.design.processes, process = replicate % processes;
	size_t points = (size_t)j->plan.n_points;

	if (!j->turns || j->sides < 2 || j->plan.config[j->plan.point[point].config].apart)
		return false;
	for (int side = 0; side < 2; side++) {
		int of = side * processes + process;

		at[side] = (size_t)of * points + (size_t)point;
		if (!j->turns[of] || j->status[at[side]] != POINT_OK)
			return false;
		turns[side] =
			&j->turns[of][(size_t)point * (size_t)j->plan.design.rounds * TURN_SERIES];
	}
	return true;
}

void journal_pair_turns(struct journal *j, int replicate, int point)
{
	const double *turns[2];
	size_t at[2];

	if (!find_pair(j, replicate, point, at, turns))
		return;
	set_ratio(&j->total_ns[at[0]], &j->total_ns[at[1]],
		  ratio_of_turns(j, turns[0], turns[1], TURN_TOTAL));
	set_ratio(&j->enq_ns[at[0]], &j->enq_ns[at[1]],
		  ratio_of_turns(j, turns[0], turns[1], TURN_ENQ));
}

int journal_middle_turns(const struct journal *j, int replicate, int point, int series,
			 double ns[2])
{
	struct both middle[2];
	const double *turns[2];
	size_t at[2];
	int n = 0;

	if (find_pair(j, replicate, point, at, turns))
		n = middle_turns(j, turns[0], turns[1], series, middle);
	for (int i = 0; i < n; i++)
		ns[i] = replicate < j->plan.design.processes ? middle[i].a_ns : middle[i].b_ns;
	return n;
}

double journal_first_turns_ns(const struct journal *j, int replicate, int point, int n)
{
	int rounds = j->plan.design.rounds, found = 0;
	double ns[ROUNDS_MAX];

	if (!j->turns || !j->turns[replicate])
		return NAN;
	for (int r = 0; r < rounds && found < n; r++) {
		double x = j->turns[replicate][(point * rounds + r) * TURN_SERIES + TURN_TOTAL];

		if (isfinite(x))
			ns[found++] = x;
	}
	return median_of(ns, found);
}

void journal_keep_turns(struct journal *j, const bool *stays)
{
	size_t row = (size_t)j->plan.design.rounds * TURN_SERIES;

	for (int replicate = 0; j->turns && replicate < j->replicates; replicate++) {
		double *to = j->turns[replicate];

		for (int i = 0; to && i < j->plan.n_points; i++) {
			if (!stays[i])
				continue;
			memmove(to, j->turns[replicate] + (size_t)i * row, row * sizeof(*to));
			to += row;
		}
	}
}

void journal_release_turns(struct journal *j)
{
	for (int i = 0; j->turns && i < j->replicates; i++)
		free(j->turns[i]);
	free(j->turns);
	j->turns = NULL;
}
