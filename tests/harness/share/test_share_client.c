/*
 * test_share_client.c - the process behind clients (harness/share/client.c): what it answers to
 * what it is told. Workloads are real; no time is judged but by what a kernel lasts at least.
 */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "harness/share/share.h"

#include <sys/wait.h>

#include "harness/base/json.h"
#include "harness/platform/system.h"
#include "tests/cli.h"
#include "tests/on_cpu.h"

TestSuite(small_share_client, .timeout = 120);

static FILE *told, *answers;
static pid_t client;

/* A client process of this job, as `rift share` starts them. Once it has ended in order, what it
 * set for the device's waits is its exit status. */
static void start_waiting(enum share_way way, const char *workloads, const char *sync)
{
	json_t *job = json_pack("{s:s, s:o, s:i, s:s, s:s, s:i}", "job", "share", "workloads",
				json_loads(workloads, 0, NULL), "way", (int)way, "mode", "stream",
				"sync", sync, "depth", 1);
	int to[2], from[2];

	need_device();
	if (!ON_CPU)
		cr_skip("holds for the CPU device only: NVIDIA's runtime does not outlive a fork");
	cr_assert(zero(int, pipe(to)));
	cr_assert(zero(int, pipe(from)));
	client = fork();
	if (!client) {
		FILE *out = fdopen(from[1], "w");
		unsigned flags = 0;
		int err;

		dup2(to[0], STDIN_FILENO);
		close(to[1]);
		err = share_client_work(out, job);
		if (!err && *sync)
			cudaGetDeviceFlags(&flags);
		_exit(err ? -err : (int)(flags & cudaDeviceScheduleMask));
	}
	close(to[0]);
	close(from[1]);
	told = fdopen(to[1], "w");
	answers = fdopen(from[0], "r");
	json_decref(job);
}

static void start(enum share_way way, const char *workloads)
{
	start_waiting(way, workloads, "");
}

/* Its next answer, which must be this record. New reference. */
static json_t *answer(const char *record)
{
	json_t *o = json_loadf(answers, JSON_DISABLE_EOF_CHECK, NULL);

	cr_assert(ne(ptr, o, NULL), "%s: no answer", record);
	cr_assert(eq(str, (char *)json_get_text(o, "record"), (char *)record));
	return o;
}

static void tell(const char *what)
{
	fprintf(told, "%s\n", what);
	fflush(told);
}

static json_t *ready(void)
{
	json_decref(answer("digests"));
	return answer("ready");
}

/* The exit status of the process, once nothing more is told. */
static int end(void)
{
	int status;

	fclose(told);
	cr_assert(eq(int, waitpid(client, &status, 0), client));
	cr_assert(eq(int, WIFEXITED(status), 1), "status %d", status);
	fclose(answers);
	return WEXITSTATUS(status);
}

/* A window that began at from_ns and lasts for 20 ms from now on. */
static json_t *window(int64_t from_ns)
{
	char line[96];

	snprintf(line, sizeof(line), "window %lld %lld", (long long)from_ns,
		 (long long)clock_ns() + 20000000);
	tell(line);
	return answer("window");
}

static double steps(const json_t *window, size_t i)
{
	return json_get_number(json_array_get(json_object_get(window, "clients"), i), "steps");
}

static double timed(const json_t *window, size_t i)
{
	return json_get_number(json_array_get(json_object_get(window, "clients"), i), "timed");
}

/* The shortest step, and the longest one. */
static double step_ns(const json_t *window, size_t i, bool longest)
{
	const json_t *list =
		json_object_get(json_array_get(json_object_get(window, "clients"), i), "step_ns");

	cr_assert(eq(sz, json_array_size(list), SHARE_QUANTILES), "quantiles");
	return json_number_value(json_array_get(list, longest ? SHARE_QUANTILES - 1 : 0));
}

/* ---- set up --------------------------------------------------------------------------------- */

/* What is free before the first client is set up is all; afterwards it is less by what both hold.
 */
