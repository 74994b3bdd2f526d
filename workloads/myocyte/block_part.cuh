/*
 * block_part.cuh - spread=block: the part of a right-hand side that a thread computes, and a
 * right-hand side of all of them. Part of kernels.cuh.
 */
namespace myocyte
{
namespace
{
/* ---- a thread's part --------------------------------------------------------------------- */

/*
 * Tables of parts are in global memory. Lanes read them at different places, which constant memory
 * serves one after another: that took 3 us of each launch on an H200.
 */

struct thread_functions_of_V {
	struct thread_exponential exponential;
	struct thread_to_gate to_gate;
};

struct part {
	int warp, lane;
	int state;  /* that this thread owns, or -1 */
	real least; /* error that any step may make in it */
	bool benchmark;
	real E_K; /* K_i is clamped */
	union {	  /* by warp */
		struct thread_functions_of_V of_V;
		struct thread_slow_gate slow_gate;
		struct thread_saturation saturation;
		struct thread_power power;
		struct thread_module module;
		struct thread_buffer buffer;
		struct thread_balance balance;
	};
};

static __device__ inline int owned_state(int warp, int lane)
{
	switch (warp) {
	case WARP_NA_GATES:
		return lane < 3 ? at::m + lane : -1;
	case WARP_TO_GATES:
		return lane < 4 ? at::x_tos + lane : lane == 4 ? int(at::r_tos) : -1;
	case WARP_RETICULUM:
		return lane < 3 ? at::RyR_R + lane : -1;
	case WARP_BUFFERS:
		return lane < BUFFERS ? buffers[lane].state : -1;
	case WARP_SLOW_GATES:
		return lane < 2 ? at::d + lane : lane < 4 ? at::x_Kr + lane - 2 : -1;
	case WARP_SUMS:
		return lane < BALANCES ? balances[lane].state : -1;
	case WARP_MODULE:
	case WARP_MODULE + 1:
	case WARP_MODULE + 2:
		return lane < 15 ? at::CaM_dy + 15 * (warp - WARP_MODULE) + lane : -1;
	default:
		return -1;
	}
}

static __device__ inline struct part make_part(const struct myocyte_cells &a, const real *p,
					       real K_i)
{
	struct part c;
	int lane = (int)threadIdx.x % LANES;
	/* known to be one for all lanes, which makes branches on it cheaper */
	int warp = __shfl_sync(~0u, (int)threadIdx.x / LANES, 0), m = warp - WARP_MODULE;

	c.warp = warp;
	c.lane = lane;
	c.state = owned_state(warp, lane);
	c.least = 0;
	if (c.state >= 0)
		c.least = real(a.tolerance) * 1e-3 * fmax(fabs(real(a.start[c.state])), real(1e-9));
	c.benchmark = a.benchmark;
	c.E_K = log(K_o / K_i) / FRT;
	if (warp <= WARP_TO_GATES) {
		c.of_V.exponential = thread_exponential(lane, warp == WARP_TO_GATES, c.E_K);
		c.of_V.to_gate = thread_to_gate(lane);
	} else if (warp == WARP_POWERS || warp == WARP_RETICULUM)
		c.power = thread_power(lane, warp == WARP_RETICULUM);
	else if (m >= 0 && m < MODULES)
		c.module = thread_module(m, lane, a.benchmark, p);
	else if (warp == WARP_BUFFERS)
		c.buffer = thread_buffer(lane);
	else if (warp == WARP_EXCHANGER)
		c.saturation = thread_saturation(lane);
	else if (warp == WARP_SLOW_GATES)
		c.slow_gate = thread_slow_gate(lane);
	else
		c.balance = thread_balance(lane);
	return c;
}

/* ---- a right-hand side ------------------------------------------------------------------- */

/* role: the thread's warp. Where that is a constant, nothing is left of the choice among roles. */
static __device__ inline real phase_1(int role, struct part *c, struct block_smem *b)
{
	switch (role) {
	case WARP_NA_GATES:
	case WARP_TO_GATES:
		exponential(c->of_V.exponential, !c->benchmark, b);
		return 0;
	case WARP_POWERS:
	case WARP_RETICULUM:
		power(&c->power, role == WARP_RETICULUM, b);
		return 0;
	case WARP_BUFFERS:
		return buffer_uptake(c->buffer, c->lane, b);
	case WARP_EXCHANGER:
		saturation(c->saturation, b);
		return 0;
	case WARP_MODULE:
	case WARP_MODULE + 1:
	case WARP_MODULE + 2:
		module_rates(c->module, b);
		return 0;
	case WARP_PUMP:
		if (!c->lane)
			flows(b);
		return 0;
	default:
		return 0;
	}
}

/* The lane's derivative where that is known by now; f: what phase 1 gave. */
static __device__ inline real phase_2(int role, const struct part &c, struct block_smem *b, real f)
{
	switch (role) {
	case WARP_NA_GATES:
		return gate_of_I_Na(c.lane, b);
	case WARP_TO_GATES:
		f = currents_of_V(c.E_K, b);
		if (!c.lane)
			b->term[I_OF_V] = f;
		return gate_of_I_to(c.of_V.to_gate, b);
	case WARP_SLOW_GATES:
		return slow_gate(c.slow_gate, b);
	case WARP_POWERS:
		currents_of_powers(c.power, c.benchmark, b);
		return 0;
	case WARP_RETICULUM:
		return reticulum(c.power, c.lane, b);
	case WARP_MODULE:
	case WARP_MODULE + 1:
	case WARP_MODULE + 2:
		return module_sums(c.module, b) + module_exchange(c.module, b);
	case WARP_BUFFERS:
		channels(c.lane, b);
		return f;
	case WARP_EXCHANGER:
		if (c.lane < SIDES)
			b->term[I_EXCHANGER + c.lane] = exchanger(c.lane, b);
		return 0;
	case WARP_PUMP:
		pump_and_rectifier(c.lane, c.E_K, b);
		return 0;
	case WARP_SUMS:
		currents_of_side(c.lane, b);
		return 0;
	default:
		return 0;
	}
}

/* The derivative of the thread's state, once all states are in b->v. */
static __device__ inline real derivative(int role, struct part *c, struct block_smem *b)
{
	real f = phase_1(role, c, b);

	__syncthreads();
	f = phase_2(role, *c, b, f);
	__syncthreads();
	return role == WARP_SUMS ? sum_balance(c->balance, c->lane, b) : f;
}
} // namespace
} // namespace myocyte
