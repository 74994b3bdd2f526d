/*
 * figures.h - every number that rift says of sessions that are kept or made up: in texts, in JSON,
 * in the data of charts. They were looked at once; a change that was not meant shows.
 *
 * Numbers, modes, verdicts and options only, whatever the sentence around them, against
 * tests/figures/NAME.txt. Data (CSV, JSON) has each column there once: how many numbers, their
 * sum, and the sum of each times its place. Numbers may be off by a thousandth, as other
 * libraries of mathematics round. Where a change is meant, UPDATE_FIGURES=1
 * writes the files anew, and git diff says which numbers became others.
 */
#ifndef RIFT_TESTS_FIGURES_H
#define RIFT_TESTS_FIGURES_H

/*
 * A command of rift. OUT in it is a folder for files, whose data belong to what is said. Sessions
 * of data/sessions are there; and, made up where the command names them:
 *   both.jsonl       launch on two sides, of which b is slower here and faster there
 *   guest.jsonl      launch where all of a launch costs more, and the queue holds 64
 *   off.jsonl        the same there, other sizes and depths
 *   copies.jsonl     copies and memory on two sides, of which b is slower and starts later
 *   work.jsonl       myocyte on side a of both.jsonl
 *   elsewhere.jsonl  myocyte where guest.jsonl is
 *   other-costs file.json  the kept costs file, of which calls of 4 us take 8 and those of 13 take
 * 15
 */
struct said {
	char name[32], command[320];
};

#define KEPT "data/sessions/h200-"

/*
 * The numbers of a sentence with their units, and its modes, verdicts and options, whatever the
 * words around: "5 % stream 116 µs 1 18 µs 256". Verdicts have the names of today.
 * Static memory.
 */
const char *figures_of(const char *sentence);

/* For a suite's init and fini. */
void figures_folder_make(void);
void figures_folder_remove(void);
const char *figures_folder(void);

/*
 * Runs a shell command in the folder and returns its exit status, its output in *text (see
 * shell()): `rift` is the binary, out a folder, and the sessions above are there where the command
 * names them.
 */
int figures_folder_run(const char **text, const char *command);

/* It must end well (0 to 2), with these numbers. */
void figures_are_what_they_were(const struct said *s);

#endif
