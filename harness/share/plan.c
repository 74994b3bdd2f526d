/* plan.c - which sets of clients there are, in which order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/philox.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/platform/enter.h"
#include "harness/base/together.h"
#include "harness/measure/wait.h"
#include "harness/share/timeline.h"
#include "harness/share/share.h"
#include "harness/stats/bootstrap.h"
#include "workloads/workload.h"

const char *const share_fault_names[] = { "none", "crash", "kill", "hang", "memory", NULL };

/* ---- workloads -------------------------------------------------------------------------- */

static int assign_all(struct share_workload *w, char *const *words, int n)
{
	int err = 0;

	for (int i = 0; i < n && !err; i++)
		if (!preset_is(words[i]))
			err = params_assign(&w->params, words[i]);
	return err ? err
		   : preset_apply_named(&w->params, w->workload->presets, "rift list",
					(char **)(uintptr_t)words, n);
}

/* A client that only does what its parameters ask for has no steps. */
static int refuse_action(const struct share_workload *w)
{
	struct limits limits;
	int err = workload_limits(w->workload, w->opts, &limits);

	if (!err && limits.action)
		err = complain(EINVAL, "%s: nothing is timed with these parameters",
			       w->workload->name);
	return err;
}

int share_workload_parse(struct share_workload *w, char *const *words, int n)
{
	int err;

	*w = (struct share_workload){ .workload = workload_find(words[0]) };
	if (!w->workload)
		return -EINVAL;
	w->opts = calloc(1, w->workload->opts_size ? w->workload->opts_size : 1);
	CHECK(w->opts, "%zu bytes of options", w->workload->opts_size);
	params_init(&w->params, w->workload->params, w->workload->name, w->opts);
	w->words = json_array();
	for (int i = 0; i < n; i++)
		json_array_append_new(w->words, json_text(words[i]));
	err = assign_all(w, words + 1, n - 1);
	if (!err)
		err = param_needs_check(&w->params, w->workload->needs);
	return err ? err : refuse_action(w);
}

int share_workload_from_json(struct share_workload *w, const json_t *words)
{
	char *word[SHARE_WORDS_MAX];
	size_t n = json_array_size(words);

	*w = (struct share_workload){ .workload = NULL };
	if (!n || n > SHARE_WORDS_MAX)
		return complain(EINVAL, "a workload has 1 to %d words", SHARE_WORDS_MAX);
	for (size_t i = 0; i < n; i++) {
		const char *text = json_string_value(json_array_get(words, i));

		if (!text)
			return complain(EINVAL, "a workload's words are texts");
		word[i] = (char *)(uintptr_t)text;
	}
	return share_workload_parse(w, word, (int)n);
}

void share_workload_release(struct share_workload *w)
{
	if (w->workload)
		params_release(&w->params);
	free(w->opts);
	json_decref(w->words);
	*w = (struct share_workload){ .workload = NULL };
}

struct text_line share_workload_text(const struct share_workload *w)
{
	struct text_line t = { "" };
	const json_t *word;
	size_t i, used = 0;

	json_array_foreach(w->words, i, word)
	{
		used += (size_t)snprintf(t.s + used, sizeof(t.s) - used, "%s%.60s", i ? " " : "",
					 text_shown(json_string_value(word)).s);
		if (used >= sizeof(t.s))
			break;
	}
	return t;
}

struct text_line share_client_text(const struct share_plan *p, int mix)
{
	struct text_line t = share_workload_text(&p->mix[mix]), said;

	if (!p->sync)
		return t;
	snprintf(said.s, sizeof(said.s), "%s: %.*s", p->sync, (int)sizeof(said.s) - 20, t.s);
	return said;
}

/* ---- the plan as JSON ------------------------------------------------------------------- */

int share_plan_windows(const struct share_plan *p)
{
	return p->windows * p->repetitions;
}

bool share_plan_has_layers_of(const struct share_plan *p)
{
	for (int i = 0; i < SHARE_CLIENTS_MAX; i++)
		if (p->layer_of[i])
			return true;
	return false;
}

static json_t *layers_of_json(const struct share_plan *p)
{
	json_t *o = json_object();
	char number[16];

	for (int i = 0; i < SHARE_CLIENTS_MAX; i++) {
		snprintf(number, sizeof(number), "%d", i + 1);
		if (p->layer_of[i])
			json_object_set_new(o, number, json_text(p->layer_of[i]));
	}
	return o;
}

