/*
 * test_cpu_remote.c - the layer remote as a user meets it: workloads pass under it, it is in force,
 * its processes end with each other, others are refused. test_cpu_remote_calls.c has the calls one
 * by one, test_cpu_remote_bits.c the bits.
 */
/* begins early: it waits long */
/* sanitizers: seen elsewhere */
#include "tests/test.h"

#include <cuda_runtime_api.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "layers/remote/test_daemon.h"
#include "layers/remote/wire/wire.h"
#include "tests/cli.h"
#include "tests/under_layer.h"

TestSuite(small_remote, .init = layers_apart, .timeout = 240);
TestSuite(large_remote, .init = layers_apart,
	  .timeout = 240); /* other calls go there under sanitizers */
TestSuite(small_remote_stranger, .timeout = 100);

/* ---- workloads ---------------------------------------------------------------------------- */

#define SHORT "--samples 2 --depth 2 --check-steps 4 --quiet"
#define MLP "mlp batch=32 images=600"

static void passes(const char *layer, const char *run)
{
	const char *out;
	int rc = shell(&out, "'%s' layer remote %s -- '%s' run %s " SHORT " 2>&1", rift(), layer,
		       rift(), run);

	cr_assert(zero(int, rc), "%s: %s", run, out);
	cr_assert(strstr(out, "not supported") == NULL, "%s: %s", run, out);
}

/* One for each way in which rift calls CUDA; all workloads are test_cpu_remote_bits.c's. TCP: with
 * less pinned memory. */
static void all_pass(const char *layer)
{
	static const char *const runs[] = {
		"launch us=0",
		"launch us=0 entry=launchex",
		"launch us=0 hold_pinned=1M hold_mapped=256k hold_device=1M hold_pieces=64 "
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
		"alignment pairs=4",
		"blackscholes options=8k data=streamed overlap=2",
		"blackscholes options=8k data=streamed memory=pageable",
		"blackscholes options=8k launch=programmatic",
		"matmul n=64 impl=cublas",
		"matmul n=64 impl=cublas data=streamed --mode graph",
		MLP,
		MLP " epilogues=yes hidden=64,48 --mode graph",
		MLP " launches=many",
	};

	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++)
		passes(layer, runs[i]);
	cr_assert(layers_gone(0), "%d processes are left", layers_running());
}

Test(small_remote, what_rift_does_passes_under_it)
{
	all_pass("");
	passes("strict=yes", "launch us=0 --mode graph");
	passes("poll=0", "launch us=0");
	passes("shared=yes", "launch us=0 --mode graph");
	passes("shared=yes", "blackscholes options=8k data=streamed overlap=2");
	cr_assert(layers_gone(0), "%d processes are left", layers_running());
}

Test(large_remote, what_rift_does_passes_over_a_unix_socket)
{
	all_pass("transport=unix");
	passes("transport=unix strict=yes", "launch us=0 --mode graph");
}

Test(large_remote, what_rift_does_passes_over_tcp)
{
	all_pass("transport=tcp");
	passes("transport=tcp strict=yes", "launch us=0 --mode graph");
	passes("transport=tcp poll=0", "transfer dir=h2d bytes=20M");
}

/* It is never faster than the round trip: half of the calls that wait take that long, or longer. */
Test(small_remote, a_network_is_imitated)
{
	const char *out, *half;
	double us = 0;
	int rc = shell(
		&out,
		"'%s' layer remote transport=unix network=5000,1 -- '%s' run launch us=0 " SHORT
		" --mode fused 2>&1",
		rift(), rift());

	cr_assert(zero(int, rc), "%s", out);
	half = strstr(out, "half of them within ");
	cr_assert(half && sscanf(half, "half of them within %lf us", &us) == 1, "%s", out);
	/* a bin of the histogram is 9 % wide */
	cr_assert(us >= 0.9 * 5000, "%s", out);
}

