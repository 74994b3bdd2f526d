/*
 * kernels.cu - the path tracing kernel: a thread takes samples of one pixel.
 *
 * In pseudo-code, for each thread:
 *
 *   pixel = one of the 8 x 4 of the warp's tile; path = the first sample's ray from the eye
 *   until all samples are taken, one segment at a time (path.cuh):
 *     hit = nearest intersection of the ray with all quads and balls (hit.cuh)
 *     light += carried x what the surface emits
 *     diffuse: light += carried x a point on a light, if no surface blocks it; new ray by cosine
 *     mirror, glass: new ray reflected or refracted
 *     Russian roulette after some bounces; path ended: add its light, begin the next sample
 *   store the pixel's sums, as integers
 *
 * The naive version that it is tested against is pathtrace_ref_pixel() of reference.c: the same
 * paths, in double.
 *
 * One loop over segments, not a loop over samples with one over segments inside: a lane whose path
 * has ended begins its next one while its neighbours go on. Data that all lanes read at once, the
 * forms for intersection, are kernel parameters; what lanes read apart is in shared memory.
 */
#include "common/cuda_check.h"
#include "workloads/pathtrace/path.cuh"

enum { TILE_W = 8, TILE_H = 4, WARP = TILE_W * TILE_H };

static_assert(sizeof(pt_job) <= 4096, "parameters of a kernel");

template <class T> static __device__ inline void copy_to_smem(T *to, const T *from, int n)
{
	for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x)
		to[i] = from[i];
}

static __device__ inline int64_t to_fixed(float radiance)
{
	return llrintf(fminf(radiance, (float)PT_RADIANCE_MAX) * (float)(1 << PT_FIXED_BITS));
}

/* NaN is not >= 0: such a sample is missing in the count. */
static __device__ inline void add_sample(pt_pixel *sum, vec light)
{
	if (!(light.x >= 0 && light.y >= 0 && light.z >= 0))
		return;
	sum->sum[0] += to_fixed(light.x);
	sum->sum[1] += to_fixed(light.y);
	sum->sum[2] += to_fixed(light.z);
	sum->count++;
}

static __device__ inline void sample_pixel(const pt_job &job, const smem_scene &smem, int x, int y,
					   uint32_t samples)
{
	uint32_t index = (uint32_t)(y * job.width + x);
	pt_pixel sum = job.pixel[index];
	uint32_t sample = sum.count, end = sample + samples;
	path p;

	begin_path(job, x, y, sample, &p);
	do {
		bool on = trace_segment(job, smem, index, sample, &p, &sum.lost);

		sum.segments++;
		if (!on) {
			add_sample(&sum, p.light);
			if (++sample != end)
				begin_path(job, x, y, sample, &p);
		}
	} while (sample != end);
	job.pixel[index] = sum;
}

extern "C" __global__ void pathtrace_samples(pt_job job, uint32_t samples)
{
	SHARED_ARRAY(pt_surface, surface, [PT_SURFACES]);
	SHARED_ARRAY(pt_light, light, [PT_LIGHTS]);
	uint32_t warp = (blockIdx.x * blockDim.x + threadIdx.x) / WARP, lane = threadIdx.x % WARP;
	uint32_t across = ((uint32_t)job.width + TILE_W - 1) / TILE_W;
	int x = (int)(warp % across * TILE_W + lane % TILE_W);
	int y = (int)(warp / across * TILE_H + lane / TILE_W);

	copy_to_smem(surface, job.surface, PT_SURFACES);
	copy_to_smem(light, job.light, PT_LIGHTS);
	__syncthreads();
	if (x < job.width && y < job.height)
		sample_pixel(job, smem_scene{ surface, light }, x, y, samples);
}
KERNEL(pathtrace_samples);

void pathtrace_load_kernel(void)
{
	struct cudaFuncAttributes attributes;

	CUDA(cudaFuncGetAttributes(&attributes, (const void *)pathtrace_samples));
}

static uint32_t ceil_div(uint32_t n, uint32_t each)
{
	return (n + each - 1) / each;
}

void pathtrace_launch(const struct pt_job *job, uint32_t samples, int threads, cudaStream_t stream)
{
	uint32_t warps =
		ceil_div((uint32_t)job->width, TILE_W) * ceil_div((uint32_t)job->height, TILE_H);

	CUDA(LAUNCH(pathtrace_samples, ceil_div(warps * WARP, (uint32_t)threads), (uint32_t)threads,
		    0, stream, *job, samples));
}
