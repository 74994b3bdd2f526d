/*
 * kernel.cuh - qualifiers, barriers, shared memory, and the description of a kernel that lets the
 * library run it on CPU threads.
 */
#ifndef RIFT_CPU_KERNEL_CUH
#define RIFT_CPU_KERNEL_CUH

#include "../cpudev.h"

#include <utility>

#include <stdlib.h>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)

#define warpSize 32

static inline void __syncthreads()
{
	cpudev_barrier(CPUDEV_NONE, 0);
}

static inline int __syncthreads_count(int predicate)
{
	return cpudev_barrier(CPUDEV_COUNT, predicate);
}

static inline int __syncthreads_and(int predicate)
{
	return cpudev_barrier(CPUDEV_AND, predicate);
}

static inline int __syncthreads_or(int predicate)
{
	return cpudev_barrier(CPUDEV_OR, predicate);
}

/*
 * Fences alone publish nothing that a race checker can see: between blocks use the release and
 * acquire helpers of common/gpu.h. Out of line, as gcc refuses fences under -fsanitize=thread.
 */
static inline void __threadfence()
{
	cpudev_fence();
}

static inline void __threadfence_block()
{
	cpudev_fence();
}

static inline void __threadfence_system()
{
	cpudev_fence();
}

static inline long long clock64()
{
	return cpudev_clock(); /* ns here, cycles on a GPU */
}

[[noreturn]] static inline void __trap()
{
	abort();
}

namespace cpudev
{
/* One slot for each array of each function: Tag is a type local to the function. */
template <class T, class Tag> struct shared_array {
	static inline const unsigned slot = cpudev_shared_slot(sizeof(T), alignof(T));
};

/* Sizes and offsets of a parameter list, packed as CUDA packs it. */
template <class... P> struct layout {
	static constexpr unsigned n = sizeof...(P);

	struct table {
		unsigned size[n + 1], offset[n + 1];
	};

	static constexpr table make()
	{
		const unsigned size[] = { (unsigned)sizeof(P)..., 0 };
		const unsigned align[] = { (unsigned)alignof(P)..., 1 };
		table t{};
		unsigned end = 0;

		for (unsigned i = 0; i < n; i++) {
			end = (end + align[i] - 1) & ~(align[i] - 1);
			t.size[i] = size[i];
			t.offset[i] = end;
			end += size[i];
		}
		t.offset[n] = end;
		return t;
	}

	static constexpr table value = make();
};

/* The usual case, a thread that never waited, stays in line: it costs half a nanosecond. */
static inline int next_thread()
{
	if (__builtin_expect(cpudev_tls.sequential, 1) && ++threadIdx.x < blockDim.x)
		return 1;
	return cpudev_next_thread();
}

template <auto Kernel> struct description;

template <class... P, void (*Kernel)(P...)> struct description<Kernel> {
	static_assert((__is_trivially_copyable(P) && ...), "kernel parameters are copied as bytes");
	static_assert(layout<P...>::value.offset[sizeof...(P)] <= 4096, "CUDA allows 4 KiB");

	/* A thread may change its parameters, so each gets fresh ones. */
	template <size_t... I>
	static inline void run_all([[maybe_unused]] const char *args, std::index_sequence<I...>)
	{
		do
			Kernel(*(const P *)(args + layout<P...>::value.offset[I])...);
		while (next_thread());
	}

	static void run(const char *args)
	{
		run_all(args, std::index_sequence_for<P...>());
	}

	static inline cpudev_kernel kernel{ (const void *)Kernel,
					    run,
					    nullptr,
					    sizeof...(P),
					    layout<P...>::value.size,
					    layout<P...>::value.offset,
					    nullptr,
					    0,
					    0,
					    false };

	explicit description(const char *name)
	{
		if (!kernel.name)
			kernel.name = name;
		cpudev_register(&kernel);
	}
};
} // namespace cpudev

#define CPUDEV_CONCAT(a, b) CPUDEV_CONCAT_(a, b)
#define CPUDEV_CONCAT_(a, b) a##b

namespace cpudev
{
struct symbol {
	symbol(const volatile void *address, size_t bytes)
	{
		cpudev_symbol((void *)address, bytes);
	}
};
} // namespace cpudev

/* The macros that common/gpu.h documents. KERNEL takes commas: KERNEL(k<int, 3>). */
/* The name as text, once macros in it are replaced. */
#define CPUDEV_TEXT(...) CPUDEV_TEXT_AS_IS(__VA_ARGS__)
#define CPUDEV_TEXT_AS_IS(...) #__VA_ARGS__
#define KERNEL(...)                                                                                \
	static const cpudev::description<__VA_ARGS__> CPUDEV_CONCAT(cpudev_kernel_, __COUNTER__)(  \
		CPUDEV_TEXT(__VA_ARGS__))
#define SYMBOL(name)                                                                               \
	static const cpudev::symbol CPUDEV_CONCAT(cpudev_symbol_, __COUNTER__)(&name, sizeof(name))
#define SHARED_ARRAY(T, name, ...)                                                                 \
	struct name##_shared_tag;                                                                  \
	typedef T name##_shared_type __VA_ARGS__;                                                  \
	name##_shared_type &name = *(name##_shared_type *)cpudev_tls.shared[cpudev::shared_array<  \
		name##_shared_type, struct name##_shared_tag>::slot]
#define DYN_SHARED(T, name) T *const name = (T *)cpudev_tls.dynamic

#endif
