/* fleet.c - see fleet.h: which node stands out. */
#include "harness/compare/fleet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "harness/stats/stats.h"

/* ---- nodes and their processes ----------------------------------------------------------------
 */

/* More by doubling; n: how many there are. */
static void *with_room(void *array, int n, size_t size)
{
	if (n & (n - 1))
		return array;
	array = realloc(array, (n ? 2 * (size_t)n : 1) * size);
	CHECK(array, "memory of a fleet");
	return array;
}

struct fleet_node *fleet_node(struct fleet *f, const char *name)
{
	struct fleet_node *n;

	for (int i = 0; i < f->nodes; i++)
		if (!strcmp(f->node[i].name, name))
			return &f->node[i];
	f->node = with_room(f->node, f->nodes, sizeof(*f->node));
	n = &f->node[f->nodes++];
	*n = (struct fleet_node){ .processes = 0 };
	snprintf(n->name, sizeof(n->name), "%s", name);
	return n;
}

void fleet_add(struct fleet_node *n, int session, double value)
{
	n->process = with_room(n->process, n->processes, sizeof(*n->process));
	n->process[n->processes++] = (struct fleet_process){ value, session };
}

void fleet_release(struct fleet *f)
{
	for (int i = 0; i < f->nodes; i++)
		free(f->node[i].process);
	free(f->node);
	*f = (struct fleet){ .nodes = 0 };
}

/* ---- scatter ----------------------------------------------------------------------------------
 */

static double *room(int n)
{
	double *value = calloc((size_t)n + 1, sizeof(*value));

	CHECK(value, "memory of %d values", n);
	return value;
}

/* The median of the effects of all that are judged, of their deviations from it where it is given.
 */
static double median_of_effects(const struct fleet *f, double from)
{
	double *value = room(f->nodes), median;
	int n = 0;

	for (int i = 0; i < f->nodes; i++)
		if (!f->node[i].few)
			value[n++] =
				isnan(from) ? f->node[i].effect : fabs(f->node[i].effect - from);
	median = median_of(value, n);
	free(value);
	return median;
}

static double own_median(const struct fleet_node *n)
{
	double *value = room(n->processes), median;

	for (int i = 0; i < n->processes; i++)
		value[i] = n->process[i].value;
	median = median_of(value, n->processes);
	free(value);
	return median;
}

struct sums {
	double squares; /* of deviations from the mean of their group */
	int freedom;	/* values less groups */
};

static void add_group(struct sums *s, const double *value, int n)
{
	double mean = 0;

	for (int i = 0; i < n; i++)
		mean += value[i] / n;
	for (int i = 0; i < n; i++)
		s->squares += (value[i] - mean) * (value[i] - mean);
	s->freedom += n - 1;
}

/* The processes of each session of a node, and the means of its sessions. */
static void add_node(struct sums *processes, struct sums *sessions, double *per_session,
		     const struct fleet_node *n)
{
	double *value = room(n->processes), *mean = room(n->sessions);
	int means = 0;

	for (int s = 0; s < n->sessions; s++) {
		int k = 0;

		for (int i = 0; i < n->processes; i++)
			if (n->process[i].session == s)
				value[k++] = n->process[i].value;
		if (!k)
			continue;
		add_group(processes, value, k);
		for (int i = 0; i < k; i++)
			mean[means] += value[i] / k;
		means++;
		*per_session += k;
	}
	if (means)
		add_group(sessions, mean, means);
	free(value);
	free(mean);
}

static double sd_of(const struct sums *s)
{
	return s->freedom > 0 ? sqrt(s->squares / s->freedom) : NAN;
}

