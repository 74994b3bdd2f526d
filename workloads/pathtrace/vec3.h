/* vec3.h - three doubles on the host. */
#ifndef RIFT_PATHTRACE_VEC3_H
#define RIFT_PATHTRACE_VEC3_H

#include <math.h>

static inline double dot(const double a[3], const double b[3])
{
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void cross(const double a[3], const double b[3], double out[3])
{
	out[0] = a[1] * b[2] - a[2] * b[1];
	out[1] = a[2] * b[0] - a[0] * b[2];
	out[2] = a[0] * b[1] - a[1] * b[0];
}

/* out = a + s b; out may be a or b. */
static inline void along(const double a[3], double s, const double b[3], double out[3])
{
	for (int i = 0; i < 3; i++)
		out[i] = a[i] + s * b[i];
}

/* Returns the length that it had. */
static inline double normalize(double a[3])
{
	double length = sqrt(dot(a, a));

	for (int i = 0; i < 3; i++)
		a[i] /= length;
	return length;
}

static inline double max3(const double a[3])
{
	return fmax(a[0], fmax(a[1], a[2]));
}

#endif
