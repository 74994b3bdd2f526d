/*
 * inputs.h - pairs of images that are made: the same bits on the device and on the host.
 *
 * The right one is noise; the left one is the same noise, moved by the disparity that is drawn and
 * with up to 4 more or less in each colour. Colours are bytes 0 to 2 of a pixel.
 */
#ifndef RIFT_STEREO_INPUTS_H
#define RIFT_STEREO_INPUTS_H

#include "common/philox.h"
#include "workloads/stereo/device.h"

/* Tags of the random numbers: the texture of both images, and the noise of the left one. */
enum { STEREO_TAG_TEXTURE = 20, STEREO_TAG_NOISE = 21 };

enum { STEREO_SHIFT = 64 }; /* keeps coordinates in the texture positive */

/* The disparity that is drawn at a pixel: a slope of three steps, and on it two squares and a ramp.
 */
PHILOX_FN int32_t stereo_truth(int32_t x, int32_t y, struct stereo_size s)
{
	int32_t w = s.w, h = s.h, d = -2 - 3 * y / h;

	if (w <= 8 * x && 8 * x < 3 * w && h <= 8 * y && 8 * y < 4 * h)
		d = -8;
	if (w <= 2 * x && 4 * x < 3 * w && h <= 2 * y && 8 * y < 7 * h)
		d = -12;
	if (5 * w <= 8 * x && 8 * x < 7 * w && h <= 8 * y && 4 * y < h)
		d = -16 + 16 * (8 * x - 5 * w) / (2 * w);
	return d;
}

PHILOX_FN uint32_t stereo_texel(int32_t u, int32_t y, uint32_t slot, uint64_t seed)
{
	struct philox r = philox4x32((uint32_t)u >> 2, (uint32_t)y, STEREO_TAG_TEXTURE, slot, seed);

	return r.word[u & 3] & 0x00ffffff;
}

PHILOX_FN uint32_t stereo_right(int32_t x, int32_t y, uint32_t slot, uint64_t seed)
{
	return stereo_texel(x + STEREO_SHIFT, y, slot, seed);
}

PHILOX_FN uint32_t stereo_left(int32_t x, int32_t y, struct stereo_size s, uint32_t slot,
			       uint64_t seed)
{
	uint32_t t = stereo_texel(x + STEREO_SHIFT + stereo_truth(x, y, s), y, slot, seed);
	struct philox n = philox4x32((uint32_t)x, (uint32_t)y, STEREO_TAG_NOISE, slot, seed);
	uint32_t out = 0;

	for (int c = 0; c < 24; c += 8) {
		int32_t v = (int32_t)(t >> c & 255) + (int32_t)(n.word[0] >> c & 7) - 4;

		v = v < 0 ? 0 : v > 255 ? 255 : v;
		out |= (uint32_t)v << c;
	}
	return out;
}

#endif
