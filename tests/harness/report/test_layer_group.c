/* test_layer_group.c - rows of an atlas in words: the outcome decides, and not the mean alone. */
#include "tests/test.h"

#include "harness/report/layer_group.h"
#include "harness/report/part.h"
#include "tests/four_points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

TestSuite(small_layer_group, .timeout = 30);

static struct judged of(enum ratio_verdict verdict)
{
	return (struct judged){
		.known = true,
		.alone = verdict,
		.verdict = verdict,
		.not_slower = verdict == VERDICT_SAME || verdict == VERDICT_FASTER,
	};
}

/* A row of workloads with these verdicts; its outcome is what they and the mean come to. */
static void entry_init(struct atlas_entry *e, const enum ratio_verdict *verdict, int n,
		       enum ratio_verdict mean)
{
	struct judged *all[8];

	*e = (struct atlas_entry){ .name = "layer" };
	e->c.workload = calloc((size_t)n, sizeof(*e->c.workload));
	e->c.pairs.n_workloads = n;
	e->c.whole = (struct compared_workload){ .points = n, .judged = of(mean) };
	for (int i = 0; i < n; i++) {
		e->c.workload[i].judged = of(verdict[i]);
		all[i] = &e->c.workload[i].judged;
	}
	e->c.by_time = e->c.outcome = outcome_of(all, n, &e->c.whole.judged);
}

#define SA VERDICT_SAME
#define SL VERDICT_SLOWER
#define FA VERDICT_FASTER
#define IN VERDICT_INCONCLUSIVE

Test(small_layer_group, the_mean_alone_proves_nothing)
{
	static const struct {
		enum ratio_verdict of[3], mean;
		enum layer_group group;
		enum page_tone tone;
		const char *sure;
	} rows[] = {
		{ { SA, SA, SA }, SA, LAYER_SAME, TONE_SAME, "no difference: proven" },
		{ { SA, IN, IN },
		  SA,
		  LAYER_MEAN_SAME,
		  TONE_OPEN,
		  "average: no difference; 2 of 3 programs not decided" },
		{ { SA, FA, IN },
		  FA,
		  LAYER_MEAN_FASTER,
		  TONE_OPEN,
		  "average: faster; 1 of 3 programs not decided" },
		{ { SA, FA, FA },
		  FA,
		  LAYER_FASTER,
		  TONE_FASTER,
		  "faster, and no program slower: proven" },
		{ { SA, SA, SL },
		  SA,
		  LAYER_PROGRAMS,
		  TONE_SLOWER,
		  "slower in some program: proven" },
		{ { SL, SL, IN }, SL, LAYER_SLOWER, TONE_SLOWER, "slower: proven" },
		{ { IN, IN, IN }, IN, LAYER_OPEN, TONE_OPEN, "not decided" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct atlas_entry e;

		entry_init(&e, rows[i].of, 3, rows[i].mean);
		cr_expect(eq(int, layer_group(&e), rows[i].group), "row %zu", i);
		cr_expect(eq(int, layer_tone(layer_group(&e)), rows[i].tone), "row %zu", i);
		cr_expect(eq(str, layer_sure(&e).s, (char *)(uintptr_t)rows[i].sure), "row %zu", i);
		free(e.c.workload);
	}
}

/* A program beyond the margin by its interval, which the correction leaves open. */
Test(small_layer_group, a_program_that_is_slower_is_named_beside_a_faster_mean)
{
	struct atlas_entry e;

	entry_init(&e, (enum ratio_verdict[]){ SA, SA, IN }, 3, FA);
	e.c.workload[2].judged.alone = VERDICT_SLOWER;
	cr_expect(eq(str, layer_sure(&e).s,
		     "average: faster, but 1 of 3 programs slower; not decided"));
	cr_expect(eq(int, programs_of(&e.c).open, 0));
	free(e.c.workload);
}

/* One that is slower and another that is faster, each by its interval: no average says that. */
Test(small_layer_group, programs_of_both_kinds_are_mixed)
{
	struct atlas_entry e;
	struct atlas a = { .entry = &e, .n = 1 };
	char *text;

	for (enum ratio_verdict mean = SA; mean <= IN; mean++) {
		entry_init(&e, (enum ratio_verdict[]){ IN, IN, IN }, 3, IN);
		e.c.whole.judged = of(mean);
		e.c.workload[0].judged.alone = FA;
		e.c.workload[1].judged.alone = SL;
		cr_expect(eq(int, layer_group(&e), mean == SL ? LAYER_LIKELY : LAYER_MIXED));
		free(e.c.workload);
	}
	entry_init(&e, (enum ratio_verdict[]){ IN, IN, IN }, 3, IN);
	e.c.options.margin = 0.02;
	e.c.workload[0].judged.alone = FA;
	cr_expect(eq(int, layer_group(&e), LAYER_OPEN), "faster alone is not mixed");
	e.c.workload[1].judged.alone = SL;
	cr_expect(eq(str, layer_sure(&e).s, "mixed: 1 of 3 programs slower, 1 faster"));
	cr_expect(eq(int, layer_tone(layer_group(&e)), TONE_OPEN));
	text = part_printed(layers_finding, &a);
	cr_expect(
		eq(str, text,
		   "0 of 1 layers are proven to make programs slower by more than 2 % on average.\n"
		   "Of these 1, 1 is mixed, some programs being faster and others slower: layer."));
	free(text);
	free(e.c.workload);
}

Test(small_layer_group, one_sentence_counts_what_is_open)
{
	struct atlas_entry e[3];
	struct atlas a = { .entry = e, .n = 3 };
	char *text;

	entry_init(&e[0], (enum ratio_verdict[]){ SA, IN, IN }, 3, SA);
	entry_init(&e[1], (enum ratio_verdict[]){ FA, IN, IN }, 3, FA);
	entry_init(&e[2], (enum ratio_verdict[]){ IN, IN, IN }, 3, IN);
	e[0].c.options.margin = 0.02;
	text = part_printed(layers_finding, &a);
	cr_expect(eq(
		str, text,
		"0 of 3 layers are proven to make programs slower by more than 2 % on average.\n"
		"Of these 3, 1 is without a difference on average, though single programs may be "
		"slower: layer; 1 is faster on average, though single programs may be slower: "
		"layer; "
		"1 is not decided: layer."));
	free(text);
	for (int i = 0; i < 3; i++)
		free(e[i].c.workload);
}

/* A side of five processes that are noisy at every point. */
static struct journal noisy_view(void)
{
	struct journal j = session_of(1, 5, true);

	for (int i = 0; i < POINTS; i++)
		scale_times(&j, 0, i, 1, 0.03);
	for (int i = 0; i < 5 * POINTS; i++)
		j.noisy[i] = true;
	return j;
}

Test(small_layer_group, sessions_that_cannot_be_trusted_come_first)
{
	struct atlas_entry e;
	struct atlas a = { .entry = &e, .n = 1 };
	char *text;

	entry_init(&e, (enum ratio_verdict[]){ SA, SA }, 2, SA);
	e.c.options.margin = 0.02;
	e.own_base = true;
	e.side[PAIR_A].view = noisy_view();
	text = part_printed(layers_finding, &a);
	cr_expect(eq(
		str, text,
		"1 session cannot be trusted: layer without it (4 of 4 results are noisy).\n0 of "
		"1 layers are proven to make programs slower by more than 2 % on average.\nOf "
		"these 1, 1 is without a difference of that size: layer."));
	cr_expect(eq(int, layers_distrusted(&a).n, 1));
	free(text);
	free(e.c.workload);
	journal_release(&e.side[PAIR_A].view);
}
