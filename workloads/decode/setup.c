/* setup.c - memory, weights and first positions of the decode workload. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/cuda_check.h"
#include "common/device.h"
#include "common/interrupt.h"
#include "workloads/decode/decode.h"

enum {
	PIECE = 16 << 20,      /* bytes of weights that are uploaded at a time */
	BLOCKS_EACH = 2,       /* of a product, on each multiprocessor */
	SPLIT_POSITIONS = 512, /* that a split of attention has at least */
};

int decode_allocate(struct decode_state *s, void *out, size_t bytes)
{
	int err;

	CHECK(s->n_owned < DECODE_OWNED_MAX, "%d arrays", s->n_owned);
	err = device_new(out, bytes, "use a smaller model, batch or positions, or fewer layers");
	if (err)
		return err;
	memcpy(&s->owned[s->n_owned++], out, sizeof(*s->owned));
	CUDA(cudaMemset(*(void **)out, 0, bytes ? bytes : 1));
	return 0;
}

/* ---- the device's view ------------------------------------------------------------------------
 */

static uint32_t lanes_of(uint32_t stride)
{
	uint32_t lanes = 1;

	while (lanes * DECODE_GROUP < stride)
		lanes *= 2;
	return lanes;
}

/* So many that blocks of attention fill the device, where the sequence is long enough. */
static uint32_t choose_splits(const struct decode_shape *shape, uint32_t processors)
{
	uint32_t blocks = shape->model.heads * shape->batch;
	uint32_t room = (2 * processors + blocks - 1) / blocks;
	uint32_t most = shape->positions / SPLIT_POSITIONS;

	room = room < most ? room : most;
	return room < 1 ? 1 : room < DECODE_SPLITS_MAX ? room : DECODE_SPLITS_MAX;
}

/* Tensor cores multiply bfloat16 from compute capability 8.0 on; the CPU device does as they do. */
static uint32_t choose_tensor(const struct decode_opts *o, const struct decode_state *s)
{
	int major = device_attribute(cudaDevAttrComputeCapabilityMajor);
	uint32_t batch = s->shape.batch;

	if (o->launches != DECODE_FEW || !s->half || batch < DECODE_TENSOR_LEAST ||
	    (major && major < 8))
		return 0;
	return batch <= 16 ? 16 : batch <= 32 ? 32 : 64;
}

static uint32_t blocks_of(uint32_t rows)
{
	const uint32_t each = 2 * DECODE_TENSOR_UNITS;

	return (rows + each - 1) / each;
}

static void describe_tensor(struct decode_state *s, uint32_t tensor)
{
	const struct decode_model *m = &s->shape.model;
	struct decode_device *d = &s->device;
	uint32_t chunks = (s->shape.batch + tensor - 1) / tensor;

	d->tensor = tensor;
	d->tiles = chunks * tensor / DECODE_TILE;
	d->square_parts = blocks_of(m->dim);
	d->blocks = blocks_of(m->vocab);
	d->has_clusters = device_attribute(cudaDevAttrComputeCapabilityMajor) >= 9;
}

static void describe(const struct decode_opts *o, struct decode_state *s)
{
	const struct decode_model *m = &s->shape.model;
	uint32_t tensor = choose_tensor(o, s);
	uint32_t processors = (uint32_t)device_attribute(cudaDevAttrMultiProcessorCount);

	s->device = (struct decode_device){
		.dim = m->dim,
		.heads = m->heads,
		.kv_heads = m->kv_heads,
		.head_dim = m->head_dim,
		.hidden = m->hidden,
		.vocab = m->vocab,
		.dim_stride = decode_padded(m->dim),
		.head_stride = decode_padded(m->head_dim),
		.att_stride = decode_padded(m->heads * m->head_dim),
		.hidden_stride = decode_padded(m->hidden),
		.batch = s->shape.batch,
		.positions = s->shape.positions,
		.start = s->shape.start,
		.lap = s->shape.lap,
		.history = s->shape.history,
		.blocks = BLOCKS_EACH * processors,
		.processors = processors,
		.splits = choose_splits(&s->shape, processors),
		.head_lanes = lanes_of(decode_padded(m->head_dim)),
		/* without what is static */
		.shared_most =
			(uint32_t)device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) - 1024,
		.eps = (float)m->eps,
		.scale = (float)(1 / sqrt(m->head_dim)),
	};
	if (tensor)
		describe_tensor(s, tensor);
}

/* ---- memory -----------------------------------------------------------------------------------
 */

/* Numbers of four bytes in one allocation, handed out in pieces that begin at whole groups. */
struct words {
	uint32_t *at;
	size_t used;
};

static void *take(struct words *f, size_t n)
{
	uint32_t *out = f->at ? f->at + f->used : NULL;

	f->used += (n + DECODE_GROUP - 1) / DECODE_GROUP * DECODE_GROUP;
	return out;
}

