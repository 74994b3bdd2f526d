/*
 * reference.c - the step in double, column by column as the formulas have it (decode.c), with one
 * product of matrices for all columns.
 *
 * Sums have one order, which depends on neither the number of columns nor of threads: a column's
 * values have the same bits in whatever company it is computed.
 */
#include "workloads/decode/device.h"
#include "workloads/decode/reference.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "common/interrupt.h"

enum {
	ROWS = 4, /* of a block of the product: its ROWS x COLUMNS sums stay in registers */
	COLUMNS = 4,
	BAND = 16,	 /* rows that a thread takes at a time */
	DEPTH = 512,	 /* elements of each: 64 KB of BAND rows, 16 KB of COLUMNS columns */
	PIECE = 8 << 20, /* bytes of a matrix that are fetched at a time */
};

static double *new_numbers(size_t n, const char *what)
{
	double *p = calloc(n ? n : 1, sizeof(*p));

	CHECK(p, "%zu numbers for %s", n, what);
	return p;
}

static size_t kv_width(const struct decode_model *m)
{
	return (size_t)m->kv_heads * m->head_dim;
}

/* Groups of COLUMNS columns, the last one filled up. */
static size_t panels(uint32_t columns)
{
	return (columns + COLUMNS - 1) / COLUMNS;
}

struct reference_cache decode_reference_cache_new(const struct decode_model *m, uint32_t positions)
{
	size_t n = (size_t)m->layers * positions * kv_width(m);

	return (struct reference_cache){ .positions = positions,
					 .key = new_numbers(n, "keys"),
					 .value = new_numbers(n, "values") };
}

void decode_reference_cache_free(struct reference_cache *c)
{
	free(c->key);
	free(c->value);
	memset(c, 0, sizeof(*c));
}

/* ---- threads ------------------------------------------------------------------------------- */

/* Does item i of the work `of`. own: numbers that no other thread uses. */
typedef void share_item(const void *of, uint32_t i, double *own);

/* Threads take items one by one, so that others do the share of one that is held up. */
struct shared {
	share_item *item;
	const void *of;
	uint32_t n;
	atomic_uint next;
};

struct sharer {
	pthread_t thread;
	struct shared *shared;
	double *own;
	bool runs; /* in a thread of its own */
};

static void *sharer_run(void *arg)
{
	struct sharer *s = arg;
	struct shared *all = s->shared;
	uint32_t i;

	while (!interrupted() && (i = atomic_fetch_add(&all->next, 1)) < all->n)
		all->item(all->of, i, s->own);
	return NULL;
}

/*
 * Runs items 0 to n - 1 in up to `threads` threads, each with `own` numbers, zeros at first.
 * Returns 0 or -EINTR.
 */
static int share(int threads, uint32_t n, size_t own, share_item *item, const void *of)
{
	uint32_t count = threads < 1 ? 1 : (uint32_t)threads < n ? (uint32_t)threads : n;
	struct sharer *sharer = calloc(count ? count : 1, sizeof(*sharer));
	struct shared shared = { .item = item, .of = of, .n = n };
	double *numbers = new_numbers(count * own, "threads");

	CHECK(sharer, "%u threads", count);
	for (uint32_t i = count; i-- > 0;) {
		struct sharer *s = &sharer[i];

		s->shared = &shared;
		s->own = numbers + i * own;
		s->runs = i && !pthread_create(&s->thread, NULL, sharer_run, s);
	}
	for (uint32_t i = 0; i < count; i++) {
		if (sharer[i].runs)
			pthread_join(sharer[i].thread, NULL);
		else
			sharer_run(&sharer[i]);
	}
	free(numbers);
	free(sharer);
	return interrupted() ? -EINTR : 0;
}

/* ---- one pass of all columns ----------------------------------------------------------------- */

struct pass {
	const struct reference *r;
	const struct decode_model *m;
	const struct reference_column *column;
	uint32_t n, layer;
	double *x, *norm, *q, *k, *v, *mixed, *gate, *up; /* [n][width of each] */
	double *packed;					  /* the input of a product */
	double *turn;					  /* [n][head_dim / 2] cosine, sine */
	void *piece;					  /* of a matrix, as it is stored */
};

static size_t piece_rows(const struct decode_tensor *t, int bytes)
{
	size_t rows = PIECE / ((size_t)t->stride * (size_t)bytes) / BAND * BAND;

	rows = rows < BAND ? BAND : rows;
	return rows < t->rows ? rows : t->rows;
}

