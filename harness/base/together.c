/* together.c - parameters that belong together: which count only with others, and presets. */
#include "harness/base/together.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/check.h"
#include "common/param.h"
#include "harness/base/text.h"

/* ---- parameters that count only with others: `when` is "trajectory", "solver=a|b" ------- */

/* One `when`, in parts that are not ended by zero: "!" NAME "=" CHOICE "|" CHOICE. */
struct condition {
	bool negated;
	const char *name, *choices; /* choices: behind the '=', or NULL */
	size_t name_len;
};

static struct condition parse_condition(const char *when)
{
	struct condition c = { .negated = *when == '!' };

	c.name = when + c.negated;
	c.name_len = strcspn(c.name, "=");
	c.choices = c.name[c.name_len] ? c.name + c.name_len + 1 : NULL;
	return c;
}

/* "with solver=a|b", "without trajectory=". */
static struct text condition_text(const char *when)
{
	struct condition c = parse_condition(when);
	struct text t;

	snprintf(t.s, sizeof(t.s), "%s %s%s", c.negated ? "without" : "with", c.name,
		 c.choices ? "" : "=");
	return t;
}

/* Is choice one of "a|b"? */
static bool is_among(const char *choice, const char *choices)
{
	size_t len = strlen(choice), n;

	for (;; choices += n + 1) {
		n = strcspn(choices, "|");
		if (n == len && !memcmp(choice, choices, n))
			return true;
		if (!choices[n])
			return false;
	}
}

/* Rows are known to fit: see param_needs_fit(). */
static bool is_met(const struct params *p, const char *when)
{
	struct condition c = parse_condition(when);
	const struct param *row = &p->rows[params_find(p->rows, c.name, c.name_len)];
	const void *field = (const char *)p->opts + row->offset;

	if (row->kind == PARAM_CHOICE)
		return is_among(row->choices[*(const int *)field], c.choices) != c.negated;
	return (*(const char *const *)field != NULL) != c.negated;
}

int param_needs_check(const struct params *p, const struct param_need *needs)
{
	char value[80];
	int i;

	for (; needs && needs->name; needs++) {
		i = params_find(p->rows, needs->name, strlen(needs->name));
		if (!p->given[i] || is_met(p, needs->when))
			continue;
		param_format(&p->rows[i], p->opts, value, sizeof(value));
		return complain(EINVAL, "%s%s=%s has no effect: it is used only %s", p->prefix,
				needs->name, value, condition_text(needs->when).s);
	}
	return 0;
}

bool param_counts(const struct params *p, const struct param_need *needs, const char *name)
{
	for (; needs && needs->name; needs++)
		if (!strcmp(needs->name, name) && !is_met(p, needs->when))
			return false;
	return true;
}

/* Every "b" of "b|c" among the row's choices. */
static bool choices_fit(const struct param *row, const char *choices)
{
	size_t n;

	for (;; choices += n + 1) {
		bool found = false;

		n = strcspn(choices, "|");
		for (int i = 0; row->choices[i]; i++)
			found |= strlen(row->choices[i]) == n &&
				 !memcmp(row->choices[i], choices, n);
		if (!found || !choices[n])
			return found;
	}
}

static bool fits(const struct param *rows, const struct param_need *need)
{
	struct condition c = parse_condition(need->when);
	int i = params_find(rows, c.name, c.name_len);

	if (i < 0 || params_find(rows, need->name, strlen(need->name)) < 0)
		return false;
	if (rows[i].kind == PARAM_CHOICE)
		return c.choices && choices_fit(&rows[i], c.choices);
	return rows[i].kind == PARAM_PATH && !c.choices;
}

bool param_needs_fit(const struct param *rows, const struct param_need *needs,
		     const struct param_need **wrong)
{
	for (; needs && needs->name; needs++)
		if (!fits(rows, needs)) {
			*wrong = needs;
			return false;
		}
	return true;
}

struct need_text param_need_text(const struct param_need *needs, const char *name)
{
	struct need_text all = { "" };
	size_t used = 0;

	for (; needs && needs->name; needs++) {
		if (strcmp(needs->name, name) || used >= sizeof(all.s))
			continue;
		used += (size_t)snprintf(all.s + used, sizeof(all.s) - used, "%s%s",
					 used ? ", " : "", condition_text(needs->when).s);
	}
	return all;
}

/* ---- several parameters of a workload by one name --------------------------------------- */

static const char prefix[] = "preset=";

bool preset_is(const char *assignment)
{
	return !strncmp(assignment, prefix, strlen(prefix));
}

const struct preset *preset_find(const struct preset *presets, const char *owner,
				 const char *shown_by, const char *assignment)
{
	const char *name = assignment + strlen(prefix);
	struct suggestion near = suggest_start(name);

	for (const struct preset *p = presets; p && p->name; p++) {
		if (!strcmp(p->name, name))
			return p;
		suggest_offer(&near, p->name);
	}
	complain(EINVAL, "preset=%s: %s has no such preset; `%s %s` shows them%s",
		 text_shown(name).s, owner, shown_by, owner, suggest_hint(&near).s);
	return NULL;
}

int preset_each(const struct preset *p, int (*take)(void *arg, const char *assignment), void *arg)
{
	char one[128];
	size_t n;
	int err = 0;

	for (const char *at = p->values; *at && !err; at += n + (at[n] == ' ')) {
		n = strcspn(at, " ");
		CHECK(n < sizeof(one), "a value of preset %s", p->name);
		snprintf(one, sizeof(one), "%.*s", (int)n, at);
		err = take(arg, one);
	}
	return err;
}

static int set_one(void *arg, const char *assignment)
{
	struct params *params = arg;
	int i = params_find(params->rows, assignment, strcspn(assignment, "="));

	return i >= 0 && params->given[i] ? 0 : params_assign(params, assignment);
}

int preset_apply(struct params *params, const struct preset *p)
{
	return preset_each(p, set_one, params);
}

int preset_apply_named(struct params *params, const struct preset *presets, const char *shown_by,
		       char *const *words, int n)
{
	const struct preset *chosen = NULL;

	for (int i = 0; i < n; i++) {
		if (!preset_is(words[i]))
			continue;
		if (chosen)
			return complain(EINVAL, "%s: a preset is given twice",
					text_shown(words[i]).s);
		chosen = preset_find(presets, params->owner, shown_by, words[i]);
		if (!chosen)
			return -EINVAL;
	}
	return chosen ? preset_apply(params, chosen) : 0;
}

json_t *presets_json(const struct preset *presets)
{
	json_t *o = json_object();

	for (const struct preset *p = presets; p && p->name; p++)
		json_object_set_new(o, p->name, json_string(p->values));
	return o;
}
