/*
 * inputs.h - sizes, choices and input files of the myocyte model, shared by the reference, the
 * device code and the tests. Order and meaning of states and parameters: README.md.
 */
#ifndef RIFT_MYOCYTE_INPUTS_H
#define RIFT_MYOCYTE_INPUTS_H

#ifdef __cplusplus
extern "C" {
#endif

enum {
	MYOCYTE_STATES = 91, /* 46 of the cell, 3 x 15 of the calmodulin modules */
	MYOCYTE_PARAMS = 16, /* in the order of parameters.csv; [0] is the cycle length in ms */
	MYOCYTE_V = 38,	     /* index of the membrane potential, mV */
};

/* Which equations; the published ones are a run-time switch away from the benchmark's. */
enum myocyte_equations {
	MYOCYTE_PUBLISHED, /* x_Ks gates both parts of I_Ks; 1857 uM of CaM buffer in the dyad */
	MYOCYTE_RODINIA,   /* as the Rodinia benchmark computes them, formulas as they stand */
};

/*
 * Reads y[0..90] or p[0..15] from a CSV file with the header index,symbol,unit,value and one
 * line an entry in order of index.
 *
 * Returns 0, or -ENOENT, -EACCES, -EINVAL after one line that names file and line.
 */
int myocyte_read_initial_state(const char *path, double y[MYOCYTE_STATES]);
int myocyte_read_parameters(const char *path, double p[MYOCYTE_PARAMS]);

#ifdef __cplusplus
}
#endif
#endif
