/*
 * do_images.c - a daemon's commands about fat binaries, and which kernels and variables there are.
 * What one client has brought is kept in the store, by its hash, for those that come later.
 */
#include "layers/remote/daemon/session.h"

#include <cuda_runtime_api.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/check.h"

/* ---- the store ---------------------------------------------------------------------------- */

enum { STORED_BYTES = 64 << 20 }; /* of a fat binary that is kept */

static void path_in_store(const struct session *s, const struct served_image *i, char *path,
			  size_t room)
{
	snprintf(path, room, "%s/image-%016llx%016llx", s->store,
		 (unsigned long long)i->hash.half[0], (unsigned long long)i->hash.half[1]);
}

static bool is_the_one(const struct served_image *i)
{
	struct remote_hash is = remote_hash_of(i->body, i->bytes);

	return is.half[0] == i->hash.half[0] && is.half[1] == i->hash.half[1];
}

static bool read_from_store(const struct session *s, const struct served_image *i)
{
	char path[512];
	ssize_t n;
	int fd;

	if (!s->store)
		return false;
	path_in_store(s, i, path, sizeof(path));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, i->body, i->bytes);
	close(fd);
	return n == (ssize_t)i->bytes && is_the_one(i);
}

/* Whole or not at all, whoever else stores the same. */
static void write_to_store(const struct session *s, const struct served_image *i)
{
	static atomic_uint written; /* by this process, whose clients may store the same at once */
	char path[512], own[576];
	int fd;

	if (!s->store || i->bytes > STORED_BYTES)
		return;
	path_in_store(s, i, path, sizeof(path));
	if (!access(path, F_OK))
		return;
	snprintf(own, sizeof(own), "%s.%d-%u", path, (int)getpid(), atomic_fetch_add(&written, 1));
	fd = open(own, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (write(fd, i->body, i->bytes) != (ssize_t)i->bytes || rename(own, path))
		unlink(own);
	close(fd);
}

/* ---- images ------------------------------------------------------------------------------- */

static void drop_body(struct session *s, struct served_image *i)
{
	if (i->body)
		s->memory_bytes -= i->bytes;
	free(i->body);
	i->body = NULL;
}

void image_release(struct session *s, struct served_image *i)
{
	if (i->library)
		s->backend->unload(i->library);
	drop_body(s, i);
	free(i);
}

/*
 * A fat binary says itself how long it is, and the runtime believes it: magic, version, bytes of
 * the header, bytes behind it (fatBinaryHeader in NVIDIA's fatbinary_section.h).
 */
static bool says_its_length(const struct served_image *i)
{
	uint64_t behind;
	uint16_t header;

	if (i->bytes < 16)
		return false;
	memcpy(&header, i->body + 6, sizeof(header));
	memcpy(&behind, i->body + 8, sizeof(behind));
	return header >= 16 && header <= i->bytes && behind == i->bytes - header;
}

/* When all of it is there. */
static int load(struct session *s, struct served_image *i)
{
	int err = is_the_one(i) && says_its_length(i) ? s->backend->load(i->body, &i->library)
						      : (int)cudaErrorInvalidKernelImage;

	if (err)
		i->library = NULL;
	else
		write_to_store(s, i);
	drop_body(s, i);
	return err;
}

static struct served_image *new_image(struct session *s, const struct request *r)
{
	struct served_image *i = calloc(1, sizeof(*i));

	if (!i)
		return NULL;
	i->bytes = r->word[1];
	i->hash = (struct remote_hash){ { r->word[2], r->word[3] } };
	i->body = malloc(i->bytes);
	if (i->body && table_put(&s->images, r->word[0], i)) {
		s->memory_bytes += i->bytes;
		return i;
	}
	free(i->body);
	free(i);
	return NULL;
}

/* Until it is loaded, its bytes count as the client's memory. */
int do_image(struct session *s, struct request *r)
{
	struct served_image *i = NULL;
	int there, err = 0;

	if (!s->backend->load)
		return cudaErrorNotSupported;
	if (r->word[1] && r->word[1] <= REMOTE_IMAGE_BYTES &&
	    r->word[1] <= s->memory_max - s->memory_bytes)
		i = new_image(s, r);
	if (!i)
		return cudaErrorMemoryAllocation;
	there = read_from_store(s, i);
	if (there)
		err = load(s, i);
	answer_put(r, &there, sizeof(there));
	return err;
}

int do_image_part(struct session *s, struct request *r)
{
	struct served_image *i = table_get(&s->images, r->word[0]);
	uint32_t bytes = low_of(r->word[1]), block = high_of(r->word[1]);

	if (!i || !i->body || !bytes || bytes > s->block_bytes || block >= REMOTE_BLOCKS ||
	    bytes > i->bytes - i->got)
		return cudaErrorInvalidValue;
	memcpy(i->body + i->got, s->in + block * s->block_bytes, bytes);
	i->got += bytes;
	return i->got == i->bytes ? load(s, i) : 0;
}

/* ---- variables of the program's own ------------------------------------------------------- */

/* Where there are no libraries, variables are the program's, and all clients of a process have the
 * same. So each is one client's at a time, and then again what it was. */
struct variable {
	struct variable *next;
	const struct session *owner;
	uint64_t base, bytes;
	uint8_t before[];
};

static pthread_mutex_t variables_lock = PTHREAD_MUTEX_INITIALIZER;
static struct variable *variables;

static struct variable *variable_new(const struct session *s, const struct region *piece)
{
	struct variable *v = malloc(sizeof(*v) + piece->bytes);

	if (!v)
		return NULL;
	*v = (struct variable){ variables, s, piece->base, piece->bytes };
	memcpy(v->before, pointer_of(piece->base), piece->bytes);
	variables = v;
	return v;
}

/* False: it is another's. */
static bool variable_take(const struct session *s, const struct region *piece)
{
	struct variable *v;

	if (!s->order || s->backend->kernels == REMOTE_IMAGES)
		return true;
	pthread_mutex_lock(&variables_lock);
	v = variables;
	while (v && v->base != piece->base)
		v = v->next;
	v = v ? v : variable_new(s, piece);
	pthread_mutex_unlock(&variables_lock);
	if (v && v->owner != s)
		complain(EBUSY,
			 "layer remote: a variable of the program belongs to another client: "
			 "without fat binaries, all clients of a shared daemon share variables");
	return v && v->owner == s;
}

void variables_release(struct session *s)
{
	struct variable **link = &variables, *v;

	pthread_mutex_lock(&variables_lock);
	while ((v = *link)) {
		if (v->owner != s) {
			link = &v->next;
			continue;
		}
		memcpy(pointer_of(v->base), v->before, v->bytes);
		*link = v->next;
		free(v);
	}
	pthread_mutex_unlock(&variables_lock);
}

/* ---- kernels and variables ---------------------------------------------------------------- */

/* Asked one after the other until there is none; false: there are too many, or they are too large.
 */
static bool ask_params(struct served_kernel *k)
{
	size_t offset, size;

	while (!cudaFuncGetParamInfo(k->function, k->params, &offset, &size)) {
		if (k->params == REMOTE_PARAMS || offset + size > REMOTE_ARGUMENT_BYTES)
			return false;
		k->param[k->params++] = (struct remote_param){ (uint32_t)offset, (uint32_t)size };
		k->bytes = (uint32_t)(offset + size);
	}
	cudaGetLastError();
	return true;
}

static int enter_kernel(struct session *s, uint64_t number, const void *function,
			struct served_kernel *k)
{
	if (!k)
		return cudaErrorMemoryAllocation;
	k->function = function;
	if (!ask_params(k))
		return cudaErrorNotSupported;
	return table_put(&s->kernels, number, k) ? 0 : cudaErrorInvalidValue;
}

/* Where a kernel or a variable is: an image's library, where there are such; false: no image. */
static bool find_library(const struct session *s, uint64_t where, void **library)
{
	const struct served_image *i = table_get(&s->images, where);

	*library = i ? i->library : NULL;
	return s->backend->kernels != REMOTE_IMAGES || *library;
}

/* The name in the payload; NULL: it does not end. */
static const char *name_in(const struct request *r)
{
	return r->payload_bytes && !r->payload[r->payload_bytes - 1] ? (const char *)r->payload
								     : NULL;
}

int do_kernel(struct session *s, struct request *r)
{
	const void *function = NULL;
	struct served_kernel *k;
	void *library;
	int err;

	if (name_in(r) && find_library(s, r->word[1], &library))
		function = s->backend->kernel(library, r->word[1], name_in(r));
	if (!function)
		return cudaErrorInvalidResourceHandle;
	k = calloc(1, sizeof(*k));
	err = enter_kernel(s, r->word[0], function, k);
	if (err) {
		free(k);
		return err;
	}
	answer_put(r, &k->params, sizeof(k->params));
	answer_put(r, k->param, k->params * sizeof(*k->param));
	return 0;
}

int do_symbol(struct session *s, struct request *r)
{
	struct region piece = { .kind = REGION_SYMBOL };
	const struct region *known;
	void *library;

	if (!name_in(r) || !find_library(s, r->word[0], &library) ||
	    !s->backend->symbol(library, r->word[0], name_in(r), &piece.base, &piece.bytes))
		return cudaErrorInvalidSymbol;
	if (!variable_take(s, &piece))
		return cudaErrorNotSupported;
	known = regions_find(&s->regions, piece.base);
	if (!known && !regions_add(&s->regions, piece))
		return cudaErrorMemoryAllocation;
	answer_put(r, &piece.base, sizeof(piece.base));
	answer_put(r, &piece.bytes, sizeof(piece.bytes));
	return 0;
}
