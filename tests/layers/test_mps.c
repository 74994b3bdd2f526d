/*
 * test_mps.c - the layer mps with a control daemon that has no GPU (mps/): it is started, asked and
 * ended, whoever is killed, and a process is told from one that is no client.
 */
/* begins early: it waits long */
/* sanitizers: seen elsewhere */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/check.h"
#include "harness/layer/enter.h"
#include "layers/mps/daemon.h"
#include "tests/capture.h"
#include "tests/cli.h"
#include "tests/under_layer.h"

static void daemon_apart(void);

TestSuite(small_mps, .init = daemon_apart, .timeout = 240);

extern const struct layer layer_mps;

static char folder[160]; /* the test's, beside that of layers */

static void daemon_apart(void)
{
	char path[8192], here[4096];

	layers_apart();
	snprintf(folder, sizeof(folder), "%s", getenv("XDG_RUNTIME_DIR"));
	cr_assert(realpath("tests/layers/mps", here) != NULL, "tests run in the root of the tree");
	snprintf(path, sizeof(path), "%s:%s", here, getenv("PATH"));
	setenv("PATH", path, 1);
	snprintf(path, sizeof(path), "%s/said", folder);
	setenv("FAKE_MPS_SAID", path, 1);
	unsetenv("CUDA_MPS_PIPE_DIRECTORY");
}

/* What a build for the CPU device would refuse. */
static const char *never_missing(void)
{
	return NULL;
}

/* In a process of its own: becomes a shell command under the layer. */
_Noreturn static void become(const char *words, const char *command)
{
	char text[200], *word[8], *rest = text;
	struct layer had = layer_mps;
	struct layered l;
	int n = 0;

	snprintf(text, sizeof(text), "mps %s", words);
	while (n < 8 && (word[n] = strsep(&rest, " ")))
		n += *word[n] != '\0';
	if (layer_parse(&l, word, n))
		_exit(3);
	had.missing = never_missing;
	l.layer = &had;
	_exit(layer_enter(&l, (char *[]){ "sh", "-c", (char *)(uintptr_t)command, NULL }, true));
}

static pid_t start(const char *words, const char *command)
{
	pid_t pid = fork();

	if (!pid) {
		char path[200];
		int out;

		setpgid(0, 0);
		snprintf(path, sizeof(path), "%s/out", folder);
		out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		dup2(out, STDOUT_FILENO);
		dup2(out, STDERR_FILENO);
		become(words, command);
	}
	setpgid(pid, pid);
	return pid;
}

