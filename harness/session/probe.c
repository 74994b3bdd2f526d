/*
 * probe.c - how long each configuration takes, before points are chosen: the worker that tries
 * them, and who asks it.
 */
#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "common/check.h"
#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "common/plural.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/measure/measure.h"
#include "harness/measure/run.h"
#include "harness/measure/choose.h"
#include "harness/measure/estimate.h"
#include "harness/measure/plan_record.h"
#include "harness/record/record.h"
#include "harness/session/supervisor.h"
#include "harness/session/rounds.h"
#include "harness/session/worker.h"
#include "harness/stats/stats.h"

/* ---- in the worker ---------------------------------------------------------------------- */

/*
 * Set up, one step, a few steps. Where a workload limits its launches, one that would take longer
 * is not tried but estimated.
 */

/* What is no burden to time again at the next size, ns. */
static const double check_short_ns = 0.4e9;

enum { PROBE_BLOCKS = 5, PROBE_STEPS = 256, PROBE_NS = 5000000 };

/* A machine may stand still for so long, ns. */
static const double stall_ns = 1e9;

/* Two long blocks, or one that no stall explains, say enough. */
static bool is_done(const double *total_ns, int n)
{
	int longs = 0;

	for (int i = 0; i < n; i++)
		longs += total_ns[i] > BLOCK_LONGEST_NS;
	return n == PROBE_BLOCKS || longs > 1 || (n && total_ns[n - 1] > stall_ns);
}

/*
 * The median of a few blocks of this depth: the sweep meets what disturbs them as well. *wall_ns:
 * the same with reset and synchronize.
 */
static int time_depth(const struct instance *s, enum mode mode, int64_t depth, double *total_ns,
		      double *wall_ns)
{
	struct submission sub;
	struct block b;
	double total[PROBE_BLOCKS] = { 0 }, wall[PROBE_BLOCKS];
	int err = submission_init(&sub, s, mode, depth), n;

	for (n = 0; !err && !is_done(total, n); n++) {
		int64_t start = clock_ns();

		err = measure_block(&sub, &b);
		wall[n] = (double)(clock_ns() - start);
		total[n] = (double)b.total_ns;
	}
	submission_release(&sub);
	*total_ns = median_of(total, n);
	*wall_ns = median_of(wall, n);
	return err;
}

/* Steps for the second length; 1: no second length is allowed or wanted. */
static int64_t more_steps(int64_t depth_max, double one_ns)
{
	double n = fmin(fmax(PROBE_NS / one_ns, 2), PROBE_STEPS);

	if (one_ns > BLOCK_LONGEST_NS)
		return 1;
	return depth_max && n > (double)depth_max ? depth_max : (int64_t)n;
}

/* To check the state after so many steps; NAN where the hook fails, as it will again. */
static int time_check(const struct instance *s, enum mode mode, int64_t steps, double *ns)
{
	struct verdict v = { .seed = CHECK_SEED, .graph_steps = longest_graph(s, mode, steps) };
	int64_t start = clock_ns();
	int err = s->workload->check(s->opts, s->state, steps, &v);

	*ns = err ? NAN : (double)(clock_ns() - start);
	return err == -EINTR ? err : 0;
}

/*
 * T = ends + D * step, by two lengths; where there is one, a step is all of it. checked: the check,
 * whose reference may take long, is timed too.
 */
static int time_steps(struct side_timing *c, const struct instance *s, enum mode mode,
		      int64_t depth_max, bool checked)
{
	double one_ns, many_ns, wall_ns, check_ns;
	int64_t n;
	int err = time_depth(s, mode, 1, &one_ns, &wall_ns);

	if (!err && checked)
		err = time_check(s, mode, 1, &c->check_ends_ns);
	if (err)
		return err;
	c->check_step_ns = c->check_ends_ns;
	c->gap_ns = fmax(wall_ns - one_ns, 0);
	c->step_ns = one_ns;
	c->ends_ns = 0;
	n = more_steps(depth_max, one_ns);
	if (n < 2)
		return 0;
	err = time_depth(s, mode, n, &many_ns, &wall_ns);
	if (!err && checked)
		err = time_check(s, mode, n, &check_ns);
	if (err)
		return err;
	/* no line through the two: of more steps a check may compare fewer units */
	if (checked)
		c->check_step_ns = check_ns / (double)n;
	c->step_ns = fmax((many_ns - one_ns) / (double)(n - 1), 0.01 * one_ns);
	c->ends_ns = fmax(one_ns - c->step_ns, 0);
	return 0;
}

