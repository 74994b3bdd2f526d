/* stack.c - where the time of a block goes: its parts, notes on them, and how they are shown. */
#include "harness/fit/stack.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/plural.h"
#include "harness/base/json.h"
#include "harness/base/row.h"
#include "harness/base/text.h"
#include "harness/measure/wait.h"
#include "harness/measure/plan_record.h"
#include "harness/record/recorded.h"
#include "workloads/workload.h"

/* ---- where the time of a block goes ----------------------------------------------------- */

const char *const stack_names[STACK_PARTS] = {
	[STACK_KERNEL] = "kernel", [STACK_GAP] = "gap",		  [STACK_SUBMISSION] = "submission",
	[STACK_SYNC] = "sync",	   [STACK_TRANSFER] = "transfer", [STACK_ALLOCATION] = "allocation",
	[STACK_OTHER] = "other",
};

/* ---- what a step is ----------------------------------------------------------------------- */

enum stack_step stack_step_of(const struct grid *g, int point)
{
	const struct cost *c = &g->j->step[g->point[point].point];

	if (c->allocations > 0)
		return STACK_CALLS;
	if (isnan(c->launches) || c->launches > 0) /* older records count launches alone */
		return STACK_LAUNCHES;
	return c->to_device.calls + c->to_host.calls + c->within.calls > 0 ? STACK_COPIES
									   : STACK_CALLS;
}

const struct fit *stack_fit(const struct stack_request *r, int point)
{
	return stack_step_of(r->work, point) == STACK_LAUNCHES && r->from ? r->from : r->own;
}

/* ---- copies ------------------------------------------------------------------------------- */

static double copies_ns(const struct copies *c, const struct copy_cost *cost)
{
	bool below = c->calls > 0 && c->bytes / c->calls < cost->knee;

	return c->calls > 0 ? c->calls * cost->call_ns +
				      c->bytes * (below ? cost->below_byte_ns : cost->byte_ns)
			    : 0;
}

double stack_transfer_ns(const struct stack_request *r, int point)
{
	const struct cost *c = &r->work->j->step[r->work->point[point].point];

	if (!r->costs || isnan(c->launches) || c->to_device.calls + c->to_host.calls <= 0)
		return NAN;
	return copies_ns(&c->to_device, &r->costs->to_device[c->pageable]) +
	       copies_ns(&c->to_host, &r->costs->to_host[c->pageable]);
}

/* ---- parts of the model ------------------------------------------------------------------- */

/* Parts of a block by the model; NaN: not known, or part of another one. */
struct modelled {
	double kernel_ns, gap_ns, submission_ns, sync_ns;
};

static double batch_launches(const struct batch *b)
{
	return b->depth * b->launches;
}

static double kernels_ns(const struct price_job *job)
{
	const double *v = job->model.v;
	const struct batch *b = &job->batch;

	return b->kernel_ns > 0 ? batch_launches(b) * (v[MODEL_CLOCK] * b->kernel_ns + v[MODEL_E])
				: 0;
}

static double known(bool is, double ns)
{
	return is ? ns : NAN;
}

static double or_none(double ns)
{
	return isnan(ns) ? 0 : ns;
}

/*
 * Where p hides g, the gap is part of submission. Where kernels set the pace and g is not
 * identified, it is part of nothing. A first call that is not known is part of sync.
 */
static struct modelled model_stream(const struct price_job *job, const struct fit *f)
{
	const double *v = job->model.v;
	const struct fit_param *is = f->param;
	double n = batch_launches(&job->batch), kernel_ns = kernels_ns(job),
	       gap_ns = (n - 1) * v[MODEL_G];
	bool waits = kernel_ns / n + v[MODEL_G] < v[MODEL_P];
	double call_ns = is[MODEL_C].identified ? v[MODEL_C] : 0;
	double paced_ns = model_total_ns(&job->model, &job->batch) - kernel_ns - v[MODEL_Z];

