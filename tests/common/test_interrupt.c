/*
 * test_interrupt.c - common/interrupt.h and temporary.h: what the first and the second signal do,
 * and that no signal which can be caught leaves a temporary file.
 */
/* sanitizers: one thread */
#include "tests/plain.h"
#include "common/interrupt.h"
#include "common/temporary.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

#ifdef __SANITIZE_THREAD__
#define NEED_SIGNALS() cr_skip("the thread sanitizer holds signals back in forked processes")
#else
#define NEED_SIGNALS()
#endif

TestSuite(small_interrupt, .timeout = 300);

static char file[] = "/tmp/rift_temporary_XXXXXX";

static void make_temporary(void)
{
	int fd = mkstemp(file);

	cr_assert(fd >= 0, "%s", file);
	close(fd);
	temporary_add(file);
}

/* How a child ends that gets the signals (ends with 0): what waitpid() says. */
static int end_of_child(const int *signals, bool at_once)
{
	struct rlimit no_core = { 0, 0 };
	int status = 0;
	pid_t child = fork();

	cr_assert(child >= 0, "fork");
	if (!child) {
		setrlimit(RLIMIT_CORE, &no_core);
		interrupt_install();
		for (; *signals; signals++) {
			raise(*signals);
			if (!at_once && signals[1])
				usleep((INTERRUPT_SAME_MS + 50) * 1000);
		}
		_exit(interrupted() ? 75 : 0);
	}
	cr_assert(waitpid(child, &status, 0) == child, "waitpid");
	return status;
}

/* Started in the background of a script, a test may find them ignored. */
static void heed_signals(void)
{
	static const int all[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };

	for (size_t i = 0; i < COUNT(all); i++)
		signal(all[i], SIG_DFL);
}

Test(small_interrupt, the_first_signal_is_remembered)
{
	static const int first[][2] = { { SIGINT, 0 }, { SIGTERM, 0 }, { SIGHUP, 0 } };
	static const int none[] = { 0 };

	NEED_SIGNALS();
	heed_signals();
	make_temporary();
	cr_assert(end_of_child(none, true) == 0, "without a signal");
	for (size_t i = 0; i < COUNT(first); i++) {
		int status = end_of_child(first[i], true);

		cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 75, "signal %d: status %x",
			  first[i][0], status);
	}
	cr_assert(!access(file, F_OK), "an orderly end removes its files itself");
	unlink(file);
}

static void dies_and_removes(const int *signals, int last)
{
	int status;

	strcpy(file + strlen(file) - 6, "XXXXXX");
	make_temporary();
	status = end_of_child(signals, false);
	temporary_forget(file);
	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == last, "signal %d: status %x", last,
		  status);
	cr_assert(access(file, F_OK) && errno == ENOENT, "signal %d leaves the file", last);
}

Test(small_interrupt, the_second_signal_ends_at_once_and_leaves_no_file)
{
	static const int second[][3] = { { SIGINT, SIGINT },
					 { SIGTERM, SIGTERM },
					 { SIGINT, SIGHUP } };

	NEED_SIGNALS();
	heed_signals();
	for (size_t i = 0; i < COUNT(second); i++)
		dies_and_removes(second[i], second[i][1]);
}

/* As timeout sends it. Another one is a second one at any time. */
Test(small_interrupt, the_same_signal_twice_at_once_is_one)
{
	static const int same[] = { SIGTERM, SIGTERM, 0 }, other[] = { SIGTERM, SIGHUP, 0 };
	int status;

	NEED_SIGNALS();
	heed_signals();
	status = end_of_child(same, true);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 75, "status %x", status);
	status = end_of_child(other, true);
	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGHUP, "status %x", status);
}

