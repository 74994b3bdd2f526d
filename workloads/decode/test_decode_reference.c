/*
 * test_decode_reference.c - the reference against logits made elsewhere (golden/), against straight
 * loops over a model of odd shape, and against itself: other threads, other company, other pieces.
 */
#include "tests/plain.h"

#include <signal.h>

#include "common/check.h"
#include "common/csv.h"
#include "common/interrupt.h"
#include "common/philox.h"
#include "workloads/decode/checkpoint.h"
#include "workloads/decode/reference.h"

TestSuite(small_decode_reference, .timeout = 120);

static double *new_doubles(size_t n)
{
	double *p = calloc(n, sizeof(*p));

	CHECK(p, "%zu numbers", n);
	return p;
}

/* A row that is read though nothing was written there makes all that follows NAN. */
static struct reference_cache spoiled_cache(const struct decode_model *m, uint32_t positions)
{
	struct reference_cache c = decode_reference_cache_new(m, positions);

	for (size_t i = 0; i < (size_t)m->layers * positions * m->kv_heads * m->head_dim; i++)
		c.key[i] = c.value[i] = NAN;
	return c;
}

static uint32_t argmax(const double *logit, uint32_t n)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < n; i++)
		best = logit[i] > logit[best] ? i : best;
	return best;
}

static double deviation(const double *x, size_t n)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < n; i++) {
		sum += x[i];
		squares += x[i] * x[i];
	}
	return sqrt(squares / (double)n - sum / (double)n * (sum / (double)n));
}

static double largest_difference(const double *a, const double *b, size_t n)
{
	double most = 0;

	for (size_t i = 0; i < n; i++)
		most = fabs(a[i] - b[i]) <= most ? most : fabs(a[i] - b[i]);
	return most;
}

/* ---- golden logits ------------------------------------------------------------------------- */

/* Tokens that each sequence of the files was given; the others it chose. */
static const uint32_t prompt[] = { 4, 1, 8 };

struct golden {
	struct decode_model m;
	struct checkpoint *from;
	struct reference r;
	uint32_t rows;
	uint32_t *sequence;
	struct reference_column *column;
	double *logit, deviation;
};

static int golden_rows(void *from, const struct decode_tensor *t, uint32_t row, uint32_t rows,
		       void *out)
{
	struct golden *g = from;

	return decode_checkpoint_rows(g->from, t, row, rows, g->r.bytes, out);
}

static double cell(const struct csv *csv, int64_t row, int column)
{
	double x = 0;

	cr_assert(!csv_number(csv, row, column, &x), "row %ld column %d", (long)row, column);
	return x;
}

static void read_logits(struct golden *g, const char *folder)
{
	char path[256];
	struct csv csv;

	snprintf(path, sizeof(path), "%s/logits.csv", folder);
	cr_assert(!csv_read(path, &csv), "%s", path);
	cr_assert((uint32_t)csv.columns == g->m.vocab + 3, "%d columns", csv.columns);
	g->rows = (uint32_t)csv.rows;
	g->sequence = calloc(g->rows, sizeof(*g->sequence));
	g->column = calloc(g->rows, sizeof(*g->column));
	CHECK(g->sequence && g->column, "memory");
	g->logit = new_doubles((size_t)g->rows * g->m.vocab);
	for (uint32_t i = 0; i < g->rows; i++) {
		g->sequence[i] = (uint32_t)cell(&csv, i, 0);
		g->column[i].position = (uint32_t)cell(&csv, i, 1);
		g->column[i].token = (uint32_t)cell(&csv, i, 2);
		g->column[i].wanted = true;
		for (uint32_t v = 0; v < g->m.vocab; v++)
			g->logit[(size_t)i * g->m.vocab + v] = cell(&csv, i, 3 + (int)v);
	}
	g->deviation = deviation(g->logit, (size_t)g->rows * g->m.vocab);
	csv_free(&csv);
}

static void golden_init(struct golden *g, const char *folder, int bytes)
{
	memset(g, 0, sizeof(*g));
	cr_assert(!decode_checkpoint_model(folder, &g->m), "%s", folder);
	cr_assert(!decode_checkpoint_open(folder, &g->m, &g->from), "%s", folder);
	g->r = (struct reference){
		.m = &g->m, .bytes = bytes, .rows = golden_rows, .from = g, .threads = 2
	};
	read_logits(g, folder);
}

static void golden_release(struct golden *g)
{
	decode_checkpoint_close(g->from);
	free(g->sequence);
	free(g->column);
	free(g->logit);
}