static enum mode mode_of(const struct plan *p, int config)
{
	for (int i = 0; i < p->n_points; i++)
		if (p->point[i].config == config)
			return p->point[i].mode;
	return MODE_STREAM;
}

/* ---- launches that may be too long to try ----------------------------------------------- */

static struct side_timing *timing_of(struct worker *w, int config)
{
	return &w->plan.config[config].timing[w->side];
}

static double launch_max_ns(const struct config *c)
{
	struct limits limits;
	int device, watched;

	if (workload_limits(c->workload, c->params.opts, &limits))
		return 0;
	CUDA(cudaGetDevice(&device));
	CUDA(cudaDeviceGetAttribute(&watched, cudaDevAttrKernelExecTimeout, device));
	return 1e6 * (watched ? limits.launch_max_watched_ms : limits.launch_max_ms);
}

/* A step of the configuration at another size. */
static int time_size(struct worker *w, int i, int64_t *size, int64_t other, double *ns)
{
	struct refusal ignored;
	int64_t own = *size;
	double wall_ns;
	int err;

	*size = other;
	err = worker_set_up(w, i, &ignored);
	if (!err)
		err = time_depth(&w->instance[i], mode_of(&w->plan, i), 1, ns, &wall_ns);
	worker_tear_down(w, i);
	*size = own;
	return err;
}

/*
 * step_ns, if a launch would take too long; else as it was. The smallest size is taken for
 * harmless, and no launch takes longer than it in proportion to sizes. Where that is too long a
 * line through it and 16 times the size says more, if that much may be tried.
 */
static int estimate_unprobed(struct worker *w, int i)
{
	const struct config *config = &w->plan.config[i];
	struct side_timing *c = timing_of(w, i);
	const struct param *axis = workload_axis(config->workload);
	int64_t *size = (int64_t *)((char *)config->params.opts + axis->offset);
	int64_t least = (int64_t)axis->min, more = 16 * least;
	double least_ns, more_ns, ns;
	int err;

	if (!(c->launch_max_ns > 0) || *size <= least)
		return 0;
	CHECK(axis->kind == PARAM_INT || axis->kind == PARAM_SIZE, "%s", axis->name);
	err = time_size(w, i, size, least, &least_ns);
	if (err)
		return err;
	ns = least_ns * (double)*size / (double)least;
	if (ns > c->launch_max_ns && *size > more && 16 * least_ns <= c->launch_max_ns) {
		err = time_size(w, i, size, more, &more_ns);
		if (err)
			return err;
		ns = more_ns +
		     (more_ns - least_ns) * (double)(*size - more) / (double)(more - least);
	}
	if (ns > c->launch_max_ns) {
		c->step_ns = ns;
		c->ends_ns = 0;
	}
	return 0;
}

/* ---- all of them ------------------------------------------------------------------------ */

/* The workload chose the sizes, and the last smaller one took too long already. */
static bool is_hopeless(struct worker *w, int i)
{
	const struct config *c = &w->plan.config[i], *smaller = c - 1;
	const struct side_timing *t = timing_of(w, i), *before = smaller->timing + w->side;

	if (t->launch_max_ns > 0)
		return t->step_ns > t->launch_max_ns;
	if (c->size_given || !i || smaller->workload != c->workload ||
	    smaller->size_index + 1 != c->size_index)
		return false;
	return !(before->ends_ns + before->step_ns <= BLOCK_LONGEST_NS);
}

struct timed_steps {
	struct side_timing *t;
	const struct instance *s;
	enum mode mode;
	int64_t depth_max;
	bool checked;
};

static int time_one(void *arg)
{
	struct timed_steps *p = arg;

	return time_steps(p->t, p->s, p->mode, p->depth_max, p->checked);
}

