/*
 * emulate.c - rift's side of the layer that adds known costs to the calls of the CUDA runtime: its
 * parameters, how a command enters it, and how precisely costs were added (preload/ adds them).
 */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "common/check.h"
#include "common/shared_file.h"
#include "common/pattern.h"
#include "layers/emulate/costs.h"
#include "layers/emulate/presets/h100_cc.h"
#include "layers/emulate/presets/hami.h"
#include "layers/emulate/presets/native.h"
#include "layers/emulate/presets/vmcuda_tcp.h"
#include "layers/emulate/presets/wddm_packet.h"
#include "layers/emulate/presets/windows_hags.h"
#include "layers/emulate/presets/wsl2_2020.h"
#include "layers/emulate/presets/wsl2_2021.h"
#include "layers/emulate/presets/wsl2_hags.h"
#include "layers/emulate/presets/wsl2_hags_async.h"
#include "layers/interpose.h"
#include "layers/layer.h"

/* ---- parameters ------------------------------------------------------------------------------ */

struct emulate_opts {
	double call, byte, age, submit, latency, bandwidth, returned, sync, copy, alloc, free, pin,
		context, copies, stretch, crossing, compute, window;
	int64_t n, block, memory;
	int where, serialize, paging, copying, channel;
};

static const char *const wheres[] = { "caller", "submitter", NULL };
static const char *const answers[] = { "no", "yes", NULL };
static const char *const pagings[] = { "now", "first-use", NULL };
static const char *const copyings[] = { "native", "blocking", NULL };
static const char *const channels[] = { "native", "one", NULL };

#define US(field, help) PARAM_REAL(emulate_opts, field, "us", "0", 0, 1e6, help)

static const struct param params[] = {
	US(call, "added to each launch, copy or other command, in the calling thread"),
	PARAM_REAL(emulate_opts, byte, "ns", "0", 0, 1000,
		   "added per byte of arguments, in the calling thread"),
	PARAM_INT(emulate_opts, n, "commands", "1", 1, 1024, "most commands in a packet"),
	US(age, "age at which a packet closes; 0: only when full or flushed"),
	US(submit, "added to each packet, for the system call that submits it"),
	PARAM_CHOICE(emulate_opts, where, "caller", wheres, "whose thread makes that system call"),
	US(latency, "added to each packet, on its way to the GPU"),
	PARAM_REAL(emulate_opts, bandwidth, "GB/s", "0", 0, 1e6,
		   "bandwidth of arguments on that way; 0: no limit"),
	PARAM_CHOICE(emulate_opts, serialize, "no", answers,
		     "whether a packet's work waits for the previous packet's"),
	{ "return", PARAM_REAL, PARAM_FIELD(emulate_opts, returned, double), "us", "0", 0, 1e6,
	  NULL, "added to each call that waits, until its thread learns of the end", NULL, NULL,
	  false },
	US(sync, "also added to each synchronize"),
	US(copy, "also added to each copy"),
	PARAM_REAL(emulate_opts, copies, "GB/s", "0", 0, 1e6,
		   "bandwidth between host and device; 0: no limit"),
	PARAM_SIZE(emulate_opts, block, "bytes", "4M", 4096, 1e12,
		   "size of the pieces in which copies travel"),
	PARAM_REAL(emulate_opts, stretch, "%", "0", 0, 1e4, "how much longer blocking copies take"),
	US(crossing, "also added to each copy between host and device"),
	PARAM_CHOICE(emulate_opts, copying, "native", copyings,
		     "whether asynchronous copies between host and device block their caller, as "
		     "copies of pageable memory do"),
	PARAM_CHOICE(emulate_opts, channel, "native", channels,
		     "whether all streams of a context share one channel for these copies"),
	US(alloc, "added to each allocation of device memory, except from pools"),
	PARAM_CHOICE(emulate_opts, paging, "now", pagings, "when an allocation pays that cost"),
	US(free, "added each time memory is freed"),
	US(pin, "added to each allocation of pinned memory"),
	US(context, "added once per process, at its first call"),
	PARAM_REAL(emulate_opts, compute, "%", "100", 0.1, 100,
		   "share of the time that a process may use for kernels; 100: no limit"),
	PARAM_REAL(emulate_opts, window, "ms", "100", 1, 1e5,
		   "what a process leaves of that share, it may use later: at most that of so "
		   "much time"),
	PARAM_SIZE(emulate_opts, memory, "bytes", "0", 0, 1125899906842624.0,
		   "device memory that a process may take; 0: no limit"),
	PARAM_END,
};