/* The largest logit of a position is the next token, from the prompt's last position on. */
static void expect_greedy(const struct golden *g, uint32_t first, uint32_t n, const double *logit)
{
	for (uint32_t i = prompt[g->sequence[first]]; i < n; i++)
		cr_expect(argmax(logit + (size_t)(i - 1) * g->m.vocab, g->m.vocab) ==
				  g->column[first + i].token,
			  "sequence %u position %u", g->sequence[first], i);
}

static void expect_sequence(struct golden *g, uint32_t first, uint32_t n)
{
	size_t vocab = g->m.vocab;
	double *whole = new_doubles(n * vocab), *single = new_doubles(n * vocab), error;
	struct reference_cache cache = spoiled_cache(&g->m, n);

	for (uint32_t i = 0; i < n; i++)
		g->column[first + i].cache = &cache;
	cr_assert(!decode_reference_step(&g->r, g->column + first, n, whole), "all positions");
	error = largest_difference(whole, g->logit + first * vocab, n * vocab) / g->deviation;
	cr_expect(error <= 1e-12, "sequence %u differs by %g deviations", g->sequence[first],
		  error);
	expect_greedy(g, first, n, whole);
	decode_reference_cache_free(&cache);
	cache = spoiled_cache(&g->m, n);
	for (uint32_t i = 0; i < n; i++)
		cr_assert(
			!decode_reference_step(&g->r, g->column + first + i, 1, single + i * vocab),
			"position %u", i);
	cr_expect(!memcmp(whole, single, n * vocab * sizeof(*whole)),
		  "sequence %u: one by one differs by %g", g->sequence[first],
		  largest_difference(whole, single, n * vocab));
	decode_reference_cache_free(&cache);
	free(whole);
	free(single);
}

static void expect_golden(const char *folder, int bytes)
{
	struct golden g;
	uint32_t n, sequences = 0;

	golden_init(&g, folder, bytes);
	for (uint32_t first = 0; first < g.rows; first += n, sequences++) {
		for (n = 1; first + n < g.rows && g.sequence[first + n] == g.sequence[first];)
			n++;
		expect_sequence(&g, first, n);
	}
	cr_expect(sequences == 3, "%u sequences", sequences);
	golden_release(&g);
}

Test(small_decode_reference, gives_the_golden_logits_of_float_weights)
{
	expect_golden("workloads/decode/golden/tied-f32", 4);
}

Test(small_decode_reference, gives_the_golden_logits_of_bfloat16_weights)
{
	expect_golden("workloads/decode/golden/untied-bf16", 2);
}

/* ---- a model of random numbers ------------------------------------------------------------- */

enum { DIM = 24, LAYERS = 2, HEADS = 4, HEAD_DIM = 10, HIDDEN = 20, VOCAB = 30, POSITIONS = 7 };

/* Longer than what a thread multiplies of a row at a time. */
enum { LONG = 1030 };

struct made {
	struct decode_model m;
	struct reference r;
	int asked, fail_at; /* calls of made_rows(); the one that fails, 0 for none */
};

/* A weight by its place alone. Norms are near 1. */
static float made_weight(const struct made *made, enum decode_part part, uint32_t layer,
			 uint32_t row, uint32_t col)
{
	/* No branch around the mask: gcc 12.2 -O1 would drop it (wrong code of its -fdce). */
	uint32_t keep = made->r.bytes == 4 ? 0xffffffff : 0xffff0000, bits;
	struct philox p;
	float w;

	if (part == DECODE_HEAD && made->m.tied)
		part = DECODE_EMBEDDING;
	p = philox4x32(col, row, (uint32_t)part, layer, 5);
	w = philox_range(p.word[0], -0.5, 0.5);
	if (part == DECODE_NORM_ATT || part == DECODE_NORM_FFN || part == DECODE_NORM_OUT)
		w = 1 + w / 4;
	memcpy(&bits, &w, sizeof(bits));
	bits &= keep;
	memcpy(&w, &bits, sizeof(w));
	return w;
}

/* What fills rows up is NAN here: it takes part in nothing. */
static int made_rows(void *from, const struct decode_tensor *t, uint32_t row, uint32_t rows,
		     void *out)
{
	struct made *made = from;

	if (++made->asked == made->fail_at)
		return -EIO;
	cr_assert(row + rows <= t->rows, "rows %u to %u of %u", row, row + rows, t->rows);
	for (uint32_t r = 0; r < rows; r++) {
		for (uint32_t c = 0; c < t->stride; c++) {
			float w = c < t->cols ? made_weight(made, t->part, t->layer, row + r, c)
					      : NAN;
			size_t at = (size_t)r * t->stride + c;
			uint32_t bits;

			memcpy(&bits, &w, sizeof(bits));
			if (made->r.bytes == 4)
				((float *)out)[at] = w;
			else
				((uint16_t *)out)[at] = (uint16_t)(bits >> 16);
		}
	}
	return 0;
}

