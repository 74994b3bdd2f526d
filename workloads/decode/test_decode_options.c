/* test_decode_options.c - `rift run decode`: what it takes, and what it refuses in which words. */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "tests/cli.h"
#include "tests/folder.h"
#include "tests/rows.h"
#include "workloads/decode/decode.h"

TEST_FOLDER(folder);

TestSuite(small_decode_options, .init = make_folder, .fini = remove_folder, .timeout = 300);

#define GOLDEN "checkpoint=workloads/decode/golden/tied-f32 "

/* `rift list` has them in this order. */
Test(small_decode_options, defaults)
{
	rows_are(&workload_decode,
		 "batch=1 model=tiny checkpoint= layers=0 context=128 positions=0 prompt= "
		 "precision=bf16 launches=few launch=ordinary output=device seed=1 tokens=");
}

Test(small_decode_options, the_list_has_them_in_order)
{
	const char *text, *at;
	char line[32];

	cr_assert(!run_rift(OUT, &text, "list decode"), "%s", text);
	at = strstr(text, "\n  parameter ");
	for (const struct param *p = workload_decode.params; p->name; p++) {
		snprintf(line, sizeof(line), "\n  %s ", p->name);
		cr_assert(at && (at = strstr(at, line)), "%s in %s", p->name, text);
	}
	cr_assert(strstr(text, "modes    stream, graph\n"), "%s", text);
	cr_assert(strstr(text, "depth at most 65536: the device keeps"), "%s", text);
}

static const struct wrong_args wrong[] = {
	/* the prompt */
	{ "prompt=a", "prompt=: 'a' is no token of this model: give ids from 0 to 31999" },
	{ "prompt=", "prompt=: empty; must be token ids" },
	{ "prompt=1,", "'' is no token" },
	{ "prompt=,1", "',1' is no token" },
	{ "prompt=1,,2", "',2' is no token" },
	{ "prompt=-1", "'-1' is no token" },
	{ "prompt=0x1", "'0x1' is no token" },
	{ "'prompt=1, 2'", "' 2' is no token" },
	{ "prompt=1,32000", "'32000' is no token of this model: give ids from 0 to 31999" },
	{ "prompt=99999999999999999999", "'99999999999999999999' is no token" },
	{ "model=1b prompt=128256", "give ids from 0 to 128255" },
	{ GOLDEN "prompt=96", "give ids from 0 to 95" },
	/* lengths */
	{ "positions=128", "context= leaves no position for a new token: 128 are taken, of 128; "
			   "give positions= more, or context= less" },
	{ "prompt=1,5 positions=2",
	  "prompt= leaves no position for a new token: 2 are taken, of 2; "
	  "give positions= more, or prompt= less" },
	{ GOLDEN "positions=65", "positions=65: the model was made for 64" },
	{ GOLDEN "context=64", "64 are taken, of 64, for which the model was made; "
			       "give context= less" },
	{ GOLDEN, "128 are taken, of 64, for which the model was made; give context= less" },
	{ GOLDEN "positions=64", "of 64, for which the model was made; give context= less" },
	{ "context=1M", "context=1M: out of range" },
	{ "positions=1048577", "positions=1048577: out of range" },
	/* the model */
	{ "layers=7", "layers=7: the model has 6" },
	{ GOLDEN "context=1 layers=3", "layers=3: the model has 2" },
	{ "layers=129", "layers=129: out of range" },
	{ GOLDEN "context=1 model=1b",
	  "model=1b has no effect: it is used only without checkpoint=" },
	{ "checkpoint=/nowhere", "/nowhere/config.json: No such file or directory" },
	{ "checkpoint=/dev/null", "/dev/null/config.json: Not a directory" },
	{ "checkpoint=", "checkpoint=: empty; must be a file name" },
	/* the rest */
	{ "batch=0", "batch=0: out of range" },
	{ "batch=1025", "batch=1025: out of range" },
	{ "seed=-1", "seed=-1: out of range" },
	{ "precision=fp16", "precision=fp16" },
	{ "context=4 prompt=1", "context=4 has no effect: it is used only without prompt=" },
	{ "launches=many launch=programmatic",
	  "launch=programmatic has no effect: it is used only with launches=few" },
	{ "--mode fused", "a step is several kernels, which is more than one launch" },
	{ "--depth 65537", "the device keeps the tokens of so many steps" },
	{ "batch=1k --depth 4097", "4096" },
};

Test(small_decode_options, refused)
{
	ROWS_REFUSED("run decode", wrong);
}

Test(small_decode_options, files_that_are_wrong)
{
	need_device();
	shell(NULL, "touch %s/there; cp workloads/decode/golden/tied-f32/config.json %s", folder,
	      folder);
	refused(3, "there: exists; give another name", "run decode tokens=%s/there", folder);
	refused(3, "cannot create", "run decode tokens=%s/none/file", folder);
	refused(3, "model.safetensors", "run decode context=1 checkpoint=%s", folder);
	shell(NULL,
	      "head -c 1000 workloads/decode/golden/tied-f32/model.safetensors "
	      ">%s/model.safetensors",
	      folder);
	refused(3, "model.safetensors", "run decode context=1 checkpoint=%s tokens=%s/new", folder,
		folder);
	cr_assert(shell(NULL, "ls %s | grep new", folder), "a file of tokens that has none");
}

/* Every way to compute, checked by rift itself. */
Test(small_decode_options, runs_that_pass)
{
	static const char *const args[] = {
		"context=0",
		"context=5 positions=6",
		"context=0 positions=1 output=host",
		"batch=3 prompt=95 precision=fp32",
		"prompt=1,2,3 launches=many layers=1 --mode graph",
		"context=7 launches=many precision=fp32 batch=2 output=host --mode graph",
		"context=7 launch=programmatic seed=0",
		"context=4 output=host --mode graph",
	};
	const char *text;

	need_device();
	for (size_t i = 0; i < sizeof(args) / sizeof(*args); i++) {
		cr_assert(!run_rift(OUT, &text,
				    "run decode " GOLDEN
				    "%s --samples 1 --depth 3 --check full --check-steps 7",
				    args[i]),
			  "%s: %s", args[i], text);
		cr_assert(strstr(text, "passed: error"), "%s: %s", args[i], text);
	}
}

Test(small_decode_options, the_record_says_what_ran)
{
	const json_t *run;

	need_device();
	run = rift_json("run decode " GOLDEN "prompt=1,2,3 launches=many positions=9 --samples 1 "
			"--depth 1 --check-steps 1 --json 2>/dev/null");
	cr_assert(!strcmp(row_text(run, "model"),
			  "92480 weights in bf16; 2 layers of 64, heads 4 / 2 of "
			  "16, hidden 160, vocabulary 96"),
		  "%s", row_text(run, "model"));
	cr_assert(!strcmp(row_text(run, "positions"),
			  "2 before the first step, of the prompt; 9 in all"),
		  "%s", row_text(run, "positions"));
	cr_assert(strlen(row_text(run, "products")) > 5, "%s", row_text(run, "products"));
	run = rift_json("run decode " GOLDEN
			"context=4 --samples 1 --depth 1 --check-steps 1 --json "
			"2>/dev/null");
	cr_assert(!strcmp(row_text(run, "positions"),
			  "4 before the first step, generated; 64 in all"),
		  "%s", row_text(run, "positions"));
	cr_assert(!*row_text(run, "products"), "%s", row_text(run, "products"));
}
