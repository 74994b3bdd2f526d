/* test_decode_config.c - config.json: defaults, both spellings, and what rift's formulas lack. */
#include "tests/plain.h"

#include <sys/stat.h>

#include "tests/folder.h"
#include "workloads/decode/json_file.h"
#include "workloads/decode/test_checkpoint.h"

TEST_FOLDER(folder);

TestSuite(small_decode_config, .init = make_folder, .fini = remove_folder, .timeout = 120);

/* The file with one text in place of another; "" for both changes nothing. */
static int read_changed(const char *from, const char *to, struct decode_model *m)
{
	char text[SMALL_TEXT];

	strcpy(text, small_config);
	replace(text, from, to);
	put_text(folder, "config.json", text);
	return decode_checkpoint_model(folder, m);
}

static struct decode_model changed(const char *from, const char *to)
{
	struct decode_model m;

	cr_assert(!read_changed(from, to, &m), "%s", to);
	return m;
}

/* One line with the file's name and these words; nothing is written to the model. */
static void expect_refused(const char *from, const char *to, const char *says)
{
	struct decode_model m = { .dim = 77 };
	int err;

	divert_stderr();
	err = read_changed(from, to, &m);
	expect_line(err, says);
	cr_assert(m.dim == 77, "a model in spite of '%s'", says);
}

/* ---- right ----------------------------------------------------------------------------- */

Test(small_decode_config, what_the_file_says_is_the_model)
{
	struct decode_model m = changed("", "");

	cr_assert(m.dim == 6 && m.hidden == 3 && m.layers == 1 && m.heads == 1 && m.kv_heads == 1 &&
			  m.head_dim == 2 && m.vocab == 5 && m.tied,
		  "sizes");
	cr_assert(m.theta == 1e4 && m.eps == 1e-5 && m.positions == 64 && m.rope_factor == 0,
		  "numbers");
}

Test(small_decode_config, defaults_are_those_of_the_library)
{
	cr_assert(changed("\"rms_norm_eps\": 1e-05", "\"a\": 1").eps == 1e-6, "eps");
	cr_assert(changed("\"rope_theta\": 10000.0", "\"a\": 1").theta == 1e4, "theta");
	cr_assert(!changed("\"tie_word_embeddings\": true", "\"a\": 1").tied, "tied");
	cr_assert(changed("\"max_position_embeddings\": 64", "\"a\": 1").positions == 0, "64");
	cr_assert(changed("\"head_dim\": 2", "\"head_dim\": null").head_dim == 6, "head_dim");
	cr_assert(changed("heads\": 1, \"num_key_value_heads\": 1", "heads\": 3").kv_heads == 3,
		  "key/value heads");
	cr_assert(changed("\"architectures\": [\"LlamaForCausalLM\"]", "\"a\": 1").dim == 6,
		  "model_type alone");
	cr_assert(changed("\"model_type\": \"llama\"", "\"a\": 1").dim == 6, "architectures alone");
	cr_assert(changed("\"hidden_act\": \"silu\"", "\"a\": 1").dim == 6, "hidden_act");
}

Test(small_decode_config, both_spellings_of_the_rotation_are_read)
{
	static const char older[] = "\"rope_scaling\": null", newer[] = "\"rope_parameters\": null";
	static const char theta[] = "\"rope_parameters\": {\"rope_type\": \"default\", "
				    "\"rope_theta\": 500000}";

	cr_assert(changed(newer, theta).theta == 5e5, "rope_parameters");
	cr_assert(changed(newer, "\"rope_parameters\": {}").theta == 1e4, "empty");
	cr_assert(changed(older, "\"rope_scaling\": {\"type\": \"default\"}").theta == 1e4, "type");
	cr_assert(changed("10000.0, \"rope_scaling\": null, \"rope_parameters\": null",
			  "20000, \"rope_scaling\": {\"type\": \"default\"}, "
			  "\"rope_parameters\": {\"type\": \"default\"}")
				  .theta == 2e4,
		  "both, alike");
}

