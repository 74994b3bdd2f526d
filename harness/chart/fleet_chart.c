/* fleet_chart.c - a dot a node, from the fastest to the slowest (plots/fleet.gp). */
#include "harness/chart/fleet_chart.h"

#include <math.h>

#include "common/plural.h"
#include "harness/chart/words.h"
#include "harness/compare/format.h"

static int write_nodes(const struct fleet *f, struct plot *p)
{
	struct output out;
	int err = plot_open(p, "nodes", "-nodes.csv", &out);
	int place = 0;

	if (err)
		return err;
	fputs("place,times,stands_out,z,processes\n", out.file);
	for (int i = 0; i < f->nodes; i++) {
		const struct fleet_node *n = &f->node[i];

		if (!n->few)
			fprintf(out.file, "%d,%.6g,%d,%.4g,%d\n", ++place, exp(n->effect),
				n->stands_out, n->z, n->processes);
	}
	return output_commit(&out);
}

/* Names of those that stand out, so many at most, the slowest first; in a small fleet, of all. */
static void name_nodes(const struct fleet *f, struct plot *p)
{
	int named = 0, place = f->judged;

	for (int i = f->nodes - 1; i >= 0 && named < FLEET_CHART_NAMES; i--) {
		const struct fleet_node *n = &f->node[i];

		if (n->few)
			continue;
		if (n->stands_out || f->judged <= FLEET_CHART_NAMES) {
			named++;
			plot_text(p, words_name("name", named).s, "%s", n->name);
			plot_count(p, words_name("place", named).s, place);
			plot_number(p, words_name("times", named).s, exp(n->effect));
		}
		place--;
	}
	plot_count(p, "named", named);
}

int fleet_chart_write(struct picture *picture, const struct fleet *f, const char *folder)
{
	struct plot *p = &picture->plot;

	*picture = (struct picture){ .asked = true };
	plot_begin(p, folder, "fleet", f->device);
	p->script = "plots/fleet.gp";
	plot_text(p, "title", "%d of %s slower than the fleet by more than %.3g %%", f->slower,
		  counted(f->judged, "node").s, 100 * f->margin);
	words_finding(p, "a dot a node, %s; filled: it stands out", counted(f->points, "point").s);
	plot_text(p, "made1", "%s", f->device);
	plot_text(p, "made2",
		  "nodes scatter by %.2g %% (standard deviation, by the median deviation)",
		  100 * f->sd_nodes);
	plot_count(p, "judged", f->judged);
	plot_number(p, "margin", f->margin);
	name_nodes(f, p);
	return write_nodes(f, p);
}
