/*
 * test_cpu_remote.c - the layer remote as a user meets it: workloads pass under it, it is in force,
 * its processes end with each other, others are refused. test_cpu_remote_calls.c has the calls one
 * by one, test_cpu_remote_bits.c the bits.
 */
/* begins early: it waits long */
/* sanitizers: seen elsewhere */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <cuda_runtime_api.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "layers/remote/test_daemon.h"
#include "tests/capture.h"
#include "tests/cli.h"
#include "tests/under_layer.h"

TestSuite(small_remote, .init = layers_apart, .timeout = 240);
TestSuite(small_remote_stranger, .timeout = 100);

/* ---- workloads ---------------------------------------------------------------------------- */

#define SHORT "--blocks 2 --depth 2 --quiet"

static void passes(const char *layer, const char *run)
{
	const char *out;
	int rc = shell(&out, "'%s' layer remote %s -- '%s' run %s " SHORT " 2>&1", rift(), layer,
		       rift(), run);

	cr_assert(zero(int, rc), "%s: %s", run, out);
	cr_assert(strstr(out, "not supported") == NULL, "%s: %s", run, out);
}

/* One for each way in which rift calls CUDA; all workloads are test_cpu_remote_bits.c's. */
Test(small_remote, what_rift_does_passes_under_it)
{
	static const char *const runs[] = {
		"launch us=0",
		"launch us=0 entry=launchex",
		"launch us=0 hold_pinned=1M hold_mapped=1M hold_device=1M hold_pieces=64 "
		"hold_streams=20 hold_events=3000",
		"graph length=10 node=mixed",
		"graph length=10 op=params",
		"graph length=10 op=update",
		"graph length=10 op=capture topology=forkjoin order=shuffled",
		"memory call=async bytes=64k",
		"memory call=pinned bytes=64k",
		"memory call=register bytes=64k",
		"transfer dir=h2d host=pageable bytes=3M",
		"transfer dir=d2h host=registered bytes=3M",
		"transfer dir=d2d bytes=100k",
		"alignment pairs=64",
		"blackscholes options=64k data=streamed overlap=2",
		"blackscholes options=64k data=streamed memory=pageable",
		"blackscholes options=64k launch=programmatic",
	};

	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++)
		passes("", runs[i]);
	passes("strict=yes", "launch us=0 --mode graph");
	passes("poll=0", "launch us=0");
	cr_assert(layers_gone(0), "%d processes are left", layers_running());
}

Test(small_remote, it_is_in_force_and_reports)
{
	const char *out;
	int rc = shell(&out, "'%s' layer remote -- '%s' run launch us=0 " SHORT " --json 2>&1",
		       rift(), rift());
	long done = -1, sent = -2;
	const char *says;

	cr_assert(zero(int, rc), "%s", out);
	says = strstr(out, "the daemon has done ");
	cr_assert(says && sscanf(says, "the daemon has done %ld of %ld", &done, &sent) == 2, "%s",
		  out);
	cr_assert(eq(i64, done, sent));
	cr_assert(strstr(out, "\"in_force\": true") != NULL, "%s", out);
	cr_assert(strstr(out, " commands sent ahead, ") != NULL, "%s", out);
	cr_assert(strstr(out, " answered, half of them within ") != NULL, "%s", out);
	cr_assert(layers_gone(0));
}

/* Sent ahead is none, where each waits. */
Test(small_remote, strict_sends_nothing_ahead)
{
	const char *out;
	int rc = shell(&out, "'%s' layer remote strict=yes -- '%s' run launch us=0 " SHORT " 2>&1",
		       rift(), rift());

	cr_assert(zero(int, rc), "%s", out);
	cr_assert(strstr(out, "remote: 0 commands sent ahead") != NULL, "%s", out);
}

