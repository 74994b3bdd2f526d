/*
 * test_sweep_clocks.c - `rift sweep --lock-clocks` of the real binary with stand-ins for the GPU
 * and NVIDIA's library (tests/driver): what is done to the clock, and that it is free again however
 * the sweep ends. No clock of a real GPU is touched.
 */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "tests/cli.h"
#include "tests/folder.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

TEST_FOLDER(dir);
static char file[64], driver[2304];

/* A folder in which the stand-in goes by the library's name. */
static void prepare(void)
{
	snprintf(driver, sizeof(driver), "%s", beside_tests("driver"));
	make_dir();
	snprintf(file, sizeof(file), "%s/s.jsonl", dir);
	shell(NULL, "ln -s \"$(realpath '%s/nvml.so')\" '%s/libnvidia-ml.so.1'", driver, dir);
}

TestSuite(small_sweep_clocks, .init = prepare, .fini = remove_dir, .timeout = 300);

/* rift with both stand-ins; says: of $FAKE_NVML. */
static const char *rift_with(const char *says)
{
	static char text[8192];

	snprintf(text, sizeof(text),
		 "FAKE_NVML='%s' FAKE_NVML_LOG='%s/log' "
		 "LD_LIBRARY_PATH='%s'${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "
		 "ASAN_OPTIONS=\"$ASAN_OPTIONS:verify_asan_link_order=0\" "
		 "LD_PRELOAD=\"$(realpath '%s/gpu.so')\" '%s'",
		 says, dir, dir, driver, rift());
	return text;
}

/* Two points, so many processes. */
static const char *plan(int processes)
{
	static char text[256];

	snprintf(text, sizeof(text),
		 "sweep %s --size 1 --depth 1,4 --mode stream --quick --processes %d --rounds 2 "
		 "--warm-up 0.01 --sync yield",
		 name(), processes);
	return text;
}

static const char *log_text(void)
{
	const char *text;

	shell(&text, "cat '%s/log' 2>/dev/null", dir);
	return text;
}

static int count_lines(const char *what)
{
	const char *text;

	shell(&text, "grep -c '%s' '%s' '%s.part' 2>/dev/null | awk -F: '{n += $2} END {print n}'",
	      what, file, file);
	return atoi(text);
}

Test(small_sweep_clocks, locked_for_the_session_and_recorded)
{
	const char *text;

	need_device();
	cr_assert(zero(int, shell(&text, "%s %s --lock-clocks=1410 --output '%s' 2>&1",
				  rift_with(""), plan(1), file)),
		  "%s", text);
	cr_assert(eq(str, (char *)log_text(), "lock 1410\nfree 0\n"), "%s", text);
	cr_assert(eq(int, count_lines("\"lock_clocks_mhz\":1410,"), 1), "plan");
	cr_assert(zero(int, run_rift(OUT, &text, "show --check '%s'", file)), "%s", text);
	cr_assert(zero(int, run_rift(OUT, &text, "show '%s'", file)), "%s", text);
	cr_assert(ne(ptr, strstr(text, "\nclock            locked at 1410 MHz\n"), NULL), "%s",
		  text);
}

Test(small_sweep_clocks, at_the_base_clock_without_a_number)
{
	const char *text;

	need_device();
	cr_assert(zero(int, shell(&text, "%s %s --lock-clocks --output '%s' 2>&1", rift_with(""),
				  plan(1), file)),
		  "%s", text);
	/* NVML's name of it, 0xffffff01 */
	cr_assert(eq(str, (char *)log_text(), "lock 4294967041\nfree 0\n"), "%s", text);
	cr_assert(eq(int, count_lines("\"lock_clocks_mhz\":\"base\","), 1), "plan");
	cr_assert(zero(int, run_rift(OUT, &text, "show '%s'", file)), "%s", text);
	cr_assert(tells(text, "\nclock            *base"), "%s", text);
	cr_assert(zero(int, run_rift(ERR, &text, "%s --output '%s/free.jsonl'", plan(1), dir)),
		  "%s", text);
	run_rift(OUT, &text, "compare '%s/free.jsonl' '%s'", dir, file);
	cr_assert(ne(ptr, strstr(text, "  design.lock_clocks_mhz "), NULL), "%s", text);
}

static void refused_with(const char *says, const char *why)
{
	const char *text;

	cr_assert(eq(int,
		     shell(&text, "%s %s --lock-clocks --output '%s' 2>&1", rift_with(says),
			   plan(1), file),
		     3),
		  "%s", text);
	cr_assert(ne(ptr, strstr(text, why), NULL), "%s: %s", why, text);
	cr_assert(is_one_complaint(text), "%s", text);
	cr_assert(eq(str, (char *)log_text(), ""), "nothing was done");
	cr_assert(ne(int, access(file, F_OK), 0), "nothing was written");
}

