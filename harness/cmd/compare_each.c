/* compare_each.c - rift compare --each node FILE...: each node against the fleet. */
#include <errno.h>
#include <math.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "harness/base/text.h"
#include "harness/chart/fleet_chart.h"
#include "harness/cmd/compare.h"
#include "harness/compare/fleet.h"

static void print(const void *found, FILE *out)
{
	fleet_print(found, false, out);
}

static void print_all(const void *found, FILE *out)
{
	fleet_print(found, true, out);
}

static json_t *json(const void *found)
{
	return fleet_json(found);
}

static int refuse_options(const struct compare_args *a)
{
	const char *option = a->self_test	       ? "--self-test"
			     : a->strict	       ? "--strict"
			     : isfinite(a->session_sd) ? "--session-sd"
						       : NULL;

	return option ? complain(EINVAL, "%s has no effect with --each", option) : 0;
}

static int draw(const struct fleet *f, const struct compare_args *a)
{
	struct picture p = { .asked = false };
	int err;

	if (!a->plot)
		return 0;
	err = show_picture(&a->given, a->plot, &p, fleet_chart_write(&p, f, a->plot));
	picture_release(&p);
	return err;
}

int compare_each_read(struct fleet *f, const struct compare_args *a)
{
	const struct fleet_request request = { a->given.side, a->given.sync, a->workload,
					       a->force };
	struct each_files files = { NULL, 0 };
	int err = each_files_find(&files, &a->given.words);

	*f = (struct fleet){ .nodes = 0 };
	if (!err)
		err = fleet_read(f, files.path, files.n, &request);
	if (!err)
		fleet_judge(f, isfinite(a->margin) ? a->margin : MARGIN_DEFAULT);
	each_files_release(&files);
	return err;
}

int compare_each(const struct compare_args *a)
{
	struct fleet f = { .nodes = 0 };
	int err = refuse_options(a);

	interrupt_install();
	progress_init(a->given.quiet);
	if (!err && a->plot)
		err = picture_folder("--plot", a->plot);
	if (!err)
		err = compare_each_read(&f, a);
	if (!err) {
		show(&a->given, &f, a->given.all ? print_all : print, json);
		err = draw(&f, a);
		note_cpu(&a->given, f.is_cpu);
	}
	err = err ? err : (int)fleet_exit_code(&f);
	fleet_release(&f);
	return err;
}
