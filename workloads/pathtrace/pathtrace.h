/*
 * pathtrace.h - the pathtrace workload: a room seen by following light backwards from the eye.
 *
 * A step is one launch that adds `samples` paths to every pixel. Options and what they mean:
 * README.md.
 */
#ifndef RIFT_PATHTRACE_H
#define RIFT_PATHTRACE_H

#include "common/output.h"
#include "workloads/pathtrace/device.h"
#include "workloads/pathtrace/reference.h"
#include "workloads/hooks.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Samples of a pixel in all steps: what its counter holds, with a bit to spare. */
#define PT_SAMPLES_MAX ((int64_t)1 << 31)

struct pathtrace_opts {
	int64_t samples, width, height, bounces, rr, nee;
	int scene; /* enum pt_scene_kind */
	int64_t seed;
	double limit_ms;   /* of launches in a sweep; 0: the default */
	const char *image; /* to write, by its ending; NULL: none */
};

struct pathtrace_state {
	struct pt_job job;
	struct pt_ref ref;
	int threads; /* of a block */
	struct output image;
};

/* ---- pictures --------------------------------------------------------------------------- */

enum pt_format { PT_PPM, PT_PNG, PT_PFM, PT_NO_FORMAT };

/* By the end of a path's name, .ppm .png .pfm in either case. */
enum pt_format pathtrace_format(const char *path);

/* Mean radiance of every pixel, 3 floats each from the top left: the caller's to free, or NULL. */
float *pathtrace_means(const struct pt_pixel *pixel, int64_t n);

/* Linear radiance as a byte of sRGB (IEC 61966-2-1), 1 and above being white. */
uint8_t pathtrace_srgb(float radiance);

/* Writes the picture; 0, or -ENOMEM after one line. */
int pathtrace_write_image(FILE *f, enum pt_format format, const float *mean, int64_t width,
			  int64_t height);

/* ---- what is on the device -------------------------------------------------------------- */

/* All pixels, after a synchronize: the caller's to free, or NULL after one line. */
struct pt_pixel *pathtrace_read(const struct pathtrace_state *s);

/* Sums over all pixels. */
struct pt_totals {
	double paths, segments, lost;
	double mean[3];
	uint64_t bits; /* FNV-1a 64 over the pixels' sums: equal pictures, equal bits */
};

struct pt_totals pathtrace_add_up(const struct pt_pixel *pixel, int64_t n);

/* ---- hooks ------------------------------------------------------------------------------ */

int pathtrace_setup(const void *opts, void *state);
int pathtrace_reset(const void *opts, void *state, cudaStream_t stream);
int pathtrace_check(const void *opts, void *state, int64_t steps, struct verdict *verdict);
int pathtrace_report(const void *opts, void *state, struct report *out);
int pathtrace_plot(const void *opts, void *state, struct plot *plot);
int pathtrace_cost(const void *opts, const void *state, struct cost *out);
void pathtrace_teardown(void *state);

extern const struct workload workload_pathtrace;

#ifdef __cplusplus
}
#endif
#endif
