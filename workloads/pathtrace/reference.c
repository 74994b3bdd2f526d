/*
 * reference.c - one path after the other, in double. It differs in form from the kernel: quads are
 * met by products of edges, balls by the quadratic formula, light is asked for with its density
 * written out.
 */
#include "workloads/pathtrace/reference.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/interrupt.h"
#include "common/philox.h"
#include "workloads/pathtrace/reference_hit.h"
#include "workloads/pathtrace/vec3.h"

enum { TAG = 23, PATHS_PER_LOOK = 4096 };

static const double radiance_max = 1 << 20;

struct walk {
	const struct pt_ref *ref;
	struct pt_ref_path *out;
	struct pt_ref_ray ray;
	double carried[3];
	bool see;
	uint32_t pixel, sample;
	double u[4]; /* of this bounce */
};

static void draw_numbers(const struct walk *w, uint32_t use, double u[4])
{
	struct philox p = philox4x32(w->pixel, w->sample, use, TAG, w->ref->seed);

	for (int i = 0; i < 4; i++)
		u[i] = ldexp(p.word[i] >> 8, -24);
}

static void start_path(struct walk *w)
{
	const struct pt_ref *r = w->ref;
	double u[4], x = (double)(w->pixel % r->width), y = (double)(w->pixel / r->width);

	draw_numbers(w, 0, u);
	memcpy(w->ray.o, r->scene.eye, sizeof(w->ray.o));
	w->ray.d[0] = (2 * (x + u[0]) / (double)r->width - 1) * pt_field * (double)r->width /
		      (double)r->height;
	w->ray.d[1] = (1 - 2 * (y + u[1]) / (double)r->height) * pt_field;
	w->ray.d[2] = -1;
	normalize(w->ray.d);
	w->carried[0] = w->carried[1] = w->carried[2] = 1;
	w->see = true;
}

static const struct pt_quad *choose_light(const struct pt_scene *s, double u, int *lights)
{
	const struct pt_quad *all[PT_QUADS];
	int n = 0;

	for (int i = 0; i < s->quads; i++)
		if (pathtrace_is_light(&s->quad[i]))
			all[n++] = &s->quad[i];
	*lights = n;
	return n ? all[u * n < n - 1 ? (int)(u * n) : n - 1] : NULL;
}

/* The estimate is f Le cos / density. The brdf is rho / pi, the density 1 / (lights x area) by
 * area: by solid angle it is D2 / (cos of the light) times as much. */
static void ask_light(struct walk *w, const double n[3], const double rho[3], int bounce)
{
	double u[4], normal[3], area, square, length, cosine, there, density;
	struct pt_ref_ray shadow;
	const struct pt_quad *q;
	int lights;

	draw_numbers(w, 2 + 2 * (uint32_t)bounce, u);
	q = choose_light(&w->ref->scene, u[0], &lights);
	if (!q)
		return;
	pathtrace_quad_normal(q, normal, &area);
	along(q->q, u[1], q->u, shadow.d);
	along(shadow.d, u[2], q->v, shadow.d);
	memcpy(shadow.o, w->ray.o, sizeof(shadow.o));
	along(shadow.d, -1, shadow.o, shadow.d);
	square = dot(shadow.d, shadow.d);
	length = normalize(shadow.d);
	cosine = dot(shadow.d, n);
	there = -dot(shadow.d, normal);
	if (!(cosine > 0 && there > 0))
		return;
	w->out->shadows++;
	if (pathtrace_ref_meet(&w->ref->scene, &shadow).t < length - 2 * pt_offset)
		return;
	density = square / (there * area * lights);
	for (int i = 0; i < 3; i++)
		w->out->light[i] += w->carried[i] * rho[i] / M_PI * q->le[i] * cosine / density;
}

static void scatter_cosine(struct walk *w, const double n[3])
{
	double s = n[2] >= 0 ? 1 : -1, a = -1 / (s + n[2]), c = n[0] * n[1] * a;
	double t[3] = { 1 + s * n[0] * n[0] * a, s * c, -s * n[0] };
	double b[3] = { c, s + n[1] * n[1] * a, -n[1] };
	double r = sqrt(w->u[0]), phi = 2 * M_PI * w->u[1];

	for (int i = 0; i < 3; i++)
		w->ray.d[i] = r * cos(phi) * t[i] + r * sin(phi) * b[i] + sqrt(1 - w->u[0]) * n[i];
}

static void reflect(struct walk *w, const double n[3])
{
	along(w->ray.d, -2 * dot(w->ray.d, n), n, w->ray.d);
}

