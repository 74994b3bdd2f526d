/* arms.c - ways of sharing a GPU, and which of them can be had. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/text.h"
#include "harness/layer/enter.h"
#include "harness/share/share.h"

/* clang-format off */
const struct share_arm_row share_arms[ARMS] = {
	[ARM_PROCESSES] = { "processes", WAY_PROCESSES, NULL, false, ARM_PROCESSES,
		"a process a client: the driver's time slices" },
	[ARM_MPS] = { "mps", WAY_PROCESSES, NULL, true, ARM_PROCESSES,
		"a process a client, all under one MPS daemon (layer mps)" },
	[ARM_REMOTE] = { "remote", WAY_PROCESSES, "remote", false, ARM_PROCESSES,
		"a process a client, each with a daemon that has its calls (layer remote)" },
	[ARM_REMOTE_MPS] = { "remote+mps", WAY_PROCESSES, "remote", true, ARM_MPS,
		"the same, the daemons under one MPS daemon" },
	[ARM_REMOTE_SHARED] = { "remote-shared", WAY_STREAMS, "remote", false, ARM_STREAMS,
		"one process with a stream a client, and one daemon for all (layer remote)" },
	[ARM_STREAMS] = { "streams", WAY_STREAMS, NULL, false, ARM_PROCESSES,
		"one process with a stream a client" },
	[ARM_SERIAL] = { "serial", WAY_SERIAL, NULL, false, ARM_PROCESSES,
		"one process, the clients' steps one after another" },
};
/* clang-format on */

int share_arm_find(const char *name)
{
	struct suggestion near = suggest_start(name);

	for (int i = 0; i < ARMS; i++) {
		if (!strcmp(share_arms[i].name, name))
			return i;
		suggest_offer(&near, share_arms[i].name);
	}
	return complain(EINVAL, "--arms: unknown arm '%s'%s", text_shown(name).s,
			near.best ? suggest_hint(&near).s
				  : "; they are processes, mps, remote, remote+mps, "
				    "remote-shared, streams, serial");
}

static const char *layer_lacks(const char *name)
{
	static char why[240];
	const struct layer *l = layer_find(name);
	const char *missing = l ? layer_missing(l) : "this build has no such layer";

	snprintf(why, sizeof(why), "layer %s: %.200s", name, missing ? missing : "");
	return missing ? why : NULL;
}

const char *share_arm_missing(enum share_arm arm)
{
	const struct share_arm_row *a = &share_arms[arm];
	const char *why = a->mps ? layer_lacks("mps") : NULL;

	return !why && a->layer ? layer_lacks(a->layer) : why;
}
