/*
 * handle.c - streams, events and graphs as the host names them.
 *
 * A handle is a table index and the number of times that entry was used before, not an address:
 * one that was destroyed, or never was a handle, is recognised without being dereferenced.
 * Looking one up takes no lock.
 */
#include "common/cpu/base/base.h"

#include <stdlib.h>

enum { CHUNK_SLOTS = 1024, CHUNKS = 1024 };

struct slot {
	_Atomic(void *) object; /* NULL: free */
	atomic_uint uses;
	enum handle_kind kind;
	unsigned next_free; /* index + 1; 0: none */
};

static struct lock table_lock;
static _Atomic(struct slot *) chunks[CHUNKS];
static unsigned n_slots, free_list; /* guarded by table_lock */

static struct slot *slot_at(uintptr_t index)
{
	struct slot *chunk = index < CHUNK_SLOTS * CHUNKS ? chunks[index / CHUNK_SLOTS] : NULL;

	return chunk ? &chunk[index % CHUNK_SLOTS] : NULL;
}

/* bits 0-3 kind, 4-23 index, 24-55 uses; never 0, 1 or 2, which name default streams. */
static void *encode(enum handle_kind kind, uintptr_t index, unsigned uses)
{
	return (void *)((uintptr_t)(uses & 0xffffffff) << 24 | index << 4 | 8 | kind);
}

/* The slot of a handle whose number of uses is right; NULL for anything else. */
static struct slot *decode(enum handle_kind kind, const void *handle)
{
	uintptr_t bits = (uintptr_t)handle;
	struct slot *slot = (bits & 15) == (8u | kind) ? slot_at(bits >> 4 & 0xfffff) : NULL;

	if (!slot || atomic_load_explicit(&slot->uses, memory_order_relaxed) != bits >> 24)
		return NULL;
	return slot;
}

/* Under table_lock: the index of a free slot, or -1. */
static long take_slot(void)
{
	if (free_list) {
		long index = free_list - 1;

		free_list = slot_at((uintptr_t)index)->next_free;
		return index;
	}
	if (n_slots == CHUNK_SLOTS * CHUNKS)
		return -1;
	if (n_slots % CHUNK_SLOTS == 0) {
		struct slot *chunk = calloc(CHUNK_SLOTS, sizeof(*chunk));

		if (!chunk)
			return -1;
		chunks[n_slots / CHUNK_SLOTS] = chunk;
	}
	return n_slots++;
}

void *handle_open(enum handle_kind kind, void *object)
{
	void *handle = NULL;

	lock_acquire(&table_lock);
	long index = take_slot();

	if (index >= 0) {
		struct slot *slot = slot_at((uintptr_t)index);

		slot->kind = kind;
		handle = encode(kind, (uintptr_t)index, slot->uses);
		atomic_store_explicit(&slot->object, object, memory_order_release);
	}
	lock_release(&table_lock);
	return handle;
}

void *handle_object(enum handle_kind kind, const void *handle)
{
	struct slot *slot = decode(kind, handle);

	return slot ? atomic_load_explicit(&slot->object, memory_order_acquire) : NULL;
}

/* Under table_lock. */
static void *close_slot(struct slot *slot, uintptr_t index)
{
	void *object = atomic_exchange(&slot->object, NULL);

	if (object) {
		slot->uses++; /* old handles no longer match */
		slot->next_free = free_list;
		free_list = (unsigned)index + 1;
	}
	return object;
}

void *handle_close(enum handle_kind kind, const void *handle)
{
	void *object = NULL;

	lock_acquire(&table_lock);
	struct slot *slot = decode(kind, handle);

	if (slot)
		object = close_slot(slot, (uintptr_t)handle >> 4 & 0xfffff);
	lock_release(&table_lock);
	return object;
}

size_t handle_count(enum handle_kind kind)
{
	size_t n = 0;

	lock_acquire(&table_lock);
	for (unsigned i = 0; i < n_slots; i++)
		n += slot_at(i)->kind == kind && atomic_load(&slot_at(i)->object);
	lock_release(&table_lock);
	return n;
}

void *handle_close_any(enum handle_kind kind)
{
	void *object = NULL;

	lock_acquire(&table_lock);
	for (unsigned i = 0; i < n_slots && !object; i++)
		if (slot_at(i)->kind == kind)
			object = close_slot(slot_at(i), i);
	lock_release(&table_lock);
	return object;
}