Test(small_share_client, memory_before_and_after)
{
	enum { MIB = 1 << 20, ALL = 512 };
	json_t *o;
	double before, after;

	if (!ON_CPU)
		cr_skip("holds for the CPU device only: its memory can be chosen");
	setenv("RIFT_CPU_MEMORY_MIB", "512", 1);
	start(WAY_SERIAL, "[[\"transfer\",\"bytes=1M\"],[\"transfer\",\"bytes=1M\"]]");
	o = ready();
	before = json_get_number(o, "free_before");
	after = json_get_number(o, "free_after");
	cr_expect(eq(dbl, json_get_number(o, "total"), ALL * (double)MIB), "total");
	cr_expect(eq(dbl, before, ALL * (double)MIB), "before: %g", before);
	cr_expect(le(dbl, 2.0 * MIB, before - after), "each copies 1 MiB: %g", after);
	cr_expect(lt(dbl, 0, after), "after: %g", after);
	cr_expect(eq(sz, json_array_size(json_object_get(o, "step_ns")), 2), "a step of each");
	json_decref(o);
	cr_expect(zero(int, end()), "it ends in order");
}

Test(small_share_client, what_cannot_be_set_up_ends_it)
{
	start(WAY_PROCESSES, "[[\"transfer\",\"bytes=none\"]]");
	cr_expect(eq(ptr, json_loadf(answers, JSON_DISABLE_EOF_CHECK, NULL), NULL), "no answer");
	cr_expect(eq(int, end(), EINVAL), "why");
}

/* Two clients wait as they were told to, and say so. */
Test(small_share_client, clients_wait_as_they_were_told)
{
	static const struct {
		const char *sync;
		unsigned flag;
	} rows[] = {
		{ "spin", cudaDeviceScheduleSpin },
		{ "yield", cudaDeviceScheduleYield },
		{ "event", cudaDeviceScheduleSpin },
		{ "poll", cudaDeviceScheduleSpin },
		{ "blocking", cudaDeviceScheduleBlockingSync },
	};
	json_t *o;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		start_waiting(WAY_SERIAL, "[[\"launch\",\"us=10\"],[\"transfer\",\"bytes=4k\"]]",
			      rows[i].sync);
		o = ready();
		cr_expect(eq(str, (char *)json_get_text(o, "sync"), (char *)rows[i].sync));
		json_decref(o);
		cr_expect(eq(int, end(), (int)rows[i].flag), "%s", rows[i].sync);
	}
	start(WAY_PROCESSES, "[[\"launch\",\"us=10\"]]");
	o = ready();
	cr_expect(eq(str, (char *)json_get_text(o, "sync"), "yield"), "the CPU device's default");
	json_decref(o);
	cr_expect(zero(int, end()), "it ends in order");
}

Test(small_share_client, a_wait_that_there_is_not_ends_it)
{
	start_waiting(WAY_PROCESSES, "[[\"launch\"]]", "sleep");
	cr_expect(eq(ptr, json_loadf(answers, JSON_DISABLE_EOF_CHECK, NULL), NULL), "no answer");
	cr_expect(eq(int, end(), EINVAL), "why");
}

/* ---- windows -------------------------------------------------------------------------------- */

/* A window from now on; on a busy machine not the first one has a whole step of the first client.
 */
static json_t *window_with_a_step(int64_t *from)
{
	json_t *o = NULL;

	for (int i = 0; i < 20 && !(o && timed(o, 0) > 0); i++) {
		json_decref(o);
		*from = clock_ns();
		o = window(*from);
	}
	return o;
}

/* A kernel lasts 2 ms: each step at least that long, and no more steps than fit. */
Test(small_share_client, a_window_of_one)
{
	int64_t from;
	double fit;
	json_t *o;

	start(WAY_PROCESSES, "[[\"launch\",\"us=2000\"]]");
	json_decref(ready());
	tell("prepare");
	json_decref(answer("prepared"));
	o = window_with_a_step(&from);
	fit = (double)(clock_ns() - from) / 2e6;
	cr_expect(lt(dbl, 0, steps(o, 0)), "%g steps", steps(o, 0));
	cr_expect(le(dbl, steps(o, 0), fit), "%g steps, %g fit", steps(o, 0), fit);
	/* the last one may reach beyond the window: it counts in part, and is not timed */
	cr_expect(le(dbl, timed(o, 0), steps(o, 0) + 1e-9), "%g of %g", timed(o, 0), steps(o, 0));
	cr_expect(lt(dbl, steps(o, 0) - 1, timed(o, 0)), "%g of %g", timed(o, 0), steps(o, 0));
	cr_expect(le(dbl, 2e6, step_ns(o, 0, false)), "%g ns", step_ns(o, 0, false));
	cr_expect(le(dbl, step_ns(o, 0, false), step_ns(o, 0, true)), "in order");
	cr_expect(lt(dbl, 0, json_get_number(o, "processors")), "processors");
	json_decref(o);
	/* each window counts anew: of one that is over before it begins there is nothing */
	tell("window 1 2");
	o = answer("window");
	cr_expect(eq(dbl, steps(o, 0), 0), "%g steps", steps(o, 0));
	cr_expect(eq(dbl, timed(o, 0), 0), "%g timed", timed(o, 0));
	json_decref(o);
	cr_expect(zero(int, end()), "it ends in order");
}

