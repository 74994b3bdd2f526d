/*
 * journal_kind.c - some of the points of a session: those of one kind of waiting, or those that
 * there was time for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/sweep/journal_impl.h"

/* Of each row of n elements, those of the points that stay, moved together. */
static void keep_columns(void *all, size_t size, int rows, const bool *stays, int n)
{
	char *to = all;

	for (int i = 0; i < rows * n; i++) {
		if (!stays[i % n])
			continue;
		memmove(to, (const char *)all + (size_t)i * size, size);
		to += size;
	}
}

/* Those of the points that stay, under their new numbers. New reference, or NULL. */
static json_t *renumbered(const json_t *refused, const bool *stays, int n)
{
	json_t *out = refused ? json_object() : NULL;
	char from[16], to[16];
	int left = 0;

	for (int i = 0; out && i < n; i++) {
		json_t *error;

		if (!stays[i])
			continue;
		snprintf(from, sizeof(from), "%d", i);
		snprintf(to, sizeof(to), "%d", left++);
		error = json_object_get(refused, from);
		if (error)
			json_object_set(out, to, error);
	}
	return out;
}

static bool does_not_stay(const struct plan *p, int point, void *stays)
{
	(void)p;
	return !((const bool *)stays)[point];
}

/* The rows of everything that has a column a point; visits under way are forgotten. */
static void keep_rows(struct journal *j, const bool *stays)
{
	int n = j->plan.n_points;

	journal_forget_visits(j, 0);
	journal_forget_visits(j, 1);
	keep_columns(j->status, sizeof(*j->status), j->slots, stays, n);
	keep_columns(j->total_ns, sizeof(*j->total_ns), j->slots, stays, n);
	keep_columns(j->enq_ns, sizeof(*j->enq_ns), j->slots, stays, n);
	keep_columns(j->alone_ns, sizeof(*j->alone_ns), j->slots, stays, n);
	keep_columns(j->noisy, sizeof(*j->noisy), j->slots, stays, n);
	keep_columns(j->failures, sizeof(*j->failures), j->slots, stays, n);
	keep_columns(j->launches, sizeof(*j->launches), 1, stays, n);
	keep_columns(j->step, sizeof(*j->step), 1, stays, n);
	journal_keep_turns(j, stays);
	for (int side = 0; side < j->sides; side++) {
		json_t *refused = renumbered(j->refused[side], stays, n);

		json_decref(j->refused[side]);
		j->refused[side] = refused;
	}
}

void journal_keep_points(struct journal *j, const bool *stays)
{
	keep_rows(j, stays);
	plan_drop(&j->plan, does_not_stay, (void *)(uintptr_t)stays);
}

void journal_keep_kind(struct journal *j, enum sync_kind kind)
{
	int n = j->plan.n_points;
	bool *stays = journal_zeroed((size_t)n, sizeof(*stays));

	for (int i = 0; i < n; i++)
		stays[i] = j->plan.point[i].sync == kind;
	keep_rows(j, stays);
	free(stays);
	plan_keep_kind(&j->plan, kind);
	for (int side = 0; side < j->sides; side++) {
		if (!j->of_kind[side][kind])
			continue;
		json_decref(j->header[side]);
		j->header[side] = json_incref(j->of_kind[side][kind]);
	}
}
