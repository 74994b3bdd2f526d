/*
 * test_chart_texts.c - all that charts say of made-up sessions without noise, of one side and of
 * two: titles, what was found, labels. c 2.0 us, p 2.2, g 0.9, Z 5.8, and 7.8 on B.
 */
/* sanitizers: one thread */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "tests/chart_files.h"
#include "tests/figures.h"

TestSuite(small_chart_texts, .init = chart_folder_make, .fini = chart_folder_remove,
	  .timeout = 300);

static struct chart_files made;

struct value {
	const char *chart, *variable, *text;
};

static bool is_sentence(const char *variable)
{
	return !strcmp(variable, "title") || !strcmp(variable, "finding") ||
	       !strcmp(variable, "fit");
}

/* Sentences by their figures (tests/figures.h). */
static void all_is_said(const struct value *s)
{
	for (; s->chart; s++) {
		const char *text = script_value(s->chart, s->variable);

		if (is_sentence(s->variable))
			text = figures_of(text);
		cr_assert(eq(str, (char *)text, (char *)s->text), "%s of %s: %s", s->variable,
			  s->chart, script_value(s->chart, s->variable));
	}
}

Test(small_chart_texts, of_one_side)
{
	static const struct value said[] = {
		{ "launch-latency", "title", "5.8 µs 256 stream 2.2 µs graph 550 ns fused 82 ns" },
		{ "launch-latency", "finding", "graph faster stream 1" },
		{ "launch-latency", "fit", "0.0 %" },
		{ "launch-latency", "series", "3" },
		{ "launch-latency", "sides", "1" },
		{ "launch-latency", "title1", "stream" },
		{ "launch-latency", "title2", "graph" },
		{ "launch-latency", "title3", "fused" },
		{ "launch-latency", "title4", "" },
		{ "launch-latency", "look3", "3" },
		{ "launch-latency", "side3", "0" },
		{ "launch-latency", "made2", "" },
		{ "launch-latency", "crossing", "1" },
		{ "launch-latency", "smallest", "empty kernels" },
		{ "launch-latency", "size", "length of a kernel (µs)" },
		{ "launch-latency", "shallowest", "1" },
		{ "launch-latency", "deepest", "256" },
		{ "launch-latency", "shortest", "2.0" },
		{ "launch-latency", "longest", "200.0" },
		{ "launch-depth-needed", "title", "5 % 20 µs stream 55 graph 12 fused 6" },
		{ "launch-depth-needed", "finding", "18 µs stream 9.6 µs graph" },
		{ "launch-depth-needed", "floor_of", "stream" },
		{ "launch-depth-needed", "title1", "stream" },
		{ "launch-depth-needed", "has3", "1" },
		{ "launch-overhead", "title", "5 % stream 116 µs 1 18 µs 256" },
		{ "launch-overhead", "finding", "graph 111 µs 1 11 µs 256 fused 112 µs 1 256" },
		{ "launch-overhead", "what", "overhead over ideal (%)" },
		{ "launch-overhead", "panels", "3" },
		{ "launch-overhead", "rows", "3" },
		{ "launch-overhead", "mode2", "graph" },
		{ "launch-overhead", "depth5", "256" },
		{ "launch-overhead", "size3", "200" },
		{ "launch-stack", "title", "91 % graph 256" },
		{ "launch-stack", "finding", "0.0 100 % 0.0 0.0 %" },
		{ "launch-stack", "bar6", "stream, 200 µs kernels, depth 256" },
		{ "launch-stack", "total6", "201 µs" },
		{ "launch-stack", "mode6", "0" },
		{ "launch-stack", "bar8", "graph, empty kernels, depth 256" },
		{ "launch-stack", "total8", "550 ns" },
		{ "launch-stack", "mode8", "1" },
		{ "launch-stack", "bar13", "fused, empty kernels, depth 1" },
		{ "launch-stack", "total13", "5.6 µs" },
		{ "launch-stack", "mode13", "2" },
		{ 0 },
	};
	struct fake_session s = chart_session(1);

	charts_of(&made, &s);
	all_is_said(said);
	chart_files_release(&made);
}

/* The one depth is not held against itself: (5.8 us + 15 * 2.2 us) / 16. */
Test(small_chart_texts, of_one_depth)
{
	static const struct value said[] = {
		{ "launch-latency", "title", "16 stream 2.4 µs" },
		{ "launch-latency", "with_depths", "0" },
		{ "launch-latency", "depth", "16" },
		{ 0 },
	};
	struct fake_session s = chart_session(1);

	s.depth = "16";
	s.mode = "stream";
	charts_of(&made, &s);
	all_is_said(said);
	chart_files_release(&made);
}

