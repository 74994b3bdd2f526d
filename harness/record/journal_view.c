/* journal_view.c - some processes of one side of a session. */
#include "harness/record/journal_view.h"

#include <stdlib.h>
#include <string.h>

#include "harness/record/journal_impl.h"

/* Rows of `size` bytes a slot, those of the slots that are taken. */
static void *taken(const void *all, size_t size, const int *slot, int n)
{
	char *rows = journal_zeroed((size_t)n, size);

	for (int i = 0; i < n; i++)
		memcpy(rows + (size_t)i * size, (const char *)all + (size_t)slot[i] * size, size);
	return rows;
}

void journal_view(struct journal *out, const struct journal *j, int side, const int *process, int n)
{
	size_t points = (size_t)j->plan.n_points;
	int *slot = journal_zeroed((size_t)n, sizeof(*slot));

	for (int i = 0; i < n; i++)
		slot[i] = side * j->plan.design.processes + process[i];
	*out = (struct journal){
		.plan = j->plan, .sides = 1, .slots = n, .visit_slot = { -1, -1 }
	};
	out->plan.design.processes = n;
	out->plan.design.sequential = false;
	out->part.fd = out->visits.fd = -1;
	memcpy(out->session_id, j->session_id, sizeof(out->session_id));
	memcpy(out->plan_hash, j->plan_hash, sizeof(out->plan_hash));
	out->path = j->path;
	out->header[0] = j->header[side];
	out->refused[0] = j->refused[side];
	out->launches = j->launches;
	out->step = j->step;
	out->status = taken(j->status, points * sizeof(*j->status), slot, n);
	out->total_ns = taken(j->total_ns, points * sizeof(*j->total_ns), slot, n);
	out->enq_ns = taken(j->enq_ns, points * sizeof(*j->enq_ns), slot, n);
	out->noisy = taken(j->noisy, points * sizeof(*j->noisy), slot, n);
	out->failures = taken(j->failures, points * sizeof(*j->failures), slot, n);
	out->complete = taken(j->complete, sizeof(*j->complete), slot, n);
	out->attempts = taken(j->attempts, sizeof(*j->attempts), slot, n);
	out->canary_ns = taken(j->canary_ns, sizeof(*j->canary_ns), slot, n);
	free(slot);
}

void journal_view_release(struct journal *view)
{
	free(view->status);
	free(view->total_ns);
	free(view->enq_ns);
	free(view->noisy);
	free(view->failures);
	free(view->complete);
	free(view->attempts);
	free(view->canary_ns);
	*view = (struct journal){ .part.fd = -1, .visits.fd = -1 };
}
