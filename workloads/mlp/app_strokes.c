/*
 * app_strokes.c - how the ten digits are drawn: lines and arcs in the unit square, x to the right
 * and y down, cut into straight pieces.
 */
#include <math.h>

#include "common/check.h"
#include "workloads/mlp/data.h"

enum { PIECES_OF_A_TURN = 16 }; /* a tenth of a pixel from the true circle */

/* The pieces so far, and where the pen is. */
struct pen {
	struct mlp_segment *out;
	int n;
	double x, y;
};

static void move_to(struct pen *p, double x, double y)
{
	p->x = x;
	p->y = y;
}

static void line_to(struct pen *p, double x, double y)
{
	CHECK(p->n < MLP_SEGMENTS_MAX, "%d pieces", p->n);
	p->out[p->n++] = (struct mlp_segment){ (float)p->x, (float)p->y, (float)x, (float)y };
	move_to(p, x, y);
}

/* Degrees: 0 is to the right, 90 down. The pen moves to the arc's start without a mark. */
static void arc(struct pen *p, double x, double y, double rx, double ry, double from, double to)
{
	int pieces = (int)ceil(fabs(to - from) / 360 * PIECES_OF_A_TURN);

	for (int i = 0; i <= pieces; i++) {
		double t = (from + (to - from) * i / pieces) * (3.14159265358979323846 / 180);
		double at_x = x + rx * cos(t), at_y = y + ry * sin(t);

		if (i)
			line_to(p, at_x, at_y);
		else
			move_to(p, at_x, at_y);
	}
}

static void zero(struct pen *p)
{
	arc(p, 0.5, 0.5, 0.29, 0.42, 0, 360);
}

static void one(struct pen *p)
{
	move_to(p, 0.34, 0.26);
	line_to(p, 0.53, 0.08);
	line_to(p, 0.53, 0.92);
}

static void two(struct pen *p)
{
	arc(p, 0.49, 0.31, 0.26, 0.23, -165, 30);
	line_to(p, 0.22, 0.92);
	line_to(p, 0.8, 0.92);
}

static void three(struct pen *p)
{
	arc(p, 0.46, 0.29, 0.25, 0.21, -150, 90);
	arc(p, 0.46, 0.71, 0.29, 0.21, -90, 150);
}

static void four(struct pen *p)
{
	move_to(p, 0.58, 0.08);
	line_to(p, 0.18, 0.64);
	line_to(p, 0.84, 0.64);
	move_to(p, 0.63, 0.38);
	line_to(p, 0.63, 0.92);
}

static void five(struct pen *p)
{
	move_to(p, 0.76, 0.08);
	line_to(p, 0.32, 0.08);
	line_to(p, 0.28, 0.47);
	arc(p, 0.47, 0.66, 0.29, 0.26, -130, 145);
}

static void six(struct pen *p)
{
	move_to(p, 0.66, 0.08);
	line_to(p, 0.36, 0.42);
	arc(p, 0.5, 0.67, 0.26, 0.25, -140, 220);
}

static void seven(struct pen *p)
{
	move_to(p, 0.2, 0.1);
	line_to(p, 0.79, 0.1);
	line_to(p, 0.42, 0.92);
}

static void eight(struct pen *p)
{
	arc(p, 0.5, 0.28, 0.22, 0.2, 0, 360);
	arc(p, 0.5, 0.7, 0.27, 0.22, 0, 360);
}

static void nine(struct pen *p)
{
	arc(p, 0.48, 0.33, 0.25, 0.25, 0, 360);
	line_to(p, 0.66, 0.92);
}

int mlp_strokes(int digit, struct mlp_segment out[MLP_SEGMENTS_MAX])
{
	static void (*const draw[MLP_CLASSES])(struct pen * p) = { zero, one, two,   three, four,
								   five, six, seven, eight, nine };
	struct pen pen = { .out = out };

	draw[digit](&pen);
	return pen.n;
}
