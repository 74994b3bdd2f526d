/* timeline.c - see timeline.h. */
#include "harness/share/timeline.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/check.h"
#include "common/cuda_check.h"
#include "harness/base/json.h"
#include "harness/platform/system.h"

const char *const timeline_names[] = { "queued", "waits", NULL };

int timeline_find(const char *name)
{
	for (int i = 0; i < TIMELINE_HOWS; i++)
		if (!strcmp(timeline_names[i], name))
			return i;
	return -EINVAL;
}

/* ---- counting --------------------------------------------------------------------------- */

void timeline_init(struct timeline *p, int64_t from_ns, int64_t to_ns, double *times_ns,
		   int64_t times_max)
{
	int64_t bins = (to_ns - from_ns + TIMELINE_BIN_NS - 1) / TIMELINE_BIN_NS;

	*p = (struct timeline){ .from_ns = from_ns,
				.to_ns = to_ns,
				.last_ns = from_ns,
				.bins = (int)bins,
				.times_ns = times_ns,
				.times_max = times_max };
	p->steps = calloc((size_t)bins + 1, sizeof(*p->steps));
	CHECK(p->steps, "memory of %lld bins", (long long)bins);
}

void timeline_release(struct timeline *p)
{
	free(p->steps);
	p->steps = NULL;
}

static void note_pause(struct timeline *p, int64_t now_ns)
{
	int64_t pause = now_ns - p->last_ns;

	p->longest_ns = pause > p->longest_ns ? pause : p->longest_ns;
}

void timeline_note(struct timeline *p, int64_t ended_ns, double steps)
{
	if (ended_ns < p->from_ns || ended_ns >= p->to_ns)
		return;
	note_pause(p, ended_ns);
	if (p->times < p->times_max && ended_ns > p->last_ns)
		p->times_ns[p->times++] = (double)(ended_ns - p->last_ns) / steps;
	p->last_ns = ended_ns;
	p->steps[(ended_ns - p->from_ns) / TIMELINE_BIN_NS] += steps;
}

void timeline_end(struct timeline *p)
{
	note_pause(p, p->to_ns);
}

json_t *timeline_json(const struct timeline *p)
{
	json_t *steps = json_array();

	for (int i = 0; i < p->bins; i++)
		json_array_append_new(steps, json_number(p->steps[i]));
	return json_pack("{s:f, s:o, s:f}", "bin_s", TIMELINE_BIN_NS / 1e9, "steps", steps,
			 "longest_s", (double)p->longest_ns / 1e9);
}

/* ---- working ---------------------------------------------------------------------------- */

/* What is under way, oldest first: an event behind each block of steps. */
enum { UNDER_WAY_MAX = 256, UNDER_WAY_MIN = 3 };
static const double queued_ns = 2e7;

struct queue {
	cudaEvent_t event[UNDER_WAY_MAX];
	int most, n, first;
	double steps; /* of a block */
};

static void queue_init(struct queue *q, const struct submission *s, enum timeline_how how,
		       double step_ns)
{
	double wanted = queued_ns / fmax(1, step_ns * (double)s->depth);

	*q = (struct queue){ .most = 1, .steps = (double)s->depth };
	if (how == TIMELINE_QUEUED)
		q->most = (int)fmin(UNDER_WAY_MAX, fmax(UNDER_WAY_MIN, wanted));
	for (int i = 0; i < q->most; i++)
		CUDA(cudaEventCreateWithFlags(&q->event[i], cudaEventDisableTiming));
}

static void queue_release(struct queue *q)
{
	for (int i = 0; i < q->most; i++)
		CUDA(cudaEventDestroy(q->event[i]));
}

static void take_oldest(struct queue *q, struct timeline *p)
{
	timeline_note(p, clock_ns(), q->steps);
	q->first = (q->first + 1) % q->most;
	q->n--;
}

/* A layer may hold the host in a launch, so the ends that came meanwhile are seen behind it. */
static void take_ended(struct queue *q, struct timeline *p)
{
	while (q->n) {
		cudaError_t state = cudaEventQuery(q->event[q->first]);

		if (state == cudaErrorNotReady) {
			cudaGetLastError();
			return;
		}
		CUDA(state);
		take_oldest(q, p);
	}
}

static void wait_for_oldest(struct queue *q, struct timeline *p)
{
	CUDA(cudaEventSynchronize(q->event[q->first]));
	take_oldest(q, p);
}

static int add_block(struct queue *q, const struct submission *s)
{
	int err = submission_enqueue(s);

	CUDA(cudaEventRecord(q->event[(q->first + q->n) % q->most], s->instance->stream));
	q->n++;
	return err;
}

static void sleep_until(int64_t ns)
{
	int64_t left = ns - clock_ns();
	struct timespec t = { .tv_sec = (time_t)(left / SECOND_NS),
			      .tv_nsec = (long)(left % SECOND_NS) };

	if (left > 0)
		nanosleep(&t, NULL);
}

int timeline_run(struct timeline *p, const struct submission *s, enum timeline_how how,
		 double step_ns)
{
	struct queue q;
	int err = 0;

	queue_init(&q, s, how, step_ns);
	sleep_until(p->from_ns);
	while (clock_ns() < p->to_ns && !err) {
		if (q.n == q.most)
			wait_for_oldest(&q, p);
		err = add_block(&q, s);
		take_ended(&q, p);
	}
	while (q.n)
		wait_for_oldest(&q, p);
	timeline_end(p);
	queue_release(&q);
	return err;
}
