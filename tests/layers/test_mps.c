/*
 * test_mps.c - the layer mps with a control daemon that has no GPU (mps/): it is started, asked and
 * ended, whoever is killed, and a process is told from one that is no client.
 */
/* begins early: it waits long */
/* sanitizers: seen elsewhere */
#include "tests/test.h"

#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "common/check.h"
#include "harness/platform/enter.h"
#include "layers/mps/clients.h"
#include "layers/mps/daemon.h"
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
	_exit(layer_enter(&l, (char *[]){ "sh", "-c", (char *)(uintptr_t)command, NULL }, true,
			  NULL));
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
	pid_t pid = start(words, command);
	int status = -1;

	waitpid(pid, &status, 0); /* what is not in force is asked for 10 s */
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
	refused(125, "layer mps: not available here: ", "layer mps -- true");
	refused(4, "layer 'mps': not available here: ", "run launch us=0 --layer mps");
	refused(4, "'mps threads=50': not available here: ",
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
	shell(&out, "sed 's/uid %d/uid mine/' '%s/said'", (int)geteuid(), folder);
	cr_assert(eq(str, (char *)(uintptr_t)out, "start_server -uid mine\nquit -t 1\n"));
}

/* It is not in the list at once: the command waits for it. */
Test(small_mps, its_server_runs_before_the_command)
{
	const char *out;

	setenv("FAKE_MPS", "starts", 1);
	cr_assert(zero(int, run(&out, "",
				"echo get_server_list | nvidia-cuda-mps-control | "
				"cmp - $CUDA_MPS_PIPE_DIRECTORY/server && wc -l "
				"<$CUDA_MPS_PIPE_DIRECTORY/started")),
		  "%s", out);
	/* it was asked for until it was there, and once more by the command */
	cr_assert(eq(str, (char *)(uintptr_t)out, "5\n"));
}

/* Numbers would be counted twice. */
Test(small_mps, the_daemon_has_the_devices_that_are_named)
{
	static const char *const given[] = { "1", "GPU-1234", "MIG-5", "0,GPU-1234", "" };
	static const char *const has[] = { "all", "GPU-1234", "MIG-5", "all", "all" };

	for (size_t i = 0; i < sizeof(given) / sizeof(*given); i++) {
		char want[64];
		const char *out;

		setenv("CUDA_VISIBLE_DEVICES", given[i], 1);
		run(&out, "", "cat $CUDA_MPS_PIPE_DIRECTORY/devices; echo $CUDA_VISIBLE_DEVICES");
		snprintf(want, sizeof(want), "%s\n%s\n", has[i], given[i]);
		cr_expect(eq(str, (char *)(uintptr_t)out, want));
	}
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
	setenv("RIFT_MPS_PATIENCE_MS", "1000", 1);
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
			      "XDG_RUNTIME_DIR or TMPDIR\n") != NULL,
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

	snprintf(line, sizeof(line),
		 "%s; exec '%s' run launch us=0 --samples 5 --depth 4 --check-steps 4 --json "
		 "--quiet",
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

/* What never comes is waited for 1 s, not 10. */
static void not_in_force(const char *words, const char *before, const char *says)
{
	const char *out;
	int rc;

	setenv("RIFT_MPS_PATIENCE_MS", "1000", 1);
	rc = run_rift_as(&out, words, before);

	cr_assert(eq(int, rc, 4), "%s: %d: %s", before, rc, out);
	cr_assert(strstr(out, "rift: the layer mps is not active: ") != NULL, "%s", out);
	cr_assert(strstr(out, says) != NULL, "%s", out);
}

Test(small_mps, not_in_force_where_it_does_not)
{
	need_device();
	not_in_force("", "true", "its control daemon has no server");
	not_in_force("", "echo 1 >$CUDA_MPS_PIPE_DIRECTORY/clients",
		     "this process is none of the 1 client of server ");
	not_in_force("", "export CUDA_MPS_PIPE_DIRECTORY=/nowhere",
		     "CUDA_MPS_PIPE_DIRECTORY is not the layer's");
	not_in_force("",
		     "kill -9 $(cat $CUDA_MPS_PIPE_DIRECTORY/nvidia-cuda-mps-control.pid); rm "
		     "$CUDA_MPS_PIPE_DIRECTORY/nvidia-cuda-mps-control.pid",
		     "its control daemon does not answer");
	setenv("FAKE_MPS", "ignores", 1);
	not_in_force("threads=30", "echo $$ >$CUDA_MPS_PIPE_DIRECTORY/clients",
		     "clients have 100 % of the threads; 30 % were requested");
	is_gone("runs");
}

#ifdef RIFT_CPU_DEVICE
Test(small_mps, a_context_that_cannot_be_made_is_named)
{
	need_device();
	not_in_force("",
		     "echo $$ >$CUDA_MPS_PIPE_DIRECTORY/clients; "
		     "export RIFT_CPU_FAIL=cudaFree=cudaErrorNotSupported",
		     "no context could be made for 1 s: cudaErrorNotSupported");
}
#endif

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
		"run launch us=0 --samples 5 --depth 4 --check-steps 4 --json --quiet",
		rift(), rift());
	rc = run(&out, "", before);
	cr_assert(zero(int, rc), "%s", out);
	cr_assert(strstr(out, "has 1 client, of another PID namespace than its own") != NULL, "%s",
		  out);
	is_gone("a container");
}