Test(small_remote, without_its_library_it_is_not_in_force)
{
	const char *out;
	int rc = shell(&out,
		       "'%s' layer --quiet remote -- env -u LD_PRELOAD '%s' run launch us=0 " SHORT
		       " 2>&1",
		       rift(), rift());

	cr_assert(eq(int, rc, 4), "%s", out);
	cr_assert(strstr(out, "remote is not in force: its library is not loaded") != NULL, "%s",
		  out);
}

Test(small_remote, a_program_may_take_so_much_memory)
{
	const char *out;
	int rc = shell(&out,
		       "'%s' layer remote memory=8M -- '%s' run transfer dir=h2d bytes=20M " SHORT
		       " 2>&1",
		       rift(), rift());

	cr_assert(ne(int, rc, 0), "%s", out);
	cr_assert(layers_gone(0));
}

/* ---- what it does not do ------------------------------------------------------------------ */

/* No signal, and no step: the exit code of what the device does not do. */
Test(small_remote, cublas_is_refused_by_name)
{
	static const char *const runs[][2] = {
		{ "mlp", "cublasLtCreate" },
		{ "mlp launches=many", "cublasCreate_v2" },
		{ "matmul impl=cublas", "cublasCreate_v2" },
	};

	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
		char line[100];
		const char *out;
		int rc = shell(&out, "'%s' layer --quiet remote -- '%s' run %s " SHORT " 2>&1",
			       rift(), rift(), runs[i][0]);

		snprintf(line, sizeof(line),
			 "rift: layer remote: not supported: %s\nrift: ", runs[i][1]);
		cr_assert(eq(int, rc, 3), "%s: %s", runs[i][0], out);
		cr_assert(zero(int, strncmp(out, line, strlen(line))), "%s: %s", runs[i][0], out);
		cr_assert(strstr(out, " gives no handle: not supported\n") != NULL, "%s", out);
	}
	cr_assert(layers_gone(0));
}

/* A library that comes before the client's, so that its handle is made. */
Test(small_remote, kernels_of_other_libraries_are_refused_by_name)
{
	const char *out;
	int rc = shell(&out,
		       "'%s' layer --quiet remote -- sh -c 'LD_PRELOAD=\"%.*slibcublas.so.13 "
		       "$LD_PRELOAD\" \"%s\" run matmul impl=cublas " SHORT "' 2>&1",
		       rift(), (int)(strrchr(rift(), '/') + 1 - rift()), rift(), rift());

	cr_assert(ne(int, rc, 0), "%s", out);
	cr_assert(strstr(out, "rift: layer remote: not supported: kernels of other libraries than "
			      "the program\n") != NULL,
		  "%s", out);
	cr_assert(layers_gone(0));
}

Test(small_remote, wrappers_outside_it_are_refused)
{
	refused(125, "layer remote: it passes no call on",
		"layer --quiet shim -- '%s' layer --quiet remote -- true", rift());
}

/* ---- strangers ---------------------------------------------------------------------------- */

/* Is run by the next test, as a client of a daemon that runs rift. */
Test(small_remote_stranger, asks_for_the_device)
{
	int count = 0;

	if (getenv("RIFT_REMOTE_STRANGER"))
		cr_assert(eq(int, (int)cudaGetDeviceCount(&count), 0));
}

Test(small_remote, a_program_of_another_build_is_refused)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *out;
	int rc;

	self[n < 0 ? 0 : n] = '\0';
	rc = shell(&out,
		   "'%s' layer --quiet remote -- env -u BXFI_MAP RIFT_REMOTE_STRANGER=1 '%s' "
		   "--filter 'small_remote_stranger/*' 2>&1",
		   rift(), self);
	cr_assert(ne(int, rc, 0), "%s", out);
	cr_assert(strstr(out, "rift: layer remote: the daemon refuses this program: the program is "
			      "not the rift that the daemon runs, of the same build") != NULL,
		  "%s", out);
	cr_assert(layers_gone(0));
}

