/* reference_hit.h - where rays of the reference meet quads and balls. */
#ifndef RIFT_PATHTRACE_REFERENCE_HIT_H
#define RIFT_PATHTRACE_REFERENCE_HIT_H

#include "workloads/pathtrace/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pt_ref_ray {
	double o[3], d[3];
};

/* A hit: n is geometric, of a ball outwards. */
struct pt_meeting {
	double t, p[3], n[3];
	const struct pt_quad *quad; /* or NULL: */
	const struct pt_ball *ball; /* or NULL: nothing was met */
};

/* The nearest with t > 0, INFINITY where nothing is; p and n are not set. */
struct pt_meeting pathtrace_ref_meet(const struct pt_scene *scene, const struct pt_ref_ray *r);

/* Sets p and n of what was met. */
void pathtrace_ref_place(struct pt_meeting *m, const struct pt_ref_ray *r);

#ifdef __cplusplus
}
#endif
#endif