/* What products read: float, or bfloat16 in tiles. */
static void *take_read(const struct decode_device *d, struct words *f, uint32_t stride)
{
	return take(f, d->tensor ? decode_tile_numbers(d, stride) / 2 : (size_t)d->batch * stride);
}

static void share_out_tensor(struct decode_device *d, struct words *f)
{
	if (!d->tensor)
		return;
	d->norm_x = take_read(d, f, d->dim_stride);
	d->squares = take(f, (size_t)d->square_parts * d->tiles * DECODE_TILE);
}

/* With f->at NULL only counts. */
static void share_out(struct decode_device *d, struct words *f)
{
	size_t batch = d->batch, best = batch * d->blocks, half = d->head_dim / 2;

	d->x = take(f, batch * d->dim_stride);
	d->q = take(f, batch * d->heads * d->head_stride);
	d->att = take_read(d, f, d->att_stride);
	d->act = take_read(d, f, d->hidden_stride);
	share_out_tensor(d, f);
	d->logits = take(f, batch * d->vocab);
	d->best_logit = take(f, best);
	d->best_token = take(f, best);
	d->part = take(f, batch * d->heads * d->splits * (d->head_stride + 2));
	d->tickets = take(f, batch * d->heads);
	d->history_token = take(f, (size_t)d->history * batch);
	d->history_logit = take(f, (size_t)d->history * batch);
	d->token = take(f, batch);
	d->progress = take(f, sizeof(*d->progress) / sizeof(uint32_t));
	d->rotation = take(f, (size_t)d->positions * half * 2);
}

static int allocate_activations(struct decode_state *s)
{
	struct words f = { NULL, 0 };
	int err;

	share_out(&s->device, &f);
	err = decode_allocate(s, &f.at, f.used * sizeof(*f.at));
	f.used = 0;
	if (!err)
		share_out(&s->device, &f);
	return err;
}

static int allocate_cache(struct decode_state *s)
{
	const struct decode_device *d = &s->device;
	size_t rows = (size_t)s->shape.model.layers * d->batch * d->kv_heads * d->positions;
	size_t bytes = rows * d->head_stride * (size_t)decode_bytes(s);
	int err = decode_allocate(s, &s->key, bytes);

	return err ? err : decode_allocate(s, &s->value, bytes);
}

static int allocate_host(const struct decode_opts *o, struct decode_state *s)
{
	size_t bytes = DECODE_HOST_SLOTS * (size_t)s->shape.batch * sizeof(*s->host);

	if (o->output == DECODE_STAYS)
		return 0;
	if (!CUDA_RESULT(cudaMallocHost((void **)&s->host, bytes)))
		return 0;
	cudaGetLastError();
	return complain(ENOMEM, "cannot allocate %zu bytes of page-locked memory on the host",
			bytes);
}

static int allocate_all(const struct decode_opts *o, struct decode_state *s)
{
	size_t firsts = (size_t)s->shape.batch * (s->shape.prompts ? s->shape.prompts : 1);
	int err = decode_allocate(s, &s->arena,
				  decode_arena(&s->shape.model) * (size_t)decode_bytes(s));

	err = err ? err : allocate_cache(s);
	err = err ? err : allocate_activations(s);
	err = err ? err : decode_allocate(s, &s->first, firsts * sizeof(*s->first));
	return err ? err : allocate_host(o, s);
}

/* ---- weights ----------------------------------------------------------------------------------
 */

static const void *place_of(const struct decode_state *s, enum decode_part part, uint32_t layer)
{
	size_t at = decode_find(&s->shape.model, part, layer).at;

	return (const char *)s->arena + at * (size_t)decode_bytes(s);
}

static void find_layers(struct decode_state *s)
{
	const struct decode_device *d = &s->device;
	size_t cached = (size_t)d->batch * d->kv_heads * d->positions * d->head_stride *
			(size_t)decode_bytes(s);

	for (uint32_t i = 0; i < s->shape.model.layers; i++)
		s->layer[i] = (struct decode_layer){
			.norm_att = place_of(s, DECODE_NORM_ATT, i),
			.qkv = place_of(s, DECODE_Q, i),
			.o = place_of(s, DECODE_O, i),
			.norm_ffn = place_of(s, DECODE_NORM_FFN, i),
			.gate = place_of(s, DECODE_GATE, i),
			.up = place_of(s, DECODE_UP, i),
			.down = place_of(s, DECODE_DOWN, i),
			.norm_next = i + 1 < s->shape.model.layers
					     ? place_of(s, DECODE_NORM_ATT, i + 1)
					     : place_of(s, DECODE_NORM_OUT, 0),
			.key = (char *)s->key + i * cached,
			.value = (char *)s->value + i * cached,
		};
	s->device.embedding = place_of(s, DECODE_EMBEDDING, 0);
	s->device.norm_out = place_of(s, DECODE_NORM_OUT, 0);
	s->device.norm_first = place_of(s, DECODE_NORM_ATT, 0);
	s->device.head = place_of(s, DECODE_HEAD, 0);
}

