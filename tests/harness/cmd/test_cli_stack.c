/* test_cli_stack.c - `rift fit --stack` and `rift predict --validate` as a user meets them. */
/* sanitizers: one thread */
#include "tests/test.h"
#include "tests/cli.h"
#include "tests/fake_session.h"
#include "tests/folder.h"

#include <jansson.h>

TEST_FOLDER(dir);
static char file[64], other[64], costs[64];

static void prepare(void)
{
	make_dir();
	snprintf(file, sizeof(file), "%s/a session.jsonl", dir);
	snprintf(other, sizeof(other), "%s/other.jsonl", dir);
	snprintf(costs, sizeof(costs), "%s/card.json", dir);
}

TestSuite(small_cli_stack, .init = prepare, .fini = remove_dir, .timeout = 300);
TestSuite(large_cli_stack, .init = prepare, .fini = remove_dir, .timeout = 300);

static struct fake_session quick_session(const char *workload)
{
	struct fake_session s = fake_session();

	s.workload = workload;
	s.quick = true;
	s.processes = 5;
	s.noise = 0.01;
	return s;
}

static void says_all(const char *text, const char *const *want)
{
	for (; *want; want++)
		cr_assert(tells(text, *want), "'%s' in\n%s", *want, text);
}

/* A workload that copies, launches, and a costs file, all of the made-up GPU. */
static void write_all(void)
{
	struct fake_session work = quick_session("myocyte"), launch = quick_session("launch");
	json_t *o = json_pack(
		"{s:s, s:s, s:i, s:{s:s}, s:{s:s}, s:[{s:s, s:s, s:s, s:[f], s:f}, {s:s, s:s, "
		"s:s, s:[f], s:f}]}",
		"record", "card", "schema", "1.0", "processes", 1, "gpu", "name", "made-up GPU",
		"device", "name", "made-up GPU", "rows", "workload", "transfer", "name",
		"h2d pinned 4 B in a row", "unit", "us", "values", 0.5, "median", 0.5, "workload",
		"transfer", "name", "h2d pinned rate", "unit", "GB/s", "values", 50.0, "median",
		50.0);

	work.step.to_device = (struct copies){ 1, 10000 };
	work.size = "1,100,1000";
	work.depth = "1,4,16";
	launch.size = "0,2,10,50";
	launch.depth = "1,16,256,4096";
	fake_session_write(&work, file);
	fake_session_write(&launch, other);
	cr_assert(zero(int, json_dump_file(o, costs, 0)), "%s", costs);
	json_decref(o);
}

Test(small_cli_stack, a_table)
{
	const char *text;

	write_all();
	cr_assert(zero(int, run_rift(OUT, &text, "fit --stack '%s' --from '%s' --costs '%s'", file,
				     other, costs)),
		  "%s", text);
	says_all(text, (const char *[]){ "stack             myocyte, made-up GPU, side a, n = 5",
					 "(--from)", "9.77 KiB", "kernel", "submission", "transfer",
					 "other", "--all shows", NULL });
	cr_assert(zero(int, run_rift(OUT, &text, "fit --stack '%s' --all", other)), "%s", text);
	says_all(text, (const char *[]){ "parts ", "\n  graph ", NULL });
	cr_assert(eq(ptr, strstr(text, "--all shows"), NULL), "nothing is left out");
}

/* Swept with data=resident and data=streamed: --workload takes one of them, as rift fit does. */
Test(small_cli_stack, one_workload_by_its_parameters)
{
	static const char kept[] = "data/sessions/atlas-h100/XSched.jsonl.gz:a";
	const char *text;

	cr_assert(zero(int, run_rift(OUT, &text,
				     "fit --stack %s --workload 'radixsort data=streamed'", kept)),
		  "%s", text);
	says_all(text, (const char *[]){ "stack             radixsort data=streamed, ", NULL });
	refused(3, "--workload=radixsort pairs=5", "fit --stack %s --workload 'radixsort pairs=5'",
		kept);
}

