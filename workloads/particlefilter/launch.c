/* launch.c - which precision a call goes to. */
#include "workloads/particlefilter/device.h"

static const struct pf_code *find_code(const struct pf_filter *f)
{
	return f->single ? &particlefilter_code_float : &particlefilter_code_double;
}

void particlefilter_load_kernels(const struct pf_filter *f)
{
	find_code(f)->load_kernels();
}

void particlefilter_frame(const struct pf_filter *f, cudaStream_t stream)
{
	find_code(f)->frame(f, stream);
}

void particlefilter_frames(const struct pf_filter *f, int64_t n, cudaStream_t stream)
{
	find_code(f)->frames(f, n, stream);
}

void particlefilter_close(const struct pf_filter *f, cudaStream_t stream)
{
	find_code(f)->close(f, stream);
}

void particlefilter_expose(const struct pf_filter *f, const struct pf_look *look,
			   cudaStream_t stream)
{
	find_code(f)->expose(f, look, stream);
}
