/*
 * test_cpu_remote_shared.c - the layer's shared=yes: one process of the daemon has several clients.
 * Tests of small_remote_part are one part of two or three, each a process of its own, and meet by
 * files. What a client does alone is in test_cpu_remote_order.c.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <cuda_runtime_api.h>
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "layers/remote/image.h"
#include "layers/remote/library.h"
#include "layers/remote/test_daemon.h"
#include "layers/remote/test_streams.h"
#include "tests/cli.h"
#include "tests/divert.h"
#include "tests/under_layer.h"

TestSuite(small_remote_part, .timeout = 100);
TestSuite(small_remote_shared, .init = layers_apart, .timeout = 240);

/* ---- parts -------------------------------------------------------------------------------- */

enum { LARGE = 200 << 20, TOO_LARGE = 100 << 20 }; /* of 256 MiB that each may take */

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", getenv(REMOTE_VARIABLE), name);
	return path;
}

static void say(const char *name)
{
	FILE *f = fopen(path_of(name), "w");

	cr_assert(f && !fclose(f), "%s", name);
}

static bool said(const char *name)
{
	return !access(path_of(name), F_OK);
}

static void await(const char *name)
{
	cr_assert(has_appeared(path_of(name)), "%s", name);
}

/* Each is run by its name, and then only. */
static bool plays(const char *name)
{
	const char *part = getenv("RIFT_TEST_PART");

	return part && !strcmp(part, name);
}

/* Has a kernel that waits, a capture that is open, memory, and a variable, until all may go on. */
Test(small_remote_part, holds)
{
	uint64_t in[4] = { 3, 0, 0, 4 }, *word;
	cudaStream_t stream;
	cudaGraphExec_t exec;
	struct gate g;
	void *memory;

	if (!plays("holds"))
		return;
	OK(cudaMalloc(&memory, LARGE));
	OK(cudaMemcpyToSymbol(variable(), in, sizeof(in), 0, cudaMemcpyHostToDevice));
	g = gate_new();
	word = zeroed_word();
	stream = new_stream(cudaStreamNonBlocking);
	gate_close(&g, 0);
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	add(word, 7, stream);
	say("holds");
	await("go");
	OK(cudaGraphInstantiate(&exec, ended(stream), 0));
	FAILS(cudaStreamQuery(0), cudaErrorNotReady);
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaStreamSynchronize(stream));
	gate_open(&g);
	OK(cudaDeviceSynchronize());
	cr_assert(eq(u64, value_of(word), 7));
	cr_assert(eq(u64, value_of(g.reached), 1));
}

static void captured_adds(uint64_t *word, cudaStream_t stream)
{
	cudaGraphExec_t exec;

	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	for (uint64_t i = 0; i < 10; i++)
		add(word, i, stream);
	OK(cudaGraphInstantiate(&exec, ended(stream), 0));
	for (int i = 0; i < 20; i++)
		OK(cudaGraphLaunch(exec, stream));
	OK(cudaStreamSynchronize(stream));
	OK(cudaGraphExecDestroy(exec));
}

static void pieces_come_back(void)
{
	enum { PIECE = 3 << 20 };
	uint8_t *in = malloc(PIECE), *out = malloc(PIECE), *piece;

	for (int i = 0; i < PIECE; i++)
		in[i] = (uint8_t)(i * 2654435761u >> 13);
	OK(cudaMalloc((void **)&piece, PIECE));
	OK(cudaMemcpy(piece, in, PIECE, cudaMemcpyHostToDevice));
	OK(cudaMemcpy(out, piece, PIECE, cudaMemcpyDeviceToHost));
	cr_assert(zero(int, memcmp(in, out, PIECE)));
	OK(cudaFree(piece));
	free(in);
	free(out);
}

static void works(void)
{
	cudaStream_t a = new_stream(cudaStreamDefault), b = new_stream(cudaStreamNonBlocking);
	uint64_t *word = zeroed_word();
	cudaEvent_t event;

	OK(cudaEventCreate(&event));
	for (uint64_t i = 0; i < 100; i++)
		add(word, i, i % 2 ? a : 0);
	OK(cudaEventRecord(event, a));
	OK(cudaStreamWaitEvent(b, event, 0));
	add(word, 50, 0);
	OK(cudaStreamSynchronize(0));
	captured_adds(word, b);
	OK(cudaEventSynchronize(event));
	OK(cudaDeviceSynchronize());
	cr_assert(eq(u64, value_of(word), 4950 + 50 + 900));
	pieces_come_back();
	OK(cudaFree(word));
}

