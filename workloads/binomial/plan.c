/*
 * plan.c - the way from the leaves of a tree to its root, in panels.
 *
 * In a panel of width E a warp holds 32 E nodes side by side in registers and reads the one behind
 * them. After H steps back the last H - 1 of these are not known, which does not matter where the
 * tree ends before them. Then the nodes that are left are laid out anew, over fewer registers.
 */
#include "workloads/binomial/plan.h"

#include "common/check.h"

enum { LANES = 32, TEAM_PANEL_MAX = 128 };

#define WIDTH(e) e,
static const int widths[] = { BINOMIAL_WIDTHS(WIDTH) };
#undef WIDTH
enum { WIDTHS = sizeof(widths) / sizeof(*widths) };

/* Nodes that are known `steps` steps further back, of the 32 E + 1 that a warp has read. */
static int64_t known_nodes(int width, int64_t steps)
{
	return LANES * width + 1 - steps;
}

/* A warp alone: the narrowest panel that holds all, until a narrower one holds what is left. */
static struct binomial_panel warp_panel(int64_t nodes)
{
	int i = 0;

	while (known_nodes(widths[i], 1) < nodes - 1)
		i++;
	return (struct binomial_panel){ (uint16_t)(nodes - (i ? known_nodes(widths[i - 1], 0) : 1)),
					(uint16_t)widths[i] };
}

/* Instructions a step: two a node and some around, and a share of the panel's loads, stores,
 * barriers. */
static double panel_instructions(int width, int64_t steps)
{
	return 2 * width + 4 + (3 * width + 60) / (double)steps;
}

/* A team: the cheapest. Longer panels double more of the work, shorter ones are more. */
static struct binomial_panel team_panel(int64_t nodes)
{
	struct binomial_panel best = { 0, 0 };

	for (int i = 0; i < WIDTHS; i++) {
		int64_t steps =
			(BINOMIAL_WARPS * known_nodes(widths[i], 0) - nodes) / (BINOMIAL_WARPS - 1);

		steps = steps < TEAM_PANEL_MAX ? steps : TEAM_PANEL_MAX;
		steps = steps < nodes - 1 ? steps : nodes - 1;
		if (steps > 0 && steps < known_nodes(widths[i], 0) &&
		    (!best.steps || panel_instructions(widths[i], steps) <
					    panel_instructions(best.width, best.steps)))
			best = (struct binomial_panel){ (uint16_t)steps, (uint16_t)widths[i] };
	}
	CHECK(best.steps, "no panel for %ld nodes", (long)nodes);
	return best;
}

/* Floats of shared memory of a panel: up to the last one that any warp reads. */
static uint32_t panel_floats(const struct binomial_plan *p, const struct binomial_panel *panel)
{
	int64_t apart = known_nodes(panel->width, panel->steps);

	return (uint32_t)((p->warps - 1) * apart + known_nodes(panel->width, 0));
}

struct binomial_plan binomial_plan(int64_t steps)
{
	struct binomial_plan p = { .steps = (uint32_t)steps };
	int64_t nodes = steps + 1;

	p.warps = steps > BINOMIAL_WARP_STEPS_MAX ? BINOMIAL_WARPS : 1;
	while (nodes > 1) {
		struct binomial_panel *panel = &p.panel[p.panels];

		CHECK(p.panels < BINOMIAL_PANELS_MAX, "%ld steps", (long)steps);
		*panel = p.warps > 1 ? team_panel(nodes) : warp_panel(nodes);
		nodes -= panel->steps;
		p.widest = panel->width > p.widest ? panel->width : p.widest;
		p.smem_floats = panel_floats(&p, panel) > p.smem_floats ? panel_floats(&p, panel)
									: p.smem_floats;
		p.panels++;
	}
	return p;
}

double binomial_useful(const struct binomial_plan *p)
{
	double done = 0, nodes = p->steps;

	for (uint32_t i = 0; i < p->panels; i++)
		done += (double)p->panel[i].steps * p->panel[i].width * LANES * p->warps;
	return nodes * (nodes + 1) / 2 / done;
}
