/*
 * test_atlas.c - harness/compare/atlas.h: made-up sessions against a base, of which it is known
 * what each adds.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/compare/atlas.h"

#include "harness/compare/atlas_impl.h"
#include "harness/record/recorded.h"
#include "tests/atlas_printed.h"
#include "tests/compared.h"
#include "tests/fake_session.h"

TestSuite(small_atlas, .timeout = 120);

/* ---- sessions --------------------------------------------------------------------------- */

static const double added_ns = 5000;

static struct fake_session made_up(int sides)
{
	struct fake_session s = two_sides();

	s.size = "0,1,5,10,50";
	s.depth = "1,16,256";
	s.mode = "stream,graph";
	s.sides = sides;
	s.noise = 0.001;
	return s;
}

static void slow_down(struct model *m)
{
	m->v[MODEL_C] += added_ns;
	m->v[MODEL_P] += added_ns;
	m->v[MODEL_Z] += added_ns;
}

/* A session of its own, as it would be read. */
static void fill(struct journal *j, const struct fake_session *s, const char *id)
{
	fake_session_journal(s, j);
	free(j->path);
	cr_assert(lt(int, 0, asprintf(&j->path, "folder/%s.jsonl", id)), "memory");
	snprintf(j->session_id, sizeof(j->session_id), "%s", id);
}

/* An atlas of a base with room for one session. */
static void begin(struct atlas *a, const struct fake_session *base)
{
	atlas_init(a, 1, &compare_not_given);
	fill(&a->base.session, base, "base");
	cr_assert(zero(int, atlas_set_base(a, 0)), "base");
}

static const struct workload *launch(void)
{
	return workload_find("launch");
}

/* The place of a parameter in the table. */
static struct atlas_cell parameter(const struct atlas *a, const char *name)
{
	for (int i = 0; i < ATLAS_PARAMETERS; i++)
		if (!strcmp(model_param_rows[atlas_parameters[i]].name, name))
			return atlas_parameter(&a->entry[0], launch(), i);
	cr_fatal("no parameter %s", name);
	return (struct atlas_cell){ 0 };
}

static struct atlas_cell step(const struct atlas *a, int which)
{
	return atlas_step(a, &a->entry[0], launch(), which);
}

static int64_t depth_of(const struct atlas *a, const struct atlas_cell *cell)
{
	const struct plan *plan = &a->entry[0].c.side[PAIR_A]->view.plan;

	return cell->point ? plan->point[cell->point->pair->at[PAIR_A]].depth : 0;
}

static void set_header(struct journal *j, int side, const char *part, const char *name,
		       json_t *value)
{
	json_object_set_new(json_object_get(j->header[side], part), name, value);
}

/* ---- what is found ---------------------------------------------------------------------- */

/* Side b against its own side a: no other session is in it. */
static void expect_slower(const struct atlas *a, double off)
{
	static const char *const added[] = { "c", "p", "Z" };
	const double slower = (5800 + added_ns) / 5800;

	for (int i = 0; i < 3; i++) {
		const struct atlas_cell cell = parameter(a, added[i]);

		cr_assert(eq(int, cell.state, ATLAS_KNOWN), "%s", added[i]);
		cr_assert(epsilon_eq(dbl, cell.of.value, added_ns, off), "%s: %g ns", added[i],
			  cell.of.value);
		cr_assert(lt(dbl, 0, cell.of.lo), "%s", added[i]);
		cr_assert(eq(int, cell.of.n, 5), "%s", added[i]);
	}
	cr_assert(eq(int, parameter(a, "gn").state, ATLAS_NOT_RESOLVED), "gn");
	cr_assert(epsilon_eq(dbl, step(a, 0).of.value, slower, 0.02), "%g", step(a, 0).of.value);
	cr_assert(lt(dbl, 2, step(a, 1).of.value), "%g", step(a, 1).of.value);
	cr_assert(eq(int, step(a, 0).judged->verdict, VERDICT_SLOWER), "verdict");
}

Test(small_atlas, two_sides_are_held_against_each_other)
{
	struct fake_session s = made_up(1);
	struct atlas a;

	/* another base than the session's own is no part of its differences */
	s.model[0].v[MODEL_Z] += 3000;
	begin(&a, &s);
	s = made_up(2);
	slow_down(&s.model[1]);
	fill(&a.entry[0].session, &s, "guest");
	cr_assert(zero(int, atlas_add(&a, 0, SIDE_ANY)), "add");
	cr_assert(a.entry[0].own_base, "its own");
	cr_assert(zero(dbl, a.entry[0].c.options.session_sd), "one session");
	expect_slower(&a, 60);
	cr_assert(eq(int, atlas_exit_code(&a), RIFT_OK), "code");
	atlas_release(&a);
}