/* All that it does, another client's kernel and capture hold up nothing of. */
Test(small_remote_part, works)
{
	void *memory, *more;

	if (!plays("works"))
		return;
	works();
	OK(cudaMalloc(&memory, LARGE));
	FAILS(cudaMalloc(&more, TOO_LARGE), cudaErrorMemoryAllocation);
	cudaGetLastError();
	OK(cudaFree(memory));
}

/* It leaves all that it has to its end. */
Test(small_remote_part, leaves)
{
	enum { PIECES = 50 };
	cudaStream_t stream;
	cudaGraphExec_t exec;
	uint64_t *word;
	void *pinned;

	if (!plays("leaves"))
		return;
	word = zeroed_word();
	for (int i = 0; i < PIECES; i++) {
		OK(cudaMalloc((void **)&word, 4096));
		OK(cudaMallocHost(&pinned, 8192));
		stream = new_stream(i % 2 ? cudaStreamDefault : cudaStreamNonBlocking);
	}
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	add(word, 1, stream);
	OK(cudaGraphInstantiate(&exec, ended(stream), 0));
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	add(word, 1, stream);
}

/* Until there is an end. */
Test(small_remote_part, goes_on)
{
	if (!plays("goes_on"))
		return;
	do {
		works();
		say("going");
	} while (!said("end"));
}

Test(small_remote_part, copies)
{
	enum { BYTES = 16 << 20 };
	uint8_t *from, *to;

	if (!plays("copies"))
		return;
	from = calloc(1, BYTES);
	OK(cudaMalloc((void **)&to, BYTES));
	for (;;) {
		OK(cudaMemcpy(to, from, BYTES, cudaMemcpyHostToDevice));
		say("copies");
	}
}

static void never_returns(void *arg)
{
	(void)arg;
	say("is_called");
	for (;;)
		pause();
}

Test(small_remote_part, is_called)
{
	if (!plays("is_called"))
		return;
	OK(cudaLaunchHostFunc(0, never_returns, NULL));
	OK(cudaStreamSynchronize(0));
}

/* What serves it stands in a call of CUDA's. */
Test(small_remote_part, frees_behind_a_call)
{
	void *memory;

	if (!plays("frees_behind_a_call"))
		return;
	OK(cudaMalloc(&memory, 64));
	OK(cudaLaunchHostFunc(0, never_returns, NULL));
	await("is_called");
	say("frees_behind_a_call");
	OK(cudaFree(memory));
}

Test(small_remote_part, waits_for_ever)
{
	struct gate g;

	if (!plays("waits_for_ever"))
		return;
	g = gate_new();
	gate_close(&g, 0);
	OK(cudaStreamQuery(new_stream(cudaStreamNonBlocking)));
	say("waits_for_ever");
	OK(cudaStreamSynchronize(0));
}

Test(small_remote_part, asks_for_a_variable)
{
	uint64_t out[4];

	if (!plays("asks_for_a_variable"))
		return;
	FAILS(cudaMemcpyFromSymbol(out, variable(), sizeof(out), 0, cudaMemcpyDeviceToHost),
	      cudaErrorNotSupported);
}

Test(small_remote_part, finds_a_variable_new)
{
	uint64_t out[4] = { 1 };

	if (!plays("finds_a_variable_new"))
		return;
	OK(cudaMemcpyFromSymbol(out, variable(), sizeof(out), 0, cudaMemcpyDeviceToHost));
	cr_assert(out[0] == 0 && out[3] == 0, "%lu %lu", (unsigned long)out[0],
		  (unsigned long)out[3]);
}

enum { ILLEGAL_ADDRESS = 700, CONTEXT_IS_DESTROYED = 709 };

Test(small_remote_part, faults)
{
	cudaMemPool_t pool;

	if (!plays("faults"))
		return;
	OK(cudaDeviceGetDefaultMemPool(&pool, 0));
	FAILS(cudaMemPoolTrimTo(pool, 0), ILLEGAL_ADDRESS);
	FAILS(cudaDeviceSynchronize(), CONTEXT_IS_DESTROYED);
}

Test(small_remote_part, suffers)
{
	int err = 0;

	if (!plays("suffers"))
		return;
	OK(cudaDeviceSynchronize());
	say("suffers");
	while (!err)
		err = (int)cudaDeviceSynchronize();
	cr_assert(eq(int, err, CONTEXT_IS_DESTROYED));
}

