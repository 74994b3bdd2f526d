/* window.c - see window.h. */
#include "harness/share/window.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "harness/base/json.h"
#include "harness/platform/system.h"
#include "harness/share/fault.h"

enum { STEPS_LEAST = 4, SAMPLE_EVERY_NS = 100000000 };
static const double window_most_s = 10, lead_least_s = 0.03, lead_most_s = 5;

void window_open(struct window *w, const char *pci_bus_id)
{
	*w = (struct window){ .busy = NAN };
	w->has_nvml = *pci_bus_id && nvml_open(&w->nvml, "libnvidia-ml.so.1") &&
		      nvml_choose(&w->nvml, pci_bus_id);
}

void window_close(struct window *w)
{
	nvml_close(&w->nvml);
}

/* The longest of its workloads, when all others are waited for. */
static double slow_step_s(const struct share *s, const struct share_set *set)
{
	double sum_ns = 0;

	for (int i = 0; i < set->n; i++)
		sum_ns += json_get_number(s->sizes[share_client_mix(&s->plan, set, i)], "step_ns");
	return sum_ns * (double)s->plan.depth / SECOND_NS;
}

double window_planned_s(const struct share_plan *p, const struct share_set *set)
{
	const double base_s = 1;

	return share_plan_has_promise(p) && set->arm == ARM_PROCESSES ? fmin(p->window_s, base_s)
								      : p->window_s;
}

void window_for(struct window *w, const struct share *s, const struct share_set *set)
{
	double step_s = slow_step_s(s, set);

	w->seconds =
		fmax(window_planned_s(&s->plan, set), fmin(window_most_s, STEPS_LEAST * step_s));
	w->lead_s = share_plan_has_promise(&s->plan)
			    ? WINDOW_IDLE_S
			    : fmin(lead_most_s, fmax(lead_least_s, step_s));
}

/* Under a layer a client may be told of its own memory alone, so NVML is asked first. Without it:
 * the least that any client sees as free, of a device that is theirs together. */
static double memory_in_use(const struct window *w, const struct share_clients *c)
{
	struct fact used = nvml_memory_used(&w->nvml);
	double most = NAN;

	if (used.kind == FACT_INT)
		return (double)used.number;

	for (int i = 0; i < c->processes; i++)
		most = fmax(most, json_get_number(c->process[i].answer, "memory"));
	return most;
}

/* A client in a namespace of its own is not the process that was started. */
static void find_helpers(struct window *w, const struct share_clients *c)
{
	pid_t client[SHARE_CLIENTS_MAX];

	for (int i = 0; i < c->processes; i++)
		client[i] = c->process[i].child.pid;
	helpers_find(&w->helpers, client, c->processes);
}

int window_prepare(struct window *w, struct share_clients *c)
{
	const struct clients_told t = { .line = "prepare\n", .other = -1 };
	int err = clients_tell(c, &t);

	w->memory = err ? NAN : memory_in_use(w, c);
	if (!err && !share_plan_has_layers_of(c->plan))
		find_helpers(w, c);
	return err ? err : clients_lost(c) ? -ECHILD : 0;
}

/* In the window, from its first moment looked at to its last. */
static void watch_helpers(struct window *w, int64_t now)
{
	if (now < w->from_ns || now > w->to_ns)
		return;
	if (w->begun_ns)
		helpers_end(&w->helpers);
	else
		helpers_begin(&w->helpers);
	w->ended_ns = now;
	w->begun_ns = w->begun_ns ? w->begun_ns : now;
}

static double daemons_of(const struct window *w, const struct share_plan *p)
{
	double watched_s = (double)(w->ended_ns - w->begun_ns) / SECOND_NS;

	return watched_s > 0 && !share_plan_has_layers_of(p)
		       ? helpers_used_s(&w->helpers) / watched_s
		       : NAN;
}

/* NVML's own period is 1/6 s or longer: what it says at the start is of before. */
static void sample(void *arg)
{
	struct window *w = arg;
	int64_t now = clock_ns();
	struct fact busy;

	watch_helpers(w, now);
	if (!w->has_nvml || now < w->from_ns || now > w->to_ns ||
	    now - w->sampled_ns < SAMPLE_EVERY_NS)
		return;
	w->sampled_ns = now;
	busy = nvml_busy_percent(&w->nvml);
	if (busy.kind == FACT_INT) {
		w->sum += (double)busy.number / 100;
		w->samples++;
	}
}

int window_run(struct window *w, struct share_clients *c, const char *other_words)
{
	char line[96], other[160];
	struct clients_told t = { .line = line, .other = -1, .meanwhile = sample, .arg = w };
	int err;

	w->from_ns = clock_ns() + (int64_t)(w->lead_s * SECOND_NS);
	w->to_ns = w->from_ns + (int64_t)(w->seconds * SECOND_NS);
	w->sum = w->samples = 0;
	w->begun_ns = w->ended_ns = 0;
	w->sampled_ns = w->from_ns; /* the first sample is of the window */
	snprintf(line, sizeof(line), "window %lld %lld %s\n", (long long)w->from_ns,
		 (long long)w->to_ns, w->how ? w->how : "");
	t.more_s = w->lead_s + w->seconds;
	if (other_words) {
		snprintf(other, sizeof(other), "window %lld %lld%s\n", (long long)w->from_ns,
			 (long long)w->to_ns, other_words);
		t.other = 0;
		t.other_line = other;
		t.more_s += FAULT_HANG_S;
	}
	err = clients_tell(c, &t);
	w->busy = w->samples ? w->sum / w->samples : NAN;
	w->daemons = daemons_of(w, c->plan);
	return err;
}