/* Lines of the table stay within the width of the others. */
Test(large_cli_stack, lines_are_no_wider_than_others)
{
	const char *text, *end;

	write_all();
	cr_assert(zero(int, run_rift(OUT, &text, "fit --stack '%s' --from '%s'", file, other)),
		  "%s", text);
	for (; (end = strchr(text, '\n')); text = end + 1)
		cr_assert(le(int, (int)(end - text), 110), "%.*s", (int)(end - text), text);
}

Test(small_cli_stack, json_has_every_block_in_ns)
{
	json_t *o, *block, *part;
	const char *text, *name;
	size_t i;

	write_all();
	cr_assert(zero(int, run_rift(OUT, &text, "fit --stack '%s' --from '%s' --costs '%s' --json",
				     file, other, costs)),
		  "%s", text);
	o = json_loads(text, 0, NULL);
	cr_assert(ne(ptr, o, NULL), "%s", text);
	json_array_foreach(
		json_object_get(json_array_get(json_object_get(o, "stacks"), 0), "blocks"), i,
		block)
	{
		double sum = 0, total = json_number_value(json_object_get(block, "total_ns"));
		const json_t *parts = json_object_get(block, "parts_ns");

		json_object_foreach((json_t *)(uintptr_t)parts, name, part)
		{
			sum += json_number_value(part); /* null: 0 */
		}
		cr_assert(epsilon_eq(dbl, sum, total, 1e-6 * total), "block %zu", i);
		cr_assert(eq(int, json_typeof(json_object_get(parts, "allocation")), JSON_NULL),
			  "null, not 0");
		/* 500 ns a call and 10000 bytes at 50 GB/s */
		cr_assert(epsilon_eq(dbl, json_number_value(json_object_get(parts, "transfer")),
				     700.0 * (double)json_integer_value(json_object_get(
						     json_object_get(block, "axes"), "depth")),
				     1e-6),
			  "block %zu", i);
	}
	cr_assert(lt(sz, 10, i), "%zu blocks", i);
	json_decref(o);
}

Test(large_cli_stack, launches_held_against_a_workload)
{
	const char *text;
	json_t *o;

	write_all();
	cr_assert(zero(int, run_rift(OUT, &text, "predict --validate '%s' --on '%s'", file, other)),
		  "%s", text);
	says_all(text, (const char *[]){ "launch, n = 5", "  myocyte ", "stream", "graph", "fused",
					 "accepted", "to predict them", NULL });
	/* the first session is the launches' where --on is not given */
	cr_assert(
		zero(int, run_rift(OUT, &text, "predict --validate '%s' '%s' --json", other, file)),
		"%s", text);
	o = json_loads(text, 0, NULL);
	cr_assert(eq(sz, json_array_size(json_object_get(o, "workloads")), 1), "%s", text);
	cr_assert(json_number_value(json_object_get(json_object_get(o, "all"), "n")) > 0, "%s",
		  text);
	json_decref(o);
}

Test(small_cli_stack, what_is_refused)
{
	struct fake_session elsewhere = quick_session("launch");

	elsewhere.size = "0,2";
	write_all();
	refused(3, "rift fit SESSION", "fit --stack");
	refused(3, "rift fit ", "fit --stack '%s' '%s'", file, other);
	refused(3, "--from=", "fit --stack '%s' --from '%s'", other, file);
	refused(3, "rift probe --output", "fit --stack '%s' --costs '%s'", file, file);
	refused(3, "rift probe --output", "fit --stack '%s' --costs '%s'", file,
		"tests/abi_probe.sh");
	refused(3, "--workload=launch", "fit --stack '%s' --workload launch", file);
	refused(3, "rift predict SESSION", "predict --validate");
	refused(3, "--off-grid * --stack", "fit --stack '%s' --off-grid '%s'", file, other);
	refused(3, "--over * --stack", "fit --stack '%s' --over '%s'", file, other);
	refused(3, "--from needs --stack", "fit '%s' --from '%s'", file, other);
	refused(3, "--all needs --stack", "fit '%s' --all", file);
	refused(3, "--measured * --validate", "predict --validate '%s' --measured '%s'", file,
		other);
	refused(3, "unexpected argument '*': rift predict takes*--validate",
		"predict '%s' '%s' --on '%s'", file, other, other);
	refused(3, "with --on\n", "predict --validate '%s'", file);
	refused(3, "launch", "predict --validate '%s'", other);
	refused(3, "--costs ", "plot '%s' '%s' --costs '%s'", file, other, costs);
	elsewhere.sides = 2;
	shell(NULL, "rm '%s'", other);
	fake_session_write(&elsewhere, other);
	refused(3, "--costs ", "fit --stack '%s' --costs '%s'", other, costs);
	elsewhere.sides = 1;
	elsewhere.device[0] = "another GPU";
	shell(NULL, "rm '%s'", other);
	fake_session_write(&elsewhere, other);
	refused(5, " another GPU, ", "fit --stack '%s' --from '%s'", file, other);
	refused(5, "another GPU", "fit --stack '%s' --costs '%s'", other, costs);
	refused(5, "made-up GPU", "predict --validate '%s' --on '%s'", file, other);
}