/* ---- the daemon --------------------------------------------------------------------------- */

static int fault(uint64_t bytes)
{
	(void)bytes;
	return ILLEGAL_ADDRESS;
}

/* As a GPU's runtime answers after a kernel's fault. */
static void have_faults(void)
{
	static struct remote_backend faulty;

	faulty = *backend_cpu();
	faulty.trim = fault;
	remote_backend_instead = &faulty;
}

/* A part, too, in a process that was not forked with threads, as sanitizers want it. What it says
 * goes to a file. */
Test(small_remote_part, serves)
{
	struct remote_opts opts = {
		.poll = 200,
		.memory = 256 << 20,
		.shared = 1,
		.devices = { 1, { -1 } },
	};
	int said_to, ready;
	FILE *f;

	if (!plays("serves"))
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	opts.transport = atoi(getenv("RIFT_TEST_TRANSPORT"));
	if (getenv("RIFT_TEST_FAULTS"))
		have_faults();
	f = fopen(path_of("pid"), "w");
	fprintf(f, "%d", (int)getpid());
	fclose(f);
	said_to = open(path_of("said"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	dup2(said_to, STDERR_FILENO);
	close(said_to);
	ready = open(path_of("ready"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	remote_listen(&opts, getenv(REMOTE_VARIABLE), ready);
	cr_fatal("it listens no more");
}

/* ---- who plays the parts ------------------------------------------------------------------ */

static struct own_daemon the_daemon;
static pid_t its_group;
static int threads_alone; /* entries of their folder, before clients come */

static int entries(const char *folder)
{
	DIR *d = opendir(folder);
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

/* What the daemon's process has. */
struct state {
	int threads, files, maps;
};

static struct state state_now(void)
{
	struct state s = { 0 };
	char path[64], line[512];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)the_daemon.pid);
	s.threads = entries(path);
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)the_daemon.pid);
	s.files = entries(path);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)the_daemon.pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		s.maps += strstr(line, "rift-remote") != NULL || line[0] == '7' || line[0] == '2';
	if (f)
		fclose(f);
	return s;
}

/* The client's library is not instrumented, so that its order is not seen. */
#define SEES_LESS "TSAN_OPTIONS=ignore_noninstrumented_modules=1"

/* A process group of its own, with `set` in its environment. */
static pid_t start_with(const char *name, const char *set)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n < 0 ? 0 : n] = '\0';
	return start_command(-1,
			     "env -u BXFI_MAP " REMOTE_VARIABLE "='%s' RIFT_TEST_PART=%s %s '%s' "
			     "-j1 --filter 'small_remote_part/%s' >'%s/%s.log' 2>&1",
			     the_daemon.folder, name, set, self, name, the_daemon.folder, name);
}

/* Beside others. */
static pid_t start(const char *name)
{
	char set[PATH_MAX + 128];

	snprintf(set, sizeof(set),
		 "LD_PRELOAD='%s' ASAN_OPTIONS=verify_asan_link_order=0 " SEES_LESS,
		 client_library());
	return start_with(name, set);
}

static void start_daemon(enum remote_transport transport)
{
	char text[16] = "";
	struct stat ready;
	FILE *f;

	own_transport = transport;
	snprintf(the_daemon.folder, sizeof(the_daemon.folder), "%s/own", getenv("XDG_RUNTIME_DIR"));
	shell(NULL, "rm -rf '%s'", the_daemon.folder);
	mkdir(the_daemon.folder, 0700);
	own_shared(the_daemon.folder, false);
	setenv(REMOTE_VARIABLE, the_daemon.folder, 1); /* for path_of() */
	snprintf(text, sizeof(text), "%d", (int)transport);
	setenv("RIFT_TEST_TRANSPORT", text, 1);
	its_group = start_with("serves", "");
	while (stat(path_of("ready"), &ready) || !ready.st_size)
		usleep(1000);
	f = fopen(path_of("pid"), "r");
	cr_assert(f && fscanf(f, "%d", &the_daemon.pid) == 1 && !fclose(f));
	threads_alone = state_now().threads;
}

static const char *what_was_said(const char *file)
{
	const char *text;

	shell(&text, "cat '%s'", path_of(file));
	return text;
}

