/* samples.h - what the parts of measure.h share: the samples of calls that need no latch. */
#ifndef RIFT_GRAPH_SAMPLES_H
#define RIFT_GRAPH_SAMPLES_H

#include "workloads/graph/measure.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SERIES_MAX = 5 }; /* quantities that one kind of sample yields */

/* A sample: fills ns[], or says why there is none. Negative: an errno after one line. */
typedef int sample_fn(struct measure_plan *p, struct graph_state *s, int64_t *ns, const char **why);

sample_fn graph_sample_capture, graph_sample_nodes, graph_sample_instantiate, graph_sample_upload;
sample_fn graph_sample_update, graph_sample_params, graph_sample_pace;
sample_fn graph_sample_idle_first, graph_sample_idle, graph_sample_updated;

/* A process with many executable graphs: each is made, then launched, then once more; and what
 * memory they take. Returns 0, or -EIO after one line. */
int graph_measure_many(struct measure_plan *p, struct graph_state *s, struct measure_length *out);

/* 0, or -EIO after one line: has every node run so often since the trace was cleared? */
int graph_check_run(struct graph_state *s, int64_t runs);

#ifdef __cplusplus
}
#endif
#endif
