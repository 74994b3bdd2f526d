/* vec.cuh - three floats. */
#ifndef RIFT_PATHTRACE_VEC_CUH
#define RIFT_PATHTRACE_VEC_CUH

#include "common/gpu.h"

struct vec {
	float x, y, z;
};

static __device__ inline vec load_vec(const float v[3])
{
	return { v[0], v[1], v[2] };
}

static __device__ inline vec operator+(vec a, vec b)
{
	return { a.x + b.x, a.y + b.y, a.z + b.z };
}

static __device__ inline vec operator-(vec a, vec b)
{
	return { a.x - b.x, a.y - b.y, a.z - b.z };
}

static __device__ inline vec operator*(float s, vec a)
{
	return { s * a.x, s * a.y, s * a.z };
}

/* Colours. */
static __device__ inline vec operator*(vec a, vec b)
{
	return { a.x * b.x, a.y * b.y, a.z * b.z };
}

static __device__ inline float dot(vec a, vec b)
{
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

static __device__ inline vec unit(vec a)
{
	return (1 / sqrtf(dot(a, a))) * a;
}

static __device__ inline float largest(vec a)
{
	return fmaxf(a.x, fmaxf(a.y, a.z));
}

#endif
