/*
 * test_cpu_remote_together.c - the layer's shared=yes, where the device of the process that serves
 * all does no more, or the process has ended: who has it hears of it, who comes has another.
 *
 * The CPU device ends a process by a kernel's fault. So the daemon's runtime is put before it here:
 * once it has been told to, calls that need the device return an error, as a GPU's do.
 */
#include "tests/test.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>

#include "layers/remote/daemon/library.h"
#include "layers/remote/test_parts.h"
#include "layers/remote/test_streams.h"

TestSuite(small_remote_part, .timeout = 100);
TestSuite(small_remote_together, .init = layers_apart, .timeout = 240);

/* ---- a runtime whose device does no more ---------------------------------------------------- */

enum { ILLEGAL_ADDRESS = 700, CONTEXT_IS_DESTROYED = 709, LAUNCH_FAILURE = 719 };

/* In a client it is never told so. */
static atomic_int broken; /* the error; 0: it works */

/* What makes something makes nothing then. What gives it back does so, and waits wait, as memory is
 * the host's. */
#define CALL(name, types, names, makes)                                                            \
	cudaError_t name types                                                                     \
	{                                                                                          \
		cudaError_t(*next) types;                                                          \
		void *symbol = dlsym(RTLD_NEXT, #name);                                            \
		int error = atomic_load(&broken);                                                  \
                                                                                                   \
		memcpy(&next, &symbol, sizeof(next));                                              \
		if (!(makes) || !error)                                                            \
			error = (int)next names;                                                   \
		return atomic_load(&broken) ? (cudaError_t)atomic_load(&broken)                    \
					    : (cudaError_t)error;                                  \
	}

#define MAKES(name, types, names) CALL(name, types, names, true)
#define DOES(name, types, names) CALL(name, types, names, false)

MAKES(cudaSetDevice, (int device), (device))
MAKES(cudaStreamCreateWithFlags, (cudaStream_t * s, unsigned flags), (s, flags))
MAKES(cudaEventCreateWithFlags, (cudaEvent_t * e, unsigned flags), (e, flags))
MAKES(cudaMallocAsync, (void **at, size_t bytes, cudaStream_t s), (at, bytes, s))
MAKES(cudaStreamIsCapturing, (cudaStream_t s, enum cudaStreamCaptureStatus *status), (s, status))
DOES(cudaGetLastError, (void), ())
DOES(cudaStreamDestroy, (cudaStream_t s), (s))
DOES(cudaStreamSynchronize, (cudaStream_t s), (s))
DOES(cudaStreamQuery, (cudaStream_t s), (s))
DOES(cudaStreamWaitEvent, (cudaStream_t s, cudaEvent_t e, unsigned flags), (s, e, flags))
DOES(cudaEventRecord, (cudaEvent_t e, cudaStream_t s), (e, s))
DOES(cudaEventQuery, (cudaEvent_t e), (e))
DOES(cudaEventDestroy, (cudaEvent_t e), (e))
DOES(cudaFreeAsync, (void *at, cudaStream_t s), (at, s))

/* What has the daemon's device do no more: a size for a pool that is an error's number. */
enum { UNHEARD = 1 << 20 }; /* with this, the call itself returns none */

static int break_by(uint64_t size)
{
	atomic_store(&broken, (int)(size % UNHEARD));
	return size < UNHEARD ? (int)size : 0;
}

/* ---- parts -------------------------------------------------------------------------------- */

void before_serving(void)
{
	static struct remote_backend faulty;

	faulty = *backend_cpu();
	faulty.trim = break_by;
	remote_backend_instead = &faulty;
	if (getenv("RIFT_TEST_NEVER"))
		atomic_store(&broken, LAUNCH_FAILURE);
}

static int trim_to(size_t size)
{
	cudaMemPool_t pool;

	OK(cudaDeviceGetDefaultMemPool(&pool, 0));
	return (int)cudaMemPoolTrimTo(pool, size);
}

Test(small_remote_part, faults)
{
	if (!plays("faults"))
		return;
	cr_assert(eq(int, trim_to(ILLEGAL_ADDRESS), ILLEGAL_ADDRESS));
	FAILS(cudaDeviceSynchronize(), ILLEGAL_ADDRESS);
}

/* It ends, and no call of its has returned the error. */
Test(small_remote_part, faults_unheard)
{
	if (!plays("faults_unheard"))
		return;
	OK(trim_to(UNHEARD + ILLEGAL_ADDRESS));
}

Test(small_remote_part, faults_unheard_and_stays)
{
	if (!plays("faults_unheard_and_stays"))
		return;
	OK(trim_to(UNHEARD + LAUNCH_FAILURE));
	say("faults_unheard_and_stays");
	await("go");
	FAILS(cudaDeviceSynchronize(), LAUNCH_FAILURE);
}

/* All its calls return the error, whatever they do. */
Test(small_remote_part, suffers)
{
	void *memory, *more;
	cudaStream_t stream;
	int err = 0;

	if (!plays("suffers"))
		return;
	OK(cudaMalloc(&memory, 4096));
	stream = new_stream(cudaStreamDefault);
	say("suffers");
	while (!err)
		err = (int)cudaDeviceSynchronize();
	cr_assert(eq(int, err, ILLEGAL_ADDRESS));
	FAILS(cudaMalloc(&more, 4096), ILLEGAL_ADDRESS);
	FAILS(cudaStreamSynchronize(stream), ILLEGAL_ADDRESS);
	FAILS(cudaStreamSynchronize(0), ILLEGAL_ADDRESS);
	FAILS(cudaFree(memory), ILLEGAL_ADDRESS);
	say("suffered");
	await("go");
	FAILS(cudaDeviceSynchronize(), ILLEGAL_ADDRESS);
}

Test(small_remote_part, loses)
{
	int err = 0;

	if (!plays("loses"))
		return;
	OK(cudaDeviceSynchronize());
	say("loses");
	while (!err)
		err = (int)cudaDeviceSynchronize();
	cr_assert(eq(int, err, CONTEXT_IS_DESTROYED));
}

Test(small_remote_part, works)
{
	uint64_t *word;

	if (!plays("works"))
		return;
	word = zeroed_word();
	add(word, 3, 0);
	OK(cudaDeviceSynchronize());
	cr_assert(eq(u64, value_of(word), 3));
	OK(cudaFree(word));
}

/* Whenever it comes: served, or in a process whose device does no more. */
Test(small_remote_part, tries)
{
	uint64_t *word;
	int err;

	if (!plays("tries"))
		return;
	err = (int)cudaMalloc((void **)&word, sizeof(*word));
	err = err ? err : (int)cudaMemset(word, 0, sizeof(*word));
	err = err ? err : (int)cudaDeviceSynchronize();
	cr_assert(err == 0 || err == ILLEGAL_ADDRESS, "%d", err);
}

Test(small_remote_part, is_refused)
{
	if (!plays("is_refused"))
		return;
	FAILS(cudaDeviceSynchronize(), cudaErrorInitializationError);
}

/* ---- what is so of processes ---------------------------------------------------------------- */

static bool is_gone(pid_t pid)
{
	enum { TRIES = 8000 };

	for (int i = 0; i < TRIES; i++) {
		if (kill(pid, 0))
			return true;
		usleep(1000);
	}
	return false;
}

static bool is_one_left(void)
{
	enum { TRIES = 8000 };
	int n = 0;

	for (int i = 0; i < TRIES && n != 1; i++) {
		child_of(the_daemon.pid, &n);
		usleep(1000);
	}
	return n == 1;
}

static int times_said(const char *what)
{
	int n = 0;

	for (const char *at = what_was_said("said"); (at = strstr(at, what)); at++)
		n++;
	return n;
}

static const char no_more[] = "the device has stopped working";

/* ---- one after the other -------------------------------------------------------------------- */

/* The process is there as long as a client of its own is, and no newcomer's. */
static void others_have_another(enum remote_transport transport)
{
	pid_t beside, first, second;
	struct state listens;

	start_daemon(transport);
	state_of_rest(); /* the thread sanitizer has addresses for few clients at a time */
	listens = state_of(the_daemon.pid);
	beside = start("suffers");
	await("suffers");
	first = server_now();
	play("faults");
	await("suffered");
	play("works");
	cr_assert(zero(int, kill(first, 0)), "who has it is there");
	say("go");
	ends_well(beside, "suffers");
	cr_assert(is_gone(first), "it has no client");
	second = server_now();
	cr_assert(second && second != first, "nobody serves");
	play("works");
	cr_assert(eq(int, server_now(), second));
	cr_assert(eq(int, times_said(no_more), 1), "%s", what_was_said("said"));
	cr_assert(eq(int, state_of(the_daemon.pid).files, listens.files));
	end_daemon();
}

Test(small_remote_together, a_fault_is_for_those_who_have_the_device)
{
	others_have_another(REMOTE_SHM);
	others_have_another(REMOTE_UNIX);
	others_have_another(REMOTE_TCP);
}

/* A process has both devices. */
Test(small_remote_together, also_with_several_devices)
{
	setenv("RIFT_CPU_DEVICES", "2", 1);
	others_have_another(REMOTE_SHM);
}

Test(small_remote_together, a_fault_that_its_client_has_not_heard_of_is_seen_at_its_end)
{
	pid_t first;

	start_daemon(REMOTE_SHM);
	play("works");
	first = server_now();
	play("faults_unheard");
	cr_assert(is_gone(first), "it goes on");
	play("works");
	end_daemon();
}

/* The newcomer is the first that hears of it, and is passed on. */
static void newcomer_is_passed_on(enum remote_transport transport)
{
	pid_t beside, first;

	start_daemon(transport);
	beside = start("faults_unheard_and_stays");
	await("faults_unheard_and_stays");
	first = server_now();
	play("works");
	cr_assert(zero(int, kill(first, 0)), "who has it is there");
	cr_assert(eq(int, times_said(no_more), 1), "%s", what_was_said("said"));
	say("go");
	ends_well(beside, "faults_unheard_and_stays");
	cr_assert(is_gone(first), "it has no client");
	end_daemon();
}

Test(small_remote_together, who_finds_the_device_so_is_passed_on)
{
	newcomer_is_passed_on(REMOTE_SHM);
	newcomer_is_passed_on(REMOTE_UNIX);
	newcomer_is_passed_on(REMOTE_TCP);
}

/* It has a thread there, which waits for its hello. */
Test(small_remote_together, who_has_come_and_said_nothing_is_passed_on)
{
	pid_t first;
	int fd;

	start_daemon(REMOTE_UNIX);
	state_of_rest();
	first = server_now();
	fd = own_daemon_reach(&the_daemon);
	while (state_of(first).threads <= threads_alone)
		usleep(1000);
	play("faults");
	join(fd);
	cr_assert(is_gone(first), "it has no client");
	close(fd);
	end_daemon();
}

/* ---- whenever it breaks --------------------------------------------------------------------- */

Test(small_remote_together, clients_that_come_meanwhile_are_served_or_hear_of_it)
{
#ifdef __SANITIZE_THREAD__
	enum { ROUNDS = 3, AT_ONCE = 2 }; /* it leaves few addresses */
#else
	enum { ROUNDS = 3, AT_ONCE = 4 };
#endif
	pid_t tries[AT_ONCE];

	start_daemon(REMOTE_SHM);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < AT_ONCE; i++)
			tries[i] = start("tries");
		play("faults");
		for (int i = 0; i < AT_ONCE; i++)
			ends_well(tries[i], "tries");
		state_of_rest();
		cr_assert(is_one_left(), "%s", what_was_said("said"));
	}
	end_daemon();
}

/* ---- a process that has ended --------------------------------------------------------------- */

Test(small_remote_together, a_process_that_was_killed_is_followed)
{
	pid_t beside, first;

	start_daemon(REMOTE_SHM);
	beside = start("loses");
	await("loses");
	first = server_now();
	kill(first, SIGKILL);
	ends_well(beside, "loses");
	play("works");
	cr_assert(ne(int, server_now(), first));
	cr_assert(eq(int, times_said("has ended: new clients get a new process"), 1), "%s",
		  what_was_said("said"));
	end_daemon();
}

/* One after the other is told so: it is not tried for ever. */
Test(small_remote_together, a_device_that_never_works_is_refused)
{
	setenv("RIFT_TEST_NEVER", "yes", 1);
	start_daemon(REMOTE_SHM);
	play("is_refused");
	play("is_refused");
	cr_assert(eq(int, times_said(no_more), 2), "%s", what_was_said("said"));
	end_daemon();
}
