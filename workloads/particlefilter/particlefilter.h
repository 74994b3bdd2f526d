/*
 * particlefilter.h - the particlefilter workload: a disk is tracked through a noisy video by a
 * cloud of weighted particles, resampled in every frame.
 *
 * A step is one frame; after the last one the filter starts over. Options and what they mean:
 * README.md.
 */
#ifndef RIFT_PARTICLEFILTER_H
#define RIFT_PARTICLEFILTER_H

#include "common/output.h"
#include "common/param.h"
#include "workloads/particlefilter/device.h"
#include "workloads/particlefilter/video.h"
#include "workloads/hooks.h"

#ifdef __cplusplus
extern "C" {
#endif

enum pf_variant { PF_MATCHED, PF_RODINIA, PF_ROUND };
enum pf_rng { PF_RNG_AUTO, PF_RNG_LCG, PF_RNG_PHILOX };
enum pf_granularity { PF_BY_FRAME, PF_BY_SPLIT };
enum pf_precision { PF_DOUBLE, PF_FLOAT };
enum pf_stencil { PF_BY_ROWS, PF_BY_PIXELS };

struct particlefilter_opts {
	int64_t particles, rows, cols, frames;
	int variant, granularity, precision, stencil;
	int rng, noise;	   /* enum pf_rng */
	const char *clock; /* a number of seconds, or "p1"; NULL: 1 */
	int64_t seed;
	double drift_row, drift_col, spread_row, spread_col;
	const char *input;     /* video to read */
	struct param_list raw; /* rows,cols of an input without headers; 0,0: it has them */
	int64_t radius, object, background;
	int64_t start_row, start_col; /* -1: the middle */
	const char *track, *particles8;
};

struct particlefilter_state {
	struct pf_filter filter;
	struct pf_rules rules; /* what the check goes by; the filter has a copy */
	struct pf_video video;
	struct output track, particles8;
};

/* ---- what options come to --------------------------------------------------------------- */

/* rng=auto and noise=auto: what the variant has. */
bool particlefilter_uses_lcg(const struct particlefilter_opts *o);
bool particlefilter_has_lcg_noise(const struct particlefilter_opts *o);

/* clock=: 0, or -EINVAL after one line. *by_clock is false for p1, whose *clock is 0. */
int particlefilter_read_clock(const struct particlefilter_opts *o, bool *by_clock, int64_t *clock);

/* Makes or reads the video, and sets the rules that the options ask for. 0 or an errno. */
int particlefilter_prepare(const struct particlefilter_opts *o, struct pf_video *video,
			   struct pf_rules *rules);

/* input=: frames of a PGM file, one image after the other, or raw bytes. */
int particlefilter_read_video(const struct particlefilter_opts *o, struct pf_video *video);

/* ---- memory ----------------------------------------------------------------------------- */

/* How particles are cut into chunks and tiles; what is precomputed. For the options' filter. */
void particlefilter_configure(const struct particlefilter_opts *o, const struct pf_rules *rules,
			      struct pf_filter *f);

/* Does a configured filter fit into memory? 0 or -ENOMEM after one line. */
int particlefilter_fits(const struct pf_filter *f);

/* Arrays on the device, of a configured filter; 0 or -ENOMEM after one line. */
int particlefilter_allocate(struct pf_filter *f);

/* Estimates of n frames, the first of which is in slot `first`; closes the last frame. */
void particlefilter_read_ring(const struct pf_filter *f, int64_t first, int64_t n,
			      struct pf_estimate *ring);

void particlefilter_free(struct pf_filter *f);

/* Copies the video and its sums along rows to the device. 0 or -ENOMEM after one line. */
int particlefilter_upload(const struct pf_video *video, struct pf_filter *f);

/* ---- looking at a frame ----------------------------------------------------------------- */

/* The particles after a frame, on the host. */
struct pf_view {
	int64_t particles;
	double *x, *y, *loglik, *w, *c;
	int32_t *ancestor;
	struct pf_estimate estimate;
};

/* Allocates; 0 or -ENOMEM after one line. particlefilter_view_free() is due, also after a failure.
 */
int particlefilter_view_init(struct pf_view *v, int64_t particles);
void particlefilter_view_release(struct pf_view *v);

/* Copies what the device holds of its last frame, k, after a synchronize. 0 or -ENOMEM. */
int particlefilter_view_read(const struct pf_filter *f, int64_t k, struct pf_view *v);

/* A row of a track, in the order of its columns. */
enum { PF_TRACK_COLUMNS = 14 };

struct pf_row {
	int64_t frame;
	double value[PF_TRACK_COLUMNS - 1]; /* xe .. unique_ancestors; crc is apart */
	uint32_t crc;
};

extern const char particlefilter_track_header[], particlefilter_particles8_header[];

/* CRC-32 (polynomial EDB88320, reflected), as zlib has it. */
uint32_t particlefilter_crc32(const void *bytes, size_t n);

/* truth_row and truth_col are NaN where the truth is not known. */
void particlefilter_describe(const struct pf_rules *rules, bool synthetic, int64_t k,
			     const struct pf_view *v, struct pf_row *row);

/* Root of the mean square of the distance from the truth, over frames 1 to n, pixels. */
double particlefilter_track_error(const struct pf_rules *rules, const struct pf_estimate *ring,
				  int64_t n);

/* track= and particles8=: runs a whole video, frame by frame. 0 or an errno after one line. */
int particlefilter_write_track(const struct particlefilter_opts *o, struct particlefilter_state *s);

/* ---- hooks ------------------------------------------------------------------------------ */

int particlefilter_limits(const void *opts, struct limits *out);
int particlefilter_setup(const void *opts, void *state);
int particlefilter_reset(const void *opts, void *state, cudaStream_t stream);
void particlefilter_scratch(const void *opts, const void *state, struct scratch *out);
int particlefilter_check(const void *opts, void *state, int64_t steps, struct verdict *verdict);
int particlefilter_report(const void *opts, void *state, struct report *out);
int particlefilter_plot(const void *opts, void *state, struct plot *plot);
int particlefilter_cost(const void *opts, const void *state, struct cost *out);
void particlefilter_teardown(void *state);

extern const struct workload workload_particlefilter;

#ifdef __cplusplus
}
#endif
#endif