static void pass_init(struct pass *p, const struct reference *r,
		      const struct reference_column *column, uint32_t n)
{
	const struct decode_model *m = r->m;
	size_t heads = (size_t)m->heads * m->head_dim, widest = heads, bytes = 0;

	*p = (struct pass){ .r = r, .m = m, .column = column, .n = n };
	widest = m->dim > widest ? m->dim : widest;
	widest = m->hidden > widest ? m->hidden : widest;
	for (int part = 0; part < DECODE_PARTS; part++) {
		struct decode_tensor t = decode_find(m, (enum decode_part)part, 0);
		size_t piece = piece_rows(&t, r->bytes) * t.stride * (size_t)r->bytes;

		bytes = piece > bytes ? piece : bytes;
	}
	p->piece = malloc(bytes);
	CHECK(p->piece, "%zu bytes of a matrix", bytes);
	p->x = new_numbers(n * (size_t)m->dim, "activations");
	p->norm = new_numbers(n * (size_t)m->dim, "activations");
	p->q = new_numbers(n * heads, "queries");
	p->k = new_numbers(n * kv_width(m), "keys");
	p->v = new_numbers(n * kv_width(m), "values");
	p->mixed = new_numbers(n * heads, "attention");
	p->gate = new_numbers(n * (size_t)m->hidden, "gates");
	p->up = new_numbers(n * (size_t)m->hidden, "activations");
	p->packed = new_numbers(panels(n) * COLUMNS * widest, "activations");
	p->turn = new_numbers(n * (size_t)m->head_dim, "angles");
}

static void pass_release(struct pass *p)
{
	free(p->x);
	free(p->norm);
	free(p->q);
	free(p->k);
	free(p->v);
	free(p->mixed);
	free(p->gate);
	free(p->up);
	free(p->packed);
	free(p->turn);
	free(p->piece);
}

/* ---- products -------------------------------------------------------------------------------- */

