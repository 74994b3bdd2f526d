/* clients.c - see clients.h. */
#include "harness/share/clients.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/platform/system.h"
#include "harness/platform/enter.h"

enum { TICK_MS = 5, STOP_S = 3 };

int clients_process(const struct share_clients *c, int client)
{
	return share_arms[c->set.arm].way == WAY_PROCESSES ? client : 0;
}

bool clients_lost(struct share_clients *c)
{
	for (int i = 0; i < c->processes; i++)
		if (c->process[i].lost) {
			strcpy(c->why, c->process[i].why);
			return true;
		}
	return false;
}

const json_t *clients_window(const struct share_clients *c, int client)
{
	const struct share_process *p = &c->process[clients_process(c, client)];
	int place = share_arms[c->set.arm].way == WAY_PROCESSES ? 0 : client;

	return p->lost ? NULL
		       : json_array_get(json_object_get(p->answer, "clients"), (size_t)place);
}

/* ---- hearing ---------------------------------------------------------------------------- */

static int take_line(const json_t *o, void *arg)
{
	struct share_process *p = arg;

	if (record_is(o, "phase"))
		return 0;
	json_decref(p->answer);
	p->answer = json_incref((json_t *)(uintptr_t)o);
	return 0;
}

/* The last one is kept by the child; what it says of itself is not a line of ours. */
static void take_complaint(const char *line, void *arg)
{
	(void)line, (void)arg;
}

static void lose(struct share_process *p, const char *how)
{
	const char *last = p->child.last_error;

	if (!strncmp(last, "rift: ", strlen("rift: ")))
		last += strlen("rift: ");
	p->lost = true;
	snprintf(p->why, sizeof(p->why), "a client %.80s%s%.320s", how, *last ? ": " : "",
		 text_escaped(last).s);
}

/* Has it answered, or is it lost? */
static bool hear(struct share_process *p)
{
	bool ended;
	char how[80];

	if (p->lost || p->answer)
		return true;
	ended = child_ended(&p->child); /* before reading: what it wrote is then all there */
	child_read(&p->child, take_line, take_complaint, p);
	if (p->answer)
		return true;
	if (!ended)
		return false;
	child_describe(&p->child, how, sizeof(how));
	lose(p, how);
	return true;
}

static int await(struct share_process *const *p, int n, double seconds,
		 const struct clients_told *t)
{
	int64_t end = clock_ns() + (int64_t)(seconds * SECOND_NS);
	struct child *child[SHARE_CLIENTS_MAX];
	int waits;

	do {
		waits = 0;
		for (int i = 0; i < n; i++)
			if (!hear(p[i]))
				child[waits++] = &p[i]->child;
		if (interrupted())
			return -EINTR;
		if (t && t->meanwhile)
			t->meanwhile(t->arg);
		if (waits)
			child_wait(child, waits, TICK_MS);
	} while (waits && clock_ns() < end);
	for (int i = 0; i < n && waits; i++)
		if (!hear(p[i])) {
			child_stop(&p[i]->child, 0);
			lose(p[i], "did not answer in time");
		}
	return 0;
}

static int await_all(struct share_clients *c, double seconds, const struct clients_told *t)
{
	struct share_process *all[SHARE_CLIENTS_MAX];

	for (int i = 0; i < c->processes; i++)
		all[i] = &c->process[i];
	return await(all, c->processes, seconds, t);
}

int clients_tell(struct share_clients *c, const struct clients_told *t)
{
	for (int i = 0; i < c->processes; i++) {
		struct share_process *p = &c->process[i];
		bool is_other = i == t->other && t->other_line;

		json_decref(p->answer);
		p->answer = NULL;
		if (!p->lost)
			child_tell(&p->child, is_other ? t->other_line : t->line);
	}
	return await_all(c, c->patience_s + t->more_s, t);
}

/* ---- starting --------------------------------------------------------------------------- */

