/*
 * fleet.h - many nodes that ran one plan: which of them is slower or faster than the fleet.
 *
 * A process's value is the mean, over its points, of the logarithm of its time over the fleet's
 * median at that point. A node's effect is the median of its processes, FLEET_PROCESSES_MIN or
 * more, over all sessions that it has; the fleet's is the median of its nodes.
 *
 * A node is held against how much nodes differ: z is its effect over the larger of two standard
 * deviations, that of nodes by their median deviation (1.4826 times it), which a few slow nodes do
 * not widen, and the one that its own processes' scatter gives a median of so many. p is Student's
 * with as many degrees of freedom as there are further nodes, from the eighth on 7, and half as
 * many where that is more: a median deviation knows the scatter less well than a standard deviation
 * of as many (bench/fleet.c). Of all nodes the false discovery rate is held at JUDGE_LEVEL, for
 * slower and for faster ones apart; and a node counts only where its effect is beyond the margin.
 * docs/validation.md has how often it is wrong. No exact test could single out one node among a
 * thousand.
 */
#ifndef RIFT_COMPARE_FLEET_H
#define RIFT_COMPARE_FLEET_H

#include <jansson.h>
#include <stdio.h>

#include "harness/base/command.h"
#include "harness/record/trust.h"
#include "harness/stats/decide.h"

enum { FLEET_PROCESSES_MIN = 3, FLEET_NODES_MIN = 3, FLEET_NAME = 80 };

struct fleet_process {
	double value; /* see above; NAN: it has none of the points */
	int session;  /* of its node, from 0 */
};

struct fleet_node {
	char name[FLEET_NAME];
	struct fleet_process *process; /* owned */
	int processes, sessions;
	bool few;		      /* of its processes: it is not judged */
	double effect;		      /* logarithm of its time over the fleet's */
	double z, p_slower, p_faster; /* p adjusted for all */
	int stands_out; /* 1: slower than the fleet, -1: faster; 0: neither is shown */
};

struct fleet {
	struct fleet_node *node; /* owned; sorted by effect, those not judged last */
	int nodes, judged;
	double margin; /* a share of 1 */
	/* Shares of 1: of nodes by their median deviation, of processes of one node, of sessions of
	 * one node beyond that; NAN: not known. */
	double sd_nodes, sd_processes, sd_sessions;
	int slower, faster;
	/* what fleet_read() found out */
	int files, points;
	char device[128];
	struct distrusted distrusted; /* sessions, by their nodes */
	bool is_cpu;
};

/* A node of that name, made where there is none. It may move when another is made. */
struct fleet_node *fleet_node(struct fleet *f, const char *name);
void fleet_add(struct fleet_node *n, int session, double value);

/* Nodes and values are there; the fleet's median is taken out of them. */
void fleet_judge(struct fleet *f, double margin);
void fleet_release(struct fleet *f);

struct workload;

struct fleet_request {
	int side;			 /* of each session; SIDE_ANY: the only one */
	const char *sync;		 /* the wait policy, of sessions with several; or NULL */
	const struct workload *workload; /* the only one that counts; NULL: all */
	bool force;			 /* other devices are compared, too */
};

/*
 * Reads record files of rift sweep, each of one node: what it is declared as (--platform), else its
 * host's name, else the file. Points are those of the first file that another has, too. Returns 0,
 * or a negative errno after one line; -EPROTONOSUPPORT where a file is of another device, or has
 * none of the points.
 */
int fleet_read(struct fleet *f, char *const *path, int n, const struct fleet_request *request);

/* 0: no node is slower; 1: one is; 2: too few nodes can be judged. */
enum exit_code fleet_exit_code(const struct fleet *f);

/* Lines; found: a struct fleet. */
void fleet_finding(const void *found, FILE *out);
void fleet_print(const struct fleet *f, bool all, FILE *out);
json_t *fleet_json(const struct fleet *f); /* new reference */

#endif
