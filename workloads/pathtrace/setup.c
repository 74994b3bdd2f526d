/* setup.c - the scene in the kernel's form; memory; start and end. */
#include <errno.h>
#include <stdio.h>

#include "common/cuda_check.h"
#include "common/device.h"
#include "common/room.h"
#include "workloads/pathtrace/pathtrace.h"
#include "workloads/pathtrace/vec3.h"

static void copy_vec(const double v[3], float out[3])
{
	for (int i = 0; i < 3; i++)
		out[i] = (float)v[i];
}

/* With w = (u x v) / |u x v|^2: alpha = w.(p - q) x v = (p - q).(v x w), and beta alike. */
static struct pt_plane make_plane(const struct pt_quad *q)
{
	struct pt_plane out = { 0 };
	double n[3], w[3] = { 0 }, a[3], b[3], area;

	pathtrace_quad_normal(q, n, &area);
	along(w, 1 / area, n, w);
	cross(q->v, w, a);
	cross(w, q->u, b);
	copy_vec(n, out.n);
	copy_vec(a, out.a);
	copy_vec(b, out.b);
	out.d = (float)dot(n, q->q);
	out.a0 = (float)-dot(a, q->q);
	out.b0 = (float)-dot(b, q->q);
	return out;
}

static struct pt_surface quad_surface(const struct pt_quad *q)
{
	struct pt_surface out = { .material = PT_DIFFUSE };
	double n[3], area;

	pathtrace_quad_normal(q, n, &area);
	copy_vec(n, out.n);
	copy_vec(q->rho, out.rho);
	copy_vec(q->le, out.le);
	return out;
}

static struct pt_surface ball_surface(const struct pt_ball *s)
{
	struct pt_surface out = { .material = s->material, .r = (float)s->r };

	copy_vec(s->c, out.n);
	copy_vec(s->rho, out.rho);
	return out;
}

static struct pt_light make_light(const struct pt_quad *q, int lights)
{
	struct pt_light out = { 0 };
	double n[3], power[3] = { 0 }, area;

	pathtrace_quad_normal(q, n, &area);
	along(power, area * lights / M_PI, q->le, power);
	copy_vec(q->q, out.q);
	copy_vec(q->u, out.u);
	copy_vec(q->v, out.v);
	copy_vec(n, out.n);
	copy_vec(power, out.power);
	return out;
}

static void add_lights(const struct pt_scene *s, struct pt_job *job)
{
	int lights = 0, n = 0;

	for (int i = 0; i < s->quads; i++)
		lights += pathtrace_is_light(&s->quad[i]);
	for (int i = 0; i < s->quads; i++)
		if (pathtrace_is_light(&s->quad[i]))
			job->light[n++] = make_light(&s->quad[i], lights);
	job->lights = lights;
}

static void add_scene(const struct pt_scene *s, struct pt_job *job)
{
	for (int i = 0; i < s->quads; i++) {
		job->plane[i] = make_plane(&s->quad[i]);
		job->surface[i] = quad_surface(&s->quad[i]);
	}
	for (int i = 0; i < s->balls; i++) {
		copy_vec(s->ball[i].c, job->ball[i].c);
		job->ball[i].r2 = (float)(s->ball[i].r * s->ball[i].r);
		job->surface[s->quads + i] = ball_surface(&s->ball[i]);
	}
	job->quads = s->quads;
	job->balls = s->balls;
	job->background = (float)s->background;
	copy_vec(s->eye, job->eye);
}

static void configure(const struct pathtrace_opts *o, struct pathtrace_state *s)
{
	s->ref = (struct pt_ref){
		.scene = pathtrace_scene((enum pt_scene_kind)o->scene),
		.width = o->width,
		.height = o->height,
		.bounces = (int)o->bounces,
		.rr = (int)o->rr,
		.nee = o->nee,
		.seed = (uint64_t)o->seed,
	};
	s->job = (struct pt_job){
		.width = (int32_t)o->width,
		.height = (int32_t)o->height,
		.bounces = (int32_t)o->bounces,
		.rr = (int32_t)o->rr,
		.nee = (int32_t)o->nee,
		.right = (float)(pt_field * (double)o->width / (double)o->height),
		.up = (float)pt_field,
		.seed = (uint64_t)o->seed,
	};
	s->threads = PT_THREADS;
	add_scene(&s->ref.scene, &s->job);
	if (o->nee)
		add_lights(&s->ref.scene, &s->job);
}

static int allocate_pixels(const struct pathtrace_opts *o, struct pathtrace_state *s)
{
	int64_t bytes = o->width * o->height * (int64_t)sizeof(*s->job.pixel);
	char what[64];
	int err;

	snprintf(what, sizeof(what), "width=%ld height=%ld", (long)o->width, (long)o->height);
	err = room_on_device(bytes, what);
	return err ? err : device_new(&s->job.pixel, (size_t)bytes, "%s", what);
}

int pathtrace_setup(const void *opts, void *state)
{
	const struct pathtrace_opts *o = opts;
	struct pathtrace_state *s = state;
	int err = device_present();

	if (!err && o->image)
		err = output_create(&s->image, "image", o->image);
	if (err)
		return err;
	configure(o, s);
	err = allocate_pixels(o, s);
	if (!err)
		pathtrace_load_kernel();
	return err;
}

int pathtrace_reset(const void *opts, void *state, cudaStream_t stream)
{
	const struct pathtrace_opts *o = opts;
	const struct pathtrace_state *s = state;

	CUDA(cudaMemsetAsync(s->job.pixel, 0,
			     (size_t)(o->width * o->height) * sizeof(*s->job.pixel), stream));
	return 0;
}

void pathtrace_teardown(void *state)
{
	struct pathtrace_state *s = state;

	output_discard(&s->image);
	device_free(s->job.pixel);
	s->job.pixel = NULL;
}
