/*
 * test_cli_fit.c - `rift fit` and `rift predict` as a user meets them: tables and JSON. What they
 * refuse is in test_cli_fit_refused.c.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "tests/cli.h"
#include "tests/fake_session.h"
#include "tests/fit_files.h"

#include "harness/base/json.h"

TestSuite(small_cli_fit, .init = make_dir, .fini = remove_dir, .timeout = 300);
TestSuite(large_cli_fit, .init = make_dir, .fini = remove_dir, .timeout = 300);

/* ---- tables ----------------------------------------------------------------------------- */

Test(small_cli_fit, a_table)
{
	struct fake_session s = quick_session();
	const char *text;

	fake_session_write(&s, file);
	cr_assert(zero(int, run_rift(OUT, &text, "fit '%s'", file)), "%s", text);
	says_all(text,
		 (const char *[]){ "launch, made-up GPU, side a, n = 5 processes",
				   "us 0 to 1000; depth 1 to 4096", "\n  Z    5.", "\n  p    2.",
				   "\n  W    not identified: ", "p is ", "held out", "device-bound",
				   "accepted", "diagnostics: none", " K by depth, stream mode",
				   " depth by K, graph mode", "never", " K *5 % ", NULL });
	cr_assert(eq(ptr, strstr(text, "nan"), NULL), "%s", text);
	cr_assert(eq(ptr, strstr(text, "not GPU figures"), NULL), "%s", text);
	/* Z / 5 % of streams: 5.8 us / 0.05 */
	cr_assert(zero(int, strncmp(text, "Kernels need 11", 15)), "%s", text);
	cr_assert(tells(text,
			"Kernels need 11* us (11* us to 1* us) for 5 % overhead if the program "
			"waits for each one, and * us (*) if it waits once per 16; as graphs * us "
			"(*) and * us (*); 95 % intervals, n = 5\n"),
		  "%s", text);
}

Test(small_cli_fit, one_process_is_one)
{
	struct fake_session s = quick_session();
	const char *text;

	s.processes = 1;
	fake_session_write(&s, file);
	run_rift(OUT, &text, "fit '%s'", file);
	cr_expect(ne(ptr, strstr(text, "side a, n = 1 process\n"), NULL), "%s", text);
	run_rift(OUT, &text, "predict '%s' --on '%s'", file, file);
	cr_expect(ne(ptr, strstr(text, "n = 1 process, side a"), NULL), "%s", text);
}

/* A short sweep of an H200 under a layer that adds 5 us to each launch: a pace, and no gap. */
Test(small_cli_fit, kernels_that_were_swept_one_at_a_time)
{
	const json_t *side, *p, *g;

	side = json_array_get(json_object_get(rift_json("fit data/traces/h200-predict-first/"
							"emulate-call-5.jsonl.gz:b --json"),
					      "sides"),
			      0);
	p = json_object_get(json_object_get(side, "parameters"), "p_ns");
	g = json_object_get(json_object_get(side, "parameters"), "g_ns");
	cr_expect(epsilon_eq(dbl, json_get_number(p, "value"), 9730, 100), "%g",
		  json_get_number(p, "value"));
	cr_expect(eq(int, json_is_false(json_object_get(g, "identified")), 1), "g");
	cr_expect(ne(ptr, strstr(json_get_text(g, "why_not"), "in larger batches"), NULL), "%s",
		  json_get_text(g, "why_not"));
}

Test(large_cli_fit, two_sides)
{
	struct fake_session s = small_session();
	const char *text;

	s.sides = 2;
	s.model[1].v[MODEL_Z] = 26000;
	s.model[1].v[MODEL_P] = s.model[1].v[MODEL_C] = 6300;
	fake_session_write(&s, file);
	cr_assert(zero(int, run_rift(OUT, &text, "fit '%s'", file)), "%s", text);
	says_all(text, (const char *[]){ "side a, n", "side b, n", "made-up GPU (elsewhere)",
					 " over side a ", "\n  Z    26.", NULL });
	cr_assert(zero(int, run_rift(OUT, &text, "fit '%s' --side b", file)), "%s", text);
	cr_assert(eq(ptr, strstr(text, "side a"), NULL), "%s", text);
}

Test(small_cli_fit, over_another_platform_and_off_the_grid)
{
	struct fake_session s = small_session();
	char third[64];
	const char *text;

	fake_session_write(&s, other);
	s.model[0].v[MODEL_Z] = 26000;
	s.device[0] = "slow GPU";
	s.seed = 2;
	fake_session_write(&s, file);
	s.size = "3,30";
	s.seed = 3;
	snprintf(third, sizeof(third), "%s/third.jsonl", dir);
	fake_session_write(&s, third);
	cr_assert(zero(int, run_rift(OUT, &text, "fit '%s' --over '%s' --off-grid '%s'", file,
				     other, third)),
		  "%s", text);
	says_all(text, (const char *[]){ "slow GPU, side a", " over made-up GPU ",
					 "off the grid, |error|", NULL });
}

