/* test_mlp_options.c - `rift run mlp`: what it takes, refuses, says and writes. */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "tests/folder.h"
#include "tests/rows.h"
#include "workloads/mlp/test_mlp.h"

TEST_FOLDER(folder);

TestSuite(small_mlp_options, .init = make_folder, .fini = remove_folder, .timeout = 300);
TestSuite(large_mlp_options, .timeout = 300);

/* default_opts() of the other tests is what a user gets, but for the images. */
Test(small_mlp_options, defaults)
{
	rows_are(&workload_mlp,
		 "batch=64 work=training model=small hidden=0 features=64 batches=2 precision=fp32 "
		 "launches=few input=device "
		 "epilogues=forward fork=graph rate=-1 momentum=0.9 seed=1 data=auto folder= "
		 "images=60000 data_seed=1 epochs=0 sheet=");
}

Test(small_mlp_options, refused)
{
	static const struct wrong_args rows[] = {
		{ "hidden=16,7", "hidden= has a layer of 7; widths must be 8 to 16384" },
		{ "hidden=16 model=wide", "hidden= and model=wide" },
		{ "hidden=8,8,8,8,8,8,8,8,8,8,8,8,8,8,8,8,8", "hidden= names 17 layers" },
		{ "launches=many epilogues=no", "only with launches=few" },
		{ "launches=many fork=yes", "only with launches=few" },
		{ "data=idx images=100", "only with data=auto|generated" },
		{ "folder=/tmp data_seed=2", "only without folder=" },
		{ "data=generated folder=/tmp", "only with data=auto|idx" },
		{ "epochs=2 input=host", "epochs=2: input=host" },
		{ "--mode fused", "fused" },
		{ "launches=one model=wide", "one hidden layer of 128" },
		{ "launches=one hidden=64", "one hidden layer of 128" },
		{ "launches=one batch=65", "batch=65 must be at most 64" },
		{ "launches=one precision=tf32", "launches=one trains in fp32" },
		{ "launches=one input=host", "only with launches=few|many" },
		{ "batches=3", "only with work=inference" },
		{ "precision=fp16", "fp16 is for work=inference" },
	};

	words_refused("run mlp", "hidden=16,16385 batch=0 batch=65537 rate=-2 rate=-0.5");
	ROWS_REFUSED("run mlp", rows);
#ifdef RIFT_CPU_DEVICE
	refused(4, "need a GPU", "run mlp precision=tf32");
	refused(4, "need a GPU", "run mlp precision=bf16");
	refused(4, "need a GPU", "run mlp work=inference precision=fp16");
	refused(4, "needs a GPU with clusters", "run mlp launches=one");
#endif
}

Test(small_mlp_options, files_that_are_wrong)
{
	need_device();
	refused(3, "no train-images-idx3-ubyte in /nowhere", "run mlp folder=/nowhere");
	shell(NULL, "head -c 100 /dev/zero >%s/train-images-idx3-ubyte", folder);
	refused(3, "train-images-idx3-ubyte: byte 0: magic number 0x00000000", "run mlp folder=%s",
		folder);
}

/* Every way to compute, checked by rift itself. */
static void expect_passes(const char *const *args)
{
	const char *text;

	need_device();
	for (; *args; args++) {
		cr_assert(!run_rift(OUT, &text,
				    "run mlp data=generated images=600 %s --samples 1 --depth 2 "
				    "--check full --check-steps 3",
				    *args),
			  "%s: %s", *args, text);
		cr_assert(strstr(text, "passed: error"), "%s: %s", *args, text);
	}
}

Test(small_mlp_options, runs_that_pass)
{
	static const char *const args[] = {
		"hidden=12,8 batch=9 --mode graph",
		"hidden=9,13 batch=5 epilogues=no fork=yes",
		"launches=many hidden=9 batch=6",
		"input=host batch=9 hidden=8 rate=0.01 momentum=0 seed=5 data_seed=6",
		NULL,
	};

	expect_passes(args);
}