/* Counts that no step has are refused as damage; those that are merely large give numbers. */
Test(small_cli_stack, absurd_counts_are_no_shares)
{
	struct fake_session work = quick_session("myocyte");
	const char *text;

	write_all();
	work.size = "1,100,1000";
	work.depth = "1,4,16";
	work.step.to_device = (struct copies){ 1e9, 1e18 };
	shell(NULL, "rm '%s'", file);
	fake_session_write(&work, file);
	cr_assert(
		zero(int, run_rift(OUT, &text, "fit --stack '%s' --all --costs '%s'", file, costs)),
		"%s", text);
	cr_assert(eq(ptr, strstr(text, " inf"), NULL), "%s", text);
	cr_assert(eq(ptr, strstr(text, "-inf"), NULL), "%s", text);
	work.step.to_device.calls = 1e308;
	shell(NULL, "rm '%s'", file);
	fake_session_write(&work, file);
	refused(3, "step: ", "fit --stack '%s' --all --costs '%s'", file, costs);
}

/* The part of the deepest point of a real sweep that is not its kernels', ns; 0: the blocks leave
 * it open. */
static double part_of_sweep(const char *points, const char *name, const char *note)
{
	const char *text;
	json_t *o, *part;
	double ns;

	shell(NULL, "rm -f '%s'", file);
	cr_assert(zero(int, run_rift(ERR, &text,
				     "sweep %s --depth 1,4,16 --mode stream --quick "
				     "--processes 2 --warm-up 0.01 --output '%s'",
				     points, file)),
		  "%s", text);
	cr_assert(zero(int, run_rift(OUT, &text, "fit --stack '%s'", file)), "%s", text);
	says_all(text, (const char *[]){ note, NULL });
	cr_assert(zero(int, run_rift(OUT, &text, "fit --stack '%s' --json", file)), "%s", text);
	o = json_loads(text, 0, NULL);
	part = json_object_get(
		json_array_get(
			json_object_get(json_array_get(json_object_get(o, "stacks"), 0), "blocks"),
			2),
		"parts_ns");
	cr_assert(eq(int, json_typeof(json_object_get(part, "kernel")), JSON_NULL), "%s", text);
	ns = json_number_value(json_object_get(part, name));
	json_decref(o);
	return ns;
}

/*
 * What real workers write: steps of memory are calls, of transfer copies. A busy machine may make
 * deep blocks shorter than others, from which no slope comes: thrice it does not.
 */
Test(large_cli_stack, of_real_sweeps)
{
	static const char *const sweep[][3] = {
		{ "memory bytes=4k", "allocation", "steps are calls" },
		{ "transfer bytes=64k", "transfer", "transfer: the slope" },
		{ "graph length=8 op=instantiate", "submission", "steps are calls" },
	};

	for (size_t i = 0; i < sizeof(sweep) / sizeof(*sweep); i++) {
		double ns = 0;

		for (int tried = 0; tried < 3 && !(ns > 0); tried++)
			ns = part_of_sweep(sweep[i][0], sweep[i][1], sweep[i][2]);
		cr_assert(lt(dbl, 0, ns), "%s", sweep[i][0]);
	}
}
