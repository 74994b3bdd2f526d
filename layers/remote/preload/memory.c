/*
 * memory.c - functions about memory: given out, pinned, registered. What the client has been given
 * it knows by itself; the daemon has a table of its own.
 */
#include <string.h>
#include <sys/mman.h>

#include "layers/remote/preload/client.h"

SHOWN int cudaMalloc(void **memory, size_t bytes);
SHOWN int cudaFree(void *memory);
SHOWN int cudaMallocHost(void **memory, size_t bytes);
SHOWN int cudaHostAlloc(void **memory, size_t bytes, unsigned flags);
SHOWN int cudaHostGetDevicePointer(void **device, void *host, unsigned flags);
SHOWN int cudaFreeHost(void *memory);
SHOWN int cudaHostRegister(void *memory, size_t bytes, unsigned flags);
SHOWN int cudaHostUnregister(void *memory);
SHOWN int cudaMallocAsync(void **memory, size_t bytes, void *stream);
SHOWN int cudaFreeAsync(void *memory, void *stream);
SHOWN int cudaDeviceGetDefaultMemPool(const void **pool, int device);
SHOWN int cudaMemPoolSetAttribute(const void *pool, int attribute, const void *value);
SHOWN int cudaMemPoolTrimTo(const void *pool, size_t bytes);
SHOWN int cudaMemGetInfo(size_t *left, size_t *total);
SHOWN int cudaPointerGetAttributes(struct cuda_pointer_attributes *out, const void *pointer);

struct regions client_regions;

