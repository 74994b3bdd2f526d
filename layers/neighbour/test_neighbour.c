/*
 * test_neighbour.c - the layer neighbour: its work on the device, that it is in force, that it is
 * nobody else's to see, and what is said where it cannot work.
 */
/* begins early: it waits long */
/* sanitizers: one thread */
#include "tests/test.h"

#include <signal.h>

#include "layers/neighbour/work.h"
#include "tests/cli.h"
#include "tests/ledger.h"
#include "tests/under_layer.h"

/* One worker each: there are others on this machine. */
static void init(void)
{
	layers_apart();
	setenv("RIFT_CPU_WORKERS", "1", 1);
}

TestSuite(small_neighbour, .init = init, .timeout = 240);

#define RUN "run launch --samples 5 --depth 4 --check-steps 4 --json --quiet"

/* ---- work ------------------------------------------------------------------------------- */

Test(small_neighbour, every_kind_is_queued_waited_for_and_given_back)
{
	need_device();
	for (int kind = NEIGHBOUR_SPIN; kind <= NEIGHBOUR_LAUNCH; kind++) {
		struct work w;

		cr_assert(zero(int, work_open(&w, (enum neighbour_kind)kind)), "kind %d", kind);
		for (int i = 0; i < 20; i++) {
			while (work_queued(&w) < NEIGHBOUR_QUEUE)
				work_submit(&w);
			work_await(&w);
		}
		cr_assert(eq(i64, w.finished, 20), "kind %d", kind);
		cr_assert(eq(i64, work_queued(&w), NEIGHBOUR_QUEUE - 1), "kind %d", kind);
		work_close(&w);
		cr_assert(zero(int, strlen(ledger_open())), "kind %d: left: %s", kind,
			  ledger_open());
	}
}

Test(small_neighbour, more_than_the_queue_holds_is_a_bug, .signal = SIGABRT)
{
	struct work w;

	need_device();
	if (work_open(&w, NEIGHBOUR_LAUNCH))
		exit(1);
	for (int i = 0; i <= NEIGHBOUR_QUEUE; i++)
		work_submit(&w);
}

/* ---- in force --------------------------------------------------------------------------- */

/* On a busy machine a neighbour may do less than it could for as long as it is looked at. */
static int run_beside(const char *params, const char **out)
{
	int rc = 0;

	for (int tries = 0; tries < 3; tries++) {
		rc = shell(out, "'%s' layer --quiet neighbour %s -- '%s' " RUN " 2>&1", rift(),
			   params, rift());
		if (!rc || !strstr(*out, " (it could do "))
			break;
	}
	return rc;
}

static void is_in_force(const char *params, const char *says)
{
	const char *out;
	int rc = run_beside(params, &out);

	cr_assert(zero(int, rc), "%s: %s", params, out);
	cr_assert(strstr(out, "\"in_force\": true") != NULL, "%s: %s", params, out);
	cr_assert(strstr(out, says) != NULL, "%s: %s", params, out);
	cr_assert(layers_gone(0), "%s: %d processes are left", params, layers_running());
}

Test(small_neighbour, every_kind_is_in_force)
{
	need_device();
	is_in_force("", "(1.00 were requested) and does");
	is_in_force("kind=spin duty=40", "kernels per second");
	is_in_force("kind=copy duty=40", "copies per second");
	is_in_force("kind=launch duty=40", "launches per second");
	is_in_force("kind=copy duty=20 n=3", "(0.60 were requested)");
}

/* Its process is killed when the command runs, before that asks. */
Test(small_neighbour, one_whose_process_is_gone_is_not)
{
	const char *folder = getenv("XDG_RUNTIME_DIR"), *out; /* of layers_apart() */
	char runs[200];
	pid_t command;

	need_device();
	snprintf(runs, sizeof(runs), "%s/runs", folder);
	command = start_command(-1,
				"'%s' layer --quiet neighbour kind=copy duty=20 -- sh -c 'touch "
				"%s; while test ! -e %s/go; do sleep 0.05; done; exec \"%s\" " RUN
				"' >'%s/said' 2>&1",
				rift(), runs, folder, rift(), folder);
	cr_assert(has_appeared(runs), "the command");
	kill(find_role(ROLE_HELPER), SIGKILL);
	shell(NULL, "touch '%s/go'", folder);
	cr_assert(eq(int, WEXITSTATUS(status_of_end(command)), 4));
	shell(&out, "cat '%s/said'", folder);
	cr_assert(strstr(out, "neighbour is not active: has work queued in 0.00 processes") != NULL,
		  "%s", out);
	cr_assert(layers_gone(0));
}

/* ---- apart from layers outside it ------------------------------------------------------- */

/* The calls of its processes are none of the command's. On a GPU rift registers its kernels as it
 * starts, which are other calls. */
Test(small_neighbour, a_wrapper_outside_sees_nothing_of_it)
{
	const char *out;
	int rc;

	need_device();
	rc = shell(&out,
		   "'%s' layer shim -- '%s' layer --quiet neighbour kind=copy duty=20 -- true 2>&1",
		   rift(), rift());
	cr_assert(zero(int, rc), "%s", out);
	cr_assert(strstr(out, "layer shim: saw ") != NULL, "%s", out);
	cr_assert(strstr(out, "; copy ") == NULL, "%s", out);
	cr_assert(layers_gone(0));
}

/* ---- where it cannot be ----------------------------------------------------------------- */

Test(small_neighbour, without_a_device_the_command_does_not_run)
{
	const char *out;
	int rc = shell(&out,
		       "RIFT_CPU_FAIL=cudaGetDeviceCount=cudaErrorNoDevice CUDA_VISIBLE_DEVICES=-1 "
		       "'%s' layer neighbour -- echo it runs 2>&1",
		       rift());

	cr_assert(eq(int, rc, 125), "%s", out);
	cr_assert(strstr(out, "no CUDA device") != NULL, "%s", out);
	cr_assert(strstr(out, "layer neighbour: its helper did not start") != NULL, "%s", out);
	cr_assert(strstr(out, "it runs") == NULL, "%s", out);
	cr_assert(layers_gone(0));
}

Test(small_neighbour, what_is_misspelt_is_refused)
{
	refused(3, "kind", "layer neighbour kind=spinn -- true");
	refused(3, "duty=0", "layer neighbour duty=0 -- true");
	refused(3, "n=17", "layer neighbour n=17 -- true");
}