Test(small_decode_config, the_scaling_of_llama_3_1_is_read)
{
	struct decode_model m =
		changed("\"rope_scaling\": null", "\"rope_scaling\": {\"rope_type\": \"llama3\", "
						  "\"factor\": 32.0, \"low_freq_factor\": 1.0, "
						  "\"high_freq_factor\": 4.0, "
						  "\"original_max_position_embeddings\": 8192}");

	cr_assert(m.rope_factor == 32 && m.rope_low == 1 && m.rope_high == 4 &&
			  m.rope_positions == 8192 && m.theta == 1e4,
		  "llama3");
}

/* ---- wrong ----------------------------------------------------------------------------- */

struct wrong {
	const char *from, *to, *says;
};

static void expect_all(const struct wrong *w, size_t n)
{
	for (size_t i = 0; i < n; i++)
		expect_refused(w[i].from, w[i].to, w[i].says);
}

#define EXPECT_ALL(cases) expect_all(cases, sizeof(cases) / sizeof((cases)[0]))

Test(small_decode_config, other_models_are_refused_by_name)
{
	static const struct wrong cases[] = {
		{ "LlamaForCausalLM", "MixtralForCausalLM",
		  "config.json: architectures is [\"MixtralForCausalLM\"]; must be "
		  "[\"LlamaForCausalLM\"]" },
		{ "[\"LlamaForCausalLM\"]", "[\"LlamaForCausalLM\", \"Other\"]",
		  "architectures is" },
		{ "[\"LlamaForCausalLM\"]", "[]", "architectures is []; must be" },
		{ "[\"LlamaForCausalLM\"]", "\"LlamaForCausalLM\"", "architectures is" },
		{ "[\"LlamaForCausalLM\"]", "[1]", "architectures is [1]; must be" },
		{ "\"llama\"", "\"mistral\"", "model_type is \"mistral\"; must be \"llama\"" },
		{ "\"architectures\": [\"LlamaForCausalLM\"], \"model_type\": \"llama\"",
		  "\"a\": 1", "model_type is absent; must be \"llama\"" },
	};

	EXPECT_ALL(cases);
}

Test(small_decode_config, other_formulas_are_refused_by_name)
{
	static const struct wrong cases[] = {
		{ "\"attention_bias\": false", "\"attention_bias\": true",
		  "attention_bias is true; must be false" },
		{ "\"mlp_bias\": false", "\"mlp_bias\": true", "mlp_bias is true; must be false" },
		{ "\"mlp_bias\": false", "\"mlp_bias\": 0",
		  "mlp_bias is 0; must be true or false" },
		{ "\"silu\"", "\"gelu\"", "hidden_act is \"gelu\"; must be \"silu\"" },
		{ "\"is\": 0", "\"quantization_config\": {\"bits\": 4}",
		  "quantization_config is {\"bits\":4}; must be absent" },
		{ "\"is\": 0", "\"partial_rotary_factor\": 0.5",
		  "partial_rotary_factor is 0.5; must be 1" },
		{ "\"tie_word_embeddings\": true", "\"tie_word_embeddings\": \"yes\"",
		  "tie_word_embeddings is \"yes\"; must be true or false" },
	};

	EXPECT_ALL(cases);
}

#define ROPE "\"rope_scaling\": null"
#define ROPE_IS(text) ROPE, "\"rope_scaling\": " text
#define LLAMA3(rest) ROPE_IS("{\"rope_type\": \"llama3\"" rest "}")