static uint64_t word_of(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

/* The piece of that kind which begins there; NULL: none. */
static struct region *find_piece(const void *base, enum region_kind kind)
{
	struct region *found = regions_find(&client_regions, word_of(base));

	return found && found->base == word_of(base) && found->kind == kind ? found : NULL;
}

/* ---- of the device ------------------------------------------------------------------------------
 */

enum { PAGE_BYTES = 4096 };

static bool claim_pages(uint64_t base, uint64_t bytes)
{
	void *want = (void *)(uintptr_t)base;
	void *got = mmap(want, bytes, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (got != MAP_FAILED && got != want)
		munmap(got, bytes);
	return got == want;
}

/* A GPU's driver chooses addresses in the daemon. Once claimed, they stay so: it uses them again.
 */
bool memory_claim(uint64_t base, uint64_t bytes)
{
	static struct regions claimed;
	uint64_t at = base / PAGE_BYTES * PAGE_BYTES;
	uint64_t end = (base + bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;

	if (base - client_base() < REMOTE_SPACE_BYTES || kernels_are_functions())
		return true;
	while (at < end) {
		const struct region *there = regions_find(&claimed, at);
		size_t next = regions_up_to(&claimed, at);
		struct region gap = { .base = at, .kind = REGION_DEVICE };

		if (there) {
			at = there->base + there->bytes;
			continue;
		}
		gap.bytes = (next < claimed.n && claimed.at[next].base < end ? claimed.at[next].base
									     : end) -
			    at;
		if (!claim_pages(at, gap.bytes) || !regions_add(&claimed, gap))
			return false;
		at += gap.bytes;
	}
	return true;
}

/* Asks for memory at addresses that the program does not use: what lies elsewhere is held until
 * there is some. */
static int ask_for_memory(uint64_t *base, uint64_t bytes, enum remote_op op, const uint64_t *words,
			  size_t n)
{
	enum { TRIES = 8 };
	uint64_t held[TRIES];
	int error = 0, tries = 0;
	bool found = false;

	while (!error && !found && tries < TRIES) {
		error = client_ask(op, words, n, base, sizeof(*base));
		found = error || !*base || memory_claim(*base, bytes);
		if (!found)
			held[tries++] = *base;
	}
	for (int i = 0; i < tries; i++)
		client_ask(REMOTE_FREE, WORDS(held[i]), NULL, 0);
	return found ? error : client_refuse("memory at addresses that the program uses");
}

/* Asks for memory that the daemon chooses the address of. */
static int allocate(void **memory, enum remote_op op, const uint64_t *words, size_t n)
{
	struct region piece = { .bytes = words[0], .kind = REGION_DEVICE };
	int error = ask_for_memory(&piece.base, piece.bytes, op, words, n);

	*memory = NULL;
	if (error || !piece.base)
		return error;
	if (!regions_add(&client_regions, piece)) {
		client_ask(REMOTE_FREE, WORDS(piece.base), NULL, 0);
		return CUDA_NO_MEMORY;
	}
	*memory = (void *)(uintptr_t)piece.base;
	return 0;
}

int cudaMalloc(void **memory, size_t bytes)
{
	int error = memory ? client_enter() : client_result(CUDA_INVALID_VALUE);

	return error ? error : client_leave(allocate(memory, REMOTE_MALLOC, WORDS(bytes)));
}

int cudaMallocAsync(void **memory, size_t bytes, void *stream)
{
	int error = memory ? client_enter() : client_result(CUDA_INVALID_VALUE);
	uint64_t where;

	if (error)
		return error;
	if (!handle_stream(stream, &where))
		return client_leave(CUDA_INVALID_HANDLE);
	return client_leave(allocate(memory, REMOTE_MALLOC_ASYNC, WORDS(bytes, where)));
}

/* The table is looked at anew, as others may have called while the daemon worked. */
int cudaFree(void *memory)
{
	int error = client_enter();
	struct region *piece;

	if (error)
		return error;
	error = client_ask(REMOTE_FREE, WORDS(word_of(memory)), NULL, 0);
	piece = error ? NULL : find_piece(memory, REGION_DEVICE);
	if (piece)
		regions_remove(&client_regions, piece);
	return client_leave(error);
}

int cudaFreeAsync(void *memory, void *stream)
{
	int error = client_enter();
	struct region *piece;
	uint64_t where;

	if (error)
		return error;
	if (!handle_stream(stream, &where))
		return client_leave(CUDA_INVALID_HANDLE);
	piece = find_piece(memory, REGION_DEVICE);
	if (memory && !piece)
		return client_leave(CUDA_INVALID_VALUE);
	error = client_ahead(REMOTE_FREE_ASYNC, WORDS(word_of(memory), where));
	if (!error && piece)
		regions_remove(&client_regions, piece);
	return client_leave(error);
}

/* ---- the pool of memory in stream order: the default one, which has this handle ---------------
 */

static const char default_pool[8];

int cudaDeviceGetDefaultMemPool(const void **pool, int device)
{
	if (!pool || device)
		return client_result(pool ? CUDA_INVALID_DEVICE : CUDA_INVALID_VALUE);
	*pool = default_pool;
	return 0;
}

int cudaMemPoolSetAttribute(const void *pool, int attribute, const void *value)
{
	enum { RELEASE_THRESHOLD = 4 };
	int error =
		pool == default_pool && value ? client_enter() : client_result(CUDA_INVALID_VALUE);
	uint64_t bytes;

	if (error)
		return error;
	if (attribute != RELEASE_THRESHOLD)
		return client_leave(client_refuse("attributes of a pool but its threshold"));
	memcpy(&bytes, value, sizeof(bytes));
	return client_leave(client_ask(REMOTE_POOL_KEEP, WORDS(bytes), NULL, 0));
}

int cudaMemPoolTrimTo(const void *pool, size_t bytes)
{
	int error = pool == default_pool ? client_enter() : client_result(CUDA_INVALID_VALUE);

	return error ? error : client_leave(client_ask(REMOTE_POOL_TRIM, WORDS(bytes), NULL, 0));
}

int cudaMemGetInfo(size_t *left, size_t *total)
{
	uint64_t answer[2];
	int error = client_enter();

	if (error)
		return error;
	error = client_leave(client_ask(REMOTE_MEM_INFO, NULL, 0, answer, sizeof(answer)));
	if (!error && left)
		*left = answer[0];
	if (!error && total)
		*total = answer[1];
	return error;
}

/* ---- of the host, pinned: pages that the daemon has at the same address ------------------- */

static uint64_t
	pinned_next; /* nothing from here on has been given out, or all of it is free again */

/* The first gap that is large enough; 0: there is none. */
static uint64_t find_gap(uint64_t bytes)
{
	uint64_t at = client_base(), end = at + REMOTE_PINNED_BYTES;

	for (size_t i = regions_up_to(&client_regions, at); i < client_regions.n; i++) {
		const struct region *r = &client_regions.at[i];

		if (r->base - at >= bytes || r->base >= end)
			break;
		at = r->base + (r->bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	}
	return bytes <= end - at ? at : 0;
}

static uint64_t choose_place(uint64_t bytes)
{
	uint64_t end = client_base() + REMOTE_PINNED_BYTES;

	if (!pinned_next)
		pinned_next = client_base();
	if (bytes > REMOTE_PINNED_BYTES)
		return 0;
	if (bytes > end - pinned_next)
		return find_gap(bytes);
	pinned_next += bytes;
	return pinned_next - bytes;
}

/* Over TCP each side has a copy of what is small; what is larger is the program's alone. */
static enum region_kind kind_of_pinned(uint64_t bytes)
{
	const struct mirrors *m = client_mirrors();

	return !m || mirrors_may_add(m, bytes) ? REGION_PINNED : REGION_STAGED;
}

static int ask_to_pin(const struct region *piece)
{
	int error;

	if (piece->kind == REGION_STAGED)
		return 0;
	error = client_ask(REMOTE_PIN, WORDS(piece->base, piece->bytes), NULL, 0);
	if (!error && client_mirrors() &&
	    !mirrors_add(client_mirrors(), piece->base, piece->bytes)) {
		client_ask(REMOTE_UNPIN, WORDS(piece->base), NULL, 0);
		error = CUDA_NO_MEMORY;
	}
	return error;
}

static int pin(void **memory, size_t bytes, bool mapped)
{
	uint64_t pages = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	struct region piece = { .bytes = bytes, .kind = kind_of_pinned(bytes) };
	int error;

	*memory = NULL;
	if (!bytes)
		return 0;
	if (mapped && piece.kind == REGION_STAGED)
		return client_refuse("mapped memory of more than 1 MiB, or 8 MiB in all, over TCP");
	piece.base = pages < bytes ? 0 : choose_place(pages);
	/* entered first, so that nobody else takes the place while the daemon works */
	if (!piece.base || !regions_add(&client_regions, piece))
		return CUDA_NO_MEMORY;
	*memory = (void *)(uintptr_t)piece.base;
	error = ask_to_pin(&piece);
	if (!error)
		return 0;
	regions_remove(&client_regions, find_piece(*memory, piece.kind));
	*memory = NULL;
	return error;
}

int cudaHostAlloc(void **memory, size_t bytes, unsigned flags)
{
	enum { PORTABLE = 1, MAPPED = 2, WRITE_COMBINED = 4 };
	int error = memory && !(flags & ~(unsigned)(PORTABLE | MAPPED | WRITE_COMBINED))
			    ? client_enter()
			    : client_result(CUDA_INVALID_VALUE);

	return error ? error : client_leave(pin(memory, bytes, flags & MAPPED));
}

int cudaMallocHost(void **memory, size_t bytes)
{
	return cudaHostAlloc(memory, bytes, 0);
}

/* The pages go back to the system on both sides. */
static void give_back(struct region *piece)
{
	uint64_t pages = (piece->bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;

	madvise((void *)(uintptr_t)piece->base, pages,
		client_mirrors() ? MADV_DONTNEED : MADV_REMOVE);
	if (piece->base + pages == pinned_next)
		pinned_next = piece->base;
	regions_remove(&client_regions, piece);
}

int cudaFreeHost(void *memory)
{
	int error = client_enter();

	if (error || !memory)
		return error ? error : client_leave(0);
	if (find_piece(memory, REGION_STAGED)) {
		give_back(find_piece(memory, REGION_STAGED));
		return client_leave(0);
	}
	if (!find_piece(memory, REGION_PINNED))
		return client_leave(CUDA_INVALID_VALUE);
	if (client_mirrors())
		mirrors_remove(client_mirrors(), word_of(memory));
	error = client_ask(REMOTE_UNPIN, WORDS(word_of(memory)), NULL, 0);
	if (!error && find_piece(memory, REGION_PINNED))
		give_back(find_piece(memory, REGION_PINNED));
	return client_leave(error);
}

int cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
	int error = client_enter();
	const struct region *piece;

	if (error)
		return error;
	piece = regions_find(&client_regions, word_of(host));
	if (piece && piece->kind == REGION_STAGED)
		return client_leave(client_refuse("cudaHostGetDevicePointer of pinned memory of "
						  "more than 1 MiB, or 8 MiB in all, over TCP"));
	if (!device || flags || !piece ||
	    (piece->kind != REGION_PINNED && piece->kind != REGION_REGISTERED))
		return client_leave(CUDA_INVALID_VALUE);
	if (piece->kind == REGION_REGISTERED)
		return client_leave(
			client_refuse("cudaHostGetDevicePointer of memory by cudaHostRegister"));
	*device = host;
	return client_leave(0);
}

/* ---- of the program, registered: the daemon does not have it, and copies go as from malloc --- */

int cudaHostRegister(void *memory, size_t bytes, unsigned flags)
{
	enum { PORTABLE = 1, MAPPED = 2, READ_ONLY = 8 };
	struct region piece = { word_of(memory), bytes, REGION_REGISTERED };
	int error = client_enter();

	if (error)
		return error;
	if (!memory || !bytes || flags & ~(unsigned)(PORTABLE | MAPPED | READ_ONLY) ||
	    piece.base + bytes < piece.base)
		return client_leave(CUDA_INVALID_VALUE);
	if (regions_touch(&client_regions, piece.base, bytes))
		return client_leave(CUDA_REGISTERED_ALREADY);
	return client_leave(regions_add(&client_regions, piece) ? 0 : CUDA_NO_MEMORY);
}

int cudaHostUnregister(void *memory)
{
	int error = client_enter();
	struct region *piece;

	if (error)
		return error;
	piece = find_piece(memory, REGION_REGISTERED);
	if (!piece)
		return client_leave(memory ? CUDA_NOT_REGISTERED : CUDA_INVALID_VALUE);
	regions_remove(&client_regions, piece);
	return client_leave(0);
}

/* ---- what a pointer is -------------------------------------------------------------------- */

int cudaPointerGetAttributes(struct cuda_pointer_attributes *out, const void *pointer)
{
	int error = out ? client_enter() : client_result(CUDA_INVALID_VALUE);
	const struct region *piece;
	bool on_device;

	if (error)
		return error;
	piece = regions_find(&client_regions, word_of(pointer));
	on_device = piece && (piece->kind == REGION_DEVICE || piece->kind == REGION_SYMBOL);
	*out = (struct cuda_pointer_attributes){
		.type = on_device ? MEMORY_DEVICE
			: piece	  ? MEMORY_HOST
				  : MEMORY_UNREGISTERED,
		.device = piece ? 0 : -2, /* cudaInvalidDeviceId */
		.device_pointer =
			piece && piece->kind != REGION_REGISTERED && piece->kind != REGION_STAGED
				? (void *)pointer
				: NULL,
		.host_pointer = on_device ? NULL : (void *)pointer,
	};
	return client_leave(0);
}
