/* greet.c - does the other side's command start a worker at all? Asked before anything is timed. */
#include <errno.h>
#include <unistd.h>

#include "common/check.h"
#include "common/interrupt.h"
#include "harness/command.h"
#include "harness/measure.h"
#include "harness/record/record.h"
#include "harness/session/supervisor.h"

enum { TICK_US = 10000 };

/* A container may have to be fetched; a word after some seconds tells what is waited for. */
static const double patience_ns = 120e9, word_after_ns = 5e9;

struct greeting {
	struct show *show;
	bool heard;
};

static int take_line(const json_t *o, void *arg)
{
	struct greeting *g = arg;

	g->heard |= record_is(o, "hello");
	return 0;
}

static void take_complaint(const char *line, void *arg)
{
	struct greeting *g = arg;

	show_complaint(g->show, line);
}

static int attend(struct greeting *g, struct child *c, const char *command)
{
	int64_t start = clock_ns();
	bool ended, said = false;

	do {
		double ns = (double)(clock_ns() - start);

		ended = child_ended(c); /* before reading: what it wrote is then all there */
		child_read(c, take_line, take_complaint, g);
		if (interrupted())
			return -EINTR;
		if (ns > patience_ns)
			return complain(ETIMEDOUT, "--against: '%s' said nothing for 2 minutes",
					text_shown(command).s);
		if (ns > word_after_ns && !said) {
			show_complaint(g->show, "rift: waiting for the command of --against to "
						"start a worker, for 2 minutes at most");
			said = true;
		}
		if (!ended)
			usleep(TICK_US);
	} while (!ended);
	return 0;
}

int session_greet(const char *command, struct show *show)
{
	struct greeting g = { .show = show };
	json_t *job = json_pack("{s:s}", "job", "hello");
	struct child c;
	char how[80];
	int err = child_start(&c, job, command, false);

	json_decref(job);
	if (err)
		return err;
	err = attend(&g, &c, command);
	if (!err && !g.heard) {
		child_describe(&c, how, sizeof(how));
		err = complain(EINVAL, "--against: '%s' %s and started no worker",
			       text_shown(command).s, how);
	}
	child_release(&c);
	return err;
}