Test(small_decode_config, other_rotations_are_refused_by_name)
{
	static const struct wrong cases[] = {
		{ ROPE_IS("{\"type\": \"linear\", \"factor\": 2.0}"),
		  "rope_scaling.type is \"linear\"; must be \"default\" or \"llama3\"" },
		{ ROPE_IS("{\"rope_type\": \"yarn\", \"type\": \"default\"}"),
		  "rope_scaling.type is \"default\"; must be the same as rope_type" },
		{ ROPE_IS("{\"rope_type\": \"yarn\"}"),
		  "rope_scaling.rope_type is \"yarn\"; must be" },
		{ ROPE_IS("{\"factor\": 2.0}"), "rope_scaling.rope_type is absent; must be there" },
		{ ROPE_IS("{\"rope_type\": 3}"), "rope_scaling.rope_type is 3; must be" },
		{ ROPE_IS("\"linear\""), "rope_scaling must be an object or null" },
		{ ROPE_IS("{\"partial_rotary_factor\": 0.5}"),
		  "rope_scaling.partial_rotary_factor is 0.5; must be 1" },
		{ ROPE_IS("{\"full_attention\": {\"rope_type\": \"default\"}}"),
		  "rope_scaling.full_attention is {\"rope_type\":\"default\"}; must be a value" },
		{ "\"rope_parameters\": null", "\"rope_parameters\": {\"rope_theta\": \"big\"}",
		  "rope_parameters.rope_theta is \"big\"; must be a number from 1 to" },
		{ "\"rope_scaling\": null, \"rope_parameters\": null",
		  "\"rope_scaling\": {}, \"rope_parameters\": {\"rope_theta\": 5e5}",
		  "rope_scaling and rope_parameters differ" },
		{ LLAMA3(""), "rope_scaling.factor is absent; must be a number" },
		{ LLAMA3(", \"factor\": 8, \"low_freq_factor\": 1, \"high_freq_factor\": 4"),
		  "rope_scaling.original_max_position_embeddings is absent; must be" },
		{ LLAMA3(", \"factor\": 0, \"low_freq_factor\": 1, \"high_freq_factor\": 4, "
			 "\"original_max_position_embeddings\": 8192"),
		  "rope_scaling.factor is 0; must be a number from 1 to" },
		{ LLAMA3(", \"factor\": 8, \"low_freq_factor\": 4, \"high_freq_factor\": 4, "
			 "\"original_max_position_embeddings\": 8192"),
		  "rope_scaling.high_freq_factor is 4; must be above low_freq_factor" },
		{ LLAMA3(", \"factor\": 8, \"low_freq_factor\": 1, \"high_freq_factor\": 4, "
			 "\"original_max_position_embeddings\": 0"),
		  "original_max_position_embeddings is 0; must be a whole number from 1 to" },
	};

	EXPECT_ALL(cases);
}

Test(small_decode_config, numbers_that_are_none_are_refused)
{
	static const struct wrong cases[] = {
		{ "\"hidden_size\": 6", "\"a\": 6",
		  "hidden_size is absent; must be there: the default is Llama 7B's" },
		{ "\"vocab_size\": 5", "\"vocab_size\": null", "vocab_size is absent; must be" },
		{ "\"hidden_size\": 6", "\"hidden_size\": 6.5",
		  "hidden_size is 6.5; must be a whole number from 1 to 16384" },
		{ "\"hidden_size\": 6", "\"hidden_size\": \"6\"", "hidden_size is \"6\"; must be" },
		{ "\"hidden_size\": 6", "\"hidden_size\": -6", "hidden_size is -6; must be" },
		{ "\"hidden_size\": 6", "\"hidden_size\": 0", "hidden_size is 0; must be" },
		{ "\"hidden_size\": 6", "\"hidden_size\": 16385", "hidden_size is 16385; must be" },
		{ "\"hidden_size\": 6", "\"hidden_size\": 4294967302", "is 4294967302; must be" },
		{ "\"hidden_size\": 6", "\"hidden_size\": true", "hidden_size is true; must be" },
		{ "\"hidden_size\": 6", "\"hidden_size\": 99999999999999999999",
		  "config.json: no JSON: line 1" },
		{ "\"num_hidden_layers\": 1", "\"num_hidden_layers\": 129", "from 1 to 128" },
		{ "\"intermediate_size\": 3", "\"intermediate_size\": 57345", "from 1 to 57344" },
		{ "\"vocab_size\": 5", "\"vocab_size\": 1048577", "from 1 to 1048576" },
		{ "\"num_attention_heads\": 1", "\"num_attention_heads\": 257", "from 1 to 256" },
		{ "\"head_dim\": 2", "\"head_dim\": 258", "head_dim is 258; must be" },
		{ "\"max_position_embeddings\": 64", "\"max_position_embeddings\": 1048577",
		  "max_position_embeddings is 1048577; must be" },
		{ "\"rms_norm_eps\": 1e-05", "\"rms_norm_eps\": -1e-5",
		  "must be a number from 0 to 1" },
		{ "\"rms_norm_eps\": 1e-05", "\"rms_norm_eps\": 1e999", "no JSON: line 1" },
		{ "\"rms_norm_eps\": 1e-05", "\"rms_norm_eps\": NaN", "no JSON: line 1" },
		{ "\"rope_theta\": 10000.0", "\"rope_theta\": 0", "rope_theta is 0; must be" },
	};

	EXPECT_ALL(cases);
}

