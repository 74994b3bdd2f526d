/*
 * block_buffers.cuh - spread=block: what buffers bind of Na and Ca, a lane each. Part of
 * kernels.cuh.
 */
namespace myocyte
{
namespace
{
/* kon x (sites - bound - bound by others) - koff bound. */
struct buffer {
	int state, x, other;
	double kon, sites, koff;
};

static __device__ const struct buffer buffers[BUFFERS] = {
	{ at::NaB_j, at::Na_j, in::ZERO, kon_Na, B_Na_j, koff_Na },
	{ at::NaB_sl, at::Na_sl, in::ZERO, kon_Na, B_Na_sl, koff_Na },
	{ at::SLLj, at::Ca_j, in::ZERO, kon_SLL, B_SLLj, koff_SLL },
	{ at::SLHj, at::Ca_j, in::ZERO, kon_SLH, B_SLHj, koff_SLH },
	{ at::SLLsl, at::Ca_sl, in::ZERO, kon_SLL, B_SLLsl, koff_SLL },
	{ at::SLHsl, at::Ca_sl, in::ZERO, kon_SLH, B_SLHsl, koff_SLH },
	{ at::TnCL, at::Ca_i, in::ZERO, kon_TnCL, B_TnCL, koff_TnCL },
	{ at::TnCHc, at::Ca_i, at::TnCHm, kon_TnCHc, B_TnCH, koff_TnCHc },
	{ at::TnCHm, in::ONE, at::TnCHc, kon_TnCHm *Mg_i, B_TnCH, koff_TnCHm },
	{ at::Myoc, at::Ca_i, at::Myom, kon_Myoc, B_Myo, koff_Myoc },
	{ at::Myom, in::ONE, at::Myoc, kon_Myom *Mg_i, B_Myo, koff_Myom },
	{ at::SRB, at::Ca_i, in::ZERO, kon_SR, B_SR, koff_SR },
	{ at::Csqnb, at::Ca_SR, in::ZERO, kon_Csqn, B_Csqn, koff_Csqn },
	{ at::fCaB_j, at::Ca_j, in::ZERO, 1.7, 1, 11.9e-3 },
	{ at::fCaB_sl, at::Ca_sl, in::ZERO, 1.7, 1, 11.9e-3 },
};

struct thread_buffer {
	int i, state, x, other;
	real kon, sites, koff;
};

static __device__ inline struct thread_buffer thread_buffer(int lane)
{
	int i = lane < BUFFERS ? lane : BUFFERS - 1;
	const struct buffer &t = buffers[i];

	return { i, t.state, t.x, t.other, t.kon, t.sites, t.koff };
}

static __device__ inline real buffer_uptake(const struct thread_buffer &c, int lane,
					    struct block_smem *b)
{
	const real *v = b->v;
	real f = uptake(c.kon * v[c.x], c.sites - v[c.state] - v[c.other], c.koff, v[c.state]);

	if (lane < BUFFERS)
		b->term[UPTAKE + c.i] = f;
	return f;
}
} // namespace
} // namespace myocyte
