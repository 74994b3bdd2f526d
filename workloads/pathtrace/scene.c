/*
 * scene.c - the three scenes. Lengths are those of a room two units wide and high.
 *
 * box      a room with a lamp, a board, a mirror ball, a glass ball and a dull one; closed
 * furnace  the room's walls all shine alike: what is seen is known in closed form
 * sphere   a dull ball before a sky of 1
 *
 * Balls hover 0.002 above the floor: where one touched it, rays that start off one surface would
 * start beyond the other.
 */
#include "workloads/pathtrace/scene.h"

#include <string.h>

#include "workloads/pathtrace/vec3.h"

enum { WALLS = 6 };

#define GREY                                                                                       \
	{                                                                                          \
		.73, .73, .73                                                                      \
	}

static const struct pt_quad room[PT_QUADS] = {
	{ { -1, 0, 3.5 }, { 2, 0, 0 }, { 0, 0, -4.5 }, GREY, { 0 } },		    /* floor */
	{ { -1, 2, -1 }, { 2, 0, 0 }, { 0, 0, 4.5 }, GREY, { 0 } },		    /* ceiling */
	{ { -1, 0, -1 }, { 2, 0, 0 }, { 0, 2, 0 }, GREY, { 0 } },		    /* back */
	{ { 1, 0, 3.5 }, { -2, 0, 0 }, { 0, 2, 0 }, GREY, { 0 } },		    /* front */
	{ { -1, 0, 3.5 }, { 0, 0, -4.5 }, { 0, 2, 0 }, { .65, .05, .05 }, { 0 } },  /* left */
	{ { 1, 0, -1 }, { 0, 0, 4.5 }, { 0, 2, 0 }, { .12, .45, .15 }, { 0 } },	    /* right */
	{ { -.35, 1.98, -.35 }, { .7, 0, 0 }, { 0, 0, .7 }, { 0 }, { 12, 11, 9 } }, /* lamp */
	{ { .15, .002, -.75 }, { .6, 0, .15 }, { 0, .9, -.1 }, { .2, .3, .7 }, { 0 } }, /* board */
};

static const struct pt_ball balls[PT_BALLS] = {
	{ { -.45, .402, -.35 }, .4, { .95, .95, .95 }, PT_MIRROR },
	{ { .45, .352, .25 }, .35, { 1, 1, 1 }, PT_GLASS },
	{ { -.05, .202, .7 }, .2, { .75, .75, .3 }, PT_DIFFUSE },
};

static void set_colour(double v[3], double value)
{
	v[0] = v[1] = v[2] = value;
}

static void make_furnace(struct pt_scene *s)
{
	s->quads = WALLS;
	s->balls = 2;
	for (int i = 0; i < WALLS; i++) {
		set_colour(s->quad[i].rho, .5);
		set_colour(s->quad[i].le, 1);
	}
	set_colour(s->ball[0].rho, 1);
}

static void make_sphere(struct pt_scene *s)
{
	s->quads = 0;
	s->balls = 1;
	s->ball[0] = (struct pt_ball){ { 0, 1, 0 }, 1, { .8, .8, .8 }, PT_DIFFUSE };
	s->background = 1;
	s->eye[2] = 5;
}

struct pt_scene pathtrace_scene(enum pt_scene_kind kind)
{
	struct pt_scene s = { .quads = PT_QUADS, .balls = PT_BALLS, .eye = { 0, 1, 3.4 } };

	memcpy(s.quad, room, sizeof(room));
	memcpy(s.ball, balls, sizeof(balls));
	if (kind == PT_FURNACE)
		make_furnace(&s);
	if (kind == PT_SPHERE)
		make_sphere(&s);
	return s;
}

int pathtrace_is_light(const struct pt_quad *q)
{
	return q->le[0] > 0 || q->le[1] > 0 || q->le[2] > 0;
}

void pathtrace_quad_normal(const struct pt_quad *q, double n[3], double *area)
{
	cross(q->u, q->v, n);
	*area = normalize(n);
}
