/*
 * made_share.h - what `rift share` measured, made up window by window. A step's quantiles are 1 ms
 * apart where a client does one a second, and as much closer as it does more.
 */
#ifndef RIFT_TESTS_MADE_SHARE_H
#define RIFT_TESTS_MADE_SHARE_H

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "harness/share/share_file.h"

/* Workloads of these words in processes and streams, one client and n, windows of a second. */
static inline void made_share_begin_of(struct share *s, int n, char *(*words)[2], int mixes,
				       int windows, int repetitions)
{
	*s = (struct share){ .file = LINE_FILE_NONE };
	s->plan = (struct share_plan){ .clients = { 1, n },
				       .counts = 2,
				       .arm = { [ARM_PROCESSES] = true, [ARM_STREAMS] = true },
				       .seed = 1,
				       .window_s = 1,
				       .windows = windows,
				       .repetitions = repetitions,
				       .starts = 1,
				       .depth = 1 };
	for (int i = 0; i < mixes; i++)
		cr_assert(zero(
			int, share_workload_parse(&s->plan.mix[i], words[i], words[i][1] ? 2 : 1)));
	s->plan.mixes = mixes;
	share_init(s);
}

/* `launch`, as often as there are mixes. */
static inline void made_share_begin(struct share *s, int n, int mixes, int windows, int repetitions)
{
	static char launch[] = "launch";
	char *words[SHARE_MIX_MAX][2];

	for (int i = 0; i < SHARE_MIX_MAX; i++)
		words[i][0] = launch, words[i][1] = NULL;
	made_share_begin_of(s, n, words, mixes, windows, repetitions);
}

static inline json_t *made_share_client(double rate)
{
	json_t *quantiles = json_array();

	for (int i = 0; i < SHARE_QUANTILES; i++)
		json_array_append_new(quantiles,
				      rate > 0 ? json_real((1e9 + 1e6 * i) / rate) : json_null());
	return json_pack("{s:f, s:i, s:o}", "steps", rate, "timed", rate > 0, "step_ns", quantiles);
}

/* A window in which client i did rate[i] steps. */
static inline void made_share_window(struct share *s, const struct share_set *set, int window,
				     const double *rate)
{
	json_t *o = share_line("window", set), *clients = json_array();

	for (int i = 0; i < set->n; i++)
		json_array_append_new(clients, made_share_client(rate[i]));
	json_object_set_new(o, "repetition", json_integer(window / s->plan.windows));
	json_object_set_new(o, "window", json_integer(window % s->plan.windows));
	json_object_set_new(o, "seconds", json_real(1));
	json_object_set_new(o, "processors", json_real(0.5));
	json_object_set_new(o, "busy", json_null());
	json_object_set_new(o, "daemons", json_real(0.25));
	json_object_set_new(o, "memory", window % 2 ? json_null() : json_integer(4096));
	json_object_set_new(o, "clients", clients);
	cr_assert(zero(int, share_add(s, o)));
}

/* As much, give or take a fifth, a little otherwise at each call. */
static inline double made_share_vary(double rate, unsigned *state)
{
	*state = *state * 1103515245 + 12345;
	return rate * (0.8 + 0.4 * (*state >> 16 & 1023) / 1023);
}

static inline void made_share_check(struct share *s, const struct share_set *set, bool pass)
{
	json_t *o = share_line("checked", set), *passed = json_array();

	for (int i = 0; i < set->n; i++)
		json_array_append_new(passed, json_boolean(pass));
	json_object_set_new(o, "passed", passed);
	cr_assert(zero(int, share_add(s, o)));
}

#endif
