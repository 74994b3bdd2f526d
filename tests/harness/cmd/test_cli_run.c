/*
 * test_cli_run.c - `rift run` of the real binary on a light workload: table, JSON, Ctrl-C.
 * No clock is judged beyond > 0.
 */
/* sanitizers: races seen elsewhere */
#include "tests/test.h"
#include "harness/measure/submit.h"
#include "tests/cli.h"
#include "workloads/workload.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

TestSuite(small_cli_run, .timeout = 300);
TestSuite(large_cli_run, .timeout = 300);

static const json_t *member(const json_t *o, const char *key)
{
	const json_t *value = json_object_get(o, key);

	cr_assert(ne(ptr, (void *)value, NULL), "key '%s' is missing", key);
	return value;
}

static double number(const json_t *o, const char *key)
{
	const json_t *value = member(o, key);

	cr_assert(eq(int, json_is_number(value), 1), "'%s' is no number", key);
	return json_number_value(value);
}

Test(small_cli_run, table_on_stdout_and_nothing_on_stderr)
{
	static const char *const want[] = { "\ndevice ",
					    "\nparameters ",
					    "\nmode ",
					    "\ncheck             passed: ",
					    "\ntime per step ",
					    "\nsubmit per step ",
					    "\nlaunches ",
					    "\nnon-kernel share ",
					    NULL };
	char args[128];

	need_device();
	snprintf(args, sizeof(args), "run %s --depth 4 --samples 5 --verbose", name());
	says(args, want);
}

/* Where steps only copy: what they copy by what they take. */
Test(small_cli_run, steps_that_copy_have_a_rate)
{
	const char *text, *time, *rate;
	double took, gb_s;
	char unit[3];

	need_device();
	cr_assert(zero(int, run_rift(OUT, &text, "run transfer bytes=64k --depth 1 --samples 3")),
		  "%s", text);
	time = strstr(text, "\ntime per step ");
	rate = strstr(text, "\nrate ");
	cr_assert(time && rate, "%s", text);
	cr_assert(eq(int, sscanf(time, " time per step median %lf %2s", &took, unit), 2), "%s",
		  time);
	cr_assert(eq(int, sscanf(rate, " rate %lf GB/s", &gb_s), 1), "%s", rate);
	took *= !strcmp(unit, "ms") ? 1e6 : !strcmp(unit, "us") ? 1e3 : 1;
	cr_assert(epsilon_eq(dbl, gb_s * took / 65536, 1, 0.02), "%g GB/s, %g ns", gb_s, took);
	cr_assert(zero(int, run_rift(OUT, &text, "run %s --depth 4 --samples 3", name())), "%s",
		  text);
	cr_assert(eq(ptr, strstr(text, "\nrate "), NULL), "%s", text);
}

Test(small_cli_run, the_cpu_device_says_that_these_are_not_gpu_figures)
{
	const json_t *o, *device;
	const char *text;
	size_t n;

	need_device();
	o = rift_json("run %s --depth 2 --samples 5 --json", name());
	device = member(o, "device");
	if (!strcmp(get_text(device, "kind"), "cuda"))
		return;
	cr_assert(eq(str, (char *)get_text(device, "kind"), "cpu"), "kind");
	run_rift(ERR, &text, "run %s --depth 2 --samples 5 --json", name());
	cr_assert(eq(str, (char *)text, "CPU device: these are not GPU figures.\n"), "stderr");
	run_rift(ERR, &text, "run %s --depth 2 --samples 5 --json --quiet", name());
	cr_assert(eq(str, (char *)text, ""), "quiet");
	run_rift(OUT, &text, "run %s --depth 2 --samples 5", name());
	n = strlen(text);
	cr_assert(lt(sz, 40, n), "%s", text);
	cr_assert(
		ne(ptr, strstr(text + n - 40, "\nCPU device: these are not GPU figures.\n"), NULL),
		"last line of\n%s", text);
}