Test(small_cli_fit, a_session_is_not_held_against_itself)
{
	struct fake_session s = quick_session();
	const char *text;

	s.size = "0,2,20";
	s.depth = "1,16,64";
	s.sides = 2;
	fake_session_write(&s, file);
	shell(NULL, "cp '%s' '%s'", file, other);
	refused(3, "--over=", "fit '%s' --over '%s:a'", file, file);
	refused(3, "--over=", "fit '%s' --over '%s:a' --side a", file, other);
	refused(3, "--over=", "fit '%s:b' --over '%s:b'", file, other);
	refused(3, "--off-grid=", "fit '%s:a' --off-grid '%s:a'", file, other);
	refused(5, "NVIDIA H200", "fit '%s:a' --off-grid data/sessions/h200-launch.jsonl", file);
	cr_assert(zero(int, run_rift(OUT, &text, "fit '%s' --side b --over '%s:a'", file, other)),
		  "b over a: %s", text);
}

/* ---- JSON ------------------------------------------------------------------------------- */

static const json_t *at(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	cr_assert(ne(ptr, (void *)(uintptr_t)v, NULL), "%s", key);
	return v;
}

static bool is_null(const json_t *o, const char *key)
{
	return json_is_null(at(o, key));
}

static bool is_true(const json_t *o, const char *key)
{
	return json_is_true(at(o, key));
}

Test(small_cli_fit, json)
{
	struct fake_session s = quick_session();
	const json_t *side, *z, *w, *row;

	fake_session_write(&s, file);
	side = json_array_get(at(rift_json("fit '%s' --json", file), "sides"), 0);
	z = at(at(side, "parameters"), "z_ns");
	cr_assert(epsilon_eq(dbl, json_number_value(at(z, "value")), 5800, 150), "Z");
	cr_assert(lt(dbl, json_number_value(at(z, "lo")), json_number_value(at(z, "hi"))), "Z");
	cr_assert(is_true(z, "identified"), "Z");
	w = at(at(side, "parameters"), "w_ns");
	cr_assert(is_null(w, "value") && !is_true(w, "identified"), "W");
	cr_assert(not(is_null(w, "why_not")), "W");
	cr_assert(is_true(at(side, "held_out"), "accepted"), "held out");
	cr_assert(eq(sz, json_array_size(at(side, "diagnostics")), 0), "none");
	row = json_array_get(at(at(side, "answers"), "smallest_kernel"), 1);
	cr_assert(epsilon_eq(dbl, json_number_value(at(row, "overhead")), 0.05, 1e-9), "5 %%");
	cr_assert(epsilon_eq(dbl, json_number_value(at(at(row, "over_ideal_ns"), "value")), 116000,
			     4000),
		  "Z / 0.05 at depth 1");
}

/* ---- predict ---------------------------------------------------------------------------- */

Test(large_cli_fit, predict)
{
	struct fake_session s = small_session();
	const char *text;
	const json_t *o;

	fake_session_write(&s, other);
	s.model[0].v[MODEL_Z] = 26000;
	s.device[0] = "slow GPU";
	s.seed = 2;
	fake_session_write(&s, file);
	cr_assert(zero(int, run_rift(OUT, &text, "predict '%s' --on '%s' --measured '%s'", other,
				     file, file)),
		  "%s", text);
	says_all(text, (const char *[]){ "launch, * A, made-up GPU, * B, slow GPU",
					 "|error| median 0.", NULL });
	o = rift_json("predict '%s' --on '%s' --json", other, file);
	cr_assert(is_null(json_array_get(at(o, "blocks"), 0), "b_measured_ns"), "B");
	refused(3, "--on SESSION", "predict '%s'", file);
	refused(3, "No such file", "predict '%s' --on '%s.no'", file, file);
	s.workload = "myocyte";
	s.size = "1,32,256";
	s.mode = "stream,graph";
	shell(NULL, "rm '%s'", other);
	fake_session_write(&s, other);
	refused(5, "--measured=", "predict '%s' --on '%s' --measured '%s'", file, file, other);
	refused(5, "--over=", "fit '%s' --over '%s'", file, other);
	cr_assert(zero(int, run_rift(OUT, &text, "predict '%s' --on '%s'", other, file)), "%s",
		  text);
	says_all(text, (const char *[]){ " A's gap *(--from ", NULL });
}

/* Kernels last as long on both: of two models that is not known. */
Test(small_cli_fit, prices_of_another_device_deserve_low_confidence)
{
	struct fake_session s = quick_session();
	const char *text;

	fake_session_write(&s, other);
	s.device[0] = "slow GPU";
	fake_session_write(&s, file);
	cr_assert(zero(int, run_rift(OUT, &text, "predict '%s' --on '%s'", other, file)), "%s",
		  text);
	cr_expect(tells(text, "confidence * low*made-up GPU*the costs are of slow GPU"), "%s",
		  text);
	cr_expect(eq(str,
		     (char *)get_text(rift_json("predict '%s' --on '%s' --json", other, file),
				      "other_device"),
		     "slow GPU"));
	/* also where A's launches alone are of another model; not where all are of one */
	run_rift(OUT, &text, "predict '%s' --on '%s'", file, file);
	cr_expect(eq(ptr, strstr(text, "confidence"), NULL), "%s", text);
	cr_expect(eq(ptr,
		     json_object_get(rift_json("predict '%s' --on '%s' --json", file, file),
				     "other_device"),
		     NULL));
	cr_expect(eq(str,
		     (char *)get_text(rift_json("predict '%s' --on '%s' --from '%s' --json", other,
						other, file),
				      "other_device"),
		     "slow GPU"));
}
