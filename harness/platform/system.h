/* system.h - the machine around a measurement: processors, stolen time, the GPU awake, its clock.
 */
#ifndef RIFT_PLATFORM_SYSTEM_H
#define RIFT_PLATFORM_SYSTEM_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- the clock -------------------------------------------------------------------------- */

enum { SECOND_NS = 1000000000 };

/* Monotonic, and not slewed by NTP, which would change the length of a second in a session. */
int64_t clock_ns(void);

/* What reading it costs, and how fine it is. */
struct clock_probe {
	double cost_ns;	 /* of one reading: the fastest of several thousand in a row */
	int64_t tick_ns; /* smallest step seen, which is never below the cost of a reading */
	double early_ns; /* what a reading cost at first, where that was more; else 0 */
};

/*
 * Takes a few ms. Where a reading costs more than 5 us, waits until it does not, 3 s at most: under
 * gVisor each is a call of its kernel until that has measured the processor's counter for a second.
 */
struct clock_probe clock_probe(void);

/* The same for a clock of another kind. */
struct clock_probe clock_probe_of(int64_t (*now_ns)(void));

/* ---- what the operating system tells ---------------------------------------------------- */

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
int64_t system_start(int pid);

bool system_tsc_is_invariant(void);

/* PCI address of device 0 as "0000:1b:00.0", "" where it is not known. */
void system_pci_address(char out[32]);

/*
 * A fixed chain of instructions, about 25 us of them: ns. Where it takes longer than elsewhere in a
 * session the processor itself was slower, or was another one's for a while. It is recorded and
 * corrects nothing.
 */
int64_t host_canary_run(void);

/* Processors as the kernel lists them, "0-7,16-23"; what is no such list ends it. */
void system_read_cpus(const char *text, cpu_set_t *set);

/*
 * Keeps the submitting thread on one processor, of those near the GPU at this PCI address ("" or
 * NULL: anywhere). system_free_processor() comes first and, for a CPU device, takes that processor
 * away from the threads that are created between the two calls. Nothing is pinned where the CPU
 * device would be left with fewer than 2 processors, or the system refuses.
 * system_pin() returns the processor, or -1 where nothing was pinned; system_unpin() gives the
 * thread all others of them back, for what needs them.
 */
void system_free_processor(const char *pci_bus_id, bool cpu_device);
int system_pin(void);
void system_unpin(void);

/* ---- a GPU kept awake ------------------------------------------------------------------- */

/*
 * Between the processes of a session. Without a persistence daemon a GPU that nobody has open
 * powers down, and the next process would wait up to seconds for it. The supervisor therefore keeps
 * a context open. Not where the GPU admits one process only, and not on the CPU device, which does
 * not sleep.
 */

/*
 * Opens the device for as long as this process lives. Returns 0, or -ENODEV after one line where
 * there is none. pci: its address as "0000:1b:00.0"; "" on the CPU device.
 */
int keep_device_alive(char pci[32]);

/* ---- the GPU's clock, locked ------------------------------------------------------------ */

/*
 * `rift sweep --lock-clocks`: the GPU's clock is locked while a session is measured, and set free
 * again however the session ends.
 *
 * A process of its own, the guard, locks it by NVML and waits for the end of its stdin: that comes
 * when this process lets go or is gone, be it by Ctrl-C, a crash or SIGKILL. Only of the
 * guard's own death nothing is left to set the clock free; `nvidia-smi -rgc` does, or a restart.
 */

struct clocks {
	pid_t guard;   /* 0: nothing is locked */
	int keepalive; /* its stdin */
};

enum { CLOCK_MHZ_MAX = 10000 };

/*
 * At so many MHz; 0: at the base clock. Returns 0, or a negative errno after one line: no GPU, no
 * NVML, or it may not.
 */
int clocks_lock(struct clocks *c, int mhz);

/* Waits until it is free. */
void clocks_free(struct clocks *c);

/* The guard: rift sweep-clocks PCI_ADDRESS MHZ. An exit code. */
int cmd_clocks(int argc, char **argv);

#endif
