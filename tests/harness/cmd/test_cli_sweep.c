/*
 * test_cli_sweep.c - `rift sweep` and `rift show --check` of the real binary on a light workload:
 * plan, record, CSV, resume. Small plans; no clock is judged.
 */
/* sanitizers: races seen elsewhere */
#include "tests/test.h"
#include "tests/cli.h"
#include "tests/folder.h"
#include "tests/on_cpu.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

TEST_FOLDER(dir);
static char file[64], part[80];

static void prepare(void)
{
	make_dir();
	snprintf(file, sizeof(file), "%s/s.jsonl", dir);
	snprintf(part, sizeof(part), "%s.part", file);
}

TestSuite(small_cli_sweep, .init = prepare, .fini = remove_dir, .timeout = 240);

/* Four points. */
static const char *session_plan(int processes)
{
	static char text[256];

	snprintf(text, sizeof(text),
		 "sweep %s --size 1,2 --depth 1,4 --mode stream --quick --processes %d --rounds 2 "
		 "--seed 5 --warm-up 0.01",
		 name(), processes);
	return text;
}

static const char *small_plan(void)
{
	return session_plan(2);
}

static int count_lines(const char *kind)
{
	const char *text;

	shell(&text, "cat '%s' '%s' 2>/dev/null | grep -c '^{\"record\":\"%s\"'", file, part, kind);
	return atoi(text);
}

static void sweep(void)
{
	const char *text;

	need_device();
	cr_assert(zero(int, run_rift(OUT, &text, "%s --output '%s'", small_plan(), file)), "%s",
		  text);
	cr_assert(tells(text, " of 4 results "), "%s", text);
	cr_assert(ne(ptr, strstr(text, "\npredicted "), NULL), "%s", text);
	cr_assert(ne(ptr, strstr(text, " s, took "), NULL), "%s", text);
}

Test(small_cli_sweep, a_dry_run_measures_nothing)
{
	const char *text;

	need_device();
	cr_assert(zero(int, run_rift(OUT, &text, "%s --dry-run --output '%s'", small_plan(), file)),
		  "dry run");
	cr_assert(ne(ptr, strstr(text, "2 processes, 2 rounds of 4 points, seed 5"), NULL), "%s",
		  text);
	cr_assert(ne(ptr, strstr(text, "predicted"), NULL), "%s", text);
	cr_assert(
		zero(int, run_rift(OUT, &text,
				   "sweep %s --size 1 --depth 1 --mode stream --dry-run", name())),
		"a full one");
	cr_assert(ne(ptr, strstr(text, "full: 5 to 30 processes, 5 rounds of 1 point"), NULL), "%s",
		  text);
	cr_assert(ne(int, access(file, F_OK), 0), "no file");
	cr_assert(ne(int, access(part, F_OK), 0), "no file");
}

Test(small_cli_sweep, a_sweep_leaves_one_valid_record)
{
	const char *text;

	sweep();
	cr_assert(eq(int, count_lines("plan"), 1), "plan");
	/* --warm-up 0.01; a quick design has 0.3 s at least without it */
	shell(&text, "grep -c '\"warmup_min_ns\":10000000,\"warmup_max_ns\":10000000,' '%s'", file);
	cr_assert(eq(int, atoi(text), 1), "warm-up of the plan");
	cr_assert(eq(int, count_lines("header"), 2), "a process each");
	cr_assert(eq(int, count_lines("point"), 8), "4 points x 2 processes");
	cr_assert(eq(int, count_lines("trailer"), 2), "a process each");
	shell(&text, "grep -c '\"process_index\":0,.*\"rounds\":\\[0[],]' '%s'", file);
	cr_assert(eq(int, atoi(text), 4), "the first process checks all in its first round");
	shell(&text, "ls '%s'", dir);
	cr_assert(eq(str, (char *)text, "s.jsonl\n"), "%s", text);
	cr_assert(zero(int, run_rift(OUT, &text, "show --check '%s'", file)), "check");
	cr_assert(tells(text, "2 of 2 *8 points ok, 0 "), "%s", text);
	cr_assert(eq(int, run_rift(ERR, &text, "show --check '%s' --ratios '%s/r.csv'", file, dir),
		     3),
		  "one side");
	cr_assert(tells(text, "--ratios*--against"), "%s", text);
	refused(3, "--output", "%s --output '%s'", small_plan(), file);
	refused(3, ".part", "sweep --resume '%s'", file);
}

/* What is left of a record after a crash: n lines and half a one. */
static void cut(int n)
{
	shell(NULL, "{ head -n %d '%s'; sed -n '%dp' '%s' | head -c 40; } >'%s' && rm '%s'", n,
	      file, n + 1, file, part, file);
}

