/*
 * death.c - under a sanitizer: behind a report that ends the program, one line with the kernel,
 * block and thread that was running. Without sanitizers see fault.c.
 */
#include "common/cpu/kernel/block.h"

#ifdef CPUDEV_SANITIZED
#include <dlfcn.h>
#include <pthread.h>

void __sanitizer_set_death_callback(void (*callback)(void));

static void say_where(void)
{
	if (executor && executor->launch)
		report_thread(executor, "ran when the sanitizer reported what stands above");
}

static void install(void)
{
	/* What finds undefined behaviour may be a library of its own, with its own callback. */
	void *ubsan = dlopen("libubsan.so.1", RTLD_LAZY | RTLD_NOLOAD);
	void (*set)(void (*)(void)) = NULL;

	__sanitizer_set_death_callback(say_where);
	if (ubsan)
		*(void **)&set = dlsym(ubsan, "__sanitizer_set_death_callback");
	if (set)
		set(say_where);
}

void faults_explain(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, install);
}

void faults_watch(struct executor *e)
{
	(void)e;
}

void faults_unwatch(void)
{
}
#endif