static void check_series(const json_t *o, const char *key, double n)
{
	const json_t *series = member(o, key);

	cr_assert(lt(dbl, 0, number(series, "min")), "%s", key);
	cr_assert(le(dbl, number(series, "min"), number(series, "median")), "%s", key);
	cr_assert(eq(dbl, number(series, "n"), n), "%s", key);
}

static void check_raw(const json_t *blocks, const char *key, size_t n)
{
	const json_t *value;
	size_t i;

	cr_assert(eq(sz, json_array_size(member(blocks, key)), n), "%s", key);
	json_array_foreach(member(blocks, key), i, value)
		cr_assert(lt(i64, 0, json_integer_value(value)), "%s[%zu]", key, i);
}

Test(small_cli_run, json_has_every_key_with_a_sane_value)
{
	static const char *const keys[] = { "platform",	 "params",	     "evaluation_ns",
					    "kernel_ns", "non_kernel_share", "cost",
					    "report",	 "warmup",	     "meaning",
					    "startup" };
	const json_t *o, *check;

	need_device();
	o = rift_json("run %s --depth 6 --samples 5 --json", name());
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		member(o, keys[i]);
	cr_assert(eq(str, (char *)get_text(o, "workload"), (char *)name()), "workload");
	cr_assert(eq(dbl, number(o, "depth"), 6), "depth");
	cr_assert(eq(dbl, number(o, "steps"), 30), "steps");
	cr_assert(lt(dbl, 0, number(o, "launches_per_step")), "launches");
	cr_assert(lt(sz, 0, strlen(get_text(o, "kernel_ns_source"))), "source");
	cr_assert(lt(sz, 0, strlen(get_text(member(o, "device"), "name"))), "device");
	cr_assert(le(dbl, 0, number(member(o, "startup"), "start_ns")), "start");
	cr_assert(lt(dbl, 0, number(member(o, "startup"), "setup_ns")), "set-up");
	cr_assert(lt(dbl, 0, number(member(o, "startup"), "block_ns")), "first block");
	check = member(o, "check");
	cr_assert(eq(int, json_is_true(member(check, "passed")), 1), "passed");
	cr_assert(le(dbl, number(check, "error"), number(check, "tolerance")), "error");
	cr_assert(lt(dbl, 0, number(check, "share")), "share");
	cr_assert(le(dbl, number(check, "compared"), number(check, "total")), "compared");
	cr_assert(le(dbl, 6, number(check, "steps")), "steps checked");
	cr_assert(lt(sz, 0, strlen(get_text(check, "measure"))), "measure");
	check_series(o, "step_ns", 5);
	check_series(o, "submit_ns", 5);
	check_raw(member(o, "blocks"), "t_enq_ns", 5);
	check_raw(member(o, "blocks"), "t_total_ns", 5);
}

Test(small_cli_run, json_counts_calls_of_a_step)
{
	const json_t *cost;

	need_device();
	cost = member(rift_json("run transfer --depth 2 --samples 2 --json --quiet"), "cost");
	cr_assert(eq(dbl, number(cost, "copies"), 1), "copies");
	cr_assert(eq(dbl, number(cost, "allocations"), 0), "allocations");
	cost = member(rift_json("run memory --depth 2 --samples 2 --json --quiet"), "cost");
	cr_assert(eq(dbl, number(cost, "copies"), 0), "copies");
	cr_assert(eq(dbl, number(cost, "allocations"), 2), "allocations");
}

/* Behind a layer whose waits take long two short blocks take equally long. */
Test(small_cli_run, kernels_are_timed_behind_a_wait_that_takes_long)
{
	const json_t *o;

	need_device();
	setenv("RIFT_CPU_SYNC_NS", "10000000", 1);
	o = rift_json("run launch us=5 --depth 1 --samples 3 --json --quiet");
	cr_assert(lt(dbl, 1, number(o, "kernel_steps")), "made longer");
	cr_assert(lt(dbl, 0, number(o, "kernel_ns")), "known");
}

