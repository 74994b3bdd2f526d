/*
 * input_again.h - a standard input that can be read once, a pipe or a socket, for each of several
 * runs of a program.
 *
 * A run reads a pipe of its own. What earlier runs have read comes first; what follows is looked at
 * in rift's own input and taken from it only once the program has read it. So a program that reads
 * nothing leaves all of it to others, to the loop of a shell, say.
 */
#ifndef RIFT_PROFILE_INPUT_AGAIN_H
#define RIFT_PROFILE_INPUT_AGAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct input_again {
	int to;	      /* the run's pipe; -1: it needs none, or no more */
	off_t sent;   /* of what is kept */
	size_t ahead; /* in the run's pipe, and not yet taken from the input */
	bool is_socket;
	int wait_ms;
};

/* In rift, before the first run: what is kept is all runs'. */
void input_again_prepare(void);

/*
 * In the process that starts a run. Returns the end that the run reads, or -1: its input is a file,
 * a terminal or nothing, and is its own.
 */
int input_again_begin(struct input_again *in);

/*
 * Now and then: hands on. Returns for how long nobody need ask again, in ms, unless there is
 * something to read in *watch, where that is not -1; -1: for ever.
 */
int input_again_feed(struct input_again *in, int *watch);

#endif