json_t *share_plan_json(const struct share_plan *p)
{
	json_t *mix = json_array(), *clients = json_array(), *arms = json_array(), *o;

	for (int i = 0; i < p->mixes; i++)
		json_array_append(mix, p->mix[i].words);
	for (int i = 0; i < p->counts; i++)
		json_array_append_new(clients, json_integer(p->clients[i]));
	for (int i = 0; i < ARMS; i++)
		if (p->arm[i])
			json_array_append_new(arms, json_string(share_arms[i].name));
	o = json_pack("{s:o, s:o, s:o, s:o, s:s, s:I, s:f, s:i, s:i, s:i, s:o, s:o, s:I}",
		      "workloads", mix, "clients", clients, "arms", arms, "layer_of",
		      layers_of_json(p), "fault", share_fault_names[p->fault], "seed",
		      (json_int_t)p->seed, "window_s", p->window_s, "windows", p->windows,
		      "repetitions", p->repetitions, "starts", p->starts, "mode",
		      p->mode ? json_text(p->mode) : json_null(), "sync", json_text(p->sync),
		      "depth", (json_int_t)p->depth);
	allow_to_json(&p->allow, o);
	return o;
}

static int wrong(const char *where, const char *what)
{
	return complain(EINVAL, "%s: the plan's %s is not valid", where, what);
}

static int parse_counts(struct share_plan *p, const json_t *clients)
{
	const json_t *v;
	size_t i;

	if (!json_array_size(clients) || json_array_size(clients) > SHARE_COUNTS_MAX)
		return -EINVAL;
	json_array_foreach(clients, i, v)
	{
		json_int_t n = json_integer_value(v);

		if (n < 1 || n > SHARE_CLIENTS_MAX || (i && n <= p->clients[i - 1]))
			return -EINVAL;
		p->clients[p->counts++] = (int)n;
	}
	return 0;
}

static int parse_arms(struct share_plan *p, const json_t *arms)
{
	const json_t *v;
	size_t i;

	json_array_foreach(arms, i, v)
	{
		const char *name = json_string_value(v);
		int arm = name ? share_arm_find(name) : -EINVAL;

		if (arm < 0)
			return arm;
		p->arm[arm] = true;
	}
	return json_array_size(arms) ? 0 : -EINVAL;
}

static int parse_layers_of(struct share_plan *p, const json_t *layers)
{
	const char *number;
	json_t *text;

	json_object_foreach((json_t *)(uintptr_t)layers, number, text)
	{
		int client = atoi(number);

		if (client < 1 || client > SHARE_CLIENTS_MAX || !json_is_string(text))
			return -EINVAL;
		p->layer_of[client - 1] = json_string_value(text);
	}
	return json_is_object(layers) ? 0 : -EINVAL;
}

static int parse_fault(struct share_plan *p, const char *name)
{
	for (int i = 0; share_fault_names[i]; i++)
		if (!strcmp(share_fault_names[i], name)) {
			p->fault = (enum share_fault)i;
			return 0;
		}
	return -EINVAL;
}

/* null, and absent from older records: the default. */
static int parse_sync(struct share_plan *p, const json_t *name)
{
	const char *text = json_string_value(name);

	for (int i = 0; text && sync_names[i]; i++)
		if (!strcmp(sync_names[i], text))
			p->sync = sync_names[i];
	return !name || json_is_null(name) || p->sync ? 0 : -EINVAL;
}

/* A whole number from 1 on. */
static bool take_count(const json_t *o, const char *name, int64_t most, int64_t *out)
{
	const json_t *v = json_object_get(o, name);

	*out = json_integer_value(v);
	return json_is_integer(v) && *out >= 1 && *out <= most;
}

static int parse_windows(struct share_plan *p, const json_t *o, const char *where)
{
	int64_t windows = 0, repetitions = 0, starts = 0;

	p->window_s = json_get_number(o, "window_s");
	if (!(p->window_s > 0 && p->window_s <= 3600))
		return wrong(where, "window_s");
	if (!take_count(o, "windows", SHARE_WINDOWS_MAX, &windows))
		return wrong(where, "windows");
	if (!take_count(o, "repetitions", SHARE_WINDOWS_MAX, &repetitions) ||
	    windows * repetitions > SHARE_WINDOWS_MAX)
		return wrong(where, "repetitions");
	if (!take_count(o, "starts", repetitions, &starts))
		return wrong(where, "starts");
	if (share_plan_has_promise(p) && (windows != TIMELINE_HOWS || starts != repetitions))
		return wrong(where, "windows");
	p->starts = (int)starts;
	p->windows = (int)windows;
	p->repetitions = (int)repetitions;
	return 0;
}

