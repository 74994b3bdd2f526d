/*
 * others.h - libraries that submit work by themselves, past this one: NVIDIA's cuDNN and its kin
 * bring a runtime of their own. Order between their work and the program's is that of the calls;
 * commands that wait would come too late. So where one is loaded, nothing waits. cuBLAS's functions
 * are seen (blas.h): nothing waits only until the first of them is, as they may go past this
 * library.
 */
#ifndef RIFT_LAYER_EMULATE_OTHERS_H
#define RIFT_LAYER_EMULATE_OTHERS_H

#include <stdbool.h>

/* Is one loaded? Asked at each command, so it looks only where something was loaded since. */
bool others_submit(void);

/* A function of cuBLAS is called. */
void others_blas_is_seen(void);

/* Is this code of cuBLAS, whose functions call each other? */
bool others_is_blas(const void *address);

#endif
