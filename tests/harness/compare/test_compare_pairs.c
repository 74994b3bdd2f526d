/*
 * test_compare_pairs.c - which points two sessions have in common, and what of their machines
 * differs: harness/compare/side.h, environment_diff.h.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/compare/environment_diff.h"
#include "tests/compared.h"

TestSuite(small_compare_pairs, .timeout = 300);

/* A session of one side with little in it. */
static struct fake_session small(const char *size, const char *depth, const char *mode)
{
	struct fake_session s = two_sides();

	s.sides = 1;
	s.size = size;
	s.depth = depth;
	s.mode = mode;
	return s;
}

/* ---- pairs of processes --------------------------------------------------------------------- */

/* Slower moments of the machine, which both sides of a pair meet, and how much longer b takes. */
static const double moment[] = { 1, 1.3, 1, 1.3, 1.15 }, longer[] = { 1.02, 1.02, 1.06, 1.03, 1.1 };

static void slow_down(struct journal *j)
{
	int processes = j->plan.design.processes, points = j->plan.n_points;

	for (int side = 0; side < 2; side++)
		for (int i = 0; i < processes; i++)
			for (int k = 0; k < points; k++) {
				int at = (side * processes + i) * points + k;
				double times = moment[i] * (side ? longer[i] : 1);

				/* of side a's values, so that nothing else differs */
				j->total_ns[at] = times * j->total_ns[k];
				j->enq_ns[at] = times * j->enq_ns[k];
			}
}

static void slow_down_pairs(struct journal *j)
{
	j->plan.design.pairs = true;
	slow_down(j);
}

/* The median pair says 1.03; the medians of the sides, which are of one disturbed pair, 1.10. */
Test(small_compare_pairs, a_parameter_is_that_of_the_median_pair)
{
	struct fake_session s = two_sides();
	struct compare_options o = usual_terms();
	struct compared *c = compared_sides(&s, &o, slow_down_pairs);
	static const char *const names[] = { "c", "p", "Z", "a" };

	cr_assert(zero(int, c->err), "compare");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct compared_parameter *p = parameter_of(c, names[i]);

		cr_assert(p->identified, "%s", names[i]);
		cr_assert(lt(dbl, fabs(p->ratio.value - 1.03), 2e-3), "%s: %g", names[i],
			  p->ratio.value);
		cr_assert(lt(dbl, fabs(p->difference.value / p->of[PAIR_A].value - 0.03), 2e-3),
			  "%s: %g", names[i], p->difference.value);
		/* five pairs that differ by 2 to 10 %: so does the interval, and by no more */
		cr_assert(lt(dbl, 1.015, p->ratio.lo), "%s: %g", names[i], p->ratio.lo);
		cr_assert(lt(dbl, p->ratio.hi, 1.105), "%s: %g", names[i], p->ratio.hi);
	}
	compared_free(c);
}

Test(small_compare_pairs, apart_it_is_that_of_the_medians)
{
	struct fake_session s = two_sides();
	struct compare_options o = usual_terms();
	struct compared *c = compared_sides(&s, &o, slow_down);

	cr_assert(zero(int, c->err), "compare");
	cr_assert(lt(dbl, fabs(parameter_of(c, "c")->ratio.value - 1.1), 2e-3), "%g",
		  parameter_of(c, "c")->ratio.value);
	compared_free(c);
}

/* ---- points ------------------------------------------------------------------------------- */

Test(small_compare_pairs, by_key_whatever_their_order)
{
	struct fake_session a = small("1,2,5", "1,4", "stream"),
			    b = small("2,5,10,20", "4,1", "stream,graph");
	struct compare_options o = usual_terms();
	struct compared *c = compared_sessions(&a, &b, &o);

	cr_assert(zero(int, c->err), "compare");
	cr_assert(eq(int, c->c.pairs.n, 4), "2 sizes, 2 depths");
	cr_assert(eq(int, c->c.pairs.only[PAIR_A], 2), "size 1");
	cr_assert(eq(int, c->c.pairs.only[PAIR_B], 12), "2 sizes, and graphs");
	for (int i = 0; i < c->c.pairs.n; i++) {
		const struct pair *p = &c->c.pairs.pair[i];

		cr_assert(eq(str, c->session[0].plan.point[p->at[PAIR_A]].key,
			     c->session[1].plan.point[p->at[PAIR_B]].key),
			  "%d", i);
	}
	compared_free(c);
}

Test(small_compare_pairs, a_workload_of_several)
{
	struct fake_session s = small("1,2", "1,4", "stream");
	struct compare_options o = usual_terms();
	struct compared *c;

	s.also = "myocyte";
	s.sides = 2;
	c = compared_sides(&s, &o, NULL);
	cr_assert(eq(int, c->c.pairs.n_workloads, 2), "both");
	cr_assert(eq(int, c->c.pairs.n, 8), "both");
	compared_free(c);
	o.workload = workload_find("myocyte");
	c = compared_sides(&s, &o, NULL);
	cr_assert(eq(int, c->c.pairs.n_workloads, 1), "one");
	cr_assert(eq(int, c->c.pairs.n, 4), "one");
	cr_assert(eq(int, c->c.pairs.only[PAIR_A] + c->c.pairs.only[PAIR_B], 0),
		  "the other is not missing");
	compared_free(c);
}

