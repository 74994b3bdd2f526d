/* validate_text.c - the output of `rift validate`. */
#include "harness/model/validate_text.h"

#include <math.h>

#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/base/row.h"
#include "harness/base/text.h"
#include "harness/measure/submit.h"
#include "harness/record/plan_record.h"
#include "harness/record/recorded.h"

/* ---- for people --------------------------------------------------------------------------- */

static void print_errors(const char *name, const char *what, const struct errors *e,
			 const struct grid *g, FILE *out)
{
	char worst[160] = "";

	if (!e->n)
		return;
	if (e->worst_point >= 0)
		plan_point_text(&g->j->plan, g->point[e->worst_point].point, worst, sizeof(worst));
	fprintf(out, "  %-15s %-8s %5d %8.2f %% %8.2f %% %8.2f %%  %s\n", name, what, e->n,
		100 * e->median, 100 * e->p95, 100 * e->worst, worst);
}

static void print_work(const struct work_validation *v, FILE *out)
{
	const struct grid *g = v->work;

	for (int mode = 0; mode < MODE_COUNT; mode++)
		print_errors(g->workload->name, mode_name((enum mode)mode), &v->mode[mode], g, out);
	print_errors(g->workload->name, "all", &v->all, g, out);
	print_errors(g->workload->name, "outside", &v->outside, g, out);
	fprintf(out, "  %-15s %s: %d blocks gave the kernels' time and are left out", "",
		!v->all.n     ? "nothing to predict"
		: v->accepted ? "accepted"
			      : "NOT accepted",
		v->seen);
	if (v->unknown)
		fprintf(out, ", %d more have a mode that launches were not swept in", v->unknown);
	fputc('\n', out);
}

void works_print(const struct work_validation *v, int n, const struct fit *launches, FILE *out)
{
	const struct grid *g = launches->grid;
	const struct errors all = validate_all_work(v, n);
	char platform[160];

	session_platform(g->j, g->side, platform, sizeof(platform));
	row(out, "validate", "%s, parameters of %s, n = %d processes, %s%s%s", platform,
	    g->workload->name, launches->n, text_shown(g->j->path ? g->j->path : "").s,
	    g->j->sides > 1 ? ", side " : "", g->j->sides > 1 ? journal_side_name(g->side) : "");
	row(out, "predicted",
	    "from these and the device time of a launch, which is measured in "
	    "the workload's own deepest blocks");
	fprintf(out, "\n|predicted / measured - 1| of blocks\n  %-15s %-8s %5s %10s %10s %10s\n",
		"workload", "mode", "n", "median", "95 %", "worst");
	for (int i = 0; i < n; i++)
		print_work(&v[i], out);
	if (n > 1)
		print_errors("all workloads", "all", &all, g, out);
	fprintf(out,
		"accepted: a median of at most %.0f %% and a 95th percentile of at most %.0f %%. "
		"outside: of the\nsizes and depths that launches were swept at; not in `all`.\n",
		100 * ERROR_MEDIAN_MAX, 100 * ERROR_P95_MAX);
}

/* ---- for machines ------------------------------------------------------------------------- */

static json_t *errors_json(const struct errors *e)
{
	return json_pack("{s:i, s:o, s:o, s:o}", "n", e->n, "median", json_number(e->median), "p95",
			 json_number(e->p95), "worst", json_number(e->worst));
}

static json_t *work_json(const struct work_validation *v)
{
	json_t *modes = json_object();

	for (int mode = 0; mode < MODE_COUNT; mode++)
		json_object_set_new(modes, mode_name((enum mode)mode), errors_json(&v->mode[mode]));
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:i, s:i, s:b}", "workload",
			 v->work->workload->name, "parameters_set", v->work->others, "modes", modes,
			 "all", errors_json(&v->all), "outside", errors_json(&v->outside), "seen",
			 v->seen, "unknown", v->unknown, "accepted", v->accepted);
}

json_t *works_json(const struct work_validation *v, int n, const struct fit *launches)
{
	const struct errors all = validate_all_work(v, n);
	json_t *works = json_array();

	for (int i = 0; i < n; i++)
		json_array_append_new(works, work_json(&v[i]));
	return json_pack("{s:s, s:s, s:o, s:s, s:i, s:o, s:o}", "version", RIFT_VERSION, "command",
			 "validate", "parameters_session", json_text(launches->grid->j->path),
			 "parameters_side", journal_side_name(launches->grid->side), "processes",
			 launches->n, "workloads", works, "all", errors_json(&all));
}
