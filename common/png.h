/* png.h - pictures of bytes as PNG files (RFC 2083), packed by zlib. */
#ifndef RIFT_PNG_H
#define RIFT_PNG_H

#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum png_kind { PNG_GREY = 1, PNG_RGB = 3 }; /* bytes a pixel */

/*
 * Writes a whole file. pixel holds width x height x kind bytes, row by row from the top; a side is
 * 1 to 65535. Whether the bytes arrived is for the caller to ask (output_commit()).
 */
void png_write(FILE *f, const uint8_t *pixel, int width, int height, enum png_kind kind);

#ifdef __cplusplus
}
#endif
#endif
