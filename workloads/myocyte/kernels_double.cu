/* kernels_double.cu - the myocyte's kernels in double. */
#define MYOCYTE_REAL double
#define MYOCYTE_IN(name) name##_double
#define MYOCYTE_STIFF_TOO
#include "workloads/myocyte/kernels.cuh"