/* One after the other: a step of either has waited for the long kernel of the first. */
Test(small_share_client, a_window_of_two_in_turn)
{
	json_t *o;

	start(WAY_SERIAL, "[[\"launch\",\"us=3000\"],[\"transfer\",\"bytes=4k\"]]");
	json_decref(ready());
	o = window(clock_ns());
	for (size_t i = 0; i < 2; i++) {
		cr_expect(lt(dbl, 0, steps(o, i)), "%zu: %g steps", i, steps(o, i));
		if (0 < timed(o, i))
			cr_expect(le(dbl, 3e6, step_ns(o, i, false)), "%zu: %g ns", i,
				  step_ns(o, i, false));
	}
	cr_expect(lt(dbl, timed(o, 0) - timed(o, 1), 1.5), "as many of either");
	cr_expect(lt(dbl, timed(o, 1) - timed(o, 0), 1.5), "as many of either");
	json_decref(o);
	cr_expect(zero(int, end()), "it ends in order");
}

/* Each begins anew as it ends, and both results are right. */
Test(small_share_client, a_window_of_two_streams)
{
	json_t *o, *passed;
	int64_t from;

	start(WAY_STREAMS, "[[\"launch\",\"us=2000\"],[\"transfer\",\"bytes=4k\"]]");
	json_decref(ready());
	tell("prepare");
	json_decref(answer("prepared"));
	o = window_with_a_step(&from);
	for (size_t i = 0; i < 2; i++)
		cr_expect(lt(dbl, 0, steps(o, i)), "%zu: %g steps", i, steps(o, i));
	cr_expect(le(dbl, 2e6, step_ns(o, 0, false)), "%g ns", step_ns(o, 0, false));
	json_decref(o);
	tell("check");
	o = answer("checked");
	passed = json_object_get(o, "passed");
	cr_expect(eq(sz, json_array_size(passed), 2), "both");
	for (size_t i = 0; i < 2; i++)
		cr_expect(eq(int, json_is_true(json_array_get(passed, i)), 1), "%zu", i);
	json_decref(o);
	cr_expect(zero(int, end()), "it ends in order");
}

/* Of one workload, the client that was set up last does not decide for the others. */
Test(small_share_client, clients_of_one_process_keep_their_options)
{
	static const char *const clients[] = {
		"[[\"launch\",\"us=2000\"],[\"launch\",\"us=1\"]]",
		"[[\"launch\",\"us=1\",\"kernel=work\"],[\"launch\",\"us=2000\"]]",
	};

	for (int way = WAY_STREAMS; way <= WAY_SERIAL; way++)
		for (size_t i = 0; i < 2; i++) {
			json_t *o, *passed;

			start((enum share_way)way, clients[i]);
			json_decref(ready());
			tell("prepare");
			json_decref(answer("prepared"));
			o = window(clock_ns());
			if (0 < timed(o, i))
				cr_expect(le(dbl, 2e6, step_ns(o, i, false)),
					  "way %d, client %zu: %g ns", way, i,
					  step_ns(o, i, false));
			json_decref(o);
			tell("check");
			o = answer("checked");
			passed = json_object_get(o, "passed");
			for (size_t k = 0; k < 2; k++)
				cr_expect(eq(int, json_is_true(json_array_get(passed, k)), 1),
					  "way %d, clients %zu: client %zu", way, i, k);
			json_decref(o);
			cr_expect(zero(int, end()), "it ends in order");
		}
}

Test(small_share_client, what_it_does_not_know_ends_it)
{
	start(WAY_PROCESSES, "[[\"transfer\",\"bytes=4k\"]]");
	json_decref(ready());
	tell("window 1");
	cr_expect(eq(int, end(), EINVAL), "a window has two ends");
}
