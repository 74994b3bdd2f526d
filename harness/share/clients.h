/* clients.h - the processes of a set, seen from outside: started, told, heard, ended. */
#ifndef RIFT_SHARE_CLIENTS_H
#define RIFT_SHARE_CLIENTS_H

#include "harness/session/child.h"
#include "harness/share/share.h"

struct share_process {
	struct child child;
	json_t *ready;	     /* its line; NULL: not yet */
	json_t *answer;	     /* to what it was told last; NULL: none yet */
	bool lost;	     /* it has ended, or did not answer in time */
	char why[SHARE_WHY]; /* then */
};

struct share_clients {
	const struct share_plan *plan;
	struct share_set set;
	struct share_process process[SHARE_CLIENTS_MAX];
	int processes;
	bool takes_memory;	     /* of clients_start_taker() */
	int first_client;	     /* its number, for "{client}" in a layer */
	struct share_process keeper; /* of a daemon that all have; child.pid 0: none */
	json_t *had; /* the variables that keeper's stand in for meanwhile; null: it was not set */
	double patience_s;
	char why[SHARE_WHY]; /* why they could not be started, or which one was lost */
};

/*
 * Starts the clients of a set and waits until all are warm. Returns 0, -EINTR, or -ECHILD with
 * c->why and without a line. clients_stop() follows in any case.
 */
int clients_start(struct share_clients *c, const struct share_plan *p, const struct share_set *set,
		  double patience_s);
void clients_stop(struct share_clients *c);

/* The same for more clients of the daemon that others have. */
int clients_join(struct share_clients *c, const struct share_clients *others,
		 const struct share_set *set);

/* One client that takes memory as it is told (taker.c), no workload's; others: of whose daemon, or
 * NULL. */
int clients_start_taker(struct share_clients *c, const struct share_plan *p,
			const struct share_clients *others, double patience_s);

/* The process that has this client. */
int clients_process(const struct share_clients *c, int client);

/*
 * Tells every process that is not lost a line, and waits for their answers, more_s longer than the
 * patience. The process `other` is told other_line instead; -1: none is. meanwhile: called every
 * some milliseconds; or NULL. Who is lost has that said in its process[]. Returns 0 or -EINTR.
 */
struct clients_told {
	const char *line, *other_line;
	int other;
	double more_s;
	void (*meanwhile)(void *arg);
	void *arg;
};
int clients_tell(struct share_clients *c, const struct clients_told *t);

/* Is any lost? Then c->why says which. */
bool clients_lost(struct share_clients *c);

/* The object of a client within the window lines; NULL: its process is lost. Borrowed. */
const json_t *clients_window(const struct share_clients *c, int client);

#endif