/* Components of the variance: what the means of sessions scatter by beyond their processes. */
static void find_scatter(struct fleet *f, double centre)
{
	struct sums processes = { 0 }, sessions = { 0 };
	double in_sessions = 0, beyond;
	int n = 0;

	for (int i = 0; i < f->nodes; i++) {
		add_node(&processes, &sessions, &in_sessions, &f->node[i]);
		n += f->node[i].sessions;
	}
	f->sd_nodes = 1.4826 * median_of_effects(f, centre);
	f->sd_processes = sd_of(&processes);
	f->sd_sessions = NAN;
	if (!processes.freedom) { /* a session a process: what they scatter by together */
		f->sd_processes = sd_of(&sessions);
	} else if (sessions.freedom > 0) {
		beyond = sessions.squares / sessions.freedom -
			 f->sd_processes * f->sd_processes * n / in_sessions;
		f->sd_sessions = beyond > 0 ? sqrt(beyond) : 0;
	}
}

/* ---- verdicts ---------------------------------------------------------------------------------
 */

/* Of a median of n normal values: sqrt(pi / 2 / n), which is a little too much for few. */
static double sd_of_median(double sd, int n)
{
	return isfinite(sd) ? sd * sqrt(1.5707963 / n) : 0;
}

static void adjust_all(struct fleet *f, bool slower)
{
	double *p = room(f->nodes);
	int m = 0;

	for (int i = 0; i < f->nodes; i++)
		if (!f->node[i].few)
			p[m++] = slower ? f->node[i].p_slower : f->node[i].p_faster;
	CHECK(!p_adjust_fdr(p, m), "p-values of %d nodes", m);
	m = 0;
	for (int i = 0; i < f->nodes; i++)
		if (!f->node[i].few)
			*(slower ? &f->node[i].p_slower : &f->node[i].p_faster) = p[m++];
	free(p);
}

static void test_nodes(struct fleet *f)
{
	int others = f->judged - 1;
	int freedom = others / 2 > 7 ? others / 2 : others < 7 ? others : 7;

	for (int i = 0; i < f->nodes; i++) {
		struct fleet_node *n = &f->node[i];
		double sd = fmax(f->sd_nodes, sd_of_median(f->sd_processes, n->processes));

		if (n->few)
			continue;
		n->z = sd > 0 ? n->effect / sd : n->effect ? copysign(INFINITY, n->effect) : 0;
		n->p_slower = student_tail(n->z, freedom);
		n->p_faster = student_tail(-n->z, freedom);
	}
	adjust_all(f, true);
	adjust_all(f, false);
}

static int stands_out(const struct fleet *f, const struct fleet_node *n)
{
	double beyond = log1p(f->margin);

	if (n->few || f->judged < FLEET_NODES_MIN)
		return 0;
	return n->p_slower <= JUDGE_LEVEL && n->effect > beyond	   ? 1
	       : n->p_faster <= JUDGE_LEVEL && n->effect < -beyond ? -1
								   : 0;
}

static int by_effect(const void *a, const void *b)
{
	const struct fleet_node *x = a, *y = b;

	if (x->few != y->few)
		return x->few ? 1 : -1;
	return x->few ? strcmp(x->name, y->name)
		      : (x->effect > y->effect) - (x->effect < y->effect);
}

void fleet_judge(struct fleet *f, double margin)
{
	double centre;

	f->margin = margin;
	f->judged = f->slower = f->faster = 0;
	for (int i = 0; i < f->nodes; i++) {
		struct fleet_node *n = &f->node[i];

		n->few = n->processes < FLEET_PROCESSES_MIN;
		n->effect = own_median(n);
		f->judged += !n->few;
	}
	centre = f->judged ? median_of_effects(f, NAN) : 0;
	find_scatter(f, centre);
	for (int i = 0; i < f->nodes; i++)
		f->node[i].effect -= centre;
	if (f->judged >= FLEET_NODES_MIN)
		test_nodes(f);
	for (int i = 0; i < f->nodes; i++) {
		struct fleet_node *n = &f->node[i];

		n->stands_out = stands_out(f, n);
		f->slower += n->stands_out > 0;
		f->faster += n->stands_out < 0;
	}
	qsort(f->node, (size_t)f->nodes, sizeof(*f->node), by_effect);
}

enum exit_code fleet_exit_code(const struct fleet *f)
{
	return f->judged < FLEET_NODES_MIN ? RIFT_FAILED_POINTS
	       : f->slower		   ? RIFT_CHECK_FAILED
					   : RIFT_OK;
}
