/* data.c - the training and the test set: found or drawn, on host and device, shared. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/check.h"
#include "common/cuda_check.h"
#include "common/datafile.h"
#include "common/device.h"
#include "workloads/mlp/data.h"

static const char own_folder[] = "data/mnist";

/* Both sets as drawn, on the host; they follow from the number and the seed alone. */
struct drawn {
	int64_t images; /* of the training set */
	uint64_t seed;
	struct mlp_images train, test;
	int holders;
};

/* The process's sets, from the newest on. */
struct shared {
	struct mlp_data data; /* first: what mlp_data_get() gives out */
	struct mlp_data_wish wish;
	char *folder;	     /* of the wish, or NULL */
	struct drawn *drawn; /* owns the images on the host; NULL: data does */
	int users;
	struct shared *next;
};

static struct shared *all;

/*
 * The sets that were drawn last; the pointer counts as a holder. 60,000 images take 0.6 to 1.1 s
 * to draw, and 0.05 to 0.2 s to read.
 */
static struct drawn *kept;
static int64_t draws;

/* ---- files ----------------------------------------------------------------------------- */

/* As they are called at their source and elsewhere; any of them may end in .gz. */
static const char *const train_images[] = { "train-images-idx3-ubyte", "train-images.idx3-ubyte" };
static const char *const train_labels[] = { "train-labels-idx1-ubyte", "train-labels.idx1-ubyte" };
static const char *const test_images[] = { "t10k-images-idx3-ubyte", "t10k-images.idx3-ubyte" };
static const char *const test_labels[] = { "t10k-labels-idx1-ubyte", "t10k-labels.idx1-ubyte" };

/* folder NULL: rift's own. */
static bool find_files(const char *folder, const char *const names[2],
		       char path[DATAFILE_PATH_BYTES])
{
	for (int i = 0; i < 4; i++) {
		const char *ending = i & 1 ? ".gz" : "";
		char name[128];

		snprintf(name, sizeof(name), "%s/%s%s", own_folder, names[i / 2], ending);
		if (folder)
			snprintf(path, DATAFILE_PATH_BYTES, "%s/%s%s", folder, names[i / 2],
				 ending);
		if (folder ? !access(path, F_OK) : datafile_there(name, path))
			return true;
	}
	return false;
}

static int read_one(const char *folder, const char *const names[2], struct mlp_images *im,
		    int (*read)(const char *path, struct mlp_images *im))
{
	char path[DATAFILE_PATH_BYTES];

	if (find_files(folder, names, path))
		return read(path, im);
	return complain(ENOENT, "no %s in %s, raw or with .gz", names[0],
			folder ? folder : own_folder);
}

static int read_files(const char *folder, struct mlp_data *d)
{
	int err = read_one(folder, train_images, &d->train, mlp_idx_images);

	err = err ? err : read_one(folder, train_labels, &d->train, mlp_idx_labels);
	err = err ? err : read_one(folder, test_images, &d->test, mlp_idx_images);
	err = err ? err : read_one(folder, test_labels, &d->test, mlp_idx_labels);
	snprintf(d->source, sizeof(d->source), "IDX files in %.120s", folder ? folder : own_folder);
	return err;
}

/* ---- drawn sets ------------------------------------------------------------------------ */

static void release_drawn(struct drawn *d)
{
	if (!d || --d->holders)
		return;
	mlp_images_free(&d->train);
	mlp_images_free(&d->test);
	free(d);
}

static void forget_drawn(void)
{
	release_drawn(kept);
	kept = NULL;
}

/* NULL after an error: sets that are not whole are never kept. */
static int make_drawn(int64_t images, uint64_t seed, struct drawn **out)
{
	struct drawn *d = calloc(1, sizeof(*d));
	int64_t test = images / 6 > 0 ? images / 6 : 1;
	int err;

	CHECK(d, "memory for the data");
	*d = (struct drawn){ .images = images, .seed = seed, .holders = 1 };
	err = mlp_generate(&d->train, images, 0, seed);
	err = err ? err : mlp_generate(&d->test, test, 1, seed);
	if (err)
		release_drawn(d);
	*out = err ? NULL : d;
	draws += !err;
	return err;
}