Test(small_chart_texts, of_two_sides)
{
	static const struct value said[] = {
		{ "launch-latency", "title", "5.8 µs 256 stream 2.2 µs graph 550 ns fused 82 ns" },
		{ "launch-latency", "finding",
		  "7.8 µs 256 stream 2.2 µs graph 550 ns fused 82 ns" },
		{ "launch-latency", "fit", "0.0 %" },
		{ "launch-latency", "series", "6" },
		{ "launch-latency", "sides", "2" },
		{ "launch-latency", "title1", "A: stream" },
		{ "launch-latency", "title4", "B: stream" },
		{ "launch-latency", "title6", "B: fused" },
		{ "launch-latency", "look6", "3" },
		{ "launch-latency", "side3", "0" },
		{ "launch-latency", "side4", "1" },
		{ "launch-depth-needed", "title", "5 % 20 µs stream 55 graph 12 fused 6" },
		{ "launch-depth-needed", "finding", "stream 73 graph 12 fused 6 18 µs stream" },
		{ "launch-depth-needed", "floor_of", "A: stream" },
		{ "launch-depth-needed", "title3", "A: fused" },
		{ "launch-depth-needed", "title4", "B: stream" },
		{ "launch-depth-needed", "has6", "1" },
		{ 0 },
	};
	struct fake_session s = chart_session(2);

	s.model[1].v[MODEL_Z] = 7800;
	charts_of(&made, &s);
	all_is_said(said);
	chart_files_release(&made);
}

/* Side a is what the user calls it; of two sides, b is not. */
Test(small_chart_texts, what_the_user_calls_side_a)
{
	struct fake_session s = chart_session(2);

	for (int declared = 0; declared < 2; declared++) {
		const char *a = declared ? "A: made-up GPU; my VM (no virtualization found); "
					 : "A: made-up GPU; no virtualization found; ";

		chart_files_session(&made, &s);
		if (declared)
			strcpy(made.journal.plan.declared, "my VM");
		chart_files_make(&made);
		script_says("launch-ratio", "made1", a);
		script_says("launch-ratio", "made2", "B: made-up GPU; no virtualization found; ");
		chart_files_release(&made);
	}
}

/* What was found, what the user calls it, the command of a side, a layer: the last of these. */
Test(small_chart_texts, what_is_below_a_side)
{
	static const struct {
		const char *part, *member, *json, *says;
	} rows[] = {
		{ "virt", "hypervisor", "\"kvm\"", "made-up GPU; kvm; n = " },
		{ "virt", "container", "\"docker\"", "made-up GPU; kvm, docker; n = " },
		{ "virt", "gpu", "\"passthrough\"", "made-up GPU; kvm, docker, passthrough; n = " },
		{ "gpu", "driver_version", "\"1.2\"", "made-up GPU, driver 1.2; kvm, " },
		{ "virt", "declared_platform", "\"a cloud\"",
		  "; a cloud (kvm, docker, passthrough); " },
		{ NULL, "command", "\"ssh guest\"", "; behind *ssh guest*(kvm, docker, pass" },
		{ NULL, "layers", "[{\"name\":\"shim\",\"label\":\"real\",\"set\":[\"x=1\"]}]",
		  "; under shim x=1 (real) (kvm, docker, " },
	};
	struct fake_session s = chart_session(1);

	for (size_t n = 1; n <= sizeof(rows) / sizeof(*rows); n++) {
		chart_files_session(&made, &s);
		for (size_t i = 0; i < n; i++) {
			json_t *header = made.journal.header[0];
			json_t *in = rows[i].part ? json_object_get(header, rows[i].part) : header;

			json_object_set_new(in, rows[i].member,
					    json_loads(rows[i].json, JSON_DECODE_ANY, NULL));
		}
		chart_files_make(&made);
		script_says("launch-overhead", "made1", rows[n - 1].says);
		chart_files_release(&made);
	}
}

static void of_sizes(const char *size, const char *mode, const struct value *said)
{
	struct fake_session s = chart_session(1);

	s.size = size;
	s.mode = mode;
	charts_of(&made, &s);
	all_is_said(said);
	chart_files_release(&made);
}

/* Where all is small, or nothing is, the ends of it are said with their places. */
Test(small_chart_texts, of_kernels_that_hide_all)
{
	static const struct value said[] = {
		{ "launch-overhead", "title", "1.2 % everywhere" },
		{ "launch-overhead", "finding", "1.2 % stream 500 µs 1 0.0 % fused 1000 µs 256" },
		{ "launch-latency", "title",
		  "500 µs 506 µs 256 stream 501 µs graph 501 µs fused 500 µs" },
		{ "launch-stack", "title", "0.9 % 500 µs graph 1" },
		{ "launch-stack", "finding", "99 100 % 0.0 0.0 %" },
		{ 0 },
	};

	of_sizes("500,1000", NULL, said);
}

Test(small_chart_texts, of_kernels_that_hide_nothing)
{
	static const struct value said[] = {
		{ "launch-overhead", "title", "5 % stream" },
		{ "launch-overhead", "finding", "graph fused 1 256" },
		{ "launch-depth-needed", "title", "5 % stream" },
		{ "launch-depth-needed", "finding", "5.0 µs stream 5.0 µs graph" },
		{ "launch-latency", "title",
		  "2 µs 7.8 µs 256 stream 2.9 µs graph 2.5 µs fused 2.1 µs" },
		{ "launch-stack", "title", "60 % 2 µs graph 1" },
		{ "launch-stack", "finding", "26 98 % 0.0 0.0 %" },
		{ 0 },
	};

	of_sizes("2,5", NULL, said);
}

/* 290 % of 2 us: Z; 18 %: g and what is left of Z over 256 kernels of 5 us. */
Test(small_chart_texts, of_streams_that_hide_nothing)
{
	static const struct value said[] = {
		{ "launch-overhead", "title", "18 % everywhere" },
		{ "launch-overhead", "finding", "290 % stream 2 µs 1 18 % stream 5 µs 256" },
		{ 0 },
	};

	of_sizes("2,5", "stream", said);
}
