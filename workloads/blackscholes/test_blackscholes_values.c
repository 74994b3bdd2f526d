/*
 * test_blackscholes_values.c - known answers: options, prices, sums and hashes, computed by
 * separate programs, and prices from textbooks, of the reference and of the kernels.
 */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "workloads/blackscholes/test_options.h"

#include "common/fnv.h"
#include "tests/races.h"
#include "workloads/blackscholes/inputs.h"
#include "workloads/blackscholes/reference.h"

TestSuite(small_blackscholes_values, .timeout = 300);
TestSuite(large_blackscholes_values, .timeout = 300);

/* As floats: those of the sample, whose constants they are. */
static const double rate = 0.02f, volatility = 0.3f;

static void near(const char *what, double got, double want, double within)
{
	cr_assert(fabs(got - want) <= within, "%s: %.12g, known %.12g", what, got, want);
}

/* ---- options ---------------------------------------------------------------------------- */

struct known {
	uint32_t i, slot;
	float S, X, T;
	double call, put;
};

static const struct known known[] = {
	{ 0, 0, 24.104969f, 62.033577f, 8.18496227f, 2.846700076, 31.408072042 },
	{ 1, 0, 24.9163666f, 71.3157959f, 3.4508605f, 0.345005950, 41.988428994 },
	{ 3, 0, 26.2906094f, 6.99841309f, 8.69846058f, 20.600129855, 0.190446385 },
	{ 99999999, 0, 20.7135029f, 22.2902203f, 7.80750322f, 7.314570489, 5.668808866 },
	{ 0, 1, 19.7140999f, 7.16394377f, 1.32527864f, NAN, NAN },
};

Test(small_blackscholes_values, options_and_prices_are_the_known_ones)
{
	struct blackscholes_prices p;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		const struct known *k = &known[i];
		struct blackscholes_option o = blackscholes_option(k->i, k->slot, 1);

		cr_assert(o.S == k->S && o.X == k->X && o.T == k->T, "option %u: %.9g %.9g %.9g",
			  k->i, o.S, o.X, o.T);
		if (isnan(k->call))
			continue;
		p = blackscholes_reference(o.S, o.X, o.T, rate, volatility, false);
		near("call", p.call, k->call, 1e-9);
		near("put", p.put, k->put, 1e-9);
	}
	p = blackscholes_reference(known[0].S, known[0].X, known[0].T, rate, volatility, true);
	near("exact call", p.call, 2.846703226, 1e-9);
	near("exact put", p.put, 31.408075192, 1e-9);
}

struct textbook {
	double S, X, T, rate, volatility;
	bool exact;
	double call, put;
};

/* Hull, "Options, Futures, and Other Derivatives"; and one at the money. */
static const struct textbook textbooks[] = {
	{ 42, 40, 0.5, 0.1, 0.2, true, 4.759422393, 0.808599373 },
	{ 42, 40, 0.5, 0.1, 0.2, false, 4.759422997, 0.808599977 },
	{ 100, 100, 1, 0.02, 0.3, true, 12.821581393, 10.841448723 },
};

Test(small_blackscholes_values, the_reference_prices_textbook_options)
{
	for (size_t i = 0; i < sizeof(textbooks) / sizeof(*textbooks); i++) {
		const struct textbook *t = &textbooks[i];
		struct blackscholes_prices p =
			blackscholes_reference(t->S, t->X, t->T, t->rate, t->volatility, t->exact);

		near("call", p.call, t->call, 1e-9);
		near("put", p.put, t->put, 1e-9);
		near("parity", p.call - p.put, blackscholes_parity(t->S, t->X, t->T, t->rate),
		     1e-12);
	}
}