	if (is[MODEL_G].identified || !waits)
		paced_ns -= gap_ns;
	return (struct modelled){
		.kernel_ns = kernel_ns,
		.gap_ns = known(is[MODEL_G].identified, gap_ns),
		.submission_ns = known(waits ? is[MODEL_P].identified : is[MODEL_C].identified,
				       call_ns + paced_ns),
		.sync_ns = known(is[MODEL_Z].identified, v[MODEL_Z] - call_ns),
	};
}

/*
 * Where K was measured in the same graphs gn is -b, and only gaps between graphs are left. A call
 * that is not known is part of sync, which is what it leaves.
 */
static struct modelled model_graph(const struct price_job *job, const struct fit *f)
{
	const struct graph_shape s = graph_shape_of(&job->batch);
	const double *v = f->model.v;
	const struct fit_param *is = f->param;
	double graphs = s.graphs + (s.rest >= 1), kernel_ns = kernels_ns(job), gap_ns, call_ns;
	bool calls = is[MODEL_GRAPH_A].identified || is[MODEL_GRAPH_B].identified;
	bool gaps = f->grid->nominal ? is[MODEL_GRAPH_G].identified
				     : graphs > 1 && is[MODEL_GRAPH_GG].identified;

	gap_ns = (f->grid->nominal ? batch_launches(&job->batch) - graphs
				   : (graphs - 1) * (s.nodes - 1)) *
			 v[MODEL_GRAPH_G] +
		 (graphs - 1) * v[MODEL_GRAPH_GG];
	call_ns = model_total_ns(&job->model, &job->batch) - kernel_ns - v[MODEL_GRAPH_Z] - gap_ns;
	return (struct modelled){
		.kernel_ns = kernel_ns,
		.gap_ns = known(gaps, gap_ns),
		.submission_ns = known(calls, call_ns),
		.sync_ns = known(is[MODEL_GRAPH_Z].identified,
				 v[MODEL_GRAPH_Z] + (calls ? 0 : call_ns)),
	};
}

/* From its own fit: units and the gaps between them, which are one where they are known as a sum.
 */
static void split_fused(struct modelled *out, const struct price_job *job, const struct fit *f)
{
	enum model_param gap = job->batch.kernel_ns > 0 ? MODEL_FUSED_B : MODEL_FUSED_B0;
	double gap_ns = (batch_launches(&job->batch) - 1) * f->model.v[gap];

	out->kernel_ns = f->model.v[MODEL_FUSED_PHI] * model_ideal_ns(&job->model, &job->batch);
	if (f->param[gap].identified &&
	    (f->param[MODEL_FUSED_PHI].identified || !(job->batch.kernel_ns > 0)))
		out->gap_ns = gap_ns;
	else
		out->kernel_ns += gap_ns;
}

static struct modelled model_fused(const struct price_job *job, const struct fit *f, bool own)
{
	const double *v = job->model.v;
	bool call = f->has[MODE_STREAM] && f->param[MODEL_C].identified;
	struct modelled out = { .kernel_ns = batch_launches(&job->batch) * job->fused_ns,
				.gap_ns = NAN,
				.submission_ns = known(call, v[MODEL_C]) };

	out.sync_ns = known(f->param[MODEL_FUSED_Z].identified,
			    v[MODEL_FUSED_Z] - or_none(out.submission_ns));
	if (own)
		split_fused(&out, job, f);
	return out;
}

static void take_model(struct stack *s, const struct stack_request *r, const struct fit *f)
{
	const struct price_request price = { .work = r->work,
					     .a = f == r->from ? f : NULL,
					     .b = f };
	const struct price_job job = price_job_of(&price, s->point);
	enum stack_step step = stack_step_of(r->work, s->point);
	enum mode mode = job.batch.mode;
	struct modelled m;

	/* from its own fit a fused block needs no slope */
	if (!f->has[mode] || (f == r->from && !job.known))
		return;
	m = mode == MODE_STREAM	 ? model_stream(&job, f)
	    : mode == MODE_GRAPH ? model_graph(&job, f)
				 : model_fused(&job, f, f == r->own);
	s->part_ns[STACK_GAP] = m.gap_ns;
	s->part_ns[STACK_SYNC] = m.sync_ns;
	s->part_ns[STACK_SUBMISSION] = m.submission_ns;
	s->part_ns[step == STACK_COPIES ? STACK_TRANSFER : STACK_KERNEL] = m.kernel_ns;
	if (step == STACK_LAUNCHES) {
		double transfer_ns = job.batch.depth * stack_transfer_ns(r, s->point);

		s->part_ns[STACK_TRANSFER] = transfer_ns;
		s->part_ns[STACK_KERNEL] -= or_none(transfer_ns);
	}
}

