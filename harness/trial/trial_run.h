/* trial_run.h - one run of a program on a side: started, watched, what it left behind. */
#ifndef RIFT_TRIAL_TIMED_RUN_H
#define RIFT_TRIAL_TIMED_RUN_H

#include <sys/types.h>
#include <time.h>

#include "common/recorder/span.h"
#include "harness/platform/enter.h"
#include "harness/platform/nvml.h"
#include "harness/trial/trial.h"

/* What was at a path before a run. */
struct stage_file {
	bool there;
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec changed, status;
};

/* What all runs of a session use. */
struct stage {
	const struct trial_plan *plan;
	int output, error; /* what the program writes: of memory, and output may be /dev/null */
	struct layered layered[TRIAL_SIDES_MAX];
	char *copy[TRIAL_SIDES_MAX]; /* of their texts */

	char library[4096]; /* of span.h; "": calls are not looked at */
	char span_path[64];
	volatile struct program_span *span; /* NULL: none */
	int64_t opened_ns;		    /* CLOCK_MONOTONIC */
	uint64_t opened_ticks;		    /* of the processor's counter, then */

	bool has_nvml;
	struct nvml nvml;
	struct stage_file file[TRIAL_FILES_MAX];
	int64_t used_before, used_most; /* bytes of the device */
};

/*
 * pci: of the GPU, "": there is none. Returns 0, or a negative errno
 * after one line: a layer is not known, or cannot be had here. To be closed after that, too.
 */
int stage_open(struct stage *s, const struct trial_plan *plan, const char *pci);
void stage_close(struct stage *s);

/*
 * One run of a side. Returns 0, also where the program failed; -EINTR without a line; or a negative
 * errno after one line: it cannot be started.
 */
int stage_run(struct stage *s, int side, struct trial_run *out);

#endif