/* In the place of every option, so that each lane of a thread and the tail price one. */
static void kernel_prices(const struct textbook *t, int math)
{
	enum { N = 7 };
	struct blackscholes_opts o = make_opts(N);
	const double in[BLACKSCHOLES_INPUTS] = { t->S, t->X, t->T };
	float value[N];
	struct run *r;

	o.rate = t->rate;
	o.volatility = t->volatility;
	o.cnd = t->exact ? BLACKSCHOLES_EXACT : BLACKSCHOLES_POLY;
	o.math = math;
	r = run_begin(o);
	for (int k = 0; k < BLACKSCHOLES_INPUTS; k++) {
		for (int i = 0; i < N; i++)
			value[i] = (float)in[k];
		CUDA(cudaMemcpy(device_in(r, k, 0), value, sizeof(value), cudaMemcpyHostToDevice));
	}
	run_steps(r, 1);
	for (int k = 0; k < BLACKSCHOLES_OUTPUTS; k++) {
		CUDA(cudaMemcpy(value, device_out(r, k, 0), sizeof(value), cudaMemcpyDeviceToHost));
		for (int i = 0; i < N; i++)
			near(k ? "put" : "call", value[i], k ? t->put : t->call, 5e-5);
	}
	run_end(r);
}

Test(small_blackscholes_values, the_kernels_price_textbook_options)
{
	need_device();
	for (size_t i = 0; i < sizeof(textbooks) / sizeof(*textbooks); i++)
		for (int math = 0; math < 2; math++)
			kernel_prices(&textbooks[i], math);
}

/* ---- sums and hashes -------------------------------------------------------------------- */

struct sums {
	uint32_t n;
	uint64_t seed, hash; /* of S, then X, then T */
	double call, put;    /* 0: not known */
};

static void sums_are(const struct sums *known)
{
	float *in[BLACKSCHOLES_INPUTS];
	uint64_t hash = FNV_START;
	double call = 0, put = 0;

	for (int k = 0; k < BLACKSCHOLES_INPUTS; k++) {
		in[k] = malloc(known->n * sizeof(float));
		cr_assert(in[k], "memory");
	}
	for (uint32_t i = 0; i < known->n; i++) {
		struct blackscholes_option o = blackscholes_option(i, 0, known->seed);
		struct blackscholes_prices p =
			blackscholes_reference(o.S, o.X, o.T, rate, volatility, false);

		in[0][i] = o.S, in[1][i] = o.X, in[2][i] = o.T;
		call += p.call;
		put += p.put;
	}
	for (int k = 0; k < BLACKSCHOLES_INPUTS; k++) {
		hash = fnv_add(hash, in[k], known->n * sizeof(float));
		free(in[k]);
	}
	cr_assert(hash == known->hash, "n=%u: hash %016lx", known->n, (unsigned long)hash);
	if (known->call > 0) {
		near("sum of calls", call, known->call, 1e-5);
		near("sum of puts", put, known->put, 1e-5);
	}
}

Test(small_blackscholes_values, sums_and_hashes_of_1024_options)
{
	static const struct sums one = { 1024, 1, 0x427087dcb6299dba, 3094.495619, 31819.249985 };
	static const struct sums seven = { 1024, 7, 0xce84d6bf0ebac2c2, 0, 0 };

	sums_are(&one);
	sums_are(&seven);
}

Test(large_blackscholes_values, sums_and_hashes_of_millions)
{
	static const struct sums million = { 1000000, 1, 0x35cfdbedbc9b724c, 2990738.427689,
					     31149945.000789 };
	static const struct sums all = { 4000000, 1, 0xfc257ef1593bf1c3, 11954442.251048,
					 124525894.359149 };

	sums_are(&million);
	sums_are(&all);
}

/* What the device makes is what the host makes, in every slot. */
Test(small_blackscholes_values, the_device_makes_the_known_options)
{
	enum { N = 1024 };
	struct run *r;
	uint64_t hash = FNV_START;
	float in[N];

	need_device();
	r = run_begin(make_opts(N));
	for (int k = 0; k < BLACKSCHOLES_INPUTS; k++) {
		CUDA(cudaMemcpy(in, device_in(r, k, 0), sizeof(in), cudaMemcpyDeviceToHost));
		hash = fnv_add(hash, in, sizeof(in));
	}
	cr_assert(hash == 0x427087dcb6299dba, "%016lx", (unsigned long)hash);
	CUDA(cudaMemcpy(in, device_in(r, 1, 1), sizeof(float), cudaMemcpyDeviceToHost));
	cr_assert(in[0] == known[4].X, "slot 1: %.9g", in[0]);
	run_end(r);
}
