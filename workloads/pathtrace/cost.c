/* cost.c - what a step costs, by counting. */
#include <errno.h>

#include "common/interrupt.h"
#include "common/cost.h"
#include "workloads/pathtrace/pathtrace.h"

/* Per ray, flops: a quad 33 (distance 12, point 6, two forms of 6, division taken for 3), a ball
 * 25. Per segment of a path beyond that: a direction, the light's share, weights, 120. */
static const double quad_flops = 33, ball_flops = 25, segment_flops = 120;

/* How many rays a path is depends on chance: counted by the reference on so many paths. */
enum { COUNTED = 4096, PATHS_PER_LOOK = 256 };

static int count_rays(const struct pt_ref *r, struct pt_ref_rays *rays)
{
	int64_t pixels = r->width * r->height;
	struct pt_ref_path path;

	for (int64_t i = 0; i < COUNTED; i++) {
		if (i % PATHS_PER_LOOK == PATHS_PER_LOOK - 1 && interrupted())
			return -EINTR;
		if (pixels < COUNTED) /* all of them, as many samples as that takes */
			pathtrace_ref_path(r, i % pixels, (uint32_t)(i / pixels), &path);
		else
			pathtrace_ref_path(r, i * pixels / COUNTED, 0, &path);
		pathtrace_ref_count(rays, &path);
	}
	return 0;
}

int pathtrace_cost(const void *opts, const void *state, struct cost *out)
{
	const struct pathtrace_opts *o = opts;
	const struct pt_ref *r = &((const struct pathtrace_state *)state)->ref;
	double pixels = (double)(o->width * o->height), paths = pixels * (double)o->samples;
	double ray = r->scene.quads * quad_flops + r->scene.balls * ball_flops;
	struct pt_ref_rays n = { 0 };
	int err = count_rays(r, &n);

	if (err)
		return err;
	*out = (struct cost){
		.launches = 1,
		.flops = paths * ((n.segments + n.shadows) * ray + n.segments * segment_flops) /
			 n.paths,
		.bytes_moved = pixels * 2 * sizeof(struct pt_pixel),
		.evaluations = paths,
		.evaluation = "path",
		.formula =
			"paths x (rays x (33 a quad + 25 a ball) + segments x 120), rays as 4096 "
			"paths of the reference have them; 80 B a pixel",
	};
	return 0;
}
