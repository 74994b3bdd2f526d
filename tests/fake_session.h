/*
 * fake_session.h - sessions made up from a model: what a fit, a comparison or a chart must find
 * again. Blocks take what the recursion says (harness/measure/model.h), times lognormal noise
 * that depends on the seed only.
 *
 *   struct fake_session s = fake_session();
 *   s.model[0].v[MODEL_P] = 3000;
 *   fake_session_write(&s, "/tmp/x/s.jsonl");      a file, for tests of the command line
 *   fake_session_journal(&s, &j);                  or in memory, for all others
 */
#ifndef RIFT_TESTS_FAKE_SESSION_H
#define RIFT_TESTS_FAKE_SESSION_H

#include "common/cost.h"
#include "harness/measure/model.h"
#include "harness/record/journal.h"

struct fake_session {
	const char *workload;		 /* one that is built in */
	const char *also;		 /* a second one; NULL: none */
	const char *size, *depth, *mode; /* as rift sweep takes them; NULL: the design's own */
	char **assignment;		 /* name=value: other parameters; NULL: none */
	int n_assignments;
	bool quick;
	int processes;
	int done;  /* processes of each side that are complete; 0: all */
	int sides; /* 1, or 2: an --against session */
	uint64_t seed;
	enum wait_policy sync; /* how blocks were waited for ... */
	int kinds;	       /* ... or these several kinds, one after the other; 0: sync */
	enum wait_policy kind[SYNC_COUNT];
	double policy_factor; /* of several: each takes so many times as long as the one before */
	int launches;	      /* of a step */
	double noise;	      /* sd of the logarithm of a block ... */
	int blocks;	      /* ... of which each process takes so many at each point */
	double process_noise; /* the same, of all blocks of a process together */
	double queue;	      /* Q that the probe is to say; 0: more than it tried */
	struct cost step;     /* what records say of a step ... */
	/* ... or what they say of that of each configuration; NULL: step */
	struct cost (*step_of)(const struct config *c);
	bool older; /* ... or nothing, as older ones */
	/* of a side: what a process takes to start, 2 % either way; 0: records do not say it */
	double startup_ns[2];
	const char *device[2]; /* what the headers call the GPU of each side */
	bool on_cpu;	       /* the headers say that it is a build for the CPU device */
	struct model model[2];
	/* K of a size where the axis is no duration, ns; NULL: 1000 times the size */
	double (*kernel_ns)(double size);
	/* Multiplies what a block takes, to depart from the model; NULL: 1. */
	double (*factor)(const struct batch *b, int side);
};

/* launch, full grid, 10 processes of 15 blocks (the least of a full sweep), 1 side, 5 % noise, and
 * on both sides fake_model(); steps are one launch. */
struct fake_session fake_session(void);

/* For step_of: what the workload counts, where that needs no state. */
struct cost fake_count(const struct config *c);

/* c 2000, p 2200, g 900, Z 5800, queue 1024; graph a 1000, b 30, Zg 4500, gn 500, G 800; fused Zf
 * 5600, phi 1, bf 60 (ns): a native platform that was invented. */
struct model fake_model(void);

/* Made once more in memory: to be released by journal_release(). */
void fake_session_journal(const struct fake_session *s, struct journal *out);

/* The file of a complete session (or NAME.part, where `done` is set), valid for rift show --check.
 */
void fake_session_write(const struct fake_session *s, const char *path);

#endif
