/* probe.c - a worker is asked how long each configuration takes, before points are chosen. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "common/check.h"
#include "harness/command.h"
#include "common/interrupt.h"
#include "harness/measure.h"
#include "harness/progress.h"
#include "harness/sweep/predict.h"
#include "harness/sweep/record.h"
#include "harness/sweep/session.h"

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
	int config;		/* that it is at */
	int probed;		/* configurations that it has told of */
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

static double number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
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
	if (record_is(o, "calibrated"))
		p->plan->calibrate_ns[p->side] = number(o, "calibrate_ns");
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
	c->setup_ns = number(o, "setup_ns");
	c->ends_ns = number(o, "ends_ns");
	c->step_ns = number(o, "step_ns");
	c->gap_ns = number(o, "gap_ns");
	c->check_ends_ns = number(o, "check_ends_ns");
	c->check_step_ns = number(o, "check_step_ns");
	c->launch_max_ns = number(o, "launch_max_ns");
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

/* The worker keeps to the limit by what it foresees; this is for what it did not. */
static bool is_over(const struct probing *p)
{
	return (double)(clock_ns() - p->start_ns) > p->limit_ns && has_each(p);
}

static int attend(struct probing *p, struct child *c)
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
				  "planning%s: how long %d configurations take, %.0f s at most "
				  "for large ones",
				  p->side ? ", side b" : "", p->plan->n_configs,
				  p->limit_ns / 1e9);
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
static int judge(const struct probing *p, const struct child *c)
{
	char how[80];

	if (p->bye && p->refused && p->refused == p->probed)
		return -p->refused_code; /* it said why */
	if (p->bye)
		return 0;
	child_describe(c, how, sizeof(how));
	if (strstr(how, "exit code 4"))
		return -ENODEV;
	if (strstr(how, "exit code 2"))
		return -ENOSYS;
	if (strstr(how, "exit code 3"))
		return -EINVAL;
	return complain(EIO, "%sprobing %s: the worker %s", p->side ? "side b: " : "", at(p), how);
}

/* Of side a by smaller sizes, of side b by side a. */
static void predict_the_rest(struct plan *p, int side)
{
	struct side_timing guess;

	for (int i = 0; i < p->n_configs && !side; i++)
		if (!isfinite(p->config[i].timing[0].step_ns) &&
		    predict_by_smaller(p, 0, i, &guess)) {
			p->config[i].timing[0] = guess;
			predict_check_by_first(p, 0, i);
		}
	if (side)
		predict_side_b(p);
	predict_blocks(p);
}

int session_probe(struct plan *plan, int side, const char *prefix, double patience_ns,
		  double limit_ns, struct show *show)
{
	struct probing p = { .plan = plan,
			     .side = side,
			     .show = show,
			     .patience_ns = patience_ns,
			     .limit_ns = limit_ns,
			     .config = -1 };
	json_t *job = json_pack("{s:s, s:i, s:o, s:I, s:b}", "job", "probe", "side", side, "plan",
				plan_json(plan), "probe_limit_ns", (json_int_t)limit_ns,
				"probe_smallest", side);
	struct child c;
	int err;

	plan->start_ns[side] = plan->calibrate_ns[side] = NAN;
	p.start_ns = p.heard_ns = clock_ns();
	err = child_start(&c, job, prefix, false);
	json_decref(job);
	if (err)
		return err;
	err = attend(&p, &c);
	if (!err)
		err = judge(&p, &c);
	child_release(&c);
	if (!err)
		predict_the_rest(plan, side);
	return err;
}