static double from_bfloat16(uint16_t half)
{
	uint32_t bits = (uint32_t)half << 16;
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

static double weight(const void *row, size_t i, int bytes)
{
	return bytes == 2 ? from_bfloat16(((const uint16_t *)row)[i]) : ((const float *)row)[i];
}

/* The matrix's rows in hand, and where the sums go: out[column][rows of the whole matrix]. */
struct product {
	const void *piece;
	const double *packed; /* [panels][cols][COLUMNS] */
	double *out;
	uint32_t first, rows; /* of the piece */
	uint32_t all, cols, stride, columns;
	int bytes;
};

/*
 * `n` elements from `from` on of ROWS rows from `row` on, the elements of a column side by side, as
 * add_block() wants them. The piece's last row is repeated where rows are missing; store_sums()
 * drops those sums.
 */
static void widen_rows(const struct product *p, uint32_t row, uint32_t from, uint32_t n,
		       double *out)
{
	const void *start[ROWS];

	for (uint32_t k = 0; k < ROWS; k++) {
		size_t at = row + k < p->rows ? row + k : p->rows - 1;

		start[k] = (const char *)p->piece + (at * p->stride + from) * (size_t)p->bytes;
	}
	if (p->bytes == 2)
		for (uint32_t j = 0; j < n; j++, out += ROWS)
			for (int k = 0; k < ROWS; k++)
				out[k] = from_bfloat16(((const uint16_t *)start[k])[j]);
	else
		for (uint32_t j = 0; j < n; j++, out += ROWS)
			for (int k = 0; k < ROWS; k++)
				out[k] = ((const float *)start[k])[j];
}

/* Two numbers in one register: GCC and clang know it on every machine. */
typedef double pair __attribute__((vector_size(16)));

/*
 * sum[row][column] += w[j][row] x[j][column] over n elements. The sums have a name each
 * because gcc -O2 keeps an array of them in memory, which takes twice as long.
 */
static void add_block(const double *w, const double *x, uint32_t n, pair sum[ROWS][COLUMNS / 2])
{
	pair a0 = sum[0][0], a1 = sum[1][0], a2 = sum[2][0], a3 = sum[3][0];
	pair b0 = sum[0][1], b1 = sum[1][1], b2 = sum[2][1], b3 = sum[3][1];

	for (uint32_t j = 0; j < n; j++, w += ROWS, x += COLUMNS) {
		pair a = { x[0], x[1] }, b = { x[2], x[3] };
		pair w0 = { w[0], w[0] }, w1 = { w[1], w[1] };
		pair w2 = { w[2], w[2] }, w3 = { w[3], w[3] };

		a0 += w0 * a, b0 += w0 * b;
		a1 += w1 * a, b1 += w1 * b;
		a2 += w2 * a, b2 += w2 * b;
		a3 += w3 * a, b3 += w3 * b;
	}
	sum[0][0] = a0, sum[1][0] = a1, sum[2][0] = a2, sum[3][0] = a3;
	sum[0][1] = b0, sum[1][1] = b1, sum[2][1] = b2, sum[3][1] = b3;
}

/* Numbers that a thread needs for product_item(): DEPTH elements of BAND rows, and their sums. */
static size_t product_own(uint32_t columns)
{
	return BAND * (DEPTH + panels(columns) * COLUMNS);
}

static void store_sums(const struct product *p, uint32_t row, const pair *sum)
{
	uint32_t rows = p->rows - row < BAND ? p->rows - row : BAND;

	for (size_t panel = 0; panel < panels(p->columns); panel++) {
		for (uint32_t r = 0; r < BAND; r++, sum += COLUMNS / 2) {
			for (uint32_t k = 0; r < rows && k < COLUMNS; k++) {
				size_t c = panel * COLUMNS + k;

				if (c < p->columns)
					p->out[c * p->all + p->first + row + r] = sum[k / 2][k % 2];
			}
		}
	}
}

/* BAND rows of the piece with all columns, DEPTH elements at a time, which the caches keep. */
static void product_item(const void *of, uint32_t i, double *own)
{
	const struct product *p = of;
	uint32_t row = i * BAND, blocks = BAND / ROWS;
	size_t count = panels(p->columns);
	pair(*sum)[ROWS][COLUMNS / 2] = (void *)(own + (size_t)BAND * DEPTH);

	memset(sum, 0, sizeof(*sum) * count * blocks);
	for (uint32_t j = 0; j < p->cols && !interrupted(); j += DEPTH) {
		uint32_t n = p->cols - j < DEPTH ? p->cols - j : DEPTH;

		for (uint32_t b = 0; b < blocks; b++)
			widen_rows(p, row + b * ROWS, j, n, own + (size_t)b * ROWS * DEPTH);
		for (size_t c = 0; c < count; c++)
			for (uint32_t b = 0; b < blocks; b++)
				add_block(own + (size_t)b * ROWS * DEPTH,
					  p->packed + (c * p->cols + j) * COLUMNS, n,
					  sum[c * blocks + b]);
	}
	store_sums(p, row, sum[0][0]);
}

/* in[n][cols] as panels of COLUMNS columns; those that fill the last one up are zeros. */
static void pack(const double *in, uint32_t n, uint32_t cols, double *out)
{
	for (uint32_t c = 0; c < n; c += COLUMNS, out += (size_t)cols * COLUMNS)
		for (uint32_t k = 0; k < COLUMNS; k++)
			for (uint32_t j = 0; j < cols; j++)
				out[(size_t)j * COLUMNS + k] =
					c + k < n ? in[(size_t)(c + k) * cols + j] : 0;
}

/* out[n][rows] = the matrix times in[n][cols] */
static int multiply(struct pass *p, enum decode_part part, const double *in, uint32_t n,
		    double *out)
{
	struct decode_tensor t = decode_find(p->m, part, p->layer);
	uint32_t step = (uint32_t)piece_rows(&t, p->r->bytes);
	struct product of = { .piece = p->piece,
			      .packed = p->packed,
			      .out = out,
			      .all = t.rows,
			      .cols = t.cols,
			      .stride = t.stride,
			      .columns = n,
			      .bytes = p->r->bytes };
	int err = 0;

	pack(in, n, t.cols, p->packed);
	for (of.first = 0; !err && of.first < t.rows; of.first += step) {
		of.rows = t.rows - of.first < step ? t.rows - of.first : step;
		err = p->r->rows(p->r->from, &t, of.first, of.rows, p->piece);
		if (!err)
			err = share(p->r->threads, (of.rows + BAND - 1) / BAND, product_own(n),
				    product_item, &of);
	}
	return err;
}

/* ---- the rest of a layer --------------------------------------------------------------------- */

static int embed(struct pass *p)
{
	struct decode_tensor t = decode_find(p->m, DECODE_EMBEDDING, 0);
	int err = 0;

	for (uint32_t c = 0; !err && c < p->n; c++) {
		err = p->r->rows(p->r->from, &t, p->column[c].token, 1, p->piece);
		for (uint32_t j = 0; !err && j < t.cols; j++)
			p->x[(size_t)c * t.cols + j] = weight(p->piece, j, p->r->bytes);
	}
	return err;
}

/* norm = x / sqrt(mean(x^2) + eps) * weight */
static int normalise(struct pass *p, enum decode_part part)
{
	struct decode_tensor t = decode_find(p->m, part, p->layer);
	int err = p->r->rows(p->r->from, &t, 0, 1, p->piece);

	for (uint32_t c = 0; !err && c < p->n; c++) {
		const double *x = p->x + (size_t)c * t.cols;
		double squares = 0, scale;

		for (uint32_t j = 0; j < t.cols; j++)
			squares += x[j] * x[j];
		scale = 1 / sqrt(squares / t.cols + p->m->eps);
		for (uint32_t j = 0; j < t.cols; j++)
			p->norm[(size_t)c * t.cols + j] =
				x[j] * scale * weight(p->piece, j, p->r->bytes);
	}
	return err;
}

static void find_turns(struct pass *p)
{
	uint32_t half = p->m->head_dim / 2;

	for (uint32_t i = 0; i < half; i++) {
		double frequency = decode_frequency(p->m, i);

		for (uint32_t c = 0; c < p->n; c++) {
			double *turn = p->turn + ((size_t)c * half + i) * 2;

			turn[0] = cos(p->column[c].position * frequency);
			turn[1] = sin(p->column[c].position * frequency);
		}
	}
}

/* Pairs (i, i + head_dim / 2) of each head. */
static void rotate(const struct pass *p, uint32_t heads, double *x)
{
	uint32_t e = p->m->head_dim, half = e / 2;

	for (uint32_t c = 0; c < p->n; c++) {
		const double *turn = p->turn + (size_t)c * half * 2;

		for (uint32_t h = 0; h < heads; h++, x += e) {
			for (uint32_t i = 0; i < half; i++) {
				double a = x[i], b = x[i + half];

				x[i] = a * turn[2 * i] - b * turn[2 * i + 1];
				x[i + half] = b * turn[2 * i] + a * turn[2 * i + 1];
			}
		}
	}
}

/* Index in a cache of this layer's row at a position. */
static size_t cache_at(const struct pass *p, const struct reference_cache *c, uint32_t position)
{
	return ((size_t)p->layer * c->positions + position) * kv_width(p->m);
}

/* A row of the cache, as precise as that one is. */
static void keep_row(const struct reference *r, const double *row, size_t n, double *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = r->rounds_cache ? (double)decode_widen(decode_round((float)row[i]))
					 : row[i];
}

static void fill_caches(struct pass *p)
{
	size_t width = kv_width(p->m);

	for (uint32_t c = 0; c < p->n; c++) {
		const struct reference_column *col = &p->column[c];
		size_t at = cache_at(p, col->cache, col->position);

		keep_row(p->r, p->k + c * width, width, col->cache->key + at);
		keep_row(p->r, p->v + c * width, width, col->cache->value + at);
	}
}

/* Four sums, because each addition to a single one waits for the one before. */
static double dot(const double *a, const double *b, uint32_t n)
{
	double sum[4] = { 0 };
	uint32_t i = 0;

	for (; i + 4 <= n; i += 4)
		for (int k = 0; k < 4; k++)
			sum[k] += a[i + (uint32_t)k] * b[i + (uint32_t)k];
	for (; i < n; i++)
		sum[0] += a[i] * b[i];
	return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Replaces score[s] by exp(score[s] - the largest score); returns their sum. */
static double exponentials(double *score, uint32_t n)
{
	double most = score[0], sum = 0;

	for (uint32_t s = 1; s < n; s++)
		most = fmax(most, score[s]);
	for (uint32_t s = 0; s < n; s++)
		sum += score[s] = exp(score[s] - most);
	return sum;
}

/* One head of one column, over all positions up to the column's. score: a number per position. */
static void attend_item(const void *of, uint32_t i, double *score)
{
	const struct pass *p = of;
	const struct decode_model *m = p->m;
	const struct reference_column *col = &p->column[i / m->heads];
	uint32_t head = i % m->heads, e = m->head_dim, n = col->position + 1;
	size_t width = kv_width(m), at = cache_at(p, col->cache, 0);
	const double *q = p->q + (size_t)i * e, *key, *value;
	double *out = p->mixed + (size_t)i * e, sum;

	at += (size_t)(head / (m->heads / m->kv_heads)) * e;
	key = col->cache->key + at;
	value = col->cache->value + at;
	for (uint32_t s = 0; s < n; s++)
		score[s] = dot(q, key + s * width, e) / sqrt(e);
	sum = exponentials(score, n);
	memset(out, 0, e * sizeof(*out));
	for (uint32_t s = 0; s < n; s++)
		for (uint32_t k = 0; k < e; k++)
			out[k] += score[s] / sum * value[s * width + k];
}

/* gate = silu(gate) * up, of one column */
static void gate_item(const void *of, uint32_t i, double *own)
{
	const struct pass *p = of;
	double *gate = p->gate + (size_t)i * p->m->hidden;
	const double *up = p->up + (size_t)i * p->m->hidden;

	(void)own;
	for (uint32_t j = 0; j < p->m->hidden; j++)
		gate[j] = gate[j] / (1 + exp(-gate[j])) * up[j];
}

/* x += the matrix times in */
static int add_product(struct pass *p, enum decode_part part, const double *in)
{
	int err = multiply(p, part, in, p->n, p->norm);

	for (size_t i = 0; !err && i < (size_t)p->n * p->m->dim; i++)
		p->x[i] += p->norm[i];
	return err;
}

static int attention(struct pass *p)
{
	uint32_t last = 0;
	int err = normalise(p, DECODE_NORM_ATT);

	err = err ? err : multiply(p, DECODE_Q, p->norm, p->n, p->q);
	err = err ? err : multiply(p, DECODE_K, p->norm, p->n, p->k);
	err = err ? err : multiply(p, DECODE_V, p->norm, p->n, p->v);
	if (err)
		return err;
	rotate(p, p->m->heads, p->q);
	rotate(p, p->m->kv_heads, p->k);
	fill_caches(p);
	for (uint32_t c = 0; c < p->n; c++)
		last = p->column[c].position > last ? p->column[c].position : last;
	err = share(p->r->threads, p->n * p->m->heads, (size_t)last + 1, attend_item, p);
	return err ? err : add_product(p, DECODE_O, p->mixed);
}

static int feed_forward(struct pass *p)
{
	int err = normalise(p, DECODE_NORM_FFN);

	err = err ? err : multiply(p, DECODE_GATE, p->norm, p->n, p->gate);
	err = err ? err : multiply(p, DECODE_UP, p->norm, p->n, p->up);
	err = err ? err : share(p->r->threads, p->n, 0, gate_item, p);
	return err ? err : add_product(p, DECODE_DOWN, p->gate);
}

/* Packs the wanted columns of norm first: the largest matrix is multiplied with those alone. */
static int find_logits(struct pass *p, double *logits)
{
	size_t dim = p->m->dim;
	uint32_t wanted = 0;
	int err;

	p->layer = 0;
	err = normalise(p, DECODE_NORM_OUT);
	for (uint32_t c = 0; !err && c < p->n; c++)
		if (p->column[c].wanted)
			memmove(p->norm + wanted++ * dim, p->norm + c * dim, dim * sizeof(double));
	return err || !wanted ? err : multiply(p, DECODE_HEAD, p->norm, wanted, logits);
}

int decode_reference_step(const struct reference *r, const struct reference_column *column,
			  uint32_t n, double *logits)
{
	struct pass p;
	int err;

	for (uint32_t c = 0; c < n; c++)
		CHECK(column[c].token < r->m->vocab &&
			      column[c].position < column[c].cache->positions,
		      "column %u: token %u at position %u of %u", c, column[c].token,
		      column[c].position, column[c].cache->positions);
	pass_init(&p, r, column, n);
	find_turns(&p);
	err = embed(&p);
	for (uint32_t layer = 0; !err && layer < r->m->layers; layer++) {
		p.layer = layer;
		err = attention(&p);
		err = err ? err : feed_forward(&p);
	}
	err = err ? err : find_logits(&p, logits);
	pass_release(&p);
	return err;
}
