/*
 * test_stack.c - harness/fit/stack.h: sessions made from a model are taken apart into what they
 * were made of, and what is not known is left to other. Workloads by what launches cost are in
 * test_stack_work.c.
 */
/* sanitizers: one thread */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "tests/stacks.h"

#include "harness/fit/stack.h"
#include "harness/probe/stack_sources.h"
#include "harness/record/point_record.h"
#include "tests/golden.h"

TestSuite(small_stack, .timeout = 300);

/* ---- of its own fit ----------------------------------------------------------------------- */

/* fake_model(): c 2000, p 2200, g 900, Z 5800; a 1000, b 30, Zg 4500, gn 500; Zf 5600, bf 60. */
Test(small_stack, launches_by_their_own_fit)
{
	struct fake_session s = quiet();
	struct made m = { 0 };
	struct stack *all;

	s.model[0].v[MODEL_GRAPH_GG] = 1e5; /* as little as usual would not show */
	made_fit(&m, &s);
	all = stacks_make(&(struct stack_request){ .work = &m.grid, .own = &m.fit });
	adds_up(&m.grid, all);
	/* p sets the pace: 15 launches wait 2200 - 900 each, the first call is never hidden */
	expect(find_stack(&m.grid, all, MODE_STREAM, 0, 16),
	       (double[]){ 0, 15 * 900, 2000 + 15 * 1300, 3800, NAN, NAN });
	/* kernels hide it */
	expect(find_stack(&m.grid, all, MODE_STREAM, 10, 16),
	       (double[]){ 16e4, 15 * 900, 2000, 3800, NAN, NAN });
	expect(find_stack(&m.grid, all, MODE_GRAPH, 10, 16),
	       (double[]){ 16e4, 15 * 500, 1000 + 16 * 30, 4500, NAN, NAN });
	/* four graphs of 1024 nodes */
	expect(find_stack(&m.grid, all, MODE_GRAPH, 0, 4096),
	       (double[]){ 0, 4092 * 500 + 3 * 1e5, 1000 + 1024 * 30, 4500, NAN, NAN });
	expect(find_stack(&m.grid, all, MODE_FUSED, 10, 16),
	       (double[]){ 16e4, 15 * 60, 2000, 3600, NAN, NAN });
	free(all);
	made_release(&m);
}

/* A block without a time, or with a part that is no number, has no shares, and no note says one. */
Test(small_stack, what_is_no_share_is_not_printed)
{
	struct fake_session s = quiet();
	struct made m = { 0 };
	struct stack_request r = { .work = &m.grid, .own = &m.fit };
	struct stack *all;
	size_t size;
	char *text;
	FILE *out;

	made_fit(&m, &s);
	all = stacks_make(&r);
	all[0].total_ns = 0;
	all[1].total_ns = NAN;
	all[2].part_ns[STACK_KERNEL] = INFINITY;
	all[2].part_ns[STACK_OTHER] = -INFINITY;
	cr_assert(isnan(stack_share(&all[0], STACK_OTHER)), "0");
	cr_assert(isnan(stack_share(&all[2], STACK_KERNEL)), "infinite");
	cr_assert(epsilon_eq(dbl, stack_share(&all[3], STACK_OTHER),
			     all[3].part_ns[STACK_OTHER] / all[3].total_ns, 1e-12),
		  "a number");
	out = open_memstream(&text, &size);
	all[1].total_ns = 0; /* a time is printed as it is */
	stacks_print(&r, all, true, out);
	fclose(out);
	golden_said(text);
	cr_assert(eq(ptr, strstr(text, "inf"), NULL), "%s", text);
	cr_assert(eq(ptr, strstr(text, "nan"), NULL), "%s", text);
	free(text);
	free(all);
	made_release(&m);
}

/* Blocks of 64 take less than the parts of the others say: below 0 is shown, and said ... */
static double shorter = 1;

static double hasty(const struct batch *b, int side)
{
	(void)side;
	return b->mode == MODE_STREAM && b->depth == 64 ? shorter : 1;
}

Test(small_stack, parts_that_come_to_more_are_said_not_clipped)
{
	struct fake_session s = quiet();
	struct made m = { 0 };
	struct stack_request r = { .work = &m.grid, .own = &m.fit };
	const struct stack *at;
	struct stack *all;

	shorter = 0.93;
	s.factor = hasty;
	made_fit(&m, &s);
	all = stacks_make(&r);
	adds_up(&m.grid, all);
	at = find_stack(&m.grid, all, MODE_STREAM, 10, 64);
	cr_assert(lt(dbl, at->part_ns[STACK_OTHER], -0.05 * at->total_ns), "%g of %g",
		  at->part_ns[STACK_OTHER], at->total_ns);
	cr_assert(has_note(&r, all, "other is below 0"), "said");
	free(all);
	s.factor = NULL;
	made_release(&m);
	m = (struct made){ 0 };
	made_fit(&m, &s);
	all = stacks_make(&r);
	cr_assert(not(has_note(&r, all, "below 0")), "nothing to say");
	free(all);
	made_release(&m);
}

