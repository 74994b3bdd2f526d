/*
 * mbarrier.cuh - instructions of compute capability 9.0: memory into shared memory beside the
 * block's work, and the mbarriers that say when it is there.
 */
#ifndef RIFT_MLP_MBARRIER_CUH
#define RIFT_MLP_MBARRIER_CUH

#include <stdint.h>

/* The compiler is asked for older devices too, which have none of this. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

static __device__ inline uint32_t shared_at(const void *p)
{
	return (uint32_t)__cvta_generic_to_shared(p);
}

static __device__ inline void mbarrier_init(uint64_t *m)
{
	asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_at(m)) : "memory");
}

/* One thread, once in each phase: it ends when so many bytes have been written. */
static __device__ inline void mbarrier_expect(uint64_t *m, uint32_t bytes)
{
	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_at(m)),
		     "r"(bytes)
		     : "memory");
}

/* Until the phase of this parity has ended; then all that it counted is seen. */
static __device__ inline void mbarrier_wait(uint64_t *m, uint32_t parity)
{
	uint32_t is_over;

	do
		asm volatile("{ .reg .pred p;\n"
			     "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 "
			     "p, [%1], %2;\n"
			     "selp.u32 %0, 1, 0, p; }"
			     : "=r"(is_over)
			     : "r"(shared_at(m)), "r"(parity)
			     : "memory");
	while (!is_over);
}

/* Bytes of global memory into shared memory, at addresses of whole 16 bytes. */
static __device__ inline void fetch(void *to, const void *from, uint32_t bytes, const uint64_t *m)
{
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
		     "[%0], [%1], %2, [%3];" ::"r"(shared_at(to)),
		     "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_at(m))
		     : "memory");
}

#endif

#endif
