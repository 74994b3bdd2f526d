/*
 * model_state.cuh - where the states of the myocyte model are: index of each, and access to one
 * cell's column of an array that is stored state by state, [state][cell].
 */
#ifndef RIFT_MYOCYTE_MODEL_STATE_CUH
#define RIFT_MYOCYTE_MODEL_STATE_CUH

#include <stdint.h>

#include "workloads/myocyte/inputs.h"
#include "workloads/myocyte/real.cuh"

namespace myocyte
{
/* clang-format off */

/* y[at::V]. The cell itself; modules of 15 states each follow. Meanings: initial_state.csv. */
namespace at
{
enum state {
	m, h, j, d, f, fCaB_j, fCaB_sl, x_tos, y_tos, x_tof, y_tof, x_Kr, x_Ks,
	RyR_R, RyR_O, RyR_I,
	NaB_j, NaB_sl, TnCL, TnCHc, TnCHm, CaM_ecc, Myoc, Myom, SRB, SLLj, SLLsl, SLHj, SLHsl, Csqnb,
	Ca_SR, Na_j, Na_sl, Na_i, K_i, Ca_j, Ca_sl, Ca_i, V, r_tos, spare40, spare41,
	Q_CaL, Q_pCa, Q_NCX, Q_Cab,
	CaM_dy, CaM_sl = CaM_dy + 15, CaM_cy = CaM_sl + 15, END = CaM_cy + 15,
};

static_assert(int(V) == MYOCYTE_V && int(END) == MYOCYTE_STATES, "order of initial_state.csv");
} // namespace at

/* y[in_module::Pt] of a module's own column. */
namespace in_module
{
enum state {
	CaM, Ca2CaM, Ca4CaM, CaMB, Ca2CaMB, Ca4CaMB, Pb2, Pb, Pt, Pt2, Pa,
	Ca4CaN, CaMCa4CaN, Ca2CaMCa4CaN, Ca4CaMCa4CaN,
};
} // namespace in_module

/* clang-format on */

namespace
{
/* One cell's column. 32 bits: states x cells of one vector stay below 2^31 (limits). */
struct input {
	const real *p;
	int stride; /* cells */

	__device__ real operator[](int i) const
	{
		return p[i * stride];
	}

	__device__ input from(int first) const
	{
		return { p + first * stride, stride };
	}
};

struct output {
	real *p;
	int stride;

	__device__ real &operator[](int i) const
	{
		return p[i * stride];
	}

	__device__ output from(int first) const
	{
		return { p + first * stride, stride };
	}
};
} // namespace
} // namespace myocyte

#endif