/* A sanitizer's report is none that its end would tell of. */
static void end_daemon(void)
{
	const char *text = what_was_said("said");

	cr_assert(zero(ptr, strstr(text, "Sanitizer")), "%s", text);
	kill(-its_group, SIGKILL);
	status_of_end(its_group);
}

static void part_of(const char *name, char out[128])
{
	snprintf(out, 128, "RIFT_TEST_PART=%s " SEES_LESS, name);
}

static void play(const char *name)
{
	char pattern[96], set[128];
	const char *out;

	part_of(name, set);
	snprintf(pattern, sizeof(pattern), "small_remote_part/%s", name);
	cr_assert(zero(int, run_own_tests(&the_daemon, pattern, set, &out)), "%s", out);
}

static void ends_well(pid_t pid, const char *name)
{
	char log[64];
	int status = status_of_end(pid);

	snprintf(log, sizeof(log), "%s.log", name);
	cr_assert(zero(int, status), "%s", what_was_said(log));
}

static void kill_part(pid_t pid)
{
	kill(-pid, SIGKILL);
	status_of_end(pid);
}

/* Stacks of threads stay with the library, some of them; so maps may be a few more. The thread
 * sanitizer has its own. */
#ifdef __SANITIZE_THREAD__
enum { STACKS = 10000 };
#else
enum { STACKS = 60 };
#endif

/* No client is there, and only the threads that were there before the first one. */
static bool is_back(struct state before)
{
	enum { TRIES = 4000 };
	struct state now = { 0 };

	for (int i = 0; i < TRIES; i++) {
		now = state_now();
		if (now.threads == threads_alone && now.files <= before.files &&
		    now.maps <= before.maps + STACKS)
			return true;
		usleep(1000);
	}
	fprintf(stderr, "threads %d, files %d %d, maps %d %d\n", now.threads, before.files,
		now.files, before.maps, now.maps);
	return false;
}

/* After one client, which has made what stays. */
static struct state state_of_rest(void)
{
	play("works");
	cr_assert(is_back((struct state){ 0, INT_MAX, INT_MAX / 2 }), "the first client");
	return state_now();
}

static bool has_children(void)
{
	char path[64];
	int pid;
	FILE *f;
	bool has;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)the_daemon.pid,
		 (int)the_daemon.pid);
	f = fopen(path, "r");
	has = f && fscanf(f, "%d", &pid) == 1;
	if (f)
		fclose(f);
	return has;
}

/* ---- side by side ------------------------------------------------------------------------- */

static void one_does_not_hold_up_the_other(enum remote_transport transport)
{
	pid_t holds;

	start_daemon(transport);
	holds = start("holds");
	await("holds");
	play("works");
	play("asks_for_a_variable");
	cr_assert(not(has_children()), "a process is a client's");
	say("go");
	ends_well(holds, "holds");
	play("finds_a_variable_new");
	end_daemon();
}

Test(small_remote_shared, a_client_s_kernel_and_capture_hold_up_no_other)
{
	one_does_not_hold_up_the_other(REMOTE_SHM);
}

Test(small_remote_shared, nor_over_tcp)
{
	one_does_not_hold_up_the_other(REMOTE_TCP);
}

/* ---- what is left ------------------------------------------------------------------------- */

Test(small_remote_shared, nothing_is_left_of_clients_that_have_ended)
{
	static const enum remote_transport transports[] = { REMOTE_SHM, REMOTE_TCP };

	for (size_t t = 0; t < sizeof(transports) / sizeof(*transports); t++) {
		struct state before;

		start_daemon(transports[t]);
		before = state_of_rest();
		for (int i = 0; i < 3; i++) {
			play("leaves");
			cr_assert(is_back(before), "%s", "after its end");
		}
		end_daemon();
	}
}

static void is_killed(const char *name, enum remote_transport transport)
{
	struct state before;
	pid_t beside, killed;

	start_daemon(transport);
	before = state_of_rest();
	beside = start("goes_on");
	await("going");
	killed = start(name);
	await(name);
	kill_part(killed);
	unlink(path_of("going"));
	await("going");
	unlink(path_of("going"));
	await("going");
	say("end");
	ends_well(beside, "goes_on");
	cr_assert(is_back(before), "%s", name);
	end_daemon();
}

