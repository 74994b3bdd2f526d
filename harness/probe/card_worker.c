/* card_worker.c - one process of a card: opens the device, and has each workload probe it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/interrupt.h"
#include "harness/base/json.h"
#include "harness/env/platform.h"
#include "harness/measure/measure.h"
#include "harness/measure/run.h"
#include "harness/params/param.h"
#include "harness/probe/card.h"
#include "harness/record/environment.h"
#include "harness/session/child.h"
#include "harness/session/host.h"

/* First of all launch: what it launches first must not have been launched. */
static const char *const probed[] = { "launch", "graph", "memory", "transfer" };

static void say(FILE *out, json_t *o)
{
	json_dumpf(o, out, JSON_COMPACT);
	json_decref(o);
	fputc('\n', out);
	fflush(out); /* a reader that is gone ends this process by SIGPIPE */
}

/* ---- the device ------------------------------------------------------------------------- */

static void say_process(FILE *out, const struct platform *p, int64_t ns)
{
	json_t *row = json_pack("{s:s, s:s, s:o, s:n, s:o}", "name", "context creation", "unit",
				p->is_gpu ? "us" : "", "value",
				p->is_gpu ? json_real(1e-3 * (double)ns) : json_null(), "n", "text",
				p->is_gpu ? json_null()
					  : json_string("not applicable: the CPU device has none"));

	say(out,
	    json_pack("{s:s, s:s, s:[o]}", "record", "rows", "workload", "process", "rows", row));
}

/* cudaFree(0) makes the context where cudaSetDevice() did not, as before CUDA 12. */
static int open_device(FILE *out, enum sync_kind sync, struct platform *p)
{
	char pci[32];
	int64_t begin; /* asking for a kind of waiting may make the context, too */
	int err;

	say(out, child_phase_json("opening the device"));
	begin = clock_ns();
	err = sync_prepare(sync);
	err = err ? err : platform_device(p);
	if (err)
		return err;
	CUDA(cudaFree(0));
	say_process(out, p, clock_ns() - begin);
	system_pci_address(pci);
	system_make_room(p->is_gpu ? pci : NULL, !p->is_gpu);
	return 0;
}

/* ---- probes ----------------------------------------------------------------------------- */

static const struct workload *find(const char *name)
{
	for (const struct workload *const *w = workloads; *w; w++)
		if (!strcmp((*w)->name, name))
			return *w;
	return NULL;
}

/* Limits, set-up, report and teardown, as `rift run NAME probe=quick` has them. */
static int probe(FILE *out, const struct workload *w, const void *opts)
{
	struct report *report = calloc(1, sizeof(*report));
	void *state = calloc(1, w->state_size + 1);
	struct limits limits = { 0 };
	int err = w->limits(opts, &limits);

	CHECK(report && state, "memory of %s", w->name);
	if (!err)
		err = w->setup(opts, state);
	if (!err)
		err = w->report(opts, state, report);
	if (!err)
		say(out, json_pack("{s:s, s:s, s:o}", "record", "rows", "workload", w->name, "rows",
				   run_report_json(report)));
	w->teardown(state);
	free(state);
	free(report);
	return err;
}

struct probing {
	FILE *out;
	const struct workload *w;
	const void *opts;
};

static int call_probe(void *arg)
{
	struct probing *p = arg;

	return probe(p->out, p->w, p->opts);
}

static int probe_or_refuse(FILE *out, const struct workload *w, const void *opts)
{
	struct probing p = { out, w, opts };
	struct refusal r;
	int err = refusal_catch(call_probe, &p, &r);

	return err == -ENOSYS ? refusal_complain(&r, w->name) : err;
}

static void say_phase(FILE *out, const char *workload)
{
	char text[64];
	json_t *o;

	snprintf(text, sizeof(text), "probing %s", workload);
	o = child_phase_json(text);
	json_object_set_new(o, "workload", json_string(workload));
	say(out, o);
}

static int probe_workload(FILE *out, const char *name)
{
	const struct workload *w = find(name);
	struct params params;
	void *opts;
	int err;

	if (!w)
		return 0;
	say_phase(out, name);
	opts = calloc(1, w->opts_size + 1);
	CHECK(opts, "memory of %s", name);
	params_init(&params, w->params, w->name, opts);
	err = params_assign(&params, "probe=quick");
	if (!err)
		err = probe_or_refuse(out, w, opts);
	if (err && err != -EINTR)
		say(out, json_pack("{s:s, s:s, s:i}", "record", "failed", "workload", name, "code",
				   -err));
	params_release(&params);
	free(opts);
	return err == -EINTR || err == -ENODEV ? err : interrupted() ? -EINTR : 0;
}

/* ---- the process ------------------------------------------------------------------------ */

/* After the probes: NVML and digests take their time, and load the machine. */
static void say_header(FILE *out, struct platform *p, enum sync_kind sync)
{
	json_t *o, *environment;

	say(out, child_phase_json("looking the platform over"));
	platform_details(p);
	environment = environment_of(p);
	o = json_pack("{s:s, s:o}", "record", "header", "device", platform_device_json(p));
	json_object_update(o, environment);
	json_decref(environment);
	json_object_set_new(json_object_get(o, "cuda_flags"), "sync",
			    json_string(sync_names[sync]));
	say(out, o);
}

int card_work(FILE *out, const json_t *job)
{
	enum sync_kind sync = (enum sync_kind)json_integer_value(json_object_get(job, "sync"));
	struct platform platform = {
		.declared = json_string_value(json_object_get(job, "platform")),
		.host_name = json_is_true(json_object_get(job, "host_name")),
	};
	int err;

	interrupt_install();
	interrupt_end_within(INTERRUPT_GRACE_S, "");
	platform_host(&platform);
	err = open_device(out, sync, &platform);
	if (!err)
		system_pin();
	for (size_t i = 0; i < sizeof(probed) / sizeof(*probed) && !err; i++)
		err = probe_workload(out, probed[i]);
	if (!err && json_is_true(json_object_get(job, "header")))
		say_header(out, &platform, sync);
	if (!err)
		say(out, json_pack("{s:s}", "record", "bye"));
	platform_release(&platform);
	return err;
}