/* ---- while a server starts --------------------------------------------------------------------
 */

/* A daemon of the test's own, in its folder, that knows this client. */
static void daemon_with(const char *client)
{
	char path[200];

	setenv("CUDA_MPS_PIPE_DIRECTORY", folder, 1);
	setenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "100", 1);
	snprintf(path, sizeof(path), "%s", folder);
	shell(NULL,
	      "cd '%s' && echo 1234 >server && echo 1 >nvidia-cuda-mps-control.pid && "
	      "printf '%%s\\n' 77 %s >clients",
	      path, client);
}

static int touches, touches_that_fail;

/* cudaErrorMpsServerNotReady, for so many times */
static int touch(void)
{
	return touches++ < touches_that_fail ? 807 : 0;
}

static bool is_client(int patience_ms, char detail[LAYER_DETAIL])
{
	touches = 0;
	return mps_is_client(touch, patience_ms, detail);
}

static const char *self(void)
{
	static char text[24];

	snprintf(text, sizeof(text), "%d", (int)getpid());
	return text;
}

Test(small_mps, a_server_that_starts_is_waited_for)
{
	char detail[LAYER_DETAIL];

	daemon_with(self());
	setenv("FAKE_MPS", "late", 1);
	touches_that_fail = 3;
	cr_assert(is_client(60000, detail), "%s", detail);
	cr_assert(eq(str, detail, "server 1234 has this process among 2 clients"));
	cr_assert(eq(int, touches, 4));
	/* three empty lists of servers, then three of clients, then both */
	cr_assert(zero(int, shell(NULL, "[ $(wc -l <'%s/asked_servers') = 7 ]", folder)));
	cr_assert(zero(int, shell(NULL, "[ $(wc -l <'%s/asked_clients') = 4 ]", folder)));
}

Test(small_mps, a_server_that_never_starts_is_not_waited_for)
{
	char detail[LAYER_DETAIL];

	daemon_with("78");
	touches_that_fail = 1 << 20;
	cr_assert(not(is_client(200, detail)));
	cr_assert(strstr(detail, "no context could be made for 0 s: ") == detail, "%s", detail);
	touches_that_fail = 0;
	cr_assert(not(is_client(200, detail)));
	cr_assert(eq(str, detail, "this process is none of the 2 clients of server 1234"));
	shell(NULL, "rm '%s/clients'", folder);
	cr_assert(not(is_client(0, detail)));
	cr_assert(eq(str, detail, "its control daemon has no server"));
	setenv("CUDA_MPS_LOG_DIRECTORY", folder, 1);
	shell(NULL, "printf 'one\\nServer 1234 exited with status 1\\n\\n' >'%s/control.log'",
	      folder);
	cr_assert(not(is_client(0, detail)));
	cr_assert(eq(str, detail,
		     "its control daemon has no server; its log ends with: Server 1234 exited with "
		     "status 1"));
	shell(NULL, "rm '%s/nvidia-cuda-mps-control.pid'", folder);
	cr_assert(lt(dbl, mps_threads_within(0), 0));
}

/* Six programs ask a daemon that has one ear: each is answered each time. */
Test(small_mps, clients_ask_one_after_another)
{
	char answer[MPS_ANSWER];
	pid_t pid[6];

	daemon_with(self());
	setenv("FAKE_MPS", "alone", 1);
	for (int i = 0; i < 6; i++) {
		pid[i] = fork();
		for (int k = 0; !pid[i] && k < 4; k++) {
			mps_ask("get_server_list", answer);
			if (strcmp(answer, "1234\n") != 0)
				_exit(1);
		}
		if (!pid[i])
			_exit(0);
	}
	for (int i = 0; i < 6; i++)
		cr_expect(zero(int, status_of_end(pid[i])), "program %d", i);
}

/* ---- the layer remote inside it ---------------------------------------------------------------
 */

/* Whoever was started with the name of the layer's folder. */
static pid_t start_remote(const char *its)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setenv("RIFT_LAYER_REMOTE", its, 1);
		execlp("sleep", "sleep", "1000", (char *)NULL);
		_exit(1);
	}
	/* until it is another program */
	shell(NULL,
	      "n=0; while [ \"$(cat /proc/%d/comm)\" != sleep ] && [ $((n += 1)) -lt 500 ]; do "
	      "sleep 0.02; done",
	      (int)pid);
	return pid;
}

Test(small_mps, the_process_that_has_the_calls_is_the_client)
{
	pid_t pid = start_remote("/run/ours");
	char detail[LAYER_DETAIL], client[24];

	snprintf(client, sizeof(client), "%d", (int)pid);
	daemon_with(client);
	touches_that_fail = 0;
	unsetenv("RIFT_LAYER_REMOTE");
	cr_expect(not(is_client(0, detail)), "%s", detail);
	setenv("RIFT_LAYER_REMOTE", "/run/our", 1);
	cr_expect(not(is_client(0, detail)), "another's: %s", detail);
	setenv("RIFT_LAYER_REMOTE", "/run/ours", 1);
	cr_expect(is_client(0, detail), "%s", detail);
	cr_expect(eq(str, detail,
		     "server 1234 has the layer remote's process for this one among 2 clients"));
	kill(pid, SIGKILL);
	status_of_end(pid);
}