/* Logits of a narrow network grow large, and with them what rounding does to its gradients. */
Test(large_mlp_options, a_narrow_network_passes_after_many_steps)
{
	const char *text;

	need_device();
	cr_assert(!run_rift(OUT, &text,
			    "run mlp data=generated images=2000 hidden=9 --samples 1 --depth 1 "
			    "--check full --check-steps 600"),
		  "%s", text);
	cr_assert(strstr(text, "passed: error"), "%s", text);
}

Test(large_mlp_options, runs_of_the_models_that_pass)
{
	static const char *const args[] = {
		"",
		"--mode graph launches=many",
		"model=wide batch=8",
		"model=deep batch=8 --mode graph",
		"input=host --mode graph",
		NULL,
	};

	expect_passes(args);
}

static void expect_row(const json_t *run, const char *name, const char *says)
{
	cr_assert(strstr(row_text(run, name), says), "%s: %s", name, row_text(run, name));
}

Test(small_mlp_options, the_record_says_what_ran)
{
	const json_t *run;

	need_device();
	run = rift_json(
		"run mlp data=generated images=900 hidden=24,16 batch=8 --samples 1 --depth 2 "
		"--check-steps 4 "
		"--json 2>/dev/null");
	expect_row(run, "network", "784-24-16-10, 19410 parameters, rate 0.02");
	expect_row(run, "data", "generated, seed 1: 900 images to train with, 150 to test");
	expect_row(run, "epilogues", "of 2, dReLU and bias gradient: ");
	expect_row(run, "kernels a step", "counted in a captured step; 5 products");
	cr_assert(strlen(row_text(run, "products")) > 5, "products");
	cr_assert(strlen(row_text(run, "weights, sum of bits")) == 16, "bits");
	cr_assert(row_value(run, "test accuracy") <= 100, "accuracy");
}

/* What it was trained with is the same in every mode: the sum of bits says so. */
Test(small_mlp_options, modes_agree_on_the_command_line)
{
	char bits[20];
	const json_t *run;

	need_device();
	run = rift_json("run mlp data=generated images=60 hidden=8 batch=8 --depth 6 --samples 1 "
			"--check-steps 6 --json");
	snprintf(bits, sizeof(bits), "%s", row_text(run, "weights, sum of bits"));
	run = rift_json("run mlp data=generated images=60 hidden=8 batch=8 --depth 5 --samples 1 "
			"--check-steps 6 "
			"--mode graph "
			"--json");
	cr_assert(!strcmp(bits, row_text(run, "weights, sum of bits")), "%s", bits);
}

Test(small_mlp_options, epochs_are_told_as_they_pass)
{
	const char *text;

	need_device();
	cr_assert(
		!run_rift(ERR, &text,
			  "run mlp data=generated images=60 hidden=8 batch=8 epochs=2 --samples 1 "
			  "--depth 1 "
			  "--check-steps 1"),
		"%s", text);
	cr_assert(strstr(text, "epoch 1 of 2: loss ") && strstr(text, "epoch 2 of 2: loss ") &&
			  strstr(text, "test accuracy"),
		  "%s", text);
	cr_assert(
		!run_rift(OUT, &text,
			  "run mlp data=generated images=60 hidden=8 batch=8 epochs=2 --samples 1 "
			  "--depth 1 "
			  "--check-steps 1 --verbose"),
		"%s", text);
	cr_assert(strstr(text, "at the start: test accuracy") && strstr(text, "epoch 2: loss"),
		  "%s", text);
}

Test(small_mlp_options, a_sheet_is_written)
{
	const char *text;

	need_device();
	cr_assert(!run_rift(OUT, &text,
			    "run mlp data=generated images=60 hidden=8 batch=8 sheet=%s/s.png "
			    "--samples 1 --depth 1 "
			    "--check-steps 1",
			    folder),
		  "%s", text);
	shell(&text, "head -c 4 %s/s.png | tail -c 3", folder);
	cr_assert(!strcmp(text, "PNG"), "%s", text);
}
