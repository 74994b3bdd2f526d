/* json_file.h - JSON objects in files that somebody else wrote, read with bounded effort. */
#ifndef RIFT_DECODE_JSON_FILE_H
#define RIFT_DECODE_JSON_FILE_H

#include <jansson.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Bytes of text that config.json may have, and index and headers together. The largest model of
 * Llama's kind, of 126 layers, has 0.3 MB; and empty objects take 80 times their text in memory.
 */
enum { JSON_FILE_MAX = 1 << 20 };

/*
 * Bytes `at` to `at + n - 1` of an open file as an object in which no key is there twice; `what` is
 * its name for the line. n counts against *budget, which is at first JSON_FILE_MAX. *out is the
 * caller's, to json_decref(). 0 or a negative errno after a line.
 */
int decode_json_file_piece(int fd, const char *what, uint64_t at, uint64_t n, uint64_t *budget,
			   json_t **out);

/* A whole regular file. */
int decode_json_file_read(const char *path, uint64_t *budget, json_t **out);

/* Reads exactly n bytes, which may be 0. 0, -ENODATA where the file ends, or another negative
 * errno. */
int decode_json_file_bytes(int fd, uint64_t at, void *out, uint64_t n);

#ifdef __cplusplus
}
#endif
#endif
