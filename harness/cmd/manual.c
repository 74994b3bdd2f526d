/* manual.c - see manual.h. */
#include "harness/cmd/manual.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/check.h"
#include "workloads/workload.h"

/* ---- Markdown ----------------------------------------------------------------------------- */

/* A bar would end the cell. */
static void print_cell(const char *text, FILE *out)
{
	for (; *text; text++)
		fprintf(out, *text == '|' ? "\\%c" : "%c", *text);
}

/* "=N", "[=N]" or nothing. */
static void print_value(const struct command_option *o, const char *before, const char *after,
			FILE *out)
{
	if (!o->value)
		return;
	fprintf(out, o->may_lack ? "[=%s" : "=%s", before);
	print_cell(o->value, out);
	fprintf(out, o->may_lack ? "%s]" : "%s", after);
}

void manual_markdown(const struct command *c, FILE *out)
{
	fprintf(out, "| option | meaning |\n|---|---|\n");
	for (const struct command_option *o = c->options; o && o->name; o++) {
		fprintf(out, "| `--%s", o->name);
		print_value(o, "", "", out);
		fprintf(out, "` | ");
		print_cell(o->help, out);
		fprintf(out, " |\n");
	}
	fprintf(out, "\n");
	exit_codes_print(c->exits ? c->exits : exit_texts, out);
	fprintf(out, "\n");
}

/* ---- man ---------------------------------------------------------------------------------- */

/* Plain text, in which a hyphen is a minus that can be copied and nothing begins a request. */
static void print_roff(const char *text, FILE *out)
{
	bool first = true;

	for (; *text; first = *text++ == '\n') {
		if (first && (*text == '.' || *text == '\''))
			fprintf(out, "\\&");
		if (*text == '-')
			fprintf(out, "\\-");
		else if (*text == '\\')
			fprintf(out, "\\e");
		else
			fputc(*text, out);
	}
}

static void print_option_roff(const struct command_option *o, FILE *out)
{
	fprintf(out, ".TP\n\\fB\\-\\-");
	print_roff(o->name, out);
	fprintf(out, "\\fR");
	if (o->value) {
		fprintf(out, o->may_lack ? "[=\\fI" : "=\\fI");
		print_roff(o->value, out);
		fprintf(out, o->may_lack ? "\\fR]" : "\\fR");
	}
	fprintf(out, "\n");
	print_roff(o->help, out);
	fprintf(out, "\n");
}

/* A line each: the first form of the command is a heading, the others stand below it. */
static void print_forms_roff(const struct command *c, FILE *out)
{
	char *forms = strdup(c->words ? c->words : c->usage), *rest = forms, *form;

	CHECK(forms, "memory of %s", c->name);
	while ((form = strsep(&rest, "\n"))) {
		fprintf(out, form == forms ? ".SS rift %s " : ".B rift %s ", c->name);
		print_roff(form, out);
		fprintf(out, form == forms ? "\n" : "\n.br\n");
	}
	free(forms);
}

static void print_command_roff(const struct command *c, FILE *out)
{
	print_forms_roff(c, out);
	print_roff(c->doc ? c->doc : c->line, out);
	fprintf(out, "\n");
	for (const struct command_option *o = c->options; o && o->name; o++)
		print_option_roff(o, out);
	if (c->remarks) {
		fprintf(out, ".PP\n");
		print_roff(c->remarks, out);
		fprintf(out, "\n");
	}
}

static void print_exits_roff(FILE *out)
{
	fprintf(out, ".SH EXIT STATUS\n");
	for (const struct exit_text *e = exit_texts; e->text; e++) {
		fprintf(out, ".TP\n.B %d\n", (int)e->code);
		print_roff(e->text, out);
		fprintf(out, "\n");
	}
}

void manual_man(const struct command *const *all, FILE *out)
{
	fprintf(out, ".TH RIFT 1 \"\" \"rift " RIFT_VERSION
		     "\" \"User Commands\"\n.SH NAME\nrift \\- measures what a GPU virtualization "
		     "layer costs\n.SH SYNOPSIS\n.B rift\n.I COMMAND\n[\\fIOPTION\\fR...] "
		     "[\\fIARGUMENT\\fR...]\n.SH DESCRIPTION\nrift runs GPU workloads, checks each "
		     "result against an independent reference, and times them by kernel size, "
		     "batch depth and submission mode. It compares two platforms, fits what a "
		     "launch costs, and draws charts.\nResults go to standard output, progress and "
		     "errors to standard error.\n.SH COMMANDS\n");
	for (; *all; all++)
		if ((*all)->line)
			print_command_roff(*all, out);
	print_exits_roff(out);
	fprintf(out,
		".SH ENVIRONMENT\n.TP\n.B RIFT_HOME\nthe folder that holds workloads/, plots/ and "
		"data/; if it is unset, rift looks next to its binary and in the folders above "
		"it\n.SH FILES\n.TP\n.I results/\nrecords and pictures for which no option names a "
		"place, in the folder in which rift is started\n.TP\n.I NAME.jsonl.gz\na record "
		"compressed with gzip; commands read it like NAME.jsonl\n");
}

