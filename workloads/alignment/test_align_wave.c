/* test_align_wave.c - long pairs that many warps share: the results of the kernel with a warp a
 * pair, bit for bit. */
#include "tests/plain.h"
#include "tests/races.h"
#include "workloads/alignment/test_batch.h"

TestSuite(small_align_wave, .timeout = 300);

static const struct alignment_choice one_warp = { ALIGN_L32, ALIGN_L, 0, false, 0, false };
static const struct alignment_choice many_warps = { ALIGN_L32, ALIGN_L, 0, false, 0, true };

enum { LONGEST = 2049 };

/* A target made from the query: so many letters of it drawn once more, and some left out. */
static void add_edited(struct run *r, uint64_t *state, size_t m, size_t edits, size_t left_out)
{
	static char q[LONGEST], t[LONGEST];

	random_letters(state, q, m, 4);
	memcpy(t, q, m);
	for (size_t e = 0; e < edits; e++)
		random_letters(state, &t[draw(state) % m], 1, 4);
	add(r, q, m, t + left_out, m - left_out);
}

/* Strips that are one row, or a row short or long; one to three of them; a value that one band
 * proves, or several; a bad letter. */
static void add_pairs(struct run *r)
{
	static const size_t letters[] = { 33, 1024, 1025, 2049 };
	uint64_t state = 31;

	add_text(r, "ACGTRACGT", "ACGT");
	add_edited(r, &state, 1100, RACES ? 100 : 600, 0);
	if (RACES)
		return;
	add_edited(r, &state, 1100, 40, 300);
	add_text(r, "ACGTACGTTTGACCA", "GGGGGGACGTACGTTTGACCA");
	for (size_t i = 0; i < 4; i++)
		add_edited(r, &state, letters[i], letters[i] / (i % 2 ? 9 : 30), i % 4);
}

static struct run *make_run(const struct alignment_choice *choice, enum alignment_output output,
			    double band, int64_t cap, int64_t streams)
{
	struct alignment_opts o = default_opts();
	struct run *r;

	o.output = output;
	o.band = band;
	o.cap = cap;
	o.streams = streams;
	r = run_new(o);
	add_pairs(r);
	run_setup(r, choice);
	return r;
}

static void expect_same(const struct run *r, const struct run *want, const char *what)
{
	for (int64_t i = 0; i < want->s.batch.n; i++) {
		const struct alignment_result *got = &r->out.result[i], *w = &want->out.result[i];
		bool runs = w->status == ALIGN_OK && w->runs;

		cr_assert(got->distance == w->distance && got->status == w->status &&
				  got->rounds == w->rounds && got->runs == w->runs,
			  "%s, pair %ld: %u, %u rounds, not %u, %u", what, (long)i, got->distance,
			  got->rounds, w->distance, w->rounds);
		if (runs)
			cr_assert(!memcmp(r->out.runs[i], want->out.runs[i],
					  w->runs * sizeof(**want->out.runs)),
				  "%s, pair %ld: the CIGAR", what, (long)i);
		else
			cr_assert(got->at == w->at, "%s, pair %ld: at %u", what, (long)i, got->at);
	}
}

/* From a band of 32 on, which takes several rounds; with caps that some pairs are beyond. */
static void expect_alike(enum alignment_output output, double band, int64_t cap)
{
	struct run *want = make_run(&one_warp, output, band, cap, 1);
	struct run *r = make_run(&many_warps, output, band, cap, 1);

	run_steps(want, 1);
	run_steps(r, 1);
	cr_assert(r->s.slot[0].wave, "many warps a pair");
	expect_same(r, want, "a step");
	cr_assert(run_check(r, 1).passed, "%s", run_check(r, 1).worst);
	run_end(r);
	run_end(want);
}

Test(small_align_wave, bands_and_caps)
{
	need_device();
	if (RACES)
		return;
	expect_alike(ALIGN_CIGAR, 0.05, 0);
	expect_alike(ALIGN_DISTANCE, 0, -1);
	expect_alike(ALIGN_CIGAR, 0, 150);
}

