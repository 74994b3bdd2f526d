/*
 * test_batch.h - what the tests of the alignment workload share: batches from strings, steps in
 * each mode, and edlib as the oracle.
 */
#ifndef RIFT_ALIGNMENT_TEST_BATCH_H
#define RIFT_ALIGNMENT_TEST_BATCH_H

#include <criterion/criterion.h>
#include <edlib.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "tests/cli.h"
#include "workloads/alignment/alignment.h"
#include "workloads/workload.h"

/* The defaults that test_align_options.c holds against the parameter rows. */
static inline struct alignment_opts default_opts(void)
{
	struct alignment_opts o;

	memset(&o, 0, sizeof(o));
	o.pairs = 1024;
	o.length = 150;
	o.error = -1;
	o.band = 0.05;
	o.output = ALIGN_CIGAR;
	o.host = ALIGN_PINNED;
	o.cap = -1;
	o.streams = 1;
	o.memory = (int64_t)4 << 30;
	o.seed = 1;
	return o;
}

struct run {
	struct alignment_opts o;
	struct alignment_state s;
	struct alignment_outcome out;
	cudaStream_t stream;
	int choice; /* of all_kernels, the one that is set up */
	bool light; /* of what a test adds, a few of each kind will do: for sanitizers */
};

static inline struct run *run_new(struct alignment_opts o)
{
	struct run *r = (struct run *)calloc(1, sizeof(*r));

	CHECK(r, "memory");
	r->o = o;
	CUDA(cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking));
	return r;
}

static inline void add(struct run *r, const char *query, size_t m, const char *target, size_t n)
{
	cr_assert(!alignment_batch_add(&r->s.batch, (const uint8_t *)query, m,
				       (const uint8_t *)target, n, NULL, NULL),
		  "add");
}

static inline void add_text(struct run *r, const char *query, const char *target)
{
	add(r, query, strlen(query), target, strlen(target));
}

static inline void run_reset(struct run *r)
{
	cr_assert(!alignment_reset(&r->o, &r->s, r->stream), "reset");
	CUDA(cudaStreamSynchronize(r->stream));
}

/* Sets up what was added, or else what the options generate. */
static inline void run_setup(struct run *r, const struct alignment_choice *choice)
{
	int err;

	if (!r->s.batch.n)
		err = alignment_setup(&r->o, &r->s);
	else
		err = alignment_setup_batch(
			&r->o, &r->s, choice ? *choice : alignment_choose(&r->o, &r->s.batch));
	cr_assert(!err, "setup: %d", err);
	run_reset(r);
}

static inline void run_steps(struct run *r, int n)
{
	for (int i = 0; i < n; i++)
		cr_assert(!alignment_step(&r->o, &r->s, r->stream), "step");
	CUDA(cudaStreamSynchronize(r->stream));
	alignment_outcome_release(&r->out);
	alignment_outcome_init(&r->o, &r->s, &r->out);
}

/* n steps in a graph that is launched so many times. */
static inline void run_graph(struct run *r, int n, int times)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	CUDA(cudaStreamBeginCapture(r->stream, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < n; i++)
		cr_assert(!alignment_step(&r->o, &r->s, r->stream), "step");
	CUDA(cudaStreamEndCapture(r->stream, &graph));
	CUDA(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < times; i++)
		CUDA(cudaGraphLaunch(exec, r->stream));
	CUDA(cudaStreamSynchronize(r->stream));
	CUDA(cudaGraphExecDestroy(exec));
	CUDA(cudaGraphDestroy(graph));
	alignment_outcome_release(&r->out);
	alignment_outcome_init(&r->o, &r->s, &r->out);
}

static inline struct verdict run_check(struct run *r, int64_t steps)
{
	struct verdict v;

	memset(&v, 0, sizeof(v));
	v.full = true;
	cr_assert(!alignment_check(&r->o, &r->s, steps, &v), "check");
	cr_assert(v.passed == (v.error <= v.tolerance), "error %g", v.error);
	return v;
}

/* Back to an empty batch; the options stay. */
static inline void run_clear(struct run *r)
{
	CUDA(cudaStreamSynchronize(r->stream));
	alignment_outcome_release(&r->out);
	alignment_teardown(&r->s);
	memset(&r->s, 0, sizeof(r->s));
}

static inline void run_end(struct run *r)
{
	run_clear(r);
	CUDA(cudaStreamDestroy(r->stream));
	free(r);
}

static inline struct alignment_view view(const struct run *r, int64_t pair)
{
	return alignment_pair_view(&r->o, &r->s.batch, pair);
}

/* The extended CIGAR of a pair, to be freed. */
static inline char *cigar(const struct run *r, int64_t pair, bool classic)
{
	const uint32_t *runs = r->out.runs[pair];
	uint32_t n = r->out.result[pair].runs;
	int64_t bytes = alignment_cigar_text(runs, n, classic, NULL, 0) + 1;
	char *text = (char *)malloc((size_t)bytes);

	CHECK(text, "memory");
	alignment_cigar_text(runs, n, classic, text, bytes);
	return text;
}

/* Below this edlib walks back through its whole table, and so by the same rule as the kernels. */
static inline bool edlib_is_plain(const struct alignment_view *v)
{
	return (20 * ((v->m + 63) / 64) + 8) * v->n < 1048576;
}

