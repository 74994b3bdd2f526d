/* fake_session.c - sessions made up from a model. */
#include "tests/fake_session.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/philox.h"
#include "harness/base/command.h"
#include "harness/measure/run.h"
#include "harness/measure/model.h"
#include "harness/record/journal_impl.h"
#include "harness/record/point_record.h"
#include "harness/stats/stats.h"

struct model fake_model(void)
{
	struct model m = { { 0 } };

	m.v[MODEL_C] = 2000;
	m.v[MODEL_P] = 2200;
	m.v[MODEL_G] = 900;
	m.v[MODEL_Z] = 5800;
	m.v[MODEL_CLOCK] = m.v[MODEL_FUSED_PHI] = 1;
	m.v[MODEL_Q] = 1024;
	m.v[MODEL_GRAPH_A] = 1000;
	m.v[MODEL_GRAPH_B] = 30;
	m.v[MODEL_GRAPH_Z] = 4500;
	m.v[MODEL_GRAPH_G] = 500;
	m.v[MODEL_GRAPH_GG] = 800;
	m.v[MODEL_FUSED_Z] = 5600;
	m.v[MODEL_FUSED_B] = m.v[MODEL_FUSED_B0] = 60;
	return m;
}

struct fake_session fake_session(void)
{
	return (struct fake_session){ .workload = "launch",
				      .processes = 10,
				      .sides = 1,
				      .seed = 1,
				      .noise = 0.05,
				      .blocks = 15,
				      .launches = 1,
				      .queue = 1024,
				      .policy_factor = 1,
				      .step = { .launches = 1 },
				      .device = { "made-up GPU", "made-up GPU" },
				      .model = { fake_model(), fake_model() } };
}

/* ---- plan --------------------------------------------------------------------------------- */

static struct plan session_plan(const struct fake_session *s)
{
	const struct workload *w[3] = { workload_find(s->workload) };
	struct plan_request r = { .workload = w,
				  .assignment = s->assignment,
				  .n_assignments = s->n_assignments,
				  .size = s->size,
				  .depth = s->depth,
				  .mode = s->mode,
				  .design = design_of(s->quick) };
	struct plan p;

	if (s->also)
		w[1] = workload_find(s->also);
	r.design.processes = s->processes;
	r.design.sequential = false;
	r.design.rounds = 1;
	r.design.seed = s->seed;
	r.design.sync = s->sync;
	cr_assert(zero(int, plan_make(&p, &r)), "plan of %s", s->workload);
	if (s->kinds)
		plan_take_policies(&p, s->kind, s->kinds);
	return p;
}

/* ---- times -------------------------------------------------------------------------------- */

/* Standard normal numbers of a counter (Box and Muller). */
static void normals(uint32_t a, uint32_t b, uint32_t c, uint64_t seed, double out[2])
{
	struct philox r = philox4x32(a, b, c, 0, seed);
	double size = sqrt(-2 * log(philox_uniform(r.word[0])));
	double angle = 2 * M_PI * philox_uniform(r.word[1]);

	out[0] = size * cos(angle);
	out[1] = size * sin(angle);
}

/* Medians of the logarithms of the noise of t_total and t_enq over the blocks of a process. */
static void noise_of(const struct fake_session *s, int point, uint32_t replicate, double out[2])
{
	double value[2][BLOCKS_MAX], pair[2];

	for (int i = 0; i < s->blocks; i++) {
		normals((uint32_t)point, replicate, (uint32_t)i + 1, s->seed, pair);
		value[0][i] = s->noise * pair[0];
		value[1][i] = s->noise * pair[1];
	}
	out[0] = median_of(value[0], s->blocks);
	out[1] = median_of(value[1], s->blocks);
}

struct times {
	double total_ns, enq_ns;
};

static struct batch batch_of(const struct fake_session *s, const struct plan *p, int point)
{
	const struct config *c = &p->config[p->point[point].config];
	json_t *size = param_json(workload_axis(c->workload), c->params.opts);
	double value = json_number_value(size);

	json_decref(size);
	return (struct batch){ .mode = p->point[point].mode,
			       .depth = (double)p->point[point].depth,
			       .launches = s->launches,
			       .kernel_ns = s->kernel_ns ? s->kernel_ns(value) : 1000 * value };
}

static struct times times_of(const struct fake_session *s, const struct plan *p, int side,
			     int process, int point)
{
	const struct batch b = batch_of(s, p, point);
	const struct block_times t = recursion_block(&s->model[side], &b);
	double own[2], all[2], factor = s->factor ? s->factor(&b, side) : 1;
	uint32_t replicate = (uint32_t)(2 * process + side);

	noise_of(s, point, replicate, own);
	normals(0, replicate, 0, s->seed, all);
	factor *= exp(s->process_noise * all[0]);
	for (int i = 0; i < s->kinds && s->kind[i] != p->point[point].sync; i++)
		factor *= s->policy_factor;
	return (struct times){
		.total_ns = fmax(1, round(factor * exp(own[0]) * t.total_ns)),
		.enq_ns = fmax(1, round(factor * exp(own[1]) * t.enqueue_ns)),
	};
}

struct cost fake_count(const struct config *c)
{
	struct cost cost;

	cr_assert(zero(int, c->workload->cost(c->params.opts, NULL, &cost)), "%s",
		  c->workload->name);
	return cost;
}

static struct cost step_at(const struct fake_session *s, const struct plan *p, int point)
{
	return s->step_of ? s->step_of(&p->config[p->point[point].config]) : s->step;
}

