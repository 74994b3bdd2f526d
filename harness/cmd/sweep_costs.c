/* sweep_costs.c - rift sweep --layer 'emulate call=0,5,20': a workload's time over a layer's costs.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "harness/base/picture.h"
#include "harness/base/text.h"
#include "harness/cmd/sweep.h"
#include "harness/probe/sensitivity.h"
#include "harness/chart/sensitivity_chart.h"
#include "workloads/workload.h"

enum { PROCESSES = 3 }; /* of each value, unless so many are asked for */

/* ---- output ------------------------------------------------------------------------------- */

static void print(const void *found, FILE *out)
{
	sensitivity_print(found, out);
}

static json_t *json(const void *found)
{
	return sensitivity_json(found);
}

static void print_plan(const void *found, FILE *out)
{
	sensitivity_plan_print(found, out);
}

static json_t *plan_json(const void *found)
{
	return sensitivity_plan_json(found);
}

static int draw(const struct sensitivity *s, const struct sweep_args *a)
{
	struct picture picture;
	int err;

	if (!a->plot)
		return 0;
	err = sensitivity_chart_write(&picture, s, a->plot);
	err = show_picture(&a->given, a->plot, &picture, err);
	sensitivity_chart_release(&picture);
	return err;
}

/* ---- the command -------------------------------------------------------------------------- */

static int measure_and_show(struct sensitivity *s, const struct sweep_args *a)
{
	int err;

	if (!a->given.quiet)
		sensitivity_plan_print(s, stderr);
	err = sensitivity_measure(s);
	if (err)
		return err;
	show(&a->given, s, print, json);
	err = draw(s, a);
	note_cpu(&a->given, s->first.is_cpu);
	return err ? err : (int)sensitivity_exit_code(s);
}

static int plan_and_measure(struct sensitivity *s, const struct sweep_args *a)
{
	int err = sensitivity_plan(s);

	if (err || !a->dry_run)
		return err ? err : measure_and_show(s, a);
	show(&a->given, s, print_plan, plan_json);
	return RIFT_OK;
}

/* The workload, then its assignments. To be freed. */
static const char **words_of(const struct sweep_args *a)
{
	const char **words = calloc((size_t)a->n_assignments + 2, sizeof(*words));

	CHECK(words, "memory of %d words", a->n_assignments);
	words[0] = a->n_workloads ? a->workload[0]->name : "launch";
	for (int i = 0; i < a->n_assignments; i++)
		words[i + 1] = a->assignment[i];
	return words;
}

int sweep_costs(const struct sweep_args *a)
{
	const char **words = words_of(a);
	const struct sensitivity_request r = {
		.words = words,
		.mode = a->mode,
		.depth = a->depth,
		.blocks = a->blocks,
		.layer = a->given.layers.word[0],
		.processes = a->values.processes ? (int)a->values.processes : PROCESSES,
		.limit_s = a->values.limit_s,
	};
	struct sensitivity s;
	int err;

	progress_init(a->given.quiet);
	err = sensitivity_init(&s, &r);
	/* before the measuring: a folder that cannot be written to is not worth minutes */
	if (!err && a->plot)
		err = picture_folder("--plot", a->plot);
	if (!err)
		err = plan_and_measure(&s, a);
	if (err == -EINTR)
		complain(EINTR, "interrupted; nothing is reported");
	sensitivity_release(&s);
	free(words);
	return err;
}
