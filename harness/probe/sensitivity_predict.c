/* sensitivity_predict.c - see sensitivity_predict.h. */
#include "harness/probe/sensitivity_predict.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* What a cost is charged for. */
enum charge {
	CHARGE_COMMAND,
	CHARGE_COPY,
	CHARGE_WAIT,	/* once a block */
	CHARGE_RATE,	/* what is copied, in GB/s */
	CHARGE_NETWORK, /* what crosses a network, in Gbit/s */
	CHARGE_MOVED,	/* copies, in a way that the model does not know */
	CHARGE_MEMORY,
	CHARGE_PROCESS,
	CHARGE_OTHER, /* not known here */
};

static enum charge charge_of(const char *name)
{
	static const struct {
		const char *name;
		enum charge charge;
	} rows[] = {
		{ "call", CHARGE_COMMAND },	 { "submit", CHARGE_COMMAND },
		{ "latency", CHARGE_WAIT },	 { "return", CHARGE_WAIT },
		{ "sync", CHARGE_WAIT },	 { "copy", CHARGE_COPY },
		{ "copies", CHARGE_RATE },	 { "stretch", CHARGE_MOVED },
		{ "alloc", CHARGE_MEMORY },	 { "free", CHARGE_MEMORY },
		{ "pin", CHARGE_MEMORY },	 { "context", CHARGE_PROCESS },
		{ "crossing", CHARGE_COPY },	 { "rtt", CHARGE_WAIT },
		{ "bandwidth", CHARGE_NETWORK },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (!strcmp(rows[i].name, name))
			return rows[i].charge;
	return CHARGE_OTHER;
}

double step_commands(const struct step_figures *f)
{
	if (f->mode == MODE_FUSED)
		return 1 / f->depth;
	return f->mode == MODE_GRAPH ? f->graphs / f->depth : f->launches + f->copies;
}

/* The layer sees no copy inside a graph. */
bool step_has_cost(const struct step_figures *f, const char *name)
{
	bool moves = f->mode == MODE_STREAM && f->bytes_transferred > 0;

	switch (charge_of(name)) {
	case CHARGE_COPY:
		return moves || (f->mode == MODE_STREAM && f->copies > 0);
	case CHARGE_RATE:
	case CHARGE_MOVED:
		return moves;
	case CHARGE_MEMORY:
		return f->allocations > 0;
	case CHARGE_PROCESS:
		return false;
	default:
		return true;
	}
}

/* The native time as the model has it: ends are no longer than what nothing else explains. */
struct parts {
	double host_ns, device_ns, ends_ns; /* of a step */
};

static struct parts parts_of(const struct step_figures *f)
{
	double busy_ns = isfinite(f->kernel_ns) ? fmax(f->kernel_ns, f->submit_ns) : f->submit_ns;
	double ends_ns = isfinite(f->ends_ns) ? f->ends_ns / f->depth : 0;

	ends_ns = fmax(0, fmin(ends_ns, f->step_ns - busy_ns));
	return (struct parts){ f->submit_ns, f->step_ns - ends_ns, ends_ns };
}

/* What the layer remote sends for a launch with eight arguments: its head of 16 bytes, 7 words. */
enum { COMMAND_BYTES = 16 + 7 * 8 + 8 * 8 };

/* Gbit/s are bits a ns; 0 is no limit. */
static double crossing_ns(const struct step_figures *f, double gbit_s)
{
	double bytes = f->bytes_transferred + step_commands(f) * COMMAND_BYTES;

	return gbit_s > 0 ? 8 * bytes / gbit_s : 0;
}

double step_predict(const struct step_figures *f, const char *name, double value)
{
	struct parts p = parts_of(f);
	double wire_ns = 0, added_ns = value * 1e3;

	switch (charge_of(name)) {
	case CHARGE_COMMAND:
		p.host_ns += step_commands(f) * added_ns;
		break;
	case CHARGE_COPY:
		if (!(f->copies > 0)) /* it copies, and how often is not known */
			return NAN;
		p.host_ns += f->copies * added_ns;
		break;
	case CHARGE_WAIT:
		p.ends_ns += added_ns / f->depth;
		break;
	case CHARGE_RATE: /* GB/s are bytes a ns; 0 is no limit */
		wire_ns = value > 0 ? f->bytes_transferred / value : 0;
		break;
	case CHARGE_NETWORK:
		wire_ns = crossing_ns(f, value);
		break;
	default:
		return NAN;
	}
	return (fmax(fmax(p.host_ns, p.device_ns), wire_ns) + p.ends_ns) / f->step_ns;
}