Test(small_atlas, one_side_is_held_against_the_base)
{
	struct fake_session s = made_up(1);
	struct atlas a;

	begin(&a, &s);
	s.seed = 2;
	slow_down(&s.model[0]);
	fill(&a.entry[0].session, &s, "guest");
	cr_assert(zero(int, atlas_add(&a, 0, 0)), "add");
	cr_assert(not(a.entry[0].own_base), "the base");
	cr_assert(lt(dbl, 0, a.entry[0].c.options.session_sd), "separate sessions");
	expect_slower(&a, 150);
	atlas_release(&a);
}

/* Each side of a session may be named alone. */
Test(small_atlas, a_named_side_of_two_is_held_against_the_base)
{
	struct fake_session s = made_up(1);
	struct atlas a;

	begin(&a, &s);
	s = made_up(2);
	s.seed = 2;
	slow_down(&s.model[1]);
	fill(&a.entry[0].session, &s, "pair");
	cr_assert(zero(int, atlas_add(&a, 0, 1)), "add");
	expect_slower(&a, 150);
	cr_assert(eq(str, a.entry[0].name, "pair, side b"), "%s", a.entry[0].name);
	atlas_release(&a);
}

/* Neither 1 nor 64 is in both: 16 is next to each. One depth is one figure. */
Test(small_atlas, the_nearest_depths_of_both)
{
	struct fake_session s = made_up(1);
	struct atlas a;
	struct atlas_cell cell[2];

	begin(&a, &s);
	s.depth = "2,16,32";
	s.seed = 2;
	fill(&a.entry[0].session, &s, "guest");
	cr_assert(zero(int, atlas_add(&a, 0, 0)), "add");
	cell[0] = step(&a, 0);
	cell[1] = step(&a, 1);
	cr_assert(eq(i64, depth_of(&a, &cell[0]), 16), "the only common one");
	cr_assert(eq(ptr, (void *)cell[1].point, NULL), "once");
	cr_assert(tells(printed(&a), "guest: launch us=0 stream depth 16 *depth 1\n"), "%s",
		  printed(&a));
	atlas_release(&a);
}

/* ---- what is not there ------------------------------------------------------------------ */

Test(small_atlas, what_is_not_supported_is_a_finding)
{
	struct fake_session s = made_up(1);
	struct atlas a;

	begin(&a, &s);
	s = made_up(2);
	fill(&a.entry[0].session, &s, "guest");
	spoil_graphs(&a.entry[0].session);
	cr_assert(zero(int, atlas_add(&a, 0, SIDE_ANY)), "add");
	cr_assert(eq(int, parameter(&a, "a").state, ATLAS_NOT_SUPPORTED), "a");
	cr_assert(eq(int, parameter(&a, "gn").state, ATLAS_NOT_SUPPORTED), "gn");
	cr_assert(eq(int, parameter(&a, "Z").state, ATLAS_NOT_RESOLVED), "Z");
	cr_assert(zero(int, atlas_failed(&a.entry[0])), "it did not fail");
	cr_assert(eq(int, atlas_exit_code(&a), RIFT_OK), "code");
	cr_assert(tells(printed(&a), "guest *not supported *not supported"), "%s", printed(&a));
	cr_assert(tells(printed(&a), "guest: *cudaGraphInstantiate: cudaErrorNotSupported"), "%s",
		  printed(&a));
	atlas_release(&a);
}

Test(small_atlas, a_result_that_is_missing_is_none)
{
	struct fake_session s = made_up(1);
	struct atlas a;

	begin(&a, &s);
	s.seed = 2;
	fill(&a.entry[0].session, &s, "guest");
	a.entry[0].session.status[0] = POINT_CHECK_FAILED;
	cr_assert(zero(int, atlas_add(&a, 0, 0)), "add");
	cr_assert(eq(int, atlas_failed(&a.entry[0]), 1), "one");
	cr_assert(eq(int, atlas_exit_code(&a), RIFT_FAILED_POINTS), "code");
	atlas_release(&a);
}

