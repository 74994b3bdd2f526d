/* neighbour.h - what the layer neighbour and its helpers share. */
#ifndef RIFT_NEIGHBOUR_H
#define RIFT_NEIGHBOUR_H

#include <stdint.h>

#include "layers/layer.h"

struct neighbour_opts {
	int kind; /* enum neighbour_kind */
	double duty;
	int64_t n;
};

enum { NEIGHBOUR_PROCESSES_MAX = 16 };

/*
 * What the helpers tell, all together, in a file that $RIFT_LAYER_NEIGHBOUR names: how many have
 * opened the device; units a second that they did when all of them worked as fast as they could;
 * how long work of theirs was queued or done; units that are done.
 */
struct neighbour_shared {
	_Atomic int64_t opened, units_in_1000_s, busy_ns, units;
};

/* Makes the file (create) or finds it, and maps it. NULL with errno. */
struct neighbour_shared *neighbour_map(const char *path, bool create);

/*
 * One of the processes: opens the device, waits for the others, measures how fast it is, writes a
 * byte to `ready`, and works. Returns only where it cannot, after one line.
 */
void neighbour_serve(const struct neighbour_opts *o, int ready);

extern const struct layer layer_neighbour;

#endif
