/*
 * scene.h - what is looked at, in numbers of double precision: quads, balls, a camera. Data only,
 * of which the kernels' form (setup.c) and the reference are made.
 */
#ifndef RIFT_PATHTRACE_SCENE_H
#define RIFT_PATHTRACE_SCENE_H

#ifdef __cplusplus
extern "C" {
#endif

enum pt_scene_kind { PT_BOX, PT_FURNACE, PT_SPHERE };

enum pt_material { PT_DIFFUSE, PT_MIRROR, PT_GLASS };

enum { PT_QUADS = 8, PT_BALLS = 3, PT_SURFACES = PT_QUADS + PT_BALLS };

/* A parallelogram from q along u and v, diffuse; it emits on the side of n = u x v only. */
struct pt_quad {
	double q[3], u[3], v[3];
	double rho[3]; /* reflectance: red, green, blue */
	double le[3];  /* radiance emitted */
};

struct pt_ball {
	double c[3], r;
	double rho[3];
	enum pt_material material;
};

struct pt_scene {
	int quads, balls; /* the order is that in which lights are chosen */
	struct pt_quad quad[PT_QUADS];
	struct pt_ball ball[PT_BALLS];
	double background; /* radiance from where nothing is */
	double eye[3];	   /* looks along -z, up is y */
};

static const double pt_glass_index = 1.5;

/* Half of the vertical field of 40 degrees: tan(20 degrees). */
static const double pt_field = 0.36397023426620236135;

/* How far a ray starts off the surface it leaves. */
static const double pt_offset = 1e-4;

struct pt_scene pathtrace_scene(enum pt_scene_kind kind);

/* Its unit normal, and its area. */
void pathtrace_quad_normal(const struct pt_quad *q, double n[3], double *area);

/* Does it emit? */
int pathtrace_is_light(const struct pt_quad *q);

#ifdef __cplusplus
}
#endif
#endif