/*
 * Distance as edlib has it, and the CIGAR: the same text where edlib goes by the rule, else one
 * that costs the distance. Letters must be upper case.
 */
static inline void expect_edlib(const struct run *r, int64_t pair, const char *what)
{
	const struct alignment_result *got = &r->out.result[pair];
	struct alignment_view v = view(r, pair);
	bool wanted = r->o.output == ALIGN_CIGAR;
	EdlibAlignResult want = edlibAlign(
		(const char *)v.query, (int)v.m, (const char *)v.target, (int)v.n,
		edlibNewAlignConfig(-1, EDLIB_MODE_NW,
				    wanted ? EDLIB_TASK_PATH : EDLIB_TASK_DISTANCE, NULL, 0));

	cr_assert(got->status == ALIGN_OK, "%s, pair %ld: %s", what, (long)pair,
		  alignment_status_name(got->status));
	cr_assert(got->distance == (uint32_t)want.editDistance,
		  "%s, pair %ld (%ld x %ld): %u not %d", what, (long)pair, (long)v.m, (long)v.n,
		  got->distance, want.editDistance);
	if (wanted)
		cr_assert(alignment_replay(&v, r->out.runs[pair], got->runs) == want.editDistance,
			  "%s, pair %ld (%ld x %ld): the CIGAR's cost", what, (long)pair, (long)v.m,
			  (long)v.n);
	if (wanted && v.m && v.n && edlib_is_plain(&v)) {
		char *text = cigar(r, pair, false);
		char *theirs = edlibAlignmentToCigar(want.alignment, want.alignmentLength,
						     EDLIB_CIGAR_EXTENDED);

		cr_assert(!strcmp(text, theirs), "%s, pair %ld (%ld x %ld): %.200s not %.200s",
			  what, (long)pair, (long)v.m, (long)v.n, text, theirs);
		free(text);
		free(theirs);
	}
	edlibFreeAlignResult(want);
}

static inline void expect_edlib_for_all(const struct run *r, const char *what)
{
	for (int64_t i = 0; i < r->s.batch.n; i++)
		expect_edlib(r, i, what);
}

/* ---- letters by a generator of the tests' own (xorshift64) -------------------------------- */

static inline uint64_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* n letters of the first `alphabet` of ACGTN. */
static inline void random_letters(uint64_t *state, char *s, size_t n, int alphabet)
{
	for (size_t i = 0; i < n; i++)
		s[i] = "ACGTN"[(draw(state) >> 20) % (uint64_t)alphabet];
}

static inline char *filled(size_t n, char c)
{
	char *s = (char *)malloc(n + 1);

	CHECK(s, "memory");
	memset(s, c, n);
	s[n] = '\0';
	return s;
}

/* ---- every kernel ------------------------------------------------------------------------ */

/* What each of them does with any pair: narrow bands that spill, and each shape of strips. */
static const struct alignment_choice all_kernels[] = {
	{ ALIGN_L4, ALIGN_S1, 0, false, 0, false },
	{ ALIGN_L8, ALIGN_S2, 0, false, 0, false },
	{ ALIGN_L32, ALIGN_S4, 0, false, 0, false },
	{ ALIGN_L4, ALIGN_L, 0, false, 0, false },
	{ ALIGN_L8, ALIGN_L, 0, false, 0, false },
	{ ALIGN_L16, ALIGN_L, 0, false, 0, false },
	{ ALIGN_L32, ALIGN_L, 0, false, 0, false },
	{ ALIGN_L32X4, ALIGN_L, 0, false, 0, false },
	{ ALIGN_L4, ALIGN_S1, 0, false, 4096, false },
	{ ALIGN_L4, ALIGN_S2, 0, false, 4096, false },
	{ ALIGN_L4, ALIGN_S4, 0, false, 4096, false },
	{ ALIGN_L32, ALIGN_L, 0, false, 0, true },
};
static const char *const kernel_names[] = { "S1",  "S2",    "S4", "L4", "L8", "L16",
					    "L32", "L32x4", "W1", "W2", "W4", "wavefront" };

enum { CHOICES = 12 };

/* Adds pairs, sets up, runs and compares. */
static inline void one_choice(struct run *r, int c, void (*add_pairs)(struct run *r))
{
	r->choice = c;
	add_pairs(r);
	run_setup(r, &all_kernels[c]);
	run_steps(r, 1);
	expect_edlib_for_all(r, kernel_names[c]);
	run_clear(r);
}

/* One kernel of each form: a thread a pair, lanes a pair, a warp a pair. */
static inline bool is_of_few(int c)
{
	return c == 0 || c == 3 || c == 8;
}

/* For each choice of kernels. */
static inline void all_choices(void (*add_pairs)(struct run *r))
{
	struct run *r;

	need_device();
	r = run_new(default_opts());
	for (int c = 0; c < CHOICES; c++)
		one_choice(r, c, add_pairs);
	run_end(r);
}

/* A few pairs, for one kernel of each form. */
static inline void few_choices(void (*add_pairs)(struct run *r))
{
	struct run *r;

	need_device();
	r = run_new(default_opts());
	r->light = true;
	for (int c = 0; c < CHOICES; c++)
		if (is_of_few(c))
			one_choice(r, c, add_pairs);
	run_end(r);
}

#endif
