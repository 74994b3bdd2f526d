/*
 * test_verdicts.c - one file, one verdict for each point: `rift compare`, `rift show --check
 * --ratios`, the last table of `rift sweep` and `rift show`, and the marks of `rift plot`; on a
 * made-up session in which the correction for many points (harness/stats/decide.h) takes some of
 * them back.
 */
#include "tests/test.h"
#include "harness/stats/decide.h"
#include "tests/cli.h"
#include "tests/fake_session.h"
#include "tests/folder.h"

TEST_FOLDER(dir);
static char file[64];

static void prepare(void)
{
	make_dir();
	snprintf(file, sizeof(file), "%s/both.jsonl", dir);
}

TestSuite(large_verdicts, .init = prepare, .fini = remove_dir, .timeout = 300);

/* Some points far slower, and many a little: by themselves some of these are beyond the margin. */
static double uneven(const struct batch *b, int side)
{
	if (!side)
		return 1;
	return b->mode == MODE_GRAPH && b->kernel_ns == 20000 ? 1.5 : 1.035;
}

static struct fake_session uneven_session(void)
{
	struct fake_session s = fake_session();

	s.size = "2,5,10,20,50";
	s.depth = "1,4,16,64";
	s.mode = "stream,graph";
	s.processes = 5;
	s.sides = 2;
	s.noise = 0.05;
	s.factor = uneven;
	return s;
}

static json_t *compared(const char *options)
{
	const char *text;
	json_t *o;

	run_rift(OUT, &text, "compare --json '%s' %s", file, options);
	o = json_loads(text, 0, NULL);
	cr_assert(ne(ptr, o, NULL), "%s", text);
	return o;
}

/* A text file of the folder as a whole, to be freed. */
static char *text_of_file(const char *name)
{
	const char *text;

	cr_assert(zero(int, shell(&text, "cat '%s/%s'", dir, name)), "%s", name);
	return strdup(text);
}

static bool differs(const char *verdict)
{
	return !strcmp(verdict, verdict_names[VERDICT_SLOWER]) ||
	       !strcmp(verdict, verdict_names[VERDICT_FASTER]);
}

/* The line of the CSV of check --ratios that is of this point, from its verdict on. */
static void in_ratios(const char *csv, const json_t *point)
{
	char want[160];

	snprintf(want, sizeof(want), ",%s,%s,%s\n", get_text(point, "verdict"),
		 get_text(point, "verdict_alone"), get_text(point, "key"));
	cr_assert(ne(ptr, strstr(csv, want), NULL), "%s", want);
}

/* The last table has those that differ, and only those. */
static void in_table(const char *shown, const json_t *point)
{
	const json_t *axes = json_object_get(point, "axes");
	const char *verdict = get_text(point, "verdict");
	char line[160], want[200];

	snprintf(line, sizeof(line), "  launch us=%g %s depth %ld\n",
		 json_number_value(json_object_get(axes, "us")), get_text(axes, "mode"),
		 (long)json_integer_value(json_object_get(axes, "depth")));
	snprintf(want, sizeof(want), "%s%s", differs(verdict) ? verdict : "er", line);
	cr_assert(eq(int, strstr(shown, want) != NULL, differs(verdict)), "%s%s", verdict, line);
}

/* The chart marks those that do not. */
static void in_chart(const char *cells, const json_t *point)
{
	const json_t *axes = json_object_get(point, "axes");
	bool even = !differs(get_text(point, "verdict")), found = false;
	char end[64], line[256];

	snprintf(end, sizeof(end), ",%s,%g,%ld,5", get_text(axes, "mode"),
		 json_number_value(json_object_get(axes, "us")),
		 (long)json_integer_value(json_object_get(axes, "depth")));
	while (sscanf(cells, "%255[^\n]", line) == 1) {
		size_t n = strlen(line), k = strlen(end);
		int mark;

		cells += n + 1;
		if (n < k || strcmp(line + n - k, end))
			continue;
		cr_assert(eq(int, sscanf(line, "%*d,%*d,%*d,%*f,%*f,%*f,%d,", &mark), 1), "%s",
			  line);
		cr_assert(eq(int, mark, even), "%s", line);
		found = true;
	}
	cr_assert(found, "%s", end);
}

