/*
 * video.h - the video that is tracked: a bright disk that moves over a noisy background, or
 * frames from a file.
 */
#ifndef RIFT_PARTICLEFILTER_VIDEO_H
#define RIFT_PARTICLEFILTER_VIDEO_H

#include "workloads/particlefilter/rules.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pf_video {
	int64_t rows, cols, frames;
	uint8_t *pixels; /* [frames][rows][cols], grey levels */
};

/* How a video is made up. */
struct pf_scene {
	int64_t rows, cols, frames;
	bool wraps;	   /* the centre as the original computes it, rows and columns exchanged in
			    * frame 0, reflected, wrapped; else it moves on, out of the frame */
	bool lcg_noise;	   /* of generator 0; else of Philox */
	int32_t lcg_start; /* generator 0's seed; afterwards its state */
	uint64_t seed;	   /* of Philox */
	bool noise;
};

/*
 * Makes it. Returns 0; -ENOMEM after one line; -EINTR after Ctrl-C. particlefilter_video_free() is
 * due in any case, also on a zeroed struct.
 */
int particlefilter_video_make(struct pf_scene *scene, struct pf_video *video);
void particlefilter_video_free(struct pf_video *video);

/* Where the object's centre is in frame k; in the original's video before it wraps. */
void particlefilter_truth(int64_t rows, int64_t cols, bool wraps, int64_t k, int64_t *row,
			  int64_t *col);

#ifdef __cplusplus
}
#endif
#endif
