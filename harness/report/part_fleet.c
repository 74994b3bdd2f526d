/* part_fleet.c - many nodes that ran one plan: which of them is slower than the others? */
#include <math.h>
#include <stdlib.h>

#include "common/plural.h"
#include "harness/base/text.h"
#include "harness/chart/fleet_chart.h"
#include "harness/compare/fleet.h"
#include "harness/compare/format.h"
#include "harness/report/part.h"

/* All that stand out or are not judged, and so many others. */
enum { OTHERS_SHOWN = 20 };

static void finding(const void *found, struct page *p)
{
	const struct fleet *f = found;
	char *text = part_printed(fleet_finding, f);

	part_findings(p,
		      f->distrusted.n ? TONE_OPEN
		      : f->slower     ? part_tone(VERDICT_SLOWER)
				      : TONE_PLAIN,
		      text);
	free(text);
	page_small(p, "%s, %s of %s", f->device, counted(f->nodes, "node").s,
		   counted(f->files, "file").s);
}

static void node_row(const struct fleet_node *n, struct page *p)
{
	page_cell(p, "%s", n->name);
	page_cell_of(p,
		     n->stands_out > 0	 ? part_tone(VERDICT_SLOWER)
		     : n->stands_out < 0 ? part_tone(VERDICT_FASTER)
					 : TONE_PLAIN,
		     "%s", figure_times(exp(n->effect)).s);
	if (n->few)
		page_cell(p, "too few processes");
	else
		page_cell(p, "%.1f", n->z);
	page_cell(p, "%d", n->processes);
	page_cell(p, "%d", n->sessions);
}

static void table(const void *found, struct page *p)
{
	static const char *const heads[] = { "node", "times the fleet",
					     "standard deviations from it", "processes",
					     "sessions" };
	const struct fleet *f = found;
	int others = 0;

	page_table(p, "the slowest first; of those that do not stand out, 20 at most", heads, 5);
	for (int i = f->nodes - 1; i >= 0; i--)
		if (f->node[i].few || f->node[i].stands_out || others++ < OTHERS_SHOWN)
			node_row(&f->node[i], p);
}

static int charts(const void *found, struct page *p, const char *folder)
{
	struct picture picture = { .asked = false };

	return part_lone_picture(p, &picture, fleet_chart_write(&picture, found, folder));
}

static void how(const void *found, struct page *p)
{
	const struct fleet *f = found;

	page_item(p,
		  "A process's value is the geometric mean, over %s, of its time over the fleet's "
		  "median; a node's is the median of its processes.",
		  counted(f->points, "point").s);
	page_item(p,
		  "%s differ by %.2g %% (standard deviation, by the median deviation), the "
		  "processes of a node by %.2g %%. A node stands out if it is further from the "
		  "others than that explains, and beyond %.3g %%; the false discovery rate is "
		  "held at 5 %%, for slower and for faster nodes apart.",
		  counted(f->judged, "node").s, 100 * f->sd_nodes, 100 * f->sd_processes,
		  100 * f->margin);
}

static void lacks(const void *found, struct page *p)
{
	const struct fleet *f = found;

	page_item(p, "Why a node is slower: rift doctor, run on it, may tell.");
	part_say_cpu(p, f->is_cpu);
}

static void print(const void *found, FILE *out)
{
	fleet_print(found, true, out);
}

const struct part_kind part_fleet = {
	.what = "Nodes",
	.finding = finding,
	.table = table,
	.charts = charts,
	.how = how,
	.lacks = lacks,
	.print = print,
	.print_by = "rift compare --each node",
};