/* No time is given for what does not compute what it should. */
Test(small_atlas, wrong_results_have_no_time)
{
	struct fake_session s = made_up(1);
	struct atlas a;

	begin(&a, &s);
	s = made_up(2);
	fill(&a.entry[0].session, &s, "guest");
	spoil_alone(&a.entry[0].session);
	cr_assert(zero(int, atlas_add(&a, 0, SIDE_ANY)), "add");
	cr_assert(eq(int, step(&a, 0).state, ATLAS_WRONG), "depth 1");
	cr_assert(eq(int, step(&a, 0).wrong, 5), "all processes of side b");
	cr_assert(eq(int, step(&a, 1).state, ATLAS_NOT_RESOLVED), "the other depth");
	cr_assert(eq(int, atlas_exit_code(&a), RIFT_FAILED_POINTS), "code");
	cr_assert(tells(printed(&a), "guest *wrong in 5 of 5 *not resolved"), "%s", printed(&a));
	atlas_release(&a);
}

Test(small_atlas, one_depth_is_there_once)
{
	struct fake_session s = made_up(1);
	struct atlas a;

	s.depth = "16";
	begin(&a, &s);
	s.seed = 2;
	fill(&a.entry[0].session, &s, "guest");
	cr_assert(zero(int, atlas_add(&a, 0, 0)), "add");
	cr_assert(tells(printed(&a), "\nlaunch us=0 stream: time of a step"), "%s", printed(&a));
	cr_assert(eq(int, step(&a, 1).state, ATLAS_NOTHING), "once");
	atlas_release(&a);
}

Test(small_atlas, a_base_that_is_wrong_says_so)
{
	struct fake_session s = made_up(1);
	struct journal *j;
	struct atlas a;

	atlas_init(&a, 1, &compare_not_given);
	j = &a.base.session;
	fill(j, &s, "base");
	for (int i = 0; i < s.processes * j->plan.n_points; i++)
		if (j->plan.point[i % j->plan.n_points].depth == 1)
			j->status[i] = POINT_CHECK_FAILED;
	cr_assert(zero(int, atlas_set_base(&a, 0)), "base");
	s.seed = 2;
	fill(&a.entry[0].session, &s, "guest");
	cr_assert(zero(int, atlas_add(&a, 0, 0)), "add");
	cr_assert(tells(printed(&a), "base *wrong in 5 of 5 "), "%s", printed(&a));
	atlas_release(&a);
}

/* No kernel outlasts p here, so that g is hidden, which is not the platform's fault. */
Test(small_atlas, what_is_not_identified)
{
	struct fake_session s = made_up(1);
	struct atlas a;

	s.size = "0";
	begin(&a, &s);
	s.seed = 2;
	fill(&a.entry[0].session, &s, "guest");
	cr_assert(zero(int, atlas_add(&a, 0, 0)), "add");
	cr_assert(eq(int, parameter(&a, "g").state, ATLAS_NOTHING), "g");
	cr_assert(eq(int, parameter(&a, "p").state, ATLAS_NOT_RESOLVED), "p");
	atlas_release(&a);
}

/* ---- names ------------------------------------------------------------------------------ */

/* Side b ran under these, as a header has them. */
static void put_under(struct journal *j, int side, const char *name, const char *set,
		      const char *label)
{
	json_object_set_new(
		j->header[side], "layers",
		json_pack("[{s:s, s:s, s:[s]}]", "name", name, "label", label, "set", set));
}

Test(small_atlas, two_rows_of_one_name_are_told_apart)
{
	struct fake_session s = made_up(1);
	struct atlas a;

	atlas_init(&a, 2, &compare_not_given);
	fill(&a.base.session, &s, "base");
	cr_assert(zero(int, atlas_set_base(&a, 0)), "base");
	for (int i = 0; i < 2; i++) {
		s.seed = 2 + (unsigned)i;
		fill(&a.entry[i].session, &s, i ? "second" : "first");
		a.entry[i].given_name = strdup("guest");
		cr_assert(zero(int, atlas_add(&a, i, 0)), "add");
	}
	cr_assert(eq(str, a.entry[0].name, "guest"), "%s", a.entry[0].name);
	cr_assert(eq(str, a.entry[1].name, "guest, second"), "%s", a.entry[1].name);
	atlas_release(&a);
}

