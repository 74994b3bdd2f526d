/*
 * libraries.c - NVIDIA's libraries that open the driver themselves: all but cuBLAS. Streams and
 * memory that they are given would be the client's, which no driver knows, and they end in a
 * fault. So what begins to use one is refused by its name, and returns the library's own status.
 *
 * These come first among all libraries, for programs that are linked and for dlsym(RTLD_DEFAULT).
 * What is looked up in such a library's own handle is not seen here; that of the runtime is.
 */
#include <link.h>
#include <string.h>

#include "layers/interpose.h"
#include "layers/remote/preload/client.h"

/* As the headers of CUDA 13.0 have them: of cuSOLVER, cuSPARSE, cuFFT and cuRAND. */
enum {
	SOLVER_NOT_SUPPORTED = 9,
	SPARSE_NOT_SUPPORTED = 10,
	FFT_NOT_SUPPORTED = 16,
	RAND_INITIALIZATION_FAILED = 203,
};

/* Whatever the arguments are: none is looked at. The runtime's last error stays what it was. */
#define LIBRARY_CALL(function, status)                                                             \
	SHOWN int function(void);                                                                  \
	int function(void)                                                                         \
	{                                                                                          \
		client_say_refused(#function);                                                     \
		return status;                                                                     \
	}
LIBRARY_CALL(cusolverDnCreate, SOLVER_NOT_SUPPORTED)
LIBRARY_CALL(cusolverSpCreate, SOLVER_NOT_SUPPORTED)
LIBRARY_CALL(cusparseCreate, SPARSE_NOT_SUPPORTED)
LIBRARY_CALL(cufftCreate, FFT_NOT_SUPPORTED)
LIBRARY_CALL(cufftPlan1d, FFT_NOT_SUPPORTED)
LIBRARY_CALL(cufftPlan2d, FFT_NOT_SUPPORTED)
LIBRARY_CALL(cufftPlan3d, FFT_NOT_SUPPORTED)
LIBRARY_CALL(cufftPlanMany, FFT_NOT_SUPPORTED)
LIBRARY_CALL(curandCreateGenerator, RAND_INITIALIZATION_FAILED)

/* The driver itself is not asked: here it has no device, and fails with CUDA_ERROR_NOT_INITIALIZED.
 */
static int is_driver(struct dl_phdr_info *info, size_t size, void *unused)
{
	const char *slash = strrchr(info->dlpi_name, '/');

	(void)size, (void)unused;
	return !strncmp(slash ? slash + 1 : info->dlpi_name, "libcuda.so", strlen("libcuda.so"));
}

void libraries_say_driver(void)
{
	if (dl_iterate_phdr(is_driver, NULL))
		client_say_refused("the driver (libcuda.so), which this program has loaded itself: "
				   "what it calls there fails");
}

/* What a program that is linked with the driver's library asks it for first. */
#define DRIVER_CALL(function)                                                                      \
	SHOWN int function(void);                                                                  \
	int function(void)                                                                         \
	{                                                                                          \
		client_say_refused("the driver, by functions of its own");                         \
		return CUDA_NOT_SUPPORTED;                                                         \
	}
DRIVER_CALL(cuInit)
DRIVER_CALL(cuDriverGetVersion)
DRIVER_CALL(cuGetProcAddress)
DRIVER_CALL(cuGetProcAddress_v2)

/* rift asks this of a driver that is loaded, for its record: it is no use of the driver. */
SHOWN int cuModuleGetLoadingMode(void);
int cuModuleGetLoadingMode(void)
{
	return CUDA_NOT_SUPPORTED;
}

INTERPOSE_DLSYM