static double commands_a_wait(const char *words)
{
	const char *out, *sent;
	long long ahead = 0, answered = 0;
	int rc = shell(&out,
		       "'%s' layer remote %s -- '%s' run transfer host=pageable call=sync bytes=1M "
		       "--depth 1 --samples 60 --check-steps 4 --quiet 2>&1",
		       rift(), words, rift());

	cr_assert(zero(int, rc), "%s", out);
	cr_assert(strstr(out, "check             passed") != NULL, "%s", out);
	sent = strstr(out, "rift: layer remote: ");
	cr_assert(sent && sscanf(sent, "rift: layer remote: %lld commands sent ahead, %lld", &ahead,
				 &answered) == 2,
		  "%s", out);
	return (double)ahead / (double)answered;
}

/* Each copy waits: it is 16 commands, a block each, and 15 are sent ahead; or it is one. However
 * many copies are made: rift makes more of them while they are fast. */
Test(small_remote, blocks_are_as_large_as_asked_for)
{
	double in_16 = commands_a_wait("block=64k"), in_one = commands_a_wait("block=1M");
	double by_socket = commands_a_wait("transport=unix block=64k");

	cr_assert(in_16 > 3 && by_socket > 3 && in_one < 1, "%g, over a socket %g; %g", in_16,
		  by_socket, in_one);
}

Test(small_remote, mapped_memory_over_tcp_is_small_or_refused)
{
	const char *out;
	int rc = shell(
		&out,
		"'%s' layer remote transport=tcp -- '%s' run launch us=0 hold_mapped=2M " SHORT
		" 2>&1",
		rift(), rift());

	cr_assert(ne(int, rc, 0), "%s", out);
	cr_assert(strstr(out,
			 "rift: layer remote: not supported: mapped memory of more than 1 MiB, "
			 "or 8 MiB in all, over TCP\n") != NULL,
		  "%s", out);
}

