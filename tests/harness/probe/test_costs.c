/*
 * test_costs.c - costs files: what is read, shown and refused, and what two of them come to. Cards
 * are made here, with the scatter and the differences that are asked for.
 */
/* sanitizers: one thread */
#include "tests/plain.h"
#include "harness/probe/costs_compare.h"
#include "harness/record/recorded.h"

#include <sys/stat.h>
#include <zlib.h>

#include "common/check.h"
#include "common/philox.h"
#include "tests/cli.h"
#include "tests/golden.h"

TestSuite(small_costs, .timeout = 300);
TestSuite(large_costs, .timeout = 300);

enum { PROCESSES = 5 };

/* ---- made costs files -------------------------------------------------------------------- */

struct made {
	uint32_t seed;
	double scatter;	     /* of processes, a share */
	const char *slower;  /* a row that takes `times` as long */
	double times;	     /* all rows where slower is NULL */
	const char *without; /* a row that is missing */
	const char *gpu, *sync;
};

static double value_of(const struct made *m, const struct costs_line *l, uint32_t row, uint32_t i)
{
	struct philox r = philox4x32(row, i, 0, 0, m->seed);
	double noise = 1 + m->scatter * (2 * philox_uniform(r.word[0]) - 1);
	bool hit = !m->slower || !strcmp(m->slower, l->name);
	double times = noise * (hit && m->times > 0 ? m->times : 1);

	return l->rate ? 50 / times : 5 * times;
}

static json_t *row_of(const struct made *m, const struct costs_line *l, uint32_t row)
{
	json_t *values = json_array();

	for (uint32_t i = 0; i < PROCESSES; i++)
		json_array_append_new(values, json_real(value_of(m, l, row, i)));
	return json_pack("{s:s, s:s, s:s, s:o, s:f, s:n, s:n, s:i, s:n}", "workload", l->workload,
			 "name", l->name, "unit", l->rate ? "GB/s" : "us", "values", values,
			 "median", 5.0, "lo", "hi", "samples", 21, "text");
}

static json_t *make_costs(struct made m)
{
	json_t *rows = json_array();
	char id[17];

	for (uint32_t i = 0; costs_lines[i].workload; i++)
		if (!m.without || strcmp(m.without, costs_lines[i].name))
			json_array_append_new(rows, row_of(&m, &costs_lines[i], i));
	snprintf(id, sizeof(id), "%016x", m.seed);
	return json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:s, s:[], s:o, s:{s:s, s:s}, s:{s:s, "
			 "s:i}}",
			 "record", "call_costs", "schema", COSTS_SCHEMA, "session_id", id,
			 "start_utc", "2026-11-21T00:00:00Z", "processes", PROCESSES, "seed",
			 (int)m.seed, "sync", m.sync ? m.sync : "spin", "failed", "rows", rows,
			 "device", "name", "a made one", "kind", "cuda", "gpu", "name",
			 m.gpu ? m.gpu : "a made one", "sms", 1);
}

/* ---- two costs files
 * ------------------------------------------------------------------------------ */

static const struct compare_options defaults = { .margin = COSTS_MARGIN_DEFAULT,
						 .session_sd = COSTS_SESSION_SD_DEFAULT };

static struct costs_comparison comparison;

static int compare_made(struct made a, struct made b)
{
	static json_t *of_a, *of_b;

	json_decref(of_a);
	json_decref(of_b);
	of_a = make_costs(a);
	of_b = make_costs(b);
	costs_compare_release(&comparison);
	return costs_compare(&comparison, of_a, of_b, &defaults);
}

static const struct costs_pair *pair(const char *name)
{
	for (int i = 0; i < comparison.n; i++)
		if (!strcmp(comparison.pair[i].name, name))
			return &comparison.pair[i];
	cr_assert(false, "no row '%s'", name);
	return NULL;
}

/* None of them slower, whatever the scatter: two costs files of one system must not fail a build.
 */
