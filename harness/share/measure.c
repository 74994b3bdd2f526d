/* measure.c - sets of clients one after another: started, timed together in windows, checked. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "common/plural.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/platform/nvml.h"
#include "harness/platform/system.h"
#include "harness/record/environment.h"
#include "harness/share/clients.h"
#include "harness/share/memory.h"
#include "harness/share/timeline.h"
#include "harness/share/share_fault.h"
#include "harness/share/share_file.h"
#include "harness/share/window.h"
#include "workloads/workload.h"

/* ---- one workload alone: what machine this is, how much memory it takes ----------------- */

static int take_platform(struct share *s, const json_t *ready)
{
	const json_t *environment = json_object_get(ready, "environment");
	char what[320];

	if (!s->platform)
		return share_add(s, json_pack("{s:s, s:O, s:O, s:O, s:O}", "record", "platform",
					      "device", json_object_get(ready, "device"), "is_gpu",
					      json_object_get(ready, "is_gpu"), "pci",
					      json_object_get(ready, "pci"), "environment",
					      environment));
	if (!environment_differs(json_object_get(s->platform, "environment"), environment, what,
				 sizeof(what)))
		return 0;
	return complain(ESTALE, "this is not the machine that the record was begun on: %s", what);
}

/*
 * What a client holds. On a GPU all that is taken while it is the only one: its context too, and
 * what the driver and others hold, so it errs to the safe side. The CPU device's memory is the
 * host's, which is full of other things.
 */
static double footprint_bytes(const json_t *ready)
{
	double before = json_get_number(ready, "free_before");
	double after = json_get_number(ready, "free_after");
	double total = json_get_number(ready, "total");

	if (json_is_true(json_object_get(ready, "is_gpu")))
		return total - after;
	return before > after ? before - after : 0;
}

static int size_workload(struct share *s, int mix, double patience_s)
{
	struct share_set alone = { ARM_PROCESSES, 1, mix };
	struct share_clients c;
	const json_t *ready;
	int err;

	progress("%s: one client, untimed", s->plan.mix[mix].workload->name);
	err = clients_start(&c, &s->plan, &alone, patience_s);
	ready = err ? NULL : c.process[0].ready;
	if (err == -ECHILD)
		err = complain(ECHILD, "%s: %s", s->plan.mix[mix].workload->name, c.why);
	if (!err)
		err = take_platform(s, ready);
	if (!err && !s->sizes[mix])
		err = share_add(s,
				json_pack("{s:s, s:i, s:f, s:O, s:O, s:O, s:O}", "record", "size",
					  "workload", mix, "bytes", footprint_bytes(ready), "total",
					  json_object_get(ready, "total"), "mode",
					  json_object_get(ready, "mode"), "sync",
					  json_object_get(ready, "sync"), "step_ns",
					  json_array_get(json_object_get(ready, "step_ns"), 0)));
	clients_stop(&c);
	return err;
}

/* ---- may this set be had? --------------------------------------------------------------- */

static bool is_too_large(const struct share *s, const struct share_set *set, char why[SHARE_WHY])
{
	double bytes = 0, total = 0;

	for (int i = 0; i < set->n; i++) {
		const json_t *size = s->sizes[share_client_mix(&s->plan, set, i)];

		bytes += json_get_number(size, "bytes");
		total = json_get_number(size, "total");
	}
	snprintf(why, SHARE_WHY, "%s would take %s, and the device has %s",
		 counted(set->n, "client").s, text_bytes(bytes).s, text_bytes(total).s);
	return bytes > total;
}

/* A client's own layer needs a process of its own. */
static bool cannot_be_had(const struct share *s, const struct share_set *set, char why[SHARE_WHY])
{
	const char *missing = share_arm_missing(set->arm);

	if (missing)
		snprintf(why, SHARE_WHY, "%s", missing);
	else if (share_plan_has_layers_of(&s->plan) && set->n > 1 &&
		 share_arms[set->arm].way != WAY_PROCESSES)
		snprintf(why, SHARE_WHY,
			 "--layer-of needs a process per client, but this sharing method has one "
			 "for all");
	else
		return is_too_large(s, set, why);
	return true;
}

/* lost: it was begun, and did not go on. */
static int add_not_run(struct share *s, const struct share_set *set, const char *why, bool lost)
{
	json_t *o = share_line("not_run", set);

	json_object_set_new(o, "why", json_text(why));
	json_object_set_new(o, "lost", json_boolean(lost));
	return share_add(s, o);
}

/* ---- windows ---------------------------------------------------------------------------- */

static json_t *window_line(const struct share_clients *c, const struct window *w, int at,
			   const struct share_plan *p)
{
	json_t *o = share_line("window", &c->set), *clients = json_array();
	double processors = 0;

	for (int i = 0; i < c->set.n; i++)
		json_array_append(clients, (json_t *)(uintptr_t)clients_window(c, i));
	for (int i = 0; i < c->processes; i++)
		processors += json_get_number(c->process[i].answer, "processors");
	json_object_set_new(o, "repetition", json_integer(at / p->windows));
	json_object_set_new(o, "window", json_integer(at % p->windows));
	json_object_set_new(o, "seconds", json_real(w->seconds));
	json_object_set_new(o, "clients", clients);
	json_object_set_new(o, "processors", json_number(processors));
	json_object_set_new(o, "daemons", json_number(w->daemons));
	json_object_set_new(o, "memory", json_number(w->memory));
	json_object_set_new(o, "busy", json_number(w->busy));
	return o;
}

