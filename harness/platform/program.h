/* program.h - the program that a command is: which file, and how it came by the CUDA runtime. */
#ifndef RIFT_PLATFORM_PROGRAM_H
#define RIFT_PLATFORM_PROGRAM_H

#include <limits.h>

/*
 * Looks as execvp() does. 0 and the file; -ENOENT where there is none; -EACCES where what there is
 * cannot be executed.
 */
int find_command(const char *command, char out[PATH_MAX]);

enum runtime_link {
	RUNTIME_UNKNOWN,   /* no ELF file of this machine, a script, or no device code in it */
	RUNTIME_SHARED,	   /* it asks for libcudart.so */
	RUNTIME_STATIC,	   /* device code, and no libcudart.so: nvcc's default */
	RUNTIME_NO_LOADER, /* wholly static: nothing can be preloaded at all */
};

/* How the file, looked for as execvp() does, is linked with the CUDA runtime. */
enum runtime_link runtime_link_of(const char *command);

/* 0; or -EINVAL after one line, where no library can be preloaded into the command: it is setuid,
 * or behind `env -i`. who: the line's beginning. */
int preload_refuse(const char *who, char *const *command);

/* 0; or -EINVAL after one line that says what still works, where the layer would see no call. */
int static_runtime_refuse(const char *layer, char *const *command);

#endif
