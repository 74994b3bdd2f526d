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

static struct interval about(double value)
{
	return (struct interval){ value, 0.9 * value, 1.1 * value, 6, true };
}

static void name_entry(struct atlas_entry *e, const char *name, double start_ns)
{
	snprintf(e->name, sizeof(e->name), "%s", name);
	e->c.options.margin = 0.05;
	e->cost[ATLAS_START].state = ATLAS_KNOWN;
	e->cost[ATLAS_START].of = about(start_ns);
}

/* Layers of several groups: the dearest one, wrong results, and what starts slowest first. */
Test(small_layer_group, the_finding_in_full)
{
	struct atlas_entry e[5];
	struct atlas a = { .entry = e };
	static const char *const want[] = {
		"1 of 1 layers is proven to make programs slower by more than 5 % on average: "
		"slow. "
		"Under slow a step takes 3.500 times as long (90.6 % interval 3.150 to 3.850, n = "
		"6 "
		"pairs).\n"
		"Starting a program, a cost of each run that no step includes, takes longer under "
		"slow (20.0 ms); their intervals are in the table of cold starts.",
		"2 of 2 layers are proven to make programs slower by more than 5 % on average: "
		"slower and slow. Under slower a step takes 20.0 times as long (n = 3).\n"
		"Starting a program, a cost of each run that no step includes, takes longer under "
		"slower (295 ms) and slow (20.0 ms); their intervals are in the table of cold "
		"starts.",
		"2 of 5 layers are proven to make programs slower by more than 5 % on average: "
		"slower and slow. Under slower a step takes 20.0 times as long (n = 3).\n"
		"Under same, 39 of 435 results are wrong.\n"
		"Of the other 3, 1 is slower in some program: partly; 2 are without a difference "
		"of "
		"that size: same and other.\n"
		"Starting a program, a cost of each run that no step includes, takes longer under "
		"slower (295 ms), slow (20.0 ms) and same (1.00 ms); their intervals are in the "
		"table of cold starts.",
	};

	entry_init(&e[0], (enum ratio_verdict[]){ SL, SL, SL }, 3, SL);
	entry_init(&e[1], (enum ratio_verdict[]){ SL }, 1, IN);
	entry_init(&e[2], (enum ratio_verdict[]){ SA, SA, SA }, 3, SA);
	entry_init(&e[3], (enum ratio_verdict[]){ SA, SA, SL }, 3, SA);
	entry_init(&e[4], (enum ratio_verdict[]){ SA, SA, SA }, 3, SA);
	name_entry(&e[0], "slow", 2e7);
	name_entry(&e[1], "slower", 2.95e8);
	name_entry(&e[2], "same", 1e6);
	name_entry(&e[3], "partly", 0);
	name_entry(&e[4], "other", -1e6);
	e[0].c.whole.ratio = about(3.5);
	e[0].c.contrast.level = 0.906;
	e[0].c.contrast.paired = true;
	e[1].c.workload[0].ratio = (struct interval){ 20, 19, 21, 3, false };
	e[1].c.whole.ratio = about(1);
	for (int i = 2; i < 5; i++)
		e[i].c.whole.ratio = about(1);
	e[2].c.faults[PAIR_B].wrong = 39;
	e[2].c.faults[PAIR_B].results = 435;
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		char *text;

		a.n = (int[]){ 1, 2, 5 }[i];
		text = part_printed(layers_finding, &a);
		cr_expect(eq(str, text, (char *)(uintptr_t)want[i]), "%d layers: %s", a.n, text);
		free(text);
	}
	for (int i = 0; i < 5; i++)
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
