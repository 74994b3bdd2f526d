/*
 * test_transfer_options.c - what the transfer workload offers and refuses, the pattern that it
 * copies, and the rows of probe=quick.
 */
#include "tests/plain.h"
#include "workloads/transfer/test_copies.h"

#include "tests/rows.h"
#include "workloads/transfer/measure.h"

TestSuite(small_transfer_options, .timeout = 300);
TestSuite(large_transfer_options, .timeout = 300);

/* ---- options ---------------------------------------------------------------------------- */

Test(small_transfer_options, a_step_is_never_part_of_a_graph)
{
	struct transfer_opts o = make_copy_opts(TRANSFER_H2D, TRANSFER_PINNED, 1 << 20);
	struct limits limits = { 0 };

	cr_assert(!workload_transfer.limits(&o, &limits), "limits");
	cr_assert(limits.mode_refused[MODE_GRAPH] && !limits.mode_refused[MODE_STREAM], "modes");
	cr_assert(!workload_transfer.fused && !limits.action, "modes");
	cr_assert(limits.depth_max == 64 && limits.depth_why, "depth");
}

/* It would return before the copy is done, and nothing would wait for it. */
Test(small_transfer_options, cudaMemcpy_within_the_device_is_refused)
{
	struct transfer_opts o = make_copy_opts(TRANSFER_D2D, TRANSFER_PINNED, 64);
	struct limits limits = { 0 };

	o.call = TRANSFER_SYNC;
	cr_assert(!workload_transfer.limits(&o, &limits), "limits");
	cr_assert(limits.mode_refused[MODE_STREAM], "refused");
}

Test(small_transfer_options, too_many_blocks_are_refused_with_their_number)
{
	struct transfer_opts o = make_copy_opts(TRANSFER_H2D, TRANSFER_PINNED, 1 << 30);
	struct limits limits = { 0 };
	const char *text;
	int err;

	o.split = 1000;
	divert_stderr();
	err = workload_transfer.limits(&o, &limits);
	text = diverted_stderr();
	cr_assert(err == -EINVAL && is_one_complaint(text) && strstr(text, "1073742"), "%s", text);
}

Test(small_transfer_options, what_counts_only_with_others_is_refused)
{
	static const struct wrong_args rows[] = {
		{ "dir=d2d stride=4", "stride=4 " },
		{ "call=kernel", "needs dir=d2d" },
		{ "dir=d2d call=kernel split=1001", "multiple of 4" },
		{ "dir=d2d host=pageable", "host=pageable " },
		{ "probe=yes bytes=4k", "bytes=4k " },
	};

	ROWS_REFUSED("run transfer", rows);
}

Test(small_transfer_options, more_than_there_is_is_refused_with_the_numbers)
{
	run_setup_fails(make_copy_opts(TRANSFER_H2D, TRANSFER_PAGEABLE, 1ll << 50),
			"bytes=1125899906842624: takes * 80 %");
}

/* Each byte is read once and written once, whatever the stride; bytes a second follow from that. */
Test(small_transfer_options, a_kernels_copy_moves_the_same_bytes_at_each_stride)
{
	struct transfer_opts o = make_copy_opts(TRANSFER_D2D, TRANSFER_PINNED, 1 << 20);
	struct cost cost;
	const char *text;

	o.call = TRANSFER_KERNEL;
	o.split = 1 << 18;
	for (o.stride = 1; o.stride <= 1 << 10; o.stride *= 32) {
		cr_assert(!workload_transfer.cost(&o, NULL, &cost), "cost");
		cr_assert(cost.bytes_moved == 2.0 * (1 << 20) && cost.moves_only, "bytes");
		cr_assert(cost.launches == 4 && cost.within.calls == 0, "launches");
	}
	cr_assert(!run_rift(OUT, &text,
			    "run transfer dir=d2d call=kernel stride=32 bytes=64k --samples 4"),
		  "%s", text);
	cr_assert(tells(text, "\nrate *GB/s, read and written"), "%s", text);
}

/* ---- the pattern ------------------------------------------------------------------------ */

/* No source, shifted by a few words or by another source, looks like another. */
Test(small_transfer_options, each_word_of_the_pattern_is_one_of_a_kind)
{
	for (int64_t i = 0; i < TRANSFER_SOURCES; i++)
		for (int64_t j = 0; j < i; j++)
			for (uint64_t k = 0; k < 8; k++)
				cr_assert(pattern_word(transfer_source_word(i) + k) !=
						  pattern_word(transfer_source_word(j) + k),
					  "sources %ld and %ld", (long)i, (long)j);
	cr_assert(transfer_source_word(TRANSFER_SOURCES) == 0, "they come in turn");
}

/* ---- probe ------------------------------------------------------------------------------ */

static struct report report;

static void has_figure(const char *kind, const char *what, const char *unit)
{
	const struct report_row *r;
	char name[64];

	snprintf(name, sizeof(name), "%s %s", kind, what);
	r = report_row(&report, name);
	cr_assert(!*r->text && isfinite(r->value) && r->n >= 5 && !strcmp(r->unit, unit),
		  "%s: %g %s, n=%ld", name, r->value, r->unit, (long)r->n);
}

Test(large_transfer_options, the_probe_has_a_figure_for_every_kind)
{
	struct run *r;

	need_device();
	r = run_begin((struct transfer_opts){ .probe = TRANSFER_QUICK });
	cr_assert(!workload_transfer.report(&r->o, &r->s, &report), "probe");
	for (int i = 0; i < MEASURE_KINDS; i++) {
		has_figure(transfer_kinds[i].name, "4 B", "us");
		has_figure(transfer_kinds[i].name, "4 B call", "us");
		has_figure(transfer_kinds[i].name, "fixed", "us");
		has_figure(transfer_kinds[i].name, "rate", "GB/s");
	}
	has_figure("h2d pinned", "4 B in a row", "us");
	has_figure("d2h pageable", "4 B cudaMemcpy", "us");
	has_figure("h2d pinned", "in blocks of 64k", "1");
	has_figure("d2h pinned", "in blocks of 4096k", "1");
	run_end(r);
}

/* A probe that copies wrongly has no figures to offer. */
Test(small_transfer_options, the_probe_checks_every_byte)
{
	const struct measure_kind *kind = &transfer_kinds[0];
	struct measure_plan plan = transfer_measure_plan(true, NULL);
	struct transfer_opts o = transfer_kind_opts(kind, 4096),
			     room = transfer_kind_opts(kind, 8192);
	struct transfer_state s = { .bytes = 0 };
	struct measure_time t;
	const char *text;
	int err;

	need_device();
	cr_assert(!transfer_prepare(&room, &s, false), "prepare");
	cr_assert(!transfer_measure_steps(&o, &s, 2, &plan, &t) && t.n >= 5 && t.total_us > 0,
		  "good");
	s.src.base += 8; /* whatever is copied now comes from a wrong place */
	divert_stderr();
	err = transfer_measure_steps(&o, &s, 2, &plan, &t);
	text = diverted_stderr();
	s.src.base -= 8;
	cr_assert(err == -EIO && is_one_complaint(text) && strstr(text, "h2d pinned, 4096 bytes"),
		  "%d: %s", err, text);
	workload_transfer.teardown(&s);
}
