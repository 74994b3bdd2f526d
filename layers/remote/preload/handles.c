/*
 * handles.c - streams, events, graphs, cuBLAS as the program names them (client.h). A handle is no
 * address: it holds a number, which the daemon knows it by, and how often that was used before.
 */
#include "layers/remote/preload/client.h"

struct slot {
	uint64_t note;
	uint32_t uses;
	uint32_t next_free; /* + 1; 0: none */
	bool live;
};

static struct slots {
	struct slot *at;
	uint32_t n, room, free;
} all[HANDLE_KINDS];

static const uint32_t most[HANDLE_KINDS] = { REMOTE_STREAMS, REMOTE_EVENTS, REMOTE_GRAPHS,
					     REMOTE_EXECS, REMOTE_BLAS };

/* ---- bits: 0-2 kind, 3 set, 4-23 number, 24-63 uses. 0, 1 and 2 are CUDA's default streams. ---
 */

enum { KIND_NODE = HANDLE_KINDS };

static void *encode(unsigned kind, uint64_t number, uint64_t uses)
{
	return (void *)(uintptr_t)(kind | 8 | number << 4 | uses << 24);
}

static struct slot *decode(enum handle_kind kind, const void *handle, uint64_t *number)
{
	uint64_t bits = (uint64_t)(uintptr_t)handle;
	struct slots *s = &all[kind];

	*number = bits >> 4 & 0xfffff;
	if ((bits & 15) != (8u | kind) || *number >= s->n || !s->at[*number].live ||
	    s->at[*number].uses != bits >> 24)
		return NULL;
	return &s->at[*number];
}

/* ---- slots --------------------------------------------------------------------------------------
 */

static bool grow(struct slots *s)
{
	uint32_t room = s->room ? 2 * s->room : 64;
	struct slot *larger = realloc(s->at, room * sizeof(*larger));

	if (!larger)
		return false;
	s->at = larger;
	s->room = room;
	return true;
}

void *handle_open(enum handle_kind kind, uint64_t *number)
{
	struct slots *s = &all[kind];
	struct slot *slot;

	if (s->free) {
		*number = s->free - 1;
		s->free = s->at[*number].next_free;
	} else {
		if (s->n == most[kind] || (s->n == s->room && !grow(s)))
			return NULL;
		*number = s->n++;
		s->at[*number] = (struct slot){ 0 };
	}
	slot = &s->at[*number];
	slot->live = true;
	slot->note = 0;
	return encode(kind, *number, slot->uses);
}

bool handle_number(enum handle_kind kind, const void *handle, uint64_t *number)
{
	return decode(kind, handle, number) != NULL;
}

bool handle_close(enum handle_kind kind, const void *handle, uint64_t *number)
{
	struct slot *slot = decode(kind, handle, number);

	if (!slot)
		return false;
	slot->live = false;
	slot->uses++;
	slot->next_free = all[kind].free;
	all[kind].free = (uint32_t)*number + 1;
	return true;
}

uint64_t *handle_note(enum handle_kind kind, uint64_t number)
{
	return &all[kind].at[number].note;
}

bool handle_stream(const void *stream, uint64_t *word)
{
	*word = (uint64_t)(uintptr_t)stream;
	if (*word < REMOTE_WAITS)
		return true;
	if (!handle_number(HANDLE_STREAM, stream, word))
		return false;
	*word += REMOTE_OWN;
	return true;
}

/* ---- nodes: bits 4-15 graph, 16-39 place, 40-63 uses of the graph's number ---------------- */

void *handle_node(uint64_t graph, uint64_t node)
{
	uint64_t uses = all[HANDLE_GRAPH].at[graph].uses & 0xffffff;

	return (void *)(uintptr_t)(KIND_NODE | 8 | graph << 4 | (node & 0xffffff) << 16 |
				   uses << 40);
}

bool handle_node_numbers(const void *node, uint64_t *graph, uint64_t *place)
{
	uint64_t bits = (uint64_t)(uintptr_t)node;
	const struct slots *s = &all[HANDLE_GRAPH];

	*graph = bits >> 4 & 0xfff;
	*place = bits >> 16 & 0xffffff;
	return (bits & 15) == (8 | KIND_NODE) && *graph < s->n && s->at[*graph].live &&
	       (s->at[*graph].uses & 0xffffff) == bits >> 40;
}
