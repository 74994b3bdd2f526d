/* test_trial_text.c - what is said of timed programs that are made up, word for word and as JSON.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "tests/golden.h"

#include "harness/trial/trial.h"

TestSuite(small_trial_text, .timeout = 60);

/* Side i takes 1 + i * more seconds in the first round, and 1 % longer from round to round. */
static void begin(struct trial *t, int sides, int rounds, double more)
{
	*t = (struct trial){ .file = LINE_FILE_NONE };
	t->plan = (struct trial_plan){ .sides = sides, .margin = 0.02 };
	t->plan.argv = calloc(3, sizeof(*t->plan.argv));
	t->plan.argv[0] = "app";
	t->plan.argv[1] = "--size=3";
	for (int i = 1; i < sides; i++)
		t->plan.side[i].layer = i == 1 ? "emulate call=20" : "shim";
	trial_init(t);
	t->platform = json_pack("{s:s, s:b}", "device", "a device", "is_gpu", 1);
	t->looks = 1;
	t->look[0] = 100;
	for (int i = 0; i < sides; i++) {
		t->side[i].untimed = (struct trial_run){ .there = true, .wall_s = 2 + i };
		for (int k = 0; k < rounds; k++) {
			struct trial_run *r = &t->side[i].run[k];

			*r = (struct trial_run){ .there = true,
						 .wall_s = (1 + i * more) * (1 + 0.01 * k) };
			for (int q = 0; q < TRIAL_QUANTITIES; q++)
				r->value[q] = NAN;
		}
	}
}

/* Each has what is known of some quantities, and one range. */
static void put_quantities(struct trial *t, int rounds)
{
	for (int i = 0; i < t->plan.sides; i++)
		for (int k = 0; k < rounds; k++) {
			struct trial_run *r = &t->side[i].run[k];

			r->value[TRIAL_USER_S] = 0.5 + 0.25 * i + 0.001 * k;
			r->value[TRIAL_PEAK_BYTES] = (3 + i) * 1048576.0;
			r->value[TRIAL_ENERGY_J] = 20 + 4 * i + k;
			if (i)
				r->value[TRIAL_BEFORE_S] = 0.002;
		}
}

static void put(struct trial *t, const char *title, FILE *out)
{
	struct trial_findings *f = calloc(1, sizeof(*f));

	trial_findings_init(f, t, NAN);
	fprintf(out, "== %s\n", title);
	trial_print(f, out);
	golden_json(out, trial_json(f));
	trial_findings_release(f);
	free(f);
	trial_release(t);
}

Test(small_trial_text, all_that_is_said)
{
	struct trial t;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	begin(&t, 1, 1, 0);
	put(&t, "alone, one round", out);
	begin(&t, 1, 6, 0);
	put_quantities(&t, 6);
	t.side[0].untimed.status = 3 << 8;
	snprintf(t.side[0].untimed.said, sizeof(t.side[0].untimed.said), "no such file");
	put(&t, "alone, with an interval", out);
	begin(&t, 3, 9, 0.05);
	put_quantities(&t, 9);
	t.side[1].run[2].left = t.side[2].run[0].left = true;
	put(&t, "slower", out);
	begin(&t, 2, 9, -0.1);
	put(&t, "faster", out);
	begin(&t, 2, 9, 0);
	put(&t, "the same", out);
	begin(&t, 2, 3, 0.05);
	put(&t, "too few", out);
	begin(&t, 3, 0, 0);
	put(&t, "nothing timed", out);
	begin(&t, 3, 6, 0.001);
	t.side[1].run[1].status = 11;
	t.outputs_differ = true;
	put(&t, "wrong under a layer", out);
	begin(&t, 2, 6, 0.1);
	t.side[0].run[4].status = 1 << 8;
	put(&t, "not always the same", out);
	fclose(out);
	golden_text("trial-made", text);
	free(text);
}
