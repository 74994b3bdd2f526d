/* failure.h - why a point has no result: the `error` object of its record. */
#ifndef RIFT_SWEEP_FAILURE_H
#define RIFT_SWEEP_FAILURE_H

#include "harness/session/child.h"

/* {code, name, call, file_line}; text: the complaint, "" none. New references. */
json_t *failure_of_hook(int code, const char *text);

/* Of a worker that ended or was killed; its last line is taken apart where die_at() wrote it. */
json_t *failure_of_worker(const struct child *c, bool hung);

#endif