static void made_init(struct made *made, uint32_t kv_heads, bool tied, int bytes)
{
	*made = (struct made){ .m = { .dim = DIM,
				      .layers = LAYERS,
				      .heads = HEADS,
				      .kv_heads = kv_heads,
				      .head_dim = HEAD_DIM,
				      .hidden = HIDDEN,
				      .vocab = VOCAB,
				      .tied = tied,
				      .theta = 100,
				      .eps = 1e-3 } };
	made->r = (struct reference){
		.m = &made->m, .bytes = bytes, .rows = made_rows, .from = made, .threads = 1
	};
}

static uint32_t made_token(uint32_t sequence, uint32_t position)
{
	return philox4x32(position, sequence, 0, 0, 9).word[0] % VOCAB;
}

/* ---- the same model in straight loops ------------------------------------------------------ */

struct naive {
	const struct made *made;
	uint32_t layer;
	double x[POSITIONS][DIM], q[POSITIONS][HEADS * HEAD_DIM];
	double k[POSITIONS][HEADS * HEAD_DIM], v[POSITIONS][HEADS * HEAD_DIM];
};

static void naive_product(const struct naive *a, enum decode_part part, uint32_t rows,
			  uint32_t cols, const double *in, double *out)
{
	for (uint32_t r = 0; r < rows; r++) {
		out[r] = 0;
		for (uint32_t c = 0; c < cols; c++)
			out[r] += made_weight(a->made, part, a->layer, r, c) * in[c];
	}
}

static void naive_norm(const struct naive *a, enum decode_part part, const double *x, double *out)
{
	double mean = 0;

	for (uint32_t i = 0; i < DIM; i++)
		mean += x[i] * x[i] / DIM;
	for (uint32_t i = 0; i < DIM; i++)
		out[i] = x[i] / sqrt(mean + a->made->m.eps) *
			 made_weight(a->made, part, a->layer, 0, i);
}

/* Complex numbers whose real part is element i of a head, the imaginary one i + HEAD_DIM / 2. */
static void naive_rotate(double *x, uint32_t heads, uint32_t t, double theta)
{
	for (uint32_t h = 0; h < heads; h++) {
		for (uint32_t i = 0; i < HEAD_DIM / 2; i++) {
			double *re = &x[h * HEAD_DIM + i], *im = re + HEAD_DIM / 2;
			double size = hypot(*re, *im);
			double angle = atan2(*im, *re) + t / pow(theta, 2.0 * i / HEAD_DIM);

			*re = size * cos(angle);
			*im = size * sin(angle);
		}
	}
}

/* What head h of position t sees, as HEAD_DIM numbers. */
static void naive_attend(const struct naive *a, uint32_t t, uint32_t h, double *out)
{
	uint32_t from = h / (HEADS / a->made->m.kv_heads) * HEAD_DIM;
	double sum = 0;

	memset(out, 0, HEAD_DIM * sizeof(*out));
	for (uint32_t s = 0; s <= t; s++) {
		double score = 0;

		for (uint32_t i = 0; i < HEAD_DIM; i++)
			score += a->q[t][h * HEAD_DIM + i] * a->k[s][from + i];
		score = exp(score / sqrt(HEAD_DIM));
		sum += score;
		for (uint32_t i = 0; i < HEAD_DIM; i++)
			out[i] += score * a->v[s][from + i];
	}
	for (uint32_t i = 0; i < HEAD_DIM; i++)
		out[i] /= sum;
}

