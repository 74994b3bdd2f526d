/*
 * images.c - fat binaries, their kernels and variables, as constructors in nvcc's objects register
 * them. All of it is kept until something is used: then the daemon is asked by the hash whether it
 * has the fat binary, and gets it where it has not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/remote/preload/client.h"

SHOWN void **__cudaRegisterFatBinary(const struct cuda_fat_wrapper *wrapper);
SHOWN void __cudaRegisterFatBinaryEnd(void **image);
SHOWN char __cudaInitModule(void **image);
SHOWN void __cudaUnregisterFatBinary(void **image);
SHOWN void __cudaRegisterFunction(void **image, const void *function, char *device_function,
				  const char *name, int threads, void *tid, void *bid, void *block,
				  void *grid, int *warp);
SHOWN void __cudaRegisterVar(void **image, const void *variable, char *device_variable,
			     const char *name, int external, size_t bytes, int constant,
			     int global);

struct image {
	const uint8_t *data;
	uint64_t bytes; /* 0: not to be understood */
	uint64_t number;
	bool sent; /* or tried */
	int error; /* why the daemon does not have it */
};

/* A kernel or a variable. */
struct entry {
	const void *host; /* what the program calls it by; NULL: unloaded */
	const char *name;
	struct image *image;
};

static struct entries {
	struct entry *at;
	size_t n, room;
} kernels, variables;

static uint64_t n_images; /* that have been sent */

/* ---- registration ------------------------------------------------------------------------- */

/* The formats of nvcc since CUDA 5. The length is the fat binary's own word for it. */
static uint64_t length_of(const struct cuda_fat_wrapper *w)
{
	enum { WRAPPED = 0x466243b1, FAT = 0xba55ed50u };
	struct cuda_fat_header h;

	if (w->magic != WRAPPED || (w->version != 1 && w->version != 2))
		return 0;
	memcpy(&h, w->data, sizeof(h));
	if (h.magic != FAT || h.header_bytes < sizeof(h) || h.body_bytes > REMOTE_IMAGE_BYTES)
		return 0;
	return h.header_bytes + h.body_bytes;
}

void **__cudaRegisterFatBinary(const struct cuda_fat_wrapper *wrapper)
{
	struct image *i = calloc(1, sizeof(*i));

	if (!i)
		return NULL;
	i->data = wrapper->data;
	i->bytes = length_of(wrapper);
	return (void **)i;
}

/* All that there is to know is known before. */
void __cudaRegisterFatBinaryEnd(void **image)
{
	(void)image;
}

/* Asked for the sake of managed variables, of which there are none: they are refused. */
char __cudaInitModule(void **image)
{
	return image != NULL;
}

static void enter(struct entries *e, void **image, const void *host, const char *name)
{
	size_t room = e->room ? 2 * e->room : 64;
	struct entry *larger;

	client_lock();
	if (e->n == e->room) {
		larger = realloc(e->at, room * sizeof(*larger));
		e->at = larger ? larger : e->at;
		e->room = larger ? room : e->room;
	}
	if (e->n < e->room) /* else its use fails: it is none */
		e->at[e->n++] = (struct entry){ host, name, (struct image *)image };
	client_unlock();
}

void __cudaRegisterFunction(void **image, const void *function, char *device_function,
			    const char *name, int threads, void *tid, void *bid, void *block,
			    void *grid, int *warp)
{
	(void)device_function;
	(void)threads;
	(void)tid;
	(void)bid;
	(void)block;
	(void)grid;
	(void)warp;
	enter(&kernels, image, function, name);
}

void __cudaRegisterVar(void **image, const void *variable, char *device_variable, const char *name,
		       int external, size_t bytes, int constant, int global)
{
	(void)device_variable;
	(void)external;
	(void)bytes;
	(void)constant;
	(void)global;
	enter(&variables, image, variable, name);
}

/* The daemon keeps its kernels, which graphs may have. */
static void leave(struct entries *e, const struct image *image, void (*forget)(const void *host))
{
	for (size_t i = 0; i < e->n; i++)
		if (e->at[i].image == image && e->at[i].host) {
			forget(e->at[i].host);
			e->at[i].host = NULL;
		}
}

void __cudaUnregisterFatBinary(void **image)
{
	client_lock();
	leave(&kernels, (struct image *)image, kernel_forget);
	leave(&variables, (struct image *)image, variable_forget);
	client_unlock();
	free(image);
}

/* ---- sending ------------------------------------------------------------------------------ */

static int send_parts(const struct image *i)
{
	int error = 0;

	for (uint64_t at = 0, bytes; !error && at < i->bytes; at += bytes) {
		bytes = client_block_bytes();
		bytes = i->bytes - at < bytes ? i->bytes - at : bytes;
		memcpy(client_take_block(0), i->data + at, bytes);
		client_begin(REMOTE_IMAGE_PART, WORDS(i->number, bytes), 0);
		error = client_ask_now(NULL, 0, true);
	}
	return error;
}

static int send_image(struct image *i)
{
	struct remote_hash hash;
	int there = 0, error;

	if (!i->bytes)
		return client_refuse("fat binaries of this format");
	hash = remote_hash_of(i->data, i->bytes);
	i->number = n_images++;
	client_begin(REMOTE_IMAGE, WORDS(i->number, i->bytes, hash.half[0], hash.half[1]), 0);
	error = client_ask_now(&there, sizeof(there), true);
	return error || there ? error : send_parts(i);
}

static const char *find(const struct entries *e, const void *host, uint64_t *where, int *error)
{
	struct entry *found = NULL;

	*error = 0;
	for (size_t i = 0; host && !found && i < e->n; i++)
		found = e->at[i].host == host ? &e->at[i] : NULL;
	if (!found)
		return NULL;
	if (!found->image->sent)
		found->image->error = send_image(found->image);
	found->image->sent = true;
	*error = found->image->error;
	*where = found->image->number;
	return *error ? NULL : found->name;
}

const char *image_kernel(const void *function, uint64_t *where, int *error)
{
	return find(&kernels, function, where, error);
}

const char *image_variable(const void *symbol, uint64_t *where, int *error)
{
	return find(&variables, symbol, where, error);
}
