/* rows.c - what a workload says of itself. */
#include "tests/rows.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#include "harness/base/param.h"
#include "tests/cli.h"

void rows_are(const struct workload *w, const char *want)
{
	char got[1024];
	size_t n = 0;

	for (const struct param *p = w->params; p->name; p++)
		n += (size_t)snprintf(got + n, sizeof(got) - n, "%s%s=%s", n ? " " : "", p->name,
				      p->def ? p->def : "");
	cr_assert(n < sizeof(got) && !strcmp(got, want), "%s", got);
}

void rows_default_to(const struct workload *w, const void *opts)
{
	for (const struct param *p = w->params; p->name; p++)
		cr_assert(param_is_default(p, opts), "%s", p->name);
}

const struct param *param_row(const struct workload *w, const char *name)
{
	const struct param *p = w->params;

	while (p->name && strcmp(p->name, name) != 0)
		p++;
	cr_assert(p->name != NULL, "no parameter %s", name);
	return p;
}

const struct report_row *report_row(const struct report *r, const char *name)
{
	for (int i = 0; i < r->n; i++)
		if (!strcmp(r->row[i].name, name))
			return &r->row[i];
	cr_fatal("no row '%s'", name);
	return NULL;
}

static const json_t *json_row(const json_t *run, const char *name)
{
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(run, "report"), i, row)
	{
		if (!strcmp(get_text(row, "name"), name))
			return row;
	}
	return NULL;
}

const char *row_text(const json_t *run, const char *name)
{
	return get_text(json_row(run, name), "text");
}

double row_value(const json_t *run, const char *name)
{
	return json_number_value(json_object_get(json_row(run, name), "value"));
}

void has_row(const struct report *r, const char *name, const char *says)
{
	const struct report_row *row = report_row(r, name);

	cr_assert(says ? strstr(row->text, says) != NULL : row->value > 0, "%s: %s", name,
		  row->text);
}
