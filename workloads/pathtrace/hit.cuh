/* hit.cuh - where rays meet quads and balls. All lanes ask for the same primitive at a time. */
#ifndef RIFT_PATHTRACE_HIT_CUH
#define RIFT_PATHTRACE_HIT_CUH

#include "workloads/pathtrace/device.h"
#include "workloads/pathtrace/vec.cuh"

static const float far_away = 1e30f;

struct ray {
	vec o, d; /* d has length 1 */
};

struct hit {
	float t; /* far_away: none */
	int what;
};

/*
 * Distances > 0, or far_away. Both are written so that NaN is no hit: a ray within the plane
 * divides by 0.
 */
static __device__ inline float intersect_quad(const pt_plane &q, ray r)
{
	float t = (q.d - dot(load_vec(q.n), r.o)) / dot(load_vec(q.n), r.d);
	vec p = r.o + t * r.d;
	float a = dot(load_vec(q.a), p) + q.a0, b = dot(load_vec(q.b), p) + q.b0;

	return t > 0 && a >= 0 && a <= 1 && b >= 0 && b <= 1 ? t : far_away;
}

/* By the distance of the centre from the ray, not by b^2 - c: c is a difference of large squares.
 */
static __device__ inline float intersect_ball(const pt_round &ball, ray r)
{
	vec to = load_vec(ball.c) - r.o;
	float b = dot(to, r.d);
	vec off = to - b * r.d;
	float disc = ball.r2 - dot(off, off), root = sqrtf(fmaxf(disc, 0));
	float t = b - root > 0 ? b - root : b + root;

	return disc > 0 && t > 0 ? t : far_away;
}

static __device__ inline hit nearest_hit(const pt_job &job, ray r)
{
	hit best = { far_away, -1 };

	for (int i = 0; i < PT_QUADS; i++)
		if (i < job.quads) {
			float t = intersect_quad(job.plane[i], r);

			best = t < best.t ? hit{ t, i } : best;
		}
	for (int i = 0; i < PT_BALLS; i++)
		if (i < job.balls) {
			float t = intersect_ball(job.ball[i], r);

			best = t < best.t ? hit{ t, job.quads + i } : best;
		}
	return best;
}

static __device__ inline bool is_blocked(const pt_job &job, ray r, float before)
{
	bool blocked = false;

	for (int i = 0; i < PT_QUADS; i++)
		if (i < job.quads)
			blocked |= intersect_quad(job.plane[i], r) < before;
	for (int i = 0; i < PT_BALLS; i++)
		if (i < job.balls)
			blocked |= intersect_ball(job.ball[i], r) < before;
	return blocked;
}

#endif
