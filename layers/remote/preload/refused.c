/*
 * refused.c - every function of NVIDIA's libcudart that no other file here defines: it is refused
 * by its name. These are weak: the linker takes the others' where there are both.
 */
#include "layers/remote/preload/client.h"

#define RUNTIME_CALL(function, versions)                                                           \
	SHOWN __attribute__((weak)) int function(void);                                            \
	int function(void)                                                                         \
	{                                                                                          \
		return client_refuse(#function);                                                   \
	}
#include "layers/runtime_calls.h"
