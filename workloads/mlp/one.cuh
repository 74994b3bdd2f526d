/*
 * one.cuh - what a block of kernels_one.cu keeps, and the instructions of compute capability 9.0
 * that it uses: blocks of a cluster write into each other's shared memory, and tensor cores.
 */
#ifndef RIFT_MLP_ONE_CUH
#define RIFT_MLP_ONE_CUH

#include <cooperative_groups.h>
#include <string.h>

#include "workloads/mlp/mbarrier.cuh"
#include "workloads/mlp/real.cuh"

enum {
	BLOCKS = 16, /* of the cluster */
	UNITS = 8,   /* of a block */
	ROWS = MLP_ONE_BATCH_MAX,
	OWN_ROWS = ROWS / BLOCKS,
	WARPS = MLP_WARPS - 1,		   /* that multiply matrices; the last one is the helper */
	DELTA_WARPS = 2,		   /* that make delta of own rows */
	TILE = 16,			   /* rows, or inputs, of a tensor core's operand */
	TILES = MLP_PIXELS / TILE / WARPS, /* of the inputs, a warp */
	ROW_TILES = ROWS / TILE,
	PARTS = 3,		/* bf16s that a float is a sum of */
	PITCH = MLP_PIXELS + 8, /* rows that are read at a time lie in different banks */
	D_PITCH = ROWS + 8,
	HALF = 16, /* lanes for a row of logits */
	IMAGE_BYTES = MLP_PIXELS * sizeof(__nv_bfloat16),
	OWN_VEC4S = OWN_ROWS * MLP_CLASSES / 4,
	SUMS = (UNITS + 1) * MLP_CLASSES + UNITS, /* the helper's: gradients of W2, b2, b1 */
};
static_assert(BLOCKS * UNITS == MLP_ONE_WIDTH, "hidden units");
static_assert(TILES * WARPS * TILE == MLP_PIXELS, "a warp has whole tiles");
static_assert(ROWS == 2 * MLP_LANES, "two rows a lane of one warp");
static_assert(OWN_ROWS == 2 * DELTA_WARPS, "a warp takes two of them");

/* What a block keeps; [2]: of this minibatch and of the next one. */
struct one_smem {
	__nv_bfloat16 x[2][ROWS][PITCH]; /* pixels */
	union {
		float part[WARPS][ROWS][UNITS]; /* of z: until there is h */
		struct {
			float below[ROWS][UNITS];		/* dloss/dz */
			__nv_bfloat16 d[PARTS][UNITS][D_PITCH]; /* below, for tensor cores */
		};
	};
	float share[BLOCKS][OWN_ROWS][MLP_CLASSES]; /* of own rows' logits; others write them */
	float delta[ROWS][MLP_CLASSES];		    /* their owners write them */
	float own_delta[OWN_ROWS][MLP_CLASSES];
	float h[ROWS][UNITS];
	float w2[UNITS][MLP_CLASSES], v2[UNITS][MLP_CLASSES];
	float b1[UNITS], vb1[UNITS], b2[MLP_CLASSES], vb2[MLP_CLASSES];
	float loss[ROWS]; /* of the first block */
	uint32_t image[2][ROWS], label[2][OWN_ROWS];
	/* mbarriers: of pixels as of the minibatch's parity; of what other blocks write */
	uint64_t pixels_there[2], shares_there, deltas_there;
};
static_assert(sizeof(struct one_smem) <= 227 * 1024, "what a block may have");

/* W1 and its velocity at a lane's places: two neighbouring inputs of each half tile, one unit. */
struct one_weights {
	float w[TILES][2][2], v[TILES][2][2];
};

/* The compiler is asked for older devices too, which have no clusters. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/* ---- between blocks: all that is written says so to an mbarrier ---------------------------- */

/* The same place in another block of the cluster. */
static __device__ inline uint32_t place_in(uint32_t block, const void *p)
{
	uint32_t at;

	asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
		     : "=r"(at)
		     : "r"(shared_at(p)), "r"(block));
	return at;
}

/* Four floats, or one, to a place in another block, whose mbarrier at m counts them. */
static __device__ inline void send4(uint32_t to, const vec4<float> &v, uint32_t m)
{
	asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 "
		     "[%0], {%1,%2,%3,%4}, [%5];" ::"r"(to),
		     "f"(v.v[0]), "f"(v.v[1]), "f"(v.v[2]), "f"(v.v[3]), "r"(m)
		     : "memory");
}

static __device__ inline void send1(uint32_t to, float v, uint32_t m)
{
	asm volatile(
		"st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];" ::"r"(
			to),
		"f"(v), "r"(m)
		: "memory");
}

/* ---- tensor cores ---------------------------------------------------------------------- */

/* A 16 x 16 operand, four registers, from rows of shared memory; TRANSPOSED: from its columns. */
template <bool TRANSPOSED>
static __device__ inline void load_tile(uint32_t (&r)[4], const __nv_bfloat16 *corner)
{
	uint32_t lane = threadIdx.x % MLP_LANES, matrix = lane / 8;
	const __nv_bfloat16 *row = corner + (matrix % 2 * 8 + lane % 8) * PITCH + matrix / 2 * 8;
	uint32_t at = shared_at(row);

	if (TRANSPOSED)
		asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
			     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
			     : "r"(at)
			     : "memory");
	else
		asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
			     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
			     : "r"(at)
			     : "memory");
}

/* c += a b, of 16 x 16 and 16 x 8. */
static __device__ inline void multiply(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
				       uint32_t b1)
{
	asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
	    "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
	    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
	    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* The bf16s whose sum a float is, of two floats at a time; the largest first. */
static __device__ inline void split_pair(uint32_t (&out)[PARTS], float x, float y)
{
	for (int i = 0; i < PARTS; i++) {
		__nv_bfloat162 near = __floats2bfloat162_rn(x, y);

		x -= __low2float(near);
		y -= __high2float(near);
		memcpy(&out[i], &near, sizeof(out[i]));
	}
}
#endif

#endif
