/* under_layer.h - what tests of `rift layer` share: a private folder of layers, and who runs. */
#ifndef RIFT_TESTS_UNDER_LAYER_H
#define RIFT_TESTS_UNDER_LAYER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Gives this test's layers a folder and a mark in their environment, by which their processes are
 * told from others'. To be called first.
 */
void layers_apart(void);

/* The folder that layers make theirs in. Static memory. */
const char *layers_folder(void);

/* A shell command in a process group of its own, its output to this fd, or -1: as the test's. */
pid_t start_command(int out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* waitpid()'s status; the test fails where it does not end in 10 s. */
int status_of_end(pid_t pid);

/* Who they are, by their parents and sessions. */
enum role { ROLE_KEEPER, ROLE_GUARD, ROLE_HELPER };

/* The first of this test's layers that is one; waits up to 10 s for it. 0: there is none. */
pid_t find_role(enum role role);

/* How many processes of this test's layers run. */
int layers_running(void);

/* How many folders of layers there are. */
int layers_folders(void);

/* Waits until no process is left, and at most so many folders. False: not within a minute. */
bool layers_gone(int folders);

/*
 * Waits until nobody holds the lock of a folder: a process that was killed gives its memory back,
 * and so is no longer found, before it closes its files. False: not within a minute.
 */
bool layers_let_go(void);

/* Waits up to a minute for a file to be there. */
bool has_appeared(const char *path);

/* The library of the layer shim of this build, for whoever wants a library. Static memory. */
const char *shim_library(void);

/*
 * Runs tests/layers/caller on the runtime of stubs, under a layer: `what` is a shell's text, in
 * which
 * "$C" is the program; prefix: words before the shell. Its exit status; out: what all say.
 */
int call_stubs_under(const char *layer, const char **out, const char *prefix, const char *what);

/* May this machine make containers? */
bool has_container(void);

#endif