/* ... but by over a tenth it is no stack: the row and the JSON say why. */
Test(small_stack, parts_that_contradict_the_block_are_refused)
{
	struct fake_session s = quiet();
	struct made m = { 0 };
	struct stack_request r = { .work = &m.grid, .own = &m.fit };
	const struct stack *at, *other;
	struct stack *all;
	json_t *o, *block;
	size_t size;
	char *text;
	FILE *out;

	shorter = 0.8;
	s.factor = hasty;
	made_fit(&m, &s);
	all = stacks_make(&r);
	at = find_stack(&m.grid, all, MODE_STREAM, 10, 64);
	cr_assert(eq(str, (char *)at->refused, "the parts come to 119 % of it"), "refused");
	other = find_stack(&m.grid, all, MODE_STREAM, 10, 16);
	cr_assert(zero(int, *other->refused), "%s", other->refused);
	cr_assert(has_note(&r, all, " samples are not taken apart"), "said");
	out = open_memstream(&text, &size);
	stacks_print(&r, all, true, out);
	fclose(out);
	golden_said(text);
	cr_assert(ne(ptr, strstr(text, " refused: the parts come to 119 % of it\n"), NULL), "%s",
		  text);
	free(text);
	o = stacks_json(&r, all);
	block = json_array_get(json_object_get(o, "blocks"), (size_t)(at - all));
	cr_assert(zero(int,
		       strcmp(json_string_value(json_object_get(block, "refused")), at->refused)),
		  "JSON");
	block = json_array_get(json_object_get(o, "blocks"), 0);
	cr_assert(eq(ptr, json_object_get(block, "refused"), json_null()), "not this one");
	json_decref(o);
	free(all);
	made_release(&m);
}

/* By its own fit; with prices of another session what is left is what kernels do, and shown. */
Test(small_stack, what_its_own_fit_leaves_open_is_refused_too)
{
	struct fake_session s = quiet();
	struct made m = { 0 };
	const struct stack *at;
	struct stack *all;

	shorter = 1.3;
	s.factor = hasty;
	made_fit(&m, &s);
	all = stacks_make(&(struct stack_request){ .work = &m.grid, .own = &m.fit });
	at = find_stack(&m.grid, all, MODE_STREAM, 10, 64);
	cr_assert(eq(str, (char *)at->refused, "the parts come to 77 % of it"), "own");
	free(all);
	all = stacks_make(&(struct stack_request){ .work = &m.grid, .from = &m.fit });
	at = find_stack(&m.grid, all, MODE_STREAM, 10, 64);
	cr_assert(zero(int, *at->refused), "from: %s", at->refused);
	free(all);
	made_release(&m);
}

/* A sum that is right does not make up for a part that is less than nothing. */
Test(small_stack, a_part_below_nothing_is_refused)
{
	struct fake_session s = quiet();
	struct made m = { 0 };
	const struct stack *at;
	struct stack *all;

	made_fit(&m, &s);
	m.fit.model.v[MODEL_G] -= 5900;
	m.fit.model.v[MODEL_Z] += 15 * 5900;
	all = stacks_make(&(struct stack_request){ .work = &m.grid, .own = &m.fit });
	at = find_stack(&m.grid, all, MODE_STREAM, 10, 16);
	cr_assert(eq(str, (char *)at->refused, "gap comes to -42 % of it"), "refused");
	free(all);
	made_release(&m);
}

