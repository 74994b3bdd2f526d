/*
 * test_cli_sides.c - sessions with two sides on the command line: every command that reads one
 * takes the side that is named, --side or FILE:b, and refuses to guess it. Known truth: launches of
 * side b take 5 us longer.
 */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "tests/cli.h"
#include "tests/fake_session.h"
#include "tests/folder.h"

TEST_FOLDER(dir);
static char both[64], one[64], odd[64];

static void prepare(void)
{
	make_dir();
	snprintf(both, sizeof(both), "%s/both.jsonl", dir);
	snprintf(one, sizeof(one), "%s/one.jsonl", dir);
	snprintf(odd, sizeof(odd), "%s/one.jsonl:b", dir);
}

TestSuite(small_cli_sides, .init = prepare, .fini = remove_dir, .timeout = 300);
TestSuite(large_cli_sides, .init = prepare, .fini = remove_dir, .timeout = 300);

static const double added_ns = 5000;

static void slow_down(struct model *m)
{
	m->v[MODEL_C] += added_ns;
	m->v[MODEL_P] += added_ns;
	m->v[MODEL_Z] += added_ns;
	m->v[MODEL_GRAPH_Z] += added_ns;
	m->v[MODEL_FUSED_Z] += added_ns;
}

static struct fake_session made_up(int sides)
{
	struct fake_session s = fake_session();

	s.quick = true;
	s.processes = 5;
	s.noise = 0.005;
	s.size = "0,2,10,50";
	s.depth = "1,4,16,64,256";
	s.sides = sides;
	slow_down(&s.model[1]);
	return s;
}

static void write_both(void)
{
	struct fake_session s = made_up(2);

	fake_session_write(&s, both);
}

/* As side a, of one side. */
static void write_one(const char *path)
{
	struct fake_session s = made_up(1);

	s.seed = 2;
	fake_session_write(&s, path);
}

static double number_at(const json_t *o, const char *part, const char *name)
{
	return json_number_value(json_object_get(json_object_get(o, part), name));
}

static void succeeds(const char *args, const char *path, const char *other)
{
	const char *text;

	cr_assert(zero(int, run_rift(ERR, &text, args, path, other)), "%s: %s", args, text);
}

/* ---- predict ---------------------------------------------------------------------------- */

/* Side a's blocks by what launches cost on side b are what side b measured; by a's own costs not.
 */
Test(small_cli_sides, predict_prices_a_on_b)
{
	const json_t *o;
	const char *text;

	write_both();
	o = rift_json("predict '%s' --side a --on '%s:b' --measured '%s:b' --json", both, both,
		      both);
	cr_assert(lt(dbl, number_at(o, "errors", "median"), 0.02), "median");
	cr_assert(lt(dbl, number_at(o, "errors", "worst"), 0.15), "worst");
	cr_assert(lt(dbl, 20, number_at(o, "errors", "n")), "blocks");
	cr_assert(eq(str, (char *)get_text(o, "side"), "a"), "side");
	cr_assert(eq(str, (char *)get_text(o, "parameters_side"), "b"), "side");
	o = rift_json("predict '%s:a' --on '%s:a' --measured '%s:b' --json", both, both, both);
	cr_assert(lt(dbl, 0.5, number_at(o, "errors", "worst")), "a's costs do not predict b");
	cr_assert(zero(int, run_rift(OUT, &text, "predict '%s:a' --on '%s:b' --measured '%s:b'",
				     both, both, both)),
		  "%s", text);
	cr_assert(ne(ptr, strstr(text, "(elsewhere)"), NULL), "B is side b: %s", text);
}

/* Held against its own blocks, those that say K are no test; the other side's all are. */
Test(small_cli_sides, predict_knows_itself)
{
	struct fake_session s = made_up(2);
	const json_t *o;
	double itself;

	s.workload = "myocyte";
	s.also = "launch";
	s.size = "1,32,256";
	s.mode = "stream,graph";
	fake_session_write(&s, both);
	o = rift_json("predict '%s:a' --workload myocyte --on '%s:a' --measured '%s:a' --json",
		      both, both, both);
	itself = number_at(o, "errors", "n");
	cr_assert(eq(ptr, json_object_get(o, "from_measured"), NULL), "the model's own price");
	o = rift_json("predict '%s:a' --workload myocyte --on '%s:b' --measured '%s:b' --json",
		      both, both, both);
	cr_assert(lt(dbl, itself, number_at(o, "errors", "n")), "blocks");
	cr_assert(eq(ptr, json_object_get(o, "from_measured"), json_true()), "from side a's");
}

/* ---- the others ------------------------------------------------------------------------- */

