/*
 * test_driver.c - common/recorder/cupti/driver.h: what the calibration calls, what it makes of the
 * times, and what is left where a call fails. Clock and driver are this file.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "common/recorder/cupti/driver.h"

#include <stdarg.h>

#include "common/recorder/calibration.h"
#include "common/recorder/cupti/abi.h"
#include "common/recorder/cupti/feed.h"
#include "common/recorder/recorder.h"
#include "tests/golden.h"

TestSuite(small_driver, .timeout = 60);

static char got[1 << 16];

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	size_t used = strlen(got);
	va_list rest;

	va_start(rest, format);
	vsnprintf(got + used, sizeof(got) - used, format, rest);
	va_end(rest);
}

/* ---- the recorder -------------------------------------------------------------------------- */

static int64_t now;
static struct calibration *diverted;

int64_t recorder_now(void)
{
	return now;
}

void feed_divert(struct calibration *to)
{
	diverted = to;
}

/* ---- a driver ------------------------------------------------------------------------------ */

#define FUNCTIONS(ROW)                                                                             \
	ROW(cuDriverGetVersion)                                                                    \
	ROW(cuCtxGetCurrent)                                                                       \
	ROW(cuCtxGetDevice)                                                                        \
	ROW(cuDeviceGetName)                                                                       \
	ROW(cuModuleLoadData)                                                                      \
	ROW(cuModuleGetFunction)                                                                   \
	ROW(cuModuleUnload)                                                                        \
	ROW(cuStreamCreate)                                                                        \
	ROW(cuStreamDestroy_v2)                                                                    \
	ROW(cuStreamSynchronize)                                                                   \
	ROW(cuEventCreate)                                                                         \
	ROW(cuEventDestroy_v2)                                                                     \
	ROW(cuEventRecord)                                                                         \
	ROW(cuEventElapsedTime)                                                                    \
	ROW(cuLaunchHostFunc)                                                                      \
	ROW(cuModuleGetGlobal_v2)                                                                  \
	ROW(cuMemHostRegister_v2)                                                                  \
	ROW(cuMemHostUnregister)                                                                   \
	ROW(cuMemcpyHtoDAsync_v2)                                                                  \
	ROW(cuLaunchKernel)                                                                        \
	ROW(cuStreamBeginCapture_v2)                                                               \
	ROW(cuStreamEndCapture)                                                                    \
	ROW(cuGraphInstantiateWithFlags)                                                           \
	ROW(cuGraphLaunch)                                                                         \
	ROW(cuGraphExecDestroy)                                                                    \
	ROW(cuGraphDestroy)

enum function {
#define ROW(name) CALLED_##name,
	FUNCTIONS(ROW)
#undef ROW
		FUNCTIONS_ALL
};

static const char *const names[] = {
#define ROW(name) #name,
	FUNCTIONS(ROW)
#undef ROW
};

static int n_of[FUNCTIONS_ALL], n_all, fails_at; /* 0: none does */
static unsigned char is_early[1 << 14];		 /* by call: one of its function's first */
static enum function failed;
static int module, kernel, stream, event, graph, exec, live;
static int nodes; /* of the graph that is captured; -1: none is */
static int nodes_of_exec;
static bool copies;   /* the row is of copies */
static size_t global; /* bytes */
static void (*held)(void *gate);
static void *gate;

/* As all calls do. The arguments must be right. */
static int called(enum function which, bool right, int64_t takes_ns)
{
	n_of[which]++;
	now += takes_ns;
	if (!right)
		say("%s: other arguments\n", names[which]);
	if (++n_all != fails_at) {
		is_early[n_all] |= !fails_at && n_of[which] < 4;
		return 0;
	}
	failed = which;
	return 1;
}

#define CALLED(name, right, takes_ns) called(CALLED_##name, right, takes_ns)

static int made(int err, void **out, int *what)
{
	if (err)
		return err;
	live++;
	*out = what;
	return 0;
}

