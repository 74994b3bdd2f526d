/* app_plot.c - the picture of `rift run graph --plot`: what each call takes, over the number of
 * nodes.
 */
#include <math.h>
#include <stdlib.h>

#include "common/cuda_check.h"
#include "workloads/graph/measure.h"

enum { LENGTHS = 11 };

static const int64_t lengths[LENGTHS] = { 1, 2, 5, 10, 20, 50, 100, 200, 500, 1025, 2048 };

/* Column of the data, and of the script: 1 and up. */
static const enum measure_quantity drawn[] = {
	MEASURE_CAPTURE, MEASURE_INSTANTIATE, MEASURE_UPLOAD, MEASURE_FIRST_CALL, MEASURE_CALL,
	MEASURE_UPDATE,	 MEASURE_FIRST_TOTAL, MEASURE_TOTAL,  MEASURE_DEVICE,	  MEASURE_PACE,
};

enum { DRAWN = sizeof(drawn) / sizeof(*drawn) };

static int write_lengths(const struct measure_length *m, struct plot *plot)
{
	struct output out;
	int err = plot_open(plot, "lengths", "-lengths.csv", &out);

	if (err)
		return err;
	fputs("quantity,length,nodes,us,fitted_us,n\n", out.file);
	for (int k = 0; k < DRAWN; k++) {
		struct line l = graph_measure_fit(m, LENGTHS, drawn[k]);

		for (int i = 0; i < LENGTHS; i++) {
			double nodes = (double)m[i].nodes, us = m[i].value[drawn[k]];
			double row[] = {
				k + 1, (double)m[i].length,	  nodes,
				us,    l.fixed + l.slope * nodes, (double)m[i].n[drawn[k]]
			};

			if (isfinite(us))
				output_numbers(&out, row, sizeof(row) / sizeof(*row));
		}
	}
	return output_commit(&out);
}

static void set_fit_texts(const struct measure_length *m, struct plot *plot)
{
	char variable[16];

	for (int k = 0; k < DRAWN; k++) {
		struct line l = graph_measure_fit(m, LENGTHS, drawn[k]);

		snprintf(variable, sizeof(variable), "name%d", k + 1);
		plot_text(plot, variable, "%s", graph_quantities[drawn[k]].name);
		snprintf(variable, sizeof(variable), "fit%d", k + 1);
		if (isfinite(l.slope))
			plot_text(plot, variable, "%.3g µs + %.3g ns a node", l.fixed,
				  1e3 * l.slope);
		else
			plot_text(plot, variable, "not measured");
	}
}

static void set_texts(const struct graph_opts *o, const struct measure_length *m, struct plot *plot)
{
	static const char *const shapes[] = { "a line", "chains", "chains with a root",
					      "chains with a root and an end" };
	static const char *const kinds[] = { "kernels", "memsets", "copies",
					     "kernels, memsets and copies" };
	struct line call = graph_measure_fit(m, LENGTHS, MEASURE_CALL);
	struct line device = graph_measure_fit(m, LENGTHS, MEASURE_DEVICE);
	struct line make = graph_measure_fit(m, LENGTHS, MEASURE_INSTANTIATE);
	char us[24] = "";

	plot_text(plot, "title",
		  "To launch a graph takes the host %.2g µs and %.2g ns a node, to instantiate it "
		  "%.2g µs a node",
		  call.fixed, 1e3 * call.slope, make.slope);
	plot_text(plot, "finding", "On the device a node takes %.3g µs", device.slope);
	if (o->us)
		snprintf(us, sizeof(us), " of %ld µs", (long)o->us);
	plot_text(plot, "made1", "Graphs are %s of %s%s; a latch stands before each launch",
		  shapes[o->topology], kinds[o->node], us);
	plot_text(plot, "made2",
		  "Medians of 5 to 101 samples of one process, every node checked; computed on: "
		  "%.60s",
		  plot->device);
	plot_count(plot, "quantities", DRAWN);
	set_fit_texts(m, plot);
	plot->script = "workloads/graph/plot.gp";
}

int graph_plot(const void *opts, void *state, struct plot *plot)
{
	const struct graph_opts *o = opts;
	struct measure_length *m = calloc(LENGTHS, sizeof(*m));
	struct measure_plan plan;
	int err = 0;

	(void)state;
	CHECK(m, "memory of a picture");
	graph_measure_init(&plan, false);
	for (int i = 0; i < LENGTHS && !err; i++) {
		struct graph_opts of_length = *o;

		of_length.length = lengths[i];
		err = graph_measure(&plan, &of_length, &m[i]);
	}
	graph_measure_release(&plan);
	if (!err)
		err = write_lengths(m, plot);
	if (!err)
		set_texts(o, m, plot);
	free(m);
	return err;
}
