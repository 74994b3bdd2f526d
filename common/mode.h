/* mode.h - how steps are submitted. */
#ifndef RIFT_MODE_H
#define RIFT_MODE_H

enum mode {
	MODE_STREAM, /* one call of step() a step */
	MODE_GRAPH,  /* steps captured once, then launched as graphs */
	MODE_FUSED,  /* one call of fused() for all steps of a batch */
	MODE_COUNT,
};

#endif
