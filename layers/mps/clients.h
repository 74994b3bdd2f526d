/* clients.h - is this process a client of the control daemon that CUDA_MPS_PIPE_DIRECTORY names? */
#ifndef RIFT_LAYER_MPS_CLIENTS_H
#define RIFT_LAYER_MPS_CLIENTS_H

#include "layers/layer.h"

/* Where the daemon counts processes: its PID namespace. */
#define MPS_OUTSIDE_VARIABLE "RIFT_LAYER_MPS_NS"

void mps_namespace(char out[64]);

/*
 * Makes a context by touch(), which returns a cudaError_t, and looks for whoever has it among the
 * daemon's clients: this process, or the process that the layer remote has its calls done by. A
 * server that is still starting, and an answer that did not come, are asked for again for so long.
 * detail: what was seen, or why it is none.
 */
bool mps_is_client(int (*touch)(void), int patience_ms, char detail[LAYER_DETAIL]);

/* The percentage of threads that clients have by default, asked for as long; -1: no answer came. */
double mps_threads_within(int patience_ms);

#endif
