/* static_runtime.h - a program with a CUDA runtime of its own, which no preloaded wrapper sees. */
#ifndef RIFT_LAYER_STATIC_RUNTIME_H
#define RIFT_LAYER_STATIC_RUNTIME_H

enum runtime_link {
	RUNTIME_UNKNOWN,   /* no ELF file of this machine, a script, or no device code in it */
	RUNTIME_SHARED,	   /* it asks for libcudart.so */
	RUNTIME_STATIC,	   /* device code, and no libcudart.so: nvcc's default */
	RUNTIME_NO_LOADER, /* wholly static: nothing can be preloaded at all */
};

/* How the file, looked for as execvp() does, is linked with the CUDA runtime. */
enum runtime_link runtime_link_of(const char *command);

/* 0; or -EINVAL after one line that says what still works, where the layer would see no call. */
int static_runtime_refuse(const char *layer, char *const *command);

#endif
