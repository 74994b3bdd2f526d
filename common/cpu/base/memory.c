/*
 * allocation.c - the table of memory that the runtime gave out, by address: what a pointer is,
 * and how far one may go from it.
 */
#include "common/cpu/include/cpudev_watch.h"
#include "common/cpu/base/base.h"

#include <stdlib.h>
#include <string.h>

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

bool allocation_add(const struct allocation *a)
{
	lock_acquire(&table_lock);
	bool fits = make_room();

	if (fits) {
		size_t at = count_up_to(a->base);

		memmove(table + at + 1, table + at, (n_allocations - at) * sizeof(*table));
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
	/* Of those that start before its end, the last; they do not overlap each other. */
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
		memmove(table + at - 1, table + at, (n_allocations - at) * sizeof(*table));
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

size_t allocation_total_bytes(void)
{
	lock_acquire(&table_lock);
	size_t bytes = total_bytes;

	lock_release(&table_lock);
	return bytes;
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