/* ---- bash --------------------------------------------------------------------------------- */

static void print_command_names(const struct command *const *all, FILE *out)
{
	for (; *all; all++)
		if ((*all)->line)
			fprintf(out, "%s ", (*all)->name);
}

static void print_workload_names(FILE *out)
{
	for (const struct workload *const *w = workloads; *w; w++)
		if (!(*w)->hidden)
			fprintf(out, "%s ", (*w)->name);
}

static void print_command_bash(const struct command *c, const struct command *const *all, FILE *out)
{
	fprintf(out, "\t%s)\n\t\toptions='", c->name);
	for (const struct command_option *o = c->options; o && o->name; o++)
		fprintf(out, "--%s%s ", o->name, o->value && !o->may_lack ? "=" : "");
	fprintf(out, "'\n\t\twords='");
	if (strstr(c->usage, "WORKLOAD"))
		print_workload_names(out);
	else if (strstr(c->usage, "COMMAND"))
		print_command_names(all, out);
	fprintf(out, "' ;;\n");
}

/* "a|b" of an option: what may stand behind its '='. */
static void print_choices_bash(const struct command *c, FILE *out)
{
	for (const struct command_option *o = c->options; o && o->name; o++) {
		if (!o->value || !strchr(o->value, '|'))
			continue;
		fprintf(out, "\t%s.--%s) words='", c->name, o->name);
		for (const char *p = o->value; *p; p++)
			fputc(*p == '|' ? ' ' : *p, out);
		fprintf(out, "' ;;\n");
	}
}

static void print_params_bash(const struct workload *w, FILE *out)
{
	fprintf(out, "\t\t%s) words+=' ", w->name);
	for (const struct param *p = w->params; p->name; p++)
		fprintf(out, "%s= ", p->name);
	fprintf(out, "%s' ;;\n", w->presets ? "preset= " : "");
}

/* bash cuts a command line at '=' too: `--mode=st` is the three words --mode, = and st. */
static void print_values_bash(const struct command *const *all, FILE *out)
{
	fprintf(out, "\tif [ \"$word\" = = ]; then\n\t\tbefore=$last word=\n"
		     "\telif [ \"$last\" = = ]; then\n"
		     "\t\tbefore=${COMP_WORDS[COMP_CWORD - 2]}\n\tfi\n"
		     "\twords=\n\tcase $command.$before in\n");
	for (; *all; all++)
		if ((*all)->line)
			print_choices_bash(*all, out);
	fprintf(out, "\tesac\n\tif [ -n \"$before\" ]; then\n"
		     "\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
		     "\t\t[ ${#COMPREPLY[@]} -gt 0 ] || mapfile -t COMPREPLY < <(compgen -f -- "
		     "\"$word\")\n"
		     "\t\treturn\n\tfi\n");
}

static void print_words_bash(const struct command *const *all, FILE *out)
{
	fprintf(out, "\tcase $command in\n");
	for (const struct command *const *c = all; *c; c++)
		if ((*c)->line)
			print_command_bash(*c, all, out);
	fprintf(out,
		"\tesac\n\tcase $command in run | sweep)\n"
		"\t\tfor each in \"${COMP_WORDS[@]:2:COMP_CWORD-2}\"; do\n\t\tcase $each in\n");
	for (const struct workload *const *w = workloads; *w; w++)
		if (!(*w)->hidden)
			print_params_bash(*w, out);
	fprintf(out, "\t\tesac\n\t\tdone ;;\n\tesac\n");
}

void manual_bash(const struct command *const *all, FILE *out)
{
	fprintf(out, "# bash completion for rift, made by `rift help --format=bash`\n_rift()\n{\n"
		     "\tlocal word=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD - 1]}\n"
		     "\tlocal command=${COMP_WORDS[1]} before='' options='' words='' each\n"
		     "\tCOMPREPLY=()\n\tif [ \"$COMP_CWORD\" = 1 ]; then\n"
		     "\t\tmapfile -t COMPREPLY < <(compgen -W '");
	print_command_names(all, out);
	fprintf(out, "' -- \"$word\")\n\t\treturn\n\tfi\n");
	print_values_bash(all, out);
	print_words_bash(all, out);
	fprintf(out, "\tcase $word in -*) words=$options ;; esac\n"
		     "\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
		     "\tcase ${COMPREPLY[0]} in *=) compopt -o nospace 2>/dev/null ;; esac\n"
		     "}\ncomplete -o default -F _rift rift\n");
}
