/*
 * test_cli_fit_refused.c - `rift fit` and `rift predict`: help, usage, and one line for each kind
 * of file that is no session to fit.
 */
/* sanitizers: one thread */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "tests/cli.h"
#include "tests/fake_session.h"
#include "tests/fit_files.h"

TestSuite(small_cli_fit_refused, .init = make_dir, .fini = remove_dir, .timeout = 300);

Test(small_cli_fit_refused, help_and_usage)
{
	const char *text;

	cr_assert(zero(int, run_rift(OUT, &text, "fit --help")), "help");
	says_all(text, (const char *[]){ "--off-grid", "--over", "Exit codes", NULL });
	cr_assert(zero(int, run_rift(OUT, &text, "help predict")), "help");
	says_all(text, (const char *[]){ "--measured", "--from", NULL });
	cr_assert(zero(int, run_rift(OUT, &text, "help")), "help");
	says_all(text, (const char *[]){ "rift fit ", "rift predict ", NULL });
	refused(3, "rift fit", "fit");
	refused(3, "'b'", "fit a b");
	refused(3, "--side=c: ", "fit x --side c");
	refused(3, "'--off-grid'", "fit x --off-gird y");
	refused(3, "No such file", "fit '%s'", file);
	refused(3, "Is a directory", "fit '%s'", dir);
}

Test(small_cli_fit_refused, files_that_are_no_sessions)
{
	shell(NULL, ": >'%s'", file);
	refused(3, file, "fit '%s'", file);
	shell(NULL, "echo 'us,depth' >'%s'; echo '1,2' >>'%s'", file, file);
	refused(3, "jsonl:1:", "fit '%s'", file);
	shell(NULL, "echo '{\"version\":\"0.1\"}' >'%s'", file);
	refused(3, file, "fit '%s'", file);
	shell(NULL, "echo '{\"schema\":\"1.0\",\"record\":\"visit\"}' >'%s'", file);
	refused(3, "", "fit '%s'", file);
	shell(NULL, "head -c 3000 /dev/zero >'%s'", file);
	refused(3, "", "fit '%s'", file);
}

Test(small_cli_fit_refused, sessions_that_are_not_whole)
{
	struct fake_session s = quick_session();

	s.mode = "stream";
	fake_session_write(&s, file);
	shell(NULL, "head -c 20000 '%s' >'%s'", file, other);
	refused(3, other, "fit '%s'", other);
	shell(NULL, "head -n 60 '%s' >'%s'", file, other);
	refused(3, "1 *5", "fit '%s'", other);
	refused(3, "1 *5", "predict '%s' --on '%s'", file, other);
	shell(NULL, "sed '5s/t_total_ns/t_totul_ns/' '%s' >'%s'", file, other);
	refused(3, ":5: ", "fit '%s'", other);
	shell(NULL, "sed '$s/\"schema\":/\"skema\":/; 3s/{/{\"schema\":\"3.0\",/' '%s' >'%s'", file,
	      other);
	refused(3, ":3: schema 3.0", "fit '%s'", other);
	shell(NULL, "rm '%s'", file);
	s.done = 3;
	fake_session_write(&s, file);
	refused(3, "3 *5", "fit '%s.part'", file);
	refused(3, "No such file", "fit '%s'", file);
}

Test(small_cli_fit_refused, one_point_is_no_fit)
{
	struct fake_session s = quick_session();

	s.mode = "stream";
	s.size = "0";
	s.depth = "16";
	fake_session_write(&s, file);
	refused(3, "launch", "fit '%s'", file);
}

/* The same session as if another rift had swept a workload of its own. */
static void rename_workload(const char *from, const char *to)
{
	FILE *in = fopen(from, "r"), *out = fopen(to, "w");
	char plan_hash[HASH_TEXT] = "", lines_hash[HASH_TEXT], *line = NULL;
	struct hash all;
	size_t size = 0;

	hash_start(&all);
	while (getline(&line, &size, in) > 0) {
		json_t *o = json_loads(line, 0, NULL), *plan = json_object_get(o, "plan"), *config;
		char *text;
		size_t i;

		json_array_foreach(json_object_get(plan, "configs"), i, config)
			json_object_set_new(config, "workload", json_string("xyzzy"));
		if (plan)
			hash_json(plan, plan_hash);
		if (json_object_get(o, "plan_sha256"))
			json_object_set_new(o, "plan_sha256", json_string(plan_hash));
		hash_text(&all, lines_hash);
		if (json_object_get(o, "lines_sha256"))
			json_object_set_new(o, "lines_sha256", json_string(lines_hash));
		text = json_dumps(o, JSON_COMPACT);
		fprintf(out, "%s\n", text);
		hash_add(&all, text, strlen(text));
		hash_add(&all, "\n", 1);
		free(text);
		json_decref(o);
	}
	free(line);
	fclose(in);
	fclose(out);
}

Test(small_cli_fit_refused, a_workload_that_is_not_built_in)
{
	struct fake_session s = quick_session();
	const char *text;

	s.mode = "stream";
	fake_session_write(&s, file);
	rename_workload(file, other);
	cr_assert(zero(int, run_rift(OUT, &text, "show --check '%s'", other)), "valid as such: %s",
		  text);
	refused(3, "'xyzzy'", "fit '%s'", other);
	refused(3, "'launch'", "fit '%s' --workload lunch", file);
}
