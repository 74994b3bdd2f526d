/* bimodal.c - points whose processes fall into two kinds: two states of the machine, most likely.
 */
#include <math.h>
#include <stdlib.h>

#include "common/check.h"
#include "harness/cmd/sweep_text.h"
#include "harness/text.h"

enum { SHOWN = 3 };

struct split {
	struct modality m;
	int side, point;
};

static double apart(const struct split *s)
{
	return s->m.mode[1].median / s->m.mode[0].median;
}

static int by_distance(const void *a, const void *b)
{
	double x = apart(a), y = apart(b);

	return (x < y) - (x > y);
}

static int find(const struct results *r, struct split *out)
{
	int n = 0;

	for (int side = 0; side < r->j->sides; side++) {
		for (int i = 0; i < r->j->plan.n_points; i++) {
			struct modality m = results_modality(r, side, i);

			if (m.bimodal)
				out[n++] = (struct split){ m, side, i };
		}
	}
	return n;
}

static void print_one(const struct results *r, const struct split *s, FILE *out)
{
	int n = results_count(r, s->side, s->point);
	char text[160];

	plan_point_text(&r->j->plan, s->point, text, sizeof(text));
	fprintf(out, "  %s%s: %ld processes at %s", text,
		r->j->sides < 2 ? ""
		: s->side	? ", side b"
				: ", side a",
		lround(s->m.mode[0].share * n), text_time(s->m.mode[0].median).s);
	fprintf(out, ", %ld at %s\n", lround(s->m.mode[1].share * n),
		text_time(s->m.mode[1].median).s);
}

void bimodal_print(const struct results *r, FILE *out)
{
	size_t room = (size_t)(r->j->plan.n_points * r->j->sides) + 1;
	struct split *split = calloc(room, sizeof(*split));
	int n;

	CHECK(split, "memory of %zu points", room);
	n = find(r, split);
	qsort(split, (size_t)n, sizeof(*split), by_distance);
	if (n)
		fprintf(out,
			"\nprocesses fall into two kinds at %d of %d points; furthest apart:\n", n,
			(int)room - 1);
	for (int i = 0; i < n && i < SHOWN; i++)
		print_one(r, &split[i], out);
	free(split);
}