/* Refused, with one line that says this. */
static void nothing_in_common(const struct fake_session *a, const struct fake_session *b,
			      const char *workload, const char *says)
{
	struct compare_options o = usual_terms();
	struct compared *c;
	const char *said;

	o.workload = workload ? workload_find(workload) : NULL;
	divert_stderr();
	c = compared_sessions(a, b, &o);
	said = diverted_stderr();
	cr_assert(eq(int, c->err, -EPROTONOSUPPORT), "%s", says);
	cr_assert(is_one_complaint(said), "%s", said);
	cr_assert(tells(said, says), "%s: %s", says, said);
	compared_free(c);
}

Test(small_compare_pairs, why_no_point_is_in_both)
{
	char *bytes[] = { "args=256" };
	struct fake_session a = small("1,2", "1,4", "stream"), b = a;

	b.size = "5,10";
	nothing_in_common(&a, &b, NULL, "1, 2*5, 10");
	b = a;
	b.depth = "16";
	nothing_in_common(&a, &b, NULL, "depth*1, 4*16");
	b.mode = "graph";
	nothing_in_common(&a, &b, NULL, "stream*graph");
	b = a;
	b.assignment = bytes;
	b.n_assignments = 1;
	nothing_in_common(&a, &b, NULL, "args*8*256");
	b = a;
	b.workload = "myocyte";
	nothing_in_common(&a, &b, NULL, "launch*myocyte");
	nothing_in_common(&a, &a, "myocyte", "--workload=myocyte*A*B");
	nothing_in_common(&a, &b, "myocyte", "--workload=myocyte*A\n");
}

/* Each value is in both, but no combination of them; or parameters that this rift knows nothing of.
 */
Test(small_compare_pairs, other_combinations)
{
	struct fake_session s = small("1,2", "1,4", "stream");
	struct journal j[2];
	struct compared_side p[2];
	struct pairs pairs;
	const char *said;

	for (int k = 0; k < 2; k++) {
		fake_session_journal(&s, &j[k]);
		for (int i = 0; k && i < j[k].plan.n_points; i++)
			j[k].plan.point[i].key[0] = 'x';
		side_init(&p[k], &j[k], "x", 0, HALF_BOTH);
	}
	divert_stderr();
	cr_assert(eq(int, pairs_make(&pairs, &p[0], &p[1], NULL), -EPROTONOSUPPORT), "refused");
	said = diverted_stderr();
	cr_assert(is_one_complaint(said), "%s", said);
	cr_assert(ne(ptr, strstr(said, "launch"), NULL), "%s", said);
	pairs_release(&pairs);
	for (int k = 0; k < 2; k++) {
		side_release(&p[k]);
		journal_release(&j[k]);
	}
}

/* ---- environment_diff -------------------------------------------------------------------- */

/* Parties of made-up headers: a plan is all they need beside. */
static struct journal session_with(const char *header)
{
	struct fake_session s = small("1", "1", "stream");
	struct journal j;
	json_error_t error;

	fake_session_journal(&s, &j);
	json_decref(j.header[0]);
	j.header[0] = json_loads(header, 0, &error);
	cr_assert(ne(ptr, j.header[0], NULL), "%s: %s", error.text, header);
	return j;
}

struct two {
	struct journal j[2];
	struct compared_side p[2];
};

static struct two *two_with(const char *a, const char *b)
{
	struct two *t = calloc(1, sizeof(*t));

	cr_assert(ne(ptr, t, NULL), "memory");
	t->j[0] = session_with(a);
	t->j[1] = session_with(b);
	for (int k = 0; k < 2; k++)
		side_init(&t->p[k], &t->j[k], "x", 0, HALF_BOTH);
	return t;
}

static void two_free(struct two *t)
{
	for (int k = 0; k < 2; k++) {
		side_release(&t->p[k]);
		journal_release(&t->j[k]);
	}
	free(t);
}

#define HOST "\"host\":{\"kernel\":\"6.1\",\"load\":1,\"mitigations\":{\"l1tf\":\"no\"}}"
#define OTHER "\"host\":{\"kernel\":\"6.2\",\"load\":2,\"mitigations\":{\"l1tf\":\"yes\"}}"

/* The rows, as one JSON text. */
static void differ_in(const char *a, const char *b, const char *want)
{
	struct two *t = two_with(a, b);
	json_t *rows = environment_diff_any(&t->p[0], &t->p[1]);
	char *text = json_dumps(rows, JSON_COMPACT);

	cr_assert(eq(str, text, (char *)want), "%s", text);
	free(text);
	json_decref(rows);
	two_free(t);
}