static void pass_glass(struct walk *w, const struct pt_meeting *m, const double n[3], bool inside)
{
	double eta = inside ? pt_glass_index : 1 / pt_glass_index;
	double ci = -dot(w->ray.d, n), s2 = eta * eta * (1 - ci * ci), ct = sqrt(1 - fmin(s2, 1));
	double rs = (ci - eta * ct) / (ci + eta * ct), rp = (eta * ci - ct) / (eta * ci + ct);

	if (s2 >= 1 || w->u[2] < (rs * rs + rp * rp) / 2) {
		reflect(w, n);
		return;
	}
	for (int i = 0; i < 3; i++)
		w->ray.d[i] = eta * w->ray.d[i] + (eta * ci - ct) * n[i];
	along(m->p, -pt_offset, n, w->ray.o);
}

static void leave_surface(struct walk *w, const struct pt_meeting *m, int bounce)
{
	const double *rho = m->quad ? m->quad->rho : m->ball->rho;
	enum pt_material kind = m->quad ? PT_DIFFUSE : m->ball->material;
	bool inside = dot(w->ray.d, m->n) > 0;
	double n[3] = { 0 };

	along(n, inside ? -1 : 1, m->n, n);
	along(m->p, pt_offset, n, w->ray.o);
	if (kind == PT_MIRROR)
		reflect(w, n);
	if (kind == PT_GLASS)
		pass_glass(w, m, n, inside);
	if (kind == PT_DIFFUSE && w->ref->nee)
		ask_light(w, n, rho, bounce);
	if (kind == PT_DIFFUSE)
		scatter_cosine(w, n);
	for (int i = 0; i < 3; i++)
		w->carried[i] *= rho[i];
	w->see = kind != PT_DIFFUSE;
}

static bool survives(struct walk *w)
{
	double p = fmin(0.95, max3(w->carried));

	for (int i = 0; i < 3; i++)
		w->carried[i] /= p;
	return w->u[3] < p;
}

static void add_light(struct walk *w, const double light[3])
{
	for (int i = 0; i < 3; i++)
		w->out->light[i] += w->carried[i] * light[i];
}

static void record_hit(struct walk *w, const struct pt_meeting *m)
{
	struct pt_ref_hit *h = &w->out->hit[w->out->segments - 1];

	h->t = m->t;
	memcpy(h->p, m->p, sizeof(h->p));
	memcpy(h->carried, w->carried, sizeof(h->carried));
	memcpy(h->light, w->out->light, sizeof(h->light));
}

/* Goes to the next hit and on from it; false: the path has ended. */
static bool trace_segment(struct walk *w, int bounce)
{
	const struct pt_ref *r = w->ref;
	double sky = r->scene.background;
	struct pt_meeting m = pathtrace_ref_meet(&r->scene, &w->ray);

	w->out->segments++;
	if (isinf(m.t)) {
		add_light(w, (double[]){ sky, sky, sky });
		w->out->lost = sky == 0;
		return false;
	}
	pathtrace_ref_place(&m, &w->ray);
	record_hit(w, &m);
	if (m.quad && (w->see || !r->nee) && dot(w->ray.d, m.n) < 0)
		add_light(w, m.quad->le);
	if (bounce == r->bounces)
		return false;
	draw_numbers(w, 1 + 2 * (uint32_t)bounce, w->u);
	if (bounce >= r->rr && !survives(w))
		return false;
	leave_surface(w, &m, bounce);
	return max3(w->carried) > 0;
}

void pathtrace_ref_path(const struct pt_ref *r, int64_t pixel, uint32_t sample,
			struct pt_ref_path *out)
{
	struct walk w = { .ref = r, .out = out, .pixel = (uint32_t)pixel, .sample = sample };

	memset(out->light, 0, sizeof(out->light));
	out->segments = out->shadows = 0;
	out->lost = false;
	start_path(&w);
	for (int bounce = 0; trace_segment(&w, bounce); bounce++)
		;
}

void pathtrace_ref_count(struct pt_ref_rays *rays, const struct pt_ref_path *path)
{
	rays->paths++;
	rays->segments += path->segments;
	rays->shadows += path->shadows;
	rays->lost += path->lost;
}

int pathtrace_ref_pixel(const struct pt_ref *r, int64_t pixel, uint32_t n, double mean[3],
			struct pt_ref_rays *rays)
{
	struct pt_ref_path path;

	mean[0] = mean[1] = mean[2] = 0;
	for (uint32_t s = 0; s < n; s++) {
		if (s % PATHS_PER_LOOK == PATHS_PER_LOOK - 1 && interrupted())
			return -EINTR;
		pathtrace_ref_path(r, pixel, s, &path);
		for (int i = 0; i < 3; i++)
			mean[i] += fmin(path.light[i], radiance_max) / n;
		pathtrace_ref_count(rays, &path);
	}
	return 0;
}
