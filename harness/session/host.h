/* system.h - what the operating system tells a measurement: processors, switches, stolen time. */
#ifndef RIFT_SWEEP_SYSTEM_H
#define RIFT_SWEEP_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

/* Counters of this thread and, for steal, of the machine; steal -1: unknown. */
struct usage {
	int64_t involuntary; /* context switches */
	int64_t utime_us, stime_us;
};
struct usage system_usage(void);

/* Ticks (10 ms) stolen from all processors since boot; -1: unknown. */
int64_t system_steal_ticks(void);

/* This boot's id, "" unknown. */
const char *system_boot_id(void);

/* When a process started, ticks since boot; -1: there is no such process. */
int64_t system_start_of(int pid);

bool system_tsc_is_invariant(void);

/* PCI address of device 0 as "0000:1b:00.0", "" where it is not known. */
void system_pci_address(char out[32]);

/*
 * Keeps the submitting thread on one processor, of those near the GPU at this PCI address ("" or
 * NULL: anywhere). system_make_room() comes first and, for a CPU device, takes that processor
 * away from the threads that are created between the two calls. Nothing is pinned where the CPU
 * device would be left with fewer than 2 processors, or the system refuses.
 * system_pin() returns the processor, or -1 where nothing was pinned; system_unpin() gives the
 * thread all others of them back, for what needs them.
 */
void system_make_room(const char *pci_bus_id, bool cpu_device);
int system_pin(void);
void system_unpin(void);

#endif
