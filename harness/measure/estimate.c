/* estimate.c - how long points, processes and a session will take. */
#include "harness/measure/estimate.h"

#include <math.h>

#include "harness/measure/run.h"

/* Two canaries, waited for, and what the harness itself does around a visit. */
static const double visit_extra_ns = 0.6e6;
/* Opening a device and calibrating, where no probe has told. */
static const double start_unknown_ns = 500e6, calibrate_unknown_ns = 1000e6;
static const double unknown_block_ns = 10e6;

static double known_or(double ns, double otherwise)
{
	return isfinite(ns) ? ns : otherwise;
}

double predict_block_ns(const struct plan *p, const struct plan_point *at, int side)
{
	const struct side_timing *t = &p->config[at->config].timing[side];

	return t->ends_ns + (double)at->depth * t->step_ns;
}

void predict_blocks(struct plan *p)
{
	for (int i = 0; i < p->n_points; i++)
		for (int side = 0; side < 2; side++)
			p->point[i].block_ns[side] = predict_block_ns(p, &p->point[i], side);
}

/* ---- sizes that were not set up ----------------------------------------------------------- */

/*
 * A check of more is a sample (struct workload, check) with a budget of 0.2 s. It takes a little
 * more: mlp's ten sizes 0.23 s each on an H200 (data/sessions/h200-mlp.jsonl, process 0), ns.
 */
static const double sampled_check_ns = 0.25e9;

/* How many smaller sizes of the same parameters stand before it in the plan. */
static int smaller_sizes(const struct plan *p, int i)
{
	int n = 0;

	for (; i > 0; i--, n++)
		if (p->config[i - 1].workload != p->config[i].workload ||
		    p->config[i - 1].size_index + 1 != p->config[i].size_index)
			break;
	return n;
}

static double config_size(const struct config *c)
{
	const struct param *axis = workload_axis(c->workload);
	const char *field = axis ? (const char *)c->params.opts + axis->offset : NULL;

	return !axis			  ? 1
	       : axis->kind == PARAM_REAL ? *(const double *)(const void *)field
					  : (double)*(const int64_t *)(const void *)field;
}

/* From two sizes on in proportion, or faster where it grew faster than the size did. */
static double grown(double before, double last, double size_before, double size_last, double size)
{
	double power = log(last / before) / log(size_last / size_before);

	return last * pow(size / size_last, isfinite(power) ? fmax(power, 1) : 1);
}

double plan_times_the_size(const struct plan *p, int config, int smaller)
{
	double times = config_size(&p->config[config]) / config_size(&p->config[smaller]);

	return isfinite(times) ? fmax(times, 1) : 1; /* a size of 0 is in proportion to none */
}

bool predict_by_smaller(const struct plan *p, int side, int config, struct side_timing *out)
{
	const struct config *c = &p->config[config];
	const struct side_timing *a, *b;
	double x, y, z;

	*out = side_timing_unknown();
	if (smaller_sizes(p, config) < 2)
		return false;
	a = &c[-2].timing[side];
	b = &c[-1].timing[side];
	if (!(a->step_ns > 0) || !(b->step_ns > 0))
		return false;
	x = config_size(c - 2);
	y = config_size(c - 1);
	z = config_size(c);
	*out = (struct side_timing){ .setup_ns = grown(a->setup_ns, b->setup_ns, x, y, z),
				     .ends_ns = b->ends_ns,
				     .step_ns = grown(a->step_ns, b->step_ns, x, y, z),
				     .gap_ns = b->gap_ns,
				     .check_ends_ns = NAN,
				     .check_step_ns = NAN,
				     .launch_max_ns = b->launch_max_ns,
				     .device_bytes =
					     fmax(grown(a->device_bytes, b->device_bytes, x, y, z),
						  b->device_bytes) };
	return true;
}

static int first_of_workload(const struct plan *p, int config)
{
	int first = 0;

	while (p->config[first].workload != p->config[config].workload)
		first++;
	return first;
}

void predict_check_by_smaller(struct plan *p, int side, int config)
{
	struct side_timing *t = &p->config[config].timing[side];
	const struct side_timing *checked;
	int at = config, first = first_of_workload(p, config);
	double times;

	while (at > first && !isfinite(p->config[at].timing[side].check_ends_ns))
		at--;
	checked = &p->config[at].timing[side];
	if (at == config || !isfinite(checked->check_ends_ns))
		return;
	times = plan_times_the_size(p, config, at);
	t->check_ends_ns = fmin(times * checked->check_ends_ns,
				fmax(sampled_check_ns, checked->check_ends_ns));
	t->check_step_ns = fmin(
		times * checked->check_step_ns,
		fmax(sampled_check_ns / (double)p->design.check_steps, checked->check_step_ns));
}

void predict_side_b(struct plan *p)
{
	for (int i = 0; i < p->n_configs; i++) {
		int first = first_of_workload(p, i);
		const struct side_timing *a = &p->config[first].timing[0], *own;
		const struct side_timing *b = &p->config[first].timing[1];
		struct side_timing *t = &p->config[i].timing[1];

		if (i == first || !isfinite(b->step_ns) || isfinite(t->step_ns))
			continue;
		own = &p->config[i].timing[0];
		*t = *own;
		t->setup_ns *= known_or(b->setup_ns / a->setup_ns, 1);
		t->ends_ns = fmax(own->ends_ns + b->ends_ns - a->ends_ns, 0);
		t->step_ns = fmax(own->step_ns + b->step_ns - a->step_ns, 0.5 * own->step_ns);
		t->gap_ns = fmax(own->gap_ns + b->gap_ns - a->gap_ns, 0);
		t->check_ends_ns *= known_or(b->check_ends_ns / a->check_ends_ns, 1);
		t->check_step_ns *= known_or(b->check_step_ns / a->check_step_ns, 1);
	}
}

