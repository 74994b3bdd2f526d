/*
 * test_cli_options.c - the tables of options: names that options had are taken still, but not
 * shown; exit codes of the help are those that there are.
 */
/* sanitizers: one thread */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "harness/cmd/options.h"

#include "tests/cli.h"

TestSuite(small_cli_options, .timeout = 300);

#define KEPT "data/sessions/h200-"

static const struct command *const all[] = {
	&command_compare, &command_doctor,  &command_fit,   &command_layer,   &command_list,
	&command_plot,	  &command_predict, &command_probe, &command_profile, &command_report,
	&command_run,	  &command_share,   &command_show,  &command_sweep,   &command_time,
};

enum { COMMANDS = sizeof(all) / sizeof(*all) };

static char *help_of(const struct command *c)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	command_help(c, out);
	fclose(out);
	return text;
}

/* The same exit code and the same output. */
static void is_said_of_both(const char *before, const char *since)
{
	const char *text;
	int code = run_rift(OUT, &text, "%s", before);
	char *kept = strdup(text);

	cr_assert(eq(int, run_rift(OUT, &text, "%s", since), code), "%s", before);
	cr_assert(ne(str, kept, ""), "%s", before);
	cr_assert(eq(str, (char *)text, kept), "%s", before);
	free(kept);
}

Test(small_cli_options, names_of_before_are_taken)
{
	is_said_of_both("fit --stack " KEPT "mlp.jsonl --card " KEPT "costs.json",
			"fit --stack " KEPT "mlp.jsonl --costs " KEPT "costs.json");
	is_said_of_both("fit --stack " KEPT "mlp.jsonl --card=" KEPT "costs.json",
			"fit --stack " KEPT "mlp.jsonl --costs=" KEPT "costs.json");
	is_said_of_both("compare " KEPT "launch.jsonl --self-test --between 3",
			"compare " KEPT "launch.jsonl --self-test --session-sd 3");
	refused(3, "--samples=nan: ", "run launch --blocks nan");
	refused(3, "--costs ",
		"plot " KEPT "launch.jsonl " KEPT "mlp.jsonl --card " KEPT "costs.json");
	refused(3, "--costs FILE", "plot x --card");
	refused(3, "--session-sd=0.01: ", "compare x y --between 0.01");
}

Test(small_cli_options, names_of_before_are_not_shown)
{
	for (int i = 0; i < COMMANDS; i++) {
		char *help = help_of(all[i]);

		for (const struct command_option *o = all[i]->options; o->name; o++) {
			char name[64];

			snprintf(name, sizeof(name), "--%s", o->name);
			cr_assert(ne(ptr, strstr(help, name), NULL), "%s %s", all[i]->name, name);
			snprintf(name, sizeof(name), "--%s", o->old ? o->old : "?");
			cr_assert(eq(ptr, strstr(help, name), NULL), "%s %s", all[i]->name, name);
		}
		free(help);
	}
}