/* The last sets are released before others are drawn, so that both need not fit in memory. */
static int draw_images(const struct mlp_data_wish *w, struct shared *s)
{
	int err = 0;

	if (!kept || kept->images != w->images || kept->seed != w->seed) {
		forget_drawn();
		err = make_drawn(w->images, w->seed, &kept);
	}
	if (err)
		return err;
	kept->holders++;
	s->drawn = kept;
	s->data.train = kept->train;
	s->data.test = kept->test;
	snprintf(s->data.source, sizeof(s->data.source), "generated, seed %lu",
		 (unsigned long)w->seed);
	return 0;
}

int64_t mlp_data_draws(void)
{
	return draws;
}

static int fill_shared(const struct mlp_data_wish *w, struct shared *s)
{
	char path[DATAFILE_PATH_BYTES];

	if (w->kind != MLP_DATA_IDX && !w->folder &&
	    (w->kind != MLP_DATA_AUTO || !find_files(NULL, train_images, path)))
		return draw_images(w, s);
	forget_drawn();
	return read_files(w->folder, &s->data);
}

/* ---- the device ------------------------------------------------------------------------ */

static int copy_to_device(void *out, const void *from, size_t bytes)
{
	void *p;
	int err = device_new(&p, bytes, "images");

	memcpy(out, &p, sizeof(p));
	if (!err)
		CUDA(cudaMemcpy(p, from, bytes, cudaMemcpyHostToDevice));
	return err;
}

static int upload_images(const struct mlp_images *from, struct mlp_images *to)
{
	int err = copy_to_device(&to->pixel, from->pixel, (size_t)from->n * MLP_PIXELS);

	to->n = from->n;
	return err ? err : copy_to_device(&to->label, from->label, (size_t)from->n);
}

static void free_device(struct mlp_images *im)
{
	device_free((void *)(uintptr_t)im->pixel);
	device_free((void *)(uintptr_t)im->label);
}

/* ---- sharing --------------------------------------------------------------------------- */

static bool same_wish(const struct mlp_data_wish *a, const struct mlp_data_wish *b)
{
	return a->kind == b->kind && a->images == b->images && a->seed == b->seed &&
	       !a->folder == !b->folder && (!a->folder || !strcmp(a->folder, b->folder));
}

static void discard_shared(struct shared *s)
{
	if (!s->drawn) {
		mlp_images_free(&s->data.train);
		mlp_images_free(&s->data.test);
	}
	release_drawn(s->drawn);
	free_device(&s->data.train_device);
	free_device(&s->data.test_device);
	free(s->folder);
	free(s);
}

static int make_shared(const struct mlp_data_wish *wish, struct shared **out)
{
	struct shared *s = calloc(1, sizeof(*s));
	int err;

	CHECK(s, "memory for the data");
	s->wish = *wish;
	s->folder = wish->folder ? strdup(wish->folder) : NULL;
	s->wish.folder = s->folder;
	err = fill_shared(wish, s);
	err = err ? err : upload_images(&s->data.train, &s->data.train_device);
	err = err ? err : upload_images(&s->data.test, &s->data.test_device);
	if (err)
		discard_shared(s);
	*out = err ? NULL : s;
	return err;
}

int mlp_data_get(const struct mlp_data_wish *wish, const struct mlp_data **out)
{
	struct shared *s = all;
	int err;

	*out = NULL;
	while (s && !same_wish(&s->wish, wish))
		s = s->next;
	if (!s) {
		err = make_shared(wish, &s);
		if (err)
			return err;
		s->next = all;
		all = s;
	}
	s->users++;
	*out = &s->data;
	return 0;
}

void mlp_data_put(const struct mlp_data *data)
{
	struct shared **link = &all, *s;

	while (*link && &(*link)->data != data)
		link = &(*link)->next;
	s = *link;
	if (!s || --s->users)
		return;
	*link = s->next;
	discard_shared(s);
}