Test(small_cli_run, json_params_are_typed_and_what_was_given)
{
	const char *axis_name = get_text(axis(), "name");
	const json_t *o, *params;

	need_device();
	o = rift_json("run %s %s=2 --depth 1 --samples 5 --json", name(), axis_name);
	params = member(o, "params");
	cr_assert(eq(int, json_is_integer(member(params, axis_name)), 1), "%s", axis_name);
	cr_assert(eq(dbl, number(params, axis_name), 2), "%s", axis_name);
}

Test(small_cli_run, every_mode_that_is_allowed_runs_and_passes)
{
	const char *mode;
	const json_t *modes, *state, *o, *graph_steps;
	char says[64];

	need_device();
	modes = member(json_array_get(member(rift_json("list %s --json", name()), "workloads"), 0),
		       "modes");
	json_object_foreach((json_t *)modes, mode, state)
	{
		if (!json_is_true(member(state, "allowed"))) {
			snprintf(says, sizeof(says), "--mode=%s: ", mode);
			refused(3, says, "run %s --mode %s", name(), mode);
			continue;
		}
		o = rift_json("run %s --mode %s --depth 5 --samples 5 --json", name(), mode);
		cr_assert(eq(str, (char *)get_text(o, "mode"), (char *)mode), "mode");
		graph_steps = member(o, "graph_steps");
		if (!strcmp(mode, "graph"))
			cr_assert(le(dbl, 1, json_number_value(graph_steps)), "graph_steps");
		else
			cr_assert(eq(int, json_is_null(graph_steps), 1), "graph_steps");
	}
}

Test(small_cli_run, every_way_to_wait_runs_and_is_told)
{
	need_device();
	for (int i = 0; sync_names[i]; i++) {
		const json_t *o = rift_json("run %s --sync %s --depth 3 --samples 5 --json", name(),
					    sync_names[i]);

		cr_assert(eq(str, (char *)get_text(o, "sync"), (char *)sync_names[i]), "sync");
		cr_assert(eq(int, json_is_true(member(member(o, "check"), "passed")), 1), "%s",
			  sync_names[i]);
	}
}

/* How many workloads say that their files are missing, each given so long. */
static int count_missing(double limit_s)
{
	const char *text;
	int found = 0;

	for (const struct workload *const *w = workloads; *w; w++) {
		int code = shell(&text,
				 "RIFT_HOME=/nowhere timeout -s KILL %g '%s' run %s --depth 1 "
				 "--samples 1 2>&1 >/dev/null",
				 limit_s, rift(), (*w)->name);

		if (!code || code == 128 + SIGKILL)
			continue; /* a workload that needs none: done, or still at it */
		cr_assert(eq(int, code, 3), "%s: %s", (*w)->name, text);
		cr_assert(is_one_complaint(text), "%s: %s", (*w)->name, text);
		cr_assert(ne(ptr, strstr(text, "/nowhere"), NULL), "%s: %s", (*w)->name, text);
		found++;
	}
	return found;
}

/*
 * A long test: every workload runs, and one of them draws its images first. On a busy GPU a context
 * alone takes longer than the first limit, and none comes as far as its files.
 */
Test(large_cli_run, missing_data_files_are_one_line)
{
	int found = 0;

	need_device();
	for (double limit_s = 0.4; !found && limit_s < 10; limit_s *= 4)
		found = count_missing(limit_s);
	cr_assert(lt(int, 0, found), "no workload misses its files");
}

/* Starts rift with a run that would take hours; its stderr goes to a file. */
static pid_t start_long_run(const char *err_file)
{
	char *argv[] = { (char *)rift(), "run", (char *)name(), "--depth", "8", "--samples",
			 "1000000",	 NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t heeded;
	pid_t pid;

	/* ignored where a script started this in the background */
	sigemptyset(&heeded);
	sigaddset(&heeded, SIGINT);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigdefault(&attr, &heeded);

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, err_file,
					 O_WRONLY | O_CREAT | O_TRUNC, 0600);
	cr_assert(zero(int, posix_spawn(&pid, rift(), &files, &attr, argv, environ)), "spawn");
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return pid;
}