static const struct preset presets[] = {
	{ "native", native, "adds nothing" },
	{ "wddm-packet", wddm_packet, "Windows' packet scheduling; guesses" },
	{ "windows-hags", windows_hags, "Windows with hardware scheduling; guesses" },
	{ "wsl2-2020", wsl2_2020, "WSL2's first GPU support; guesses" },
	{ "wsl2-2021", wsl2_2021, "WSL2 a year later; guesses" },
	{ "wsl2-hags", wsl2_hags, "WSL2 with hardware scheduling; guesses" },
	{ "wsl2-hags-async", wsl2_hags_async, "the same, with asynchronous submission; guesses" },
	{ "h100-cc", h100_cc, "an H100 in confidential computing; guesses" },
	{ "hami", hami, "HAMi-core in the process; measured on an H200" },
	{ "vmcuda-tcp", vmcuda_tcp, "calls over TCP, as vmCUDA; guesses" },
	{ NULL, NULL, NULL },
};

static struct emulate_costs costs_from(const struct emulate_opts *o)
{
	const double us = 1e3;

	return (struct emulate_costs){
		.call_ns = o->call * us,
		.ns_per_byte = o->byte,
		.packet_commands = o->n,
		.packet_age_ns = o->age * us,
		.submit_ns = o->submit * us,
		.where = o->where,
		.latency_ns = o->latency * us,
		.bytes_per_ns = o->bandwidth, /* GB/s are bytes a ns */
		.serialize = o->serialize,
		.return_ns = o->returned * us,
		.sync_ns = o->sync * us,
		.copy_ns = o->copy * us,
		.alloc_ns = o->alloc * us,
		.free_ns = o->free * us,
		.pin_ns = o->pin * us,
		.context_ns = o->context * us,
		.paging = o->paging,
		.copy_bytes_per_ns = o->copies,
		.copy_block = o->block,
		.copy_stretch = o->stretch / 100,
		.crossing_ns = o->crossing * us,
		.copying = o->copying,
		.one_channel = o->channel,
		.compute_share = o->compute / 100,
		.window_ns = o->window * 1e6,
		.memory_bytes = o->memory,
	};
}

/* ---- entering -------------------------------------------------------------------------------- */

static const char *missing(void)
{
#ifdef __x86_64__
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[8192];
	bool steady = false;

	while (f && !steady && fgets(line, sizeof(line), f))
		steady = !strncmp(line, "flags", 5) && strstr(line, " constant_tsc");
	if (f)
		fclose(f);
	return steady ? NULL : "the processor's time stamp counter is not steady (constant_tsc)";
#else
	return "its functions are written for x86-64";
#endif
}

#ifdef __x86_64__
static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* Over 30 ms: both clocks are read within some 50 ns, so to 2e-6. */
static double measure_ticks_per_ns(void)
{
	const struct timespec pause = { .tv_nsec = 30000000 };
	double start_ns = now_ns();
	uint64_t start = __builtin_ia32_rdtsc();

	nanosleep(&pause, NULL);
	return (double)(__builtin_ia32_rdtsc() - start) / (now_ns() - start_ns);
}
#else
static double measure_ticks_per_ns(void)
{
	return 1;
}
#endif

static void path_of(const char *folder, char out[512])
{
	snprintf(out, 512, "%s/costs", folder);
}

static int enter(const void *opts, struct entry *e)
{
	const char *folder = entry_folder(e);
	struct emulate_shared *s;
	char path[512];

	if (getenv(EMULATE_VARIABLE))
		return complain(EBUSY,
				"layer emulate: the command is under one already (%s is set); give "
				"all costs to one",
				EMULATE_VARIABLE);
	if (!folder)
		return -EIO;
	path_of(folder, path);
	s = shared_file_map(path, sizeof(*s), O_CREAT);
	if (!s)
		return complain(errno, "layer emulate: %s: %s", path, strerror(errno));
	s->costs = costs_from(opts);
	s->ticks_per_ns = measure_ticks_per_ns();
	munmap(s, sizeof(*s));
	entry_setenv(e, EMULATE_VARIABLE, path);
	return entry_preload(e, NULL);
}

/* ---- how precisely ----------------------------------------------------------------------------
 */

static int64_t quantile_ns(const struct lateness *l, double q)
{
	uint64_t rank = (uint64_t)(q * (double)(l->n - 1)), below = 0;
	int bin = 0;

	for (; bin < LATENESS_BINS - 1; bin++) {
		below += l->bins[bin];
		if (below > rank)
			break;
	}
	return bin + LATENESS_LOW;
}

/* "added minus requested: mean +2 ns (interrupted ones too: +9), p50 +1, p99 +12, max +30211 (n =
 * 60008)": a host that takes the processor away makes every cost longer by its share. */