static json_t *job_of(const struct share_clients *c, int process)
{
	const struct share_plan *p = c->plan;
	const struct share_arm_row *arm = &share_arms[c->set.arm];
	bool all = arm->way != WAY_PROCESSES;
	json_t *workloads;

	if (c->takes_memory)
		return json_pack("{s:s, s:I}", "job", "share-taker", "allowed",
				 (json_int_t)p->allow.memory);
	workloads = json_array();
	for (int i = all ? 0 : process; i <= (all ? c->set.n - 1 : process); i++)
		json_array_append(workloads, p->mix[share_client_mix(p, &c->set, i)].words);
	return json_pack("{s:s, s:o, s:i, s:s, s:s, s:I}", "job", "share", "workloads", workloads,
			 "way", arm->way, "mode", p->mode ? p->mode : "", "sync",
			 p->sync ? p->sync : "", "depth", (json_int_t)p->depth);
}

/* The one daemon of all; NULL: none. MPS refuses a second one on a machine, so a promise that it
 * keeps is kept by one for all clients. */
static const char *keeper_of(const struct share_clients *c)
{
	const struct share_allow *allow = &c->plan->allow;
	const char *first = allow->layers == 1 ? allow->layer[0] : "";
	bool is_mps = strcspn(first, " ") == strlen("mps") && !strncmp(first, "mps", strlen("mps"));

	return c->set.arm == ARM_LIMITED ? (is_mps ? allow->layer[0] : NULL)
					 : share_arms[c->set.arm].keeper;
}

/* The layer with the client's number for "{client}". To be freed. */
static char *layer_for(const char *layer, int client)
{
	static const char mark[] = "{client}";
	const char *at = strstr(layer, mark);
	char *text;

	if (at)
		CHECK(asprintf(&text, "%.*s%d%s", (int)(at - layer), layer, client,
			       at + strlen(mark)) > 0,
		      "memory of a layer");
	else
		CHECK((text = strdup(layer)), "memory of a layer");
	return text;
}

/* The layers around a client's process as a command; NULL: none. To be freed. */
static int prefix_of(const struct share_clients *c, int process, char **prefix)
{
	const struct share_allow *allow = &c->plan->allow;
	char *texts[ALLOW_LAYERS_MAX + 2];
	int n = 0, err;

	for (int i = 0; i < allow->layers && c->set.arm == ARM_LIMITED && !keeper_of(c); i++)
		texts[n++] = layer_for(allow->layer[i], c->first_client + process);
	if (share_arms[c->set.arm].layer)
		texts[n++] = layer_for(share_arms[c->set.arm].layer, 0);
	if (c->plan->layer_of[process] && c->set.n > 1)
		texts[n++] = layer_for(c->plan->layer_of[process], process + 1);
	*prefix = NULL;
	err = n ? layer_command(texts, n, prefix) : 0;
	while (n)
		free(texts[--n]);
	return err;
}

static int start_process(struct share_process *p, json_t *job, const char *prefix)
{
	int err = child_start(&p->child, job, prefix, true);

	json_decref(job);
	if (err)
		lose(p, "could not be started");
	return err;
}

static int start_client(struct share_clients *c, int process)
{
	char *prefix;
	int err = prefix_of(c, process, &prefix);

	if (!err)
		err = start_process(&c->process[process], job_of(c, process), prefix);
	free(prefix);
	return err;
}

/* ---- a daemon that all have ------------------------------------------------------------- */

/* By them programs find the daemon: the processes that are started next. */
static void take_variables(struct share_clients *c, const struct share_process *keeper)
{
	const char *name;
	json_t *value;

	c->had = json_object();
	json_object_foreach(json_object_get(keeper->answer, "variables"), name, value)
	{
		const char *before = getenv(name);

		json_object_set_new(c->had, name, before ? json_text(before) : json_null());
		setenv(name, json_string_value(value), 1);
	}
}