/* Asked for and not to be had: nothing is measured. */
Test(small_sweep_clocks, what_cannot_be_locked_is_refused)
{
	need_device();
	refused_with("denied", "Insufficient Permissions");
	refused_with("mismatch", "--lock-clocks: nvmlInit_v2: ");
	refused(3, "--lock-clocks=0: ", "sweep --lock-clocks=0");
	refused(3, "--lock-clocks ", "sweep --lock-clocks --lock-clocks=5");
	refused(3, "--resume", "sweep --lock-clocks --resume '%s'", file);
	refused(3, "rift sweep", "sweep-clocks");
}

Test(small_sweep_clocks, a_clock_that_stays_locked_is_said)
{
	const char *text;

	need_device();
	cr_assert(zero(int, shell(&text, "%s %s --lock-clocks --output '%s' 2>&1 >/dev/null",
				  rift_with("stuck"), plan(1), file)),
		  "%s", text);
	cr_assert(tells(text, "nvmlDeviceResetGpuLockedClocks: Not Supported; nvidia-smi -rgc"),
		  "%s", text);
}

/* ---- ends that were not planned ---------------------------------------------------------- */

/* In the background; its pid. */
static pid_t start(const char *command)
{
	char text[9216];
	char *argv[] = { "sh", "-c", text, NULL };
	posix_spawn_file_actions_t files;
	pid_t pid;

	snprintf(text, sizeof(text), "exec env %s %s", rift_with(""), command);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	cr_assert(zero(int, posix_spawn(&pid, "/bin/sh", &files, NULL, argv, environ)), "spawn");
	posix_spawn_file_actions_destroy(&files);
	return pid;
}

/* Until a condition holds; never, and the suite's time is over. */
#define WAIT_UNTIL(condition)                                                                      \
	while (!(condition))                                                                       \
	usleep(20000)

/* A sweep that would take a while, but less than --quick allows; its first process is complete. */
static pid_t start_sweep(void)
{
	char command[512];
	pid_t pid;

	snprintf(command, sizeof(command), "%s --lock-clocks=900 --output '%s'", plan(20), file);
	pid = start(command);
	WAIT_UNTIL(count_lines("\"record\":\"trailer\""));
	return pid;
}

static void end_process(pid_t pid, int signal_number)
{
	int status;

	kill(pid, signal_number);
	cr_assert(eq(int, waitpid(pid, &status, 0), pid), "wait");
}

Test(small_sweep_clocks, free_after_control_c_and_locked_again_by_resume)
{
	char command[512];
	pid_t pid;

	need_device();
	end_process(start_sweep(), SIGINT);
	cr_assert(eq(str, (char *)log_text(), "lock 900\nfree 0\n"), "log");
	snprintf(command, sizeof(command), "sweep --resume '%s'", file);
	pid = start(command);
	WAIT_UNTIL(!strcmp(log_text(), "lock 900\nfree 0\nlock 900\n"));
	end_process(pid, SIGTERM);
	cr_assert(eq(str, (char *)log_text(), "lock 900\nfree 0\nlock 900\nfree 0\n"), "log");
}

/* The guard ends behind the sweep. */
Test(small_sweep_clocks, free_after_sigkill)
{
	need_device();
	end_process(start_sweep(), SIGKILL);
	WAIT_UNTIL(strstr(log_text(), "free"));
	cr_assert(eq(str, (char *)log_text(), "lock 900\nfree 0\n"), "log");
}

/* To the children of a process whose command line holds this; was there one? */
static bool send(pid_t pid, const char *what, const char *signal_name)
{
	return !shell(NULL,
		      "for c in $(cat /proc/%d/task/%d/children); do tr '\\0' ' ' "
		      "</proc/$c/cmdline | grep -q %s && kill -%s $c && found=1; done; test $found",
		      (int)pid, (int)pid, what, signal_name);
}

Test(small_sweep_clocks, neither_a_worker_that_dies_nor_signals_change_it)
{
	pid_t pid;

	need_device();
	pid = start_sweep();
	cr_assert(send(pid, "sweep-clocks", "INT"), "guard");
	cr_assert(send(pid, "sweep-clocks", "TERM"), "guard");
	cr_assert(send(pid, "sweep-clocks", "HUP"), "guard");
	WAIT_UNTIL(send(pid, "sweep-worker", "KILL")); /* between two there is none */
	WAIT_UNTIL(count_lines("\"record\":\"trailer\"") >= 2);
	cr_assert(eq(str, (char *)log_text(), "lock 900\n"), "still locked");
	end_process(pid, SIGINT);
	cr_assert(eq(str, (char *)log_text(), "lock 900\nfree 0\n"), "log");
}
