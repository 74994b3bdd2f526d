/* together.c - see together.h. */
#include "layers/remote/daemon/together.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/check.h"
#include "layers/remote/transport/socket.h"

const char strangers_too_many[] = "too many other clients have not identified themselves";

struct together {
	const struct serving *with;
	bool (*may_come)(const struct remote_opts *o, int client);
	int listening;
	int passed[2];	    /* clients that one process has passed on: read, and written */
	int told;	    /* the listener hears there that it is to start the next */
	int woken;	    /* an eventfd: the device does no more */
	atomic_int held;    /* that have not said who they are */
	atomic_int clients; /* and one while more are taken; who is the last ends the process */
	atomic_bool broken; /* the device does no more */
	atomic_bool works;  /* it has served somebody */
};

/* ---- its device does no more ---------------------------------------------------------------- */

void together_works(struct together *t)
{
	atomic_store(&t->works, true);
}

void together_break(void *together)
{
	struct together *t = together;
	const uint64_t one = 1;

	if (atomic_exchange(&t->broken, true))
		return;
	complain(EIO, "layer remote: the device has stopped working, as after a kernel's fault: "
		      "its clients have lost it, and new clients get a new process");
	/* neither can be full */
	if (write(t->woken, &one, sizeof(one)) != sizeof(one) || write(t->told, "n", 1) != 1)
		complain(errno, "layer remote: no other process: %s", strerror(errno));
}

bool together_pass_on(struct together *t, int client)
{
	return atomic_load(&t->broken) && atomic_load(&t->works) &&
	       remote_send_fds(t->passed[1], "", 1, &client, 1);
}

/* -1: another was faster, or there is none. */
static int take_passed(const struct together *t)
{
	char byte = 0;
	int client;

	return remote_receive_fds(t->passed[0], &byte, 1, MSG_DONTWAIT, &client, 1) ? client : -1;
}

/* ---- a thread a client ---------------------------------------------------------------------- */

struct arrival {
	struct together *t;
	int client;
};

static void leave_strangers(void *together)
{
	atomic_fetch_sub(&((struct together *)together)->held, 1);
}

/* Where more are taken, that counts as well. */
static void leave(struct together *t)
{
	if (atomic_fetch_sub(&t->clients, 1) == 1)
		_exit(0);
}

static void *serve_arrival(void *arrival)
{
	const struct arrival a = *(struct arrival *)arrival;

	free(arrival);
	server_run(a.t->with, a.client, leave_strangers, a.t);
	close(a.client);
	leave(a.t);
	return NULL;
}

/* The socket is the thread's. False: there is none. */
static bool start_thread(struct together *t, int client)
{
	struct arrival *a = malloc(sizeof(*a));
	pthread_t thread;
	int err = a ? 0 : ENOMEM;

	atomic_fetch_add(&t->held, 1);
	atomic_fetch_add(&t->clients, 1);
	if (a) {
		*a = (struct arrival){ t, client };
		err = pthread_create(&thread, NULL, serve_arrival, a);
	}
	if (!err)
		return pthread_detach(thread), true;
	free(a);
	atomic_fetch_sub(&t->clients, 1);
	leave_strangers(t);
	complain(err, "layer remote: no thread for a client: %s", strerror(err));
	return false;
}

static void take(struct together *t, int client)
{
	bool may = atomic_load(&t->held) < STRANGERS_MAX;

	if (!may)
		handshake_refuse(client, strangers_too_many);
	if (!may || !start_thread(t, client))
		close(client);
}

/* ---- the process ---------------------------------------------------------------------------- */

enum { AGAIN_US = 10000 };

static void take_new(struct together *t)
{
	int client = accept4(t->listening, NULL, NULL, SOCK_CLOEXEC);

	if (client < 0 && (errno == EMFILE || errno == ENFILE))
		usleep(AGAIN_US);
	if (client < 0)
		return;
	if (t->may_come(t->with->o, client))
		take(t, client);
	else
		close(client);
}

_Noreturn static void serve_all(struct together *t)
{
	struct pollfd come[] = { { t->woken, POLLIN, 0 },
				 { t->passed[0], POLLIN, 0 },
				 { t->listening, POLLIN, 0 } };
	enum { ALL = sizeof(come) / sizeof(*come) };

	while (!atomic_load(&t->broken)) {
		int client;

		if (poll(come, ALL, -1) < 0 || atomic_load(&t->broken))
			continue;
		client = come[1].revents ? take_passed(t) : -1;
		if (client >= 0)
			take(t, client);
		if (come[2].revents)
			take_new(t);
	}
	leave(t);
	for (;;)
		pause();
}

/* ---- one after the other -------------------------------------------------------------------- */

static void await_client(const struct together *t)
{
	struct pollfd come[] = { { t->passed[0], POLLIN, 0 }, { t->listening, POLLIN, 0 } };

	while (poll(come, 2, -1) < 1)
		;
}

/* Where it is heard that the next is to be started, or that it has ended; -1: there is none. */
static int start_process(struct together *t)
{
	pid_t parent = getpid(), pid;
	int told[2];

	if (pipe2(told, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* the listener has one thread */
		if (getppid() != parent)
			_exit(0);
		close(told[0]);
		t->told = told[1];
		t->woken = eventfd(0, EFD_CLOEXEC);
		CHECK(t->woken >= 0, "an eventfd: %s", strerror(errno));
		serve_all(t);
	}
	close(told[1]);
	if (pid > 0)
		return told[0];
	close(told[0]);
	return -1;
}

/* False: it has ended, however that was. */
static bool await_word(int told)
{
	char word;
	ssize_t n;

	while ((n = read(told, &word, 1)) < 0 && errno == EINTR)
		;
	return n == 1;
}

void together_listen(struct serving *with, int listening,
		     bool (*may_come)(const struct remote_opts *o, int client))
{
	static struct together t; /* threads see it to the process's end */
	int flags = fcntl(listening, F_GETFL);

	t.with = with;
	t.may_come = may_come;
	t.listening = listening;
	t.clients = 1;
	with->together = &t;
	/* two processes may be told of one client */
	if (flags < 0 || fcntl(listening, F_SETFL, flags | O_NONBLOCK) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, t.passed)) {
		complain(errno, "layer remote: no socket: %s", strerror(errno));
		return;
	}
	for (;;) {
		int told;

		await_client(&t);
		told = start_process(&t);
		if (told < 0) {
			complain(errno, "layer remote: no process for clients: %s",
				 strerror(errno));
			sleep(1);
			continue;
		}
		if (!await_word(told))
			complain(ECHILD, "layer remote: the process that served all clients has "
					 "ended: new clients get a new process");
		close(told);
	}
}
