/* fleet_text.c - what is said of a fleet: the finding, a table, how much nodes differ; JSON. */
#include <math.h>
#include <string.h>

#include "common/plural.h"
#include "harness/base/json.h"
#include "harness/base/row.h"
#include "harness/base/text.h"
#include "harness/compare/fleet.h"
#include "harness/compare/format.h"

enum { NAMED_MAX = 5, SHOWN = 5 };

/* ---- the finding ------------------------------------------------------------------------------
 */

static void print_named(const struct fleet *f, int way, FILE *out)
{
	int count = way > 0 ? f->slower : f->faster, named = 0;

	/* the furthest from the fleet first */
	for (int k = 0; k < f->nodes; k++) {
		const struct fleet_node *n = &f->node[way > 0 ? f->nodes - 1 - k : k];

		if (n->stands_out != way || named == NAMED_MAX)
			continue;
		fprintf(out, "%s%s (%s times, n = %s, p = %.2g)", named++ ? ", " : ": ", n->name,
			figure_times(exp(n->effect)).s, counted(n->processes, "process").s,
			way > 0 ? n->p_slower : n->p_faster);
	}
	if (count > named)
		fprintf(out, " and %d more", count - named);
}

static void print_way(const struct fleet *f, int way, FILE *out)
{
	int count = way > 0 ? f->slower : f->faster;

	fprintf(out, "%d of %s %s %s than the fleet by more than %.3g %%", count,
		counted(f->judged, "node").s, count == 1 ? "is" : "are",
		way > 0 ? "slower" : "faster", 100 * f->margin);
	print_named(f, way, out);
	fputs(".\n", out);
}

void fleet_finding(const void *found, FILE *out)
{
	const struct fleet *f = found;

	distrusted_print(&f->distrusted, out);
	if (f->judged < FLEET_NODES_MIN) {
		fprintf(out,
			"Nothing is decided: %s with %d processes or more %s too few for a fleet, "
			"which takes %d.\n",
			counted(f->judged, "node").s, FLEET_PROCESSES_MIN,
			f->judged == 1 ? "is" : "are", FLEET_NODES_MIN);
		return;
	}
	if (f->slower)
		print_way(f, 1, out);
	else
		fprintf(out,
			"No node of %d is shown to be slower than the fleet by more than %.3g "
			"%%.\n",
			f->judged, 100 * f->margin);
	if (f->faster)
		print_way(f, -1, out);
}

/* ---- the table --------------------------------------------------------------------------------
 */

static const char *word_of(const struct fleet_node *n)
{
	return n->few		   ? "too few processes"
	       : n->stands_out > 0 ? "slower"
	       : n->stands_out < 0 ? "faster"
				   : "";
}

static void print_node(const struct fleet *f, const struct fleet_node *n, FILE *out)
{
	struct text z = { "-" }, p = { "-" };

	if (!n->few && f->judged >= FLEET_NODES_MIN) {
		snprintf(z.s, sizeof(z.s), "%.1f", n->z);
		snprintf(p.s, sizeof(p.s), "%.2g", fmin(n->p_slower, n->p_faster));
	}
	fprintf(out, "%-24.60s %9s %8s %9s %10d %9d  %s\n", n->name, figure_times(exp(n->effect)).s,
		z.s, p.s, n->processes, n->sessions, word_of(n));
}

/* All, or those that stand out or are not judged, and the slowest of the others. */
static void print_nodes(const struct fleet *f, bool all, FILE *out)
{
	int left_out = 0, shown = 0;

	fprintf(out, "\n%-24s %9s %8s %9s %10s %9s\n", "node", "times", "z", "p", "processes",
		"sessions");
	for (int i = f->nodes - 1; i >= 0; i--) {
		const struct fleet_node *n = &f->node[i];

		if (all || n->few || n->stands_out || shown < SHOWN) {
			print_node(f, n, out);
			shown += !n->few && !n->stands_out;
		} else {
			left_out++;
		}
	}
	if (left_out)
		fprintf(out, "... and %s that nothing is shown of (--all)\n",
			counted(left_out, "node").s);
}

/* ---- how much they differ ----------------------------------------------------------------------
 */

static void print_sd(const char *label, double sd, const char *what, FILE *out)
{
	if (isfinite(sd))
		row(out, label, "%.2f %%, standard deviation of %s", 100 * sd, what);
	else
		row(out, label, "not known: %s", what);
}

void fleet_print(const struct fleet *f, bool all, FILE *out)
{
	fleet_finding(f, out);
	fputc('\n', out);
	row(out, "device", "%s", *f->device ? f->device : "not known");
	row(out, "compared", "%s of %s, %s; times the fleet's median, at each point",
	    counted(f->nodes, "node").s, counted(f->files, "file").s,
	    counted(f->points, "point").s);
	print_nodes(f, all, out);
	fputc('\n', out);
	print_sd("between nodes", f->sd_nodes, "nodes, by their median deviation", out);
	print_sd("in a node", f->sd_processes, "its processes", out);
	print_sd("between sessions", f->sd_sessions,
		 isfinite(f->sd_sessions)
			 ? "sessions of one node, beyond that"
			 : "no node has several sessions of several processes each",
		 out);
}

/* ---- JSON ---------------------------------------------------------------------------------------
 */

static json_t *node_json(const struct fleet_node *n)
{
	return json_pack("{s:o, s:i, s:i, s:o, s:o, s:o, s:o, s:s}", "name", json_text(n->name),
			 "processes", n->processes, "sessions", n->sessions, "ratio",
			 json_number(exp(n->effect)), "z", n->few ? json_null() : json_number(n->z),
			 "p_slower", n->few ? json_null() : json_number(n->p_slower), "p_faster",
			 n->few ? json_null() : json_number(n->p_faster), "verdict",
			 n->few		 ? "too few processes"
			 : n->stands_out ? word_of(n)
					 : "none");
}

json_t *fleet_json(const struct fleet *f)
{
	json_t *nodes = json_array();

	for (int i = f->nodes - 1; i >= 0; i--)
		json_array_append_new(nodes, node_json(&f->node[i]));
	return json_pack("{s:s, s:s, s:o, s:i, s:i, s:i, s:i, s:i, s:f, s:o, s:o, s:o, s:o, s:i}",
			 "version", RIFT_VERSION, "command", "compare", "device",
			 json_text(f->device), "files", f->files, "points", f->points, "judged",
			 f->judged, "slower", f->slower, "faster", f->faster, "margin", f->margin,
			 "sd_nodes", json_number(f->sd_nodes), "sd_processes",
			 json_number(f->sd_processes), "sd_sessions", json_number(f->sd_sessions),
			 "nodes", nodes, "exit_code", (int)fleet_exit_code(f));
}
