/*
 * doctor.h - what this machine is, what works, what would spoil a measurement: `rift doctor`.
 *
 * Findings are made from a struct platform and a place, so that tests can show them other
 * machines.
 */
#ifndef RIFT_PLATFORM_DOCTOR_H
#define RIFT_PLATFORM_DOCTOR_H

#include <stdio.h>

#include "harness/platform/platform.h"
#include "harness/platform/system.h"

enum doctor_state {
	DOCTOR_OK,
	DOCTOR_NOTE,	/* to be known: it bears on figures */
	DOCTOR_WARN,	/* would spoil a measurement */
	DOCTOR_MISSING, /* not there, or does not work */
	DOCTOR_STATES
};

struct finding {
	enum doctor_state state;
	char name[24];
	char text[640];
	const char *advice; /* what to do, or NULL */
};

enum { FINDINGS_MAX = 96 };

struct doctor {
	bool works;	 /* what every measurement needs */
	int unsupported; /* what some need, and is not supported here */
	int n;
	struct finding finding[FINDINGS_MAX];
};

/* Adds a finding; advice lives as long as the program, or is NULL. */
void doctor_report(struct doctor *d, enum doctor_state state, const char *name, const char *advice,
		   const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/*
 * The device: can it be opened, does a kernel run, and do events, graphs, mapped, pinned and
 * managed memory and pools work? Fills p by platform_open(). Sets d->works and d->unsupported. No
 * wait for the device takes longer than 2 s.
 */
void doctor_device(struct doctor *d, struct platform *p, const struct place *place);

/* What was found out about the GPU, its driver, and who shares it. */
void doctor_gpu(struct doctor *d, const struct platform *p);

/* Hypervisor, WSL, container, and other layers. */
void doctor_layers(struct doctor *d, const struct platform *p);

/* Processors, memory, load, and the clock, of which clock was measured. */
void doctor_host(struct doctor *d, const struct platform *p, const struct clock_probe *clock);

/* Interposed libraries, variables, libraries, gnuplot. */
void doctor_software(struct doctor *d, const struct platform *p, const struct place *place);

/* One page, and the same for machines; the platform's object goes along. */
void doctor_print(const struct doctor *d, const struct platform *p, FILE *out);
json_t *doctor_json(const struct doctor *d, const struct platform *p);

#endif
