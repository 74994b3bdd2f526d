/* preset.c - several parameters of a workload by one name. */
#include "harness/params/preset.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/spell.h"

static const char prefix[] = "preset=";

bool preset_is(const char *assignment)
{
	return !strncmp(assignment, prefix, strlen(prefix));
}

const struct preset *preset_find(const struct workload *w, const char *assignment)
{
	const char *name = assignment + strlen(prefix);
	struct spell near = spell_start(name);

	for (const struct preset *p = w->presets; p && p->name; p++) {
		if (!strcmp(p->name, name))
			return p;
		spell_offer(&near, p->name);
	}
	complain(EINVAL, "preset=%s: %s has no such preset; `rift list %s` shows them%s",
		 text_shown(name).s, w->name, w->name, spell_hint(&near).s);
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
