/*
 * test_emulate.c - the layer emulate: which calls cost what, that what was asked for is added, and
 * that programs compute the same under it.
 */
/* sanitizers: seen elsewhere */
#include "tests/test.h"

#include <jansson.h>

#include "harness/base/json.h"
#include "tests/cli.h"
#include "tests/races.h"
#include "tests/under_layer.h"

TestSuite(small_emulate, .init = layers_apart, .timeout = 240);
TestSuite(large_emulate, .init = layers_apart, .timeout = 240);

#define PRESETS 10

static const char *const presets[PRESETS] = {
	"native",    "wddm-packet",	"windows-hags", "wsl2-2020", "wsl2-2021",
	"wsl2-hags", "wsl2-hags-async", "h100-cc",	"hami",	     "vmcuda-tcp",
};

/* ---- which calls cost what --------------------------------------------------------------------
 */

/* How often something was added, by the layer's report: "... (n = 12)". */
static long additions(const char *report)
{
	const char *n = strstr(report, "added minus requested: "),
		   *at = n ? strstr(n, "(n = ") : NULL;

	cr_assert(strstr(report, "rift: layer emulate: added ") != NULL, "%s", report);
	return at ? atol(at + strlen("(n = ")) : 0;
}

Test(small_emulate, each_cost_is_that_of_its_calls)
{
	static const struct {
		const char *costs, *calls;
		long times;
	} rows[] = {
		{ "call=1", "cudaLaunchKernel=4", 4 },
		{ "call=1", "__cudaLaunchKernel=4 cudaLaunchKernel_ptsz=3", 7 },
		{ "call=1", "cudaLaunchKernelExC=2 cudaLaunchCooperativeKernel=5", 7 },
		{ "call=1", "cudaGraphLaunch=3 cudaLaunchHostFunc=1 cudaEventRecord=2", 6 },
		{ "call=1", "cudaMemcpyAsync=2 cudaMemsetAsync=3 cudaMemcpy3DAsync=4", 9 },
		{ "call=1", "cudaGetDevice=9 cudaGetLastError=9 cudaStreamCreate=9", 0 },
		{ "call=1", "cudaStreamSynchronize=9 cudaMalloc=9 cudaFree=9", 0 },
		{ "submit=1", "cudaLaunchKernel=4 cudaStreamSynchronize=9", 4 },
		{ "call=1 submit=1", "cudaLaunchKernel=4", 4 },
		{ "sync=1", "cudaStreamSynchronize=3 cudaEventSynchronize=2 cudaMemcpy=9", 5 },
		{ "return=1", "cudaStreamSynchronize=3 cudaDeviceSynchronize=2", 5 },
		{ "return=1", "cudaMemcpy=3 cudaStreamQuery=9 cudaLaunchKernel=9", 3 },
		{ "copy=1", "cudaMemcpyAsync=2 cudaMemcpy=3 cudaMemsetAsync=9", 5 },
		{ "alloc=1", "cudaMalloc=2 cudaMallocPitch=1 cudaMallocAsync=9", 3 },
		{ "free=1", "cudaFree=2 cudaFreeHost=1", 3 },
		{ "pin=1", "cudaMallocHost=2 cudaHostAlloc=1 cudaHostRegister=1", 4 },
		{ "context=1", "cudaLaunchKernel=7 cudaMalloc=7", 1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char layer[64], calls[160];
		const char *out;

		snprintf(layer, sizeof(layer), "emulate %s", rows[i].costs);
		snprintf(calls, sizeof(calls), "\"$C\" calls %s", rows[i].calls);
		cr_assert(zero(int, call_stubs_under(layer, &out, "", calls)), "%s", out);
		cr_assert(eq(long, additions(out), rows[i].times), "%s, %s: %s", rows[i].costs,
			  rows[i].calls, out);
	}
}

Test(small_emulate, no_call_of_many_threads_is_lost)
{
	const char *out;

	cr_assert(zero(int, call_stubs_under("emulate call=0.1", &out, "",
					     "\"$C\" threads 4 20000 cudaLaunchKernel")),
		  "%s", out);
	cr_assert(eq(long, additions(out), 80000), "%s", out);
}

/* Its parent's last spin is the parent's to tell. */
Test(small_emulate, a_child_that_was_forked_adds_nothing)
{
	const char *out;

	cr_assert(zero(int, call_stubs_under("emulate call=0.1", &out, "",
					     "\"$C\" fork cudaLaunchKernel 3")),
		  "%s", out);
	cr_assert(eq(long, additions(out), 3), "%s", out);
}

/* The program `"$C"` with a copy of a library that stands for another: "$L". */
#define WITH_LIBRARY(from, to, what)                                                               \
	"T=$(mktemp -d) && L=$T/" to " && cp \"${C%/*}/" from "\" $L && " what                     \
	"; E=$?; rm -r $T; exit "                                                                  \
	"$E"

/* A library that stands for cuDNN: it does not need libcudart, so it brings its own. */
Test(small_emulate, nothing_waits_where_a_library_submits_by_itself)
{
	const char *out;
	int rc = call_stubs_under("emulate preset=wsl2-2020", &out, "",
				  WITH_LIBRARY("stubs.so", "libcudnn.so.99",
					       "LD_PRELOAD=\"$LD_PRELOAD:$L\" \"$C\" calls "
					       "cudaStreamSynchronize=3"));

	cr_assert(zero(int, rc), "%s", out);
	cr_assert(strstr(out, "no packets") != NULL, "%s", out);
	cr_assert(zero(int, call_stubs_under("emulate preset=wsl2-2020", &out, "",
					     "\"$C\" calls cudaStreamSynchronize=3")));
	cr_assert(strstr(out, "no packets") == NULL, "%s", out);
}

/* ---- cuBLAS -----------------------------------------------------------------------------------
 */

static const char *products_under(const char *layer, const char *how)
{
	const char *out;
	char prefix[64];

	snprintf(prefix, sizeof(prefix), "env HOW=%s", how);
	cr_assert(zero(int, call_stubs_under(layer, &out, prefix,
					     WITH_LIBRARY("blas.so", "libcublas.so.99",
							  "\"$C\" products $L $HOW"))),
		  "%s, %s: %s", layer, how, out);
	return out;
}

/* Products wait like launches, with the factors that they were given. */
Test(small_emulate, products_of_cublas_wait_in_packets)
{
	static const char *const how[] = { "gemm", "matmul" };

	for (int i = 0; i < 2; i++) {
		const char *out = products_under("emulate n=64", how[i]);

		cr_expect(strstr(out, "at once 0, before another -1, after a wait 2, factors 1 and "
				      "2\n") != NULL,
			  "%s: %s", how[i], out);
		cr_expect(strstr(out, "no packets") == NULL, "%s", out);
		out = products_under("emulate call=1", how[i]);
		cr_expect(strstr(out, "at once 2,") != NULL, "nothing waits: %s", out);
		cr_expect(eq(long, additions(out), 2), "each is charged: %s", out);
	}
}

/* Code of cuBLAS that calls cuBLAS goes on at once: what it does next may not see the layer. */
Test(small_emulate, what_cublas_calls_itself_is_a_part_of_one_command)
{
	const char *out = products_under("emulate n=64 call=1", "inner");

	cr_assert(strstr(out, "inner 1\n") != NULL, "%s", out);
	cr_assert(eq(long, additions(out), 1), "%s", out);
}

/* What the layer does not know the arguments of comes when all before it is made. */
Test(small_emulate, other_functions_of_cublas_keep_their_place)
{
	const char *out = products_under("emulate n=64", "gemm,other");

	cr_assert(strstr(out, "at once 0, before another 2, after a wait 2") != NULL, "%s", out);
	out = products_under("emulate n=64 call=1", "gemm,other");
	cr_assert(eq(long, additions(out), 3), "and it is charged: %s", out);
}

/* ---- when -------------------------------------------------------------------------------------
 */

static double told(const char *text, const char *word)
{
	char *at = strstr(text, word);

	cr_assert(ne(ptr, at, NULL), "%s in %s", word, text);
	return atof(at + strlen(word));
}

/* What the caller prints after a word, the least of some tries: other work on the machine only
 * adds. */
static double least_told(const char *layer, const char *calls, const char *word, double enough,
			 int tries)
{
	double least = INFINITY;

	for (int i = 0; i < tries && !(least <= enough); i++) {
		const char *out;

		cr_assert(zero(int, call_stubs_under(layer, &out, "", calls)), "%s", out);
		least = fmin(least, told(out, word));
	}
	return least;
}

static const char paging[] = "emulate alloc=20000 paging=first-use";

/*
 * How much longer the first use waits than it must, in us: the least of some tries. It never waits
 * less.
 */
static double waits_too_long(const char *calls, double page_tables_us)
{
	double least = INFINITY;

	for (int i = 0; i < 20 && !(least <= 100); i++) {
		const char *out;
		double worked, used;

		cr_assert(zero(int, call_stubs_under(paging, &out, "", calls)), "%s", out);
		worked = told(out, "worked ");
		used = told(out, "first use ");
		cr_expect(le(dbl, page_tables_us - 100, worked + used), "%s: %s", calls, out);
		least = fmin(least, used - fmax(0, page_tables_us - worked));
	}
	return least;
}

/* Page tables are written from the allocation on: what is left of that is waited for at first use.
 */
Test(small_emulate, paging_goes_on_beside_the_program)
{
	cr_expect(le(dbl, waits_too_long("\"$C\" paging 1 0", 20000), 100), "at once");
	cr_expect(le(dbl, waits_too_long("\"$C\" paging 1 10", 20000), 100), "half of it");
	cr_expect(le(dbl, waits_too_long("\"$C\" paging 1 20", 20000), 100), "nothing is left");
	cr_expect(le(dbl, waits_too_long("\"$C\" paging 2 10", 40000), 100),
		  "one allocation after the other");
	cr_expect(le(dbl, least_told(paging, "\"$C\" paging 1 0", "allocated after ", 1000, 20),
		     1000),
		  "an allocation waits for nothing");
	cr_expect(le(dbl, least_told(paging, "\"$C\" paging 1 0", "second use ", 100, 20), 100),
		  "waited once");
}

/* ---- copies that cross between host and device -------------------------------------------------
 */

/* The additions, what the runtime saw last, and how long the call took, the least of some tries. */
struct crossed {
	long additions;
	char last[64];
	double us;
};

static struct crossed cross(const char *costs, int kind, long bytes, double enough_us)
{
	struct crossed c = { .us = INFINITY };
	char layer[128], calls[64];

	snprintf(layer, sizeof(layer), "emulate %s", costs);
	snprintf(calls, sizeof(calls), "\"$C\" crossing %d %ld", kind, bytes);
	for (int i = 0; i < 5 && (!i || c.us > enough_us); i++) {
		const char *out, *last;

		cr_assert(zero(int, call_stubs_under(layer, &out, "", calls)), "%s", out);
		last = strstr(out, ", last ");
		c.additions = additions(out);
		c.us = fmin(c.us, told(out, "took "));
		snprintf(c.last, sizeof(c.last), "%.*s", (int)strcspn(last + 7, "\n"), last + 7);
	}
	return c;
}

enum { TO_DEVICE = 1, TO_HOST = 2, ON_DEVICE = 3 }; /* cudaMemcpyKind */

/* Of a copy within the device nothing is asked. */
Test(small_emulate, copies_between_host_and_device_pay_for_crossing)
{
	cr_expect(eq(long, cross("crossing=50", TO_DEVICE, 64, INFINITY).additions, 1));
	cr_expect(eq(long, cross("crossing=50", TO_HOST, 64, INFINITY).additions, 1));
	cr_expect(eq(long, cross("crossing=50", ON_DEVICE, 64, INFINITY).additions, 0));
	cr_expect(le(dbl, 50, cross("crossing=50", TO_DEVICE, 64, 60).us));
	cr_expect(le(dbl, cross("crossing=50", ON_DEVICE, 64, 40).us, 40), "nothing to pay");
}

/* To the host it is waited for; to the device for as long as its bytes take: 4 MB at 4 GB/s. */
Test(small_emulate, copies_that_block_block_their_caller)
{
	static const char blocking[] = "copying=blocking copies=4 block=1M";
	struct crossed to_device = cross(blocking, TO_DEVICE, 4000000, 1200);

	cr_expect(le(dbl, 1000, to_device.us), "%g us", to_device.us);
	cr_expect(le(dbl, to_device.us, 3000), "%g us", to_device.us);
	cr_expect(eq(str, to_device.last, "cudaMemcpyAsync"));
	cr_expect(eq(str, cross(blocking, TO_HOST, 64, INFINITY).last, "cudaStreamSynchronize"));
	cr_expect(eq(str, cross(blocking, ON_DEVICE, 64, INFINITY).last, "cudaMemcpyAsync"));
	cr_expect(eq(str, cross("call=1", TO_HOST, 64, INFINITY).last, "cudaMemcpyAsync"));
}

/* The next copy's stream waits for what this one leaves behind. */
Test(small_emulate, copies_on_one_channel_leave_an_event)
{
	cr_expect(eq(str, cross("channel=one", TO_DEVICE, 64, INFINITY).last, "cudaEventRecord"));
	cr_expect(eq(str, cross("channel=one", ON_DEVICE, 64, INFINITY).last, "cudaMemcpyAsync"));
}

/* A packet that nobody flushes closes when it is old, whoever submits. */
Test(small_emulate, age_closes_a_packet_without_a_call)
{
	static const char *const layers[] = {
		"emulate n=64 age=200",
		"emulate n=64 age=200 submit=45",
		"emulate n=64 age=200 latency=15",
		"emulate n=64 age=200 where=submitter",
		"emulate preset=wddm-packet",
		"emulate preset=wsl2-2020",
		"emulate preset=wsl2-2021",
	};

	for (size_t i = 0; i < sizeof(layers) / sizeof(*layers); i++)
		cr_expect(
			le(dbl, least_told(layers[i], "\"$C\" aged", "seen after ", 1000, 3), 1000),
			"%s", layers[i]);
	cr_expect(le(dbl, 1999, least_told("emulate n=64", "\"$C\" aged", "seen after ", 9999, 1)),
		  "without an age nothing closes it");
}

/* ---- what a process may have of the device -----------------------------------------------------
 */

/* A number behind these words of the layer's report. */
static long reported(const char *costs, const char *calls, const char *word)
{
	char layer[64];
	const char *out;

	snprintf(layer, sizeof(layer), "emulate %s", costs);
	cr_assert(zero(int, call_stubs_under(layer, &out, "", calls)), "%s", out);
	return (long)told(out, word);
}

/* The runtime of stubs gives what is asked for, so what is refused is refused by the layer. */
Test(small_emulate, memory_is_limited_where_it_is_asked_for)
{
	static const char refused[] = "allocations refused: ";
	const char *out;

	cr_expect(eq(long, reported("memory=8M", "\"$C\" calls cudaFree=4", refused), 0));
	cr_assert(
		zero(int, call_stubs_under("emulate call=1", &out, "", "\"$C\" calls cudaFree=4")));
	cr_expect(strstr(out, refused) == NULL, "without a limit nothing is said: %s", out);
}

/* Kernels of stubs take no time, so the bucket is never empty: nothing is held back, all are made.
 */
Test(small_emulate, kernels_that_take_no_time_are_not_held_back)
{
	static const char held[] = "launches held back: ";

	cr_expect(eq(
		long,
		reported("compute=30", "\"$C\" calls cudaGraphLaunch=50 cudaMemcpyAsync=50", held),
		0));
}

/* ---- entering ----------------------------------------------------------------------------------
 */

Test(small_emulate, one_at_a_time_and_only_costs_that_there_are)
{
	const char *err;

	cr_assert(eq(
		int,
		run_rift(ERR, &err, "layer emulate call=1 -- '%s' layer emulate -- true", rift()),
		125));
	cr_assert(strstr(err, "RIFT_LAYER_EMULATE") != NULL, "%s", err);
	cr_assert(eq(int, run_rift(ERR, &err, "layer emulate preset=wsl2-2022 -- true"), 3));
	cr_assert(strstr(err, "did you mean 'wsl2-202") != NULL, "%s", err);
	cr_assert(
		eq(int, run_rift(ERR, &err, "layer emulate preset=native preset=hami -- true"), 3));
	cr_assert(eq(int, run_rift(ERR, &err, "layer emulate cal=1 -- true"), 3));
	cr_assert(eq(int, run_rift(ERR, &err, "layer emulate call=-1 -- true"), 3));
	cr_assert(eq(int, run_rift(ERR, &err, "layer shim preset=native -- true"), 3));
}

static const char *value_of_preset(const json_t *layer, const char *name)
{
	return json_get_text(json_object_get(layer, "presets"), name);
}

Test(small_emulate, the_list_has_its_presets)
{
	const char *out;
	json_t *all, *layer;

	cr_assert(zero(int, run_rift(OUT, &out, "layer emulate --json")));
	all = json_loads(out, 0, NULL);
	layer = json_array_get(json_object_get(all, "layers"), 0);
	cr_assert(eq(str, (char *)json_get_text(layer, "label"), "model"));
	for (int i = 0; i < PRESETS; i++)
		cr_assert(value_of_preset(layer, presets[i]) != NULL, "%s", presets[i]);
	json_decref(all);
}

/* What is given beside a preset wins. */
Test(small_emulate, a_record_has_the_costs_in_force)
{
	const json_t *layers;
	const char *out;
	json_t *run;

	need_device();
	cr_assert(zero(int, run_rift(OUT, &out,
				     "run launch --samples 5 --depth 4 --check-steps 4 --json "
				     "--layer 'emulate preset=wsl2-2020 submit=3'")));
	run = json_loads(out, 0, NULL);
	layers = json_object_get(json_object_get(run, "platform"), "layers");
	layers = json_object_get(json_array_get(layers, 0), "params");
	cr_assert(eq(dbl, json_number_value(json_object_get(layers, "submit")), 3.0), "%s", out);
	cr_assert(eq(dbl, json_number_value(json_object_get(layers, "call")), 1.5));
	cr_assert(eq(long, (long)json_integer_value(json_object_get(layers, "n")), 8));
	json_decref(run);
}

/* ---- how much is added -------------------------------------------------------------------------
 */

/* How long the submission of a step takes in `rift run launch` under the layer, in ns. */
static double submit_ns(const char *costs, const char **out)
{
	json_t *run;
	double ns;

	cr_assert(zero(int, run_rift(OUT, out,
				     "run launch --samples 40 --depth 16 --check-steps 4 --json "
				     "--layer 'emulate %s'",
				     costs)),
		  "%s", *out);
	run = json_loads(*out, 0, NULL);
	ns = json_number_value(json_object_get(json_object_get(run, "submit_ns"), "median"));
	json_decref(run);
	return ns;
}

/* A spin is never too short; that it is not ten times too long holds on any machine. */
Test(small_emulate, what_was_asked_for_is_added)
{
	const char *out;
	double five, twenty;

	need_device();
	five = submit_ns("call=5", &out);
	twenty = submit_ns("call=20", &out);
	cr_assert(le(dbl, 4900.0, five), "%g", five);
	cr_assert(le(dbl, 19900.0, twenty), "%g", twenty);
	cr_assert(lt(dbl, twenty, 200000.0), "%g", twenty);
}

/* ---- what NVIDIA's article on CUDA on WSL2 says of asynchronous submission ---------------------
 */

/* Of launches of so many us under the layer, the least of up to three runs, until that is enough:
 * other work only adds. */
struct launches {
	double submit_ns, block_ns; /* the thread's time for a launch; all of a block */
};

static const struct launches any = { INFINITY, INFINITY };

static struct launches least_launches(const char *costs, int us, int depth, struct launches enough)
{
	struct launches least = any;

	for (int i = 0; i < 3 && (!i || least.submit_ns >= enough.submit_ns ||
				  least.block_ns >= enough.block_ns);
	     i++) {
		const json_t *run = rift_json("run launch us=%d --samples 3 --depth %d "
					      "--check-steps 4 --json --layer 'emulate %s'",
					      us, depth, costs);

		least.submit_ns =
			fmin(least.submit_ns,
			     json_get_number(json_object_get(run, "submit_ns"), "median"));
		least.block_ns =
			fmin(least.block_ns,
			     depth * json_get_number(json_object_get(run, "step_ns"), "min"));
	}
	return least;
}

/* A launch takes the program's thread as long as on native Windows: neither submission nor the way
 * is the thread's, here 2 ms each, which no busy machine adds to the least of three medians. */
Test(small_emulate, asynchronous_launches_take_the_thread_as_long_as_windows)
{
	static const char slow_submit[] = "preset=wsl2-hags-async latency=2000 submit=2000";
	double slow;

	need_device();
	slow = least_launches(slow_submit, 0, 4, (struct launches){ 1e6, INFINITY }).submit_ns;
	cr_expect(lt(dbl, slow, 1e6), "%g ns", slow);
	slow = least_launches("preset=wsl2-hags-async submit=2000 where=caller", 0, 4, any)
		       .submit_ns;
	cr_expect(le(dbl, 2e6, slow), "else the thread pays: %g", slow);
}

/* ... but a launch and a synchronize take longer: VMBus's way there and back, 2 ms here. */
Test(small_emulate, a_launch_and_a_synchronize_take_longer_than_on_windows)
{
	double windows, wsl;

	need_device();
	windows = least_launches("preset=windows-hags", 0, 1, (struct launches){ INFINITY, 2e6 })
			  .block_ns;
	wsl = least_launches("preset=wsl2-hags-async latency=2000", 0, 1, any).block_ns;
	cr_expect(lt(dbl, windows, 2e6), "%g ns", windows);
	cr_expect(le(dbl, 2e6, wsl), "%g ns", wsl);
}

/* A way of 5 ms is paid once by a series of kernels of 0.2 ms, and as often as there are launches
 * where each is waited for. */
Test(small_emulate, the_way_is_seen_at_the_beginning_of_a_series_only)
{
	static const char slow_way[] = "preset=wsl2-hags-async latency=5000";
	double one, series;

	need_device();
	one = least_launches(slow_way, 200, 1, any).block_ns;
	series = least_launches(slow_way, 200, 16, any).block_ns;
	cr_expect(le(dbl, 5.2e6, one), "0.2 ms and 5 ms: %g", one);
	cr_expect(le(dbl, 8.2e6, series), "3.2 ms and 5 ms: %g", series);
	cr_expect(lt(dbl, series, 70e6), "not 16 times 5.2 ms: %g", series);
}

/* A bucket of 10 % of 4 ms is at -0.5 ms or less after a kernel of 1 ms: the next is 5 ms later at
 * least, however busy the machine is. */
Test(small_emulate, a_kernel_that_ran_is_paid_for_by_the_next)
{
	double block;

	need_device();
	block = least_launches("compute=10 window=4", 1000, 4, any).block_ns;
	cr_expect(le(dbl, 3 * 5e6, block), "%g ns", block);
}

/* By the layer's own account, over a thousand calls and more: half of them within 10 ns. */
Test(small_emulate, its_account_of_itself)
{
	const char *out, *p50;

	cr_assert(zero(int, call_stubs_under("emulate call=5", &out, "",
					     "\"$C\" calls cudaLaunchKernel=20000")));
	p50 = strstr(out, ", p50 ");
	cr_assert(p50 != NULL, "%s", out);
	cr_assert(le(int, abs(atoi(p50 + strlen(", p50 "))), 10), "%s", out);
}

/* What it says at the end of each process is in the record, and under the sweep's tables. */
Test(small_emulate, a_sweep_says_how_precise_it_was)
{
	const char *out;
	int rc;

	need_device();
	rc = shell(
		&out,
		"T=$(mktemp -d) && cd $T && '%s' sweep launch us=0 --depth 1,4 --mode stream "
		"--processes 1 --rounds 2 --warm-up 0.01 --layer 'emulate call=20' --output "
		"s.jsonl 2>&1 "
		"&& grep -c '\"record\":\"trailer\".*\"detail\":\"added minus requested: ' s.jsonl "
		"&& '%s' show --check s.jsonl; E=$?; rm -r $T; exit $E",
		rift(), rift());
	cr_assert(zero(int, rc), "%s", out);
	cr_assert(strstr(out, "side b: under emulate, in the last process: added minus") != NULL,
		  "%s", out);
	cr_assert(strstr(out, "\n1\n") != NULL, "one side's trailer has it: %s", out);
}

/* ---- programs compute the same ----------------------------------------------------------------
 */

static const char *const runtime_tests[] = {
	"test_runtime",	       "test_runtime_copies", "test_runtime_graph",  "test_runtime_kernel",
	"test_runtime_memory", "test_runtime_misuse", "test_runtime_stream", "test_runtime_symbol",
	"test_runtime_update", "test_runtime_nodes",
};

/* Captures, graphs, events, streams, errors: what holds of CUDA holds under each preset. By that
 * variable Criterion tells the processes of its tests from the program that starts them. */
static void run_runtime_tests(const char *costs)
{
	for (size_t i = 0; i < sizeof(runtime_tests) / sizeof(*runtime_tests); i++) {
		char program[4096];
		const char *out;

		snprintf(program, sizeof(program), "cpu/%s", runtime_tests[i]);
		cr_assert(zero(int, shell(&out,
					  "env -u BXFI_MAP '%s' layer --quiet emulate %s -- "
					  "'%s' -j1 2>&1",
					  rift(), costs, beside_tests(program))),
			  "%s under %s: %s", runtime_tests[i], costs, out);
		cr_assert(strstr(out, " failed 0 ") != NULL, "%s under %s: %s", runtime_tests[i],
			  costs, out);
	}
}

/*
 * Packets follow one another there, whatever their streams: a program whose one stream waits for
 * the host, and the host for another, goes on only where both are in one packet. So none goes for
 * its age.
 */
#define NO_AGE " age=1000000"

Test(small_emulate, cuda_is_cuda_under_packets)
{
	need_device();
	run_runtime_tests("preset=wsl2-2020" NO_AGE);
}

Test(small_emulate, cuda_is_cuda_under_asynchronous_packets)
{
	need_device();
	run_runtime_tests("preset=wsl2-2021 where=submitter latency=15 return=15" NO_AGE);
}

Test(small_emulate, cuda_is_cuda_in_confidential_computing)
{
	need_device();
	run_runtime_tests("preset=h100-cc");
}

/* Also under limits that are no hindrance to these programs. */
Test(small_emulate, cuda_is_cuda_over_a_network_and_under_limits)
{
	need_device();
	run_runtime_tests("preset=vmcuda-tcp compute=99 memory=64G");
}

/* Each checks its results against a reference. */
Test(large_emulate, workloads_pass_their_checks)
{
	static const char *const runs[] = {
		"mlp batch=32 hidden=16 images=600 --depth 4",
		"radixsort pairs=1k --depth 4",
		"myocyte control=host granularity=stage --depth 1",
		"transfer bytes=64k host=pageable --depth 4",
	};

	need_device();
	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++)
		for (int k = 0; k < PRESETS; k++) {
			const char *out;
			int rc = run_rift(ERR, &out,
					  "run %s --samples 2 --check-steps 4 --layer "
					  "'emulate preset=%s'",
					  runs[i], presets[k]);

			cr_assert(zero(int, rc), "%s under %s: %s", runs[i], presets[k], out);
		}
}
