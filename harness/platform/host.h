/* host.h - the host: system, processor, memory, clock, limits and load. Names as in the record. */
#ifndef RIFT_PLATFORM_HOST_H
#define RIFT_PLATFORM_HOST_H

#include "harness/platform/fact.h"

struct host {
	struct fact name; /* in plain, or its salted hash */
	struct fact os, kernel, arch, cpu_model;
	struct fact sockets, cores, cpus; /* cores: of all sockets; cpus: logical, online */
	struct fact cpus_allowed;	  /* a list, "0-3,8": where this process may run */
	struct fact smt, isolated_cpus, governor, tsc_invariant;
	struct fact numa; /* nodes with memory or CPUs */
	struct fact mem_bytes, mem_available_bytes;
	struct fact clocksource, clocksources; /* the one in use; all, separated by blanks */
	struct fact thp, shmem_thp;
	struct fact uptime_s, load; /* load: average of the last minute */
	struct fact steal_share;    /* of all CPU time since boot; taken by the hypervisor */
	struct fact mitigations_off;
	/* the tightest of this process's control group and those above it */
	struct fact cgroup_version, cgroup_cpus, cgroup_mem_bytes, cgroup_cpuset;
	json_t *mitigations; /* {"meltdown": "Not affected", ...}; NULL: not to be read */
};

/* Reads it all. name_in_plain: else the host's name is hashed with the machine's secret id. */
void host_read(struct host *h, const struct place *p, bool name_in_plain);

/* Parts of host_read(): the processors, and the limits of control groups. */
void cpus_read(struct host *h, const struct place *p);
void cgroup_read(struct host *h, const struct place *p);

/* Does /proc/cpuinfo list this flag? Unknown where it lists none (ARM names them otherwise). */
struct fact cpu_flag(const struct place *p, const char *flag);

/* How many numbers a list like "0-3,8" has; -1 where it is none. */
int list_count(const char *list);

json_t *host_json(const struct host *h);
void host_release(struct host *h);

#endif