Test(small_remote, it_is_in_force_and_reports)
{
	const char *out;
	int rc = shell(&out,
		       "'%s' layer remote -- '%s' run launch us=0 --samples 2 --depth 2 --quiet "
		       "--json 2>&1",
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
	cr_assert(strstr(out, "remote is not active: its library is not loaded") != NULL, "%s",
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

/* ---- daemons elsewhere --------------------------------------------------------------------- */

static const char *token_file(const char *content, int mode)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/key", getenv("XDG_RUNTIME_DIR"));
	shell(NULL, "printf '%s' >'%s'; chmod %o '%s'", content, path, mode, path);
	return path;
}

/* The port is drawn from the process's number, as another test may run. */
static int a_port(void)
{
	return 20000 + (int)(getpid() % 10000);
}

/* ---- what it does not do ------------------------------------------------------------------ */

/* Its daemon is one elsewhere, in a folder without the library. No signal, and no step: the exit
 * code of what the device does not do. */
Test(small_remote, a_daemon_without_cublas_says_so_and_serves)
{
	const char *key = token_file("0123456789abcdef", 0600), *out;
	const char *folder = getenv("XDG_RUNTIME_DIR");
	int rc =
		shell(&out,
		      "mkdir '%s/bare' && cd \"$(dirname '%s')\" && cp -L rift libcudart.so.13 "
		      "'%s/bare' && mkdir '%s/bare/layers' && cp layers/remote.so '%s/bare/layers'",
		      folder, rift(), folder, folder, folder);
	char ready[300];
	pid_t daemon;

	cr_assert(zero(int, rc), "%s", out);
	snprintf(ready, sizeof(ready), "%s/ready", folder);
	daemon = start_command(-1,
			       "'%s/bare/rift' layer --quiet remote transport=tcp "
			       "listen=127.0.0.1:%d token='%s' -- sh -c 'touch %s; exec sleep 100' "
			       "2>'%s/said'",
			       folder, a_port(), key, ready, folder);
	cr_assert(has_appeared(ready), "the daemon");
	rc = shell(&out,
		   "'%s' layer --quiet remote transport=tcp connect=127.0.0.1:%d token='%s' -- "
		   "sh -c '\"%s\" run launch us=0 " SHORT
		   " && \"%s\" run matmul n=64 impl=cublas " SHORT
		   "' 2>&1; rc=$?; cat '%s/said'; exit $rc",
		   rift(), a_port(), key, rift(), rift(), folder);
	kill(daemon, SIGKILL);
	status_of_end(daemon);
	cr_assert(eq(int, rc, 3), "%s", out);
	cr_assert(strstr(out, " gives no handle: CUBLAS_STATUS_NOT_INITIALIZED\n") != NULL, "%s",
		  out);
	out = strstr(out, "rift: libcublas.so.13, which the build puts next to rift, cannot be ");
	cr_assert(out && !strstr(out + 1, "rift: libcublas.so.13"), "not said, or twice");
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
	refused(125, "layer remote: passes no calls on",
		"layer --quiet shim -- '%s' layer --quiet remote -- true", rift());
}

/* ---- strangers ---------------------------------------------------------------------------- */

/* Is run by the next test, as a client of a daemon that runs rift. */
Test(small_remote_stranger, asks_for_the_device)
{
	int count = 0;

	cr_assert(eq(int, (int)cudaGetDeviceCount(&count), 0));
	cr_assert(le(int, 1, count), "%d", count);
}

Test(small_remote, a_program_of_another_build_is_refused)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *out;
	int rc;

	self[n < 0 ? 0 : n] = '\0';
	rc = shell(&out,
		   "'%s' layer --quiet remote -- env -u BXFI_MAP '%s' "
		   "--filter 'small_remote_stranger/*' 2>&1",
		   rift(), self);
	cr_assert(ne(int, rc, 0), "%s", out);
	cr_assert(strstr(out, "rift: layer remote: the daemon refuses this program: the program "
			      "must be the same build of rift as the daemon") != NULL,
		  "%s", out);
	cr_assert(layers_gone(0));
}

/* What is no hello is closed on, and the daemon goes on. */
static void strangers_get_nothing(enum remote_transport transport, size_t n)
{
	const struct remote_hello others[] = {
		{ .magic = 1, .version = REMOTE_VERSION },
		{ .magic = REMOTE_MAGIC, .version = REMOTE_VERSION + 1 },
		{ .magic = REMOTE_MAGIC, .version = REMOTE_VERSION, .transport = REMOTE_TCP + 1 },
		{ .magic = REMOTE_MAGIC,
		  .version = REMOTE_VERSION,
		  .transport = transport,
		  .token = "00000000000000000000000" },
	};
	struct own_daemon d;

	own_transport = transport;
	d = own_daemon_start(false, NULL);
	for (size_t i = 0; i < n; i++) {
		struct remote_welcome w = { 0 };
		int fd = own_daemon_reach(&d);

		cr_assert(eq(sz, (size_t)write(fd, &others[i], sizeof(others[i])),
			     sizeof(others[i])));
		cr_assert(eq(sz, (size_t)read(fd, &w, sizeof(w)), REMOTE_REFUSAL_BYTES));
		cr_assert(eq(int, (int)w.verdict, REMOTE_REFUSED));
		cr_assert(i < 3 || strstr(w.reason, "its token is not the daemon's"), "%s",
			  w.reason);
		cr_assert(read(fd, &w, sizeof(w)) <= 0, "it goes on");
		close(fd);
	}
	own_daemon_end(&d);
}

Test(small_remote, who_does_not_speak_its_language_gets_nothing)
{
	strangers_get_nothing(REMOTE_SHM, 3);
}

Test(small_remote, who_comes_over_tcp_without_the_token_gets_nothing)
{
	strangers_get_nothing(REMOTE_TCP, 4);
}

/* Who says nothing is held for seconds: so many at once, and one more when one of them goes. */
Test(small_remote, only_so_many_strangers_are_held)
{
	enum { HELD = 64 };
	const struct remote_hello wrong = { .magic = REMOTE_MAGIC,
					    .version = REMOTE_VERSION,
					    .transport = REMOTE_TCP };
	const struct timespec tick = { .tv_nsec = 1000000 };
	struct remote_welcome w = { 0 };
	struct own_daemon d;
	int held[HELD], fd;

	own_transport = REMOTE_TCP;
	d = own_daemon_start(false, NULL);
	for (int i = 0; i < HELD; i++)
		held[i] = own_daemon_reach(&d);
	fd = own_daemon_reach(&d);
	cr_assert(eq(sz, (size_t)read(fd, &w, sizeof(w)), REMOTE_REFUSAL_BYTES),
		  "one too many is answered");
	cr_assert(eq(int, (int)w.verdict, REMOTE_REFUSED));
	cr_assert(strstr(w.reason, "too many") != NULL, "%s", w.reason);
	close(fd);
	cr_assert(recv(held[0], &w, sizeof(w), MSG_DONTWAIT) < 0, "the others are waited for");
	close(held[0]);
	do {
		nanosleep(&tick, NULL);
		fd = own_daemon_reach(&d);
		if (write(fd, &wrong, sizeof(wrong)) != (ssize_t)sizeof(wrong) ||
		    recv(fd, &w, REMOTE_REFUSAL_BYTES, MSG_WAITALL) !=
			    (ssize_t)REMOTE_REFUSAL_BYTES)
			*w.reason = '\0';
		close(fd);
	} while (!strstr(w.reason, "token"));
	own_daemon_end(&d);
}

/* What an older version says is shorter, and it is told so all the same. */
Test(small_remote, another_version_is_told_at_once)
{
	const uint32_t old[14] = { REMOTE_MAGIC, REMOTE_VERSION - 1, REMOTE_FUNCTIONS };
	struct own_daemon d = own_daemon_start(false, NULL);
	struct remote_welcome w = { 0 };
	int fd = own_daemon_reach(&d);

	cr_assert(eq(sz, (size_t)write(fd, old, sizeof(old)), sizeof(old)));
	cr_assert(eq(sz, (size_t)read(fd, &w, sizeof(w)), REMOTE_REFUSAL_BYTES));
	cr_assert(eq(str, w.reason, "client and daemon are of different versions"));
	close(fd);
	own_daemon_end(&d);
}

/* ---- two machines, or what would be two --------------------------------------------------- */

/* Listens at a_port() of this machine until it is killed. */
static pid_t daemon_elsewhere(const char *transport, const char *key)
{
	char ready[300];
	pid_t daemon;

	snprintf(ready, sizeof(ready), "%s/ready", getenv("XDG_RUNTIME_DIR"));
	daemon = start_command(-1,
			       "'%s' layer --quiet remote transport=%s listen=127.0.0.1:%d "
			       "token='%s' -- sh -c 'touch %s; exec sleep 100'",
			       rift(), transport, a_port(), key, ready);
	cr_assert(has_appeared(ready), "the daemon");
	return daemon;
}

/* 127.1 is looked up as a name is, and is known without a file of names. */
Test(small_remote, a_daemon_elsewhere_serves_who_knows_the_token)
{
	const char *key = token_file("0123456789abcdef", 0600), *out;
	pid_t daemon = daemon_elsewhere("tcp", key);
	int rc;

	rc = shell(&out,
		   "'%s' layer remote transport=tcp connect=127.1:%d token='%s' -- '%s' run "
		   "launch us=0 " SHORT " 2>&1",
		   rift(), a_port(), key, rift());
	cr_assert(zero(int, rc), "%s", out);
	cr_assert(strstr(out, "the daemon has done ") != NULL, "%s", out);
	token_file("0123456789abcdeF", 0600);
	rc = shell(&out,
		   "'%s' layer remote transport=tcp connect=127.0.0.1:%d token='%s' -- '%s' run "
		   "launch us=0 " SHORT " 2>&1",
		   rift(), a_port(), key, rift());
	cr_assert(ne(int, rc, 0), "%s", out);
	cr_assert(strstr(out, "rift: layer remote: the daemon refuses this program: its token is "
			      "not the daemon's\n") != NULL,
		  "%s", out);
	kill(daemon, SIGKILL);
	status_of_end(daemon);
	cr_assert(layers_gone(0));
	rc = shell(&out,
		   "'%s' layer remote transport=tcp connect=127.0.0.1:%d token='%s' -- "
		   "'%s' run launch us=0 " SHORT " 2>&1",
		   rift(), a_port(), key, rift());
	cr_assert(ne(int, rc, 0), "%s", out);
	cr_assert(tells(out, "rift: layer remote: no daemon: 127.0.0.1:*: Connection refused\n"),
		  "%s", out);
	cr_assert(layers_gone(0));
}

/* How calls travel under these words, as the layer says of itself. */
static const char *way_of(const char *words)
{
	const char *out;
	char *at;

	cr_assert(
		zero(int, shell(&out, "'%s' layer remote %s -- '%s' run launch us=0 " SHORT " 2>&1",
				rift(), words, rift())),
		"%s: %s", words, out);
	at = strstr(out, "commands that were sent");
	cr_assert(at != NULL, "%s: %s", words, out);
	at += strlen("commands that were sent");
	at[strcspn(at, "\n")] = '\0';
	return at;
}

/* On one machine memory is shared; a network that is imitated takes TCP. */
Test(small_remote, a_transport_is_chosen)
{
	const char *key = token_file("0123456789abcdef", 0600);
	char words[256];

	cr_expect(eq(str, (char *)(uintptr_t)way_of(""), " over shm"));
	cr_expect(eq(str, (char *)(uintptr_t)way_of("transport=auto"), " over shm"));
	cr_expect(eq(str, (char *)(uintptr_t)way_of("network=5,100"), " over tcp"));
	snprintf(words, sizeof(words), "listen=127.0.0.1:0 token='%s'", key);
	cr_expect(eq(str, (char *)(uintptr_t)way_of(words), " over shm"));
	snprintf(words, sizeof(words), "listen=127.0.0.1:0 schedule=static token='%s'", key);
	cr_expect(eq(str, (char *)(uintptr_t)way_of(words), " over tcp"), "one listener deals");
	/* as asked for */
	cr_expect(eq(str, (char *)(uintptr_t)way_of("transport=unix"), ""));
	cr_assert(layers_gone(0));
}

/*
 * A daemon at an address, whose clients are told it alone: one on its own machine shares memory
 * with it, and where it cannot, as in another namespace of the network's, TCP is what there is.
 */
Test(small_remote, a_client_of_the_daemons_machine_shares_memory)
{
	static const struct {
		const char *words, *way;
	} rows[] = {
		{ "connect=127.0.0.1", "over shm" },
		{ "connect=127.1", "over shm" },
		{ "transport=tcp connect=127.0.0.1", "were sent\n" },
	};
	const char *key = token_file("0123456789abcdef", 0600);
	pid_t daemon = daemon_elsewhere("auto", key);

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *out;
		int rc = shell(&out,
			       "'%s' layer remote %s:%d token='%s' -- '%s' run launch us=0 " SHORT
			       " 2>&1",
			       rift(), rows[i].words, a_port(), key, rift());

		cr_expect(zero(int, rc), "%s: %s", rows[i].words, out);
		cr_expect(strstr(out, rows[i].way) != NULL, "%s: %s", rows[i].words, out);
	}
	for (int auto_tcp = 0; auto_tcp < 2; auto_tcp++) {
		const char *other = token_file("fedcba9876543210", 0600), *out;
		int rc = shell(&out,
			       "'%s' layer remote %s connect=127.0.0.1:%d token='%s' -- '%s' run "
			       "launch us=0 " SHORT " 2>&1",
			       rift(), auto_tcp ? "transport=tcp" : "transport=auto", a_port(),
			       other, rift());

		cr_expect(rc && strstr(out, "its token is not the daemon's"), "%s", out);
	}
	kill(daemon, SIGKILL);
	status_of_end(daemon);
	cr_assert(layers_gone(0));
}

