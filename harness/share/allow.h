/*
 * allow.h - what a client was promised of the device: `rift share --allow compute=30%,memory=8G`.
 *
 * With a promise `rift share` measures whether it holds (promise.h). Compute is a share of the
 * device's time: work that gets done over what an unlimited client with work always queued gets
 * done. Memory is bytes.
 */
#ifndef RIFT_SHARE_ALLOW_H
#define RIFT_SHARE_ALLOW_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "harness/base/text.h"

enum { ALLOW_LAYERS_MAX = 8 };

struct share_allow {
	double compute; /* a share of 1; 0: nothing was promised */
	int64_t memory; /* bytes; 0: nothing was promised */
	/* The layers that keep the promise, as rift layer takes them, the outermost first;
	 * "{client}" stands for the client's number. Of the command line or the record. */
	const char *layer[ALLOW_LAYERS_MAX];
	int layers;
};

static inline bool allow_is_given(const struct share_allow *a)
{
	return a->compute > 0 || a->memory > 0;
}

/* "compute=30%,memory=8G", either or both. 0, or -EINVAL after one line. */
int allow_parse(struct share_allow *a, const char *text);

/* "30 % of the compute and 8 GiB of memory" */
struct text_line allow_text(const struct share_allow *a);

/* "emulate compute=30", layers nested in it behind " > ", files by their last folder; "" without
 * any. */
struct text_line allow_layers_text(const struct share_allow *a);

/* What tells layers apart in a legend: "mps"; a library by its folder, "hami-O2". */
struct text_line allow_layers_name(const struct share_allow *a);

/* As members "allow" and "layers" of a plan; both are absent where nothing was promised. */
void allow_to_json(const struct share_allow *a, json_t *plan);

/* 0, or -EINVAL without a line. Texts stay the plan's. */
int allow_from_json(struct share_allow *a, const json_t *plan);

#endif
