/* fit_identify.h - which parameters the data hold, and why not the others. */
#ifndef RIFT_MODEL_FIT_IDENTIFY_H
#define RIFT_MODEL_FIT_IDENTIFY_H

#include "harness/model/fit.h"
#include "harness/model/fit_parts.h"

/* Fills in identified and why of every parameter. */
void fit_identify(struct fit *f, struct fit_parts *parts, const struct fit_data *d);

#endif