/* What is no hello is closed on, and the daemon goes on. */
Test(small_remote, who_does_not_speak_its_language_gets_nothing)
{
	static const struct remote_hello others[] = {
		{ .magic = 1, .version = REMOTE_VERSION },
		{ .magic = REMOTE_MAGIC, .version = REMOTE_VERSION + 1 },
	};
	struct own_daemon d = own_daemon_start(false, NULL);

	for (size_t i = 0; i < 2; i++) {
		struct remote_welcome w = { 0 };
		int fd = own_daemon_reach(&d);

		cr_assert(eq(sz, (size_t)write(fd, &others[i], sizeof(others[i])),
			     sizeof(others[i])));
		cr_assert(eq(sz, (size_t)read(fd, &w, sizeof(w)), sizeof(w)));
		cr_assert(eq(int, (int)w.verdict, REMOTE_REFUSED));
		cr_assert(zero(sz, (size_t)read(fd, &w, sizeof(w))), "it goes on");
		close(fd);
	}
	own_daemon_end(&d);
}

/* ---- ends --------------------------------------------------------------------------------- */

#define LONG_RUN "transfer dir=h2d host=pageable bytes=64M --blocks 100000 --quiet"

/* In the middle of copies; its output goes to a file. */
static pid_t start_long_run(void)
{
	pid_t pid = start_command(
		-1, "'%s' layer --quiet remote -- '%s' run " LONG_RUN " >'%s/said' 2>&1", rift(),
		rift(), getenv("XDG_RUNTIME_DIR"));
	const struct timespec copies = { .tv_nsec = 500000000 };

	cr_assert(ne(int, find_role(ROLE_HELPER), 0), "no daemon");
	nanosleep(&copies, NULL);
	return pid;
}

/* The listener's children. */
static void kill_servers(void)
{
	int helper = find_role(ROLE_HELPER);

	shell(NULL, "kill -9 $(cat /proc/%d/task/%d/children)", helper, helper);
}

/* The command ends by itself and says why. */
static void ends_with_one_line(pid_t pid)
{
	const char *out;
	int status = status_of_end(pid);

	shell(&out, "cat '%s/said'", getenv("XDG_RUNTIME_DIR"));
	cr_assert(ne(int, status, 0), "status %d: %s", status, out);
	cr_assert(strstr(out, "rift: layer remote: the daemon has ended") != NULL, "%s", out);
	cr_assert(layers_gone(0), "%d processes, %d folders are left", layers_running(),
		  layers_folders());
}

Test(small_remote, a_killed_client_leaves_nothing)
{
	pid_t pid = start_long_run();

	kill(pid, SIGKILL);
	status_of_end(pid);
	cr_assert(layers_gone(0), "%d processes, %d folders are left", layers_running(),
		  layers_folders());
}

/* No time is asserted but the 3 s after which a hang is one. */
Test(small_remote, a_server_ends_with_its_client_though_the_command_goes_on)
{
	const char *folder = getenv("XDG_RUNTIME_DIR");
	pid_t pid =
		start_command(-1,
			      "'%s' layer --quiet remote -- sh -c '\"%s\" run launch us=0 " SHORT
			      " >/dev/null; touch %s/done; exec sleep 100'",
			      rift(), rift(), folder);
	char done[200];
	int helper, rc;

	snprintf(done, sizeof(done), "%s/done", folder);
	cr_assert(has_appeared(done), "the command");
	helper = find_role(ROLE_HELPER);
	rc = shell(
		NULL,
		"for i in $(seq 300); do test -z \"$(cat /proc/%d/task/%d/children)\" && exit 0; "
		"sleep 0.01; done; exit 1",
		helper, helper);
	kill(pid, SIGKILL);
	status_of_end(pid);
	cr_assert(zero(int, rc), "a server is left");
	cr_assert(layers_gone(0));
}

Test(small_remote, a_killed_server_ends_its_client_in_order)
{
	pid_t pid = start_long_run();

	kill_servers();
	ends_with_one_line(pid);
}

Test(small_remote, a_killed_daemon_ends_its_clients_in_order)
{
	pid_t pid = start_long_run();

	kill(find_role(ROLE_HELPER), SIGKILL);
	ends_with_one_line(pid);
}
