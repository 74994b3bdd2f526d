/*
 * sanitize.h - what the address and thread sanitizers must be told (CPU device, internal).
 *
 * Built with -DCPUDEV_ASAN (or -fsanitize=address) or -DCPUDEV_TSAN. For the thread sanitizer
 * the kernels and the host program are instrumented, this library is not: its locks then order
 * nothing, and TS_RELEASE and TS_ACQUIRE state exactly the order that CUDA promises (submission,
 * stream order, events, synchronization, barriers).
 */
#ifndef RIFT_CPU_SANITIZE_H
#define RIFT_CPU_SANITIZE_H

#include <stddef.h>

#ifdef __has_feature
#define CPUDEV_HAS_FEATURE(name) __has_feature(name)
#else
#define CPUDEV_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || CPUDEV_HAS_FEATURE(address_sanitizer)
#define CPUDEV_ASAN 1
#endif

#if defined(CPUDEV_ASAN) || defined(CPUDEV_TSAN)
#define CPUDEV_SANITIZED 1
#endif

#ifdef CPUDEV_ASAN
void __sanitizer_start_switch_fiber(void **save, const void *bottom, size_t size);
void __sanitizer_finish_switch_fiber(void *saved, const void **old_bottom, size_t *old_size);
#endif

#ifdef CPUDEV_TSAN
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
void __tsan_acquire(void *tag);
void __tsan_release(void *tag);
void __tsan_ignore_thread_begin(void);
void __tsan_ignore_thread_end(void);
enum { TSAN_NO_ORDER = 1 }; /* a switch between CUDA threads orders nothing */
#define TS_ACQUIRE(tag) __tsan_acquire(tag)
#define TS_RELEASE(tag) __tsan_release(tag)
/* Around what the library moves of its own. */
#define TS_OWN_BEGIN() __tsan_ignore_thread_begin()
#define TS_OWN_END() __tsan_ignore_thread_end()
enum { TS_PRESENT = 1 };
#else
enum { TS_PRESENT = 0 };
#define TS_ACQUIRE(tag) ((void)(tag))
#define TS_RELEASE(tag) ((void)(tag))
#define TS_OWN_BEGIN() ((void)0)
#define TS_OWN_END() ((void)0)
#endif

#endif
