/*
 * daemon.h - MPS's control daemon: started, asked, ended. It is the one whose pipes lie in the
 * folder that CUDA_MPS_PIPE_DIRECTORY names, in the process that calls.
 */
#ifndef RIFT_LAYER_MPS_DAEMON_H
#define RIFT_LAYER_MPS_DAEMON_H

enum { MPS_ANSWER = 4096 };

/* The longest path of a socket or file that it makes there. */
#define MPS_LONGEST_NAME "/nvidia-cuda-mps-control.pid"

/* What it answers to a command of its, "get_server_list"; "" where it does not. Takes 5 s at most.
 */
void mps_ask(const char *command, char answer[MPS_ANSWER]);

/* The percentage of threads that its clients have by default; -1: it does not answer. */
double mps_threads(void);

/* How long to wait for a daemon or a server: usual_ms, or what tests put into RIFT_MPS_PATIENCE_MS.
 */
int mps_patience_ms(int usual_ms);

/*
 * The folder of an MPS that a program with this process's environment becomes a client of, or NULL.
 * Static memory.
 */
const char *mps_around(void);

/* A helper (layers/layer.h): the daemon runs as long as it does. */
void mps_serve(const void *opts, int ready);

#endif
