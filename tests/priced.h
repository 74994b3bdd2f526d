/*
 * priced.h - programs whose times follow from the prices exactly, on a platform that costs a known
 * amount more: each of a test's own process.
 */
#ifndef RIFT_TESTS_PRICED_H
#define RIFT_TESTS_PRICED_H

#include <math.h>
#include <stdlib.h>

#include "harness/probe/costs.h"
#include "harness/profile/program_price.h"
#include "tests/made_trace.h"
#include "tests/test.h"

static const struct kind_rules rules = KIND_DEFAULTS;
static struct made made;
static struct profile profile;
static struct fit fit_a, fit_b;
static struct price_sources sources;
static struct program_price price;

/* ---- platforms ---------------------------------------------------------------------------- */

enum { PROCESSES = 7 };

/* As MADE_CALIBRATION says, with graphs of 3000 + 10 n and 500 between nodes beside 1000 of K0. */
static const struct model model_a = { .v = {
					      [MODEL_C] = 2000,
					      [MODEL_P] = 2000,
					      [MODEL_G] = 2000,
					      [MODEL_Z] = 10000,
					      [MODEL_CLOCK] = 1,
					      [MODEL_Q] = INFINITY,
					      [MODEL_W] = 10000,
					      [MODEL_GRAPH_A] = 3000,
					      [MODEL_GRAPH_B] = 10,
					      [MODEL_GRAPH_Z] = 8000,
					      [MODEL_GRAPH_G] = 1500,
				      } };

/* A session that holds the gap between kernels. */
static inline void fit_as(struct fit *f, const struct model *m)
{
	*f = (struct fit){ .model = *m, .n = PROCESSES, .has = { true, true, true } };
	f->param[MODEL_G].identified = true;
	f->draw = malloc(BOOTSTRAP_DRAWS * sizeof(*f->draw));
	cr_assert(ne(ptr, f->draw, NULL), "memory");
	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		f->draw[d] = *m;
}

/* The pace of launches is known to so many ns on either side, evenly. */
static inline void spread_pace(struct fit *f, double ns)
{
	double p = f->model.v[MODEL_P];

	f->param[MODEL_P].identified = true;
	f->param[MODEL_P].interval = (struct interval){ p, p - ns, p + ns, PROCESSES, true };
	for (int d = 0; d < BOOTSTRAP_DRAWS; d++)
		f->draw[d].v[MODEL_P] = p + ns * (2.0 * d / (BOOTSTRAP_DRAWS - 1) - 1);
}

static inline struct model dearer(enum model_param param, double ns)
{
	struct model m = model_a;

	m.v[param] += ns;
	return m;
}

/* c and p, and Z, which c is in. */
static inline struct model dearer_calls(double ns)
{
	struct model m = dearer(MODEL_C, ns);

	m.v[MODEL_P] += ns;
	m.v[MODEL_Z] += ns;
	return m;
}

/* ---- programs ----------------------------------------------------------------------------- */

enum { N = 50 };

static inline void begin(void)
{
	made_begin(&made, "", MADE_CALIBRATION);
}

/* N launches in a row of kernels of kernel_ns, then a synchronize, as they come about. */
static inline long batch(long kernel_ns)
{
	long end = 0;

	begin();
	for (long i = 0; i < N; i++) {
		long told = (i + 1) * MADE_C + MADE_L, free = end + MADE_G;
		long start = i && free > told ? free : told;

		made_kernel(&made, 2, i * MADE_C, start, start + kernel_ns);
		end = start + kernel_ns;
	}
	end += MADE_WAKE;
	made_call(&made, "sync_device", N * MADE_C, end, "");
	made_end(&made, end, 5, end);
	return end;
}

/* N times a launch and a synchronize. */
static inline long turns(long kernel_ns)
{
	long t = 0;

	begin();
	for (long i = 0; i < N; i++) {
		long start = t + MADE_C + MADE_L;

		made_kernel(&made, 2, t, start, start + kernel_ns);
		made_call(&made, "sync_device", t + MADE_C, start + kernel_ns + MADE_WAKE, "");
		t = start + kernel_ns + MADE_WAKE;
	}
	made_end(&made, t, 5, t);
	return t;
}

static inline void begin_prices(const struct model *b)
{
	cr_assert(zero(int, profile_make(&profile, made.path, &rules, false)), "%s", made.path);
	fit_as(&fit_a, &model_a);
	fit_as(&fit_b, b);
	sources.a = &fit_a;
	sources.b = &fit_b;
}

static inline void price_on(const struct model *b, bool with_a)
{
	begin_prices(b);
	if (!with_a)
		sources.a = NULL;
	program_price_make(&price, &profile, &sources);
}

static inline void end(void)
{
	program_price_release(&price);
	profile_release(&profile);
	free(fit_a.draw);
	free(fit_b.draw);
	made_remove(&made);
}

static inline void takes(double ns)
{
	cr_expect(epsilon_eq(dbl, price.b_ns.value, ns, 1e-6), "on B");
	end();
}

/* ---- call costs --------------------------------------------------------------------------- */

/* Rows of both platforms: B's copies have 20 us more and half the rate, its calls so much more. */
static inline json_t *costs(double fixed_us, double rate, double malloc_us, double record_us)
{
	json_t *rows = json_array();
	const struct {
		const char *workload, *name, *unit;
		double value;
	} row[] = { { "transfer", "h2d pinned fixed", "us", fixed_us },
		    { "transfer", "h2d pinned 4 B call", "us", 2 },
		    { "transfer", "h2d pinned rate", "GB/s", rate },
		    { "transfer", "h2d pageable fixed", "us", fixed_us },
		    { "transfer", "h2d pageable rate", "GB/s", rate / 5 },
		    { "transfer", "d2h pinned rate", "GB/s", rate },
		    { "transfer", "d2h pageable rate", "GB/s", rate / 5 },
		    { "memory", "cudaMalloc", "us", malloc_us },
		    { "launch", "event record", "us", record_us } };

	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
		json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:f}", "workload",
						      row[i].workload, "name", row[i].name, "unit",
						      row[i].unit, "median", row[i].value));
	return json_pack("{s:o}", "rows", rows);
}

static inline void with_costs(void)
{
	sources.costs_a = costs(8, 50, 60, 0.3);
	sources.costs_b = costs(28, 25, 100, 0.8);
}

/* cudaMemcpy of 1 MB at 50 GB/s: 20,971.52 ns there, twice as long and 20 us later on B. */
static inline long copy_bytes_and_wait(const char *memory, long bytes)
{
	char call[64], more[120];

	begin();
	snprintf(call, sizeof(call), ",\"bytes\":%ld,\"async\":false", bytes);
	snprintf(more, sizeof(more),
		 ",\"direction\":\"to_device\",\"bytes\":%ld,\"memory\":\"%s\",\"async\":false",
		 bytes, memory);
	made_call(&made, "copy", 0, 40000, call);
	made_op(&made, "copy", 1, 5000, 35000, more);
	made_end(&made, 40000, 5, 40000);
	return 40000;
}

static inline long copy_and_wait(const char *memory)
{
	return copy_bytes_and_wait(memory, 1048576);
}

#endif
