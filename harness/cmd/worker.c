/* worker.c - the command that rift starts itself: a process that measures, or takes call costs. */
#include "harness/base/command.h"
#include "harness/probe/costs.h"
#include "harness/session/worker.h"

int cmd_worker(int argc, char **argv)
{
	static const struct worker_job jobs[] = { { "card", costs_work }, { NULL, NULL } };

	(void)argc, (void)argv;
	return worker_main(jobs);
}
