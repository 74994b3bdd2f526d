/* param.c - one struct of declared parameters: defaults, name=value, who was set. */
#include "harness/params/param.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/spell.h"

int params_find(const struct param *rows, const char *name, size_t name_len)
{
	for (int i = 0; rows[i].name; i++)
		if (strlen(rows[i].name) == name_len && !memcmp(rows[i].name, name, name_len))
			return i;
	return -1;
}

void params_init(struct params *p, const struct param *rows, const char *owner, void *opts)
{
	*p = (struct params){ .rows = rows, .owner = owner, .prefix = "", .opts = opts };
	for (int i = 0; rows[i].name; i++) {
		CHECK(i < PARAM_ROWS_MAX, "%s declares more than %d parameters", owner,
		      PARAM_ROWS_MAX);
		if (!*rows[i].def)
			continue;
		CHECK(param_parse(&rows[i], rows[i].name, rows[i].def, opts) == 0,
		      "default of %s's parameter %s", owner, rows[i].name);
	}
}

static int refuse_unknown(const struct params *p, const char *name)
{
	struct spell near = spell_start(name);
	struct text word = text_shown(name);

	for (const struct param *row = p->rows; row->name; row++)
		spell_offer(&near, row->name);
	if (near.best)
		return complain(EINVAL, "unknown parameter '%s' of %s; did you mean '%s'?", word.s,
				p->owner, near.best);
	return complain(EINVAL, "unknown parameter '%s' of %s; `rift list %s` shows them", word.s,
			p->owner, p->owner);
}

int params_set(struct params *p, const char *name, const char *value)
{
	int i = params_find(p->rows, name, strlen(name)), err;
	char label[512];

	if (i < 0)
		return refuse_unknown(p, name);
	snprintf(label, sizeof(label), "%s%s", p->prefix, name);
	if (p->given[i])
		return complain(EINVAL, "%s=%s: %s is given twice", label, text_shown(value).s,
				label);
	err = param_parse(&p->rows[i], label, value, p->opts);
	if (!err)
		p->given[i] = true;
	return err;
}

int params_assign(struct params *p, const char *assignment)
{
	const char *equals = strchr(assignment, '=');
	char *name;
	int err;

	if (!equals && params_find(p->rows, assignment, strlen(assignment)) >= 0)
		return complain(EINVAL, "'%s' has no value; write %s=VALUE", assignment,
				assignment);
	if (!equals || equals == assignment)
		return complain(EINVAL,
				"'%s' is not name=value, which is how parameters of %s "
				"are written",
				text_shown(assignment).s, p->owner);
	name = strndup(assignment, (size_t)(equals - assignment));
	CHECK(name, "%zu bytes", (size_t)(equals - assignment));
	err = params_set(p, name, equals + 1);
	free(name);
	return err;
}

void params_release(struct params *p)
{
	for (const struct param *row = p->rows; row && row->name; row++) {
		char **path = (char **)((char *)p->opts + row->offset);

		if (row->kind != PARAM_PATH)
			continue;
		free(*path);
		*path = NULL;
	}
}
