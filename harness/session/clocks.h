/*
 * clocks.h - `rift sweep --lock-clocks`: the GPU's clock is locked while a session is measured, and
 * set free again however the session ends.
 *
 * A process of its own, the guard, locks it by NVML and waits for the end of its stdin: that comes
 * when this process lets go or is gone, be it by Ctrl-C, a crash or SIGKILL. Only of the
 * guard's own death nothing is left to set the clock free; `nvidia-smi -rgc` does, or a restart.
 */
#ifndef RIFT_SWEEP_CLOCKS_H
#define RIFT_SWEEP_CLOCKS_H

#include <sys/types.h>

struct clocks {
	pid_t guard; /* 0: nothing is locked */
	int hold;    /* its stdin */
};

enum { CLOCK_MHZ_MAX = 10000 };

/*
 * At so many MHz; 0: at the base clock. Returns 0, or a negative errno after one line: no GPU, no
 * NVML, or it may not.
 */
int clocks_lock(struct clocks *c, int mhz);

/* Waits until it is free. */
void clocks_free(struct clocks *c);

/* The guard: rift sweep-clocks PCI_ADDRESS MHZ. An exit code. */
int cmd_clocks(int argc, char **argv);

#endif