/* A layer may say nothing of it: NAN. */
static double device_free_bytes(void)
{
	size_t bytes, total;

	return cudaMemGetInfo(&bytes, &total) ? NAN : (double)bytes;
}

static int probe_config(struct worker *w, int i, bool checked)
{
	struct side_timing *t = timing_of(w, i);
	int64_t start = clock_ns();
	struct timed_steps p = { t, &w->instance[i], mode_of(&w->plan, i),
				 w->plan.config[i].depth_max, checked };
	struct refusal ignored;
	double free_bytes = device_free_bytes();
	int err = worker_set_up(w, i, &ignored);

	t->setup_ns = (double)(clock_ns() - start);
	t->device_bytes = err ? NAN : fmax(free_bytes - device_free_bytes(), 0);
	if (!isfinite(w->plan.free_bytes[w->side]))
		w->plan.free_bytes[w->side] = free_bytes;
	if (!err)
		err = refusal_catch(time_one, &p, &ignored);
	worker_tear_down(w, i);
	if (err != -ENOSYS)
		return err;
	/* not supported here: its points are refused again, which takes no time */
	t->step_ns = t->ends_ns = t->gap_ns = t->check_ends_ns = t->check_step_ns = 0;
	return 0;
}

/* ---- sizes that there is no time to set up -------------------------------------------------- */

/* A set-up, blocks of one step and of some, each some times; the check is another's. */
static double probe_ns(const struct side_timing *t)
{
	double many_ns = fmax(PROBE_NS, 2 * t->step_ns);

	return t->setup_ns + (PROBE_BLOCKS + 1) * (t->ends_ns + t->step_ns + many_ns);
}

/* The workloads of the plan share the time alike. */
static double share_ns(const struct worker *w)
{
	int n = 0;

	for (int i = 0; i < w->plan.n_configs; i++)
		n += plan_is_first(&w->plan, i);
	return (double)w->probe_limit_ns / fmax(n, 1);
}

struct budget {
	const struct workload *workload; /* whose share ... */
	int64_t start_ns;		 /* ... began then */
};

static bool is_affordable(struct worker *w, struct budget *b, int i, const struct side_timing *t)
{
	const struct workload *workload = w->plan.config[i].workload;

	if (b->workload != workload)
		*b = (struct budget){ workload, clock_ns() };
	return !t || (double)(clock_ns() - b->start_ns) + probe_ns(t) <= share_ns(w);
}

/*
 * A reference on the host may take long: it is timed for the smallest size, and for the next as
 * long as it would be short in proportion to the size.
 */
static bool is_check_short(struct worker *w, int i)
{
	return plan_is_first(&w->plan, i) ||
	       plan_times_the_size(&w->plan, i, i - 1) * timing_of(w, i - 1)->check_ends_ns <
		       check_short_ns;
}

/* Measured for the two smallest sizes, and for others where the share allows it. */
static int probe_or_predict(struct worker *w, int i, struct budget *b)
{
	struct side_timing guess;
	bool known = predict_by_smaller(&w->plan, w->side, i, &guess);
	int err = 0;

	if (is_affordable(w, b, i, known ? &guess : NULL))
		err = probe_config(w, i, is_check_short(w, i));
	else
		*timing_of(w, i) = guess;
	if (!err)
		predict_check_by_smaller(&w->plan, w->side, i);
	return err;
}

static json_t *number_or_null(double ns)
{
	return isfinite(ns) ? json_real(ns) : json_null();
}

