/*
 * test_atlas_chart.c - harness/chart/atlas_chart.h: the values that the charts of made-up sessions
 * draw, of which it is known what each adds to the base.
 */
/* sanitizers: one thread */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "harness/chart/atlas_chart.h"

#include "harness/record/recorded.h"
#include "tests/chart_files.h"
#include "tests/compared.h"
#include "tests/fake_session.h"

TestSuite(small_atlas_chart, .init = chart_folder_make, .fini = chart_folder_remove,
	  .timeout = 120);

enum { ROWS = 2, ROWS_MAX = 5 };

static struct atlas atlas;
static struct atlas_charts charts;

static struct fake_session made_up(const char *size, const char *mode)
{
	struct fake_session s = two_sides();

	s.size = size;
	s.depth = "1,16,64";
	s.mode = mode;
	s.sides = 1;
	s.noise = 0;
	return s;
}

static void fill(struct journal *j, const struct fake_session *s, const char *id)
{
	fake_session_journal(s, j);
	free(j->path);
	cr_assert(lt(int, 0, asprintf(&j->path, "folder/%s.jsonl", id)), "memory");
	snprintf(j->session_id, sizeof(j->session_id), "%s", id);
}

/* Charts of a base and so many rows, to whose calls a layer adds so much. */
static void draw_rows(const struct fake_session *base, const double *added_ns, int rows)
{
	static const char *const ids[ROWS_MAX] = { "one", "other", "third", "fourth", "last" };

	atlas_init(&atlas, rows, &compare_not_given);
	fill(&atlas.base.session, base, "base");
	cr_assert(zero(int, atlas_set_base(&atlas, 0)), "base");
	for (int i = 0; i < rows; i++) {
		struct fake_session s = *base;

		s.model[0].v[MODEL_C] += added_ns[i];
		s.model[0].v[MODEL_P] += added_ns[i];
		s.model[0].v[MODEL_Z] += added_ns[i];
		fill(&atlas.entry[i].session, &s, ids[i]);
		cr_assert(zero(int, atlas_add(&atlas, i, 0)), "%d", i);
	}
	cr_assert(zero(int, atlas_charts_write(&charts, &atlas, chart_folder)), "charts");
}

static void draw(const struct fake_session *base, const double added_ns[ROWS])
{
	draw_rows(base, added_ns, ROWS);
}

static void end(void)
{
	atlas_charts_release(&charts);
	atlas_release(&atlas);
}

static double script_number(const char *variable)
{
	return strtod(script_value("launch-atlas", variable), NULL);
}

static void script_is(const char *variable, const char *want)
{
	cr_expect(eq(str, (char *)script_value("launch-atlas", variable), (char *)want), "%s",
		  variable);
}

enum { PANEL, ROW, VALUE, LO, HI, RESOLVED, PROCESSES };

static const double *cell(const struct table *t, int panel, int row)
{
	const double *at = t->v[(panel - 1) * ROWS + row];

	cr_assert(eq(int, (int)at[PANEL], panel), "panel %d, row %d", panel, row);
	cr_assert(eq(int, (int)at[ROW], row), "panel %d, row %d", panel, row);
	return at;
}

/* What a layer adds to c, p and Z, in the panel's unit, and what that makes of a step. */
Test(small_atlas_chart, cells_are_differences_from_the_base)
{
	static const double added_ns[ROWS] = { 5000, 10000 };
	static const int of_calls[] = { 1, 2, 4 };
	struct fake_session base = made_up("0,1,5,10,50", "stream,graph");
	const struct table *t;

	draw(&base, added_ns);
	t = table_read("launch-atlas-cells.csv");
	cr_assert(eq(int, t->rows, 8 * ROWS), "%d cells", t->rows);
	for (int row = 0; row < ROWS; row++) {
		for (int i = 0; i < 3; i++) {
			const double *at = cell(t, of_calls[i], row);

			cr_expect(epsilon_eq(dbl, at[VALUE], added_ns[row] / 1e3, 0.01), "%g",
				  at[VALUE]);
			cr_expect(lt(dbl, at[LO], at[VALUE]), "panel %d", of_calls[i]);
			cr_expect(lt(dbl, at[VALUE], at[HI]), "panel %d", of_calls[i]);
			cr_expect(eq(dbl, at[RESOLVED], 1), "panel %d", of_calls[i]);
			cr_expect(eq(dbl, at[PROCESSES], 5), "panel %d", of_calls[i]);
		}
		for (int panel = 5; panel < 7; panel++) {
			cr_expect(epsilon_eq(dbl, cell(t, panel, row)[VALUE], 0, 1e-3), "%d",
				  panel);
			cr_expect(eq(dbl, cell(t, panel, row)[RESOLVED], 0), "%d", panel);
		}
		cr_expect(epsilon_eq(dbl, cell(t, 7, row)[VALUE], (5800 + added_ns[row]) / 5800,
				     1e-3),
			  "a step alone");
	}
	end();
}

