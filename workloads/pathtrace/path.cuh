/*
 * path.cuh - a path of light, followed backwards from the eye, a segment at a time.
 *
 * Kajiya, "The rendering equation", SIGGRAPH 1986; the basis around a normal: Duff et al.,
 * "Building an orthonormal basis, revisited", JCGT 6 (2017).
 */
#ifndef RIFT_PATHTRACE_PATH_CUH
#define RIFT_PATHTRACE_PATH_CUH

#include "common/philox.h"
#include "workloads/pathtrace/hit.cuh"

struct path {
	ray r;
	vec carried; /* throughput: the share of light at its end that arrives at the eye */
	vec light;   /* radiance so far */
	int bounce;
	bool see; /* emission at the next hit counts: no light was sampled from the last one */
};

/* The parts of the scene that lanes read apart, in shared memory. */
struct smem_scene {
	const pt_surface *surface;
	const pt_light *light;
};

/* A point on a surface. */
struct surface_point {
	vec p, n; /* n: towards where the ray came from */
	bool inside;
};

/* In [0, 1), exact. */
static __device__ inline float uniform(uint32_t word)
{
	return (float)(word >> 8) * 0x1p-24f;
}

/* The random numbers of a sample for one use: 0 the camera, 1 + 2 b bounce b, 2 + 2 b its light. */
static __device__ inline philox draw_numbers(const pt_job &job, uint32_t pixel, uint32_t sample,
					     uint32_t use)
{
	return philox4x32(pixel, sample, use, PT_TAG, job.seed);
}

static __device__ inline void begin_path(const pt_job &job, int x, int y, uint32_t sample, path *p)
{
	philox u = draw_numbers(job, (uint32_t)(y * job.width + x), sample, 0);
	float sx = 2 * ((float)x + uniform(u.word[0])) / (float)job.width - 1;
	float sy = 1 - 2 * ((float)y + uniform(u.word[1])) / (float)job.height;

	p->r = { load_vec(job.eye), unit({ sx * job.right, sy * job.up, -1 }) };
	p->carried = { 1, 1, 1 };
	p->light = { 0, 0, 0 };
	p->bounce = 0;
	p->see = true;
}

static __device__ inline surface_point locate_hit(const pt_surface &s, const path *p, float t)
{
	vec at = p->r.o + t * p->r.d, n = load_vec(s.n);
	bool inside;

	if (s.r > 0) {
		n = unit(at - load_vec(s.n));
		at = load_vec(s.n) + s.r * n; /* back on the ball */
	}
	inside = dot(n, p->r.d) > 0;
	return { at, inside ? -1 * n : n, inside };
}

static __device__ inline void reflect(path *p, const surface_point &at)
{
	p->r.d = p->r.d - 2 * dot(at.n, p->r.d) * at.n;
}

/* Reflected or refracted, by chance: the share that Fresnel's formulas give for unpolarized light.
 */
static __device__ inline void pass_glass(path *p, const surface_point &at, float u)
{
	float eta = at.inside ? (float)pt_glass_index : (float)(1 / pt_glass_index);
	float in = -dot(at.n, p->r.d), s2 = eta * eta * (1 - in * in);
	float out = sqrtf(fmaxf(1 - s2, 0));
	float across = (in - eta * out) / (in + eta * out);
	float along = (eta * in - out) / (eta * in + out);
	float share = s2 >= 1 ? 1 : (across * across + along * along) / 2;

	if (u < share) {
		reflect(p, at);
		return;
	}
	p->r.d = eta * p->r.d + (eta * in - out) * at.n;
	p->r.o = at.p - (float)pt_offset * at.n;
}