int worker_probe(struct worker *w)
{
	struct budget budget = { 0 };

	for (int i = 0; i < w->plan.n_configs; i++) {
		struct side_timing *c = timing_of(w, i);
		int err = 0;

		*c = side_timing_unknown();
		if (w->probe_smallest && !plan_is_first(&w->plan, i))
			continue;
		c->launch_max_ns = launch_max_ns(&w->plan.config[i]);
		err = estimate_unprobed(w, i);
		if (!err && !is_hopeless(w, i))
			err = probe_or_predict(w, i, &budget);
		if (err == -EINTR || err == -ENODEV)
			return err;
		worker_send(
			w,
			json_pack("{s:s, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:o, s:o}",
				  "record", "probe", "config", i, "code", -err, "setup_ns",
				  number_or_null(c->setup_ns), "ends_ns",
				  number_or_null(c->ends_ns), "step_ns", number_or_null(c->step_ns),
				  "gap_ns", number_or_null(c->gap_ns), "check_ends_ns",
				  number_or_null(c->check_ends_ns), "check_step_ns",
				  number_or_null(c->check_step_ns), "launch_max_ns",
				  c->launch_max_ns, "device_bytes", number_or_null(c->device_bytes),
				  "free_bytes", number_or_null(w->plan.free_bytes[w->side])));
	}
	return 0;
}

/* ---- who asks --------------------------------------------------------------------------- */

enum { TICK_US = 10000 };

/* A configuration whose steps are being timed and that says nothing for so long hangs. */
static const double silence_ns = 120e9;
/* For a probe that is stopped to end in order, s. */
static const double stop_wait_s = 1;

struct probing {
	struct plan *plan;
	int side;
	struct show *show;
	double patience_ns, limit_ns;
	int64_t start_ns, heard_ns;
	int config; /* that it is at */
	int probed; /* configurations that it has told of */
	int refused, refused_code;
	bool bye, said; /* said: that it takes a while */
};

/* Nobody waits longer without a word. */
static const double word_after_ns = 0.8e9;

/* A point of the configuration in hand, for messages. */
static const char *at(const struct probing *p)
{
	static char text[160];

	for (int i = 0; i < p->plan->n_points; i++)
		if (p->plan->point[i].config == p->config) {
			plan_point_text(p->plan, i, text, sizeof(text));
			return text;
		}
	return "a configuration";
}

static int take_line(const json_t *o, void *arg)
{
	struct probing *p = arg;
	const json_t *config = json_object_get(o, "config");
	int i = config ? (int)json_integer_value(config) : -1;
	struct side_timing *c;

	p->heard_ns = clock_ns();
	p->bye |= record_is(o, "bye");
	if (record_is(o, "phase"))
		p->config = -1;
	else if (!isfinite(p->plan->start_ns[p->side]))
		p->plan->start_ns[p->side] = (double)(p->heard_ns - p->start_ns);
	if (record_is(o, "warmed"))
		p->plan->warmup_ns[p->side] = json_get_number(o, "warmup_ns");
	if (record_is(o, "calibrated"))
		p->plan->calibrate_ns[p->side] = json_get_number(o, "calibrate_ns");
	if (i < 0 || i >= p->plan->n_configs)
		return 0;
	p->config = i;
	if (!record_is(o, "probe")) {
		if (!p->show->quiet)
			progress("planning%s: %s, %d of %d configurations, %d %%",
				 p->side ? ", side b" : "", at(p), i, p->plan->n_configs,
				 100 * i / p->plan->n_configs);
		return 0;
	}
	p->probed++;
	c = &p->plan->config[i].timing[p->side];
	c->setup_ns = json_get_number(o, "setup_ns");
	c->ends_ns = json_get_number(o, "ends_ns");
	c->step_ns = json_get_number(o, "step_ns");
	c->gap_ns = json_get_number(o, "gap_ns");
	c->check_ends_ns = json_get_number(o, "check_ends_ns");
	c->check_step_ns = json_get_number(o, "check_step_ns");
	c->launch_max_ns = json_get_number(o, "launch_max_ns");
	c->device_bytes = json_get_number(o, "device_bytes");
	p->plan->free_bytes[p->side] = json_get_number(o, "free_bytes");
	if (json_integer_value(json_object_get(o, "code")) && !p->refused++)
		p->refused_code = (int)json_integer_value(json_object_get(o, "code"));
	return 0;
}

static void take_complaint(const char *line, void *arg)
{
	struct probing *p = arg;

	show_complaint(p->show, line);
}

static bool is_silent(const struct probing *p)
{
	double ns = p->config < 0 ? p->patience_ns : fmax(silence_ns, p->patience_ns);

	return (double)(clock_ns() - p->heard_ns) > ns;
}

