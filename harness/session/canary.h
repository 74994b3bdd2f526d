/*
 * canary.h - kernels of the harness itself: what the clocks of host and device are judged by.
 *
 * The canary takes a fixed number of cycles (on the CPU device a fixed chain of dependent
 * multiply-adds, because its cycle counter counts ns), about 200 us: when its time changes, the
 * clock of the processor has, or the processor was shared.
 */
#ifndef RIFT_SESSION_CANARY_H
#define RIFT_SESSION_CANARY_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The same everywhere, or canaries of two platforms could not be compared. */
enum { CANARY_CYCLES = 400000, CANARY_CHAIN = 120000 };

struct canary {
	cudaStream_t stream;
	cudaEvent_t begin, end; /* NULL: the platform has no events */
	int64_t *device, *word; /* a word: as the device sees it, and as the host does */
	bool is_mapped;		/* they are one; else it is copied where the host reads it */
	bool is_gpu;
};

/* Where events or mapped memory do not work here, does without them. */
void canary_init(struct canary *c, cudaStream_t stream, bool is_gpu);
void canary_release(struct canary *c);

/* What a kernel has written to the word. After a synchronize. */
int64_t canary_read(const struct canary *c);

/* One canary, waited for: ns by the device's clock, read in the kernel. */
int64_t canary_run(const struct canary *c);

/* Clock of the multiprocessor, MHz; NAN on the CPU device. */
double canary_mhz(const struct canary *c, int64_t device_ns);

/* Enqueue: a kernel that does nothing; one that runs for so many cycles (CPU device: ns). */
void canary_nothing(const struct canary *c);
void canary_spin(const struct canary *c, int64_t cycles);

/* Enqueues a kernel that writes the device's clock, in ns, to the word. */
void canary_stamp(const struct canary *c);

/*
 * Enqueues a kernel that writes the smallest step that the device's ns clock was seen to make to
 * the word; 0: none was seen.
 */
void canary_tick(const struct canary *c);

#ifdef __cplusplus
}
#endif
#endif