/*
 * So that activations keep their size from layer to layer. Scores of generated queries and keys are
 * normal with deviation 1: attention over n positions then leaves values of deviation sqrt(e / n),
 * which would be lost beside the rest where n is large.
 */
static float deviation_of(const struct decode_shape *shape, const struct decode_tensor *t)
{
	double deviation = 1 / sqrt(t->cols), positions = shape->start + 1.0;

	if (t->part == DECODE_O || t->part == DECODE_DOWN)
		deviation /= sqrt(2.0 * shape->model.layers);
	if (t->part == DECODE_O)
		deviation *= sqrt(fmax(1, positions / exp(1)));
	return (float)deviation;
}

static void generate_rows(const struct decode_state *s, const struct decode_tensor *t, uint32_t row,
			  uint32_t rows, void *out)
{
	const float deviation = deviation_of(&s->shape, t);

	memset(out, 0, (size_t)rows * t->stride * (size_t)decode_bytes(s));
	for (uint32_t r = 0; r < rows; r++)
		for (uint32_t col = 0; col < t->cols; col++) {
			uint64_t i = (uint64_t)(row + r) * t->cols + col;
			float v = decode_weight(i, t->part, t->layer, deviation, s->seed);

			if (s->half)
				((struct decode_bf16 *)out)[(size_t)r * t->stride + col] =
					decode_round(v);
			else
				((float *)out)[(size_t)r * t->stride + col] = v;
		}
}

int decode_source_rows(const struct decode_state *s, const struct decode_tensor *t, uint32_t row,
		       uint32_t rows, void *out)
{
	if (s->checkpoint)
		return decode_checkpoint_rows(s->checkpoint, t, row, rows, decode_bytes(s), out);
	generate_rows(s, t, row, rows, out);
	return 0;
}

static int upload_tensor(struct decode_state *s, const struct decode_tensor *t, void *piece)
{
	size_t row_bytes = (size_t)t->stride * (size_t)decode_bytes(s);
	uint32_t each = (uint32_t)(PIECE / row_bytes), rows;
	char *to = (char *)s->arena + t->at * (size_t)decode_bytes(s);

	for (uint32_t row = 0; row < t->rows; row += rows) {
		int err;

		rows = t->rows - row < each ? t->rows - row : each;
		err = decode_checkpoint_rows(s->checkpoint, t, row, rows, decode_bytes(s), piece);
		if (err || interrupted())
			return err ? err : -EINTR;
		CUDA(cudaMemcpy(to + row * row_bytes, piece, rows * row_bytes,
				cudaMemcpyHostToDevice));
	}
	return 0;
}

static int upload_weights(const struct decode_opts *o, struct decode_state *s)
{
	const struct decode_model *m = &s->shape.model;
	int err = decode_checkpoint_open(o->checkpoint, m, &s->checkpoint);
	void *piece = malloc(PIECE);

	CHECK(piece, "%d bytes", PIECE);
	for (uint32_t i = 0; i < decode_tensors(m) && !err; i++) {
		struct decode_tensor t = decode_tensor_at(m, i);

		err = upload_tensor(s, &t, piece);
	}
	free(piece);
	return err;
}

static int fill_weights(const struct decode_opts *o, struct decode_state *s)
{
	const struct decode_model *m = &s->shape.model;

	if (o->checkpoint)
		return upload_weights(o, s);
	for (uint32_t i = 0; i < decode_tensors(m); i++) {
		struct decode_tensor t = decode_tensor_at(m, i);

		decode_fill_weights(&t, s->arena, deviation_of(&s->shape, &t), s->seed, s->half,
				    s->own);
		CUDA(cudaStreamSynchronize(s->own));
		if (interrupted())
			return -EINTR;
	}
	return 0;
}

bool decode_interrupted(struct decode_state *s, int64_t step)
{
	const int64_t together = 64;

	if (step % together != together - 1)
		return false;
	CUDA(cudaStreamSynchronize(s->own));
	return interrupted();
}

/* ---- what comes before the first step -----------------------------------------------------------
 */

