/*
 * test_cmd_help.c - harness/cmd: the options of every command as its help has them, from the tables
 * that they are read by.
 */
#include "tests/capture.h"
#include "tests/cli.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

TestSuite(small_cmd_help, .timeout = 60);

static const struct {
	const char *command, *options;
} helps[] = {
	{ "check", "--csv=FILE --ratios=FILE --side=a|b -h,--help " },
	{ "compare", "--all --force --json --margin=PERCENT --self-test --session-sd=PERCENT "
		     "--side=a|b --strict --sync=KIND --workload=NAME -h,--help " },
	{ "doctor", "--host-name --json --platform=NAME -h,--help " },
	{ "fit", "--json --off-grid=SESSION --over=SESSION --side=a|b --sync=KIND "
		 "--workload=NAME -h,--help " },
	{ "list", "--json -h,--help " },
	{ "plot", "--costs=FILE --from=SESSION --output=DIR --over=NAME --quiet --side=a|b "
		  "--sync=KIND -h,--help " },
	{ "predict", "--from=SESSION --json --measured=SESSION --on=SESSION --side=a|b "
		     "--sync=KIND --workload=NAME -h,--help " },
	{ "probe", "--host-name --json --output=FILE --patience=SECONDS --platform=NAME "
		   "--processes=N --quiet --sync=KIND -h,--help " },
	{ "run",
	  "--blocks=N --check=sample|full --check-steps=N --depth=N --host-name --json "
	  "--mode=stream|graph|fused --platform=NAME --plot[=DIR] --quiet --sync=KIND -h,--help " },
	{ "show", "--side=a|b -h,--help " },
	{ "stack", "--all --costs=FILE --from=SESSION --json --side=a|b --sync=KIND "
		   "--workload=NAME -h,--help " },
	{ "sweep", "--against=COMMAND --apart --around=NAME=VALUES --check-steps=N --depth=VALUES "
		   "--dry-run --express --lock-clocks[=MHZ] --margin=PERCENT "
		   "--mode=VALUES --output=FILE --patience=SECONDS --platform=NAME --processes=N "
		   "--quick --quiet --resolve=NAME=TIME,... --resume=FILE --rounds=N "
		   "--seed=N --size=VALUES --sync=KIND --warm-up=SECONDS -h,--help " },
	{ "validate", "--json --on=SESSION --side=a|b --sync=KIND -h,--help " },
};

/* A name and what it takes in order of the names, which is that of one group; and nothing else. */
Test(small_cmd_help, options_of_every_command)
{
	for (size_t i = 0; i < sizeof(helps) / sizeof(*helps); i++) {
		const char *text;

		cr_assert(zero(int, shell(&text,
					  "'%s' %s --help | grep -oE '^(  -[a-zA-Z], |      "
					  ")--[a-z][^ ]+' | "
					  "tr -d ' ' "
					  "| tr '\\n' ' '",
					  rift(), helps[i].command)),
			  "%s", helps[i].command);
		cr_assert(eq(str, (char *)text, (char *)helps[i].options), "%s: %s",
			  helps[i].command, text);
	}
}