/* What a batch leaves behind is not taken for steps of the next one. */
Test(small_align_wave, steps_graphs_and_streams)
{
	struct run *r;

	need_device();
	r = make_run(&many_warps, ALIGN_CIGAR, 0.05, -1, RACES ? 1 : 2);
	cr_assert(r->s.slot[0].wave, "many warps a pair");
	run_steps(r, 1);
	cr_assert(run_check(r, 1).passed, "%s", run_check(r, 1).worst);
	run_graph(r, 1, 1);
	cr_assert(run_check(r, 2).passed, "%s", run_check(r, 2).worst);
	run_end(r);
}

/* Of a pair that took so many rounds: the steps that the next one would have written. */
static bool are_cleared(const struct run *r, uint32_t number, const struct alignment_pair *p,
			uint32_t rounds)
{
	const struct alignment_part *part = &r->s.slot[0].part;
	uint64_t words = alignment_wave_strips((int)p->m) * alignment_wave_row((int)p->n), set = 0;
	uint64_t *steps = calloc(words, sizeof(*steps));

	cr_assert(steps, "memory");
	CUDA(cudaMemcpy(steps,
			part->wave + number * part->wave_bytes + alignment_wave_head() +
				rounds % 2 * words * sizeof(*steps),
			words * sizeof(*steps), cudaMemcpyDeviceToHost));
	for (uint64_t i = 0; i < words; i++)
		set += steps[i] != 0;
	free(steps);
	return !set;
}

/* A band must not take the steps of the one before the last for its own. */
Test(small_align_wave, steps_of_earlier_bands_are_cleared)
{
	uint64_t state = 33;
	struct alignment_opts o = default_opts();
	struct run *r;

	need_device();
	if (RACES)
		return;
	o.output = ALIGN_DISTANCE;
	o.band = 0;
	r = run_new(o);
	add_edited(r, &state, 1100, 600, 0);
	run_setup(r, &many_warps);
	run_steps(r, 1);
	cr_assert(r->out.result[0].rounds > 2, "%u rounds", r->out.result[0].rounds);
	cr_assert(are_cleared(r, 0, &r->s.batch.pair[0], r->out.result[0].rounds), "not cleared");
	cr_assert(!are_cleared(r, 0, &r->s.batch.pair[0], r->out.result[0].rounds - 1u),
		  "all is 0");
	run_end(r);
}

/* A block waits only for strips that have begun, so that one after another is enough. */
Test(small_align_wave, blocks_one_after_another)
{
	struct run *r;

	setenv("RIFT_CPU_WORKERS", "1", 1);
	need_device();
	if (RACES)
		return;
	r = make_run(&many_warps, ALIGN_CIGAR, 0.05, -1, 1);
	run_steps(r, 1);
	cr_assert(run_check(r, 1).passed, "%s", run_check(r, 1).worst);
	run_end(r);
}

/* Where the traces of all pairs do not fit, a warp a pair does them as before. */
Test(small_align_wave, little_memory)
{
	struct alignment_opts o = default_opts();
	uint64_t state = 32;
	struct run *r;

	need_device();
	if (RACES)
		return;
	o.memory = 1 << 20;
	r = run_new(o);
	for (int i = 0; i < 3; i++)
		add_edited(r, &state, 1100, 40, 0);
	run_setup(r, &many_warps);
	cr_assert(!r->s.slot[0].wave, "too large for 1 MiB");
	run_steps(r, 1);
	cr_assert(run_check(r, 1).passed, "%s", run_check(r, 1).worst);
	run_end(r);
}

/* Few long pairs only. */
Test(small_align_wave, when_it_is_chosen)
{
	struct alignment_extent e = {
		.pairs = 1, .longest = 524288, .first_band = 26214, .memory = 4e9, .cigar = false
	};

	cr_assert(alignment_wave_pays(&e), "one long pair");
	e.pairs = ALIGN_WAVE_PAIRS + 1;
	cr_assert(!alignment_wave_pays(&e), "many pairs");
	e.pairs = 64;
	cr_assert(!alignment_wave_pays(&e), "more device memory than is meant for it");
	e = (struct alignment_extent){ .pairs = 1, .longest = 4095, .first_band = 204 };
	cr_assert(!alignment_wave_pays(&e), "few strips");
}
