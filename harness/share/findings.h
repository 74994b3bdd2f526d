/* findings.h - what follows from the windows of all sets: slowdowns, fairness, verdicts. */
#ifndef RIFT_SHARE_FINDINGS_H
#define RIFT_SHARE_FINDINGS_H

#include "harness/share/share.h"
#include "harness/stats/contrast.h"

/*
 * Clients are unfairly treated where one takes longer, or less long, than the mean of the set by
 * more than this, each against its own time alone. The verdict is that of harness/stats/decide.h,
 * over all windows, or all starts where there are 5 or more, corrected for the number of clients.
 */
#define SHARE_FAIR_MARGIN 0.05

/*
 * As many windows, or starts, are enough to call one of these clients unfairly treated: 6 for 2 or
 * 3, 7 for 4 to 6. With fewer its p-value may not be small enough, of 2 clients it never is.
 */
int share_fairness_needs(int clients);

enum share_fairness { FAIRNESS_FAIR, FAIRNESS_UNFAIR, FAIRNESS_OPEN };
extern const char *const share_fairness_names[]; /* by enum share_fairness */

struct share_client_found {
	double rate;			     /* steps a second, the median of windows */
	double slowdown;		     /* its time over its time alone */
	double quantile_ns[SHARE_QUANTILES]; /* of a step; medians of windows; NAN: none ended */
	struct interval median_ns, p99_ns;   /* of a step, over windows, at pair_level */
	struct judged_point against_mean;    /* its time over the set's mean */
	struct judged_point over_alone;	     /* slowdown with an interval; of two clients or more */
};

/* One set. Without any windows, or without those of its workloads alone, all is NAN. */
struct share_found {
	const struct share_measured *of;
	bool known;
	struct share_client_found client[SHARE_CLIENTS_MAX];
	double stp;	      /* sum of alone over shared time: 1 is what one client alone does */
	double mean_slowdown; /* mean of the clients' (mean normalised turnaround) */
	double jain;	      /* (sum x)^2 / (n sum x^2), x: alone over shared time */
	double max_min;	      /* the largest x over the smallest */
	struct interval slowdown; /* n / STP by windows: 1 alone, n where they share
				   * without loss or gain */
	double overhead;	  /* slowdown / n - 1 */
	double processors;	  /* that clients used */
	double daemons;		  /* that other processes used for them; NAN: not known */
	double cpu_ns;		  /* processor time of clients per step; NAN: without steps */
	double daemons_ns;	  /* the same of other processes; NAN: not known */
	double memory;		  /* bytes of the device in use, by whomever; NAN: not known */
	double busy;		  /* share of time with a kernel, by NVML; NAN: not known */
	bool passed;		  /* every client's check */
	enum share_fairness fairness;
	bool has_base;
	struct judged_point over_base; /* slowdown over that of the arm's base at the same n */
};

struct share_findings {
	struct share_found *set; /* as share.set */
	int sets;
	int units;	   /* windows of a set, or starts: what intervals are over */
	const char *unit;  /* "window", "start" */
	double level;	   /* of intervals over another set; NAN: there are none */
	double pair_level; /* of those within a set: fairness, and the time of a step */
};

void share_findings_init(struct share_findings *f, const struct share *s);
void share_findings_release(struct share_findings *f);

/* RIFT_OK, RIFT_CHECK_FAILED, or RIFT_FAILED_POINTS where a set was lost. */
int share_exit_code(const struct share *s);

#endif