static int gone(int err)
{
	live--;
	return err;
}

#define SHOWN __attribute__((visibility("default")))
#define FUNCTION(name, ...)                                                                        \
	SHOWN int name(__VA_ARGS__);                                                               \
	int name(__VA_ARGS__)

FUNCTION(cuDriverGetVersion, int *version)
{
	*version = 13000;
	return CALLED(cuDriverGetVersion, true, 0);
}

static void *context;

FUNCTION(cuCtxGetCurrent, void **out)
{
	*out = context;
	return CALLED(cuCtxGetCurrent, true, 0);
}

/* Where it is recorded, more. */
FUNCTION(cuCtxGetDevice, int *device)
{
	*device = 3;
	return CALLED(cuCtxGetDevice, true, diverted ? 130 : 100);
}

FUNCTION(cuDeviceGetName, char *out, int bytes, int device)
{
	snprintf(out, (size_t)bytes, "made GPU %d", device);
	return CALLED(cuDeviceGetName, true, 0);
}

FUNCTION(cuModuleLoadData, void **out, const void *image)
{
	bool right =
		strstr(image, ".entry rift_calibration()") && strstr(image, "rift_block[65536]");

	return made(CALLED(cuModuleLoadData, right, 0), out, &module);
}

FUNCTION(cuModuleGetFunction, void **out, void *of, const char *name)
{
	*out = &kernel;
	return CALLED(cuModuleGetFunction, of == &module && !strcmp(name, "rift_calibration"), 0);
}

FUNCTION(cuModuleUnload, void *of)
{
	return gone(CALLED(cuModuleUnload, of == &module, 0));
}

FUNCTION(cuStreamCreate, void **out, unsigned flags)
{
	return made(CALLED(cuStreamCreate, flags == 1, 0), out, &stream);
}

FUNCTION(cuStreamDestroy_v2, void *of)
{
	return gone(CALLED(cuStreamDestroy_v2, of == &stream, 0));
}

/* The host function ends at the latest here: it hangs where its gate is closed. */
FUNCTION(cuStreamSynchronize, void *of)
{
	if (held)
		held(gate);
	held = NULL;
	return CALLED(cuStreamSynchronize, of == &stream, 7000);
}

FUNCTION(cuEventCreate, void **out, unsigned flags)
{
	return made(CALLED(cuEventCreate, flags == 0, 0), out, &event);
}

FUNCTION(cuEventDestroy_v2, void *of)
{
	return gone(CALLED(cuEventDestroy_v2, of == &event, 0));
}

FUNCTION(cuEventRecord, void *of, void *on)
{
	copies = false;
	return CALLED(cuEventRecord, of == &event && on == &stream, 900);
}

/* Of 100 launches or copies, each row a little more. */
FUNCTION(cuEventElapsedTime, float *ms, void *first, void *last)
{
	int64_t each = copies ? diverted ? 6100 : 4000 : diverted ? 2300 : 2000;

	copies = false;
	*ms = (float)(100 * (each + n_of[CALLED_cuEventElapsedTime] % 10)) / 1e6f;
	return CALLED(cuEventElapsedTime, first == &event && last == &event, 0);
}

FUNCTION(cuLaunchHostFunc, void *on, void (*function)(void *), void *argument)
{
	int err = CALLED(cuLaunchHostFunc, on == &stream, 1100);

	held = err ? NULL : function;
	gate = argument;
	return err;
}

FUNCTION(cuModuleGetGlobal_v2, unsigned long long *address, size_t *bytes, void *of,
	 const char *name)
{
	*address = 4096;
	*bytes = global;
	return CALLED(cuModuleGetGlobal_v2, of == &module && !strcmp(name, "rift_block"), 0);
}

