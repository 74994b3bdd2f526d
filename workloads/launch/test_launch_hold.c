/* test_launch_hold.c - what the process holds while launches are measured: hold_*=. */
#include "tests/plain.h"
#include "tests/ledger.h"
#include "tests/on_cpu.h"
#include "workloads/launch/test_steps.h"

#include <jansson.h>

TestSuite(small_launch_hold, .timeout = 300);

/* Some of everything; bytes that pieces do not divide. */
static struct launch_opts holding(void)
{
	struct launch_opts o = default_opts();

	o.hold_pinned = 100001;
	o.hold_mapped = 30;
	o.hold_device = 70000;
	o.hold_pieces = 7;
	o.hold_streams = 3;
	o.hold_events = 20;
	return o;
}

static bool is_touched(const char *p, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (p[i] != 1)
			return false;
	return true;
}

Test(small_launch_hold, it_is_there_from_setup_to_teardown)
{
	const int64_t want[LAUNCH_HOLDS] = { 7, 7, 7, 3, 20 };
	struct run *r;
	char back[10000];

	need_device();
	r = run_begin(holding());
	for (int kind = 0; kind < LAUNCH_HOLDS; kind++) {
		cr_assert(r->s.held.n[kind] == want[kind], "kind %d: %ld", kind,
			  (long)r->s.held.n[kind]);
		for (int64_t i = 0; i < want[kind]; i++)
			cr_assert(r->s.held.piece[kind][i], "kind %d, piece %ld", kind, (long)i);
	}
	cr_assert(ledger_count[LEDGER_HOST_MEMORY] == 14, "%s", ledger_open());
	cr_assert(is_touched(r->s.held.piece[LAUNCH_HOLD_PINNED][0], 14286), "the first piece");
	cr_assert(is_touched(r->s.held.piece[LAUNCH_HOLD_PINNED][6], 14285), "the last piece");
	CUDA(cudaMemcpy(back, r->s.held.piece[LAUNCH_HOLD_DEVICE][6], sizeof(back),
			cudaMemcpyDeviceToHost));
	cr_assert(is_touched(back, sizeof(back)), "device memory");
	run_steps(r, 50);
	cr_assert(run_check_all(r, 50).passed, "the steps are what they were");
	run_end(r);
	cr_assert(!*ledger_open(), "left: %s", ledger_open());
}

Test(small_launch_hold, nothing_is_held_by_default)
{
	struct run *r;

	need_device();
	r = run_begin(default_opts());
	for (int kind = 0; kind < LAUNCH_HOLDS; kind++)
		cr_assert(!r->s.held.n[kind] && !r->s.held.piece[kind], "kind %d", kind);
	cr_assert(!ledger_count[LEDGER_HOST_MEMORY], "%s", ledger_open());
	run_end(r);
}

Test(small_launch_hold, the_report_says_what_is_held)
{
	struct report report = { 0 };
	struct launch_opts o = default_opts();
	struct run *r;

	need_device();
	o.hold_pinned = 3 << 20;
	o.hold_events = 5;
	r = run_begin(o);
	cr_assert(!workload_launch.report(&r->o, &r->s, &report), "report");
	cr_assert(!strcmp(report.row[0].name, "held pinned") && report.row[0].value == 3, "%g",
		  report.row[0].value);
	cr_assert(!strcmp(report.row[1].name, "held events") && report.row[1].value == 5, "%g",
		  report.row[1].value);
	run_end(r);
}

/* ---- modules ---------------------------------------------------------------------------- */

#ifdef RIFT_CPU_DEVICE

/* A driver that loads modules and counts; the CPU device has none. */
static struct {
	int there, loaded, run;
	bool lacks_launch;
} modules;

static int load(void **module, const void *image)
{
	*module = strstr(image, ".entry held()") ? malloc(1) : NULL;
	modules.there += *module != NULL;
	modules.loaded += *module != NULL;
	return *module ? cudaSuccess : cudaErrorInvalidValue;
}

static int unload(void *module)
{
	free(module);
	modules.there--;
	return cudaSuccess;
}

static int get_kernel(void **kernel, void *module, const char *name)
{
	*kernel = module;
	return strcmp(name, "held") ? cudaErrorInvalidValue : cudaSuccess;
}

static int launch(void *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
		  unsigned block_y, unsigned block_z, unsigned shared, cudaStream_t stream,
		  void **args, void **extra)
{
	bool right = kernel && stream && !args && !extra && !shared &&
		     grid_x * grid_y * grid_z * block_x * block_y * block_z == 1;

	modules.run += right;
	return right ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **out, unsigned version,
					     unsigned long long flags, int *status)
{
	static const struct {
		const char *name;
		void *function;
	} functions[] = { { "cuModuleLoadData", load },
			  { "cuModuleUnload", unload },
			  { "cuModuleGetFunction", get_kernel },
			  { "cuLaunchKernel", launch } };

	*out = NULL;
	*status = 1;
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions) && version && !flags; i++)
		if (!strcmp(name, functions[i].name) && !(modules.lacks_launch && i == 3)) {
			*out = functions[i].function;
			*status = 0;
		}
	return cudaSuccess;
}

static void is_counted(int there, int loaded, int run)
{
	cr_assert(modules.there == there && modules.loaded == loaded && modules.run == run,
		  "%d there, %d loaded, %d run", modules.there, modules.loaded, modules.run);
}