static void naive_layer(struct naive *a, uint32_t t)
{
	double n[DIM], mixed[HEADS * HEAD_DIM], out[DIM], gate[LONG], up[LONG];
	uint32_t hidden = a->made->m.hidden;
	uint32_t kv = a->made->m.kv_heads;

	naive_norm(a, DECODE_NORM_ATT, a->x[t], n);
	naive_product(a, DECODE_Q, HEADS * HEAD_DIM, DIM, n, a->q[t]);
	naive_product(a, DECODE_K, kv * HEAD_DIM, DIM, n, a->k[t]);
	naive_product(a, DECODE_V, kv * HEAD_DIM, DIM, n, a->v[t]);
	naive_rotate(a->q[t], HEADS, t, a->made->m.theta);
	naive_rotate(a->k[t], kv, t, a->made->m.theta);
	for (uint32_t h = 0; h < HEADS; h++)
		naive_attend(a, t, h, mixed + h * HEAD_DIM);
	naive_product(a, DECODE_O, DIM, HEADS * HEAD_DIM, mixed, out);
	for (uint32_t i = 0; i < DIM; i++)
		a->x[t][i] += out[i];
	naive_norm(a, DECODE_NORM_FFN, a->x[t], n);
	naive_product(a, DECODE_GATE, hidden, DIM, n, gate);
	naive_product(a, DECODE_UP, hidden, DIM, n, up);
	for (uint32_t i = 0; i < hidden; i++)
		up[i] *= gate[i] / (1 + exp(-gate[i]));
	naive_product(a, DECODE_DOWN, DIM, hidden, up, out);
	for (uint32_t i = 0; i < DIM; i++)
		a->x[t][i] += out[i];
}

static void naive_logits(const struct made *made, uint32_t sequence, double *logit)
{
	struct naive a = { .made = made };
	double n[DIM];

	for (uint32_t t = 0; t < POSITIONS; t++)
		for (uint32_t i = 0; i < DIM; i++)
			a.x[t][i] =
				made_weight(made, DECODE_EMBEDDING, 0, made_token(sequence, t), i);
	for (a.layer = 0; a.layer < LAYERS; a.layer++)
		for (uint32_t t = 0; t < POSITIONS; t++)
			naive_layer(&a, t);
	a.layer = 0;
	for (uint32_t t = 0; t < POSITIONS; t++) {
		naive_norm(&a, DECODE_NORM_OUT, a.x[t], n);
		naive_product(&a, DECODE_HEAD, VOCAB, DIM, n, logit + t * VOCAB);
	}
}

/* One sequence in one call: logits of all positions. */
static void made_logits(const struct made *made, uint32_t sequence, double *logit)
{
	struct reference_cache cache = spoiled_cache(&made->m, POSITIONS);
	struct reference_column column[POSITIONS];

	for (uint32_t t = 0; t < POSITIONS; t++)
		column[t] = (struct reference_column){ made_token(sequence, t), t, &cache, true };
	cr_assert(!decode_reference_step(&made->r, column, POSITIONS, logit), "sequence %u",
		  sequence);
	decode_reference_cache_free(&cache);
}

static void expect_naive(uint32_t kv_heads, bool tied, int bytes, uint32_t hidden)
{
	enum { N = POSITIONS * VOCAB };
	double want[N], got[N], error;
	struct made made;

	made_init(&made, kv_heads, tied, bytes);
	made.m.hidden = hidden;
	naive_logits(&made, 0, want);
	made_logits(&made, 0, got);
	error = largest_difference(want, got, N) / deviation(want, N);
	cr_expect(error <= 1e-12, "%u key/value heads, %d bytes, hidden %u: %g deviations",
		  kv_heads, bytes, hidden, error);
}

Test(small_decode_reference, agrees_with_straight_loops)
{
	expect_naive(1, false, 4, HIDDEN);
	expect_naive(1, true, 2, HIDDEN);
	expect_naive(2, false, 2, LONG);
	expect_naive(HEADS, true, 4, HIDDEN);
}

/* ---- itself --------------------------------------------------------------------------------- */

Test(small_decode_reference, threads_change_no_bit)
{
	double one[POSITIONS * VOCAB], three[POSITIONS * VOCAB];
	struct made made;

	made_init(&made, 2, false, 2);
	made_logits(&made, 0, one);
	made.r.threads = 3;
	made_logits(&made, 0, three);
	cr_expect(!memcmp(one, three, sizeof(one)), "differ by %g",
		  largest_difference(one, three, POSITIONS * VOCAB));
}