Test(small_atlas, names_of_rows)
{
	struct fake_session s = made_up(1), sides = made_up(2);
	struct atlas a;
	char *packed;

	begin(&a, &s);
	fill(&a.entry[0].session, &sides, "guest");
	put_under(&a.entry[0].session, 1, "cpu", "share=50", "real");
	cr_assert(zero(int, atlas_add(&a, 0, SIDE_ANY)), "add");
	cr_assert(eq(str, a.entry[0].name, "cpu share=50 (real)"), "%s", a.entry[0].name);
	cr_assert(not(a.entry[0].is_model), "real");
	atlas_release(&a);

	begin(&a, &s);
	fill(&a.entry[0].session, &sides, "guest");
	put_under(&a.entry[0].session, 1, "preload", "lib=/opt/hami/libvgpu.so", "real");
	cr_assert(zero(int, atlas_add(&a, 0, SIDE_ANY)), "add");
	cr_assert(eq(str, a.entry[0].name, "preload lib=libvgpu.so (real)"), "%s", a.entry[0].name);
	cr_assert(tells(printed(&a), "lib=/opt/hami/libvgpu.so"), "all of it stands once: %s",
		  printed(&a));
	atlas_release(&a);

	begin(&a, &s);
	fill(&a.entry[0].session, &sides, "guest");
	put_under(&a.entry[0].session, 1, "emulate", "launch=5us", "model");
	a.entry[0].given_name = strdup("WSL2");
	cr_assert(zero(int, atlas_add(&a, 0, SIDE_ANY)), "add");
	cr_assert(eq(str, a.entry[0].name, "WSL2 (model)"), "%s", a.entry[0].name);
	atlas_release(&a);

	begin(&a, &s);
	fill(&a.entry[0].session, &sides, "guest");
	put_under(&a.entry[0].session, 1, "emulate", "launch=5us", "model");
	cr_assert(zero(int, atlas_add(&a, 0, SIDE_ANY)), "add");
	cr_assert(eq(str, a.entry[0].name, "emulate launch=5us (model)"), "%s", a.entry[0].name);
	cr_assert(a.entry[0].is_model, "model");
	cr_assert(tells(printed(&a), "model: "), "%s", printed(&a));
	atlas_release(&a);

	begin(&a, &s);
	s.seed = 2;
	fill(&a.entry[0].session, &s, "guest");
	set_header(&a.entry[0].session, 0, "virt", "declared_platform", json_string("a cloud"));
	cr_assert(zero(int, atlas_add(&a, 0, 0)), "add");
	cr_assert(eq(str, a.entry[0].name, "a cloud"), "%s", a.entry[0].name);
	atlas_release(&a);

	begin(&a, &s);
	fill(&a.entry[0].session, &s, "guest");
	cr_assert(zero(int, atlas_add(&a, 0, 0)), "add");
	cr_assert(eq(str, a.entry[0].name, "guest"), "%s", a.entry[0].name);
	atlas_release(&a);

	begin(&a, &s);
	fill(&a.entry[0].session, &s, "guest");
	cr_assert(lt(int, 0, asprintf(&packed, "%s.gz", a.entry[0].session.path)), "memory");
	free(a.entry[0].session.path);
	a.entry[0].session.path = packed;
	cr_assert(zero(int, atlas_add(&a, 0, 0)), "add");
	cr_assert(eq(str, a.entry[0].name, "guest"), "%s", a.entry[0].name);
	atlas_release(&a);
}

/* ---- what is refused -------------------------------------------------------------------- */

/* Refuses it with a line that names the file and this; takes it all the same with --force. */
static void refuses(const struct fake_session *s, int side, void (*change)(struct journal *),
		    const char *says)
{
	struct fake_session of = made_up(1);
	struct atlas a;
	struct atlas_entry *e;

	begin(&a, &of);
	e = &a.entry[0];
	fill(&e->session, s, "guest");
	if (change)
		change(&e->session);
	for (int forced = 0; forced < 2; forced++) {
		const char *text;
		int err;

		a.options.force = forced;
		*e->not_comparable = '\0';
		divert_stderr();
		err = atlas_add(&a, 0, side);
		text = diverted_stderr();
		cr_assert(eq(int, err, forced ? 0 : -EPROTONOSUPPORT), "%s: %s", says, text);
		cr_assert(eq(int, *e->not_comparable != 0, 1), "%s", says);
		cr_assert(forced || is_one_complaint(text), "%s", text);
		cr_assert(forced || tells(text, says), "'%s' in %s", says, text);
		cr_assert(forced || tells(text, "guest.jsonl*not comparable"), "%s", text);
		for (int k = 0; k < 2 && !forced; k++)
			side_release(&e->side[k]);
	}
	atlas_release(&a);
}

static void another_gpu(struct journal *j)
{
	set_header(j, 0, "gpu", "name", json_string("another GPU"));
}

static void another_gpu_on_b(struct journal *j)
{
	set_header(j, 1, "gpu", "name", json_string("another GPU"));
}

static void another_binary(struct journal *j)
{
	set_header(j, 0, "build", "binary_sha256", json_string("0123"));
}

static void another_driver(struct journal *j)
{
	set_header(j, 0, "gpu", "driver_version", json_string("1.2"));
}

static void another_platform(struct journal *j)
{
	set_header(j, 0, "virt", "declared_platform", json_string("elsewhere"));
}