static void fill_rotation(struct decode_state *s)
{
	const struct decode_model *m = &s->shape.model;
	uint32_t half = m->head_dim / 2;
	size_t n = (size_t)s->shape.positions * half * 2;
	float *turn = malloc(n * sizeof(*turn));

	CHECK(turn, "%zu numbers", n);
	for (size_t i = 0; i < n / 2; i++) {
		double angle = (double)(i / half) * decode_frequency(m, (uint32_t)(i % half));

		turn[2 * i] = (float)cos(angle);
		turn[2 * i + 1] = (float)sin(angle);
	}
	CUDA(cudaMemcpy((float *)s->device.rotation, turn, n * sizeof(*turn),
			cudaMemcpyHostToDevice));
	free(turn);
}

static void fill_first(const struct decode_opts *o, struct decode_state *s)
{
	uint32_t batch = s->shape.batch, rows = s->shape.prompts ? s->shape.prompts : 1;
	uint32_t *token = malloc((size_t)rows * batch * sizeof(*token));

	CHECK(token, "%u tokens", rows * batch);
	for (uint32_t i = 0; i < rows * batch; i++)
		token[i] = i / batch + 1 < rows ? s->shape.prompt[i / batch]
						: decode_first_token(o, &s->shape, i % batch);
	CUDA(cudaMemcpy(s->first, token, (size_t)rows * batch * sizeof(*token),
			cudaMemcpyHostToDevice));
	free(token);
}

/* The prompt's tokens but the last one go through steps, each from a start of its own. */
static int take_prompt(const struct decode_opts *o, struct decode_state *s)
{
	for (uint32_t p = 0; p + 1 < s->shape.prompts; p++) {
		decode_begin(&s->device, s->first + (size_t)p * s->shape.batch, p, s->half, s->own);
		decode_step(o, s, s->own);
		if (decode_interrupted(s, p))
			return -EINTR;
	}
	return 0;
}

static void fill_cache(struct decode_state *s)
{
	const uint32_t layers = s->shape.model.layers;

	if (s->shape.prompts || !s->shape.start)
		return;
	decode_fill_cache(&s->device, s->key, layers, DECODE_TAG_KEY, s->seed, s->half, s->own);
	decode_fill_cache(&s->device, s->value, layers, DECODE_TAG_VALUE, s->seed, s->half, s->own);
}

/* A product keeps at least one sequence's activations in shared memory. */
static int fit_device(const struct decode_opts *o, const struct decode_device *d)
{
	uint32_t row = d->dim_stride > d->hidden_stride ? d->dim_stride : d->hidden_stride;

	row = row > d->att_stride ? row : d->att_stride;
	if (o->launches == DECODE_MANY || row * sizeof(float) <= d->shared_most)
		return 0;
	return complain(
		ENOTSUP,
		"launches=few keeps a row of %u numbers in a block's shared memory, of which "
		"this device has %u bytes: take launches=many",
		row, d->shared_most);
}

static int prepare(const struct decode_opts *o, struct decode_state *s)
{
	int err = decode_shape_init(o, &s->shape);

	s->half = o->precision == DECODE_BF16;
	s->seed = (uint64_t)o->seed;
	if (!err)
		err = device_present();
	if (!err)
		err = programmatic_check((enum programmatic)o->launch);
	if (!err && o->tokens)
		err = output_create(&s->tokens, "tokens", o->tokens);
	if (err)
		return err;
	describe(o, s);
	err = fit_device(o, &s->device);
	if (err)
		return err;
	CUDA(cudaStreamCreateWithFlags(&s->own, cudaStreamNonBlocking));
	return allocate_all(o, s);
}

int decode_setup(const void *opts, void *state)
{
	const struct decode_opts *o = opts;
	struct decode_state *s = state;
	int err = prepare(o, s);

	if (err)
		return err;
	find_layers(s);
	decode_load(s->half);
	if (o->launches == DECODE_FEW)
		decode_load_products(&s->device, s->half);
	else
		err = decode_many_init(s);
	if (err)
		return err;
	fill_rotation(s);
	fill_first(o, s);
	CUDA(cudaDeviceSynchronize()); /* what was copied in other streams has arrived */
	err = fill_weights(o, s);
	if (err)
		return err;
	CUDA(cudaDeviceSynchronize());
	fill_cache(s);
	err = take_prompt(o, s);
	if (err)
		return err;
	decode_reset(o, s, s->own);
	decode_step(o, s, s->own); /* every kernel has run, the library's too */
	CUDA(cudaStreamSynchronize(s->own));
	return interrupted() ? -EINTR : 0;
}

void decode_teardown(void *state)
{
	struct decode_state *s = state;

	decode_many_release(s);
	if (s->own)
		CUDA(cudaStreamDestroy(s->own));
	if (s->host)
		CUDA(cudaFreeHost(s->host));
	while (s->n_owned)
		CUDA(cudaFree(s->owned[--s->n_owned]));
	output_discard(&s->tokens);
	decode_checkpoint_close(s->checkpoint);
	decode_shape_release(&s->shape);
	memset(s, 0, sizeof(*s));
}