/* Programs get what others send to rift, and of a terminal nothing twice. */
Test(small_interrupt, signals_are_passed_on_while_a_program_runs)
{
	static const int passed[] = { SIGUSR1, SIGTERM, SIGUSR2 };
	unsigned char byte[8];
	int fds[2];

	heed_signals();
	cr_assert(!pipe2(fds, O_NONBLOCK), "a pipe");
	interrupt_install();
	interrupt_pass_on(fds[1]);
	for (size_t i = 0; i < COUNT(passed); i++)
		kill(getpid(), passed[i]);
	cr_assert(read(fds[0], byte, sizeof(byte)) == COUNT(passed), "each once");
	for (size_t i = 0; i < COUNT(passed); i++)
		cr_assert(byte[i] == passed[i], "%zu: %d", i, byte[i]);
	cr_assert(interrupted(), "SIGTERM is rift's too");
	interrupt_pass_on(-1);
	kill(getpid(), SIGTERM);
	cr_assert(read(fds[0], byte, sizeof(byte)) < 0, "nothing more");
}

Test(small_interrupt, other_deadly_signals_leave_no_file)
{
	static const int deadly[][2] = { { SIGQUIT }, { SIGPIPE }, { SIGABRT }, { SIGXCPU } };

	NEED_SIGNALS();
	heed_signals();
	for (size_t i = 0; i < COUNT(deadly); i++)
		dies_and_removes(deadly[i], deadly[i][0]);
}

Test(small_interrupt, what_is_ignored_stays_so)
{
	heed_signals();
	signal(SIGHUP, SIG_IGN); /* as nohup does */
	interrupt_install();
	raise(SIGHUP);
	cr_assert(!interrupted(), "SIGHUP");
	raise(SIGTERM);
	cr_assert(interrupted(), "SIGTERM");
}

/* What neither looks nor returns after the first signal: a block of kernels, say. */
Test(small_interrupt, what_is_deaf_ends_all_the_same)
{
	int status = 0;
	pid_t child;

	NEED_SIGNALS();
	heed_signals();
	make_temporary();
	child = fork();
	if (!child) {
		interrupt_install();
		interrupt_end_within(INTERRUPT_GRACE_S, "");
		raise(SIGTERM);
		for (;;)
			pause();
	}
	cr_assert(waitpid(child, &status, 0) == child, "waitpid");
	temporary_forget(file);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 75, "status %x", status);
	cr_assert(access(file, F_OK) && errno == ENOENT, "the file is left");
}

/* It lives on as long as no signal came. */
Test(small_interrupt, nothing_ends_without_a_signal)
{
	heed_signals();
	interrupt_install();
	interrupt_end_within(INTERRUPT_GRACE_S, "");
	cr_assert(!alarm(0) && !interrupted(), "a timer runs");
}

Test(small_interrupt, calls_that_wait_are_not_restarted)
{
	struct sigaction act;

	heed_signals();
	interrupt_install();
	cr_assert(!sigaction(SIGINT, NULL, &act) && act.sa_handler != SIG_DFL, "handler");
	cr_assert(!(act.sa_flags & SA_RESTART), "a pipe would be read for ever");
}

Test(small_interrupt, a_file_that_grows_too_large_is_an_error)
{
	const struct rlimit small = { 16, 16 };
	char text[32] = "";
	int fd = mkstemp(file);

	interrupt_install();
	cr_assert(fd >= 0 && !setrlimit(RLIMIT_FSIZE, &small), "%s", file);
	cr_assert(write(fd, text, 16) == 16 && write(fd, text, 1) == -1 && errno == EFBIG, "%s",
		  strerror(errno));
	close(fd);
	unlink(file);
}

Test(small_interrupt, forgotten_files_stay_and_slots_are_used_again)
{
	heed_signals();
	make_temporary();
	for (int i = 0; i < 3 * TEMPORARY_MAX; i++) {
		temporary_forget(file);
		temporary_add(file);
	}
	temporary_forget(file);
	temporary_remove_all();
	cr_assert(!access(file, F_OK), "removed");
	unlink(file);
}
