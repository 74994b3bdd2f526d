/*
 * config.c - config.json: the model's shape, or a line on what would need other formulas.
 *
 * Source of names and defaults: LlamaConfig of transformers 4.28 to 5. What is null there is as if
 * it were absent. Sizes have defaults too, those of Llama 7B, which are not taken: a file without
 * its sizes is none that any model was saved with.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/json_get.h"
#include "workloads/decode/checkpoint.h"
#include "workloads/decode/json_file.h"

static const double default_eps = 1e-6, default_theta = 1e4, theta_max = 1e12, factor_max = 1e6;

/* An object of the file, for lines; `in` is "" or "rope_scaling.". */
struct object {
	const char *path, *in;
	const json_t *o;
};

/* NULL where it is absent or null. */
static const json_t *member(const struct object *c, const char *key)
{
	const json_t *value = json_object_get(c->o, key);

	return json_is_null(value) ? NULL : value;
}

/* One line with what the file says. */
static int refuse(const struct object *c, const char *key, const char *must)
{
	const json_t *value = member(c, key);
	char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
	int err = complain(EINVAL, "%s: %s%s is %.60s; must be %s", c->path, c->in, key,
			   text ? text : "absent", must);

	free(text);
	return err;
}

/* ---- values ---------------------------------------------------------------------------- */

/* *out stays as it is where the member is absent. */
static int read_whole(const struct object *c, const char *key, uint32_t most, uint32_t *out)
{
	const json_t *value = member(c, key);
	json_int_t v = json_integer_value(value);
	char must[64];

	if (!value)
		return 0;
	if (!json_is_integer(value) || v < 1 || v > most) {
		snprintf(must, sizeof(must), "a whole number from 1 to %u", most);
		return refuse(c, key, must);
	}
	*out = (uint32_t)v;
	return 0;
}

static int read_real(const struct object *c, const char *key, double least, double most,
		     double *out)
{
	const json_t *value = member(c, key);
	double v = json_number_value(value);
	char must[64];

	if (!value)
		return 0;
	if (!json_is_number(value) || !(v >= least && v <= most)) {
		snprintf(must, sizeof(must), "a number from %g to %g", least, most);
		return refuse(c, key, must);
	}
	*out = v;
	return 0;
}

static int read_flag(const struct object *c, const char *key, bool *out)
{
	const json_t *value = member(c, key);

	if (value && !json_is_boolean(value))
		return refuse(c, key, "true or false");
	*out = json_is_true(value);
	return 0;
}

/* ---- which model ----------------------------------------------------------------------- */

static int check_architecture(const struct object *c)
{
	const json_t *list = member(c, "architectures");
	const char *name = json_string_value(json_array_get(list, 0));
	const char *type = json_get_text(c->o, "model_type");

	if (list && (json_array_size(list) != 1 || !name || strcmp(name, "LlamaForCausalLM") != 0))
		return refuse(c, "architectures", "[\"LlamaForCausalLM\"]");
	if ((!list || member(c, "model_type")) && strcmp(type, "llama") != 0)
		return refuse(c, "model_type", "\"llama\"");
	return 0;
}

static int refuse_unless_false(const struct object *c, const char *key)
{
	bool set = false;
	int err = read_flag(c, key, &set);

	return err || !set ? err : refuse(c, key, "false: rift's products have no bias");
}

static int refuse_unless_one(const struct object *c, const char *key)
{
	const json_t *value = member(c, key);

	if (value && json_number_value(value) != 1)
		return refuse(c, key, "1: rift rotates whole heads");
	return 0;
}

/* What changes the formulas; pretraining_tp does not, but for the order of sums. */
static int check_formulas(const struct object *c)
{
	const json_t *act = member(c, "hidden_act");
	int err = refuse_unless_false(c, "attention_bias");

	err = err ? err : refuse_unless_false(c, "mlp_bias");
	err = err ? err : refuse_unless_one(c, "partial_rotary_factor");
	if (err)
		return err;
	if (act && strcmp(json_get_text(c->o, "hidden_act"), "silu") != 0)
		return refuse(c, "hidden_act", "\"silu\"");
	if (member(c, "quantization_config"))
		return refuse(c, "quantization_config", "absent: rift reads F32, F16 and BF16");
	return 0;
}

/* ---- sizes ----------------------------------------------------------------------------- */

static int read_sizes(const struct object *c, struct decode_model *m)
{
	const struct {
		const char *key;
		uint32_t most, *out;
		bool needed;
	} sizes[] = {
		{ "hidden_size", DECODE_DIM_MAX, &m->dim, true },
		{ "intermediate_size", DECODE_HIDDEN_MAX, &m->hidden, true },
		{ "num_hidden_layers", DECODE_LAYERS_MAX, &m->layers, true },
		{ "num_attention_heads", DECODE_HEADS_MAX, &m->heads, true },
		{ "vocab_size", DECODE_VOCAB_MAX, &m->vocab, true },
		{ "num_key_value_heads", DECODE_HEADS_MAX, &m->kv_heads, false },
		{ "head_dim", DECODE_HEAD_DIM_MAX, &m->head_dim, false },
		{ "max_position_embeddings", DECODE_POSITIONS_MAX, &m->positions, false },
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		int err = read_whole(c, sizes[i].key, sizes[i].most, sizes[i].out);

		if (err)
			return err;
		if (sizes[i].needed && !*sizes[i].out)
			return refuse(c, sizes[i].key, "there: the default is Llama 7B's");
	}
	return 0;
}

