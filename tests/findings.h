/* findings.h - what the tests of `rift doctor` share: the findings, and what must be among them. */
#ifndef RIFT_TESTS_FINDINGS_H
#define RIFT_TESTS_FINDINGS_H

#include "harness/platform/doctor.h"

extern struct doctor doctor;

/* The finding of this name, or NULL. */
const struct finding *find(const char *name);

/* It must be there in this state and say this; without fault it gives no advice. */
void finds(const char *name, enum doctor_state state, const char *says);

/* It must be there and advise this. */
void advises(const char *name, const char *says);

#endif
