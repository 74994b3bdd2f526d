/* data.h - images of digits and their labels: read from IDX files, or drawn. */
#ifndef RIFT_MLP_DATA_H
#define RIFT_MLP_DATA_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	MLP_SIDE = 28,		  /* pixels */
	MLP_PIXELS = 784,	  /* of an image */
	MLP_CLASSES = 10,	  /* labels are 0 to 9 */
	MLP_IMAGES_MAX = 1 << 22, /* of a file: 3.3 GB */
};

/* n images row by row, 0 is the background; a label each. Whoever makes them writes, nobody else.
 */
struct mlp_images {
	int64_t n;
	const uint8_t *pixel, *label;
};

void mlp_images_free(struct mlp_images *im);

/* ---- IDX (app_idx.c) ----------------------------------------------------------------------- */

/*
 * Read a file of images (magic number 0x803, 28 x 28) or of labels (0x801) into im, raw or gzip.
 * Labels must be as many as images, which are read first. Return 0; -EINTR; or an errno after one
 * line with the file's name and the byte, counted in what is unpacked.
 */
int mlp_idx_images(const char *path, struct mlp_images *im);
int mlp_idx_labels(const char *path, struct mlp_images *im);

/* ---- drawn digits (generate.c) --------------------------------------------------------- */

/*
 * n images of digits from strokes: shifted, turned, scaled and sheared at random, with pens of
 * different widths, and noise. Image i depends on the seed, `set` (0: training, 1: test) and i.
 * Returns 0, or -EINTR.
 */
int mlp_generate(struct mlp_images *im, int64_t n, uint32_t set, uint64_t seed);

/* A straight piece of a stroke; in the unit square, y down. */
struct mlp_segment {
	float x0, y0, x1, y1;
};

enum { MLP_SEGMENTS_MAX = 64 };

/* The strokes of a digit (app_strokes.c): how many pieces. */
int mlp_strokes(int digit, struct mlp_segment out[MLP_SEGMENTS_MAX]);

/* ---- a picture of them (app_sheet.c) ------------------------------------------------------ */

/* Writes a PNG with a row of images for each digit. Returns 0 or an errno after one line. */
int mlp_write_sheet(const struct mlp_images *im, const char *path);

/* ---- training and test set (data.c) ---------------------------------------------------- */

enum mlp_data_kind { MLP_DATA_AUTO, MLP_DATA_IDX, MLP_DATA_GENERATED };

struct mlp_data_wish {
	enum mlp_data_kind kind;
	const char *folder; /* of IDX files; NULL: data/mnist of rift */
	int64_t images;	    /* of the generated training set; the test set has a sixth */
	uint64_t seed;	    /* of generated images */
};

/* Both sets on the host and on the device. */
struct mlp_data {
	struct mlp_images train, test;
	struct mlp_images train_device, test_device; /* the same in device memory */
	char source[160];			     /* "generated, seed 1"; "IDX files in ..." */
};

/*
 * Configurations of one process that wish the same share it; each gives it back once. *out is
 * NULL after an error. Returns 0, -EINTR, or an errno after one line.
 *
 * Drawn images stay on the host until others are wished: a sweep gives back one configuration
 * before it sets up the next. Files may have changed and are read again; device memory is freed.
 */
int mlp_data_get(const struct mlp_data_wish *wish, const struct mlp_data **out);
void mlp_data_put(const struct mlp_data *data);

/* How often this process has drawn both sets; for tests. */
int64_t mlp_data_draws(void);

#ifdef __cplusplus
}
#endif
#endif