Test(large_verdicts, are_one_for_all_who_say_them)
{
	char *ratios, *shown, *cells;
	const char *text;
	struct fake_session s = uneven_session();
	int differ = 0, lost = 0;
	const json_t *point;
	char want[64];
	json_t *o;
	size_t i;

	fake_session_write(&s, file);
	cr_assert(
		zero(int, run_rift(OUT, &text, "show --check '%s' --ratios '%s/r.csv'", file, dir)),
		"%s", text);
	shell(NULL, "'%s' show '%s' >'%s/shown'", rift(), file, dir);
	run_rift(OUT, &text, "plot '%s' --output '%s/plots'", file, dir);
	ratios = text_of_file("r.csv");
	shown = text_of_file("shown");
	cells = text_of_file("plots/launch-ratio-cells.csv");
	o = compared("");
	json_array_foreach(json_object_get(o, "points"), i, point)
	{
		differ += differs(get_text(point, "verdict"));
		lost += strcmp(get_text(point, "verdict"), get_text(point, "verdict_alone")) != 0;
		in_ratios(ratios, point);
		in_table(shown, point);
		in_chart(cells, point);
	}
	cr_assert(eq(sz, i, 40), "points");
	cr_assert(lt(int, 0, lost), "the correction takes none back");
	cr_assert(lt(int, 3, differ), "none differs");
	snprintf(want, sizeof(want), "\n40 points: %d *, 0 *, ", differ);
	cr_assert(tells(shown, want), "%s", shown);
	snprintf(want, sizeof(want), "\n%d of *margin", lost);
	cr_assert(tells(shown, want), "%s", shown);
	json_decref(o);
	free(ratios);
	free(shown);
	free(cells);
}

/* The same by its axes: alone a wait policy has no part in the key. */
static void in_ratios_of(const char *sync, const json_t *point)
{
	const json_t *axes = json_object_get(point, "axes");
	const char *got;
	char want[64];

	cr_assert(zero(int, shell(&got,
				  "grep '^launch,%s,%ld,%s,%g,' '%s/r.csv' | "
				  "awk -F, '{ print $(NF - 2), $(NF - 1) }'",
				  get_text(axes, "mode"),
				  (long)json_integer_value(json_object_get(axes, "depth")), sync,
				  json_number_value(json_object_get(axes, "us")), dir)),
		  "%s", got);
	snprintf(want, sizeof(want), "%s %s\n", get_text(point, "verdict"),
		 get_text(point, "verdict_alone"));
	cr_assert(eq(str, (char *)got, want), "sync %s", sync);
}

/* Each wait policy is as a session of its own: what it is corrected for is its own points. */
Test(large_verdicts, of_each_kind_of_waiting)
{
	static const char *const kinds[] = { "spin", "blocking" };
	char option[32];
	struct fake_session s = uneven_session();
	const json_t *point;
	const char *text;
	int n = 0, lost = 0;
	size_t k;

	s.seed = 23; /* judged all together, some verdicts would be others */
	s.kinds = 2;
	s.kind[0] = SYNC_SPIN;
	s.kind[1] = SYNC_BLOCKING;
	fake_session_write(&s, file);
	cr_assert(
		zero(int, run_rift(OUT, &text, "show --check '%s' --ratios '%s/r.csv'", file, dir)),
		"%s", text);
	for (int i = 0; i < 2; i++) {
		json_t *o;

		snprintf(option, sizeof(option), "--sync %s", kinds[i]);
		o = compared(option);
		json_array_foreach(json_object_get(o, "points"), k, point)
		{
			in_ratios_of(kinds[i], point);
			lost += strcmp(get_text(point, "verdict"),
				       get_text(point, "verdict_alone")) != 0;
			n++;
		}
		json_decref(o);
	}
	cr_assert(eq(int, n, 80), "points");
	cr_assert(lt(int, 0, lost), "the correction takes none back");
}

/* Sizes that only launch has, and those that only myocyte has, which do not differ. */
static double uneven_launches(const struct batch *b, int side)
{
	return side && (b->kernel_ns < 3e4 || b->kernel_ns == 5e4 || b->kernel_ns == 2e5) ? 1.033
											  : 1;
}

/* A picture shows one workload; the points of all are judged together, as rift compare does. */
Test(large_verdicts, of_several_workloads)
{
	struct fake_session s = uneven_session();
	const json_t *point;
	const char *text;
	int n = 0;
	char *cells;
	json_t *o;
	size_t i;

	s.also = "myocyte";
	s.size = NULL;
	s.quick = true;
	s.factor = uneven_launches;
	fake_session_write(&s, file);
	run_rift(OUT, &text, "plot '%s' --output '%s/plots'", file, dir);
	cells = text_of_file("plots/launch-ratio-cells.csv");
	o = compared("");
	json_array_foreach(json_object_get(o, "points"), i, point)
	{
		if (strcmp(get_text(json_object_get(point, "axes"), "workload"), "launch"))
			continue;
		in_chart(cells, point);
		n++;
	}
	cr_assert(lt(int, 20, n), "points of launch");
	cr_assert(lt(int, n + 10, (int)i), "points of both");
	json_decref(o);
	free(cells);
}