/* What is not identified fills no part: it is in the one that is known as a sum with it, if any. */
Test(small_stack, parts_of_what_is_not_identified)
{
	static const struct {
		enum model_param unknown[2];
		enum mode mode;
		double want[STACK_OTHER];
	} row[] = {
		{ { MODEL_Z, MODEL_Z }, MODE_STREAM, { 16e4, 15 * 900, 2000, NAN, NAN, NAN } },
		{ { MODEL_G, MODEL_G }, MODE_STREAM, { 16e4, NAN, 2000, 3800, NAN, NAN } },
		{ { MODEL_C, MODEL_C }, MODE_STREAM, { 16e4, 15 * 900, NAN, 5800, NAN, NAN } },
		{ { MODEL_P, MODEL_P }, MODE_STREAM, { 16e4, 15 * 900, 2000, 3800, NAN, NAN } },
		{ { MODEL_GRAPH_Z, MODEL_GRAPH_Z },
		  MODE_GRAPH,
		  { 16e4, 15 * 500, 1480, NAN, NAN, NAN } },
		{ { MODEL_GRAPH_G, MODEL_GRAPH_G },
		  MODE_GRAPH,
		  { 16e4, NAN, 1480, 4500, NAN, NAN } },
		{ { MODEL_GRAPH_A, MODEL_GRAPH_A },
		  MODE_GRAPH,
		  { 16e4, 15 * 500, 1480, 4500, NAN, NAN } },
		{ { MODEL_GRAPH_A, MODEL_GRAPH_B },
		  MODE_GRAPH,
		  { 16e4, 15 * 500, NAN, 5980, NAN, NAN } },
		{ { MODEL_FUSED_Z, MODEL_FUSED_Z },
		  MODE_FUSED,
		  { 16e4, 15 * 60, 2000, NAN, NAN, NAN } },
		{ { MODEL_C, MODEL_C }, MODE_FUSED, { 16e4, 15 * 60, NAN, 5600, NAN, NAN } },
		{ { MODEL_FUSED_PHI, MODEL_FUSED_PHI },
		  MODE_FUSED,
		  { 16e4 + 15 * 60, NAN, 2000, 3600, NAN, NAN } },
		{ { MODEL_FUSED_B, MODEL_FUSED_B },
		  MODE_FUSED,
		  { 16e4 + 15 * 60, NAN, 2000, 3600, NAN, NAN } },
	};
	struct fake_session s = quiet();
	struct made m = { 0 };
	struct stack *all;

	made_fit(&m, &s);
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		const struct stack *at;

		for (int k = 0; k < 2; k++)
			m.fit.param[row[i].unknown[k]].identified = false;
		all = stacks_make(&(struct stack_request){ .work = &m.grid, .own = &m.fit });
		at = find_stack(&m.grid, all, row[i].mode, 10, 16);
		for (int k = 0; k < STACK_OTHER; k++) {
			double want = row[i].want[k];

			cr_assert(eq(int, isnan(at->part_ns[k]), isnan(want)), "row %zu, %s: %g", i,
				  stack_names[k], at->part_ns[k]);
			if (!isnan(want))
				cr_assert(epsilon_eq(dbl, at->part_ns[k], want, 400),
					  "row %zu, %s: %g", i, stack_names[k], at->part_ns[k]);
		}
		free(all);
		for (int k = 0; k < 2; k++)
			m.fit.param[row[i].unknown[k]].identified = true;
	}
	made_release(&m);
}

/* Where p hides the gap nothing tells it from submission. */
Test(small_stack, what_is_not_identified_is_no_part)
{
	struct fake_session s = quiet();
	struct made m = { 0 };
	struct stack_request r = { .work = &m.grid, .own = &m.fit };
	struct stack *all;

	s.size = "0";
	s.mode = "stream";
	made_fit(&m, &s);
	all = stacks_make(&r);
	expect(find_stack(&m.grid, all, MODE_STREAM, 0, 16),
	       (double[]){ 0, NAN, 2000 + 15 * 2200, 3800, NAN, NAN });
	cr_assert(has_note(&r, all, "gap in stream mode: part of submission"), "said");
	free(all);
	made_release(&m);
}

Test(small_stack, without_a_fit_all_is_other)
{
	struct fake_session s = quiet();
	struct made m = { 0 };
	struct stack_request r = { .work = &m.grid };
	struct stack *all;

	made_grid(&m, &s);
	all = stacks_make(&r);
	adds_up(&m.grid, all);
	for (int k = 0; k < STACK_OTHER; k++)
		cr_assert(isnan(all[0].part_ns[k]), "%s", stack_names[k]);
	cr_assert(has_note(&r, all, "all is other"), "said");
	free(all);
	made_release(&m);
}

/* ---- steps that launch nothing ------------------------------------------------------------ */

static double bytes_ns(double bytes)
{
	return 300 + 0.1 * bytes;
}

Test(small_stack, copies_alone_are_transfer)
{
	struct fake_session s = quiet();
	struct made m = { 0 };
	const struct stack *at;
	struct stack *all;

	s.workload = "transfer";
	s.kernel_ns = bytes_ns;
	s.size = "64k,256k,1M";
	s.depth = "1,4,16,64";
	s.mode = "stream";
	s.step = (struct cost){ .to_device = { 1, 65536 } };
	made_fit(&m, &s);
	all = stacks_make(&(struct stack_request){ .work = &m.grid, .own = &m.fit });
	adds_up(&m.grid, all);
	at = find_stack(&m.grid, all, MODE_STREAM, 1 << 20, 64);
	cr_assert(isnan(at->part_ns[STACK_KERNEL]), "no kernel");
	/* with its gap, which nothing tells from it */
	cr_assert(epsilon_eq(dbl, at->part_ns[STACK_TRANSFER], 64 * (bytes_ns(1 << 20) + 900),
			     0.01 * at->total_ns),
		  "%g of %g", at->part_ns[STACK_TRANSFER], at->total_ns);
	free(all);
	made_release(&m);
}