Test(large_costs, one_system_is_the_same_or_inconclusive)
{
	const double scatter[] = { 0, 0.01, 0.05, 0.3, 0.9 };

	for (size_t i = 0; i < sizeof(scatter) / sizeof(*scatter); i++)
		for (uint32_t seed = 1; seed < 9; seed++) {
			enum exit_code code;

			cr_assert(
				!compare_made(
					(struct made){ .seed = seed, .scatter = scatter[i] },
					(struct made){ .seed = seed + 100, .scatter = scatter[i] }),
				"compare");
			code = costs_compare_exit_code(&comparison);
			cr_assert(code == RIFT_OK || code == RIFT_FAILED_POINTS,
				  "scatter %g, seed %u: %d", scatter[i], seed, code);
			cr_assert(scatter[i] > 0.01 || code == RIFT_OK, "quiet: %d", code);
		}
}

Test(small_costs, one_cost_that_is_higher_is_found)
{
	cr_assert(!compare_made((struct made){ .seed = 1, .scatter = 0.02 },
				(struct made){ .seed = 2,
					       .scatter = 0.02,
					       .slower = "launch device, a node",
					       .times = 1.5 }),
		  "compare");
	cr_assert(comparison.outcome == OUTCOME_SLOWER, "%d", comparison.outcome);
	cr_assert(costs_compare_exit_code(&comparison) == RIFT_CHECK_FAILED, "exit code");
	cr_assert(pair("launch device, a node")->judged.verdict == VERDICT_SLOWER, "verdict");
	cr_assert(fabs(pair("launch device, a node")->ratio.value - 1.5) < 0.06, "%g",
		  pair("launch device, a node")->ratio.value);
	cr_assert(pair("launch call")->judged.verdict == VERDICT_SAME, "the others are the same");
}

/* More GB/s are less time. */
Test(small_costs, a_rate_that_is_lower_is_slower)
{
	cr_assert(!compare_made((struct made){ .seed = 1, .scatter = 0.02 },
				(struct made){ .seed = 2,
					       .scatter = 0.02,
					       .slower = "h2d pinned rate",
					       .times = 1.5 }),
		  "compare");
	cr_assert(pair("h2d pinned rate")->judged.verdict == VERDICT_SLOWER, "verdict");
	cr_assert(pair("h2d pinned rate")->value[1] < pair("h2d pinned rate")->value[0], "shown");
	cr_assert(costs_compare_exit_code(&comparison) == RIFT_CHECK_FAILED, "exit code");
}

Test(small_costs, what_only_informs_decides_nothing)
{
	cr_assert(!compare_made((struct made){ .seed = 1, .scatter = 0.01 },
				(struct made){ .seed = 2,
					       .scatter = 0.01,
					       .slower = "first launch",
					       .times = 3 }),
		  "compare");
	cr_assert(pair("first launch")->judged.verdict == VERDICT_SLOWER, "it is slower");
	cr_assert(costs_compare_exit_code(&comparison) == RIFT_OK, "and that is all");
}

Test(small_costs, all_that_is_faster_is_faster)
{
	cr_assert(!compare_made((struct made){ .seed = 1, .scatter = 0.02 },
				(struct made){
					.seed = 2, .scatter = 0.02, .slower = NULL, .times = 0.5 }),
		  "compare");
	cr_assert(comparison.outcome == OUTCOME_FASTER, "%d", comparison.outcome);
	cr_assert(costs_compare_exit_code(&comparison) == RIFT_OK, "exit code");
}

Test(small_costs, rows_that_one_lacks_are_left_out_and_counted)
{
	cr_assert(
		!compare_made((struct made){ .seed = 1, .scatter = 0.02, .without = "launch pace" },
			      (struct made){ .seed = 2, .scatter = 0.02, .without = "cudaMalloc" }),
		"compare");
	cr_assert(comparison.left_out[0] == 1 && comparison.left_out[1] == 1, "%d %d",
		  comparison.left_out[0], comparison.left_out[1]);
	cr_assert(comparison.tests == 10, "%d decide", comparison.tests);
}

static void is_not_comparable(struct made a, struct made b, int want, const char *says)
{
	const char *text;
	int err;

	divert_stderr();
	err = compare_made(a, b);
	text = diverted_stderr();
	cr_assert(err == want && is_one_complaint(text) && strstr(text, says), "%d: %s", err, text);
}

Test(small_costs, what_cannot_be_compared_is_refused)
{
	is_not_comparable((struct made){ .seed = 1 }, (struct made){ .seed = 2, .gpu = "another" },
			  -EPROTONOSUPPORT, "another");
	is_not_comparable((struct made){ .seed = 1 },
			  (struct made){ .seed = 2, .sync = "blocking" }, -EPROTONOSUPPORT,
			  "--sync blocking");
	is_not_comparable((struct made){ .seed = 1 }, (struct made){ .seed = 1 }, -EINVAL, "same");
}

