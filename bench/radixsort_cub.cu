/*
 * radixsort_cub.cu - the radixsort workload's sort beside CUB's, which comes with the toolkit.
 *
 *   build/cuda/bench/radixsort_cub            beside CUB
 *   build/cuda/bench/radixsort_cub tiles      with tiles of other sizes, for who tunes them
 *
 * Both sort the same pairs in the same arrays, with storage that was allocated before, in graphs of
 * some sorts each, in turns; times are taken by events. The last column is the median of the turns'
 * ratios, CUB's time by ours: above 1 ours is faster. Ends with status 1 where two sorts do not
 * leave the same words.
 */
#include "common/cuda_check.h"
#include "workloads/radixsort/device.h"
#include "workloads/radixsort/inputs.h"
#include "workloads/radixsort/pass.cuh"

#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <stdio.h>
#include <string.h>
#include <vector>

enum { TURNS = 51, WARMUP = 5, SORTS_MAX = 64 };

static const double graph_pairs = 1 << 27; /* so many in a graph, and one sort at least */

static cudaStream_t stream;
static cudaEvent_t begin, end;

/* What both sorts work on, and what each has for itself. */
struct problem {
	uint32_t n;
	struct radixsort_launch ours;
	void *storage; /* CUB's */
	size_t storage_bytes;
};

typedef radixsort_shape<256, 8, 1, 1> smallest; /* of all tiles: the largest board */

template <class T> static T *device_new(size_t n)
{
	T *p;

	CUDA(cudaMalloc(&p, n * sizeof(T)));
	return p;
}

static void sort_ours(problem &p)
{
	radixsort_sort(&p.ours, stream);
}

static void sort_cub(problem &p)
{
	const struct radixsort_arrays &a = p.ours.arrays;

	CUDA(cub::DeviceRadixSort::SortPairs(p.storage, p.storage_bytes, a.in[0], a.out[0], a.in[1],
					     a.out[1], (int)p.n, 0, 32, stream));
}

/* ---- memory ----------------------------------------------------------------------------- */

static problem problem_new(uint32_t n, int kind)
{
	problem p = {};
	struct radixsort_arrays &a = p.ours.arrays;

	p.n = n;
	a.stride = n;
	for (int k = 0; k < RADIXSORT_ARRAYS; k++) {
		a.in[k] = device_new<uint32_t>(n);
		a.out[k] = device_new<uint32_t>(n);
		p.ours.between[k] = device_new<uint32_t>(n);
	}
	p.ours.n = n;
	p.ours.slots = p.ours.steps = p.ours.advance = 1;
	p.ours.size = radixsort_size_for(n);
	radixsort_load_kernels(&p.ours);
	p.ours.board = (struct radixsort_board *)device_new<char>(
		(size_t)radixsort_board_bytes_of<smallest>(n));
	CUDA(cudaMemset(p.ours.board, 0, sizeof(struct radixsort_board)));
	p.ours.counter = slots_counter_new();
	CUDA(cudaDeviceSynchronize()); /* the stream does not wait for it */
	radixsort_fill(&a, n, 0, kind, 1, stream);
	sort_cub(p); /* without storage: how much it wants */
	p.storage = device_new<char>(p.storage_bytes);
	return p;
}

static void problem_release(problem &p)
{
	for (int k = 0; k < RADIXSORT_ARRAYS; k++) {
		CUDA(cudaFree(p.ours.arrays.in[k]));
		CUDA(cudaFree(p.ours.arrays.out[k]));
		CUDA(cudaFree(p.ours.between[k]));
	}
	CUDA(cudaFree(p.ours.board));
	slots_counter_free(p.ours.counter);
	CUDA(cudaFree(p.storage));
}

/* ---- answers ---------------------------------------------------------------------------- */

static std::vector<uint32_t> sorted(problem &p, void (*sort)(problem &))
{
	std::vector<uint32_t> words(RADIXSORT_ARRAYS * (size_t)p.n);
	size_t bytes = p.n * sizeof(uint32_t);

	for (int k = 0; k < RADIXSORT_ARRAYS; k++)
		CUDA(cudaMemsetAsync(p.ours.arrays.out[k], SLOTS_POISON_INTEGER, bytes, stream));
	sort(p);
	CUDA(cudaStreamSynchronize(stream));
	for (int k = 0; k < RADIXSORT_ARRAYS; k++)
		CUDA(cudaMemcpy(&words[k * (size_t)p.n], p.ours.arrays.out[k], bytes,
				cudaMemcpyDeviceToHost));
	return words;
}

/* ---- times ------------------------------------------------------------------------------ */

static int sorts_of(uint32_t n)
{
	double sorts = graph_pairs / n;

	return sorts < 1 ? 1 : sorts > SORTS_MAX ? (int)SORTS_MAX : (int)sorts;
}

static cudaGraphExec_t graph_of(problem &p, void (*sort)(problem &))
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < sorts_of(p.n); i++)
		sort(p);
	CUDA(cudaStreamEndCapture(stream, &graph));
	CUDA(cudaGraphInstantiate(&exec, graph, 0));
	CUDA(cudaGraphDestroy(graph));
	return exec;
}

/* us of a sort. */
static double turn(const problem &p, cudaGraphExec_t exec)
{
	float ms;

	CUDA(cudaEventRecord(begin, stream));
	CUDA(cudaGraphLaunch(exec, stream));
	CUDA(cudaEventRecord(end, stream));
	CUDA(cudaEventSynchronize(end));
	CUDA(cudaEventElapsedTime(&ms, begin, end));
	return 1e3 * ms / sorts_of(p.n);
}