Test(small_cli_sides, fit_over_and_off_the_grid)
{
	struct fake_session s = made_up(2);
	const json_t *side;
	double near, far;

	write_both();
	s.size = "1,5,20";
	s.seed = 3;
	shell(NULL, "mkdir '%s/x'", dir);
	snprintf(one, sizeof(one), "%s/x/other.jsonl", dir);
	fake_session_write(&s, one);
	side = json_array_get(
		json_object_get(rift_json("fit '%s:b' --off-grid '%s:b' --json", both, one),
				"sides"),
		0);
	near = number_at(json_object_get(side, "off_grid"), "all", "median");
	side = json_array_get(
		json_object_get(rift_json("fit '%s' --side b --off-grid '%s:a' --json", both, one),
				"sides"),
		0);
	far = number_at(json_object_get(side, "off_grid"), "all", "worst");
	cr_assert(lt(dbl, near, 0.02), "the same side: %g", near);
	cr_assert(lt(dbl, 0.3, far), "the other: %g", far);
	succeeds("fit '%s:b' --over '%s:b'", both, one);
	refused(3, "--off-grid ", "fit '%s' --off-grid '%s:b'", both, one);
}

Test(large_cli_sides, validate_takes_one_side)
{
	struct fake_session s = made_up(2);
	double itself = 0;

	s.workload = "myocyte";
	s.also = "launch";
	s.size = NULL;
	s.depth = "1,4,16,64";
	s.mode = "stream,graph";
	fake_session_write(&s, both);
	for (int side = 0; side < 2; side++) {
		const json_t *own =
			rift_json("predict --validate '%s' --side %c --json", both, "ab"[side]);

		itself = number_at(own, "all", "worst");
		cr_assert(lt(dbl, number_at(own, "all", "worst"), 0.05), "side %d", side);
		cr_assert(eq(str, (char *)get_text(own, "parameters_side"), side ? "b" : "a"),
			  "side");
	}
	/* What b's calls take longer is taken for a library's, which its shallow blocks tell. */
	cr_assert(
		lt(dbl, itself,
		   number_at(rift_json("predict --validate '%s:b' --on '%s:a' --json", both, both),
			     "all", "worst")),
		"by a's costs");
}

Test(small_cli_sides, stack_of_one_side)
{
	const json_t *stacks;
	const char *text;

	write_both();
	stacks = json_object_get(rift_json("fit --stack '%s' --json", both), "stacks");
	cr_assert(eq(sz, json_array_size(stacks), 2), "both");
	stacks = json_object_get(rift_json("fit --stack '%s' --side b --json", both), "stacks");
	cr_assert(eq(sz, json_array_size(stacks), 1), "one");
	cr_assert(eq(str, (char *)get_text(json_array_get(stacks, 0), "side"), "b"), "which");
	cr_assert(zero(int, run_rift(OUT, &text, "fit --stack '%s:b' --from '%s:b'", both, both)),
		  "%s", text);
	cr_assert(ne(ptr, strstr(text, "(--from)"), NULL), "%s", text);
	refused(3, "--side", "fit --stack '%s' --from '%s:b'", both, both);
}

Test(small_cli_sides, show_one_side)
{
	const char *text;

	write_both();
	cr_assert(zero(int, run_rift(OUT, &text, "show '%s'", both)), "%s", text);
	cr_assert(tells(text, "side b *side a"), "%s", text);
	for (int i = 0; i < 2; i++) {
		cr_assert(zero(int, run_rift(OUT, &text, i ? "show '%s:b'" : "show '%s' --side b",
					     both)),
			  "%s", text);
		cr_assert(ne(ptr, strstr(text, "side b"), NULL), "%s", text);
		cr_assert(eq(ptr, strstr(text, "side a"), NULL), "%s", text);
		/* Z of side b, at depth 1 */
		cr_assert(ne(ptr, strstr(text, " 0    10.8 us"), NULL), "%s", text);
	}
}

Test(large_cli_sides, plot_one_side_or_two)
{
	const char *text;

	write_both();
	run_rift(OUT, &text, "plot '%s' --side b", both);
	cr_assert(zero(int, shell(&text, "cd '%s' && ls both-b.plots/launch-overhead.gp", dir)),
		  "one side");
	run_rift(OUT, &text, "plot '%s:b' '%s:a' --output '%s/ba'", both, both, dir);
	cr_assert(zero(int, shell(&text, "cd '%s' && grep 'less time' ba/launch-ratio.gp", dir)),
		  "A is b");
	/* two sides of one session, not two sessions */
	cr_assert(zero(int, shell(&text, "cd '%s' && grep 'margin = 2' ba/launch-ratio.gp", dir)),
		  "margin");
	refused(3, "both.jsonl:b", "plot '%s:b' '%s:b'", both, both);
	cr_assert(zero(int, shell(NULL, "ln -s '%s' '%s/same'", both, dir)), "a link");
	refused(3, "/same:b", "plot '%s:b' '%s/same:b'", both, dir);
}