/* This command may itself be under a layer, which has set some of them. */
static void restore_variables(struct share_clients *c)
{
	const char *name;
	json_t *value;

	json_object_foreach(c->had, name, value)
	{
		if (json_is_string(value))
			setenv(name, json_string_value(value), 1);
		else
			unsetenv(name);
	}
	json_decref(c->had);
	c->had = NULL;
}

static int start_keeper(struct share_clients *c)
{
	char *texts[] = { (char *)(uintptr_t)keeper_of(c) }, *prefix;
	struct share_process *keeper = &c->keeper;
	int err = layer_command(texts, 1, &prefix);

	if (!err)
		err = start_process(keeper, json_pack("{s:s}", "job", "share-keeper"), prefix);
	free(prefix);
	if (!err)
		err = await(&keeper, 1, c->patience_s, NULL);
	if (err || keeper->lost) {
		strcpy(c->why, keeper->why);
		return err ? err : -ECHILD;
	}
	take_variables(c, keeper);
	return 0;
}

/* keeper: whose daemon they get; NULL: one of their own. */
static int start_all(struct share_clients *c, const struct share_process *keeper)
{
	int err = 0;

	if (keeper)
		take_variables(c, keeper);
	else if (keeper_of(c))
		err = start_keeper(c);
	for (int i = 0; i < c->processes && !err; i++)
		err = start_client(c, i);
	restore_variables(c);
	if (!err)
		err = await_all(c, c->patience_s, NULL);
	return err;
}

/* c: what it is to be, which is not yet started. */
static int start_with(struct share_clients *c, const struct share_set *set,
		      const struct share_process *keeper)
{
	int err;

	c->set = *set;
	c->processes = share_arms[set->arm].way == WAY_PROCESSES ? set->n : 1;
	c->keeper.child = child_none();
	for (int i = 0; i < c->processes; i++)
		c->process[i].child = child_none();
	err = start_all(c, keeper);
	for (int i = 0; i < c->processes && !err; i++) {
		c->process[i].ready = c->process[i].answer;
		c->process[i].answer = NULL;
	}
	if (clients_lost(c) && err != -EINTR)
		err = -ECHILD;
	return err;
}

int clients_start(struct share_clients *c, const struct share_plan *p, const struct share_set *set,
		  double patience_s)
{
	*c = (struct share_clients){ .plan = p, .patience_s = patience_s, .first_client = 1 };
	return start_with(c, set, NULL);
}

int clients_join(struct share_clients *c, const struct share_clients *others,
		 const struct share_set *set)
{
	bool has_daemon = keeper_of(others);

	*c = (struct share_clients){ .plan = others->plan,
				     .patience_s = others->patience_s,
				     .first_client = others->set.n + 1 };
	return start_with(c, set, has_daemon ? &others->keeper : NULL);
}

int clients_start_taker(struct share_clients *c, const struct share_plan *p,
			const struct share_clients *others, double patience_s)
{
	static const struct share_set one = { ARM_LIMITED, 1, 0 };
	bool has_daemon = others && keeper_of(others);

	*c = (struct share_clients){ .plan = p,
				     .patience_s = patience_s,
				     .takes_memory = true,
				     .first_client = others ? 2 : 1 };
	return start_with(c, &one, has_daemon ? &others->keeper : NULL);
}

/* ---- ending ----------------------------------------------------------------------------- */

static void stop_process(struct share_process *p)
{
	child_stop(&p->child, STOP_S);
	child_release(&p->child);
	json_decref(p->ready);
	json_decref(p->answer);
}

/* All at once are asked; the daemon goes last. */
void clients_stop(struct share_clients *c)
{
	for (int i = 0; i < c->processes; i++)
		child_signal(&c->process[i].child, SIGTERM);
	for (int i = 0; i < c->processes; i++)
		stop_process(&c->process[i]);
	stop_process(&c->keeper);
	c->processes = 0;
}