/* The plan holds what a step of each configuration takes, and a block of each point. */
Test(small_cli_sweep, all_are_timed_before_a_session)
{
	const char *text;

	need_device();
	cr_assert(zero(int, run_rift(OUT, &text, "%s --output '%s'", small_plan(), file)), "%s",
		  text);
	shell(&text, "head -n 1 '%s' | grep -o '\"step_ns\":[0-9]' | wc -l", file);
	cr_assert(eq(int, atoi(text), 2), "two sizes: %s", text);
	shell(&text, "head -n 1 '%s' | grep -o '\"block_ns\":[0-9]' | wc -l", file);
	cr_assert(eq(int, atoi(text), 4), "four points: %s", text);
}

Test(small_cli_sweep, resume_completes_what_is_missing)
{
	const char *text;

	sweep();
	cut(8); /* plan; header, 4 points, trailer; header */
	cr_assert(zero(int, run_rift(OUT, &text, "show --check '%s'", part)), "valid");
	cr_assert(tells(text, "1 of 2 *torn"), "%s", text);
	cr_assert(zero(int, run_rift(ERR, &text, "sweep --resume '%s'", file)), "%s", text);
	cr_assert(tells(text, "torn"), "%s", text);
	cr_assert(eq(int, count_lines("point"), 8), "no point lost, none twice");
	cr_assert(eq(int, count_lines("trailer"), 2), "complete");
	cr_assert(zero(int, run_rift(OUT, &text, "show --check '%s'", file)), "valid");
	cr_assert(ne(ptr, strstr(text, "8 points ok"), NULL), "%s", text);
}

Test(small_cli_sweep, resume_goes_on_with_parameters_of_one_workload)
{
	const char *text;

	need_device();
	cr_assert(
		zero(int,
		     run_rift(
			     ERR, &text,
			     "sweep launch transfer transfer.bytes=4,8 launch.us=1 --depth 1 "
			     "--mode "
			     "stream --quick --processes 1 --rounds 1 --warm-up 0.01 --output '%s'",
			     file)),
		"%s", text);
	cr_assert(eq(int, count_lines("point"), 3), "launch, transfer twice");
	cut(3); /* plan; header, a point */
	cr_assert(zero(int, run_rift(ERR, &text, "sweep --resume '%s'", file)), "%s", text);
	cr_assert(zero(int, run_rift(OUT, &text, "show --check '%s'", file)), "valid");
	cr_assert(ne(ptr, strstr(text, "3 points ok"), NULL), "%s", text);
}

Test(small_cli_sweep, two_platforms_in_turn)
{
	const char *text;

	need_device();
	cr_assert(zero(int, run_rift(ERR, &text, "%s --output '%s' --against 'env CUDA_X=\"a b\"'",
				     small_plan(), file)),
		  "%s", text);
	/* the first of each process: a worker that is lost on a busy device has another one */
	shell(&text,
	      "sed -n 's/^{\"record\":\"header\",\"side\":\"\\(.\\)\".*\"attempt\":0,.*/\\1/p' "
	      "'%s' | paste -sd '\\0\\n' | sed s/ba/ab/",
	      file);
	cr_assert(eq(str, (char *)text, "ab\nab\n"), "two pairs, whose sides start at once: %s",
		  text);
	shell(&text, "grep -c '\"CUDA_X\":\"a b\"' '%s'", file);
	cr_assert(eq(int, atoi(text), 2), "side b was started behind the command");
	cr_assert(
		zero(int, run_rift(OUT, &text, "show --check '%s' --ratios '%s/r.csv'", file, dir)),
		"ratios");
	shell(&text, "wc -l <'%s/r.csv'", dir);
	cr_assert(eq(int, atoi(text), 5), "names and 4 points: %s", text);
}

/* 0.3 s of the command of side b are part of every start there. */
Test(small_cli_sweep, what_a_process_takes_to_start_is_kept)
{
	const char *text;
	int n = 0;

	need_device();
	cr_assert(zero(int, run_rift(ERR, &text,
				     "%s --output '%s' --against 'sh -c \"sleep 0.3; exec "
				     "\\\"\\$@\\\"\" sh'",
				     small_plan(), file)),
		  "%s", text);
	shell(&text,
	      "sed -n "
	      "'s/^{\"record\":\"header\",\"side\":\"b\".*\"process_ns\":\\([^,]*\\),.*/\\1/p' "
	      "'%s'",
	      file);
	for (char *at = (char *)text; *at; n++) {
		double ns = strtod(at, &at);

		cr_assert(le(dbl, 0.3e9, ns), "%g ns: %s", ns, text);
		at += strspn(at, "\n");
	}
	cr_assert(le(int, 2, n), "two processes: %s", text);
}