/* harness/stats/contrast.h: from 5 processes a side more could not be told apart. */
Test(small_costs, no_more_rows_decide_than_five_processes_can_tell)
{
	int n = 0;

	for (const struct costs_line *l = costs_lines; l->workload; l++)
		n += l->decides;
	cr_assert(n == 12 && contrast_processes_needed(0.05 / n, false) <= PROCESSES,
		  "%d rows decide", n);
}

/* ---- files ---------------------------------------------------------------------------------- */

static char path[] = "/tmp/rift-costs-XXXXXX";

static void write_costs(json_t *costs)
{
	if (strstr(path, "XXXXXX"))
		close(mkstemp(path));
	CHECK(!json_dump_file(costs, path, JSON_INDENT(1)), "%s", path);
	json_decref(costs);
}

static void is_refused(json_t *costs, int want, const char *says)
{
	json_t *got;
	const char *text;
	int err;

	write_costs(costs);
	divert_stderr();
	err = costs_read(path, &got);
	text = diverted_stderr();
	cr_assert(err == want && !got && is_one_complaint(text) && strstr(text, says), "%d: %s",
		  err, text);
}

Test(small_costs, they_are_read_back)
{
	json_t *costs;

	write_costs(make_costs((struct made){ .seed = 1, .scatter = 0.02 }));
	cr_assert(costs_is(path) && !costs_read(path, &costs), "read");
	cr_assert(costs_processes(costs) == PROCESSES && costs_row(costs, "launch", "launch call"),
		  "rows");
	json_decref(costs);
	unlink(path);
}

Test(small_costs, damaged_costs_are_refused)
{
	json_t *costs = make_costs((struct made){ .seed = 1 });

	json_object_set_new(costs, "processes", json_integer(4));
	is_refused(costs, -EINVAL, "not as many values");
	costs = make_costs((struct made){ .seed = 1 });
	json_object_set_new(costs, "schema", json_string("3.0"));
	is_refused(costs, -EPROTONOSUPPORT, "schema 3.0");
	costs = make_costs((struct made){ .seed = 1 });
	json_array_clear(json_object_get(costs, "rows"));
	is_refused(costs, -EINVAL, "no rows");
	costs = make_costs((struct made){ .seed = 1 });
	json_array_set_new(
		json_object_get(json_array_get(json_object_get(costs, "rows"), 0), "values"), 0,
		json_string("5"));
	is_refused(costs, -EINVAL, "is no number");
	is_refused(json_pack("{s:s}", "record", "plan"), -EINVAL, "not a file of call costs");
	unlink(path);
	divert_stderr();
	cr_assert(costs_read("/nonexistent", &costs) == -ENOENT && !costs, "no file");
	cr_assert(tells(diverted_stderr(), "/nonexistent: No such file"), "no file");
}

/* A costs file that was cut off is one still: it is not taken for a session. */
Test(small_costs, what_is_cut_off_is_damaged)
{
	json_t *costs;

	write_costs(make_costs((struct made){ .seed = 1 }));
	cr_assert(!truncate(path, 3000) && costs_is(path), "begins as one");
	refused(3, path, "show --check %s", path);
	refused(3, path, "compare %s %s", path, path);
	refused(3, path, "compare data/sessions/h200-costs.json %s", path);
	cr_assert(!truncate(path, (off_t)1 << 40) && costs_read(path, &costs) == -EFBIG, "1 TiB");
	unlink(path);
}

static void pack_costs(const char *begin, int mib)
{
	static char piece[1 << 20];
	gzFile f = gzopen(path, "wb1");

	memset(piece, 'x', sizeof(piece));
	cr_assert(f && gzputs(f, begin) == (int)strlen(begin), "%s", path);
	for (int i = 0; i < mib; i++)
		cr_assert(gzwrite(f, piece, sizeof(piece)) == sizeof(piece), "%s", path);
	cr_assert(!gzclose(f), "%s", path);
}

