/*
 * app_ppm.h - binary PPM files (P6), 8 bits a colour: the only kind of picture that is read.
 *
 * Both return 0, -EINTR, or a negative errno after one line that names the file and the byte.
 */
#ifndef RIFT_STEREO_APP_PPM_H
#define RIFT_STEREO_APP_PPM_H

#include "workloads/stereo/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The size alone, of at most `most` pixels a side. */
int stereo_ppm_size(const char *path, int32_t most, struct stereo_size *size);

/* Pixels of a file of that size, row by row: red in the lowest byte, green, blue, 0. */
int stereo_ppm_read(const char *path, struct stereo_size size, uint32_t *pixels);

#ifdef __cplusplus
}
#endif
#endif
