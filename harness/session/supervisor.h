/*
 * supervisor.h - the supervisor: runs the processes of a session, survives what they do, and writes
 * down what they say.
 *
 * In a session of two sides a pair of processes, one of each side, is alive together and takes
 * turns (plan.design.pairs): what the machine does meanwhile, both meet alike. Else processes come
 * one after the other.
 */
#ifndef RIFT_SESSION_SUPERVISOR_H
#define RIFT_SESSION_SUPERVISOR_H

#include "harness/record/journal.h"
#include "harness/session/child.h"
#include "harness/session/company.h"
#include "harness/session/stopping.h"
#include "harness/session/watch.h"

/* A process under way. */
struct lane {
	struct session *session;
	int replicate;
	struct child child; /* its worker; child.pid 0: none runs */
	bool running;	    /* it was started, and its end was not seen yet */
	int point;	    /* that the worker is at; -1: none */
	int config;	    /* that it sets up; -1: none */
	int64_t deadline_ns;
	json_t *bye;	 /* its last line */
	json_t *summed;	 /* those of the workers before it */
	int workers;	 /* that have ended in order */
	bool done;	 /* nothing of this wait policy is left */
	int lost_starts; /* workers that were lost before they measured anything */

	/* of one that takes turns */
	bool waits;	  /* for its turn; nothing is late meanwhile */
	int turn[3];	  /* what it will do then (worker_await_turn()) */
	int turn_config;  /* of this configuration */
	int64_t allowed;  /* how long it may take for it, ns */
	bool alone;	  /* it still has rounds to do before the other one starts */
	double *alone_ns; /* [point * ALONE_ROUNDS + round] of them; NAN: not done; NULL: none */
};

struct session {
	struct journal journal;
	struct show show;
	struct lane lane[CHILDREN_MAX];
	int lanes;		 /* under way together */
	struct watch *watch;	 /* opened by session_run() */
	enum wait_policy policy; /* of waiting: of the operating-system processes under way */
	int64_t ties;		 /* turns at which both were at the same point */
	double patience_ns;	 /* for what no prediction says how long it takes (PATIENCE_S) */
	double limit_ns;	 /* that the command is to take, from show.begun_ns; 0: none */
	int interim_processes;	 /* processes of each side at the last interim; 0: none yet */
	struct interim interim;
	char change[320];    /* what the identity of the machine changed in */
	json_t *remarked[2]; /* of a side: changes of other fields that were said */
};

/*
 * Asks a worker of this side how long configurations take there: of side a all that there is time
 * for in limit_ns, of side b the first of each workload; what the others take is predicted. After
 * limit_ns the worker is stopped, once it has told of each workload. prefix as in child.h. Returns
 * 0, or a negative errno after one line.
 */
int session_probe(struct session *s, struct plan *p, int side, const char *prefix, double limit_ns);

/*
 * Has the command of the other side start a worker that says hello and ends. Returns 0, or a
 * negative errno after one line: the command failed, or was silent for 2 minutes.
 */
int session_handshake(const char *command, struct show *show);

/*
 * Measures what the journal lacks. Returns 0 when the session is complete (renamed), -EINTR when
 * interrupted, -ESTALE when the machine is not the one that the session was begun on (s->change
 * says why; nothing was written), -EBUSY after one line when pairs get in each other's way
 * (company.h), or another negative errno after one line.
 */
int session_run(struct session *s);

#endif