static double startup_ns(const struct fake_session *s, int side, int process)
{
	return s->startup_ns[side] > 0 ? s->startup_ns[side] * (1 + 0.01 * (process % 5 - 2)) : NAN;
}

/* ---- in memory ---------------------------------------------------------------------------- */

static json_t *header_of(const struct fake_session *s, int side, enum wait_policy kind)
{
	json_t *o = json_pack("{s:{s:f}, s:{}, s:{}, s:{}, s:{s:s}, s:{}, s:{}, s:{}, s:{s:f}, "
			      "s:s}",
			      "calib", "canary_ns", 2e5, "build", "host", "virt", "gpu", "name",
			      s->device[side] ? s->device[side] : "made-up GPU", "libraries", "env",
			      "cuda_flags", "warmup", "canary_ns", 2e5, "boot_id", "none");

	if (s->on_cpu)
		json_object_set_new(json_object_get(o, "build"), "build_type", json_string("cpu"));
	json_object_set_new(json_object_get(o, "calib"), "queue_depth",
			    s->queue > 0 ? json_real(s->queue) : json_null());
	json_object_set_new(json_object_get(o, "cuda_flags"), "sync",
			    json_string(sync_names[kind]));
	return o;
}

static int done_of(const struct fake_session *s)
{
	return s->done ? s->done : s->processes;
}

void fake_session_journal(const struct fake_session *s, struct journal *out)
{
	*out = (struct journal){ .plan = session_plan(s), .sides = s->sides };
	out->part.fd = out->visits.fd = -1;
	out->path = strdup("made-up");
	journal_allocate(out);
	for (int i = 0; i < out->sides; i++)
		out->header[i] = header_of(s, i, s->sync);
	for (int replicate = 0; replicate < out->replicates; replicate++) {
		int side = replicate / s->processes, process = replicate % s->processes;

		out->complete[replicate] = process < done_of(s);
		for (int i = 0; i < out->plan.n_points && out->complete[replicate]; i++) {
			const struct times t = times_of(s, &out->plan, side, process, i);
			size_t at = (size_t)replicate * (size_t)out->plan.n_points + (size_t)i;

			out->status[at] = POINT_OK;
			out->total_ns[at] = t.total_ns;
			out->enq_ns[at] = t.enq_ns;
			out->launches[i] = s->launches;
			if (!s->older)
				out->step[i] = step_at(s, &out->plan, i);
		}
		out->startup_ns[replicate] = startup_ns(s, side, process);
	}
}

/* ---- as a file ---------------------------------------------------------------------------- */

enum { BLOCKS = 3 };

static json_t *repeated(double value)
{
	json_t *a = json_array();

	for (int i = 0; i < BLOCKS; i++)
		json_array_append_new(a, json_integer((json_int_t)value));
	return a;
}

static json_t *visit_of(const struct fake_session *s, const struct plan *p, const struct times *t,
			int point)
{
	const struct cost step = step_at(s, p, point);
	double total_ns = fmax(t->total_ns, t->enq_ns);
	json_t *o;

	o = json_pack("{s:i, s:i, s:o, s:o, s:[], s:o, s:[i, i], s:[n], s:i, s:i, s:i, s:i}",
		      "point", point, "round", 0, "t_enq_ns", repeated(t->enq_ns), "t_total_ns",
		      repeated(total_ns), "t_dev_ns", "marks", repeated(0), "canary_ns", 200000,
		      200000, "sm_clock_mhz", "utime_us", 0, "stime_us", 0, "steal_ticks", 0,
		      "launches_per_step", s->launches);
	if (!s->older)
		json_object_set_new(o, "step", work_count_json(&step));
	return o;
}

static void write_worker(const struct fake_session *s, struct journal *j, int replicate,
			 enum wait_policy kind)
{
	int side = replicate / s->processes, process = replicate % s->processes;
	double start_ns = startup_ns(s, side, process);
	json_t *header = header_of(s, side, kind);

	if (isfinite(start_ns))
		json_object_set_new(header, "startup",
				    json_pack("{s:f, s:f}", "process_ns", 0.1 * start_ns,
					      "device_ns", 0.9 * start_ns));
	cr_assert(zero(int, journal_header(j, replicate, header)), "header");
	for (int i = 0; i < j->plan.n_points; i++) {
		const struct times t = times_of(s, &j->plan, side, process, i);

		if (j->plan.point[i].sync == kind)
			cr_assert(zero(int, journal_visit(j, replicate, i, 0,
							  visit_of(s, &j->plan, &t, i))),
				  "visit");
	}
}

static void write_process(const struct fake_session *s, struct journal *j, int replicate)
{
	cr_assert(zero(int, journal_begin(j, replicate)), "begin");
	for (int i = 0; i < plan_policies(&j->plan); i++)
		write_worker(s, j, replicate, journal_policy(j, replicate, i));
	cr_assert(zero(int, journal_trailer(j, replicate, json_pack("{s:f}", "wall_s", 1.0))),
		  "trailer");
}

void fake_session_write(const struct fake_session *s, const char *path)
{
	struct plan plan = session_plan(s);
	struct journal j;

	cr_assert(zero(int, journal_create(&j, &plan, path, s->sides > 1 ? "elsewhere" : NULL,
					   "rift sweep")),
		  "%s", path);
	for (int i = 0; i < s->sides * done_of(s); i++)
		write_process(s, &j, journal_replicate(&j, i));
	if (!s->done)
		cr_assert(zero(int, journal_finish(&j)), "%s", path);
	journal_release(&j);
}