Test(small_compare_pairs, every_field_that_differs)
{
	differ_in("{" HOST "}", "{" HOST "}", "[]");
	differ_in("{" HOST "}", "{" OTHER "}",
		  "[{\"field\":\"host.kernel\",\"a\":\"6.1\",\"b\":\"6.2\"},"
		  "{\"field\":\"host.mitigations.l1tf\",\"a\":\"no\",\"b\":\"yes\"}]");
	differ_in("{\"env\":{}}", "{\"env\":{\"CUDA_X\":\"1\"}}",
		  "[{\"field\":\"env.CUDA_X\",\"b\":\"1\"}]");
	differ_in("{\"gpu\":{\"ecc\":null,\"why_null\":{\"ecc\":\"x\"}}}",
		  "{\"gpu\":{\"ecc\":true}}", "[{\"field\":\"gpu.ecc\",\"a\":null,\"b\":true}]");
	differ_in("{\"libraries\":{\"loaded\":[\"c\",\"m\"]}}",
		  "{\"libraries\":{\"loaded\":[\"m\",\"c\",\"x\"]}}",
		  "[{\"field\":\"libraries.loaded\",\"a\":[],\"b\":[\"x\"]}]");
	differ_in("{\"boot_id\":\"1\",\"pid\":1}", "{\"boot_id\":\"2\",\"pid\":2}",
		  "[{\"field\":\"boot_id\",\"a\":\"1\",\"b\":\"2\"}]");
}

Test(small_compare_pairs, how_it_was_measured_is_a_field)
{
	struct two *t = two_with("{}", "{}");
	json_t *rows;

	t->p[1].view.plan.design.visit_ns = 7;
	rows = environment_diff_any(&t->p[0], &t->p[1]);
	cr_assert(eq(sz, json_array_size(rows), 1), "rows");
	cr_assert(eq(str,
		     (char *)json_string_value(json_object_get(json_array_get(rows, 0), "field")),
		     "design.visit_ns"),
		  "field");
	json_decref(rows);
	two_free(t);
}

static int refused(const struct two *t, const char *says)
{
	const char *said;
	int err;

	divert_stderr();
	err = environment_diff_refuse(&t->p[0], &t->p[1]);
	said = diverted_stderr();
	cr_assert(eq(int, is_one_complaint(said) != 0, err != 0), "%s", said);
	cr_assert(tells(said, says), "%s: %s", says, said);
	return err;
}

Test(small_compare_pairs, another_device_or_another_wait_is_refused)
{
	struct two *t = two_with("{\"gpu\":{\"name\":\"X\",\"sms\":132,\"uuid\":\"1\"}}",
				 "{\"gpu\":{\"name\":\"X\",\"sms\":132,\"uuid\":\"2\"}}");

	cr_assert(zero(int, refused(t, "")), "another one of the same kind");
	t->p[1].view.plan.design.sync = SYNC_POLL;
	t->p[0].view.plan.design.sync = SYNC_SPIN;
	cr_assert(eq(int, refused(t, "--sync spin*--sync poll"), -EPROTONOSUPPORT), "sync");
	two_free(t);
	t = two_with("{\"gpu\":{\"name\":\"X\",\"sms\":132}}",
		     "{\"gpu\":{\"name\":\"X\",\"sms\":66}}");
	cr_assert(eq(int, refused(t, "X, 132*X, 66"), -EPROTONOSUPPORT), "a part");
	two_free(t);
	t = two_with("{\"gpu\":{\"name\":\"X\"}}", "{\"gpu\":{\"name\":\"Y\"}}");
	cr_assert(eq(int, refused(t, "--force"), -EPROTONOSUPPORT), "model");
	two_free(t);
}

/* What is warned of, in one text. */
static void warned(const struct two *t, const char *binaries, const char *clocks)
{
	json_t *texts = environment_diff_warn(&t->p[0], &t->p[1]);
	char *all = json_dumps(texts, 0);

	cr_assert(eq(int, strstr(all, "binaries") != NULL, binaries != NULL), "%s", all);
	cr_assert(eq(int, strstr(all, "canary") != NULL, clocks != NULL), "%s", all);
	cr_assert(not(clocks && !strstr(all, clocks)), "%s", all);
	free(all);
	json_decref(texts);
}

Test(small_compare_pairs, other_binaries_and_other_clocks_are_warned_of)
{
	struct two *t = two_with("{\"build\":{\"binary_sha256\":\"1\"}}",
				 "{\"build\":{\"binary_sha256\":\"1\"}}");

	t->p[0].canary_ns = 1000;
	t->p[1].canary_ns = 1009;
	warned(t, NULL, NULL);
	t->p[1].canary_ns = 980;
	warned(t, NULL, "2.0 % less");
	t->p[1].canary_ns = 1011;
	warned(t, NULL, "1.1 % more");
	t->p[1].canary_ns = 991;
	warned(t, NULL, NULL);
	t->p[1].canary_ns = NAN;
	warned(t, NULL, NULL);
	two_free(t);
	t = two_with("{\"build\":{\"binary_sha256\":\"1\"}}",
		     "{\"build\":{\"binary_sha256\":\"2\"}}");
	t->p[0].canary_ns = t->p[1].canary_ns = 1000;
	warned(t, "", NULL);
	two_free(t);
}
