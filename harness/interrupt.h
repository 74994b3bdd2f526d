/*
 * interrupt.h - an orderly end on Ctrl-C (SIGINT) and SIGTERM.
 *
 * The first signal is only remembered: the block in hand is finished, the workload torn down,
 * and rift exits with 75. A second one kills at once, for workloads that hang.
 */
#ifndef RIFT_INTERRUPT_H
#define RIFT_INTERRUPT_H

#include <stdbool.h>

void interrupt_install(void);

/* Has a signal come since interrupt_install()? */
bool interrupted(void);

#endif
