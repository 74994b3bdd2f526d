/*
 * ends.h - ends of a process that run no atexit() handler: _exit() and a program in its place. The
 * library ends/, preloaded into what is recorded, tells the recorder of the process of them. The
 * recorder is in another library, which finds this function by its name.
 */
#ifndef RIFT_RECORDER_ENDS_H
#define RIFT_RECORDER_ENDS_H

enum recorder_end {
	RECORDER_GOES_ON, /* what was announced did not come: there is no such program */
	RECORDER_EXITS,
	RECORDER_EXECS,
};

#define RECORDER_ENDS_FUNCTION "rift_recorder_ends"

/* Calls tell() before each end, on the thread that brings it about, perhaps in a signal handler. */
typedef void recorder_ends_function(void (*tell)(enum recorder_end));

#endif
