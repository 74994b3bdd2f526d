/* launch.c - which precision a call goes to. */
#include "workloads/particlefilter/device.h"

static const struct pf_code *code_of(const struct pf_filter *f)
{
	return f->single ? &pf_code_float : &pf_code_double;
}

void pf_load_kernels(const struct pf_filter *f)
{
	code_of(f)->load_kernels();
}

void pf_frame(const struct pf_filter *f, cudaStream_t stream)
{
	code_of(f)->frame(f, stream);
}

void pf_frames(const struct pf_filter *f, int64_t n, cudaStream_t stream)
{
	code_of(f)->frames(f, n, stream);
}

void pf_expose(const struct pf_filter *f, const struct pf_look *look, cudaStream_t stream)
{
	code_of(f)->expose(f, look, stream);
}