Test(small_cli_sweep, a_command_that_cannot_start_is_said)
{
	const char *text;

	need_device();
	cr_assert(eq(int,
		     run_rift(ERR, &text, "%s --output '%s' --against /nonexistent/xyzzy",
			      small_plan(), file),
		     3),
		  "%s", text);
	cr_assert(tells(text, "--against: '/nonexistent/xyzzy' * 127 "), "%s", text);
	cr_assert(eq(ptr, strstr(text, "process 1"), NULL), "before anything is timed: %s", text);
	/* JSON is not enough: a worker says hello */
	refused(3, "'sh -c \"echo {}\"' * 0 ", "%s --output '%s' --against 'sh -c \"echo {}\"'",
		small_plan(), file);
}

/* As with a container's root that is read-only. */
Test(small_cli_sweep, a_folder_that_cannot_be_made_is_named_with_the_reason)
{
	const char *text;

	need_device();
	cr_assert(eq(int, shell(&text, "cd /proc && '%s' %s 2>&1 >/dev/null", rift(), small_plan()),
		     3),
		  "%s", text);
	cr_assert(ne(ptr, strstr(text, "rift: cannot make the folder results here: "), NULL), "%s",
		  text);
}

Test(small_cli_sweep, a_full_disk_loses_nothing_that_was_written)
{
	const char *text;
	int points;

	need_device();
	/* blocks of 512 or 1024 bytes: not all of it fits */
	cr_assert(eq(int,
		     shell(&text, "ulimit -f 16; '%s' %s --output '%s' 2>&1 >/dev/null", rift(),
			   small_plan(), file),
		     3),
		  "%s", text);
	cr_assert(ne(ptr, strstr(text, "cannot write"), NULL), "%s", text);
	points = count_lines("point");
	cr_assert(zero(int, run_rift(OUT, &text, "show --check '%s'", part)), "valid");
	cr_assert(zero(int, run_rift(ERR, &text, "sweep --resume '%s'", file)), "%s", text);
	cr_assert(le(int, points, count_lines("point")), "none lost");
	cr_assert(eq(int, count_lines("point"), 8), "all");
}

static pid_t start(const char *err_file)
{
	char command[512];
	char *argv[] = { "sh", "-c", command, NULL };
	posix_spawn_file_actions_t files;
	pid_t pid;

	snprintf(command, sizeof(command),
		 "exec '%s' sweep %s --size 1,2 --depth 1,4 --mode stream --quick --processes 20 "
		 "--rounds 2 --warm-up 0.01 --output '%s'",
		 rift(), name(), file);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, err_file,
					 O_WRONLY | O_CREAT | O_TRUNC, 0600);
	cr_assert(zero(int, posix_spawn(&pid, "/bin/sh", &files, NULL, argv, environ)), "spawn");
	posix_spawn_file_actions_destroy(&files);
	return pid;
}

Test(small_cli_sweep, control_c_leaves_what_resume_wants)
{
	char err[80];
	const char *text;
	int status;
	pid_t pid;

	need_device();
	snprintf(err, sizeof(err), "%s/err", dir);
	pid = start(err);
	while (!waitpid(pid, &status, WNOHANG) && !count_lines("trailer"))
		usleep(50000);
	kill(pid, SIGINT);
	cr_assert(eq(int, waitpid(pid, &status, 0), pid), "wait");
	shell(&text, "tail -n 1 '%s'", err);
	cr_assert(eq(int, WEXITSTATUS(status), 75), "%d %s", status, text);
	cr_assert(ne(ptr, strstr(text, "rift: interrupted: "), NULL), "%s", text);
	cr_assert(ne(ptr, strstr(text, "--resume"), NULL), "%s", text);
	cr_assert(zero(int, run_rift(OUT, &text, "show --check '%s'", part)), "valid");
	shell(&text, "ls '%s'", dir);
	cr_assert(eq(ptr, strstr(text, ".lock"), NULL), "%s", text);
}

/* Graphs abort: tried twice in the first process, and in no other; streams are measured in all. */
Test(small_cli_sweep, a_point_that_ends_two_workers_is_left_out_from_then_on)
{
	const char *text;

	if (!ON_CPU)
		cr_skip_test("errors are injected on the CPU device");
	setenv("RIFT_CPU_FAIL", "cudaGraphLaunch=cudaErrorIllegalAddress", 1);
	cr_assert(eq(int,
		     run_rift(ERR, &text,
			      "sweep launch us=0 --depth 1 --mode stream,graph --quick --processes "
			      "3 --rounds 1 --warm-up 0.01 --output '%s'",
			      file),
		     2),
		  "%s", text);
	shell(&text,
	      "sed -n 's/.*\"status\":\"\\([a-z_]*\\)\".*/\\1/p' '%s' | sort | uniq -c | tr -s ' "
	      "\\n' ' '",
	      file);
	cr_assert(eq(str, (char *)text, " 3 error 3 ok 2 skipped "), "%s", text);
	unsetenv("RIFT_CPU_FAIL");
	cr_assert(eq(int, run_rift(OUT, &text, "show --check '%s'", file), 0), "valid: %s", text);
}
