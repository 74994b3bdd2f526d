/* arms.c - ways of sharing a GPU, and which of them can be had. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/check.h"
#include "harness/base/text.h"
#include "harness/platform/enter.h"
#include "harness/share/share.h"

/* clang-format off */
const struct share_arm_row share_arms[ARMS] = {
	[ARM_PROCESSES] = { "processes", WAY_PROCESSES, NULL, NULL, ARM_PROCESSES,
		"one process per client: the driver's time slices" },
	[ARM_MPS] = { "mps", WAY_PROCESSES, NULL, "mps", ARM_PROCESSES,
		"one process per client, all under one MPS daemon (layer mps)" },
	[ARM_REMOTE] = { "remote", WAY_PROCESSES, "remote", NULL, ARM_PROCESSES,
		"one process per client, each with a daemon that executes its calls (layer "
		"remote)" },
	[ARM_REMOTE_MPS] = { "remote+mps", WAY_PROCESSES, "remote", "mps", ARM_MPS,
		"as remote, with the daemons under one MPS daemon" },
	[ARM_REMOTE_ONE] = { "remote+shared", WAY_PROCESSES, NULL, "remote shared=yes", ARM_REMOTE,
		"one process per client, and one daemon process for all (layer remote shared=yes)" },
	[ARM_REMOTE_SHARED] = { "remote-shared", WAY_STREAMS, "remote", NULL, ARM_STREAMS,
		"one process with a stream per client, and one daemon for all (layer remote)" },
	[ARM_STREAMS] = { "streams", WAY_STREAMS, NULL, NULL, ARM_PROCESSES,
		"one process with a stream per client" },
	[ARM_SERIAL] = { "serial", WAY_SERIAL, NULL, NULL, ARM_PROCESSES,
		"one process, which runs the clients' steps one after another" },
	[ARM_LIMITED] = { "limited", WAY_PROCESSES, NULL, NULL, ARM_LIMITED,
		"one process per client, each under the layers of --layer" },
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
	return complain(EINVAL, "--arms: unknown sharing method '%s'%s", text_shown(name).s,
			near.best ? suggest_hint(&near).s
				  : "; use processes, mps, remote, remote+mps, remote+shared, "
				    "remote-shared, streams, serial");
}

/* words: as rift layer takes them. */
static const char *layer_lacks(const char *words)
{
	static char why[240];
	char name[32];
	const struct layer *l;
	const char *missing;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(words, " "), words);
	l = layer_find(name);
	missing = l ? layer_missing(l) : "this build has no such layer";
	snprintf(why, sizeof(why), "layer %s: %.200s", name, missing ? missing : "");
	return missing ? why : NULL;
}

const char *share_arm_missing(enum share_arm arm)
{
	const struct share_arm_row *a = &share_arms[arm];
	const char *why = a->keeper ? layer_lacks(a->keeper) : NULL;

	return !why && a->layer ? layer_lacks(a->layer) : why;
}