static void under_a_layer(struct journal *j)
{
	put_under(j, 0, "shim", "x=1", "real");
}

Test(small_atlas, what_compare_refuses_is_refused)
{
	struct fake_session s = made_up(1);

	refuses(&s, 0, another_gpu, "base.jsonl: gpu.name: *another GPU");
	refuses(&s, 0, another_binary, "build.binary_sha256: ");
	s.sync = SYNC_BLOCKING;
	refuses(&s, 0, NULL, "sync: *blocking");
}

/* What may differ between two platforms may not between the base and side a. */
Test(small_atlas, side_a_is_the_base_platform)
{
	struct fake_session s = made_up(2);

	refuses(&s, SIDE_ANY, another_gpu, "side a*base.jsonl: gpu.name: *another GPU");
	refuses(&s, SIDE_ANY, another_gpu_on_b, "side b*side a: gpu.name: *another GPU");
	refuses(&s, SIDE_ANY, another_binary, "side a*build.binary_sha256: ");
	refuses(&s, SIDE_ANY, another_driver, "side a*gpu.driver_version: *1.2");
	refuses(&s, SIDE_ANY, another_platform, "side a*virt.declared_platform: *elsewhere");
	refuses(&s, SIDE_ANY, under_a_layer, "side a*layers: none *shim");
}

/* An interval that ends where nothing is added does not tell. */
Test(small_atlas, what_is_resolved)
{
	cr_expect(eq(int, (int)atlas_state_of(&(struct interval){ 1.2, 1, 1.4, 5, true }, 1),
		     ATLAS_NOT_RESOLVED));
	cr_expect(eq(int, (int)atlas_state_of(&(struct interval){ 0.8, 0.7, 1, 5, true }, 1),
		     ATLAS_NOT_RESOLVED));
	cr_expect(eq(int, (int)atlas_state_of(&(struct interval){ 1.2, 1.01, 1.4, 5, true }, 1),
		     ATLAS_KNOWN));
	cr_expect(eq(int, (int)atlas_state_of(&(struct interval){ 1.2, NAN, NAN, 1, false }, 1),
		     ATLAS_KNOWN));
}

/* A cell that is not resolved says how wide it is, as far as a width says anything. */
Test(small_atlas, how_wide_an_unresolved_cell_is)
{
	struct atlas_cell cell = { .state = ATLAS_NOT_RESOLVED, .of = { 1, 0.96, 1.04, 5, true } };

	cr_assert(eq(str, atlas_program_text(&cell).s, "·"), "narrow");
	cell.of.hi = 1.2;
	cr_assert(eq(str, atlas_program_text(&cell).s, "±12 %"), "wide");
	cell.of.hi = 40;
	cr_assert(eq(str, atlas_program_text(&cell).s, "±>100 %"), "not known");
}

/* A guest has its own, and a card of the same model is as good. */
Test(small_atlas, what_another_platform_may_have)
{
	struct fake_session s = made_up(1), sides = made_up(2);
	struct atlas a;

	begin(&a, &s);
	s.seed = 2;
	fill(&a.entry[0].session, &s, "guest");
	another_driver(&a.entry[0].session);
	cr_assert(zero(int, atlas_add(&a, 0, 0)), "another driver");
	cr_assert(tells(printed(&a), "guest: *gpu.driver_version"), "%s", printed(&a));
	atlas_release(&a);

	begin(&a, &s);
	fill(&a.entry[0].session, &sides, "guest");
	set_header(&a.entry[0].session, 0, "gpu", "uuid", json_string("GPU-1"));
	cr_assert(zero(int, atlas_add(&a, 0, SIDE_ANY)), "another card");
	atlas_release(&a);
}

Test(small_atlas, no_point_in_common_and_one_session_twice)
{
	struct fake_session s = made_up(1);
	struct atlas a;

	begin(&a, &s);
	s.depth = "2,8,32";
	fill(&a.entry[0].session, &s, "guest");
	divert_stderr();
	cr_assert(eq(int, atlas_add(&a, 0, 0), -EPROTONOSUPPORT), "other depths");
	cr_assert(tells(diverted_stderr(), "guest.jsonl*base.jsonl: points: "), "points");
	atlas_release(&a);

	s = made_up(1);
	begin(&a, &s);
	fill(&a.entry[0].session, &s, "base");
	divert_stderr();
	cr_assert(eq(int, atlas_add(&a, 0, 0), -EINVAL), "the base itself");
	cr_assert(is_one_complaint(diverted_stderr()), "a line");
	atlas_release(&a);
}
