/*
 * test_cmd_help.c - harness/cmd: the options of every command as its help has them, from the tables
 * that they are read by; and the same for documents, man and bash.
 */
/* sanitizers: one thread */
#include "tests/test.h"
#include "tests/cli.h"

TestSuite(small_cmd_help, .timeout = 300);

static const struct {
	const char *command, *options;
} helps[] = {
	{ "compare",
	  "--all --each=date|node --force --json --margin=PERCENT --plot=DIR --quiet --self-test "
	  "--session-sd=PERCENT --side=a|b --strict --sync=KIND --workload=NAME -h,--help " },
	{ "doctor", "--host-name --json --layer=LAYER --platform=NAME -h,--help " },
	{ "fit", "--all --costs=FILE --from=SESSION --json --off-grid=SESSION --over=SESSION "
		 "--side=a|b --stack --sync=KIND --workload=NAME -h,--help " },
	{ "layer", "--json --quiet -h,--help " },
	{ "list", "--json -h,--help " },
	{ "plot", "--costs=FILE --from=SESSION --output=DIR --over=NAME --quiet --side=a|b "
		  "--sync=KIND -h,--help " },
	{ "predict", "--costs=FILE --from=SESSION --from-costs=FILE --json --measured=FILE "
		     "--on=SESSION --side=a|b --sync=KIND --validate --what-if=CHANGE "
		     "--workload=NAME -h,--help " },
	{ "probe",
	  "--depth=LIST --host-name --json --layer=LAYER --mode=stream|graph|fused --native=FILE "
	  "--output=FILE --patience=SECONDS --platform=NAME --processes=N --quick --quiet "
	  "--rest=SECONDS --seconds=SECONDS --sync=KIND --warmup -h,--help " },
	{ "profile",
	  "--anonymous --calibrate --chrome=FILE --cupti=FILE --delay=SECONDS --duration=SECONDS "
	  "--host-runs=N --json --max-events=N --output=FILE --plot=DIR --quiet --range=NAME "
	  "--ranges "
	  "--recorder=NAME --recordings=N --rule=NAME=PERCENT --runs=N -h,--help " },
	{ "report", "--each=date|node --force --margin=PERCENT --markdown --output=FILE --quiet "
		    "--session-sd=PERCENT --side=a|b --sync=KIND -h,--help " },
	{ "run", "--check=sample|full --check-steps=N --depth=N --host-name --json "
		 "--layer=LAYER --mode=stream|graph|fused --platform=NAME --plot[=DIR] --quiet "
		 "--samples=N --sync=KIND --verbose -h,--help " },
	{ "share",
	  "--allow=LIMITS --arms=ARM,ARM,... --clients=N,N,... --depth=N --dry-run "
	  "--fault=none|crash|kill|hang|memory --from=FILE --json --layer=LAYER "
	  "--layer-of=CLIENT=LAYER --mode=stream|graph|fused --output=FILE "
	  "--patience=SECONDS --plot=DIR --quick --quiet --repetitions=N --resume=FILE --seed=N "
	  "--starts=N --sync=KIND --window=SECONDS --windows=N --with=WORKLOAD -h,--help " },
	{ "show", "--check --csv=FILE --ratios=FILE --side=a|b -h,--help " },
	{ "sweep", "--against=COMMAND --apart --around=NAME=VALUES --check-steps=N "
		   "--depth=VALUES --dry-run --express --json --layer=LAYER --lock-clocks[=MHZ] "
		   "--margin=PERCENT --mode=VALUES --output=FILE --patience=SECONDS "
		   "--platform=NAME --plot=DIR --processes=N --quick --quiet "
		   "--resolve=NAME=TIME,... --resume=FILE --rounds=N --samples=N --seed=N "
		   "--size=VALUES --sync=KIND --time-limit=SECONDS --warm-up=SECONDS -h,--help " },
	{ "time", "--against=COMMAND --bare --json --layer=LAYER --margin=PERCENT --output=FILE "
		  "--patience=TIME --plot=DIR --quiet --resume=FILE --runs=N "
		  "--same-output[=FILE,FILE,...] --within=TIME -h,--help " },
};

