/*
 * memory.c - device memory and pinned host memory, which are both the process's own: the table of
 * what was given out, by address, blocks that end at a page which faults, how much there is, and
 * copies.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "common/cpu/base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/cpu/include/cpudev_serve.h"
#include "common/cpu/include/cpudev_watch.h"

/* ---- the table ------------------------------------------------------------------------- */

static struct lock table_lock;
/* Sorted by base, in one array: there are few allocations, and every copy looks two up. */
static struct allocation *table;
static size_t n_allocations, table_room, total_bytes;
static uint64_t n_added;

/* Under table_lock: number of allocations with a base of at most ptr. */
static size_t count_up_to(const char *ptr)
{
	size_t low = 0, high = n_allocations;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (table[middle].base <= ptr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Under table_lock. */
static bool make_room(void)
{
	if (n_allocations < table_room)
		return true;
	size_t room = table_room ? 2 * table_room : 64;
	struct allocation *larger = realloc(table, room * sizeof(*table));

	if (!larger)
		return false;
	table = larger;
	table_room = room;
	return true;
}

/* Under table_lock, which the thread sanitizer does not see, while it sees memmove. */
static void move_entries(size_t to, size_t from, size_t n)
{
	TS_OWN_BEGIN();
	memmove(table + to, table + from, n * sizeof(*table));
	TS_OWN_END();
}

bool allocation_add(const struct allocation *a)
{
	lock_acquire(&table_lock);
	bool fits = make_room();

	if (fits) {
		size_t at = count_up_to(a->base);

		move_entries(at + 1, at, n_allocations - at);
		table[at] = *a;
		table[at].number = n_added++;
		n_allocations++;
		if (a->owner == OWNER_RUNTIME)
			total_bytes += a->bytes;
	}
	lock_release(&table_lock);
	if (fits && a->type == cudaMemoryTypeHost)
		pinned_changes((int64_t)a->bytes, 1);
	return fits;
}

bool allocation_overlaps(const void *base, size_t bytes)
{
	lock_acquire(&table_lock);
	/* The last of those that start before its end; they do not overlap each other. */
	size_t at = count_up_to((const char *)base + bytes - 1);
	bool overlaps = at && table[at - 1].base + table[at - 1].bytes > (const char *)base;

	lock_release(&table_lock);
	return overlaps;
}

bool allocation_remove(const void *base, enum cudaMemoryType type, enum memory_owner owner)
{
	lock_acquire(&table_lock);
	size_t at = count_up_to(base);
	const struct allocation *a = at ? &table[at - 1] : NULL;
	bool found = a && a->base == base && a->type == type && a->owner == owner;
	int64_t bytes = found ? (int64_t)a->bytes : 0;

	if (found) {
		if (owner == OWNER_RUNTIME)
			total_bytes -= a->bytes;
		move_entries(at - 1, at, n_allocations - at);
		n_allocations--;
	}
	lock_release(&table_lock);
	if (found && type == cudaMemoryTypeHost)
		pinned_changes(-bytes, -1);
	return found;
}

struct allocation allocation_find(const void *ptr)
{
	struct allocation a = { .type = cudaMemoryTypeUnregistered };

	lock_acquire(&table_lock);
	size_t at = count_up_to(ptr);

	/* The last one that starts at or before ptr, if ptr is not beyond its end. */
	if (at && (const char *)ptr < table[at - 1].base + table[at - 1].bytes)
		a = table[at - 1];
	lock_release(&table_lock);
	return a;
}

size_t allocation_count(enum cudaMemoryType type, enum memory_owner owner)
{
	size_t n = 0;

	lock_acquire(&table_lock);
	for (size_t i = 0; i < n_allocations; i++)
		n += table[i].type == type && table[i].owner == owner;
	lock_release(&table_lock);
	return n;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = ((const struct cpudev_block *)a)->number,
		 y = ((const struct cpudev_block *)b)->number;

	return (x > y) - (x < y);
}

size_t cpudev_device_blocks(struct cpudev_block *out, size_t room)
{
	size_t n = 0;

	lock_acquire(&table_lock);
	for (size_t i = 0; i < n_allocations; i++) {
		const struct allocation *a = &table[i];

		if (a->type != cudaMemoryTypeDevice || a->owner != OWNER_RUNTIME)
			continue;
		if (n < room)
			out[n] = (struct cpudev_block){ a->base, a->bytes, a->number };
		n++;
	}
	lock_release(&table_lock);
	qsort(out, n < room ? n : room, sizeof(*out), by_number);
	return n;
}

static size_t allocation_total_bytes(void)
{
	lock_acquire(&table_lock);
	size_t bytes = total_bytes;

	lock_release(&table_lock);
	return bytes;
}

/* ---- pages that fault ------------------------------------------------------------------ */

/*
 * Memory with a page that nobody may touch behind it, and a page-wise grave: a freed block faults
 * when it is used, until GRAVES others have been freed after it.
 *
 * Device memory from 64 KiB on comes from here; with RIFT_CPU_STRICT=1 all of it and shared
 * memory. Sanitizers watch the heap better than this could: for them everything is left there.
 */
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

/* Frees it; using it faults for some time. */
static void pages_bury(void *block, size_t bytes)
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

/* ---- addresses that are told (cpudev_serve.h) -------------------------------------------- */

struct place {
	struct place *next;
	char *base, *fresh, *end; /* from fresh on nothing was used yet */
	struct pages *free;	  /* ranges that were used before; they are not joined */
	size_t n_free, room;
};

static struct lock place_lock;
static struct place *places;
static __thread struct place *own_place; /* of what this thread allocates; NULL: anywhere */

/* Under place_lock. NULL: the address is in none. */
static struct place *place_of(const char *address)
{
	struct place *p = places;

	while (p && (address < p->base || address >= p->end))
		p = p->next;
	return p;
}

static struct place *place_new(char *base)
{
	struct place *p = calloc(1, sizeof(*p));

	if (!p)
		starve("no memory for a range of addresses");
	p->base = base;
	p->next = places;
	places = p;
	return p;
}

void cpudev_place(void *base, size_t bytes)
{
	lock_acquire(&place_lock);
	own_place = place_of(base);
	if (!own_place)
		own_place = place_new(base);
	own_place->fresh = base;
	own_place->end = own_place->base + bytes;
	own_place->n_free = 0;
	lock_release(&place_lock);
}

void cpudev_unplace(void)
{
	struct place **link = &places, *p = own_place;

	if (!p)
		return;
	lock_acquire(&place_lock);
	while (*link != p)
		link = &(*link)->next;
	*link = p->next;
	lock_release(&place_lock);
	own_place = NULL;
	free(p->free);
	free(p);
}

/* As above, those from 64 KiB on have a page behind them that faults. */
static size_t placed_bytes(size_t bytes, size_t *used)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	*used = (bytes + page - 1) & ~(page - 1);
	return *used + (bytes >= PAGES_FROM_BYTES || config()->strict ? page : 0);
}

/* Under place_lock: a range of that size that was used before, or else one that was not. */
static char *take_range(struct place *p, size_t bytes)
{
	for (size_t i = 0; i < p->n_free; i++)
		if (p->free[i].bytes == bytes) {
			char *base = p->free[i].base;

			p->free[i] = p->free[--p->n_free];
			return base;
		}
	if (bytes > (size_t)(p->end - p->fresh))
		return NULL;
	p->fresh += bytes;
	return p->fresh - bytes;
}

/* The block begins at its page, so what overruns it by less than a page is not seen. */
static void *placed_new(size_t bytes)
{
	size_t used, all = placed_bytes(bytes, &used);

	lock_acquire(&place_lock);
	char *base = take_range(own_place, all);

	lock_release(&place_lock);
	if (!base || mmap(base, used, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return NULL;
	return base;
}

/* Under place_lock. Without memory for the list the addresses are lost, which is no harm. */
static void keep_range(struct place *p, struct pages range)
{
	if (p->n_free == p->room) {
		size_t room = p->room ? 2 * p->room : 64;
		struct pages *larger = realloc(p->free, room * sizeof(*larger));

		if (!larger)
			return;
		p->free = larger;
		p->room = room;
	}
	p->free[p->n_free++] = range;
}

/* Whichever thread frees it, it goes back where it came from. False: it came from no place. */
static bool placed_free(char *block, size_t bytes)
{
	size_t used, all = placed_bytes(bytes, &used);
	struct place *p;

	lock_acquire(&place_lock);
	p = place_of(block);
	if (p && mmap(block, used, PROT_NONE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED)
		keep_range(p, (struct pages){ block, all });
	lock_release(&place_lock);
	return p;
}

/* ---- how much there is ----------------------------------------------------------------- */

/* The number after `key` in a file, or SIZE_MAX where there is none ("max", no such file). */
static size_t number_in_file(const char *path, const char *key)
{
	char line[128];
	size_t value = SIZE_MAX;
	FILE *f = fopen(path, "re");

	while (f && value == SIZE_MAX && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)))
			sscanf(line + strlen(key), "%zu", &value);
	if (f)
		fclose(f);
	return value;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t host_bytes(void)
{
	size_t pages = (size_t)sysconf(_SC_PHYS_PAGES), page = (size_t)sysconf(_SC_PAGESIZE);

	return smaller(pages * page, number_in_file("/sys/fs/cgroup/memory.max", ""));
}

/* The host's memory, and no more than RIFT_CPU_MEMORY_MIB says. */
static size_t device_bytes(void)
{
	return config()->memory_mib ? (size_t)config()->memory_mib << 20 : SIZE_MAX;
}

size_t memory_total_bytes(void)
{
	return smaller(host_bytes(), device_bytes());
}

/* What the system can give out now without swapping. */
static size_t available_bytes(void)
{
	size_t kib = number_in_file("/proc/meminfo", "MemAvailable:");
	size_t limit = number_in_file("/sys/fs/cgroup/memory.max", "");
	size_t used = number_in_file("/sys/fs/cgroup/memory.current", "");
	size_t bytes = kib == SIZE_MAX ? host_bytes() : kib * 1024;

	if (limit == SIZE_MAX || used == SIZE_MAX)
		return bytes;
	return smaller(bytes, limit > used ? limit - used : 0);
}

/* Allocations count in full from the start, though the system sees only what is touched. */
size_t memory_free_bytes(void)
{
	static atomic_size_t at_start;
	size_t now = available_bytes(), none = 0, given = allocation_total_bytes();

	/* What was free at the first call is all that is ever given out. */
	atomic_compare_exchange_strong(&at_start, &none, smaller(now + given, device_bytes()));
	return smaller(now, at_start > given ? at_start - given : 0);
}

/* ---- taking and giving back ------------------------------------------------------------ */

enum { ALIGN_BYTES = 256 }; /* what CUDA promises of cudaMalloc */

static void *get(size_t bytes, enum cudaMemoryType type)
{
	void *p = NULL;

	if (type == cudaMemoryTypeDevice && own_place)
		return placed_new(bytes);
	if (type == cudaMemoryTypeDevice && pages_serve(bytes))
		return pages_new(bytes, ALIGN_BYTES);
	return posix_memalign(&p, ALIGN_BYTES, bytes) ? NULL : p;
}

void memory_put(const struct allocation *a)
{
	if (a->type == cudaMemoryTypeDevice && placed_free(a->base, a->bytes))
		return;
	if (a->type == cudaMemoryTypeDevice && pages_serve(a->bytes))
		pages_bury(a->base, a->bytes);
	else
		free(a->base);
}

/* Contents are left as they come, as on a GPU. */
cudaError_t memory_allocate(void **ptr, size_t bytes, enum cudaMemoryType type)
{
	struct allocation a = { .bytes = bytes, .type = type, .owner = OWNER_RUNTIME };

	*ptr = NULL;
	if (!bytes)
		return cudaSuccess; /* CUDA gives NULL for nothing, without an error */
	/* Asked beforehand: the system would promise more than it has and fail much later. */
	a.base = bytes > memory_free_bytes() ? NULL : get(bytes, type);
	if (!a.base)
		return cudaErrorMemoryAllocation;
	if (!allocation_add(&a)) {
		memory_put(&a);
		return cudaErrorMemoryAllocation;
	}
	*ptr = a.base;
	return cudaSuccess;
}

/* The program's own variables stay. */
void allocations_free_all(void)
{
	size_t n_kept = 0;

	lock_acquire(&table_lock);
	for (size_t i = 0; i < n_allocations; i++) {
		if (table[i].owner == OWNER_PROGRAM)
			table[n_kept++] = table[i];
		else if (table[i].owner == OWNER_RUNTIME)
			memory_put(&table[i]);
	}
	n_allocations = n_kept;
	total_bytes = 0;
	lock_release(&table_lock);
}

/* ---- copies ---------------------------------------------------------------------------- */

__thread const struct transfer *volatile running_copy;

/* CUDA leaves overlapping ranges open; here they are at least not torn. */
void run_copy(const struct transfer *t)
{
	running_copy = t;
	for (size_t row = 0; row < t->rows; row++)
		memmove((char *)t->dst + row * t->dst_pitch,
			(const char *)t->src + row * t->src_pitch, t->bytes);
	running_copy = NULL;
}

static void set_row(char *row, const struct transfer *t)
{
	if (t->element <= 1)
		memset(row, t->value, t->bytes);
	else
		for (size_t i = 0; i < t->bytes; i += t->element)
			memmove(row + i, &t->value, t->element); /* as the host is little-endian */
}

void run_set(const struct transfer *t)
{
	running_copy = t;
	for (size_t row = 0; row < t->rows; row++)
		set_row((char *)t->dst + row * t->dst_pitch, t);
	running_copy = NULL;
}