Test(small_decode_config, heads_that_do_not_divide_are_refused)
{
	static const struct wrong cases[] = {
		{ "\"num_attention_heads\": 1, \"num_key_value_heads\": 1",
		  "\"num_attention_heads\": 3, \"num_key_value_heads\": 2",
		  "num_attention_heads is 3; must be a multiple of num_key_value_heads, 2" },
		{ "\"head_dim\": 2", "\"head_dim\": 3", "heads of 3; head_dim must be even" },
		{ "\"num_attention_heads\": 1, \"num_key_value_heads\": 1, \"head_dim\": 2",
		  "\"num_attention_heads\": 4",
		  "hidden_size is 6; without head_dim it must be a multiple of" },
		{ "\"hidden_size\": 6, \"intermediate_size\": 3, \"num_hidden_layers\": 1, "
		  "\"num_attention_heads\": 1, \"num_key_value_heads\": 1, \"head_dim\": 2",
		  "\"hidden_size\": 512, \"intermediate_size\": 3, \"num_hidden_layers\": 1, "
		  "\"num_attention_heads\": 1",
		  "heads of 512; head_dim must be even, at most 256" },
	};

	EXPECT_ALL(cases);
}

/* ---- no file, or none of JSON ---------------------------------------------------------- */

static void expect_text_refused(const char *text, const char *says)
{
	struct decode_model m;
	int err;

	put_text(folder, "config.json", text);
	divert_stderr();
	err = decode_checkpoint_model(folder, &m);
	expect_line(err, says);
}

Test(small_decode_config, what_is_no_object_is_refused)
{
	char *deep = malloc(20001);

	cr_assert(deep, "memory");
	memset(deep, '[', 20000);
	deep[20000] = '\0';
	expect_text_refused("", "config.json: no JSON: line 1");
	expect_text_refused("[]", "config.json: no JSON object; must begin with {");
	expect_text_refused("{\"a\": 1} {", "config.json: no JSON: line 1");
	expect_text_refused("{\"a\": 1, \"a\": 1}", "duplicate");
	expect_text_refused("{\n\"\x1b\": \"\xff\"}", "config.json: no JSON: line 2");
	expect_text_refused(deep, "maximum parsing depth");
	free(deep);
}

/* A file of a size that no model has is not read, however much it may be. */
Test(small_decode_config, what_is_no_small_file_is_refused)
{
	struct decode_model m;
	char path[512];
	int err;

	snprintf(path, sizeof(path), "%s/config.json", folder);
	divert_stderr();
	err = decode_checkpoint_model(folder, &m);
	expect_line(err, "config.json: No such file or directory");
	put_text(folder, "config.json", "{}");
	cr_assert(!truncate(path, (off_t)1 << 40), "%s", path);
	divert_stderr();
	err = decode_checkpoint_model(folder, &m);
	expect_line(err, "config.json: 1099511627776 bytes of JSON; 1048576 of 1048576 are left");
	unlink(path);
	cr_assert(!mkdir(path, 0700), "%s", path);
	divert_stderr();
	err = decode_checkpoint_model(folder, &m);
	expect_line(err, "config.json: Is a directory");
	cr_assert(!rmdir(path) && !mkfifo(path, 0600), "%s", path);
	divert_stderr();
	err = decode_checkpoint_model(folder, &m);
	expect_line(err, "config.json: is not a regular file");
}