static int parse_mix(struct share_plan *p, const json_t *mix)
{
	const json_t *words;
	size_t i;
	int err = json_array_size(mix) && json_array_size(mix) <= SHARE_MIX_MAX ? 0 : -EINVAL;

	json_array_foreach(mix, i, words)
	{
		if (!err)
			err = share_workload_from_json(&p->mix[p->mixes++], words);
	}
	return err;
}

int share_plan_parse(struct share_plan *p, const json_t *o, const char *where)
{
	const json_t *seed = json_object_get(o, "seed"), *mode = json_object_get(o, "mode");

	*p = (struct share_plan){ .kept = json_incref((json_t *)(uintptr_t)o) };
	if (parse_mix(p, json_object_get(o, "workloads")))
		return wrong(where, "workloads");
	if (parse_counts(p, json_object_get(o, "clients")))
		return wrong(where, "clients");
	if (parse_arms(p, json_object_get(o, "arms")))
		return wrong(where, "arms");
	if (parse_layers_of(p, json_object_get(o, "layer_of")))
		return wrong(where, "layer_of");
	if (parse_fault(p, json_get_text(o, "fault")))
		return wrong(where, "fault");
	if (!json_is_integer(seed) || json_integer_value(seed) < 0)
		return wrong(where, "seed");
	p->seed = (uint64_t)json_integer_value(seed);
	if (!json_is_null(mode) && !json_is_string(mode))
		return wrong(where, "mode");
	p->mode = json_string_value(mode);
	if (parse_sync(p, json_object_get(o, "sync")))
		return wrong(where, "sync");
	if (!take_count(o, "depth", INT64_MAX, &p->depth))
		return wrong(where, "depth");
	if (allow_from_json(&p->allow, o) || share_plan_has_promise(p) != p->arm[ARM_LIMITED])
		return wrong(where, "allow");
	return parse_windows(p, o, where);
}

void share_plan_release(struct share_plan *p)
{
	for (int i = 0; i < SHARE_MIX_MAX; i++)
		share_workload_release(&p->mix[i]);
	json_decref(p->kept);
	p->kept = NULL;
}

/* ---- sets ------------------------------------------------------------------------------- */

int share_client_mix(const struct share_plan *p, const struct share_set *s, int client)
{
	return (s->first + client) % p->mixes;
}

static void add_sets(const struct share_plan *p, enum share_arm arm, int clients,
		     struct share_set *all, int *n)
{
	for (int first = 0; first < (clients > 1 ? 1 : p->mixes); first++)
		all[(*n)++] = (struct share_set){ arm, clients, first };
}

/* One process alone is what all others are held against, asked for or not. */
struct share_set *share_sets(const struct share_plan *p, int *n)
{
	size_t most = (size_t)(ARMS + 1) * (SHARE_COUNTS_MAX + SHARE_MIX_MAX);
	struct share_set *all = calloc(most, sizeof(*all));

	CHECK(all, "memory of %zu sets", most);
	*n = 0;
	if (share_plan_has_promise(p) && !(p->allow.compute > 0))
		return all;
	if (!p->arm[ARM_PROCESSES] || p->clients[0] != 1)
		add_sets(p, ARM_PROCESSES, 1, all, n);
	for (int arm = 0; arm < ARMS; arm++)
		for (int i = 0; i < p->counts && p->arm[arm]; i++)
			add_sets(p, (enum share_arm)arm, p->clients[i], all, n);
	return all;
}

/* Fisher and Yates' shuffle: a drift of the machine is no arm's own. */
void share_order(const struct share_plan *p, int start, int *order, int n)
{
	for (int i = 0; i < n; i++)
		order[i] = i;
	for (int i = n - 1; i > 0; i--) {
		struct philox random = philox4x32((uint32_t)i, (uint32_t)start, 0, 0, p->seed);
		int other = (int)(random.word[0] % (uint32_t)(i + 1)), kept = order[i];

		order[i] = order[other];
		order[other] = kept;
	}
}