static int hung(const struct probing *p, const struct child *c)
{
	const char *side = p->side ? "side b: " : "";

	if (p->config >= 0)
		return complain(ETIMEDOUT,
				"%sprobing %s takes more than 2 minutes: give smaller sizes", side,
				at(p));
	complain(ETIMEDOUT,
		 "%sa worker hung %s: no answer for %.0f s; --patience SECONDS waits longer", side,
		 c->phase, p->patience_ns / 1e9);
	return -ENODEV;
}

/* Is there a configuration of each workload that something is known of? */
static bool has_each(const struct probing *p)
{
	for (int i = 0; i < p->plan->n_configs; i++)
		if (plan_is_first(p->plan, i) &&
		    !isfinite(p->plan->config[i].timing[p->side].step_ns))
			return false;
	return true;
}

/* The worker keeps to the limit by what it estimates; this is for what it did not. */
static bool is_over(const struct probing *p)
{
	return (double)(clock_ns() - p->start_ns) > p->limit_ns && has_each(p);
}

static int attend_probe(struct probing *p, struct child *c)
{
	bool ended;

	do {
		ended = child_ended(c);
		child_read(c, take_line, take_complaint, p);
		if (ended)
			break;
		if (interrupted())
			return -EINTR;
		if (!p->said && (double)(clock_ns() - p->start_ns) > word_after_ns) {
			show_line(p->show,
				  "planning%s: how long %s take%s, %.0f s at most "
				  "for large ones",
				  p->side ? ", side b" : "",
				  counted(p->plan->n_configs, "configuration").s,
				  p->plan->n_configs == 1 ? "s" : "", p->limit_ns / 1e9);
			p->said = true;
		}
		if (is_silent(p))
			return hung(p, c);
		if (is_over(p)) {
			child_stop(c, stop_wait_s);
			p->bye = true;
			return 0;
		}
		usleep(TICK_US);
	} while (!ended);
	return 0;
}

/* Whatever a worker's end means to the user. */
static int judge_child(const struct probing *p, const struct child *c)
{
	const char *side = p->side ? "side b: " : "";
	char how[80];

	if (p->bye && p->refused && p->refused == p->probed)
		return -p->refused_code; /* it said why */
	if (p->bye)
		return 0;
	if (child_errno(c))
		return child_errno(c);
	child_describe(c, how, sizeof(how));
	if (p->config < 0)
		return complain(EIO, "%sthe worker %s %s", side, how, c->phase);
	return complain(EIO, "%sprobing %s: the worker %s", side, at(p), how);
}

/* What was not tried: on side a by smaller sizes, on side b by side a. */
static void predict_the_rest(struct plan *p, int side)
{
	struct side_timing guess;

	for (int i = 0; i < p->n_configs && !side; i++)
		if (!isfinite(p->config[i].timing[0].step_ns) &&
		    predict_by_smaller(p, 0, i, &guess)) {
			p->config[i].timing[0] = guess;
			predict_check_by_smaller(p, 0, i);
		}
	if (side)
		predict_side_b(p);
	predict_blocks(p);
}

int session_probe(struct session *s, struct plan *plan, int side, const char *prefix,
		  double limit_ns)
{
	struct probing p = { .plan = plan,
			     .side = side,
			     .show = &s->show,
			     .patience_ns = s->patience_ns,
			     .limit_ns = limit_ns,
			     .config = -1 };
	json_t *job = json_pack("{s:s, s:i, s:o, s:I, s:b}", "job", "probe", "side", side, "plan",
				plan_json(plan), "probe_limit_ns", (json_int_t)limit_ns,
				"probe_smallest", side);
	struct child c;
	int err;

	plan->start_ns[side] = plan->calibrate_ns[side] = plan->warmup_ns[side] = NAN;
	p.start_ns = p.heard_ns = clock_ns();
	err = child_start(&c, job, prefix, false);
	json_decref(job);
	if (err)
		return err;
	err = attend_probe(&p, &c);
	if (!err)
		err = judge_child(&p, &c);
	child_release(&c);
	if (!err)
		predict_the_rest(plan, side);
	return err;
}