/* Whole they are read; cut off they are damaged; what unpacks to too much is not kept. */
Test(small_costs, they_may_be_compressed)
{
	json_t *costs = make_costs((struct made){ .seed = 1, .scatter = 0.02 });
	char *text = json_dumps(costs, 0);
	struct costs_file f;
	struct stat st;
	const char *said;

	json_decref(costs);
	close(mkstemp(path));
	pack_costs(text, 0);
	cr_assert(costs_is(path) && !costs_read(path, &costs), "read");
	cr_assert(costs_processes(costs) == PROCESSES, "processes");
	json_decref(costs);
	cr_assert(!stat(path, &st), "%s", path);
	for (int missing = 1; missing < 10; missing++) {
		cr_assert(!truncate(path, st.st_size - missing), "%s", path);
		divert_stderr();
		cr_assert(costs_read(path, &costs) == -EBADMSG && !costs, "%d bytes", missing);
		said = diverted_stderr();
		cr_assert(is_one_complaint(said), "%d: %s", missing, said);
	}
	cr_assert(costs_is(path), "begins as one");
	pack_costs("{\"record\":\"call_costs\",\"x\":\"", 2 * (COSTS_BYTES_MAX >> 20));
	cr_assert(costs_is(path), "begins as one");
	cr_assert(!costs_open(&f, path) && !costs_parse(&f, 0, NULL), "too much");
	cr_assert(f.bytes <= COSTS_BYTES_MAX + COSTS_HEAD, "%ld bytes are read", (long)f.bytes);
	unpacked_close(&f.in);
	divert_stderr();
	cr_assert(costs_read(path, &costs) == -EFBIG && !costs, "too much");
	said = diverted_stderr();
	cr_assert(is_one_complaint(said), "%s", said);
	pack_costs("{\"record\":\"plan\"}\n", 0);
	cr_assert(!costs_is(path), "a session");
	free(text);
	unlink(path);
}

Test(small_costs, a_pipe_is_not_waited_for)
{
	unlink(path);
	cr_assert(!mkfifo(path, 0600) && !costs_is(path), "%s", path);
	refused(3, path, "fit --stack data/sessions/h200-launch.jsonl --costs %s", path);
	refused(3, path, "show %s", path);
	unlink(path);
}

Test(small_costs, numbers_have_their_units)
{
	cr_assert(!strcmp(costs_number(2.43, "us"), "2.43 us"), "%s", costs_number(2.43, "us"));
	cr_assert(!strcmp(costs_number(1500, "us"), "1.50 ms"), "%s", costs_number(1500, "us"));
	cr_assert(!strcmp(costs_number(55.12, "GB/s"), "55.12 GB/s"), "rate");
	cr_assert(!strcmp(costs_number(1023, "launches"), "1023 launches"), "count");
	cr_assert(!strcmp(costs_number(1.25, "1"), "1.25") && !strcmp(costs_number(NAN, "us"), "-"),
		  "none");
}

/* What a reference has stands in one column, under its heading; all values stand in another. */
Test(small_costs, a_reference_stands_beside_them)
{
	json_t *costs = make_costs((struct made){ .seed = 1 }),
	       *reference = make_costs((struct made){ .seed = 2 });
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	const char *heading;

	costs_print_beside(costs, reference, out);
	fclose(out);
	golden_said(text);
	heading = strstr(text, " reference\n");
	cr_assert(heading && heading[-80] == ' ' && heading[-89] == '\n', "in column 98: %s", text);
	for (const struct costs_line *l = costs_lines; l->workload; l++) {
		const char *line = strstr(heading + 1, l->label);

		cr_assert(line, "%s: %s", l->label, text);
		while (line[-1] != '\n')
			line--;
		cr_assert(strcspn(line, "\n") == 98, "%s: %s", l->label, line);
		cr_assert(line[57] != ' ' && line[58] != ' ' && line[59] == ' ', "%s: %s", l->label,
			  line);
	}
	free(text);
	json_decref(costs);
	json_decref(reference);
}

