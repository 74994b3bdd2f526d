/*
 * test_cpu_remote_shared.c - the layer's shared=yes: one process of the daemon has several clients.
 * Tests of small_remote_part are one part of two or three, each a process of its own, and meet by
 * files. What a client does alone is in test_cpu_remote_order.c.
 */
#include "tests/test.h"

#include <cuda_runtime_api.h>
#include <signal.h>
#include <time.h>

#include "layers/remote/daemon/library.h"
#include "layers/remote/test_parts.h"
#include "layers/remote/test_streams.h"
#include "tests/cli.h"
#include "tests/under_layer.h"

TestSuite(small_remote_part, .timeout = 100);
TestSuite(small_remote_shared, .init = layers_apart, .timeout = 240);

/* ---- parts -------------------------------------------------------------------------------- */

enum { LARGE = 200 << 20, TOO_LARGE = 100 << 20 }; /* of 256 MiB that each may take */

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

/* ---- the daemon --------------------------------------------------------------------------- */

void before_serving(void)
{
}

/* ---- side by side ------------------------------------------------------------------------- */

static void one_does_not_hold_up_the_other(enum remote_transport transport)
{
	int children;
	pid_t holds;

	start_daemon(transport);
	holds = start("holds");
	await("holds");
	play("works");
	play("asks_for_a_variable");
	child_of(server_now(), &children);
	cr_assert(zero(int, children), "a process is a client's");
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
	while (!strstr(what_was_said("said"), "its work has not; its memory stays in use"))
		usleep(10000);
	cr_assert(lt(int, before.threads, state_now().threads));
	play("works");
	end_daemon();
}

/* ---- strangers ---------------------------------------------------------------------------- */

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
	cr_assert(strstr(what_was_said("said"), "a client sent an invalid command") != NULL);
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
