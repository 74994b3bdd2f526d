/*
 * test_relay.c - a layer that has something to say says it before `rift layer` ends, and `rift
 * layer` is to others what its command is: signals and the exit status.
 */
/* sanitizers: seen elsewhere */
#include "tests/test.h"

#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>

#include "tests/cli.h"
#include "tests/old_kernel.h"
#include "tests/under_layer.h"

TestSuite(small_relay, .init = layers_apart, .timeout = 240);

/* ---- order -------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);

	return n >= k && !strcmp(text + n - k, end);
}

/* A report that comes late may come in time by chance: in two of five runs it did. */
Test(small_relay, a_report_comes_before_what_follows)
{
	static const struct {
		const char *layer;
		int times;
	} of[] = { { "shim", 20 }, { "emulate call=1", 5 }, { "remote", 5 } };

	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++)
		for (int k = 0; k < of[i].times; k++) {
			char start[32];
			const char *out;

			snprintf(start, sizeof(start), "rift: layer %.6s", of[i].layer);
			shell(&out, "{ '%s' layer %s -- true; echo after; } 2>&1", rift(),
			      of[i].layer);
			cr_assert(zero(int, strncmp(out, start, strlen(start))), "%d: %s", k, out);
			cr_assert(ends_with(out, "\nafter\n"), "%d: %s", k, out);
			cr_assert(zero(int, layers_folders()), "%s: its folder is left",
				  of[i].layer);
		}
}

/* As under gVisor: it waited forever there. */
Test(small_relay, it_ends_without_calls_that_old_kernels_lack)
{
	const char *out;

	if (!old_kernel())
		cr_skip("no filters of system calls here");
	cr_assert(eq(int, shell(&out, "timeout 60 '%s' layer shim -- sh -c 'exit 7' 2>&1", rift()),
		     7),
		  "%s", out);
	cr_assert(zero(int, strncmp(out, "rift: layer shim", 16)), "%s", out);
	cr_assert(zero(int, layers_folders()), "its folder is left");
}

/* One inside the other: first what the inner one says. */
Test(small_relay, reports_come_from_the_inside_out)
{
	const char *out, *inner, *outer;

	shell(&out, "'%s' layer emulate call=1 -- '%s' layer shim -- true 2>&1", rift(), rift());
	inner = strstr(out, "rift: layer shim");
	outer = strstr(out, "rift: layer emulate");
	cr_assert(inner && outer, "%s", out);
	cr_assert(lt(ptr, (void *)inner, (void *)outer), "%s", out);
}

Test(small_relay, where_nothing_is_said_it_becomes_the_command)
{
	static const char *const layers[] = { "--quiet shim", "none", "cpu share=5 n=1" };

	for (size_t i = 0; i < sizeof(layers) / sizeof(*layers); i++)
		cr_assert(zero(int, shell(NULL,
					  "sh -c 'echo $$; exec \"%s\" layer %s -- sh -c "
					  "\"echo \\$\\$\"' | uniq | wc -l | grep -qx 1",
					  rift(), layers[i])),
			  "%s", layers[i]);
}

/* ---- how it ends -------------------------------------------------------------------------- */

Test(small_relay, the_exit_status_is_the_commands)
{
	static const int codes[] = { 0, 1, 7, 125, 255 };

	for (int i = 0; i < 5; i++)
		cr_assert(
			eq(int,
			   shell(NULL, "'%s' layer shim -- sh -c 'exit %d' 2>&1", rift(), codes[i]),
			   codes[i]));
	cr_assert(eq(int, shell(NULL, "'%s' layer shim -- /etc/passwd 2>/dev/null", rift()), 126));
	cr_assert(layers_gone(0));
}

/* -1: it did not end by one. */
static int signal_of(int status)
{
	return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
}