FUNCTION(cuMemHostRegister_v2, void *at, size_t bytes, unsigned flags)
{
	void *unused;

	return made(CALLED(cuMemHostRegister_v2,
			   (uintptr_t)at % 4096 == 0 && bytes == 65536 && !flags, 0),
		    &unused, NULL);
}

FUNCTION(cuMemHostUnregister, void *at)
{
	return gone(CALLED(cuMemHostUnregister, (uintptr_t)at % 4096 == 0, 0));
}

FUNCTION(cuMemcpyHtoDAsync_v2, unsigned long long to, const void *from, size_t bytes, void *on)
{
	bool right = to == 4096 && from && bytes == 65536 && on == &stream;

	copies = true;
	return CALLED(cuMemcpyHtoDAsync_v2, right, 2500);
}

/* Of ten launches nine take longer and longer; 400 ns lie between two that are recorded. */
FUNCTION(cuLaunchKernel, void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
	 unsigned by, unsigned bz, unsigned shared, void *on, void **arguments, void **extra)
{
	bool right = function == &kernel && gx == 1 && gy == 1 && gz == 1 && bx == 1 && by == 1 &&
		     bz == 1 && !shared && on == &stream && !arguments && !extra;
	int64_t takes_ns = 3000 + 10 * (n_of[CALLED_cuLaunchKernel] % 10);
	struct trace_event call = { .what = TRACE_CALL, .t0 = now + 400, .t1 = now + takes_ns };
	struct trace_event op = { .what = TRACE_OP, .t0 = now, .t1 = now + 600 };

	if (diverted) {
		calibration_take(&call, diverted);
		calibration_take(&op, diverted);
	}
	nodes += nodes >= 0;
	return CALLED(cuLaunchKernel, right, takes_ns);
}

FUNCTION(cuStreamBeginCapture_v2, void *on, int mode)
{
	nodes = 0;
	return CALLED(cuStreamBeginCapture_v2, on == &stream && mode == 2, 0);
}

FUNCTION(cuStreamEndCapture, void *on, void **out)
{
	return made(CALLED(cuStreamEndCapture, on == &stream, 0), out, &graph);
}

FUNCTION(cuGraphInstantiateWithFlags, void **out, void *of, unsigned long long flags)
{
	nodes_of_exec = nodes;
	nodes = -1;
	return made(CALLED(cuGraphInstantiateWithFlags, of == &graph && !flags, 0), out, &exec);
}

static int node_ns;

/* The first uploads it. */
FUNCTION(cuGraphLaunch, void *of, void *on)
{
	int64_t ns = 5000 + nodes_of_exec * (node_ns + n_of[CALLED_cuGraphLaunch] % 31);

	return CALLED(cuGraphLaunch, of == &exec && on == &stream, ns);
}

FUNCTION(cuGraphExecDestroy, void *of)
{
	return gone(CALLED(cuGraphExecDestroy, of == &exec, 0));
}

FUNCTION(cuGraphDestroy, void *of)
{
	return gone(CALLED(cuGraphDestroy, of == &graph, 0));
}

/* ---- the calibration ----------------------------------------------------------------------- */

static struct trace_calibration is;
static int flushes;

static int flush(uint32_t flag)
{
	flushes += flag == CUPTI_FLUSH_FORCED && diverted;
	return 0;
}

/* All of it, as the recorder does; fails: in the so many-th call. */
static bool calibrate(int fails)
{
	bool fine;

	memset(n_of, 0, sizeof(n_of));
	is = (struct trace_calibration){ 0 };
	n_all = flushes = 0;
	nodes = -1;
	global = global ? global : 65536;
	fails_at = fails;
	fine = driver_calibrate(&is);
	if ((live > 0) != fine) /* an assertion for each takes seconds */
		cr_assert(0, "call %d: %d are left", fails, live);
	if (fine)
		driver_calibrate_recorder(&is, flush);
	fails_at = 0;
	if (diverted || live)
		cr_assert(0, "call %d: %d are left in the end", fails, live);
	return fine;
}