static void show_progress(const struct share_clients *c, int at, int windows)
{
	progress("%s, %s: window %d of %d", share_arms[c->set.arm].name,
		 counted(c->set.n, "client").s, at + 1, windows);
}

/* Is this window of this start, and still to come? */
static bool is_due(const struct share *s, const struct share_measured *m, int at, int start)
{
	return !m->window[at] && at / s->plan.windows % s->plan.starts == start;
}

static int measure_windows(struct share *s, struct share_measured *m, struct share_clients *c,
			   struct window *w, int start)
{
	int windows = share_plan_windows(&s->plan), repetition = -1, err = 0;

	for (int at = 0; at < windows && !err; at++) {
		if (!is_due(s, m, at, start))
			continue;
		show_progress(c, at, windows);
		if (at / s->plan.windows != repetition)
			err = window_prepare(w, c);
		repetition = at / s->plan.windows;
		w->how = share_plan_has_promise(&s->plan) ? timeline_names[at % s->plan.windows]
							  : NULL;
		if (!err)
			err = window_run(w, c, NULL);
		if (!err && clients_lost(c))
			err = -ECHILD;
		if (!err)
			err = share_add(s, window_line(c, w, at, &s->plan));
	}
	return err;
}

static int check_clients(struct share *s, struct share_clients *c)
{
	const struct clients_told check = { .line = "check\n", .other = -1 };
	json_t *o, *passed;
	int err = clients_tell(c, &check);

	if (err || clients_lost(c))
		return err ? err : -ECHILD;
	passed = json_array();
	for (int i = 0; i < c->processes; i++)
		json_array_extend(passed, json_object_get(c->process[i].answer, "passed"));
	o = share_line("checked", &c->set);
	json_object_set_new(o, "passed", passed);
	return share_add(s, o);
}

/* The clients of the last start are checked, and do harm in the end. */
static int measure_started(struct share *s, struct share_measured *m, struct share_clients *c,
			   struct window *w, int start)
{
	int err = measure_windows(s, m, c, w, start);

	if (err || start + 1 < s->plan.starts)
		return err;
	if (!m->checked)
		err = check_clients(s, c);
	if (!err && s->plan.fault != FAULT_NONE && c->set.n > 1 && !m->fault)
		err = share_fault_try(s, c, w);
	return err;
}

static int measure_set(struct share *s, struct share_measured *m, struct window *w, int start,
		       double patience_s)
{
	struct share_clients c;
	char why[SHARE_WHY];
	int err;

	if (cannot_be_had(s, &m->set, why))
		return add_not_run(s, &m->set, why, false);
	progress("%s, %s: starting", share_arms[m->set.arm].name, counted(m->set.n, "client").s);
	window_for(w, s, &m->set);
	err = clients_start(&c, &s->plan, &m->set, patience_s);
	if (!err)
		err = measure_started(s, m, &c, w, start);
	if (err == -ECHILD) /* c.why says who */
		err = add_not_run(s, &m->set, *c.why ? c.why : "its clients could not be started",
				  true);
	clients_stop(&c);
	return err;
}

/* ---- all of them ------------------------------------------------------------------------ */

/* Anything left for this start? */
static bool needs_start(const struct share *s, const struct share_measured *m, int start)
{
	bool due = start + 1 == s->plan.starts && !share_set_is_whole(s, m);

	for (int at = 0; at < share_plan_windows(&s->plan); at++)
		due |= is_due(s, m, at, start);
	return due && !*m->not_run;
}

static int measure_sets(struct share *s, struct window *w, double patience_s)
{
	int *order = calloc((size_t)s->sets + 1, sizeof(*order)), err = 0;

	CHECK(order, "memory of %d sets", s->sets);
	for (int start = 0; start < s->plan.starts && !err; start++) {
		progress_part("start %d of %d: %s", start + 1, s->plan.starts,
			      counted(s->sets, "configuration").s);
		share_order(&s->plan, start, order, s->sets);
		for (int i = 0; i < s->sets && !err; i++)
			if (needs_start(s, &s->set[order[i]], start))
				err = measure_set(s, &s->set[order[i]], w, start, patience_s);
	}
	free(order);
	return err;
}

int share_measure(struct share *s, double patience_s)
{
	struct window w = { .seconds = 0 };
	int err = 0;

	helpers_mark();
	for (int i = 0; i < s->plan.mixes && !err; i++)
		err = size_workload(s, i, patience_s);
	if (!err) {
		window_open(&w, json_get_text(s->platform, "pci"));
		err = measure_sets(s, &w, patience_s);
		window_close(&w);
		if (!err && s->plan.allow.memory > 0 && !s->memory)
			err = memory_measure(s, patience_s);
	}
	progress_clear();
	return err ? err : share_end(s);
}