/* Sent to `rift layer`, it ends the command, and is what both are seen to end by. */
Test(small_relay, death_by_a_signal_is_seen_as_such)
{
	const int signals[] = { SIGTERM, SIGKILL, SIGINT, SIGABRT, SIGUSR1, SIGRTMIN };

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		pid_t pid = start_command(-1, "'%s' layer shim -- sleep 1000 2>&1", rift());
		int status;

		cr_assert(ne(int, find_role(ROLE_KEEPER), 0));
		kill(pid, signals[i]);
		status = status_of_end(pid);
		cr_assert(eq(int, signal_of(status), signals[i]));
		cr_assert(layers_gone(0), "%d", signals[i]);
	}
}

/* The command's own death, where nothing was sent to `rift layer`. */
Test(small_relay, a_command_that_kills_itself)
{
	pid_t pid = start_command(-1, "'%s' layer shim -- sh -c 'kill -SEGV $$' 2>&1", rift());
	int status = status_of_end(pid);

	cr_assert(eq(int, signal_of(status), SIGSEGV));
}

/* A timer that is set before `rift layer` is exec'd would end the command: perl's idiom. */
Test(small_relay, an_alarm_that_was_set_before_rings)
{
	pid_t pid = start_command(-1,
				  "perl -e 'alarm 1; exec @ARGV' '%s' layer shim -- sleep 1000 "
				  "2>&1",
				  rift());
	int status = status_of_end(pid);

	cr_assert(eq(int, signal_of(status), SIGALRM));
	cr_assert(layers_gone(0));
}

/* ---- signals that do not end it ----------------------------------------------------------- */

/* Counts a signal until it gets SIGTERM, and says how often it came. */
#define COUNT(name)                                                                                \
	"perl -e '$SIG{" name "} = sub { $n++ }; $SIG{TERM} = sub { exit 10 + $n }; "              \
	"open(F, \">\", shift); close F; select(undef, undef, undef, 0.01) while 1' '%s'"

static const char *started(void)
{
	static char path[200];

	snprintf(path, sizeof(path), "%s/../started", layers_folder());
	return path;
}

static void wait_ms(int ms)
{
	usleep((useconds_t)ms * 1000);
}

Test(small_relay, a_signal_is_passed_on_once)
{
	pid_t pid =
		start_command(-1, "'%s' layer shim -- " COUNT("USR1") " 2>&1", rift(), started());
	int status;

	cr_assert(has_appeared(started()));
	for (int i = 0; i < 3; i++) {
		kill(pid, SIGUSR1);
		wait_ms(100);
	}
	kill(pid, SIGTERM);
	status = status_of_end(pid);
	cr_assert(eq(int, WEXITSTATUS(status), 13), "10 and three signals");
}

static pid_t start_on_terminal(int *terminal)
{
	char command[1000];
	pid_t pid;

	snprintf(command, sizeof(command), "exec '%s' layer shim -- " COUNT("INT"), rift(),
		 started());
	pid = forkpty(terminal, NULL, NULL, NULL);
	cr_assert(pid >= 0, "forkpty");
	if (!pid) {
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(99);
	}
	return pid;
}

/* The terminal sends it to the command, too. */
Test(small_relay, a_key_of_the_terminal_comes_once)
{
	int terminal, status;
	pid_t pid = start_on_terminal(&terminal);

	cr_assert(has_appeared(started()));
	for (int i = 0; i < 3; i++) {
		cr_assert(eq(int, (int)write(terminal, "\003", 1), 1));
		wait_ms(100);
	}
	kill(pid, SIGTERM);
	status = status_of_end(pid);
	cr_assert(eq(int, WEXITSTATUS(status), 13), "10 and three keys");
	close(terminal);
}

Test(small_relay, it_stops_and_goes_on_with_its_command)
{
	pid_t pid =
		start_command(-1, "'%s' layer shim -- " COUNT("CONT") " 2>&1", rift(), started());
	int status;

	cr_assert(has_appeared(started()));
	kill(pid, SIGTSTP);
	cr_assert(eq(int, waitpid(pid, &status, WUNTRACED), pid));
	cr_assert(eq(int, WIFSTOPPED(status) != 0, 1), "%d", status);
	kill(pid, SIGCONT);
	wait_ms(100);
	kill(pid, SIGTERM);
	status = status_of_end(pid);
	cr_assert(eq(int, WEXITSTATUS(status), 11), "10 and it went on once");
}
