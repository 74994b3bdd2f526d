/* charts.c - all charts of one or two platforms, and where they go. */
#include "harness/chart/charts.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/datafile.h"
#include "common/interrupt.h"
#include "harness/base/text.h"
#include "harness/chart/copied.h"
#include "harness/record/recorded.h"
#include "workloads/workload.h"

/* ---- workloads -------------------------------------------------------------------------- */

static bool has_workload(const struct chart_side *s, const struct workload *w)
{
	const struct plan *p = &s->journal->plan;

	for (int i = 0; i < p->n_configs; i++)
		if (p->config[i].workload == w)
			return true;
	return false;
}

/* Does a step of some point copy between host and device? */
static bool has_copies(const struct journal *j, const struct workload *w)
{
	for (int i = 0; i < j->plan.n_points; i++)
		if (j->plan.config[j->plan.point[i].config].workload == w && copied_bytes(j, i) > 0)
			return true;
	return false;
}

static bool is_wanted(const struct chart_side *s, const struct workload *w)
{
	if (chart_is_over_copied(s->over))
		return has_copies(s->journal, w);
	return !s->over || chart_over(w, s->over);
}

/* Some workload of the session must have the parameter that is to be drawn over. */
static int check_over(const struct chart_side *s, int sides)
{
	const struct plan *p = &s->journal->plan;
	struct suggestion near;

	if (chart_is_over_copied(s->over) && sides > 1)
		return complain(EINVAL, "--over=" CHART_COPIED ": of one platform, not of two");
	for (int i = 0; i < p->n_configs; i++)
		if (is_wanted(s, p->config[i].workload))
			return 0;
	if (chart_is_over_copied(s->over))
		return complain(EINVAL, "--over=" CHART_COPIED ": no step of the session copies "
					"between host and device");
	near = suggest_start(s->over);
	suggest_offer(&near, CHART_COPIED);
	for (int i = 0; i < p->n_configs; i++)
		for (const struct param *row = p->config[i].params.rows; row->name; row++)
			if (chart_over(p->config[i].workload, row->name))
				suggest_offer(&near, row->name);
	return complain(EINVAL, "--over=%s: no workload of the session has a number of that name%s",
			text_shown(s->over).s, suggest_hint(&near).s);
}

static bool is_first_of_its_workload(const struct plan *p, int config)
{
	for (int i = 0; i < config; i++)
		if (p->config[i].workload == p->config[config].workload)
			return false;
	return true;
}

static int add_set(struct charts *c, const struct chart_side *side, int sides,
		   const struct workload *w)
{
	int err;

	err = chart_set_init(&c->set[c->sets], side, sides, sides > 1 ? &c->pair : NULL, w);
	if (!err && (sides < 2 || c->set[c->sets].common))
		c->sets++;
	else
		chart_set_release(&c->set[c->sets]);
	return err;
}

int charts_init(struct charts *c, const struct chart_side *side, int sides)
{
	const struct plan *p = &side[0].journal->plan;
	int err = check_over(side, sides);

	/* a set stays where it is: its fits point into it */
	*c = (struct charts){ .set = calloc((size_t)p->n_configs + 1, sizeof(*c->set)) };
	CHECK(c->set, "memory of %d workloads", p->n_configs);
	if (!err && sides > 1)
		err = chart_pair_init(&c->pair, side);
	for (int i = 0; i < p->n_configs && !err; i++)
		if (is_first_of_its_workload(p, i) && is_wanted(side, p->config[i].workload) &&
		    has_workload(&side[sides - 1], p->config[i].workload))
			err = add_set(c, side, sides, p->config[i].workload);
	if (!err && !c->sets)
		err = complain(EXDEV, "the two sessions have no point in common: nothing of B can "
				      "be held against A");
	return err;
}

void charts_release(struct charts *c)
{
	for (int i = 0; i < c->pictures; i++) {
		free((char *)(uintptr_t)c->picture[i].plot.name);
		picture_release(&c->picture[i]);
	}
	for (int i = 0; i < c->sets; i++)
		chart_set_release(&c->set[i]);
	chart_pair_release(&c->pair);
	free(c->picture);
	free(c->set);
	*c = (struct charts){ 0 };
}

/* ---- files ------------------------------------------------------------------------------ */

/* What a chart is of. */
struct request {
	const struct chart_set *set;
	int sets, side; /* side: of an overhead chart */
};

typedef int chart_function(const struct request *r, struct plot *p);

static int overhead(const struct request *r, struct plot *p)
{
	return chart_overhead(r->set, r->side, p);
}

static int chart_of_ratios(const struct request *r, struct plot *p)
{
	return chart_ratios(r->set, p);
}

static int latency(const struct request *r, struct plot *p)
{
	return chart_latency(r->set, p);
}

static int chart_of_depths(const struct request *r, struct plot *p)
{
	return chart_depth_needed(r->set, p);
}

static int stack(const struct request *r, struct plot *p)
{
	return chart_stack(r->set, r->side, p);
}

static int chart_of_dots(const struct request *r, struct plot *p)
{
	return chart_dots(r->set, r->sets, p);
}