static int check_heads(const struct object *c, struct decode_model *m)
{
	if (!m->kv_heads)
		m->kv_heads = m->heads;
	if (m->heads % m->kv_heads)
		return complain(EINVAL,
				"%s: num_attention_heads is %u; must be a multiple of "
				"num_key_value_heads, %u",
				c->path, m->heads, m->kv_heads);
	if (!m->head_dim && m->dim % m->heads)
		return complain(EINVAL,
				"%s: hidden_size is %u; without head_dim it must be a multiple of "
				"num_attention_heads, %u",
				c->path, m->dim, m->heads);
	if (!m->head_dim)
		m->head_dim = m->dim / m->heads;
	if (m->head_dim % 2 || m->head_dim > DECODE_HEAD_DIM_MAX)
		return complain(EINVAL, "%s: heads of %u; head_dim must be even, at most %d",
				c->path, m->head_dim, DECODE_HEAD_DIM_MAX);
	return 0;
}

/* ---- rotation -------------------------------------------------------------------------- */

static int read_llama3(const struct object *r, struct decode_model *m)
{
	static const char *const needed[] = { "factor", "low_freq_factor", "high_freq_factor",
					      "original_max_position_embeddings" };
	int err = 0;

	for (int i = 0; i < 4; i++)
		if (!member(r, needed[i]))
			return refuse(r, needed[i], "a number with rope_type \"llama3\"");
	err = read_real(r, needed[0], 1, factor_max, &m->rope_factor);
	err = err ? err : read_real(r, needed[1], 0, factor_max, &m->rope_low);
	err = err ? err : read_real(r, needed[2], 0, factor_max, &m->rope_high);
	err = err ? err : read_whole(r, needed[3], DECODE_POSITIONS_MAX, &m->rope_positions);
	if (!err && m->rope_low >= m->rope_high)
		return refuse(r, needed[2], "above low_freq_factor");
	return err;
}

/* One set of values for all layers: other models have an object of them for each kind of layer. */
static int check_flat(const struct object *r)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)r->o, key, value)
	{
		if (json_is_object(value))
			return refuse(r, key, "a value: rift rotates all layers alike");
	}
	return refuse_unless_one(r, "partial_rotary_factor");
}

static int read_scaling(const struct object *r, struct decode_model *m)
{
	const char *key = member(r, "rope_type") ? "rope_type" : "type";
	const char *type = json_get_text(r->o, key);
	int err;

	if (!json_is_object(r->o))
		return complain(EINVAL, "%s: %.*s must be an object or null", r->path,
				(int)strlen(r->in) - 1, r->in);
	if (member(r, "rope_type") && member(r, "type") &&
	    !json_equal(member(r, "rope_type"), member(r, "type")))
		return refuse(r, "type", "the same as rope_type");
	if (!member(r, key) && member(r, "factor"))
		return refuse(r, "rope_type", "there, as factor is");
	err = check_flat(r);
	err = err ? err : read_real(r, "rope_theta", 1, theta_max, &m->theta);
	if (err || !member(r, key) || !strcmp(type, "default"))
		return err;
	return !strcmp(type, "llama3") ? read_llama3(r, m)
				       : refuse(r, key, "\"default\" or \"llama3\"");
}

/* Newer files have rope_parameters, older ones rope_scaling, a few both, alike. */
static int read_rotation(const struct object *c, struct decode_model *m)
{
	const json_t *older = member(c, "rope_scaling"), *newer = member(c, "rope_parameters");
	const struct object r = { c->path, older ? "rope_scaling." : "rope_parameters.",
				  older ? older : newer };
	int err = read_real(c, "rope_theta", 1, theta_max, &m->theta);

	if (err || !r.o)
		return err;
	if (older && newer && !json_equal(older, newer))
		return complain(EINVAL,
				"%s: rope_scaling and rope_parameters differ; must be one of them",
				c->path);
	return read_scaling(&r, m);
}

/* ---- all ------------------------------------------------------------------------------- */

static int read_model(const struct object *c, struct decode_model *m)
{
	int err = check_architecture(c);

	err = err ? err : check_formulas(c);
	err = err ? err : read_sizes(c, m);
	err = err ? err : check_heads(c, m);
	err = err ? err : read_flag(c, "tie_word_embeddings", &m->tied);
	err = err ? err : read_real(c, "rms_norm_eps", 0, 1, &m->eps);
	return err ? err : read_rotation(c, m);
}

int decode_checkpoint_model(const char *folder, struct decode_model *out)
{
	struct decode_model m = { .theta = default_theta, .eps = default_eps };
	uint64_t budget = JSON_FILE_MAX;
	char *path;
	json_t *o;
	int err;

	CHECK(asprintf(&path, "%s/config.json", folder) >= 0, "memory for a path");
	err = decode_json_file_read(path, &budget, &o);
	if (!err) {
		err = read_model(&(struct object){ path, "", o }, &m);
		json_decref(o);
	}
	free(path);
	if (!err)
		*out = m;
	return err;
}
