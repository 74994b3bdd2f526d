/* check.h - what the files of the decode workload's check share. */
#ifndef RIFT_DECODE_CHECK_H
#define RIFT_DECODE_CHECK_H

#include "workloads/decode/decode.h"
#include "workloads/decode/reference.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { DECODE_SAMPLE_TAG = 41 }; /* of Philox's counter, for what is drawn */

struct audit {
	const struct decode_opts *o;
	const struct decode_state *s;
	struct verdict *v;
	int64_t steps, noted; /* since the reset; the first one that the device has notes of */
	struct reference reference;
	uint32_t *token; /* [history][batch]: chosen by the device, step by step, round and round */
	float *logit;
	bool *fresh;	/* [positions]: the reference has what the device's row should have */
	double *logits; /* [columns of a call][vocab], of the reference */
	float *last;	/* [vocab], of the device: one sequence's last step */
	double worst;
	int64_t flaws;
};

/* Zeroed; memory that is missing ends the process. From the device: waits for it. */
void *decode_audit_allocate(size_t n, size_t size);
void decode_audit_fetch(void *to, const void *from, size_t bytes);

/* Operations of a thread, for the steps of a whole sequence: a second or several. Tests lower it.
 */
extern double decode_audit_flops_each;

/* What is not as it must be, whatever the tolerance is; the first one is kept for the user. */
void decode_audit_flaw(struct audit *a, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Is it the largest error so far? One that is no number counts as infinite. */
bool decode_audit_is_worst(struct audit *a, double error);

/* Where the notes of a step are. */
size_t decode_audit_note(const struct audit *a, uint32_t sequence, int64_t step);

/* ---- check_cache.c ---- */

/* The device's rows of a sequence, from `from` to `to` - 1, into a cache of the reference's form.
 */
void decode_audit_fetch_cache(const struct audit *a, uint32_t sequence, uint32_t from, uint32_t to,
			      struct reference_cache *out);

/* The same rows of the device against those of `want`; fresh: only these, NULL: all. */
void decode_audit_compare_cache(struct audit *a, uint32_t sequence, uint32_t from, uint32_t to,
				const struct reference_cache *want, const bool *fresh);

/* Keys and values of the positions before the first step, generated once more. -EINTR or 0. */
int decode_audit_generate_cache(const struct audit *a, uint32_t sequence,
				struct reference_cache *c);

/* ---- check_state.c: the device's count of steps, its weights, the tokens on the host ---- */

void decode_audit_progress(struct audit *a);
int decode_audit_weights(struct audit *a);
void decode_audit_host(struct audit *a);

#ifdef __cplusplus
}
#endif
#endif
