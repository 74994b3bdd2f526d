/* setup.c - memory and images of the stereo workload. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda_check.h"
#include "common/device.h"
#include "workloads/stereo/inputs.h"
#include "workloads/stereo/app_ppm.h"
#include "workloads/stereo/stereo.h"

static int read_image(const char *path, struct stereo_size size, uint32_t **out)
{
	*out = malloc((size_t)size.w * (size_t)size.h * sizeof(**out));
	if (!*out)
		return complain(ENOMEM, "%s: no memory for %d x %d pixels", path, size.w, size.h);
	return stereo_ppm_read(path, size, *out);
}

static int read_images(const struct stereo_opts *o, struct stereo_state *s)
{
	int err;

	if (!o->left || !o->right)
		return 0;
	err = read_image(o->left, s->size, &s->left);
	return err ? err : read_image(o->right, s->size, &s->right);
}

/* The strip for a chunk, which is what one launch does. */
static int32_t choose_strip(const struct stereo_opts *o, struct stereo_size size)
{
	int32_t chunks = dataset_chunks(&o->set);

	if (o->strip)
		return (int32_t)o->strip;
	size.h = (size.h + chunks - 1) / chunks;
	return stereo_strip_for(size);
}

int stereo_setup(const void *opts, void *state)
{
	const struct stereo_opts *o = opts;
	struct stereo_state *s = state;
	struct dataset_shape layout;
	int err = device_present();
	char what[96];

	if (!err)
		err = stereo_image_size(o, &s->size);
	if (err)
		return err;
	stereo_load_kernels();
	s->strip = choose_strip(o, s->size);
	layout = stereo_layout(o, s->size);
	snprintf(what, sizeof(what), "width=%d height=%d slots=%ld", s->size.w, s->size.h,
		 (long)o->set.slots);
	err = dataset_make(&s->set, &o->set, &layout, what);
	if (!err)
		err = read_images(o, s);
	return err ? err : dataset_fill(&s->set, &stereo_work, o, s);
}

void stereo_row(const struct stereo_opts *o, const struct stereo_state *s,
		const struct stereo_part *part, uint32_t *left, uint32_t *right)
{
	int64_t at = (int64_t)part->y * s->size.w;

	for (int32_t x = part->from; x < part->end; x++) {
		left[x] = s->left ? s->left[at + x]
				  : stereo_left(x, part->y, s->size, part->slot, (uint64_t)o->seed);
		right[x] = s->left ? s->right[at + x]
				   : stereo_right(x, part->y, part->slot, (uint64_t)o->seed);
	}
}

void stereo_teardown(void *state)
{
	struct stereo_state *s = state;

	dataset_release(&s->set);
	free(s->left);
	free(s->right);
	s->left = s->right = NULL;
}
