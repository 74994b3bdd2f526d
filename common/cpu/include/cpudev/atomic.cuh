/*
 * atomic.cuh - CUDA's atomic functions: relaxed, as on a GPU. Where their result also publishes
 * other data, use the release and acquire helpers of common/gpu.h.
 */
#ifndef RIFT_CPU_ATOMIC_CUH
#define RIFT_CPU_ATOMIC_CUH

#include <string.h>

namespace cpudev
{
/* Replaces *p by f(*p) atomically; returns the old value. Bits: an integer of T's size. */
template <class Bits, class T, class F> static inline T update(T *p, F f)
{
	Bits old_bits = __atomic_load_n((Bits *)p, __ATOMIC_RELAXED), new_bits;
	T old_value, new_value;

	static_assert(sizeof(Bits) == sizeof(T), "one atomic word");
	/* A failed exchange has put the present value into old_bits. */
	do {
		memcpy(&old_value, &old_bits, sizeof(T));
		new_value = f(old_value);
		memcpy(&new_bits, &new_value, sizeof(T));
	} while (!__atomic_compare_exchange_n((Bits *)p, &old_bits, new_bits, true,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return old_value;
}
} // namespace cpudev

/* One function for each type that CUDA has, so that other types are refused here as well. */
#define CPUDEV_ATOMIC(name, T, expression)                                                         \
	static inline T name(T *p, T v)                                                            \
	{                                                                                          \
		return expression;                                                                 \
	}
#define CPUDEV_ATOMIC_BITS(T)                                                                      \
	CPUDEV_ATOMIC(atomicAnd, T, __atomic_fetch_and(p, v, __ATOMIC_RELAXED))                    \
	CPUDEV_ATOMIC(atomicOr, T, __atomic_fetch_or(p, v, __ATOMIC_RELAXED))                      \
	CPUDEV_ATOMIC(atomicXor, T, __atomic_fetch_xor(p, v, __ATOMIC_RELAXED))
#define CPUDEV_ATOMIC_CAS(T)                                                                       \
	static inline T atomicCAS(T *p, T expected, T desired)                                     \
	{                                                                                          \
		__atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_RELAXED,        \
					    __ATOMIC_RELAXED);                                     \
		return expected;                                                                   \
	}
#define CPUDEV_ATOMIC_INTEGERS(T)                                                                  \
	CPUDEV_ATOMIC(atomicAdd, T, __atomic_fetch_add(p, v, __ATOMIC_RELAXED))                    \
	CPUDEV_ATOMIC(atomicExch, T, __atomic_exchange_n(p, v, __ATOMIC_RELAXED))                  \
	CPUDEV_ATOMIC_BITS(T)                                                                      \
	CPUDEV_ATOMIC_CAS(T)
#define CPUDEV_ATOMIC_ORDER(T)                                                                     \
	CPUDEV_ATOMIC(atomicMin, T, cpudev::update<T>(p, [v](T o) { return o < v ? o : v; }))      \
	CPUDEV_ATOMIC(atomicMax, T, cpudev::update<T>(p, [v](T o) { return o > v ? o : v; }))

CPUDEV_ATOMIC_INTEGERS(int)
CPUDEV_ATOMIC_INTEGERS(unsigned)
CPUDEV_ATOMIC_INTEGERS(unsigned long long)
CPUDEV_ATOMIC_BITS(long long)
CPUDEV_ATOMIC_CAS(unsigned short)
CPUDEV_ATOMIC_ORDER(int)
CPUDEV_ATOMIC_ORDER(unsigned)
CPUDEV_ATOMIC_ORDER(long long)
CPUDEV_ATOMIC_ORDER(unsigned long long)
CPUDEV_ATOMIC(atomicSub, int, __atomic_fetch_sub(p, v, __ATOMIC_RELAXED))
CPUDEV_ATOMIC(atomicSub, unsigned, __atomic_fetch_sub(p, v, __ATOMIC_RELAXED))
CPUDEV_ATOMIC(atomicAdd, float, cpudev::update<unsigned>(p, [v](float o) { return o + v; }))
CPUDEV_ATOMIC(atomicAdd, double,
	      cpudev::update<unsigned long long>(p, [v](double o) { return o + v; }))
CPUDEV_ATOMIC(atomicExch, float, cpudev::update<unsigned>(p, [v](float) { return v; }))
/* Counters that wrap at v: up to v then 0, down to 0 then v. */
CPUDEV_ATOMIC(atomicInc, unsigned,
	      cpudev::update<unsigned>(p, [v](unsigned o) { return o >= v ? 0 : o + 1; }))
CPUDEV_ATOMIC(atomicDec, unsigned,
	      cpudev::update<unsigned>(p, [v](unsigned o) { return !o || o > v ? v : o - 1; }))

#undef CPUDEV_ATOMIC
#undef CPUDEV_ATOMIC_BITS
#undef CPUDEV_ATOMIC_CAS
#undef CPUDEV_ATOMIC_INTEGERS
#undef CPUDEV_ATOMIC_ORDER

#endif