/* Two sequences, interleaved in one call; only logits of even positions are wanted. */
Test(small_decode_reference, company_changes_no_bit)
{
	double alone[2][POSITIONS * VOCAB], both[2 * POSITIONS * VOCAB];
	struct reference_column column[2 * POSITIONS];
	struct reference_cache cache[2];
	const double *next = both;
	struct made made;

	made_init(&made, 1, true, 4);
	for (uint32_t i = 0; i < 2; i++) {
		made_logits(&made, i, alone[i]);
		cache[i] = spoiled_cache(&made.m, POSITIONS + i);
	}
	for (uint32_t i = 0; i < 2 * POSITIONS; i++)
		column[i] = (struct reference_column){ made_token(i % 2, i / 2), i / 2,
						       &cache[i % 2], i / 2 % 2 == 0 };
	cr_assert(!decode_reference_step(&made.r, column, 2 * POSITIONS, both), "two sequences");
	for (uint32_t i = 0; i < 2 * POSITIONS; i++) {
		if (!column[i].wanted)
			continue;
		cr_expect(!memcmp(next, alone[i % 2] + i / 2 * VOCAB, VOCAB * sizeof(*next)),
			  "sequence %u position %u", i % 2, i / 2);
		next += VOCAB;
	}
	decode_reference_cache_free(&cache[0]);
	decode_reference_cache_free(&cache[1]);
}

/*
 * A matrix of several pieces, the last one ragged: as the rows of the head repeat after 1,000, so
 * must the logits.
 */
static int repeated_rows(void *from, const struct decode_tensor *t, uint32_t row, uint32_t rows,
			 void *out)
{
	struct made *made = from;
	uint16_t *to = out;

	if (t->part != DECODE_HEAD)
		return made_rows(from, t, row, rows, out);
	made->asked++;
	for (uint32_t r = 0; r < rows; r++)
		for (uint32_t c = 0; c < t->stride; c++)
			*to++ = (uint16_t)(0x3c00 + (row + r) % 1000 * 7 % 512 + c);
	return 0;
}

Test(small_decode_reference, large_matrices_come_in_pieces)
{
	struct reference_column column = { .wanted = true };
	struct reference_cache cache;
	struct made made;
	int small, wrong = 0;
	double *logit;

	made_init(&made, 1, false, 2);
	made.r.rows = repeated_rows;
	made.r.threads = 2;
	cache = spoiled_cache(&made.m, 1);
	column.cache = &cache;
	logit = new_doubles(VOCAB);
	cr_assert(!decode_reference_step(&made.r, &column, 1, logit), "small");
	free(logit);
	small = made.asked;
	made.m.vocab = 500 * 1000 + 7;
	logit = new_doubles(made.m.vocab);
	cr_assert(!decode_reference_step(&made.r, &column, 1, logit), "large");
	cr_expect(made.asked - small > small, "%d calls, %d for one piece", made.asked - small,
		  small);
	for (uint32_t v = 1000; v < made.m.vocab; v++)
		wrong += logit[v] != logit[v % 1000];
	cr_expect(wrong == 0, "%d logits", wrong);
	cr_expect(logit[0] != logit[1], "%g", logit[0]);
	free(logit);
	decode_reference_cache_free(&cache);
}

/* ---- what ends it --------------------------------------------------------------------------- */

Test(small_decode_reference, hands_on_what_rows_returned)
{
	struct reference_column column = { .wanted = true };
	double logit[VOCAB];
	struct reference_cache cache;
	struct made made;
	int calls;

	made_init(&made, 1, false, 4);
	cache = decode_reference_cache_new(&made.m, 1);
	column.cache = &cache;
	cr_assert(!decode_reference_step(&made.r, &column, 1, logit), "none fails");
	calls = made.asked;
	for (made.fail_at = 1; made.fail_at <= calls; made.fail_at++) {
		made.asked = 0;
		cr_expect(decode_reference_step(&made.r, &column, 1, logit) == -EIO, "call %d",
			  made.fail_at);
		cr_expect(made.asked == made.fail_at, "call %d is the last, not %d", made.fail_at,
			  made.asked);
	}
	decode_reference_cache_free(&cache);
}

/* After a signal that comes while a matrix is fetched, nothing more is fetched. */
static int interrupted_rows(void *from, const struct decode_tensor *t, uint32_t row, uint32_t rows,
			    void *out)
{
	struct made *made = from;

	if (made->asked == 4)
		raise(SIGINT);
	return made_rows(from, t, row, rows, out);
}

Test(small_decode_reference, ends_on_control_c)
{
	struct reference_column column = { .wanted = true };
	double logit[VOCAB];
	struct reference_cache cache;
	struct made made;

	made_init(&made, 1, false, 4);
	made.r.rows = interrupted_rows;
	cache = decode_reference_cache_new(&made.m, 1);
	column.cache = &cache;
	signal(SIGINT, SIG_DFL);
	interrupt_install();
	cr_expect(decode_reference_step(&made.r, &column, 1, logit) == -EINTR, "step");
	cr_expect(made.asked == 5, "%d calls", made.asked);
	decode_reference_cache_free(&cache);
}