/* ---- all ---------------------------------------------------------------------------------- */

static void take_calls(struct stack *s, const struct grid *g)
{
	const struct grid_point *at = &g->point[s->point];
	bool takes_memory = g->j->step[at->point].allocations > 0;

	s->part_ns[takes_memory ? STACK_ALLOCATION : STACK_SUBMISSION] = at->enq_ns;
	s->part_ns[STACK_SYNC] = at->total_ns - at->enq_ns;
}

/* Refuses parts that contradict the block. own: by its own fit, other is what that leaves. */
static void hold_to_block(struct stack *s, bool own)
{
	double other = s->part_ns[STACK_OTHER] / s->total_ns;
	int least = STACK_KERNEL;

	for (int k = 0; k < STACK_OTHER; k++)
		if (s->part_ns[k] < or_none(s->part_ns[least]))
			least = k;
	if (other < -FIT_ERROR_MAX || (own && other > FIT_ERROR_MAX && other < 1))
		snprintf(s->refused, sizeof(s->refused), "the parts come to %.0f %% of it",
			 100 * (1 - other));
	else if (s->part_ns[least] < -FIT_ERROR_MAX * s->total_ns)
		snprintf(s->refused, sizeof(s->refused), "%s comes to %.0f %% of it",
			 stack_names[least], 100 * s->part_ns[least] / s->total_ns);
	for (int k = 0; *s->refused && k < STACK_PARTS; k++)
		s->part_ns[k] = NAN;
}

static void fill_parts(struct stack *s, const struct stack_request *r, int point)
{
	const struct fit *f = stack_fit(r, point);
	double known_ns = 0;

	*s = (struct stack){ .point = point, .total_ns = r->work->point[point].total_ns };
	for (int k = 0; k < STACK_PARTS; k++)
		s->part_ns[k] = NAN;
	if (stack_step_of(r->work, point) == STACK_CALLS)
		take_calls(s, r->work);
	else if (f)
		take_model(s, r, f);
	for (int k = 0; k < STACK_OTHER; k++)
		known_ns += or_none(s->part_ns[k]);
	s->part_ns[STACK_OTHER] = s->total_ns - known_ns;
	hold_to_block(s, f && f == r->own);
}

double stack_share(const struct stack *s, enum stack_part part)
{
	double share = s->part_ns[part] / s->total_ns;

	return isfinite(share) ? share : NAN;
}

struct stack *stacks_make(const struct stack_request *r)
{
	struct stack *all = calloc((size_t)r->work->n_points + 1, sizeof(*all));

	CHECK(all, "memory of %d blocks", r->work->n_points);
	for (int i = 0; i < r->work->n_points; i++)
		fill_parts(&all[i], r, i);
	return all;
}

/* ---- a selection -------------------------------------------------------------------------- */

/* Points of a mode and size: the first and the last by depth; -1: none. */
static void find_ends(const struct grid *g, enum mode mode, int size, int end[2])
{
	end[0] = end[1] = -1;
	for (int i = 0; i < g->n_points; i++) {
		const struct grid_point *p = &g->point[i];

		if (p->batch.mode != mode || p->size != size)
			continue;
		if (end[0] < 0 || p->batch.depth < g->point[end[0]].batch.depth)
			end[0] = i;
		if (end[1] < 0 || p->batch.depth > g->point[end[1]].batch.depth)
			end[1] = i;
	}
}

