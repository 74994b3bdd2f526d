/* party.c - one of the two that are compared. */
#include "harness/compare/party.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/record/journal.h"

static bool is_taken(enum half half, int process)
{
	bool second = process % 4 == 1 || process % 4 == 2;

	return half == HALF_BOTH || second == (half == HALF_SECOND);
}

static int count_failed(const struct journal *view)
{
	int failed = 0;

	for (int i = 0; i < view->slots * view->plan.n_points; i++)
		failed += view->status[i] != POINT_OK;
	return failed;
}

void party_init(struct party *p, const struct journal *session, const char *path, int side,
		enum half half)
{
	int all = journal_processes(session);
	int *process = calloc((size_t)all, sizeof(*process));

	CHECK(process, "memory of %d processes", all);
	*p = (struct party){
		.path = path, .side = side, .half = half, .alone = session->sides == 1
	};
	for (int i = 0; i < all; i++)
		if (is_taken(half, i))
			process[p->n++] = i;
	journal_view(&p->view, session, side, process, p->n);
	p->failed = count_failed(&p->view);
	p->canary_ns = journal_canary_ns(&p->view, 0);
	free(process);
}

void party_release(struct party *p)
{
	journal_view_release(&p->view);
	*p = (struct party){ 0 };
}

bool party_is_pair(const struct party *a, const struct party *b)
{
	return a->view.plan.design.pairs && a->side != b->side && a->half == b->half &&
	       a->n == b->n && !strcmp(a->view.session_id, b->view.session_id);
}

const json_t *party_header(const struct party *p)
{
	return p->view.header[0];
}

int party_values(const struct party *p, int point, double *value)
{
	const struct journal *v = &p->view;
	int n = 0;

	for (int i = 0; i < p->n; i++) {
		size_t at = (size_t)i * (size_t)v->plan.n_points + (size_t)point;

		if (v->status[at] == POINT_OK && isfinite(v->total_ns[at]) && v->total_ns[at] > 0)
			value[n++] = v->total_ns[at] / (double)v->plan.point[point].depth;
	}
	return n;
}
