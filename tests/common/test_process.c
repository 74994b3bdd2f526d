/* test_process.c - the variables that a process was started with, and its end. */
/* sanitizers: one thread */
#include "tests/plain.h"
#include "common/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "tests/old_kernel.h"

TestSuite(small_process, .timeout = 60);

/* A process that runs with these variables alone, once it does. */
static pid_t start(char *const *variables)
{
	char *words[] = { "sleep", "60", NULL };
	int fd[2];
	char byte;
	pid_t pid;

	cr_assert(!pipe2(fd, O_CLOEXEC), "a pipe that an exec closes");
	pid = fork();
	cr_assert(pid >= 0, "fork");
	if (!pid) {
		execve("/bin/sleep", words, variables);
		_exit(1);
	}
	close(fd[1]);
	cr_assert(read(fd[0], &byte, 1) == 0, "end of the pipe");
	close(fd[0]);
	/* an exec closes files before the new environment can be read */
	for (int ms = 0; ms < 5000 && !process_has_variable(pid, "FIRST", "1"); ms++)
		usleep(1000);
	return pid;
}

Test(small_process, a_variable_is_known_by_its_name_and_all_of_its_value)
{
	char *variables[] = { "FIRST=1", "MARK=812", "MARKS=5", "EMPTY=", NULL };
	pid_t pid = start(variables);

	cr_expect(process_has_variable(pid, "MARK", "812"), "as it is");
	cr_expect(process_has_variable(pid, "EMPTY", ""), "an empty value");
	cr_expect(!process_has_variable(pid, "MARK", "81"), "a part of the value");
	cr_expect(!process_has_variable(pid, "MARK", "8123"), "more than the value");
	cr_expect(!process_has_variable(pid, "MARK", "5"), "another name's value");
	cr_expect(!process_has_variable(pid, "ARK", "812"), "a part of the name");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	cr_expect(!process_has_variable(pid, "MARK", "812"), "it is gone");
}

/* Not yet reaped: whoever waits for a process may not be its parent. */
static void expect_end_is_seen(void)
{
	char *variables[] = { "FIRST=1", NULL };
	pid_t pid = start(variables);
	struct pollfd end = { process_end_fd(pid), POLLIN, 0 };

	cr_assert(end.fd >= 0, "%s", strerror(errno));
	cr_expect(!poll(&end, 1, 100), "it runs");
	kill(pid, SIGKILL);
	cr_expect(poll(&end, 1, 5000) == 1, "it has ended");
	close(end.fd);
	cr_expect(waitpid(-1, NULL, 0) == pid, "the only child");
	cr_expect(waitpid(-1, NULL, 0) < 0, "no other child");
}

Test(small_process, the_end_is_seen)
{
	expect_end_is_seen();
}

Test(small_process, the_end_is_seen_without_pidfd_open)
{
	if (!old_kernel())
		cr_skip("no filters of system calls here");
	expect_end_is_seen();
}
