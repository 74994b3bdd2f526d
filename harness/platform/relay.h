/*
 * relay.h - a process that stays as the parent of a command, so that whoever waits for it waits for
 * what the layer has to say, too. To others it is the command: it passes signals on to it, stops
 * when it stops, and ends as it ended.
 */
#ifndef RIFT_PLATFORM_RELAY_H
#define RIFT_PLATFORM_RELAY_H

/*
 * The caller goes on as a child, which is to become the command; its parent stays. *over: closed by
 * the last process that has it open, which lets the parent end. It is closed on exec. Returns 0, or
 * a negative errno after one line, and then there is no child.
 *
 * What kills the parent kills the child. SIGSTOP of the parent alone cannot be passed on.
 */
int relay_begin(const char *layer, int *over);

#endif
