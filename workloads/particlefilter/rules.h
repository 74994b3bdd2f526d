/*
 * rules.h - what distinguishes particle filters: shared by the kernels, the reference and
 * the video. Rows are counted downwards and columns to the right, from 0; positions are real,
 * the centre of pixel (r, c) is at (r, c).
 *
 * In the notation of the benchmark x addresses rows and y columns; so do names here.
 */
#ifndef RIFT_PARTICLEFILTER_RULES_H
#define RIFT_PARTICLEFILTER_RULES_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PF_RADIUS_MAX = 32 };

/* Third word of Philox counters (particle or position, frame, use, 0). */
enum pf_stream { PF_MOTION, PF_OFFSET, PF_NOISE };

struct pf_rules {
	int64_t rows, cols, frames;
	int32_t radius;		    /* the disk is dr^2 + dc^2 < radius^2 */
	int32_t disk;		    /* pixels of it */
	int32_t object, background; /* grey levels */
	bool rounds;   /* a position's pixel is the nearest; else fractions are dropped */
	bool wraps;    /* pixels outside are what the original's addresses hit; else background */
	bool lcg;      /* the benchmark's generators; else Philox */
	bool by_clock; /* seeds clock x i; else i + 1 */
	int64_t clock;
	int32_t lcg_start; /* generator 0 after the video's noise */
	uint64_t seed;	   /* Philox's key */
	double start_row, start_col;
	double drift_row, drift_col;   /* pixels a frame */
	double spread_row, spread_col; /* standard deviations of the steps, pixels */
};

#ifdef __cplusplus
}
#endif
#endif