static void put_lateness(FILE *out, const char *what, const struct lateness *l)
{
	uint64_t within = l->n - l->bins[LATENESS_BINS - 1];

	fprintf(out,
		"%s: mean %+.0f ns (interrupted ones too: %+.0f), p50 %+lld, p99 %+lld, max %+lld "
		"(n = %llu)",
		what, within ? (double)l->sum_ns / (double)within : 0,
		l->n ? (double)(l->sum_ns + l->far_sum_ns) / (double)l->n : 0,
		(long long)quantile_ns(l, 0.5), (long long)quantile_ns(l, 0.99),
		(long long)l->max_ns, (unsigned long long)l->n);
}

static void describe(const struct emulate_shared *s, char detail[LAYER_DETAIL])
{
	FILE *out = fmemopen(detail, LAYER_DETAIL, "w");

	CHECK(out, "memory of a text");
	if (s->spins.n)
		put_lateness(out, "added minus requested", &s->spins);
	else
		fputs("added nothing", out);
	if (!s->spins.n && s->past)
		fprintf(out, INTERPOSE_PAST, (unsigned long long)s->past, s->past == 1 ? "" : "es");
	if (s->deliveries.n)
		put_lateness(out, "; packets late", &s->deliveries);
	if (s->others && emulate_waits(&s->costs))
		fputs("; a library submits by itself: no packets", out);
	if (s->costs.compute_share < 1)
		fprintf(out, "; launches held back: %llu", (unsigned long long)s->held_back);
	if (s->costs.memory_bytes)
		fprintf(out, "; allocations refused: %llu", (unsigned long long)s->refused);
	fclose(out);
	detail[LAYER_DETAIL - 1] = '\0';
}

/* ---- in force: a call of each kind is seen --------------------------------------------------- */

static int use(void)
{
	uint64_t *memory = NULL, word = 0;
	int err = (int)cudaMalloc((void **)&memory, sizeof(word));

	if (err)
		return err;
	pattern_fill(memory, sizeof(word), 0, sizeof(word), 0);
	err = (int)cudaMemcpy(&word, memory, sizeof(word), cudaMemcpyDeviceToHost);
	err = err ? err : (int)cudaDeviceSynchronize();
	return err ? err : (int)cudaFree(memory);
}

static struct emulate_shared *find_shared(void)
{
	emulate_shared_function *function;
	void *found = dlsym(RTLD_DEFAULT, EMULATE_SHARED_FUNCTION);

	memcpy(&function, &found, sizeof(function));
	return found ? function() : NULL;
}

static bool in_force(const void *opts, char detail[LAYER_DETAIL])
{
	static const enum emulate_kind used[] = { KIND_ALLOC, KIND_KERNEL, KIND_BLOCKING_COPY,
						  KIND_WAIT, KIND_RELEASE };
	const struct emulate_shared *s = find_shared();
	struct emulate_costs asked = costs_from(opts);
	uint64_t before[KINDS];
	int err;

	if (!s) {
		snprintf(detail, LAYER_DETAIL, "its library is not loaded");
		return false;
	}
	if (memcmp(&asked, &s->costs, sizeof(asked)) != 0) {
		snprintf(detail, LAYER_DETAIL, "its library has other costs");
		return false;
	}
	memcpy(before, s->calls, sizeof(before));
	err = use();
	if (err) {
		snprintf(detail, LAYER_DETAIL, "a call failed under it: %s",
			 cudaGetErrorName((cudaError_t)err));
		return false;
	}
	for (size_t i = 0; i < sizeof(used) / sizeof(*used); i++) {
		if (s->calls[used[i]] > before[used[i]])
			continue;
		snprintf(detail, LAYER_DETAIL, "does not see all calls");
		return false;
	}
	describe(s, detail);
	return true;
}

/* ---- when the command has ended ---------------------------------------------------------------
 */

static void report(const char *folder, char detail[LAYER_DETAIL])
{
	struct emulate_shared *s;
	char path[512];

	path_of(folder, path);
	s = shared_file_map(path, sizeof(*s), 0);
	if (!s)
		return;
	describe(s, detail);
	munmap(s, sizeof(*s));
}

const struct layer layer_emulate = {
	.name = "emulate",
	.summary = "adds known costs to CUDA runtime calls, as another layer might",
	.model = true,
	.wraps_runtime = true,
	.opts_size = sizeof(struct emulate_opts),
	.params = params,
	.presets = presets,
	.missing = missing,
	.enter = enter,
	.in_force = in_force,
	.report = report,
};