/* A port here that leads to a daemon elsewhere has no name beside it. */
Test(small_remote, a_client_of_a_daemon_without_shared_memory_comes_over_tcp)
{
	const char *key = token_file("0123456789abcdef", 0600), *out;
	pid_t daemon = daemon_elsewhere("tcp", key);
	int rc;

	rc = shell(
		&out,
		"'%s' layer remote connect=127.0.0.1:%d token='%s' -- '%s' run launch us=0 " SHORT
		" 2>&1",
		rift(), a_port(), key, rift());
	cr_expect(zero(int, rc), "%s", out);
	cr_expect(strstr(out, "commands that were sent over tcp\n") != NULL, "%s", out);
	kill(daemon, SIGKILL);
	status_of_end(daemon);
	cr_assert(layers_gone(0));
}

Test(small_remote, words_that_fit_nothing_are_refused)
{
	const char *key = token_file("0123456789abcdef", 0644);

	refused(125, "must be 64k to 128M", "layer remote block=63k -- true");
	refused(3, "0 to 128M bytes", "layer remote block=129M -- true");
	refused(125, "shared= configures the daemon",
		"layer remote transport=tcp shared=yes connect=a:1 token='%s' -- true", key);
	refused(3, "network=abc: *RTT,BANDWIDTH *us *Gbit/s*50,10*1000000",
		"layer remote network=abc -- true");
	refused(125, "must be two numbers", "layer remote transport=tcp network=5 -- true");
	refused(125, "needs transport=unix or tcp",
		"layer remote transport=shm network=5,1 -- true");
	refused(125, "needs token=FILE", "layer remote transport=tcp listen=127.0.0.1:1 -- true");
	refused(125, "give one of them",
		"layer remote transport=tcp listen=a:1 connect=a:1 token='%s' -- true", key);
	refused(125, "need transport=tcp",
		"layer remote transport=shm connect=a:1 token='%s' -- true", key);
	refused(125, "nobody else may read", "layer remote transport=tcp token='%s' -- true", key);
	token_file("0123", 0600);
	refused(125, "16 to 63 characters", "layer remote transport=tcp token='%s' -- true", key);
	token_file("0123456789abcdef", 0600);
	refused(125, "must be HOST:PORT",
		"layer --quiet remote transport=tcp listen=nowhere token='%s' -- true", key);
	refused(125, "0 to 65535", "layer remote transport=tcp connect=a:65536 token='%s' -- true",
		key);
}