int stacks_select(const struct grid *g, bool *in)
{
	int count = 0;

	for (int i = 0; i < g->n_points; i++)
		in[i] = false;
	for (int mode = 0; mode < MODE_COUNT; mode++) {
		int *size = calloc((size_t)g->n_sizes + 1, sizeof(*size)), n = 0, end[2];

		CHECK(size, "memory of %d sizes", g->n_sizes);
		for (int i = 0; i < g->n_sizes; i++) {
			find_ends(g, (enum mode)mode, i, end);
			if (end[0] >= 0)
				size[n++] = i;
		}
		for (int i = 0; n && i < 3; i++) {
			find_ends(g, (enum mode)mode, size[i * (n - 1) / 2], end);
			in[end[0]] = in[end[1]] = true;
		}
		free(size);
	}
	for (int i = 0; i < g->n_points; i++)
		count += in[i];
	return count;
}

/* ---- what a reader of time stacks has to know ------------------------------------------- */

static void add_note(struct stack_notes *out, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void add_note(struct stack_notes *out, const char *fmt, ...)
{
	va_list args;

	if (out->n == STACK_NOTES)
		return;
	va_start(args, fmt);
	vsnprintf(out->text[out->n], sizeof(out->text[0]), fmt, args);
	va_end(args);
	out->n++;
}

/* Steps of the session are all of one kind: those of one configuration but for its size. */
static void note_steps(struct stack_notes *out, const struct stack_request *r, enum stack_step step)
{
	const struct fit *f = stack_fit(r, 0);

	if (step == STACK_CALLS)
		add_note(out,
			 "steps are calls and launch nothing that is waited for: sync is what is "
			 "left when the last call returns");
	else if (!f)
		add_note(out,
			 "no model: the session has too few sizes or depths for a fit, and there "
			 "is no --from; all is other");
	else if (f == r->from)
		add_note(out, "gap, submission, sync: of launches on this platform (--from)");
	else
		add_note(out, "of a fit to these samples, so other is what that fit leaves");
}

/* Sizes of which one depth says K: the whole block. */
static int whole_blocks(const struct grid *g)
{
	int n = 0;

	for (int i = 0; i < g->n_sizes; i++)
		n += !g->nominal && g->size[i].small < 0;
	return n;
}

static void note_slope(struct stack_notes *out, const struct grid *g)
{
	int whole = whole_blocks(g);

	add_note(out, "kernel: the slope over launches in the deepest samples (graphs where there "
		      "are any); their gaps are in it (--from takes them out)");
	if (whole)
		add_note(out,
			 "kernel: all of a sample at %d of %d sizes, which were swept at one "
			 "depth",
			 whole, g->n_sizes);
}

static void note_kernel(struct stack_notes *out, const struct stack_request *r,
			enum stack_step step)
{
	const struct grid *g = r->work;
	const struct fit *f = stack_fit(r, 0);

	if (!f || step == STACK_CALLS)
		return;
	if (step == STACK_COPIES)
		add_note(out,
			 "transfer: the slope of a sample's time over copies; calls and waiting "
			 "for them where these set the pace");
	else if (f == r->from)
		add_note(out, "kernel: the slope over launches in the deepest samples (graphs "
			      "where there "
			      "are any), less the gap of launches");
	else if (g->nominal)
		add_note(out, "kernel: %.3f x the nominal length, as fitted",
			 f->model.v[MODEL_CLOCK]);
	else
		note_slope(out, g);
}

/* Where K is measured in streams, it is part of kernel, which that note says. */
static void note_gap(struct stack_notes *out, const struct fit *f)
{
	const struct fit_param *is = f->param;

	if (f->has[MODE_STREAM] && !is[MODEL_G].identified && !grid_is_of_streams(f->grid))
		add_note(out, "gap in stream mode: part of %s, as it is not identified: %s",
			 is[MODEL_P].identified ? "submission" : "other", is[MODEL_G].why);
	if (f->has[MODE_GRAPH] && !is[MODEL_GRAPH_A].identified && !is[MODEL_GRAPH_B].identified)
		add_note(out, "submission in graph mode: part of sync, as it is not identified: %s",
			 is[MODEL_GRAPH_A].why);
}

static void note_sync(struct stack_notes *out, const struct fit *f)
{
	static const enum model_param z[MODE_COUNT] = {
		[MODE_STREAM] = MODEL_Z, [MODE_GRAPH] = MODEL_GRAPH_Z, [MODE_FUSED] = MODEL_FUSED_Z
	};
	char modes[64] = "";

	for (int mode = 0; mode < MODE_COUNT; mode++)
		if (f->has[mode] && !f->param[z[mode]].identified)
			snprintf(modes + strlen(modes), sizeof(modes) - strlen(modes), "%s%s",
				 *modes ? ", " : "", mode_name((enum mode)mode));
	if (*modes)
		add_note(out, "sync in %s mode: part of other, as it is not identified", modes);
}

/* The first that is, as an example. */
static void note_refused(struct stack_notes *out, const struct stack_request *r,
			 const struct stack *all)
{
	const char *first = NULL;
	int n = 0;

	for (int i = r->work->n_points - 1; i >= 0; i--)
		if (*all[i].refused) {
			first = all[i].refused;
			n++;
		}
	if (n)
		add_note(out,
			 "%d of %d samples are not taken apart, as that would contradict what they "
			 "took: of one, %s",
			 n, r->work->n_points, first);
}

/* Bytes that steps of some size copy between host and device. */
static double most_bytes(const struct grid *g)
{
	double most = 0;

	for (int i = 0; i < g->n_points; i++) {
		const struct cost *c = &g->j->step[g->point[i].point];

		most = fmax(most, c->to_device.bytes + c->to_host.bytes);
	}
	return most;
}

static void note_transfer(struct stack_notes *out, const struct stack_request *r,
			  enum stack_step step)
{
	const struct grid *g = r->work;
	double bytes = most_bytes(g);

	if (step != STACK_LAUNCHES)
		return;
	if (isnan(g->j->step[g->point[0].point].launches))
		add_note(out,
			 "transfer: the record is older than counts of copies; if there are any, "
			 "they are part of kernel");
	else if (bytes > 0 && !r->costs)
		add_note(out, "transfer: up to %s a step, part of kernel (--costs takes them out)",
			 text_bytes(bytes).s);
	else if (bytes > 0)
		add_note(out,
			 "transfer: up to %s a step by the call costs of a copy and a byte, "
			 "taken out of kernel",
			 text_bytes(bytes).s);
}

static void note_negative(struct stack_notes *out, const struct stack_request *r,
			  const struct stack *all, enum stack_part part)
{
	double most = 0;
	int n = 0;

	for (int i = 0; i < r->work->n_points; i++) {
		double share = stack_share(&all[i], part);

		n += share < -0.0005; /* what is not printed as 0.0 % */
		most = fmin(most, share);
	}
	if (n && part == STACK_OTHER)
		add_note(out,
			 "other is below 0 in %d of %d samples: the parts come to more than they "
			 "took, by up to %.1f %%",
			 n, r->work->n_points, -100 * most);
	else if (n)
		add_note(out,
			 "%s is below 0 in %d of %d samples, down to -%.1f %%: what was taken out "
			 "of it costs less here",
			 stack_names[part], n, r->work->n_points, -100 * most);
}

void stack_notes(struct stack_notes *out, const struct stack_request *r, const struct stack *all)
{
	enum stack_step step = stack_step_of(r->work, 0);
	const struct fit *f = step == STACK_CALLS ? NULL : stack_fit(r, 0);

	out->n = 0;
	note_steps(out, r, step);
	note_refused(out, r, all);
	note_kernel(out, r, step);
	if (f) {
		note_gap(out, f);
		note_sync(out, f);
	}
	note_transfer(out, r, step);
	for (int k = 0; k < STACK_PARTS; k++)
		note_negative(out, r, all, (enum stack_part)k);
}

/* ---- for people --------------------------------------------------------------------------- */

static void print_subject(const struct stack_request *r, const struct stack *stack, FILE *out)
{
	const struct grid *g = r->work;
	struct stack_notes notes;
	char platform[160];

	session_platform(g->j, g->side, platform, sizeof(platform));
	row(out, "stack", "%s%s%s, %s, side %s, n = %s", g->workload->name, *g->others ? " " : "",
	    g->others, platform, journal_side_name(g->side), counted(g->processes, "process").s);
	stack_notes(&notes, r, stack);
	for (int i = 0; i < notes.n; i++)
		row(out, i ? "" : "parts", "%s", notes.text[i]);
}

/* Widths. */
static const int column[STACK_PARTS] = { 7, 7, 12, 7, 10, 12, 7 };

static void print_stack(const struct grid *g, const struct stack *s, FILE *out)
{
	const struct grid_point *at = &g->point[s->point];
	double size = g->size[at->size].value;

	fprintf(out, "  %-6s %9s %6.0f %9s", mode_name(at->batch.mode),
		g->nominal ? text_real(size).s : text_int((int64_t)size, 1).s, at->batch.depth,
		text_time(s->total_ns / at->batch.depth).s);
	if (*s->refused)
		fprintf(out, "  refused: %s", s->refused);
	for (int k = 0; k < STACK_PARTS && !*s->refused; k++) {
		double share = stack_share(s, (enum stack_part)k);

		if (isnan(share))
			fprintf(out, "%*s", column[k], "-");
		else /* no -0.0 */
			fprintf(out, "%*.1f", column[k], round(1000 * share) / 10 + 0.0);
	}
	fputc('\n', out);
}

void stacks_print(const struct stack_request *r, const struct stack *stack, bool all, FILE *out)
{
	const struct grid *g = r->work;
	bool *in = calloc((size_t)g->n_points + 1, sizeof(*in));
	int shown;

	CHECK(in, "memory of %d blocks", g->n_points);
	shown = stacks_select(g, in);
	print_subject(r, stack, out);
	fprintf(out, "\n%35s  shares of it, in %%\n  %-6s %9s %6s %9s", "time per step", "mode",
		g->axis->name, "depth", "total");
	for (int k = 0; k < STACK_PARTS; k++)
		fprintf(out, "%*s", column[k], stack_names[k]);
	fputc('\n', out);
	for (int i = 0; i < g->n_points; i++)
		if (all || in[i])
			print_stack(g, &stack[i], out);
	if (!all && shown < g->n_points)
		fprintf(out,
			"  of each mode the smallest, middle and largest size at its least and "
			"greatest depth; --all shows %d more\n",
			g->n_points - shown);
	fprintf(out, "-: there is no such part, or it is not known and part of another one.\n");
	free(in);
}

/* ---- for machines ------------------------------------------------------------------------- */

static json_t *stack_json(const struct grid *g, const struct stack *s)
{
	const struct grid_point *at = &g->point[s->point];
	json_t *parts = json_object();

	for (int k = 0; k < STACK_PARTS; k++)
		json_object_set_new(parts, stack_names[k], json_number(s->part_ns[k]));
	return json_pack("{s:o, s:s, s:o, s:o, s:o}", "axes",
			 plan_axes_json(&g->j->plan, at->point), "key",
			 g->j->plan.point[at->point].key, "total_ns", json_number(s->total_ns),
			 "parts_ns", parts, "refused", json_text(*s->refused ? s->refused : NULL));
}

json_t *stacks_json(const struct stack_request *r, const struct stack *stack)
{
	const struct grid *g = r->work;
	json_t *blocks = json_array(), *texts = json_array();
	struct stack_notes notes;
	char platform[160];

	session_platform(g->j, g->side, platform, sizeof(platform));
	stack_notes(&notes, r, stack);
	for (int i = 0; i < notes.n; i++)
		json_array_append_new(texts, json_text(notes.text[i]));
	for (int i = 0; i < g->n_points; i++)
		json_array_append_new(blocks, stack_json(g, &stack[i]));
	return json_pack("{s:s, s:s, s:o, s:s, s:i, s:o, s:o}", "workload", g->workload->name,
			 "parameters_set", g->others, "platform", json_text(platform), "side",
			 journal_side_name(g->side), "processes", g->processes, "notes", texts,
			 "blocks", blocks);
}