/* What rift prints of the command is these names, in any order. */
static void has_options(const char *from, const char *command, const char *names)
{
	const char *text;

	cr_assert(
		zero(int,
		     shell(&text,
			   "a=$('%s' %s | sort) && b=$(echo '%s' | sed 's/-h,//' | tr ' ' '\\n' | "
			   "grep . | sort) && [ \"$a\" = \"$b\" ] || echo \"$a, not $b\"",
			   rift(), from, names)),
		"%s", command);
	cr_assert(eq(str, (char *)text, ""), "%s: %s", command, text);
}

/* A row an option, in which a bar is written \|. */
Test(small_cmd_help, tables_in_markdown)
{
	char from[256];

	for (size_t i = 0; i < sizeof(helps) / sizeof(*helps); i++) {
		snprintf(from, sizeof(from),
			 "help %s --format=markdown | sed -n \"/^| .--/{ s/^| .//; s/. | .*//; "
			 "s/[\\\\]|/|/g; p }\"",
			 helps[i].command);
		has_options(from, helps[i].command, helps[i].options);
	}
}

/* From the heading of one command to that of the next. */
Test(small_cmd_help, a_page_for_man)
{
	char from[256];

	for (size_t i = 0; i < sizeof(helps) / sizeof(*helps); i++) {
		snprintf(
			from, sizeof(from),
			"help --format=man | sed -n \"/^.SS rift %s /,/^.S[SH] [a-zE]/p\" | sed -n "
			"\"s/^.fB.-.-/--/; T; s/[\\\\]-/-/g; s/[\\\\]f[IRB]//g; p\"",
			helps[i].command);
		has_options(from, helps[i].command, helps[i].options);
	}
	cr_assert(zero(int, shell(NULL, "! '%s' help --format=man | grep -q \"^'\"", rift())),
		  "no line is a request by chance");
	cr_assert(zero(int,
		       shell(NULL,
			     "'%s' help --format=man | grep -A1 '^.SS rift show FILE$' | grep -qx "
			     "'.B rift show .-.-check FILE...'",
			     rift())),
		  "a command's second form is below the first");
}

/* As bash has them: words, of which '=' is one; the last is the one to be completed. */
Test(small_cmd_help, bash_completes)
{
	static const struct {
		const char *words, *want;
	} rows[] = {
		{ "sw", "sweep" },
		{ "run my", "myocyte" },
		{ "run myocyte toler", "tolerance=" },
		{ "sweep launch matmul k", "kernel= k=" },
		{ "run --mod", "--mode=" },
		{ "run --mode =", "stream graph fused" },
		{ "run --mode = g", "graph" },
		{ "help pre", "predict" },
		{ "list temp", "" }, /* hidden */
		{ "fit --output", "" },
		{ "compare --wor", "--workload=" },
		{ "fit --over = /et", "/etc" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *text;

		cr_assert(zero(int,
			       shell(&text,
				     "bash -c '. <(\"%s\" help --format=bash); COMP_WORDS=(rift "
				     "%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _rift; echo -n "
				     "\"${COMPREPLY[*]}\"'",
				     rift(), rows[i].words)),
			  "%s", rows[i].words);
		cr_assert(eq(str, (char *)text, (char *)rows[i].want), "%s: %s", rows[i].words,
			  text);
	}
}

Test(small_cmd_help, formats_that_are_refused)
{
	refused(3, "--format=html", "help run --format=html");
	refused(3, "--format=markdown", "help --format=markdown");
	refused(3, "--format=man", "help run --format=man");
	refused(3, "--format ", "help --format=man --format=man");
	refused(3, "'run'", "help rum --format=markdown");
	refused(3, "'list'", "help run list");
}

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