/* Light that comes straight from a point on one of the lights, taken by chance. */
static __device__ inline vec sample_light(const pt_job &job, const pt_light *lights, vec from,
					  vec n, const philox &u)
{
	int k = (int)(uniform(u.word[0]) * (float)job.lights);
	const pt_light &l = lights[k < job.lights ? k : job.lights - 1];
	vec w = load_vec(l.q) + uniform(u.word[1]) * load_vec(l.u) +
		uniform(u.word[2]) * load_vec(l.v) - from;
	float square = dot(w, w), length = sqrtf(square);
	vec d = (1 / length) * w;
	float cosine = dot(d, n), there = -dot(d, load_vec(l.n));

	if (!(cosine > 0 && there > 0))
		return { 0, 0, 0 };
	if (is_blocked(job, { from, d }, length - 2 * (float)pt_offset))
		return { 0, 0, 0 };
	return (cosine * there / square) * load_vec(l.power);
}

/* Sine and cosine of u full turns. On a GPU sinf() and cosf() would reduce arguments of any size.
 */
static __device__ inline void sincos_turns(float u, float *sine, float *cosine)
{
#ifdef __CUDACC__
	sincospif(2 * u, sine, cosine);
#else
	const float two_pi = 6.283185307179586f;

	*sine = sinf(two_pi * u);
	*cosine = cosf(two_pi * u);
#endif
}

/* A direction with a density of cosine over pi around n. */
static __device__ inline vec scatter_cosine(vec n, float u1, float u2)
{
	float sine, cosine, r = sqrtf(u1), z = sqrtf(1 - u1);
	float s = n.z >= 0 ? 1.0f : -1.0f, a = -1 / (s + n.z), c = n.x * n.y * a;
	vec tangent = { 1 + s * n.x * n.x * a, s * c, -s * n.x };
	vec other = { c, s + n.y * n.y * a, -n.y };

	sincos_turns(u2, &sine, &cosine);
	return r * cosine * tangent + r * sine * other + z * n;
}

/* Continues the path from a surface; false: its throughput is 0. */
static __device__ inline bool bounce_path(const pt_job &job, const smem_scene &smem,
					  const pt_surface &s, const surface_point &at,
					  uint32_t pixel, uint32_t sample, const philox &u, path *p)
{
	vec rho = load_vec(s.rho);

	p->r.o = at.p + (float)pt_offset * at.n;
	p->see = s.material != PT_DIFFUSE;
	if (s.material == PT_MIRROR) {
		reflect(p, at);
	} else if (s.material == PT_GLASS) {
		pass_glass(p, at, uniform(u.word[2]));
	} else {
		if (job.lights) {
			philox v = draw_numbers(job, pixel, sample, 2 + 2 * (uint32_t)p->bounce);

			p->light =
				p->light +
				p->carried * rho * sample_light(job, smem.light, p->r.o, at.n, v);
		}
		p->r.d = scatter_cosine(at.n, uniform(u.word[0]), uniform(u.word[1]));
	}
	p->carried = p->carried * rho;
	p->bounce++;
	return largest(p->carried) > 0;
}

/* Russian roulette: the throughput of a path that survives is divided by its chance. */
static __device__ inline bool survives(path *p, float u)
{
	float chance = fminf(0.95f, largest(p->carried));

	if (u >= chance)
		return false;
	p->carried = (1 / chance) * p->carried;
	return true;
}

/* A segment and what is at its end. Returns whether the path goes on; *lost counts escapes. */
static __device__ inline bool trace_segment(const pt_job &job, const smem_scene &smem,
					    uint32_t pixel, uint32_t sample, path *p,
					    uint32_t *lost)
{
	hit h = nearest_hit(job, p->r);

	if (h.what < 0) {
		p->light = p->light + job.background * p->carried;
		*lost += job.background == 0;
		return false;
	}
	const pt_surface &s = smem.surface[h.what];
	surface_point at = locate_hit(s, p, h.t);

	if ((p->see || !job.nee) && !at.inside)
		p->light = p->light + p->carried * load_vec(s.le);
	if (p->bounce == job.bounces)
		return false;
	philox u = draw_numbers(job, pixel, sample, 1 + 2 * (uint32_t)p->bounce);

	if (p->bounce >= job.rr && !survives(p, uniform(u.word[3])))
		return false;
	return bounce_path(job, smem, s, at, pixel, sample, u, p);
}

#endif