Test(small_launch_hold, a_driver_that_cannot_launch_them_is_refused)
{
	struct launch_opts o = holding();
	struct launch_state s = { 0 };
	const char *text;
	int err;

	o.hold_modules = 2;
	modules.lacks_launch = true;
	divert_stderr();
	err = workload_launch.setup(&o, &s);
	text = diverted_stderr();
	cr_assert(err == -ENOTSUP && is_one_complaint(text) && tells(text, "hold_modules"),
		  "%d: %s", err, text);
	is_counted(0, 0, 0);
	workload_launch.teardown(&s);
	cr_assert(!*ledger_open(), "left: %s", ledger_open());
}

#else

static void is_counted(int there, int loaded, int run)
{
	(void)there, (void)loaded, (void)run; /* a GPU's driver counts none */
}

#endif

Test(small_launch_hold, modules_are_loaded_and_run_once)
{
	struct launch_opts o = default_opts();
	struct report report = { 0 };
	struct run *r;

	need_device();
	o.hold_modules = 9;
	r = run_begin(o);
	is_counted(9, 9, 9);
	cr_assert(r->s.held.n[LAUNCH_HOLD_MODULES] == 9);
	for (int i = 1; i < 9; i++)
		cr_assert(r->s.held.piece[LAUNCH_HOLD_MODULES][i] !=
				  r->s.held.piece[LAUNCH_HOLD_MODULES][0],
			  "module %d is the first one", i);
	run_steps(r, 20);
	cr_assert(run_check_all(r, 20).passed, "the steps are what they were");
	cr_assert(!workload_launch.report(&r->o, &r->s, &report), "report");
	cr_assert(!strcmp(report.row[0].name, "held modules") && report.row[0].value == 9);
	run_end(r);
	is_counted(0, 9, 9);
}

/* rift has no such driver. */
Test(small_launch_hold, the_cpu_device_loads_no_modules)
{
	const char *text;

	if (!ON_CPU)
		cr_skip("a GPU does");
	cr_assert(run_rift(ERR, &text, "run launch us=0 hold_modules=1 --depth 1") == 3, "%s",
		  text);
	cr_assert(is_one_complaint(text) && tells(text, "hold_modules"), "%s", text);
}

/* ---- refused ---------------------------------------------------------------------------- */

Test(small_launch_hold, pieces_are_of_something_that_is_large_enough)
{
	struct launch_opts o = default_opts();

	o.hold_pieces = 2;
	is_refused(&o, "hold_pieces=2: needs hold_pinned=");
	o.hold_streams = 5;
	is_refused(&o, "hold_pieces=2: needs hold_pinned=");
	o.hold_device = 1;
	is_refused(&o, "hold_pieces=2: hold_device has only 1 bytes");
}

static void cannot_be_had(struct launch_opts o, const char *says)
{
	struct launch_state s = { 0 };
	const char *text;
	int err;

	divert_stderr();
	err = workload_launch.setup(&o, &s);
	text = diverted_stderr();
	cr_assert(err == -ENOMEM && is_one_complaint(text) && strstr(text, says), "%d: %s", err,
		  text);
	workload_launch.teardown(&s);
	cr_assert(!*ledger_open(), "left: %s", ledger_open());
}

Test(small_launch_hold, more_than_there_is_ends_in_a_line)
{
	struct launch_opts o = holding();

	need_device();
	o.hold_device = (int64_t)1 << 40;
	cannot_be_had(o, "hold_*: takes 10995");
	o = holding();
	o.hold_mapped = (int64_t)1 << 40;
	cannot_be_had(o, ON_CPU ? "hold_*: takes 10995" : "hold_");
	o.hold_device = 0;
	cannot_be_had(o, "hold_pinned and hold_mapped: ");
}

/* ---- found ------------------------------------------------------------------------------ */

static double step_ns(const char *options)
{
	const json_t *o = rift_json("run launch us=0 %s --depth 1 --samples 5 --check-steps 4 "
				    "--json --quiet",
				    options);

	return json_number_value(json_object_get(json_object_get(o, "step_ns"), "median"));
}

/*
 * On the CPU device a synchronize may be told to cost 0.2 ms for each MiB that is pinned, or for
 * each piece. That is a least, however busy the machine is; without it a step takes some us.
 */
Test(small_launch_hold, a_cost_of_what_is_pinned_is_found)
{
	need_device();
	if (!ON_CPU)
		cr_skip("the cost is one of the CPU device's settings");
	setenv("RIFT_CPU_SYNC_NS_PER_PINNED_MIB", "200000", 1);
	cr_assert(step_ns("hold_pinned=64M") >= 64 * 2e5, "pinned");
	cr_assert(step_ns("hold_mapped=64M") >= 64 * 2e5, "mapped");
	cr_assert(step_ns("hold_device=64M") < 64 * 2e5, "the device's is not pinned");
	cr_assert(step_ns("") < 64 * 2e5, "nothing");
	unsetenv("RIFT_CPU_SYNC_NS_PER_PINNED_MIB");
	setenv("RIFT_CPU_SYNC_NS_PER_PINNED", "200000", 1);
	cr_assert(step_ns("hold_pinned=1M hold_pieces=64") >= 64 * 2e5, "64 pieces");
	cr_assert(step_ns("hold_pinned=1M") < 64 * 2e5, "one piece");
}