Test(small_cli_run, control_c_ends_in_order_with_75)
{
	char file[] = "/tmp/rift_test_XXXXXX", line[256] = "";
	int fd, status;
	FILE *err;
	pid_t pid;

	need_device();
	fd = mkstemp(file);
	cr_assert(le(int, 0, fd), "%s", file);
	pid = start_long_run(file);
	usleep(500000); /* well after the handler is in place, at the start */
	kill(pid, SIGINT);
	cr_assert(eq(int, waitpid(pid, &status, 0), pid), "wait");
	err = fdopen(fd, "r");
	cr_assert(lt(sz, 0, fread(line, 1, sizeof(line) - 1, err)), "stderr");
	fclose(err);
	unlink(file);
	cr_assert(eq(int, WIFEXITED(status), 1), "status %d", status);
	cr_assert(eq(int, WEXITSTATUS(status), 75), "%s", line);
	cr_assert(is_one_complaint(line), "%s", line);
	cr_assert(ne(ptr, strstr(line, "interrupted after "), NULL), "%s", line);
}

Test(small_cli_run, without_a_device_it_is_4_and_one_line)
{
	bool cpu = !strcmp(get_text(rift_json("list --json"), "build"), "CPU device");
	const char *text;

	/* hides every GPU; the CPU device takes notice where it is told how many it is */
	cr_assert(eq(int,
		     shell(&text, "RIFT_CPU_DEVICES=1 CUDA_VISIBLE_DEVICES=-1 '%s' run %s 2>&1",
			   rift(), name()),
		     4),
		  "%s", text);
	cr_assert(is_one_complaint(text), "%s", text);
	cr_assert(tells(text, "CUDA_VISIBLE_DEVICES *-1"), "%s", text);
	if (!cpu)
		cr_assert(ne(ptr, strstr(text, "make DEVICE=cpu"), NULL), "%s", text);
}

/* Each option sets what it is called, and nothing else; figures that are counted, not timed. */
Test(small_cli_run, every_option_sets_its_own)
{
	const json_t *o, *check, *blocks;

	need_device();
	o = rift_json("run launch --mode graph --depth 3 --samples 7 --check full --check-steps 5 "
		      "--sync poll --platform here --json");
	check = member(o, "check");
	blocks = member(o, "blocks");
	cr_assert(eq(str, (char *)get_text(o, "mode"), "graph"), "--mode");
	cr_assert(eq(str, (char *)get_text(o, "sync"), "poll"), "--sync");
	cr_assert(eq(dbl, number(o, "depth"), 3), "--depth");
	cr_assert(eq(dbl, number(blocks, "n"), 7), "--samples");
	cr_assert(eq(sz, json_array_size(member(blocks, "t_total_ns")), 7), "--samples");
	cr_assert(eq(dbl, number(check, "steps"), 5), "--check-steps");
	cr_assert(eq(int, json_typeof(member(check, "full")), JSON_TRUE), "--check");
	cr_assert(eq(int, json_typeof(member(check, "passed")), JSON_TRUE), "check");
	cr_assert(eq(dbl, number(o, "graph_steps"), 2), "a graph of 2 and a rest of 1");
	cr_assert(eq(dbl, number(o, "graph_rest_steps"), 1), "a graph of 2 and a rest of 1");
	cr_assert(eq(dbl, number(o, "steps"), 21), "7 blocks of 3");
	cr_assert(eq(dbl, number(o, "launches_per_step"), 1), "launches");
	o = rift_json("run launch --depth 3 --samples 5 --check sample --json");
	cr_assert(eq(int, json_typeof(member(member(o, "check"), "full")), JSON_FALSE), "sample");
	cr_assert(eq(str, (char *)get_text(o, "mode"), "stream"), "default");
}
