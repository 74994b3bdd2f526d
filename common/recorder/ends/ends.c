/*
 * ends.c - the library that is preloaded into programs that are recorded: functions of libc that
 * end a process without its atexit() handlers tell the recorder first, which is then in time to
 * write what it has. A child of vfork() tells as well, and is no process of the recorder's.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/recorder/ends.h"

#define SHOWN __attribute__((visibility("default")))

static void (*tell)(enum recorder_end);

SHOWN recorder_ends_function rift_recorder_ends;

void rift_recorder_ends(void (*to)(enum recorder_end))
{
	__atomic_store_n(&tell, to, __ATOMIC_RELEASE);
}

static void announce(enum recorder_end end)
{
	void (*to)(enum recorder_end) = __atomic_load_n(&tell, __ATOMIC_ACQUIRE);
	int before = errno;

	if (to)
		to(end);
	errno = before;
}

/* ---- an end -------------------------------------------------------------------------------- */

/* Looked up beforehand, as a handler may not. */
static void (*next_exit)(int);

__attribute__((constructor)) static void look_up(void)
{
	void *found = dlsym(RTLD_NEXT, "_exit");

	memcpy(&next_exit, &found, sizeof(found));
}

SHOWN _Noreturn void _exit(int status)
{
	announce(RECORDER_EXITS);
	if (next_exit)
		next_exit(status);
	for (;;)
		syscall(SYS_exit_group, status);
}

SHOWN _Noreturn void _Exit(int status)
{
	_exit(status);
}

/* ---- another program, or a process that ends within libc --------------------------------------
 */

/* A function of those parameters, where it succeeds it does not return. */
#define ENDS(function, parameters, ...)                                                            \
	SHOWN int function parameters;                                                             \
	int function parameters                                                                    \
	{                                                                                          \
		void *found = dlsym(RTLD_NEXT, #function);                                         \
		int(*next) parameters;                                                             \
		int result;                                                                        \
                                                                                                   \
		memcpy(&next, &found, sizeof(found));                                              \
		announce(RECORDER_EXECS);                                                          \
		result = next(__VA_ARGS__);                                                        \
		announce(RECORDER_GOES_ON);                                                        \
		return result;                                                                     \
	}

ENDS(execve, (const char *path, char *const argv[], char *const envp[]), path, argv, envp)
ENDS(execv, (const char *path, char *const argv[]), path, argv)
ENDS(execvp, (const char *file, char *const argv[]), file, argv)
ENDS(execvpe, (const char *file, char *const argv[], char *const envp[]), file, argv, envp)
ENDS(fexecve, (int fd, char *const argv[], char *const envp[]), fd, argv, envp)
ENDS(execveat, (int fd, const char *path, char *const argv[], char *const envp[], int flags), fd,
     path, argv, envp, flags)
ENDS(daemon, (int nochdir, int noclose), nochdir, noclose)

/* The words of a call, the last of them NULL; to be freed where it returns. */
static char **words_of(const char *first, va_list *rest)
{
	va_list again;
	char **words;
	size_t n = 1;

	va_copy(again, *rest);
	while (va_arg(again, char *))
		n++;
	va_end(again);
	words = calloc(n + 1, sizeof(*words));
	for (size_t i = 0; words && i <= n; i++)
		words[i] = i ? va_arg(*rest, char *) : (char *)(size_t)first;
	return words;
}

#define EXEC_LIST(function, call)                                                                  \
	SHOWN int function(const char *path, const char *first, ...);                              \
	int function(const char *path, const char *first, ...)                                     \
	{                                                                                          \
		va_list rest;                                                                      \
		char **words, **environment;                                                       \
		int result;                                                                        \
                                                                                                   \
		va_start(rest, first);                                                             \
		words = words_of(first, &rest);                                                    \
		environment = environ;                                                             \
		result = words ? call : -1;                                                        \
		va_end(rest);                                                                      \
		(void)environment;                                                                 \
		free(words);                                                                       \
		return result;                                                                     \
	}

EXEC_LIST(execl, execv(path, words))
EXEC_LIST(execlp, execvp(path, words))
EXEC_LIST(execle, (environment = va_arg(rest, char **), execve(path, words, environment)))