/* An option is found by its name: two of one name, and the second one is never taken. */
/* What each number may be; 16M is a depth of 2^24. */
Test(small_cli_options, numbers_have_these_bounds)
{
	static const struct {
		const char *command, *option, *bounds;
	} rows[] = {
		{ "run launch", "depth", "1 to 16M steps" },
		{ "run launch", "samples", "1 to 1000000 samples" },
		{ "run launch", "check-steps", "1 to 16M steps" },
		{ "sweep launch", "processes", "1 to 100 processes" },
		{ "sweep launch", "rounds", "1 to 100 rounds" },
		{ "sweep launch", "seed", "0 to 9007199254740992" },
		{ "sweep launch", "check-steps", "1 to 16M steps" },
		{ "sweep launch", "warm-up", "0.01 to 600 s" },
		{ "sweep launch", "patience", "1 to 86400 s" },
		{ "probe launch", "processes", "1 to 100 processes" },
		{ "probe launch", "patience", "1 to 86400 s" },
		{ "sweep launch", "time-limit", "1 to 1e6 s" },
		{ "share launch", "windows", "1 to 100 windows" },
		{ "share launch", "repetitions", "1 to 10 repetitions" },
		{ "share launch", "starts", "1 to 10 starts" },
		{ "share launch", "window", "0.01 to 60 s" },
		{ "share launch", "depth", "1 to 16M steps" },
		{ "share launch", "seed", "0 to 4294967295" },
		{ "share launch", "patience", "1 to 3600 s" },
		{ "time", "runs", "1 to 1000 runs" },
		{ "profile x", "runs", "0 to 100 runs" },
		{ "profile x", "recordings", "1 to 100 runs" },
		{ "profile x", "host-runs", "0 to 100 runs" },
		{ "profile x", "max-events", "1000 to 20000000 rows" },
		{ "profile x", "delay", "0 to 1e6 s" },
		{ "profile x", "duration", "0 to 1e6 s" },
		{ "probe --warmup launch", "processes", "1 to 100 processes" },
		{ "probe --warmup launch", "rest", "0 to 3600 s" },
		{ "probe --warmup launch", "seconds", "0.01 to 60 s" },
		{ "probe --warmup launch", "patience", "1 to 86400 s" },
		{ "sweep launch", "lock-clocks", "1 to 10000 MHz" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char want[128];

		snprintf(want, sizeof(want), "--%s=x: *, %s\n", rows[i].option, rows[i].bounds);
		refused(3, want, "%s --%s=x", rows[i].command, rows[i].option);
	}
}

Test(small_cli_options, names_are_different)
{
	for (int i = 0; i < COMMANDS; i++)
		for (const struct command_option *o = all[i]->options; o->name; o++)
			for (const struct command_option *p = all[i]->options; p < o; p++) {
				cr_assert(ne(str, (char *)p->name, (char *)o->name), "%s",
					  all[i]->name);
				cr_assert(ne(str, (char *)(p->old ? p->old : ""), (char *)o->name),
					  "%s", all[i]->name);
			}
}

/* --part is of --form, --whole is not, --other goes with both. */
static const struct command_option together[] = {
	{ OPTION("form", NULL, option_flag, COMMON(all)), "" },
	{ OPTION("part", "N", option_text, COMMON(from)), "", .with = "form" },
	{ OPTION("whole", NULL, option_flag, COMMON(json)), "", .without = "form" },
	{ OPTION("other", NULL, option_flag, COMMON(quiet)), "" },
	{ OPTION_HELP, "" },
	{ NULL },
};

static int run_nothing(void *arguments)
{
	(void)arguments;
	return RIFT_OK;
}

Test(small_cli_options, some_go_together_only_and_some_never)
{
	static const struct command c = {
		.name = "x", .doc = "", .options = together, .run = run_nothing
	};
	static const struct {
		const char *argv[4], *says; /* says "": it runs */
	} rows[] = {
		{ { "x", "--form", "--part=1", "--other" }, "" },
		{ { "x", "--part", "1", "--form" }, "" },
		{ { "x", "--whole", "--other" }, "" },
		{ { "x", "--part=1", "--other" }, "--part needs --form" },
		{ { "x", "--whole", "--form" }, "--whole * --form" },
		{ { "x", "--form", "--other", "--whole" }, "--whole * --form" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char *argv[5] = { 0 };
		const char *said;
		int n = 0, code;

		for (; n < 4 && rows[i].argv[n]; n++)
			argv[n] = strdup(rows[i].argv[n]);
		divert_stderr();
		code = command_main(&c, n, argv);
		said = diverted_stderr();
		cr_assert(eq(int, code, *rows[i].says ? 3 : 0), "%zu: %s", i, said);
		if (*rows[i].says)
			cr_assert(is_one_complaint(said) && tells(said, rows[i].says), "%zu: %s", i,
				  said);
		else
			cr_assert(eq(str, (char *)said, ""), "%zu", i);
		while (n)
			free(argv[--n]);
	}
}

/* Both are options of the same command, and the one that is needed is not needed itself. */
Test(small_cli_options, what_options_go_with_is_there)
{
	for (int i = 0; i < COMMANDS; i++)
		for (const struct command_option *o = all[i]->options; o->name; o++) {
			const char *other = o->with ? o->with : o->without;
			const struct command_option *p = all[i]->options;

			while (other && p->name && strcmp(p->name, other) != 0)
				p++;
			cr_assert(other == NULL || (p->name && p != o && !p->with), "%s --%s",
				  all[i]->name, o->name);
		}
}

Test(small_cli_options, exit_codes_rise)
{
	for (int i = 0; i < COMMANDS; i++)
		for (const struct exit_text *e = all[i]->exits; e && e->text; e++)
			cr_assert(e == all[i]->exits || e[-1].code < e->code, "%s: %d",
				  all[i]->name, (int)e->code);
}

Test(small_cli_options, words)
{
	refused(3, "'y'", "fit x y");
	refused(3, "'x'", "doctor x");
	refused(3, "rift show FILE", "show");
	refused(3, "launch ", "sweep launch us=1 launch");
	refused(3, "--output ", "plot x --output a --output b");
	refused(3, "--resume: ", "sweep --resume ''");
}