Test(small_cli_sides, compare_takes_sides)
{
	const char *text;
	json_t *o;

	write_both();
	write_one(one);
	cr_assert(eq(int, run_rift(OUT, &text, "compare '%s:a' '%s:b' --json", both, both), 1),
		  "%s", text);
	o = json_loads(text, 0, NULL);
	cr_assert(epsilon_eq(dbl, number_at(o, "terms", "margin"), 0.02, 1e-9),
		  "sides of one session");
	cr_assert(zero(dbl, number_at(o, "terms", "session_sd")), "sides of one session");
	json_decref(o);
	cr_assert(eq(int, run_rift(OUT, &text, "compare '%s:b' '%s:a'", both, both), 0), "%s",
		  text);
	cr_assert(zero(int, strncmp(text, "B is faster", 11)), "%s", text);
	cr_assert(eq(int, run_rift(OUT, &text, "compare '%s' '%s:b'", one, both), 1), "%s", text);
	cr_assert(eq(int, run_rift(OUT, &text, "compare '%s' '%s' --side a --json", one, both), 0),
		  "%s", text);
	cr_assert(eq(int, run_rift(OUT, &text, "compare '%s' --side b --self-test", both), 2), "%s",
		  text);
	cr_assert(eq(ptr, strstr(text, "side a"), NULL), "%s", text);
	refused(3, "--self-test", "compare '%s:b'", both);
	refused(3, "--self-test", "compare '%s:b' '%s:b'", both, both);
}

Test(small_cli_sides, check_writes_the_points_of_one_side)
{
	const char *text;

	write_both();
	cr_assert(zero(int, run_rift(OUT, &text, "show --check '%s' --csv '%s/b.csv' --side b",
				     both, dir)),
		  "%s", text);
	cr_assert(zero(int, shell(&text, "cut -d, -f1 '%s/b.csv' | sort -u | tr '\\n' ' '", dir)),
		  "csv");
	cr_assert(eq(str, (char *)text, "b side "), "%s", text);
	refused(3, "--csv", "show --check '%s' --side b", both);
	write_one(one);
	refused(3, "--against", "show --check '%s' --csv '%s/c.csv' --side b", one, dir);
	cr_assert(ne(int, shell(&text, "ls '%s/c.csv'", dir), 0), "nothing is left");
}

/* ---- what is refused -------------------------------------------------------------------- */

Test(small_cli_sides, a_side_is_not_guessed)
{
	write_both();
	write_one(one);
	refused(3, "--side a", "predict '%s' --on '%s'", both, both);
	refused(3, "--on ", "predict '%s' --on '%s'", one, both);
	refused(3, "--measured ", "predict '%s' --on '%s' --measured '%s'", one, one, both);
	refused(3, "--from ", "predict '%s' --on '%s' --from '%s'", one, one, both);
	refused(3, "--over ", "fit '%s' --over '%s'", one, both);
	refused(3, "--off-grid ", "fit '%s' --off-grid '%s'", one, both);
	refused(3, "--side a", "predict --validate '%s'", both);
	refused(3, "--on ", "predict --validate '%s' --on '%s'", one, both);
	refused(3, "--from ", "fit --stack '%s' --from '%s'", one, both);
	refused(3, "--side a", "plot '%s' '%s'", one, both);
	refused(3, "--side a", "compare '%s' '%s'", one, both);
}

Test(small_cli_sides, a_side_that_is_not_there)
{
	static const char *const commands[] = { "fit",		 "fit --stack",
						"show",		 "plot",
						"compare",	 "predict --validate",
						"predict --on x" };

	write_one(one);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		refused(3, "--side=b: ", "%s '%s' --side b", commands[i], one);
		refused(3, "--against", "%s '%s:b'", commands[i], one);
		refused(3, "--side=c: ", "%s '%s' --side c", commands[i], one);
		refused(3, "--side=a: ", "%s '%s:b' --side a", commands[i], one);
	}
	succeeds("fit '%s:a'%s", one, "");
}

Test(small_cli_sides, a_name_that_ends_like_a_side)
{
	write_one(odd);
	succeeds("show '%s'%s", odd, "");
	succeeds("fit '%s:a'%s", odd, "");
	write_both();
	shell(NULL, "mv '%s' '%s'", both, one);
	refused(3, "side b", "show '%s'", odd);
	succeeds("show '%s:a'%s", odd, "");
	succeeds("show '%s' --side %s", one, "b");
}