static int collection(const struct request *r, struct plot *p)
{
	return chart_collection(r->set, r->sets, p);
}

static int chart_of_copies(const struct request *r, struct plot *p)
{
	return chart_copied(r->set, p);
}

/* NAME and SUFFIX make the names of its files. */
static int add_chart(struct charts *c, const char *folder, const char *name, const char *suffix,
		     chart_function *write, const struct request *r)
{
	struct picture *p;
	char *whole;
	int err;

	CHECK(asprintf(&whole, "%s%s", name, suffix) > 0, "memory of a name");
	p = &c->picture[c->pictures++];
	*p = (struct picture){ .asked = true };
	plot_begin(&p->plot, folder, whole, r->set->side[r->side].device);
	p->plot.option = "--output";
	err = write(r, &p->plot);
	if (!err)
		return picture_write(p);
	c->pictures--;
	picture_release(p);
	free(whole);
	return err > 0 ? 0 : err; /* above 0: there is nothing to draw */
}

enum { CHARTS_OF_A_SET = 7 };

static int add_charts(struct charts *c, const char *folder, const struct chart_set *set)
{
	const char *name = set->grid[0].workload->name;
	struct request r = { .set = set, .sets = 1 };
	int err;

	if (chart_is_over_copied(set->side->over))
		return add_chart(c, folder, name, "-copied", chart_of_copies, &r);
	if (set->side->over)
		return add_chart(c, folder, name, "-over", latency, &r);
	err = add_chart(c, folder, name, set->sides > 1 ? "-overhead-a" : "-overhead", overhead,
			&r);
	r.side = 1;
	if (!err && set->sides > 1)
		err = add_chart(c, folder, name, "-overhead-b", overhead, &r);
	r.side = 0;
	if (!err && set->sides > 1)
		err = add_chart(c, folder, name, "-ratio", chart_of_ratios, &r);
	if (!err)
		err = add_chart(c, folder, name, "-latency", latency, &r);
	if (!err)
		err = add_chart(c, folder, name, "-depth-needed", chart_of_depths, &r);
	if (!err)
		err = add_chart(c, folder, name, set->sides > 1 ? "-stack-a" : "-stack", stack, &r);
	r.side = 1;
	if (!err && set->sides > 1)
		err = add_chart(c, folder, name, "-stack-b", stack, &r);
	return err;
}

int charts_write(struct charts *c, const char *folder)
{
	const struct request all = { .set = c->set, .sets = c->sets };
	int most = CHARTS_OF_A_SET * c->sets + 2, err = 0;

	/* a picture stays where it is: its texts go through a stream that knows its address */
	c->picture = calloc((size_t)most, sizeof(*c->picture));
	CHECK(c->picture, "memory of %d charts", most);
	for (int i = 0; i < c->sets && !err; i++)
		err = add_charts(c, folder, &c->set[i]);
	if (!err && !c->set->side->over)
		err = add_chart(c, folder, "workloads", "", chart_of_dots, &all);
	if (!err && !c->set->side->over)
		err = add_chart(c, folder, "collection", "", collection, &all);
	return err;
}

int charts_draw(struct charts *c)
{
	int err = 0;

	for (int i = 0; i < c->pictures && !err; i++)
		err = interrupted() ? -EINTR : picture_draw(&c->picture[i]);
	return err;
}

/* ---- where the files of `rift plot` go -------------------------------------------------- */

/* X of X.jsonl, X.jsonl.part and X.jsonl.gz, X-b of side b. */
static char *path_without_side(const char *path, int side)
{
	static const char *const suffixes[] = { ".gz", ".part", ".jsonl" };
	char *name = strdup(path), *whole;

	CHECK(name, "memory of a name");
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		size_t n = strlen(name), cut = strlen(suffixes[i]);

		if (n > cut && !strcmp(name + n - cut, suffixes[i]))
			name[n - cut] = '\0';
	}
	CHECK(asprintf(&whole, "%s%s%s", name, side == SIDE_ANY ? "" : "-",
		       side == SIDE_ANY ? "" : journal_side_name(side)) > 0,
	      "memory of a name");
	free(name);
	return whole;
}

/* Beside the first session, or where rift keeps its own ones here, named after both; freed by the
 * caller. */
static char *default_folder(const char *const *session, const int *side, int n)
{
	bool own = datafile_owns(session[0]);
	char *first = path_without_side(session[0], side[0]);
	char *second = n > 1 ? path_without_side(session[1], side[1]) : NULL, *out;

	CHECK(asprintf(&out, "%s%s%s%s.plots", own ? "results/" : "", own ? basename(first) : first,
		       second ? "-" : "", second ? basename(second) : "") > 0,
	      "memory of a name");
	free(first);
	free(second);
	return out;
}

char *plot_folder(const char *const *session, const int *side, int n, const char *output)
{
	char *folder = output ? strdup(output) : default_folder(session, side, n);
	size_t length = strlen(folder);

	while (length > 1 && folder[length - 1] == '/')
		folder[--length] = '\0';
	return folder;
}
