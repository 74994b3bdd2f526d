/*
 * fake_workload.h - a workload whose steps only count, and that fails, or is interrupted, where
 * it is told to.
 *
 * A step is a host function in the stream, so it runs in stream order on both devices and again
 * at every launch of a graph. The check compares what was run since the last reset with what the
 * harness says it ran.
 */
#ifndef RIFT_TESTS_FAKE_WORKLOAD_H
#define RIFT_TESTS_FAKE_WORKLOAD_H

#include "workloads/workload.h"

enum fake_hook {
	FAKE_NONE,
	FAKE_LIMITS,
	FAKE_SETUP,
	FAKE_COST,
	FAKE_RESET,
	FAKE_STEP,
	FAKE_FUSED,
	FAKE_CHECK,
	FAKE_REPORT,
	FAKE_PLOT,
};

enum fake_verdict { FAKE_HONEST, FAKE_WRONG, FAKE_NAN, FAKE_NOTHING_COMPARED };

enum fake_modes { FAKE_ALL, FAKE_NO_FUSED, FAKE_STREAM_ONLY, FAKE_NO_MODE };

enum fake_script { FAKE_GOOD, FAKE_BAD, FAKE_WARNS, FAKE_MISSING, FAKE_INTERRUPTS };

struct fake_opts {
	int64_t cells, launches, depth_max, asked, fail_errno, interrupt_at;
	double rate;
	int solver, fail, interrupt, verdict, modes, action, device, script;
	const char *file;
	struct param_list layers;
};

/* What happened since the program started; `order` has a letter an event (see fake_note). */
extern struct fake_log {
	int setups, resets, steps, fuseds, checks, reports, plots, teardowns;
	int64_t interruptible; /* calls of the hook that is to be interrupted */
	int64_t fused_steps;
	int64_t checked_steps; /* of the last check */
	bool checked_full;
	char order[8192];
} fake_log;

/* R reset, s step, F fused; tests add S synchronize, G graph launch, ... */
void fake_note(char event);

extern const struct workload workload_fake;

/* A table of it alone. */
static const struct workload *const fakes[] = { &workload_fake, NULL };

#endif