/* Without one nothing stands there; an interval stands behind its value. */
Test(small_costs, alone_they_have_their_intervals)
{
	json_t *costs = make_costs((struct made){ .seed = 1 });
	json_t *row = json_array_get(json_object_get(costs, "rows"), 0);
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	const char *line;

	json_object_set_new(row, "lo", json_real(4.5));
	json_object_set_new(row, "hi", json_real(5.5));
	costs_print_beside(costs, NULL, out);
	fclose(out);
	golden_said(text);
	cr_assert(!strstr(text, "reference\n"), "none: %s", text);
	line = strstr(text, "\nlaunch ");
	cr_assert(line && strcspn(line + 1, "\n") == 59 + 2 + strlen("4.50 us to 5.50 us"), "%s",
		  text);
	cr_assert(strstr(line, "5.00 us  4.50 us to 5.50 us\n"), "%s", text);
	cr_assert(strcspn(strstr(text, "cudaMallocAsync"), "\n") == 59 - 16, "alone: %s", text);
	free(text);
	json_decref(costs);
}

/* ---- the command ---------------------------------------------------------------------------- */

/* Every row of the page is a row of a probe, with a figure of each process or a reason. */
static void every_row_is_filled(const json_t *costs)
{
	double value[COSTS_PROCESSES_MAX];

	cr_assert(!json_array_size(json_object_get(costs, "failed")), "none failed");
	cr_assert(!strcmp(get_text(json_object_get(costs, "virt"), "declared_platform"), "here"),
		  "platform");
	for (const struct costs_line *l = costs_lines; l->workload; l++) {
		const json_t *row = costs_row(costs, l->workload, l->name);

		cr_assert(row, "no row %s, %s", l->workload, l->name);
		cr_assert(costs_values(costs, row, value) || *get_text(row, "text"), "%s", l->name);
		cr_assert(!costs_values(costs, row, value) ||
				  json_is_number(json_object_get(row, "median")),
			  "%s", l->name);
	}
}

Test(large_costs, the_page_the_file_and_their_readers)
{
	const char *text;
	json_t *costs;

	need_device();
	close(mkstemp(path));
	refused(3, path, "probe --processes 1 --output %s", path);
	unlink(path);
	cr_assert(
		!run_rift(OUT, &text,
			  "probe --processes 1 --patience 600 --quiet --platform here --output %s",
			  path),
		"probe");
	cr_assert(strstr(text, "call costs") && strstr(text, "launch call, 100 nodes"), "%s", text);
	costs = json_load_file(path, 0, NULL);
	every_row_is_filled(costs);
	json_decref(costs);
	cr_assert(!run_rift(OUT, &text, "show %s", path) && strstr(text, "copy and wait"), "%s",
		  text);
	cr_assert(!run_rift(OUT, &text, "show --check %s", path) &&
			  strstr(text, "valid; call costs of 1 process"),
		  "%s", text);
	refused(3, "rift probe", "fit %s", path);
	refused(3, "(", "compare %s %s", path, path);
	refused(3, "rift compare A B", "compare %s", path);
	refused(3, "--workload ", "compare --workload launch %s %s", path, path);
	unlink(path);
}

Test(small_costs, wrong_arguments_are_refused)
{
	refused(3, "mlp *probe", "probe mlp");
	refused(3, "--processes=0", "probe --processes 0");
	refused(3, "--sync=never", "probe --sync never");
	refused(3, "--native *--layer*--output", "probe --native /tmp/n.json");
	refused(3, "--native *--layer*--output", "probe --native /tmp/n.json --output /tmp/u.json");
	refused(3, "--native *--layer*--output", "probe --native /tmp/n.json --layer none");
	refused(3, "same file", "probe --native /tmp/n.json --layer none --output /tmp/n.json");
}

/* Call costs and a session in either order: neither is compared with the other. */
Test(small_costs, call_costs_and_a_session_are_not_compared)
{
	static char path[] = "/tmp/rift_costs_XXXXXX", other[] = "/tmp/rift_session_XXXXXX";
	static const char says[] = "rift compare A B";
	int a = mkstemp(path), b = mkstemp(other);
	json_t *costs = make_costs((struct made){ .seed = 1 });

	cr_assert(a >= 0 && b >= 0, "%s, %s", path, other);
	cr_assert(!json_dumpfd(costs, a, JSON_COMPACT) && write(a, "\n", 1) == 1, "%s", path);
	cr_assert(write(b, "{}\n", 3) == 3, "%s", other);
	refused(3, says, "compare %s %s", path, other);
	refused(3, says, "compare %s %s", other, path);
	refused(3, says, "compare %s", path);
	refused(3, "(", "compare %s %s", path, path);
	json_decref(costs);
	close(a);
	close(b);
	unlink(path);
	unlink(other);
}
