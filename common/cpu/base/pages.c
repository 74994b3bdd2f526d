/*
 * pages.c - memory with a page that nobody may touch behind it, and a page-wise grave: a freed
 * block faults when it is used, until GRAVES others have been freed after it.
 *
 * Device memory from 64 KiB on comes from here; with RIFT_CPU_STRICT=1 all of it and shared
 * memory. Sanitizers watch the heap better than this could: for them everything is left there.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "common/cpu/base/base.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	PAGES_FROM_BYTES =
		64 << 10, /* where the system's malloc takes pages as well, more or less */
	GRAVES = 256,	  /* address space only: their memory is given back */
};

struct pages {
	char *base;
	size_t bytes;
};

static struct lock grave_lock;
static struct pages graves[GRAVES];
static unsigned next_grave;

bool pages_serve(size_t bytes)
{
#if defined(CPUDEV_ASAN) || defined(CPUDEV_TSAN)
	(void)bytes;
	return false;
#else
	return bytes >= PAGES_FROM_BYTES || config()->strict;
#endif
}

/* The mapping of a block that ends, but for alignment, where the guard page begins. */
static struct pages pages_of(const void *block, size_t bytes)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), mask = ~(page - 1);
	uintptr_t first = (uintptr_t)block & mask;
	uintptr_t guard = ((uintptr_t)block + bytes + page - 1) & mask;

	return (struct pages){ (char *)first, guard + page - first };
}

void *pages_new(size_t bytes, size_t align)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t used = (bytes + align - 1) & ~(align - 1), room = (used + page - 1) & ~(page - 1);
	char *base =
		mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (base == MAP_FAILED)
		return NULL;
	/* Without a guard where the system allows no more mappings: no reason to stop. */
	(void)!mprotect(base + room, page, PROT_NONE);
	return base + room - used;
}

void pages_bury(void *block, size_t bytes)
{
	struct pages p = pages_of(block, bytes), old;

	/* A new mapping in its place gives the memory back. */
	if (mmap(p.base, p.bytes, PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
		return;
	lock_acquire(&grave_lock);
	old = graves[next_grave];
	graves[next_grave] = p;
	next_grave = (next_grave + 1) % GRAVES;
	lock_release(&grave_lock);
	if (old.base)
		munmap(old.base, old.bytes);
}

void pages_free(void *block, size_t bytes)
{
	struct pages p = pages_of(block, bytes);

	munmap(p.base, p.bytes);
}

bool pages_buried(const void *address)
{
	bool found = false;

	lock_acquire(&grave_lock);
	for (unsigned i = 0; i < GRAVES; i++)
		found |= (uintptr_t)address - (uintptr_t)graves[i].base < graves[i].bytes;
	lock_release(&grave_lock);
	return found;
}