/* Its exit status; *out: what all have said. */
static int run(const char **out, const char *words, const char *command)
{
	int status = status_of_end(start(words, command));

	shell(out, "cat '%s/out'", folder);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- the list ------------------------------------------------------------------------------- */

Test(small_mps, is_listed_and_says_why_it_cannot_be_had)
{
	const char *out;

	cr_assert(zero(int, run_rift(OUT, &out, "layer mps")));
	cr_assert(strstr(out, "mps        real   NVIDIA's Multi-Process Service") == out, "%s",
		  out);
	cr_assert(strstr(out, "threads=100 ") && strstr(out, "(1 to 100 %)"), "%s", out);
	refused(3, "threads=0", "layer mps threads=0 -- true");
	refused(3, "threads=101", "layer mps threads=101 -- true");
	refused(3, "threads", "layer mps threads=half -- true");
	refused(3, "did you mean 'threads'", "layer mps thread=50 -- true");
	setenv("PATH", "/bin:/usr/bin", 1);
	if (!shell(NULL, "command -v nvidia-cuda-mps-control >/dev/null"))
		return; /* a GPU machine, which has it */
	refused(125, "layer mps cannot be had here: ", "layer mps -- true");
	refused(4, "layer 'mps': cannot be had here: ", "run launch us=0 --layer mps");
	refused(4, "'mps threads=50': cannot be had here: ",
		"sweep launch --dry-run --layer 'mps threads=50'");
	cr_assert(layers_gone(0));
}

/* ---- another MPS around it ------------------------------------------------------------------- */

static int listen_at(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	cr_assert(zero(int, bind(fd, (struct sockaddr *)&address, sizeof(address))), "%s", path);
	cr_assert(zero(int, listen(fd, 1)));
	return fd;
}

Test(small_mps, another_daemon_is_seen_where_it_listens)
{
	char path[200];
	int fd;

	setenv("CUDA_MPS_PIPE_DIRECTORY", folder, 1);
	cr_assert(mps_around() == NULL, "nobody is there");
	snprintf(path, sizeof(path), "%s/control", folder);
	fd = listen_at(path);
	cr_assert(mps_around() != NULL, "it listens");
	cr_assert(eq(str, (char *)(uintptr_t)mps_around(), folder));
#ifndef RIFT_CPU_DEVICE
	refused(125, "this process is already a client of another MPS", "layer mps -- true");
	refused(4, "this process is already a client of another MPS",
		"sweep launch --dry-run --layer mps");
#endif
	close(fd);
	cr_assert(mps_around() == NULL, "its socket is left alone");
}

/* ---- entering ------------------------------------------------------------------------------- */

Test(small_mps, the_command_has_a_daemon_of_its_own)
{
	const char *out;
	int rc = run(
		&out, "threads=40",
		"echo $CUDA_MPS_ACTIVE_THREAD_PERCENTAGE; "
		"echo get_default_active_thread_percentage | nvidia-cuda-mps-control; "
		"ls -d $CUDA_MPS_PIPE_DIRECTORY/server $CUDA_MPS_LOG_DIRECTORY | wc -l; exit 7");

	cr_assert(eq(int, rc, 7), "%s", out);
	cr_assert(eq(str, (char *)(uintptr_t)out, "40\n40.0\n2\n"));
	cr_assert(layers_gone(0));
	shell(&out, "cat '%s/said'", folder);
	cr_assert(eq(str, (char *)(uintptr_t)out, "quit -t 1\n"));
}

Test(small_mps, a_daemon_that_does_not_start_says_why)
{
	const char *out;

	setenv("FAKE_MPS", "refuses", 1);
	cr_assert(eq(int, run(&out, "", "echo started"), LAYER_NOT_IN_FORCE));
	cr_assert(strstr(out,
			 "layer mps: the control daemon has ended: no GPU that MPS works on\n") !=
			  NULL,
		  "%s", out);
	cr_assert(strstr(out, "started") == NULL, "%s", out);
	cr_assert(layers_gone(0));
}

Test(small_mps, a_daemon_that_does_not_answer_is_not_waited_for)
{
	const char *out;

	setenv("FAKE_MPS", "silent", 1);
	cr_assert(eq(int, run(&out, "", "echo started"), LAYER_NOT_IN_FORCE));
	cr_assert(strstr(out, "its helper did not start\n") != NULL, "%s", out);
	cr_assert(layers_gone(0));
}

Test(small_mps, a_folder_too_long_for_a_socket_is_refused)
{
	char path[300];
	const char *out;

	snprintf(path, sizeof(path),
		 "%s/a_folder_of_more_than_a_hundred_bytes_in_all/with_one_more", folder);
	shell(NULL, "mkdir -p '%s'", path);
	setenv("XDG_RUNTIME_DIR", path, 1);
	cr_assert(eq(int, run(&out, "", "true"), LAYER_NOT_IN_FORCE));
	cr_assert(strstr(out, "is too long for the name of a socket; choose a shorter "
			      "XDG_RUNTIME_DIR\n") != NULL,
		  "%s", out);
}

/* ---- nothing is left ------------------------------------------------------------------------- */

static pid_t start_and_wait(const char *command)
{
	char started[200], line[600];
	pid_t pid;

	snprintf(started, sizeof(started), "%s/started", folder);
	unlink(started);
	snprintf(line, sizeof(line), "touch '%s'; %s", started, command);
	pid = start("", line);
	cr_assert(has_appeared(started));
	return pid;
}

static void is_gone(const char *what)
{
	cr_assert(layers_gone(0), "%s: %d processes, %d folders left", what, layers_running(),
		  layers_folders());
}

static void kill_command(const char *what)
{
	pid_t pid = start_and_wait("exec sleep 1000");

	kill(pid, SIGKILL);
	status_of_end(pid);
	is_gone(what);
}

Test(small_mps, a_command_that_is_killed_leaves_nothing)
{
	kill_command("in order");
	setenv("FAKE_MPS", "stubborn", 1);
	kill_command("with a daemon that does not end");
}

/* Whatever is killed before the command is, its server ends as well. */
static void kill_first(const char *what, pid_t (*victim)(void))
{
	pid_t pid = start_and_wait("exec sleep 1000");
	pid_t found = victim();

	cr_assert(lt(int, 1, found), "%s", what);
	kill(found, SIGKILL);
	usleep(300000);
	kill(pid, SIGKILL);
	status_of_end(pid);
	is_gone(what);
}

static pid_t number_in(const char *file)
{
	const char *out;

	shell(&out, "cat '%s'/*/%s", layers_folder(), file);
	return atoi(out);
}

static pid_t parent_of(pid_t pid)
{
	const char *out;

	shell(&out, "cut -d ' ' -f 4 /proc/%d/stat", (int)pid);
	return atoi(out);
}

static pid_t server(void)
{
	return number_in("server");
}

static pid_t daemon_itself(void)
{
	return number_in("nvidia-cuda-mps-control.pid");
}

static pid_t helper(void)
{
	return parent_of(daemon_itself());
}

static pid_t guard(void)
{
	return parent_of(helper());
}

static pid_t keeper(void)
{
	return parent_of(guard());
}

Test(small_mps, whoever_is_killed_nothing_is_left)
{
	kill_first("the guard", guard);
	kill_first("the keeper", keeper);
	kill_first("the helper", helper);
	kill_first("the daemon", daemon_itself);
	kill_first("the server", server);
}

/* Whoever measures must know. */
Test(small_mps, a_daemon_that_is_lost_is_said)
{
	pid_t pid = start_and_wait("exec sleep 1");
	const char *out;

	kill(daemon_itself(), SIGKILL);
	status_of_end(pid);
	is_gone("the daemon");
	shell(&out, "cat '%s/out'", folder);
	cr_assert(strstr(out, "layer mps: the control daemon has ended: ") != NULL, "%s", out);
	cr_assert(strstr(out, "layer mps: a helper has ended before the command") != NULL, "%s",
		  out);
}

/* ---- in force ------------------------------------------------------------------------------- */

/* Runs rift with what the shell does before; clients are those that it writes. */
static int run_rift_as(const char **out, const char *words, const char *before)
{
	char line[4600];

	snprintf(
		line, sizeof(line),
		"%s; exec '%s' run launch us=0 --blocks 5 --depth 4 --check-steps 4 --json --quiet",
		before, rift());
	return run(out, words, line);
}

Test(small_mps, in_force_where_the_daemon_lists_the_process)
{
	const char *out;
	int rc;

	need_device();
	rc = run_rift_as(&out, "threads=50",
			 "printf '%s\\n' 1 $$ >$CUDA_MPS_PIPE_DIRECTORY/clients");
	cr_assert(zero(int, rc), "%s", out);
	cr_assert(strstr(out, "has this process among 2 clients\"") != NULL, "%s", out);
	cr_assert(strstr(out, "\"threads=50\"") != NULL, "%s", out);
	is_gone("a run");
}

static void not_in_force(const char *words, const char *before, const char *says)
{
	const char *out;
	int rc = run_rift_as(&out, words, before);

	cr_assert(eq(int, rc, 4), "%s: %d: %s", before, rc, out);
	cr_assert(strstr(out, "rift: the layer mps is not in force: ") != NULL, "%s", out);
	cr_assert(strstr(out, says) != NULL, "%s", out);
}

Test(small_mps, not_in_force_where_it_does_not)
{
	need_device();
	not_in_force("", "true", "its control daemon has no server");
	not_in_force("", "echo 1 >$CUDA_MPS_PIPE_DIRECTORY/clients",
		     "this process is none of the 1 clients of server ");
	not_in_force("", "export CUDA_MPS_PIPE_DIRECTORY=/nowhere",
		     "CUDA_MPS_PIPE_DIRECTORY is not the layer's");
	not_in_force("",
		     "kill -9 $(cat $CUDA_MPS_PIPE_DIRECTORY/nvidia-cuda-mps-control.pid); rm "
		     "$CUDA_MPS_PIPE_DIRECTORY/nvidia-cuda-mps-control.pid",
		     "its control daemon does not answer");
	setenv("FAKE_MPS", "ignores", 1);
	not_in_force("threads=30", "echo $$ >$CUDA_MPS_PIPE_DIRECTORY/clients",
		     "clients have 100 % of the threads, and 30 % were asked for");
	is_gone("runs");
}

/* There the daemon's numbers are others than the process's. */
Test(small_mps, in_force_in_a_container_inside_it)
{
	char before[4600];
	const char *out;
	int rc;

	need_device();
	if (!has_container())
		cr_skip("needs namespaces (bubblewrap)");
	snprintf(
		before, sizeof(before),
		"echo 1234567 >$CUDA_MPS_PIPE_DIRECTORY/clients; exec '%s' layer container -- '%s' "
		"run launch us=0 --blocks 5 --depth 4 --check-steps 4 --json --quiet",
		rift(), rift());
	rc = run(&out, "", before);
	cr_assert(zero(int, rc), "%s", out);
	cr_assert(strstr(out, "has 1 client, of another PID namespace than its own") != NULL, "%s",
		  out);
	is_gone("a container");
}
