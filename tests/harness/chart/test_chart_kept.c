/*
 * test_chart_kept.c - no chart of a session contradicts it, kept or made up: fitted lines are
 * within the error that is stated of their points, and the parts of a step come to what it took, to
 * a tenth, or are refused.
 */
/* sanitizers: one thread */
#include "tests/test.h"

#include <glob.h>

#include "common/check.h"
#include "harness/base/picture.h"
#include "harness/measure/run.h"
#include "harness/record/recorded.h"
#include "tests/chart_files.h"

TestSuite(small_chart_kept, .init = chart_folder_make, .fini = chart_folder_remove, .timeout = 300);
TestSuite(large_chart_kept, .init = chart_folder_make, .fini = chart_folder_remove,
	  .timeout = 1200);

/* How many were there to hold: a test of nothing would pass. */
static int lines, stacks, refused;

/* ---- fitted lines ------------------------------------------------------------------------- */

/* A line at x, between two of its places; NaN: it is not there. */
static double line_at(const struct table *t, double series, double x)
{
	for (int i = 0; i < t->rows; i++) {
		const double *v = t->v[i], *next = t->v[i + 1];

		if (v[0] == series && fabs(v[1] / x - 1) < 1e-6)
			return v[2];
		if (v[0] == series && i + 1 < t->rows && next[0] == series && v[1] < x &&
		    next[1] > x)
			return v[2] * pow(next[2] / v[2], log(x / v[1]) / log(next[1] / v[1]));
	}
	return NAN;
}

/* Between two places a line is straight by its logarithms, which the model is not. */
static const double straight = 0.02;

/* What is ideal is series 0, and not above the first, which is of streams. */
static void hold_points(const char *what, const char *points_name, const char *line_name,
			double within)
{
	static struct table points;
	const struct table *line;

	points = *table_read(points_name);
	line = table_read(line_name);
	for (int i = 0; i < points.rows; i++) {
		const double *v = points.v[i];
		double at = line_at(line, v[0], v[1]), ideal = line_at(line, 0, v[1]);

		lines += !isnan(at);
		if (!isnan(at))
			cr_assert(lt(dbl, fabs(at / v[2] - 1), within + straight),
				  "%s, %s, series %g at %g: line %g, point %g, stated %g", what,
				  line_name, v[0], v[1], at, v[2], within);
		if (!isnan(ideal) && v[0] == 1)
			cr_assert(lt(dbl, ideal, (1.1 + straight) * v[2]), "%s: ideal %g, point %g",
				  what, ideal, v[2]);
	}
}

static void hold_lines(const struct chart_set *set, const char *what)
{
	struct picture p = { .asked = true };
	double percent = 0;

	plot_begin(&p.plot, chart_folder, "kept", "any");
	if (!chart_latency(set, &p.plot)) {
		cr_assert(zero(int, picture_write(&p)), "%s", what);
		sscanf(script_value("kept", "fit"), "lines: fitted, within %lf", &percent);
		cr_assert(le(dbl, percent, 10), "%s: %s", what, script_value("kept", "fit"));
		hold_points(what, "kept-depths.csv", "kept-depths-fit.csv", percent / 100);
		hold_points(what, "kept-lengths.csv", "kept-lengths-fit.csv", percent / 100);
	}
	picture_release(&p);
}

/* ---- parts -------------------------------------------------------------------------------- */

static void hold_stack(const struct stack *s, const char *what)
{
	double sum = 0;

	stacks++;
	refused += *s->refused != '\0';
	for (int k = 0; k < STACK_PARTS; k++) {
		double share = stack_share(s, (enum stack_part)k);

		if (*s->refused)
			cr_assert(isnan(share), "%s: refused, and has %s", what, stack_names[k]);
		if (isnan(share) || k == STACK_OTHER)
			continue;
		cr_assert(le(dbl, -0.1, share), "%s: %s %g", what, stack_names[k], share);
		cr_assert(le(dbl, share, 1.2), "%s: %s %g", what, stack_names[k], share);
		sum += share;
	}
	if (!*s->refused)
		cr_assert(le(dbl, fabs(sum - 1), 0.1 + 1e-9), "%s: point %d comes to %g", what,
			  s->point, sum);
}

static void hold_stacks(const struct grid *g, const struct fit *f, const char *what)
{
	struct stack *all = stacks_make(&(struct stack_request){ .work = g, .own = f });

	for (int i = 0; i < g->n_points; i++)
		hold_stack(&all[i], what);
	free(all);
}

/* ---- sessions ----------------------------------------------------------------------------- */

