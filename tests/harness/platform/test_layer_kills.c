/*
 * test_layer_kills.c - whoever is killed, the layer leaves no process and no folder: the command,
 * its process group, the helper, the guard, the guard's keeper.
 */
/* begins early: it waits long */
/* sanitizers: seen elsewhere */
#include "tests/test.h"

#include <limits.h>
#include <signal.h>
#include <sys/wait.h>

#include "tests/cli.h"
#include "tests/under_layer.h"

TestSuite(small_layer_kills, .init = layers_apart, .timeout = 240);
TestSuite(large_layer_kills, .init = layers_apart, .timeout = 580);

enum victim {
	THE_COMMAND,
	ITS_GROUP,
	THE_HELPER,
	THE_GUARD,
	THE_KEEPER,
	GUARD_AND_KEEPER,
	VICTIMS
};

static const char *const victims[] = { "command", "group",  "helper",
				       "guard",	  "keeper", "guard and keeper" };

/* A daemon's child that leaves its group and session, as daemons do, and its parent. */
#define STRAY "daemon='setsid sleep 1000 & setsid sh -c \"sleep 1000 & sleep 1000\" & sleep 1000'"

struct kind {
	char layer[4600];
	bool has_helper;
};

static int kinds(struct kind k[9])
{
	int n = 0;

	strcpy(k[n++].layer, "shim");
	k[n].has_helper = true;
	strcpy(k[n++].layer, "cpu share=5 n=3");
	k[n].has_helper = true;
	strcpy(k[n++].layer, "neighbour kind=copy duty=5 n=2");
	k[n].has_helper = true;
	strcpy(k[n++].layer, "remote");
	k[n].has_helper = true;
	snprintf(k[n++].layer, sizeof(k->layer), "preload lib='%s' daemon='sleep 1000'",
		 shim_library());
	k[n].has_helper = true;
	snprintf(k[n++].layer, sizeof(k->layer), "preload lib='%s' " STRAY, shim_library());
	if (has_container()) {
		strcpy(k[n++].layer, "container");
		snprintf(k[n].layer, sizeof(k->layer), "container -- '%s' layer shim", rift());
		n++;
	}
	return n;
}

static void end_command(pid_t pid)
{
	kill(pid, SIGKILL);
	status_of_end(pid);
}

/* The command says that it runs; what it starts itself is its own, and ends with it. */
static pid_t start(const struct kind *k)
{
	static char started[200];
	pid_t pid;

	snprintf(started, sizeof(started), "%s/../started", layers_folder());
	unlink(started);
	pid = start_command(
		-1, "'%s' layer --quiet %s -- sh -c 'touch \"%s\"; exec sleep 1000' 2>/dev/null",
		rift(), k->layer, started);
	cr_assert(has_appeared(started), "%s", k->layer);
	return pid;
}

static void kill_one(const struct kind *k, enum victim v)
{
	pid_t pid = start(k), keeper = find_role(ROLE_KEEPER), guard = find_role(ROLE_GUARD);
	/* guards inside a container are killed with all in it */
	int left = strstr(k->layer, "container --") ? 1 : 0;

	cr_assert(keeper && guard, "%s", k->layer);
	switch (v) {
	case THE_COMMAND:
		kill(pid, SIGKILL);
		break;
	case ITS_GROUP:
		kill(-pid, SIGKILL);
		break;
	case THE_HELPER:
		kill(find_role(ROLE_HELPER), SIGKILL);
		break;
	case THE_GUARD:
		kill(guard, SIGKILL);
		break;
	case THE_KEEPER:
		kill(keeper, SIGKILL);
		break;
	default:
		left = layers_folders();
		kill(keeper, SIGKILL);
		kill(guard, SIGKILL);
	}
	if (v == ITS_GROUP)
		status_of_end(pid);
	else
		end_command(pid);
	cr_assert(layers_gone(left), "%s, kill of the %s: %d processes, %d folders left", k->layer,
		  victims[v], layers_running(), layers_folders());
}

/* The next layer sweeps up what nobody holds. */
static void next_layer_sweeps(void)
{
	const char *err;

	cr_assert(layers_let_go());
	cr_assert(zero(int, run_rift(ERR, &err, "layer --quiet cpu share=5 n=1 -- true")), "%s",
		  err);
	cr_assert(layers_gone(0));
}

/*
 * Both of them at once is a case for layers without daemons and containers: what these have started
 * is nobody's by then.
 */
static bool is_case(const struct kind *k, enum victim v)
{
	if (v == THE_HELPER)
		return k->has_helper;
	return v != GUARD_AND_KEEPER ||
	       (!strstr(k->layer, "daemon") && !strstr(k->layer, "container"));
}

static void kill_all(int times)
{
	static struct kind k[9];
	int n = kinds(k), kills = 0;

	for (int i = 0; i < times; i++)
		for (int c = 0; c < n; c++)
			for (int v = THE_COMMAND; v < VICTIMS; v++) {
				if (!is_case(&k[c], v))
					continue;
				kill_one(&k[c], v);
				if (layers_folders())
					next_layer_sweeps();
				kills++;
			}
	cr_log_info("%d kills", kills);
}

Test(small_layer_kills, whoever_is_killed_nothing_is_left)
{
	kill_all(1);
}

/* Once more: what is left behind need not be so each time. */
Test(large_layer_kills, whoever_is_killed_nothing_is_left)
{
	kill_all(1);
}

/* At any time: before the guard is there, while it starts, while the command is looked for. */
static void kill_early(int times)
{
	static struct kind k[9];
	int n = kinds(k);

	for (int i = 0; i < times; i++) {
		pid_t pid = start_command(-1, "'%s' layer --quiet %s -- sleep 1000 2>/dev/null",
					  rift(), k[i % n].layer);

		usleep((useconds_t)(i * 7919 % 400) * 100);
		end_command(pid);
		kill(-pid, SIGKILL);
		/* a folder without a guard yet is the next layer's to remove */
		cr_assert(layers_gone(INT_MAX), "%s, killed early: %d processes left",
			  k[i % n].layer, layers_running());
	}
	next_layer_sweeps();
}

Test(small_layer_kills, killed_while_it_starts)
{
	kill_early(6);
}

Test(large_layer_kills, killed_while_it_starts)
{
	kill_early(48);
}
