/* memory.c - see memory.h. */
#include "harness/share/memory.h"

#include <errno.h>
#include <signal.h>

#include "common/check.h"
#include "harness/base/json.h"
#include "harness/base/text.h"
#include "harness/share/clients.h"
#include "harness/share/share_file.h"

/* Tells a client a line and keeps its answer in the record's line under this name; NULL: nowhere.
 */
static int ask(struct share_clients *c, const char *what, json_t *line, const char *name)
{
	const struct clients_told t = { .line = what, .other = -1 };
	int err = clients_tell(c, &t);

	if (!err && clients_lost(c))
		err = complain(ECHILD, "memory: %s", c->why);
	if (!err && name)
		json_object_set(line, name, c->process[0].answer);
	return err;
}

static int start(struct share_clients *c, const struct share *s, const struct share_clients *others,
		 double patience_s)
{
	int err = clients_start_taker(c, &s->plan, others, patience_s);

	return err == -ECHILD ? complain(ECHILD, "memory: %s", c->why) : err;
}

/* A new client, which is ended when it has answered. */
static int ask_new(const struct share *s, const struct share_clients *others, json_t *line,
		   const char *name, double patience_s)
{
	struct share_clients c;
	int err = start(&c, s, others, patience_s);

	if (!err)
		err = ask(&c, "largest\n", line, name);
	clients_stop(&c);
	return err;
}

/* One that has taken all ends with it, in order or by a kill; then a new one asks. */
static int end_with_all(const struct share *s, bool is_killed, json_t *line, const char *name,
			double patience_s)
{
	struct share_clients c;
	int err = start(&c, s, NULL, patience_s);

	if (!err)
		err = ask(&c, "hold\n", line, NULL);
	if (!err && is_killed)
		child_signal(&c.process[0].child, SIGKILL);
	clients_stop(&c);
	return err ? err : ask_new(s, NULL, line, name, patience_s);
}

static int fill(struct share *s, json_t *line, double patience_s)
{
	struct share_clients c;
	int err = start(&c, s, NULL, patience_s);

	progress("memory: what one client can take");
	if (!err)
		err = ask(&c, "all\n", line, "alone");
	if (!err)
		err = ask(&c, "largest\n", line, "freed");
	progress("memory: what a second client can take");
	if (!err)
		err = ask(&c, "hold\n", line, NULL);
	if (!err)
		err = ask_new(s, &c, line, "beside", patience_s);
	clients_stop(&c);
	progress("memory: what is left by a client that ends");
	if (!err)
		err = end_with_all(s, false, line, "exited", patience_s);
	return err ? err : end_with_all(s, true, line, "killed", patience_s);
}

int memory_measure(struct share *s, double patience_s)
{
	json_t *line = json_pack("{s:s}", "record", "memory");
	int err = fill(s, line, patience_s);

	if (!err)
		return share_add(s, line);
	json_decref(line);
	return err;
}
