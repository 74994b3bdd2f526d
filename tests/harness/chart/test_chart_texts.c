/*
 * test_chart_texts.c - all that charts say of made-up sessions without noise, of one side and of
 * two: titles, what was found, labels. c 2.0 us, p 2.2, g 0.9, Z 5.8, and 7.8 on B.
 */
#include "tests/chart_files.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

TestSuite(small_chart_texts, .init = chart_folder_make, .fini = chart_folder_remove,
	  .timeout = 120);

static struct chart_files made;

struct said {
	const char *chart, *variable, *text;
};

static void all_is_said(const struct said *s)
{
	for (; s->chart; s++) {
		const char *text = script_value(s->chart, s->variable);

		cr_assert(eq(str, (char *)text, (char *)s->text), "%s of %s: %s", s->variable,
			  s->chart, text);
	}
}

Test(small_chart_texts, of_one_side)
{
	static const struct said said[] = {
		{ "launch-latency", "title",
		  "launch: empty kernels: one 5.8 µs; each of 256: stream 2.2 µs, graph 550 ns, "
		  "fused "
		  "82 ns" },
		{ "launch-latency", "finding", "a graph is faster than a stream from depth 1 on" },
		{ "launch-latency", "fit", "lines: fitted, median error 0.0 %" },
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
		{ "launch-depth-needed", "title",
		  "launch: depth for 5 % overhead at 20 µs kernels: stream 55, graph 12, fused 6" },
		{ "launch-depth-needed", "finding",
		  "below 18 µs (stream), 9.6 µs (graph) no depth is enough, by the fit" },
		{ "launch-depth-needed", "floor_of", "stream" },
		{ "launch-depth-needed", "title1", "stream" },
		{ "launch-depth-needed", "has3", "1" },
		{ "launch-overhead", "title",
		  "launch: under 5 % overhead, stream: from 116 µs at depth 1, from 18 µs at depth "
		  "256" },
		{ "launch-overhead", "finding",
		  "graph: from 111 µs at depth 1, from 11 µs at depth 256; fused: from 112 µs at "
		  "depth "
		  "1, every size at depth 256" },
		{ "launch-overhead", "what", "overhead over ideal (%)" },
		{ "launch-overhead", "panels", "3" },
		{ "launch-overhead", "rows", "3" },
		{ "launch-overhead", "mode2", "graph" },
		{ "launch-overhead", "depth5", "256" },
		{ "launch-overhead", "size3", "200" },
		{ "launch-stack", "title", "launch: where the time of a step goes" },
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
	static const struct said said[] = {
		{ "launch-latency", "title", "launch: empty kernels: each of 16: stream 2.4 µs" },
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
	static const struct said said[] = {
		{ "launch-latency", "title",
		  "A: launch: empty kernels: one 5.8 µs; each of 256: stream 2.2 µs, graph 550 ns, "
		  "fused 82 ns" },
		{ "launch-latency", "finding",
		  "B: empty kernels: one 7.8 µs; each of 256: stream 2.2 µs, graph 550 ns, fused "
		  "82 "
		  "ns" },
		{ "launch-latency", "fit", "lines: fitted, median error 0.0 % and 0.0 %" },
		{ "launch-latency", "series", "6" },
		{ "launch-latency", "sides", "2" },
		{ "launch-latency", "title1", "A: stream" },
		{ "launch-latency", "title4", "B: stream" },
		{ "launch-latency", "title6", "B: fused" },
		{ "launch-latency", "look6", "3" },
		{ "launch-latency", "side3", "0" },
		{ "launch-latency", "side4", "1" },
		{ "launch-depth-needed", "title",
		  "A: launch: depth for 5 % overhead at 20 µs kernels: stream 55, graph 12, fused "
		  "6" },
		{ "launch-depth-needed", "finding",
		  "B: stream 73, graph 12, fused 6; A: below 18 µs (stream) no depth is enough, by "
		  "the "
		  "fit" },
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

static void of_sizes(const char *size, const char *mode, const struct said *said)
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
	static const struct said said[] = {
		{ "launch-overhead", "title", "launch: at most 1.2 % over ideal everywhere" },
		{ "launch-overhead", "finding",
		  "most: 1.2 % (stream, 500 µs kernels, depth 1); least: 0.0 % (fused, 1000 µs "
		  "kernels, depth 256)" },
		{ "launch-depth-needed", "title",
		  "launch: depth for 5 % overhead at 1000 µs kernels: stream 1, graph 1, fused 1" },
		{ "launch-depth-needed", "finding",
		  "of all kernels that were swept some depth is enough" },
		{ "launch-latency", "title",
		  "launch: 500 µs kernels: one 506 µs; each of 256: stream 501 µs, graph 501 µs, "
		  "fused 500 µs" },
		{ "launch-stack", "finding",
		  "kernel 99 to 100 %; other 0.0 to 0.0 %; sync up to 0.9 % (500 µs kernels, "
		  "graph, "
		  "depth 1)" },
		{ 0 },
	};

	of_sizes("500,1000", NULL, said);
}

Test(small_chart_texts, of_kernels_that_hide_nothing)
{
	static const struct said said[] = {
		{ "launch-overhead", "title",
		  "launch: under 5 % overhead, stream: no size at any depth" },
		{ "launch-overhead", "finding",
		  "graph: no size at any depth; fused: no size at depth 1, every size at depth "
		  "256" },
		{ "launch-depth-needed", "title",
		  "launch: no swept depth brings overhead to 5 % in stream mode" },
		{ "launch-depth-needed", "finding",
		  "below 5.0 µs (stream), 5.0 µs (graph) no depth is enough, by the fit" },
		{ "launch-latency", "title",
		  "launch: 2 µs kernels: one 7.8 µs; each of 256: stream 2.9 µs, graph 2.5 µs, "
		  "fused 2.1 µs" },
		{ "launch-stack", "finding",
		  "kernel 26 to 98 %; other 0.0 to 0.0 %; sync up to 60 % (2 µs kernels, graph, "
		  "depth 1)" },
		{ 0 },
	};

	of_sizes("2,5", NULL, said);
}

/* 290 % of 2 us: Z; 18 %: g and what is left of Z over 256 kernels of 5 us. */
Test(small_chart_texts, of_streams_that_hide_nothing)
{
	static const struct said said[] = {
		{ "launch-overhead", "title", "launch: at least 18 % over ideal everywhere" },
		{ "launch-overhead", "finding",
		  "most: 290 % (stream, 2 µs kernels, depth 1); least: 18 % (stream, 5 µs kernels, "
		  "depth 256)" },
		{ 0 },
	};

	of_sizes("2,5", "stream", said);
}
