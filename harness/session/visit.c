/* visit.c - one visit of one point: canary, a few timed blocks, canary. */
#include "harness/session/visit.h"

#include <errno.h>
#include <math.h>
#include <sched.h>

#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "harness/base/json.h"
#include "harness/measure/measure.h"
#include "harness/measure/nvtx.h"
#include "harness/platform/system.h"

int visit_first(struct prepared *p)
{
	struct block b;
	int err = measure_block(&p->submission, &b);

	if (!err)
		p->last_ns = b.total_ns;
	return err;
}

/* *dev_ns: what the device takes for the steps, by events around them. */
static int block_with_events(const struct submission *s, const struct canary *c, struct block *out,
			     int64_t *dev_ns)
{
	int err = measure_block_between(s, c->begin, c->end, out);
	float ms;

	if (err)
		return err;
	CUDA(cudaEventElapsedTime(&ms, c->begin, c->end));
	*dev_ns = llround(ms * 1e6);
	return 0;
}

/* Block i of the visit, with what the system did to it. */
static int timed_block(struct visit *v, int i, struct prepared *p, const struct canary *c,
		       double queue_depth)
{
	int64_t switches = system_usage().involuntary;
	int cpu = sched_getcpu(), err;
	bool events = c->begin && p->blocks % VISIT_EVENT_EVERY == VISIT_EVENT_EVERY - 1;
	struct block b;

	v->marks[i] = 0;
	if (events)
		err = block_with_events(&p->submission, c, &b, &v->dev_ns[v->n_dev]);
	else
		err = measure_block(&p->submission, &b);
	if (err)
		return err;
	if (events) {
		v->n_dev++;
		v->marks[i] |= MARK_EVENTS;
	}
	if (system_usage().involuntary != switches)
		v->marks[i] |= MARK_SWITCHED;
	if (sched_getcpu() != cpu)
		v->marks[i] |= MARK_MOVED;
	if ((double)p->calls > queue_depth)
		v->marks[i] |= MARK_QUEUE;
	v->enq_ns[i] = b.enq_ns;
	v->total_ns[i] = p->last_ns = b.total_ns;
	v->block_ns += b.total_ns;
	p->blocks++;
	return 0;
}

static int timed_blocks(struct visit *v, int n, struct prepared *p, const struct canary *c,
			double queue_depth)
{
	int64_t steal = system_steal_ticks();
	struct usage before = system_usage(), after;
	int err = 0;

	for (v->n = 0; v->n < n && !err; v->n++)
		err = timed_block(v, v->n, p, c, queue_depth);
	after = system_usage();
	v->utime_us = after.utime_us - before.utime_us;
	v->stime_us = after.stime_us - before.stime_us;
	v->steal_ticks = steal < 0 ? -1 : system_steal_ticks() - steal;
	return err;
}

bool visit_is_off(const struct visit_rules *r, int64_t canary_ns)
{
	/* by a device clock that stands still nothing is judged */
	return r->canary_ns != 0 &&
	       !(fabs((double)canary_ns / r->canary_ns - 1) <= r->canary_limit);
}

static void mark_all(struct visit *v, enum mark mark)
{
	for (int i = 0; i < v->n; i++)
		v->marks[i] |= (unsigned char)mark;
}

int visit_run(struct visit *v, struct prepared *p, const struct canary *c, const struct design *d,
	      const struct visit_rules *r)
{
	int err = 0;

	v->n = v->n_dev = 0;
	v->block_ns = 0;
	if (design_has_untimed((double)p->last_ns))
		err = visit_first(p);
	if (err)
		return err;
	v->host_canary_ns[0] = host_canary_run();
	v->canary_ns[0] = canary_run(c);
	err = timed_blocks(v, design_visit_blocks(d, (double)p->last_ns), p, c, r->queue_depth);
	if (err)
		return err;
	v->canary_ns[1] = canary_run(c);
	v->host_canary_ns[1] = host_canary_run();
	if (visit_is_off(r, v->canary_ns[0]) || visit_is_off(r, v->canary_ns[1]))
		mark_all(v, MARK_CLOCK);
	return 0;
}

static json_t *series_json(const int64_t *ns, int n)
{
	json_t *array = json_array();

	for (int i = 0; i < n; i++)
		json_array_append_new(array, json_integer(ns[i]));
	return array;
}

json_t *visit_json(const struct visit *v, const struct canary *c)
{
	json_t *o = json_object(), *marks = json_array(), *canary = json_array();
	json_t *mhz = json_array();

	for (int i = 0; i < v->n; i++)
		json_array_append_new(marks, json_integer(v->marks[i]));
	for (int i = 0; i < 2; i++) {
		double clock = canary_mhz(c, v->canary_ns[i]);

		json_array_append_new(canary, json_integer(v->canary_ns[i]));
		json_array_append_new(mhz,
				      isfinite(clock) ? json_integer(lround(clock)) : json_null());
	}
	json_object_set_new(o, "t_enq_ns", series_json(v->enq_ns, v->n));
	json_object_set_new(o, "t_total_ns", series_json(v->total_ns, v->n));
	json_object_set_new(o, "t_dev_ns", series_json(v->dev_ns, v->n_dev));
	json_object_set_new(o, "marks", marks);
	json_object_set_new(o, "canary_ns", canary);
	json_object_set_new(o, "sm_clock_mhz", mhz);
	json_object_set_new(o, "host_canary_ns", series_json(v->host_canary_ns, 2));
	json_object_set_new(o, "utime_us", json_integer(v->utime_us));
	json_object_set_new(o, "stime_us", json_integer(v->stime_us));
	json_object_set_new(o, "steal_ticks",
			    v->steal_ticks < 0 ? json_null() : json_integer(v->steal_ticks));
	return o;
}
