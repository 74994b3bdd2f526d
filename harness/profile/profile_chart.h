/* profile_chart.h - an analysed trace drawn: its timeline, one step of it, its shares. */
#ifndef RIFT_PROFILE_PROFILE_CHART_H
#define RIFT_PROFILE_PROFILE_CHART_H

#include "harness/base/picture.h"
#include "harness/profile/profile.h"

enum profile_chart { PROFILE_TIMELINE, PROFILE_STEP, PROFILE_SHARES, PROFILE_CHARTS };

/*
 * Writes data and script into the folder, which exists; picture_draw() draws them. p was made with
 * its idle times. Returns 0, or a negative errno after one line; profile_chart_release() in any
 * case.
 */
int profile_chart_write(struct picture *out, const struct profile *p, enum profile_chart chart,
			const char *folder);
void profile_chart_release(struct picture *p);

#endif