Test(small_atlas_chart, panels_say_what_the_base_has)
{
	static const double added_ns[ROWS] = { 5000, 10000 };
	struct fake_session base = made_up("0,1,5,10,50", "stream,graph");

	draw(&base, added_ns);
	script_is("rows", "2");
	script_is("panels", "8");
	script_is("row1", "one");
	script_is("row2", "other");
	script_is("title", "launch is slower in 2 of 2 rows; worst: 5.4 times as long (other)");
	script_is("head1", "launch call c (µs)");
	script_is("own1", "base: 2.0 µs");
	script_is("own2", "base: 2.2 µs");
	script_is("head3", "gap of kernels g (ns)");
	script_is("own3", "base: 900 ns");
	script_is("own4", "base: 5.8 µs");
	script_is("own5", "base: 1.0 µs");
	script_is("own6", "base: 500 ns");
	script_is("head7", "step, depth 1");
	script_is("own7", "base: 5.8 µs");
	script_is("head8", "step, depth 64");
	script_is("own8", "base: 2.3 µs");
	script_is("head9", "");
	/* an axis from nothing to the largest interval, in its unit, and 8 % of it on either side
	 */
	cr_expect(eq(dbl, script_number("nothing1"), 0), "no difference");
	cr_expect(eq(dbl, script_number("nothing7"), 1), "as long");
	cr_expect(epsilon_eq(dbl, script_number("most1") / script_number("least1"), -1.08 / 0.08,
			     0.01),
		  "%g to %g", script_number("least1"), script_number("most1"));
	cr_expect(eq(dbl, script_number("step1"), 5), "about three marks");
	cr_expect(eq(dbl, script_number("step7"), 0.5), "about three marks");
	end();
}

/* Of rows that are slowed alike the first is named. */
Test(small_atlas_chart, the_first_of_those_that_are_slowed_most)
{
	static const double added_ns[ROWS] = { 5000, 5000 };
	struct fake_session base = made_up("0,1,5,10,50", "stream,graph");

	draw(&base, added_ns);
	script_says("launch-atlas", "title", "slower in 2 of 2 rows; worst: * (one)");
	end();
}

/* Two sides, of which one is the base of the other, on the page of a base that may have less. */
static void draw_pair(const struct fake_session *base, void (*spoil)(struct journal *))
{
	struct fake_session pair = made_up("0,1,5,10,50", "stream,graph");

	pair.sides = 2;
	atlas_init(&atlas, 1, &compare_not_given);
	fill(&atlas.base.session, base, "base");
	cr_assert(zero(int, atlas_set_base(&atlas, 0)), "base");
	fill(&atlas.entry[0].session, &pair, "guest");
	if (spoil)
		spoil(&atlas.entry[0].session);
	cr_assert(zero(int, atlas_add(&atlas, 0, SIDE_ANY)), "guest");
	cr_assert(zero(int, atlas_charts_write(&charts, &atlas, chart_folder)), "charts");
	script_is("rows", "1");
}

/* No kernel of the base outlasts p, and it has no graphs: of g, a and gn it knows nothing. */
Test(small_atlas_chart, what_the_base_does_not_hold_has_no_text)
{
	struct fake_session base = made_up("0", "stream");

	draw_pair(&base, NULL);
	script_is("own1", "base: 2.0 µs");
	script_is("head3", "gap of kernels g (ns)");
	script_is("own3", "");
	script_is("own4", "base: 5.8 µs");
	script_is("head5", "graph launch a (ns)");
	script_is("own5", "");
	script_is("own6", "");
	end();
}

/* No row has graphs: their panels would hold nothing but that. */
Test(small_atlas_chart, panels_without_a_value_are_left_out)
{
	struct fake_session base = made_up("0,1,5,10,50", "stream,graph");

	draw_pair(&base, spoil_graphs);
	script_is("panels", "6");
	script_is("head4", "launch, wait Z (ns)");
	script_is("head5", "step, depth 1");
	script_is("head6", "step, depth 64");
	script_is("words", "0");
	end();
}

/* That all results are wrong is what a reader must see. */
Test(small_atlas_chart, panels_of_wrong_results_stay)
{
	struct fake_session base = made_up("0,1,5,10,50", "stream,graph");

	draw_pair(&base, spoil_alone);
	script_is("panels", "6"); /* without depth 1 c and Z are not known */
	script_is("head5", "step, depth 1");
	script_is("words", "1");
	script_is("word1", "wrong results");
	script_is("word_panel1", "5");
	end();
}

/* Of five rows one is more than four times as far out as the others: it is a number beside them. */
Test(small_atlas_chart, what_is_far_out_is_a_number)
{
	static const double added_ns[] = { 1000, 100000, 2000, 3000, 4000 };
	/* no kernel outlasts 100 us, so that g is hidden */
	static const struct {
		const char *panel, *word, *far;
	} want[] = {
		{ "1", "+100 µs", "1" }, { "2", "+100 µs", "1" },    { "3", "–", "0" },
		{ "4", "+100 µs", "1" }, { "7", "18.2 times", "1" }, { "8", " times", "1" },
	};
	struct fake_session base = made_up("0,1,5,10,50", "stream,graph");
	char name[16];

	draw_rows(&base, added_ns, 5);
	script_is("words", "6");
	for (int i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "word%d", i + 1);
		script_says("launch-atlas", name, want[i].word);
		snprintf(name, sizeof(name), "word_panel%d", i + 1);
		script_is(name, want[i].panel);
		snprintf(name, sizeof(name), "word_row%d", i + 1);
		script_is(name, "1");
		snprintf(name, sizeof(name), "word_far%d", i + 1);
		script_is(name, want[i].far);
	}
	/* the axis holds the others, to 4 us and its interval */
	cr_expect(lt(dbl, 4, script_number("most1")), "%g", script_number("most1"));
	cr_expect(lt(dbl, script_number("most1"), 8), "%g", script_number("most1"));
	end();
}

/* Two of four: as many as the others are no exception. */
Test(small_atlas_chart, half_of_the_rows_are_not_far_out)
{
	static const double added_ns[] = { 1000, 100000, 100000, 2000 };
	struct fake_session base = made_up("0,1,5,10,50", "stream,graph");

	draw_rows(&base, added_ns, 4);
	script_is("words", "2");
	script_is("word_panel1", "3");
	script_is("word_panel2", "3");
	cr_expect(lt(dbl, 100, script_number("most1")), "%g", script_number("most1"));
	end();
}
