/* share_fault.c - see share_fault.h. */
#include "harness/share/share_fault.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/plural.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/share/share_file.h"

enum { BEFORE, DURING, AFTER, WINDOWS };
static const char *const names[WINDOWS] = { "before", "during", "after" };

const char *share_fault_missing(enum share_fault fault, bool is_cpu)
{
	return fault == FAULT_MEMORY && is_cpu
		       ? "the CPU device's memory is the host's, which others need"
		       : NULL;
}

/* Steps a second; null: no answer. */
static json_t *rate_json(const struct share_clients *c, const struct window *w, int client)
{
	const json_t *window = clients_window(c, client);

	return window ? json_number(json_get_number(window, "steps") / w->seconds) : json_null();
}

static int run_windows(struct share_clients *c, struct window *w, const char *fault,
		       json_t *clients)
{
	char words[32];
	int err = 0;

	snprintf(words, sizeof(words), " %s 0", fault);
	for (int k = 0; k < WINDOWS && !err; k++) {
		err = window_run(w, c, k == DURING ? words : NULL);
		for (int i = 0; i < c->set.n && !err; i++)
			json_object_set_new(json_array_get(clients, (size_t)i), names[k],
					    rate_json(c, w, i));
	}
	return err;
}

/* Each client is lost, and why, or has right results or wrong ones. */
static int check_left(struct share_clients *c, json_t *clients)
{
	const struct clients_told check = { .line = "check\n", .other = -1 };
	int err = clients_tell(c, &check);

	for (int i = 0; i < c->set.n && !err; i++) {
		const struct share_process *p = &c->process[clients_process(c, i)];
		int place = share_arms[c->set.arm].way == WAY_PROCESSES ? 0 : i;
		json_t *o = json_array_get(clients, (size_t)i);

		json_object_set_new(o, "lost", p->lost ? json_text(p->why) : json_null());
		json_object_set_new(
			o, "passed",
			p->lost ? json_null()
				: json_boolean(json_is_true(json_array_get(
					  json_object_get(p->answer, "passed"), (size_t)place))));
	}
	return err;
}

/* One more client, alone, under MPS one of the same daemon: "started", or why not. */
static json_t *try_newcomer(const struct share_clients *c, int *err)
{
	struct share_set one = { c->set.arm, 1, 0 };
	struct share_clients newcomer;
	json_t *said;

	*err = clients_join(&newcomer, c, &one);
	said = json_text(*err ? newcomer.why : "started");
	clients_stop(&newcomer);
	*err = *err == -ECHILD ? 0 : *err;
	return said;
}

static json_t *fault_line(const struct share_clients *c, const char *fault)
{
	json_t *o = share_line("fault", &c->set), *clients = json_array();

	for (int i = 0; i < c->set.n; i++)
		json_array_append_new(clients, json_object());
	json_object_set_new(o, "fault", json_string(fault));
	json_object_set_new(o, "clients", clients);
	return o;
}

int share_fault_try(struct share *s, struct share_clients *c, struct window *w)
{
	const char *fault = share_fault_names[s->plan.fault];
	json_t *o = fault_line(c, fault), *clients = json_object_get(o, "clients");
	int err = window_prepare(w, c);

	progress("%s, %s: one of them: %s", share_arms[c->set.arm].name,
		 counted(c->set.n, "client").s, fault);
	if (!err)
		err = run_windows(c, w, fault, clients);
	if (!err) /* while the one that did it still holds what it has */
		json_object_set_new(o, "newcomer", try_newcomer(c, &err));
	if (!err)
		err = check_left(c, clients);
	if (!err)
		return share_add(s, o);
	json_decref(o);
	return err;
}