/* No fit: the host's calls were timed by themselves. */
Test(small_stack, calls_that_take_memory_are_allocation)
{
	struct fake_session s = quiet();
	struct made m = { 0 };
	struct stack *all;

	s.workload = "memory";
	s.kernel_ns = bytes_ns;
	s.mode = "stream";
	s.depth = "1,16";
	s.step = (struct cost){ .allocations = 2 };
	made_grid(&m, &s);
	for (int takes = 1; takes >= 0; takes--) {
		for (int i = 0; i < m.journal.plan.n_points; i++)
			m.journal.step[i].allocations = 2 * takes;
		all = stacks_make(&(struct stack_request){ .work = &m.grid });
		adds_up(&m.grid, all);
		for (int i = 0; i < m.grid.n_points; i++) {
			const struct grid_point *p = &m.grid.point[i];
			double calls = p->enq_ns, rest = p->total_ns - p->enq_ns;

			expect(&all[i], takes ? (double[]){ NAN, NAN, NAN, rest, NAN, calls }
					      : (double[]){ NAN, NAN, calls, rest, NAN, NAN });
		}
		free(all);
	}
	made_release(&m);
}

/* ---- around it ---------------------------------------------------------------------------- */

Test(small_stack, a_selection_has_the_ends_of_three_sizes)
{
	struct fake_session s = quiet();
	struct made m = { 0 };
	bool in[1024];
	int n;

	made_grid(&m, &s);
	n = stacks_select(&m.grid, in);
	cr_assert(le(int, n, 3 * 3 * 2), "%d", n);
	for (int i = 0; i < m.grid.n_points; i++) {
		const struct grid_point *p = &m.grid.point[i];

		if (p->batch.depth == 1 && (p->size == 0 || p->size == m.grid.n_sizes - 1))
			cr_assert(in[i], "least depth of the ends");
		n -= in[i];
	}
	cr_assert(zero(int, n), "counted");
	made_release(&m);
}

Test(small_stack, a_costs_says_what_copies_cost)
{
	json_t *o = json_pack("{s:[{s:s,s:s,s:f}, {s:s,s:s,s:f}, {s:s,s:s,s:f}, {s:s,s:s,s:f}, "
			      "{s:s,s:s,s:n}]}",
			      "rows", "workload", "transfer", "name", "h2d pinned 4 B in a row",
			      "median", 0.5, "workload", "transfer", "name", "h2d pinned rate",
			      "median", 50.0, "workload", "transfer", "name", "h2d pinned knee",
			      "median", 1e6, "workload", "transfer", "name",
			      "h2d pinned rate below", "median", 25.0, "workload", "transfer",
			      "name", "d2h pinned rate", "median");
	struct copy_costs c;

	cr_assert(ne(ptr, o, NULL), "card");
	costs_copies(&c, o);
	cr_assert(eq(dbl, c.to_device[0].call_ns, 500), "us, not ns");
	cr_assert(c.to_device[0].byte_ns == 0.02 && c.to_device[0].knee == 1e6, "GB/s");
	cr_assert(eq(dbl, c.to_device[0].below_byte_ns, 0.04), "below the knee");
	cr_assert(isnan(c.to_host[0].byte_ns) && isnan(c.to_device[1].call_ns), "not there");
	cr_assert(zero(dbl, c.to_host[0].knee), "no knee");
	json_decref(o);
}

Test(small_stack, records_say_what_a_step_counts)
{
	const struct cost c = { .launches = 3,
				.to_device = { 1, 100 },
				.to_host = { 2, 200 },
				.within = { 3, 300 },
				.pageable = true,
				.allocations = 4 };
	struct cost back = { .launches = NAN };
	json_t *o = work_count_json(&c);

	work_count_take(&back, NULL);
	cr_assert(isnan(back.launches), "nothing there");
	work_count_take(&back, o);
	cr_assert(back.launches == 3 && back.to_device.calls == 1 && back.to_device.bytes == 100 &&
			  back.to_host.calls == 2 && back.to_host.bytes == 200 &&
			  back.within.calls == 3 && back.within.bytes == 300 && back.pageable &&
			  back.allocations == 4,
		  "all of it");
	back.launches = 7;
	json_object_del(json_object_get(o, "to_host"), "bytes");
	work_count_take(&back, o);
	cr_assert(eq(dbl, back.launches, 7), "damaged: as it was");
	json_decref(o);
}