static bool is_first_of_its_kind(const struct plan *p, int config)
{
	const struct config *c = &p->config[config];

	for (int i = 0; i < config; i++)
		if (p->config[i].workload == c->workload &&
		    grid_alike(&p->config[i], c, workload_axis(c->workload)))
			return false;
	return true;
}

/* All that a side has of a workload with the parameters of a configuration. */
static void hold_config(const struct chart_side *side, const struct config *c, const char *path)
{
	struct chart_set set = { .side = side, .sides = 1 };
	char what[512];

	set.draws = calloc(BOOTSTRAP_DRAWS, sizeof(*set.draws));
	cr_assert(zero(int, grid_make_like(&set.grid[0], side->journal, side->side, c)), "%s",
		  path);
	snprintf(what, sizeof(what), "%s, %c: %s %s", path, 'a' + side->side, c->workload->name,
		 set.grid[0].others);
	if (set.grid[0].n_points) {
		cr_assert(zero(int, resamples_init(&set.resamples[0], set.grid[0].processes, 1, 0)),
			  "%s", what);
		complain_silence(true);
		set.fitted[0] = !fit_make_values(&set.fit[0], &set.grid[0]);
		complain_silence(false);
		hold_lines(&set, what);
		if (set.fitted[0])
			hold_stacks(&set.grid[0], &set.fit[0], what);
		else
			fit_release(&set.fit[0]);
	}
	chart_set_release(&set);
}

/* A session of several wait policies has to be told which. */
static int read_any(struct journal *j, const char *path)
{
	int err = session_read(j, path, NULL);

	for (int i = 0; i < SYNC_COUNT && err; i++) {
		journal_release(j);
		err = session_read(j, path, sync_names[i]);
	}
	return err;
}

static void hold_sides(const struct journal *j, const char *path)
{
	for (int k = 0; k < j->sides; k++) {
		struct chart_side side;

		chart_side_init(&side, j, k, "");
		for (int i = 0; i < j->plan.n_configs; i++)
			if (is_first_of_its_kind(&j->plan, i))
				hold_config(&side, &j->plan.config[i], path);
	}
}

static void hold_session(const char *path)
{
	struct journal j;
	int err;

	complain_silence(true);
	err = read_any(&j, path);
	complain_silence(false);
	if (!err)
		hold_sides(&j, path);
	journal_release(&j);
}

static void hold_sessions(const char *pattern)
{
	glob_t found;

	cr_assert(zero(int, glob(pattern, 0, NULL, &found)), "%s", pattern);
	for (size_t i = 0; i < found.gl_pathc; i++)
		hold_session(found.gl_pathv[i]);
	globfree(&found);
}

/* Sizes of kernels that are near the pace, and far from it. */
static double near_ns(double size)
{
	return size < 10 ? 2500 : 1000 * size;
}

/* Blocks vary by 2 %, as on a quiet machine, or by 40 %, as on a busy one. */
Test(small_chart_kept, of_made_up_ones)
{
	static const char *const workloads[] = { "launch", "myocyte", "transfer" };

	for (size_t i = 0; i < sizeof(workloads) / sizeof(*workloads); i++)
		for (unsigned seed = 1; seed <= 6; seed++) {
			struct fake_session s = fake_session();
			struct journal j;

			s.workload = workloads[i];
			s.kernel_ns = i ? near_ns : NULL;
			s.size = i == 2 ? "4,4M" : "1,10,100";
			s.depth = "1,4,16,64,256";
			s.mode = i == 2 ? "stream" : NULL;
			s.processes = 5;
			s.noise = seed % 2 ? 0.02 : 0.4;
			s.process_noise = s.noise;
			s.seed = seed;
			fake_session_journal(&s, &j);
			hold_sides(&j, workloads[i]);
			journal_release(&j);
		}
	cr_assert(lt(int, 200, lines), "%d points beside a line", lines);
	cr_assert(lt(int, 20, refused), "%d of %d blocks refused", refused, stacks);
	cr_assert(lt(int, refused, stacks / 2), "%d of %d blocks refused", refused, stacks);
}

Test(small_chart_kept, of_one_platform)
{
	hold_sessions("data/sessions/h200-*.jsonl*");
	cr_assert(lt(int, 200, lines), "%d points beside a line", lines);
	cr_assert(lt(int, 400, stacks), "%d blocks", stacks);
	cr_assert(lt(int, refused, stacks / 10), "%d of %d refused", refused, stacks);
}

Test(large_chart_kept, of_pairs)
{
	hold_sessions("data/sessions/*/*.jsonl.gz");
	cr_assert(lt(int, 3000, lines), "%d points beside a line", lines);
	cr_assert(lt(int, 5000, stacks), "%d blocks", stacks);
	cr_assert(lt(int, refused, stacks / 15), "%d of %d refused", refused, stacks);
}