static void say_spread(const char *name, const struct trace_spread *s)
{
	say("%s %ld %ld %ld n %d\n", name, (long)s->p05, (long)s->p50, (long)s->p95, s->n);
}

static void say_result(void)
{
	say_spread("launch", &is.launch_call);
	say_spread("launch and wait", &is.launch_and_wait);
	say_spread("gap", &is.gap);
	say("graphs %d: %ld and %ld a node\n", is.has_graphs, (long)is.graph_launch_ns,
	    (long)is.graph_node_ns);
	say("recorder: call %ld pace %ld kernel %ld copy %ld not recorded %ld, %d flushes\n",
	    (long)is.call_ns, (long)is.pace_ns, (long)is.kernel_ns, (long)is.copy_pace_ns,
	    (long)is.not_recorded_ns, flushes);
}

/* Whatever is made is given back. */
Test(small_driver, a_calibration)
{
	node_ns = 100;
	cr_expect(eq(int, calibrate(0), true));
	for (int i = 0; i < FUNCTIONS_ALL; i++)
		say("%s %d\n", names[i], n_of[i]);
	say_result();
	node_ns = -50; /* the larger graph is not the slower one */
	calibrate(0);
	say_result();
	global = 4096; /* another block: no copies */
	calibrate(0);
	say_result();
	golden_text("cupti-driver", got);
}

/* What came of it where a call of that function failed, and of how many. */
struct outcome {
	enum function failed;
	bool fine, has_graphs, pace, copies, asks;
	int n, flushes, times;
};

static void count(struct outcome *list, const struct outcome *o)
{
	while (list->times && (list->failed != o->failed || list->fine != o->fine ||
			       list->has_graphs != o->has_graphs || list->pace != o->pace ||
			       list->copies != o->copies || list->asks != o->asks ||
			       list->n != o->n || list->flushes != o->flushes))
		list++;
	*list = (struct outcome){ o->failed, o->fine, o->has_graphs, o->pace,	     o->copies,
				  o->asks,   o->n,    o->flushes,    list->times + 1 };
}

/* One call fails: the first of each function, and some of the others. */
Test(small_driver, calls_that_fail)
{
	static struct outcome list[256];
	int calls;

	node_ns = 100;
	calibrate(0);
	calls = n_all;
	for (int i = 1; i <= calls; i++) {
		bool fine;

		if (!is_early[i] && i % 61)
			continue;
		fine = calibrate(i);
		count(list, &(struct outcome){ failed, fine, is.has_graphs, is.pace_ns > 0,
					       is.copy_pace_ns > 0, is.not_recorded_ns > 0,
					       is.launch_call.n, flushes, 0 });
	}
	for (const struct outcome *o = list; o->times; o++)
		say("%d %s: n %d%s%s%s%s%s, %d flushes\n", o->times, names[o->failed], o->n,
		    o->fine ? "" : ", not calibrated", o->has_graphs ? ", graphs" : "",
		    o->pace ? ", pace" : "", o->copies ? ", copies" : "", o->asks ? ", asks" : "",
		    o->flushes);
	golden_text("cupti-driver-failures", got);
}

Test(small_driver, what_it_is_asked)
{
	char name[16] = "before";

	cr_expect(eq(int, driver_version(), 13000));
	fails_at = 2;
	cr_expect(zero(int, driver_version()));
	cr_expect(eq(int, driver_has_context(), false));
	context = &live;
	cr_expect(eq(int, driver_has_context(), true));
	n_all = 0, fails_at = 1;
	cr_expect(eq(int, driver_has_context(), false));
	driver_name_device(name, sizeof(name));
	cr_expect(eq(str, name, (char *)"made GPU 3"));
	for (int i = 1; i <= 2; i++) {
		n_all = 0, fails_at = i;
		driver_name_device(name, sizeof(name));
		cr_expect(eq(str, name, (char *)""));
	}
}
