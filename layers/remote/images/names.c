/* names.c - what client.c is linked with, as a program is with NVIDIA's runtime: every name, of
 * one version. Nothing here is ever called. */
#define RUNTIME_CALL(function, versions)                                                           \
	__attribute__((visibility("default"))) int function(void);                                 \
	int function(void)                                                                         \
	{                                                                                          \
		return 0;                                                                          \
	}
#include "layers/runtime_calls.h"
