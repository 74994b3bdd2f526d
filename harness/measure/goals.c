/* goals.c - what a session is to tell, as --resolve and --margin say it and as plans keep it. */
#include "harness/measure/goals.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/json.h"
#include "harness/base/text.h"

/* ---- what is asked for ---------------------------------------------------------------------- */

static const struct {
	const char *name;
	double ns;
} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 } };

enum { UNITS = sizeof(units) / sizeof(*units) };

/* "0.1us" in ns; NAN: none. */
static double duration_ns(const char *text)
{
	char *end;
	double value = strtod(text, &end);

	for (int i = 0; i < UNITS; i++)
		if (!strcmp(end, units[i].name) && value > 0 && isfinite(value))
			return value * units[i].ns;
	return NAN;
}

static bool can_be_asked_for(enum model_param which)
{
	return !strcmp(model_param_rows[which].unit, "ns");
}

static int refuse_name(const char *name)
{
	char all[160] = "";

	for (int i = 0; i < MODEL_PARAMS; i++)
		if (can_be_asked_for((enum model_param)i))
			snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s",
				 *all ? ", " : "", model_param_rows[i].name);
	return complain(EINVAL, "--resolve: unknown parameter '%s'; use %s", text_shown(name).s,
			all);
}

static int find_parameter(const char *name)
{
	for (int i = 0; i < MODEL_PARAMS; i++)
		if (can_be_asked_for((enum model_param)i) &&
		    !strcmp(model_param_rows[i].name, name))
			return i;
	return -1;
}

static int take_one(struct goals *g, char *text)
{
	char *value = strchr(text, '=');
	int which;

	if (value)
		*value++ = '\0';
	which = find_parameter(text);
	if (which < 0)
		return refuse_name(text);
	if (!value || isnan(duration_ns(value)))
		return complain(
			EINVAL,
			"--resolve: %s needs a time above 0 with its unit, as %s=100ns or %s=0.5us",
			text, text, text);
	if (g->parameter_ns[which] > 0)
		return complain(EINVAL, "--resolve: %s is given twice", text);
	/* as records keep it */
	g->parameter_ns[which] = round(1000 * duration_ns(value)) / 1000;
	return 0;
}

int goals_take_resolve(struct goals *g, const char *text)
{
	char *all = strdup(text), *rest = all, *one;
	int err = 0;

	CHECK(all, "memory of --resolve");
	while (!err && (one = strsep(&rest, ",")))
		err = take_one(g, one);
	free(all);
	return err;
}

int goals_take_margin(struct goals *g, const char *text)
{
	char *end;
	double percent = strtod(text, &end);

	if (end == text || (*end && strcmp(end, "%")) || !(percent > 0 && percent <= 100))
		return complain(EINVAL,
				"--margin=%s: must be a share above 0 and at most 100, in percent, "
				"as 2%%",
				text_shown(text).s);
	if (g->margin > 0)
		return complain(EINVAL, "--margin is given twice");
	g->margin = round(percent * 1e6) / 1e8;
	return 0;
}

bool goals_any(const struct goals *g)
{
	bool any = g->margin > 0;

	for (int i = 0; i < MODEL_PARAMS; i++)
		any |= g->parameter_ns[i] > 0;
	return any;
}

json_t *goals_json(const struct goals *g)
{
	json_t *o = json_object();

	for (int i = 0; i < MODEL_PARAMS; i++)
		if (g->parameter_ns[i] > 0)
			json_object_set_new(o, model_param_rows[i].name,
					    json_real(g->parameter_ns[i]));
	return o;
}

void goals_parse(struct goals *g, const json_t *resolve)
{
	for (int i = 0; i < MODEL_PARAMS; i++) {
		const json_t *v = json_object_get(resolve, model_param_rows[i].name);

		g->parameter_ns[i] = json_is_number(v) ? json_number_value(v) : 0;
	}
}
