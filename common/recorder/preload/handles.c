/* handles.c - a table of handles, under one lock. */
#include "common/recorder/preload/handles.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#include "common/recorder/recorder.h"

/* All kernels that are loaded are registered, launched or not. */
enum { BUCKETS = 1 << 16 };

struct entry {
	struct entry *next;
	enum handle_kind kind;
	uint64_t handle;
	struct handle is;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *buckets[BUCKETS];
static uint32_t numbers[HANDLE_KINDS];

/* Another thread of the parent's may have held it. */
static void unlock_in_child(void)
{
	pthread_mutex_init(&lock, NULL);
}

__attribute__((constructor)) static void begin(void)
{
	pthread_atfork(NULL, NULL, unlock_in_child);
}

/* Handles are addresses of aligned memory. */
static struct entry **place(enum handle_kind kind, uint64_t handle)
{
	struct entry **e = &buckets[(handle >> 4 ^ handle >> 14 ^ handle) % BUCKETS];

	while (*e && ((*e)->kind != kind || (*e)->handle != handle))
		e = &(*e)->next;
	return e;
}

/* Under the lock. NULL: no memory. */
static struct entry *find_or_make(enum handle_kind kind, uint64_t handle, const struct handle *made)
{
	struct entry **at = place(kind, handle);

	if (!*at && (*at = calloc(1, sizeof(**at)))) {
		(*at)->kind = kind;
		(*at)->handle = handle;
		(*at)->is = *made;
		(*at)->is.number = ++numbers[kind];
	}
	return *at;
}

struct handle handle_find(enum handle_kind kind, uint64_t handle, const struct handle *made)
{
	struct handle is = { .number = 0 };
	struct entry *e;

	pthread_mutex_lock(&lock);
	e = find_or_make(kind, handle, made);
	if (e)
		is = e->is;
	pthread_mutex_unlock(&lock);
	return is;
}

void handle_drop(enum handle_kind kind, uint64_t handle)
{
	struct entry **at, *gone;

	pthread_mutex_lock(&lock);
	at = place(kind, handle);
	gone = *at;
	if (gone)
		*at = gone->next;
	pthread_mutex_unlock(&lock);
	free(gone);
}

void handle_make(enum handle_kind kind, uint64_t handle, const struct handle *made)
{
	handle_drop(kind, handle);
	(void)handle_find(kind, handle, made);
}

struct handle handle_record(uint64_t event)
{
	struct handle is = { .number = 0 };
	struct entry *e;

	pthread_mutex_lock(&lock);
	e = find_or_make(HANDLE_EVENT, event, &is);
	if (e) {
		e->is.recorded++;
		is = e->is;
	}
	pthread_mutex_unlock(&lock);
	return is;
}

void handle_name_kernel(uint64_t kernel, const char *name)
{
	const struct handle is = { .name = name };
	struct entry *e;

	pthread_mutex_lock(&lock);
	e = find_or_make(HANDLE_KERNEL, kernel, &is);
	if (e && e->is.name != name) {
		e->is.name = name;
		e->is.is_kept = false;
	}
	pthread_mutex_unlock(&lock);
}

/* Under the lock. The image that has the name may be unloaded before it is written. */
static const char *kept_name(struct entry *e)
{
	if (e && e->is.name && !e->is.is_kept) {
		e->is.name = recorder_keep(e->is.name);
		e->is.is_kept = true;
	}
	return e ? e->is.name : NULL;
}

const char *handle_kernel_name(uint64_t kernel)
{
	const char *name;

	pthread_mutex_lock(&lock);
	name = kept_name(*place(HANDLE_KERNEL, kernel));
	pthread_mutex_unlock(&lock);
	return name;
}

void handle_like_kernel(uint64_t kernel, uint64_t function)
{
	struct entry *like, *e;

	pthread_mutex_lock(&lock);
	like = *place(HANDLE_KERNEL, function);
	e = like ? find_or_make(HANDLE_KERNEL, kernel, &like->is) : NULL;
	if (e && e != like) {
		e->is.name = like->is.name;
		e->is.is_kept = like->is.is_kept;
	}
	pthread_mutex_unlock(&lock);
}
