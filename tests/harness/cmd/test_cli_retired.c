/* test_cli_retired.c - names that commands had: one line says what answers the question now. */
/* sanitizers: one thread */
#include "tests/test.h"
#include "harness/cmd/commands.h"
#include "tests/cli.h"

TestSuite(small_cli_retired, .timeout = 300);

/* However it is asked for, and whatever follows. */
Test(small_cli_retired, one_line_says_the_new_form)
{
	static const char *const asked[] = { "%s", "%s x --json", "%s --help", "help %s",
					     "help %s --format=markdown" };

	for (const struct retired_name *r = retired_names; r->name; r++)
		for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
			char args[128], want[128];

			snprintf(args, sizeof(args), asked[i], r->name);
			snprintf(want, sizeof(want), "rift: '%s' is now `rift %s`\n", r->name,
				 r->now);
			refused(3, want, "%s", args);
		}
}

/* The command is there, and the options of the new form are its own. */
Test(small_cli_retired, the_new_form_is_there)
{
	for (const struct retired_name *r = retired_names; r->name; r++) {
		const char *text;

		cr_assert(zero(int,
			       shell(&text,
				     "set -- %s; '%s' help \"$1\" >/dev/null || exit; for each; do "
				     "case $each in --*) '%s' help \"$1\" | grep -qe \"$each\" || "
				     "{ echo \"$1 has no $each\"; exit 1; };; esac; done",
				     r->now, rift(), rift())),
			  "%s: %s", r->name, text);
	}
}
