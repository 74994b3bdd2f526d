/* test_trial_text.c - what is said of timed programs that are made up, word for word and as JSON.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "tests/folder.h"
#include "tests/golden.h"

#include "harness/trial/trial.h"

TEST_FOLDER(folder);

TestSuite(small_trial_text, .timeout = 60, .init = make_folder, .fini = remove_folder);

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

/* A thousandth of the time, two ranges, bytes of the device and processes that do not end. */
static void put_short(struct trial *t, int rounds)
{
	struct trial_range cold = { "cold", 1, 0.25 }, warm = { "warm \"up\"", 4, 1e-3 };

	t->side[0].untimed.ranges = 2;
	t->side[0].untimed.range[0] = cold;
	t->side[0].untimed.range[1] = warm;
	t->side[2].untimed.late = true;
	for (int i = 0; i < t->plan.sides; i++)
		for (int k = 0; k < rounds; k++) {
			struct trial_run *r = &t->side[i].run[k];

			r->wall_s *= 1e-3;
			r->ranges = 1;
			r->range[0] = warm;
			r->range[0].s *= 1 + i;
			r->value[TRIAL_DEVICE_BYTES] = i ? 3e9 : 1e9;
			r->value[TRIAL_BEFORE_S] = r->value[TRIAL_CALLS_S] = 1e-4;
			trial_run_derive(r);
		}
}

/* Side 1 takes more and less by turns than it would. */
static void scatter(struct trial *t, int rounds, double by)
{
	for (int k = 0; k < rounds; k++)
		t->side[1].run[k].wall_s *= 1 + (k % 2 ? -by : by);
}

static void copy_file(FILE *out, const char *name)
{
	char path[256], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "r");
	cr_assert(ne(ptr, f, NULL), "%s", path);
	while (fgets(line, sizeof(line), f))
		fputs(line, out);
	fclose(f);
}

/* Its values, and its data. */
static void put_chart(const struct trial_findings *f, FILE *out)
{
	struct picture p;

	cr_assert(zero(int, trial_chart_write(&p, f, folder)));
	cr_expect(eq(str, (char *)(uintptr_t)p.plot.script, "plots/trial.gp"));
	cr_expect(eq(int, p.asked, 1));
	fflush(p.plot.out);
	fprintf(out, "%s", p.plot.values);
	for (int i = 0; i < p.plot.files; i++)
		copy_file(out, p.plot.file[i]);
	picture_release(&p);
}

static void put_as(struct trial *t, const char *title, bool json, FILE *out)
{
	struct trial_findings *f = calloc(1, sizeof(*f));

	trial_findings_init(f, t, NAN);
	fprintf(out, "== %s\n", title);
	trial_print(f, out);
	if (json)
		golden_json(out, trial_json(f));
	put_chart(f, out);
	trial_findings_release(f);
	free(f);
	trial_release(t);
}

static void put(struct trial *t, const char *title, FILE *out)
{
	put_as(t, title, true, out);
}

Test(small_trial_text, all_that_is_said)
{
	struct trial t;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	begin(&t, 1, 1, 0);
	t.side[0].run[0].wall_s = 0.25;
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
	begin(&t, 2, 9, -0.015);
	scatter(&t, 9, 0.01);
	put_as(&t, "not slower", false, out);
	begin(&t, 2, 9, 0.02);
	scatter(&t, 9, 0.04);
	put_as(&t, "enough rounds, and no verdict", false, out);
	begin(&t, 2, 9, -0.02);
	scatter(&t, 9, 0.04);
	put_as(&t, "less or more", false, out);
	begin(&t, 3, 7, 0.04);
	put_short(&t, 7);
	put(&t, "short, with ranges", out);
	fclose(out);
	golden_text("trial-made", text);
	free(text);
}
