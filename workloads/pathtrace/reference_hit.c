/* reference_hit.c - quads by products of edges, balls by the quadratic formula. */
#include "workloads/pathtrace/reference_hit.h"

#include <math.h>

#include "workloads/pathtrace/vec3.h"

/* alpha = w.(p - q) x v and beta = w.(u x (p - q)), where w = (u x v) / |u x v|^2 */
static double quad_distance(const struct pt_quad *q, const struct pt_ref_ray *r)
{
	double w[3], to[3], from_q[3], product[3], t, alpha, beta, square;

	cross(q->u, q->v, w);
	square = dot(w, w);
	along(q->q, -1, r->o, to);
	t = dot(to, w) / dot(r->d, w);
	if (!(t > 0) || isinf(t))
		return INFINITY;
	along(r->o, t, r->d, from_q);
	along(from_q, -1, q->q, from_q);
	cross(from_q, q->v, product);
	alpha = dot(w, product) / square;
	cross(q->u, from_q, product);
	beta = dot(w, product) / square;
	return alpha >= 0 && alpha <= 1 && beta >= 0 && beta <= 1 ? t : INFINITY;
}

static double ball_distance(const struct pt_ball *s, const struct pt_ref_ray *r)
{
	double to[3], b, disc;

	along(s->c, -1, r->o, to);
	b = dot(to, r->d);
	disc = b * b - (dot(to, to) - s->r * s->r);
	if (disc <= 0)
		return INFINITY;
	if (b - sqrt(disc) > 0)
		return b - sqrt(disc);
	return b + sqrt(disc) > 0 ? b + sqrt(disc) : INFINITY;
}

struct pt_meeting pathtrace_ref_meet(const struct pt_scene *scene, const struct pt_ref_ray *r)
{
	struct pt_meeting m = { .t = INFINITY };

	for (int i = 0; i < scene->quads; i++) {
		double t = quad_distance(&scene->quad[i], r);

		if (t < m.t)
			m = (struct pt_meeting){ .t = t, .quad = &scene->quad[i] };
	}
	for (int i = 0; i < scene->balls; i++) {
		double t = ball_distance(&scene->ball[i], r);

		if (t < m.t)
			m = (struct pt_meeting){ .t = t, .ball = &scene->ball[i] };
	}
	return m;
}

void pathtrace_ref_place(struct pt_meeting *m, const struct pt_ref_ray *r)
{
	double area;

	along(r->o, m->t, r->d, m->p);
	if (m->quad) {
		pathtrace_quad_normal(m->quad, m->n, &area);
		return;
	}
	along(m->p, -1, m->ball->c, m->n);
	normalize(m->n);
	along(m->ball->c, m->ball->r, m->n, m->p);
}
