/* kernels_float.cu - the myocyte's kernels in float. */
#define MYOCYTE_REAL single
#define MYOCYTE_IN(name) name##_float
#include "workloads/myocyte/kernels.cuh"