static double median(std::vector<double> v)
{
	std::sort(v.begin(), v.end());
	return v[v.size() / 2];
}

struct times {
	double ours_us, cub_us, ratio; /* medians of TURNS */
};

static times time_both(problem &p, void (*sort)(problem &))
{
	cudaGraphExec_t ours = graph_of(p, sort), cub = graph_of(p, sort_cub);
	std::vector<double> ours_us, cub_us, ratio;

	for (int i = -WARMUP; i < TURNS; i++) {
		double a = turn(p, ours), b = turn(p, cub);

		if (i < 0)
			continue;
		ours_us.push_back(a);
		cub_us.push_back(b);
		ratio.push_back(b / a);
	}
	CUDA(cudaGraphExecDestroy(ours));
	CUDA(cudaGraphExecDestroy(cub));
	return { median(ours_us), median(cub_us), median(ratio) };
}

/* ---- the table -------------------------------------------------------------------------- */

/* Do both leave the same? */
static bool compare_row(uint32_t n, int kind, const char *keys)
{
	problem p = problem_new(n, kind);
	bool same = sorted(p, sort_ours) == sorted(p, sort_cub);
	times t = time_both(p, sort_ours);

	printf("%9u  %-8s  %9.2f  %9.2f  %10.2f  %10.2f  %7.3f%s\n", n, keys, t.ours_us, t.cub_us,
	       1e-3 * n / t.ours_us, 1e-3 * n / t.cub_us, t.ratio,
	       same ? "" : "  NOT THE SAME WORDS");
	problem_release(p);
	return same;
}

static bool beside_cub()
{
	bool good = true;

	printf("%9s  %-8s  %9s  %9s  %10s  %10s  %7s\n", "pairs", "keys", "ours us", "CUB us",
	       "ours G/s", "CUB G/s", "CUB/ours");
	for (int log2 : { 16, 18, 20, 22, 24, 26, 28 })
		good &= compare_row(1u << log2, RADIXSORT_UNIFORM, "uniform");
	good &= compare_row(1 << 24, RADIXSORT_FEW, "few");
	good &= compare_row(1 << 24, RADIXSORT_SORTED, "sorted");
	good &= compare_row(1 << 24, RADIXSORT_REVERSE, "reverse");
	good &= compare_row(1 << 24, RADIXSORT_EQUAL, "equal");
	good &= compare_row(1 << 24, RADIXSORT_TOPBYTE, "topbyte");
	return good;
}

template <class S> static void sort_as(problem &p)
{
	radixsort_sort_by<S>(&p.ours, stream);
}

struct shape {
	const char *name;
	void (*sort)(problem &);
	void (*load)(const struct radixsort_launch *l);
};

#define SHAPE(...)                                                                                 \
	{                                                                                          \
#__VA_ARGS__, sort_as < radixsort_shape < __VA_ARGS__>>,                           \
			radixsort_load_pass < radixsort_shape < __VA_ARGS__>>                      \
	}

/* Threads, items, blocks on an SM; tiles looked back at in one go; digits apart. */
static const struct shape shapes[] = {
	SHAPE(256, 8, 2, 8, true),  SHAPE(256, 16, 2, 8, true), SHAPE(512, 8, 2, 8, true),
	SHAPE(512, 16, 1, 8, true), SHAPE(512, 16, 1, 4, true), SHAPE(768, 11, 1, 8, true),
	SHAPE(512, 16, 2, 8),	    SHAPE(512, 16, 2, 4),	SHAPE(512, 22, 2, 2),
	SHAPE(384, 24, 2, 4),	    SHAPE(384, 30, 2, 3),	SHAPE(384, 31, 2, 1),
	SHAPE(384, 31, 2, 3),	    SHAPE(256, 45, 2, 2),	SHAPE(256, 51, 2, 2),
};

static bool shape_row(problem &p, const struct shape &s, const std::vector<uint32_t> &want)
{
	bool same;
	times t;

	s.load(&p.ours);
	same = sorted(p, s.sort) == want;
	t = time_both(p, s.sort);
	printf("%9u  %-20s  %9.2f  %10.2f  %7.3f%s\n", p.n, s.name, t.ours_us,
	       1e-3 * p.n / t.ours_us, t.ratio, same ? "" : "  NOT THE SAME WORDS");
	fflush(stdout);
	return same;
}

static bool other_tiles()
{
	bool good = true;

	printf("%9s  %-20s  %9s  %10s  %7s\n", "pairs", "tile", "us", "G/s", "CUB/it");
	for (int log2 : { 16, 18, 20, 21, 22, 24 }) {
		problem p = problem_new(1u << log2, RADIXSORT_UNIFORM);
		std::vector<uint32_t> want = sorted(p, sort_cub);

		for (const struct shape &s : shapes)
			good &= shape_row(p, s, want);
		problem_release(p);
	}
	return good;
}

int main(int argc, char **argv)
{
	bool tiles = argc == 2 && !strcmp(argv[1], "tiles"), good;
	struct cudaDeviceProp prop;

	if (argc > 1 && !tiles) {
		fprintf(stderr, "radixsort_cub: takes nothing, or 'tiles'\n");
		return 3;
	}
	CUDA(cudaGetDeviceProperties(&prop, 0));
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CUDA(cudaEventCreate(&begin));
	CUDA(cudaEventCreate(&end));
	printf("%s, medians of %d turns, CUB %d.%d.%d\n\n", prop.name, (int)TURNS,
	       CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
	good = tiles ? other_tiles() : beside_cub();
	CUDA(cudaEventDestroy(begin));
	CUDA(cudaEventDestroy(end));
	CUDA(cudaStreamDestroy(stream));
	return good ? 0 : 1;
}