/* ---- points, processes, sessions ------------------------------------------------------------ */

static double block_or_guess_ns(const struct plan *p, int side, int point)
{
	const struct plan_point *at = &p->point[point];

	return known_or(at->block_ns[side], known_or(at->block_ns[0], unknown_block_ns));
}

/* The side's timing; side a's where the side's probe found no block to time. */
static const struct side_timing *timing_of(const struct plan *p, int side, int config)
{
	const struct side_timing *t = p->config[config].timing;

	return isfinite(t[side].step_ns) ? &t[side] : &t[0];
}

double predict_visit_ns(const struct plan *p, int side, int point)
{
	const struct plan_point *at = &p->point[point];
	double block_ns = block_or_guess_ns(p, side, point);
	double gap_ns = known_or(timing_of(p, side, at->config)->gap_ns, 0);
	double blocks = design_visit_blocks(&p->design, block_ns) + design_has_untimed(block_ns);

	return blocks * (block_ns + gap_ns) + visit_extra_ns;
}

int64_t predict_check_steps(const struct plan *p, int point)
{
	int64_t depth = p->point[point].depth;

	return depth < p->design.check_steps ? depth : p->design.check_steps;
}

double predict_check_ns(const struct plan *p, int side, int point)
{
	const struct plan_point *at = &p->point[point];
	const struct side_timing *c = timing_of(p, side, at->config);
	double steps = (double)predict_check_steps(p, point);
	double ns = known_or(fmax(c->check_ends_ns, steps * c->check_step_ns), 0);

	if ((double)at->depth > steps)
		ns += known_or(c->ends_ns + steps * c->step_ns + c->gap_ns, 0);
	return ns;
}

static double setup_or_guess_ns(const struct plan *p, int side, int config)
{
	const struct side_timing *t = p->config[config].timing;

	return known_or(t[side].setup_ns, known_or(t[0].setup_ns, 0));
}

double predict_start_ns(const struct plan *p, int side)
{
	const struct design *d = &p->design;
	double ns = known_or(p->start_ns[side], known_or(p->start_ns[0], start_unknown_ns));

	ns += known_or(p->calibrate_ns[side], known_or(p->calibrate_ns[0], calibrate_unknown_ns));
	/* where that was not tried, clocks are met steady at once or, where they are shared or rise
	 * and fall, never: a quick sweep, which is not to take longer than predicted, reckons with
	 * the latter */
	ns += known_or(p->warmup_ns[side],
		       known_or(p->warmup_ns[0], (double)d->warmup_max_ns / (d->quick ? 1 : 2)));
	for (int i = 0; i < p->n_configs; i++)
		ns += setup_or_guess_ns(p, side, i);
	ns *= plan_policies(p);
	for (int i = 0; i < p->n_points; i++)
		ns += block_or_guess_ns(p, side, i);
	return ns;
}

/* All visits of a point in a process, with what may come on top. */
static double rounds_ns(const struct plan *p, int side, int point)
{
	return p->design.rounds * predict_visit_ns(p, side, point) * (1 + check_share);
}

/* What a point adds to a process, of a usual one: every other one is alone with a configuration. */
static double alone_ns(const struct plan *p, int side, int point)
{
	if (!p->design.pairs || !p->n_configs)
		return 0;
	return ALONE_ROUNDS * predict_visit_ns(p, side, point) / p->n_configs / 2;
}

double predict_process_ns(const struct plan *p, int side)
{
	double ns = 0;

	for (int i = 0; i < p->n_points; i++)
		ns += rounds_ns(p, side, i) + alone_ns(p, side, i);
	return predict_start_ns(p, side) + ns;
}

double predict_turn_ns(const struct plan *p, int side, int process)
{
	const struct design *d = &p->design;
	double pause_ns = (double)(d->pause_min_ns + d->pause_max_ns) / 2;
	double ns = predict_process_ns(p, side) + plan_policies(p) * pause_ns;

	for (int i = 0; i < p->n_points && !process; i++)
		ns += predict_check_ns(p, side, i);
	return ns;
}

double predict_processes_ns(const struct plan *p, int sides, int processes)
{
	double ns = 0;

	for (int side = 0; side < sides; side++)
		ns += predict_turn_ns(p, side, 0) + (processes - 1) * predict_turn_ns(p, side, 1);
	return ns;
}

double predict_session_ns(const struct plan *p, int sides)
{
	return predict_processes_ns(p, sides, p->design.processes);
}

double predict_point_ns(const struct plan *p, int sides, int point)
{
	double ns = 0;

	for (int side = 0; side < sides; side++)
		ns += p->design.processes * (rounds_ns(p, side, point) + alone_ns(p, side, point) +
					     block_or_guess_ns(p, side, point)) +
		      predict_check_ns(p, side, point);
	return ns;
}

double predict_setups_ns(const struct plan *p, int sides, int config)
{
	double ns = 0;

	for (int side = 0; side < sides; side++)
		ns += p->design.processes * setup_or_guess_ns(p, side, config);
	return ns;
}