/* ---- ends --------------------------------------------------------------------------------- */

#define LONG_RUN "transfer dir=h2d host=pageable bytes=64M --samples 100000 --quiet"

/* In the middle of copies; its output goes to a file. */
static pid_t start_long_run(const char *transport)
{
	pid_t pid = start_command(-1,
				  "'%s' layer --quiet remote transport=%s -- '%s' run " LONG_RUN
				  " >'%s/said' 2>&1",
				  rift(), transport, rift(), getenv("XDG_RUNTIME_DIR"));
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

static void kill_a_client(const char *transport)
{
	pid_t pid = start_long_run(transport);

	kill(pid, SIGKILL);
	status_of_end(pid);
	cr_assert(layers_gone(0), "%d processes, %d folders are left", layers_running(),
		  layers_folders());
}

Test(small_remote, a_killed_client_leaves_nothing)
{
	kill_a_client("shm");
	kill_a_client("unix");
	kill_a_client("tcp");
}

Test(small_remote, clients_of_one_process_pass_at_once)
{
	const char *out;
	int rc =
		shell(&out,
		      "'%s' layer --quiet remote shared=yes -- sh -c '\"%s\" run launch us=0 " SHORT
		      " & first=$!; \"%s\" run matmul n=64 " SHORT " && wait $first' 2>&1",
		      rift(), rift(), rift());

	cr_assert(zero(int, rc), "%s", out);
	cr_assert(layers_gone(0));
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
	static const char *const transports[] = { "shm", "unix", "tcp" };

	for (size_t i = 0; i < sizeof(transports) / sizeof(*transports); i++) {
		pid_t pid = start_long_run(transports[i]);

		kill_servers();
		ends_with_one_line(pid);
	}
}

Test(small_remote, a_killed_daemon_ends_its_clients_in_order)
{
	static const char *const transports[] = { "shm", "unix", "tcp" };

	for (size_t i = 0; i < sizeof(transports) / sizeof(*transports); i++) {
		pid_t pid = start_long_run(transports[i]);

		kill(find_role(ROLE_HELPER), SIGKILL);
		ends_with_one_line(pid);
	}
}

/* ---- a daemon that lies ------------------------------------------------------------------- */

/* Answers each hello with the same; *rounds: how many came, at most 1000. */
static void answer_hellos(int client, const struct remote_welcome *w, int *rounds)
{
	size_t bytes = w->verdict == REMOTE_REFUSED ? REMOTE_REFUSAL_BYTES : sizeof(*w);
	struct remote_hello h;

	for (*rounds = 0; *rounds < 1000; ++*rounds) {
		if (recv(client, &h, sizeof(h), MSG_WAITALL) != (ssize_t)sizeof(h))
			break;
		send(client, w, bytes, MSG_NOSIGNAL);
	}
	close(client);
}

/* What a program says whose daemon answers so, and how often it said hello. */
static const char *said_to(const struct remote_welcome *w, int *rounds)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t size = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), pipe_of[2];
	const char *key = token_file("0123456789abcdef", 0600), *out;
	pid_t child;

	cr_assert(zero(int, bind(fd, (struct sockaddr *)&a, size) | listen(fd, 4) |
				    getsockname(fd, (struct sockaddr *)&a, &size) | pipe(pipe_of)),
		  "a port");
	child = fork();
	if (!child) {
		answer_hellos(accept(fd, NULL, NULL), w, rounds);
		_exit(write(pipe_of[1], rounds, sizeof(*rounds)) != (ssize_t)sizeof(*rounds));
	}
	cr_assert(ne(int,
		     shell(&out,
			   "'%s' layer remote transport=tcp connect=127.0.0.1:%d token='%s' "
			   "-- '%s' run launch us=0 " SHORT " 2>&1",
			   rift(), ntohs(a.sin_port), key, rift()),
		     0),
		  "%s", out);
	cr_assert(eq(long, read(pipe_of[0], rounds, sizeof(*rounds)), (long)sizeof(*rounds)));
	waitpid(child, NULL, 0);
	close(fd);
	return out;
}

