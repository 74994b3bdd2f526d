/* process.h - what the kernel of the system says of another process. */
#ifndef RIFT_PROCESS_H
#define RIFT_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Was it started with this variable and value? False too where its environment cannot be read. */
bool process_has_variable(pid_t pid, const char *name, const char *value);

#ifdef __cplusplus
}
#endif
#endif