Test(small_remote_shared, a_killed_client_ends_alone)
{
	is_killed("copies", REMOTE_SHM);
	is_killed("copies", REMOTE_TCP);
	is_killed("is_called", REMOTE_SHM);
	is_killed("is_called", REMOTE_UNIX);
	is_killed("frees_behind_a_call", REMOTE_SHM);
}

/* Its kernel cannot be stopped: what it had stays, and others are served. */
Test(small_remote_shared, a_kernel_that_never_ends_stays)
{
	struct state before;
	pid_t killed;

	start_daemon(REMOTE_SHM);
	before = state_of_rest();
	killed = start("waits_for_ever");
	await("waits_for_ever");
	kill_part(killed);
	while (!strstr(what_was_said("said"), "its work has not: what it had stays taken"))
		usleep(10000);
	cr_assert(lt(int, before.threads, state_now().threads));
	play("works");
	end_daemon();
}

/* ---- what is not contained ---------------------------------------------------------------- */

Test(small_remote_shared, a_fault_ends_all_in_order)
{
	const char *text;
	pid_t beside;

	setenv("RIFT_TEST_FAULTS", "yes", 1);
	start_daemon(REMOTE_SHM);
	beside = start("suffers");
	await("suffers");
	play("faults");
	ends_well(beside, "suffers");
	text = what_was_said("suffers.log");
	cr_assert(strstr(text, "rift: layer remote: the daemon has ended") != NULL, "%s", text);
	text = what_was_said("said");
	cr_assert(is_one_complaint(text), "it is '%s'", text);
	cr_assert(tells(text, "the device does no more"), "%s", text);
	cr_assert(ne(int, status_of_end(its_group), 0), "it goes on");
}

/* ---- strangers ---------------------------------------------------------------------------- */

/* Says hello, and again where it is told of other addresses: those that it has in the end. */
static uint64_t join(int fd)
{
	static const uint64_t bases[] = REMOTE_BASES;
	const struct image program = image_of_program();
	struct remote_hello h = { .magic = REMOTE_MAGIC,
				  .version = REMOTE_VERSION,
				  .kernels = REMOTE_FUNCTIONS,
				  .transport = REMOTE_UNIX,
				  .base = bases[0] };
	struct remote_welcome w = { .verdict = REMOTE_TAKEN, .base = h.base };

	memcpy(h.build_id, program.build_id, sizeof(h.build_id));
	for (int i = 0; i < 2 && w.verdict == REMOTE_TAKEN; i++) {
		h.base = w.base;
		cr_assert(eq(sz, (size_t)write(fd, &h, sizeof(h)), sizeof(h)));
		cr_assert(eq(sz, (size_t)recv(fd, &w, sizeof(w), MSG_WAITALL), sizeof(w)));
	}
	cr_assert(eq(int, (int)w.verdict, REMOTE_WELCOME), "%s", w.reason);
	return h.base;
}

/* What is no command ends a client's session, and no other's. */
static void write_nonsense(int fd)
{
	uint8_t noise[512], byte;

	memset(noise, 0xa5, sizeof(noise));
	join(fd);
	cr_assert(eq(sz, (size_t)write(fd, noise, sizeof(noise)), sizeof(noise)));
	cr_assert(recv(fd, &byte, 1, 0) <= 0, "it goes on");
}

Test(small_remote_shared, who_writes_no_command_is_served_no_more)
{
	struct state before;
	pid_t beside;
	int fd;

	start_daemon(REMOTE_UNIX);
	before = state_of_rest();
	beside = start("goes_on");
	await("going");
	fd = own_daemon_reach(&the_daemon);
	write_nonsense(fd);
	close(fd);
	cr_assert(strstr(what_was_said("said"), "a client wrote what is no command") != NULL);
	say("end");
	ends_well(beside, "goes_on");
	cr_assert(is_back(before), "who wrote it");
	end_daemon();
}

/* Each is told of addresses that are free, more than a client knows of by itself. The thread
 * sanitizer has few. */
Test(small_remote_shared, addresses_are_offered)
{
#ifdef __SANITIZE_THREAD__
	enum { CLIENTS = 2 };
#else
	enum { CLIENTS = 8 };
#endif
	uint64_t base[CLIENTS];

	start_daemon(REMOTE_UNIX);
	for (int i = 0; i < CLIENTS; i++) {
		base[i] = join(own_daemon_reach(&the_daemon));
		for (int j = 0; j < i; j++)
			cr_assert(ne(u64, base[i], base[j]), "%d %d", i, j);
	}
	end_daemon();
}