Test(small_remote, a_refusal_commands_no_terminal_and_forges_no_line)
{
	struct remote_welcome w = { .magic = REMOTE_MAGIC,
				    .verdict = REMOTE_REFUSED,
				    .reason =
					    "\033]0;owned\007\033[31mone\nrift: FORGED\302\233m" };
	int rounds;
	const char *out = said_to(&w, &rounds);

	cr_expect(tells(out, "rift: layer remote: the daemon refuses this program: "
			     "\\x1b]0;owned\\x07\\x1b[31mone\\nrift: FORGED\\u009bm\n"),
		  "%s", out);
	cr_expect(eq(ptr, strchr(out, '\033'), NULL), "%s", out);
	cr_expect(eq(int, rounds, 1), "hellos");
}

/* It names addresses that the client can have, and takes none of them. */
Test(small_remote, a_daemon_that_says_taken_for_ever_is_left)
{
	struct remote_welcome w = { .magic = REMOTE_MAGIC,
				    .verdict = REMOTE_TAKEN,
				    .base = 0x7e8000000000 };
	int rounds;
	const char *out = said_to(&w, &rounds);

	cr_expect(eq(int, rounds, REMOTE_ROUNDS), "hellos");
	cr_expect(tells(out, "rift: layer remote: no addresses for memory: *in use\n"), "%s", out);
}
