/* command.c - see command.h. */
#include "layers/emulate/preload/command.h"

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "layers/emulate/preload/spin.h"
#include "layers/interpose.h"

static void *pointer_of(uint64_t word)
{
	return (void *)(uintptr_t)word;
}

/* ---- kernels --------------------------------------------------------------------------------- */

enum { KERNELS = 4096, /* 2^12 */ PARAMS_MAX = 128 };

/* What the runtime says of a kernel. */
struct kernel {
	struct kernel *next; /* of all that were ever asked for */
	const void *function;
	bool known; /* false: the runtime did not say; such launches never wait */
	int params, threads_max;
	size_t bytes, shared_max; /* of all arguments, each at a multiple of 16; dynamic */
	size_t size[PARAMS_MAX];
};

static struct kernel *kernels[KERNELS], *asked;

static size_t rounded(size_t bytes)
{
	return (bytes + 15) / 16 * 16;
}

static int ask_param(struct kernel *k)
{
	size_t offset;

	return call_next(CALL_cudaFuncGetParamInfo,
			 (uint64_t[WORDS]){ word_of(k->function), (uint64_t)k->params,
					    word_of(&offset), word_of(&k->size[k->params]) });
}

static struct kernel *ask_kernel(const void *function)
{
	struct kernel *k = calloc(1, sizeof(*k));
	struct cudaFuncAttributes attributes = { 0 };
	int err, end = 0;

	if (!k)
		abort();
	k->function = function;
	err = call_next(CALL_cudaFuncGetAttributes,
			(uint64_t[WORDS]){ word_of(&attributes), word_of(function) });
	while (!err && k->params < PARAMS_MAX && !(end = ask_param(k)))
		k->bytes += rounded(k->size[k->params++]);
	call_next(CALL_cudaGetLastError, (uint64_t[WORDS]){ 0 });
	k->threads_max = attributes.maxThreadsPerBlock;
	k->shared_max = (size_t)attributes.maxDynamicSharedSizeBytes;
	/* Beyond the last parameter is an invalid value; a runtime before 12.4 knows none. */
	k->known = !err && end == cudaErrorInvalidValue;
	return k;
}

/* Others may hold one, so none is ever freed. */
static void remember(struct kernel *k)
{
	k->next = __atomic_load_n(&asked, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&asked, &k->next, k, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
}

static struct kernel *find_kernel(const void *function)
{
	size_t begin = (size_t)(word_of(function) * 0x9e3779b97f4a7c15u >> 52);

	for (size_t i = 0; i < KERNELS; i++) {
		struct kernel **place = &kernels[(begin + i) % KERNELS];
		struct kernel *k = __atomic_load_n(place, __ATOMIC_ACQUIRE);

		if (!k) {
			struct kernel *found = ask_kernel(function);

			/* another thread may have taken the place: then this one is used once */
			__atomic_compare_exchange_n(place, &k, found, false, __ATOMIC_RELEASE,
						    __ATOMIC_RELAXED);
			remember(found);
			return found;
		}
		if (k->function == function)
			return k;
	}
	return NULL;
}

/* They are asked for anew. Programs set attributes a few times. */
void command_forget_kernels(void)
{
	for (int i = 0; i < KERNELS; i++)
		__atomic_store_n(&kernels[i], NULL, __ATOMIC_RELEASE);
}

struct shape {
	uint32_t grid[3], block[3];
	size_t shared_bytes;
};

/* dim3 by value is two words: x and y, then z. */
static struct shape shape_of_words(const uint64_t w[WORDS])
{
	return (struct shape){ { (uint32_t)w[1], (uint32_t)(w[1] >> 32), (uint32_t)w[2] },
			       { (uint32_t)w[3], (uint32_t)(w[3] >> 32), (uint32_t)w[4] },
			       w[6] };
}

static struct shape shape_of_configuration(const cudaLaunchConfig_t *c)
{
	return (struct shape){ { c->gridDim.x, c->gridDim.y, c->gridDim.z },
			       { c->blockDim.x, c->blockDim.y, c->blockDim.z },
			       c->dynamicSmemBytes };
}

/* Limits of all GPUs since compute capability 3.0 (CUDA programming guide, technical
 * specifications).
 */
static bool can_be_launched(const struct kernel *k, const struct shape *s)
{
	uint64_t threads = (uint64_t)s->block[0] * s->block[1] * s->block[2];

	return s->grid[0] && s->grid[1] && s->grid[2] && s->grid[0] <= INT32_MAX &&
	       s->grid[1] <= 65535 && s->grid[2] <= 65535 && threads &&
	       threads <= (uint64_t)k->threads_max && s->block[2] <= 64 &&
	       s->shared_bytes <= k->shared_max;
}

static struct command *new_command(struct thread *from, long call, const uint64_t w[WORDS],
				   size_t payload)
{
	struct command *c = calloc(1, sizeof(*c) + payload);

	if (!c)
		abort();
	c->from = from;
	c->call = call;
	c->device = from->device;
	memcpy(c->words, w, sizeof(c->words));
	return c;
}

/* Pointers to copies, then the copies. `at` is a multiple of 16 bytes into the payload. */
static uint64_t copy_arguments(struct command *c, const struct kernel *k, void **arguments,
			       size_t at)
{
	char *to = (char *)c->payload + at;
	void **pointers = (void **)(void *)to;

	to += rounded((size_t)k->params * sizeof(*pointers));
	for (int i = 0; i < k->params; i++) {
		memcpy(to, arguments[i], k->size[i]);
		pointers[i] = to;
		to += rounded(k->size[i]);
	}
	c->bytes = k->bytes;
	c->arguments = (const uint64_t *)(const void *)((char *)c->payload + at);
	c->arguments_end = (const uint64_t *)(const void *)to;
	return word_of(pointers);
}

static size_t arguments_room(const struct kernel *k)
{
	return rounded((size_t)k->params * sizeof(void *)) + k->bytes;
}

static struct command *keep_kernel(struct thread *from, long call, const uint64_t w[WORDS])
{
	const struct kernel *k = w[0] ? find_kernel(pointer_of(w[0])) : NULL;
	struct shape s = shape_of_words(w);
	struct command *c;

	if (!k || !k->known || (!w[5] && k->params) || !can_be_launched(k, &s))
		return NULL;
	c = new_command(from, call, w, arguments_room(k));
	c->words[5] = copy_arguments(c, k, pointer_of(w[5]), 0);
	return c;
}

static struct command *keep_configuration(struct thread *from, long call, const uint64_t w[WORDS])
{
	const cudaLaunchConfig_t *given = pointer_of(w[0]);
	const struct kernel *k = w[1] ? find_kernel(pointer_of(w[1])) : NULL;
	size_t own = rounded(sizeof(*given)), attributes;
	cudaLaunchConfig_t *kept;
	struct command *c;
	struct shape s;

	if (!given || !k || !k->known || (!w[2] && k->params))
		return NULL;
	s = shape_of_configuration(given);
	if (!can_be_launched(k, &s))
		return NULL;
	attributes = rounded(given->numAttrs * sizeof(*given->attrs));
	c = new_command(from, call, w, own + attributes + arguments_room(k));
	kept = memcpy(c->payload, given, sizeof(*given));
	if (given->numAttrs)
		kept->attrs = memcpy((char *)c->payload + own, given->attrs,
				     given->numAttrs * sizeof(*given->attrs));
	c->words[0] = word_of(kept);
	c->words[2] = copy_arguments(c, k, pointer_of(w[2]), own + attributes);
	return c;
}

const void *command_stream(const uint64_t words[WORDS])
{
	const cudaLaunchConfig_t *configuration = pointer_of(words[0]);

	return configuration->stream;
}

size_t command_argument_bytes(enum keep keep, const uint64_t w[WORDS])
{
	const struct kernel *k = NULL;

	if (keep == KEEP_KERNEL || keep == KEEP_CONFIGURATION)
		k = find_kernel(pointer_of(w[keep == KEEP_CONFIGURATION]));
	return k ? k->bytes : 0;
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* What lies there. The GPU reads pinned memory by itself, whenever; pageable memory is read before
 * the call returns. */
static enum cudaMemoryType type_of(uint64_t word)
{
	struct cudaPointerAttributes a = { 0 };
	int err = call_next(CALL_cudaPointerGetAttributes, (uint64_t[WORDS]){ word_of(&a), word });

	if (err)
		call_next(CALL_cudaGetLastError, (uint64_t[WORDS]){ 0 });
	return err ? cudaMemoryTypeUnregistered : a.type;
}

static bool on_host(enum cudaMemoryType type)
{
	return type == cudaMemoryTypeUnregistered || type == cudaMemoryTypeHost;
}

bool command_crosses(const uint64_t w[WORDS])
{
	return on_host(type_of(w[0])) != on_host(type_of(w[1]));
}

bool command_to_host(const uint64_t w[WORDS])
{
	return on_host(type_of(w[0]));
}

/* Do the pointers go with the kind? Managed memory is anywhere. */
static bool fits_kind(uint64_t kind, enum cudaMemoryType to, enum cudaMemoryType from)
{
	switch (kind) {
	case cudaMemcpyHostToHost:
		return to != cudaMemoryTypeDevice && from != cudaMemoryTypeDevice;
	case cudaMemcpyHostToDevice:
		return !on_host(to) && from != cudaMemoryTypeDevice;
	case cudaMemcpyDeviceToHost:
		return to != cudaMemoryTypeDevice && !on_host(from);
	case cudaMemcpyDeviceToDevice:
		return !on_host(to) && !on_host(from);
	}
	return kind == cudaMemcpyDefault;
}

/* The source in word 1 and its size in word 2; of what may change before it is read, a copy. */
static struct command *keep_source(struct thread *from, long call, const uint64_t w[WORDS],
				   bool pageable)
{
	struct command *c = new_command(from, call, w, pageable ? w[2] : 0);

	if (pageable) {
		c->words[1] = word_of(memcpy(c->payload, pointer_of(w[1]), w[2]));
		c->bytes = w[2];
	}
	return c;
}

static struct command *keep_copy(struct thread *from, long call, const uint64_t w[WORDS])
{
	enum cudaMemoryType to = type_of(w[0]), source = type_of(w[1]);
	struct command *c;

	if (!w[0] || !w[1] || !w[2] || !fits_kind(w[3], to, source) ||
	    to == cudaMemoryTypeUnregistered)
		return NULL;
	c = keep_source(from, call, w, source == cudaMemoryTypeUnregistered);
	c->in_blocks = emulate_sends_blocks(&shared->costs) && on_host(to) != on_host(source);
	return c;
}

static struct command *keep_to_symbol(struct thread *from, long call, const uint64_t w[WORDS])
{
	if (!w[0] || !w[1] || !w[2] || w[4] != cudaMemcpyHostToDevice)
		return NULL;
	return keep_source(from, call, w, type_of(w[1]) == cudaMemoryTypeUnregistered);
}

struct command *command_keep(enum keep keep, struct thread *from, long call,
			     const uint64_t w[WORDS])
{
	switch (keep) {
	case KEEP_KERNEL:
		return keep_kernel(from, call, w);
	case KEEP_CONFIGURATION:
		return keep_configuration(from, call, w);
	case KEEP_COPY:
		return keep_copy(from, call, w);
	case KEEP_TO_SYMBOL:
		return keep_to_symbol(from, call, w);
	case KEEP_WORDS:
		break;
	}
	return new_command(from, call, w, 0);
}

/* ---- memory's first use ------------------------------------------------------------------------
 */

static struct untouched {
	struct untouched *next;
	uint64_t memory;
	size_t bytes;
	uint64_t ready; /* ticks: its page tables are written */
} * untouched;

static uint64_t all_ready; /* ticks: of every allocation; under the lock */

static pthread_mutex_t untouched_lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t later_of(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) > 0 ? a : b;
}

void memory_untouched(const void *memory, size_t bytes)
{
	struct untouched *u = malloc(sizeof(*u));

	if (!u)
		abort();
	pthread_mutex_lock(&untouched_lock);
	all_ready = later_of(all_ready, ticks_now()) + (uint64_t)ticks_of(shared->costs.alloc_ns);
	*u = (struct untouched){ untouched, word_of(memory), bytes, all_ready };
	__atomic_store_n(&untouched, u, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&untouched_lock);
}

void memory_released(const void *memory)
{
	pthread_mutex_lock(&untouched_lock);
	for (struct untouched **u = &untouched; *u; u = &(*u)->next) {
		struct untouched *gone = *u;

		if (gone->memory != word_of(memory))
			continue;
		*u = gone->next;
		free(gone);
		break;
	}
	pthread_mutex_unlock(&untouched_lock);
}

/* Does a word of the command, or of its arguments, point there? */
static bool points_into(const struct command *c, const struct untouched *u)
{
	for (int i = 0; i < WORDS; i++)
		if (c->words[i] - u->memory < u->bytes)
			return true;
	for (const uint64_t *word = c->arguments; word < c->arguments_end; word++)
		if (*word - u->memory < u->bytes)
			return true;
	return false;
}

bool memory_is_untouched(void)
{
	return __atomic_load_n(&untouched, __ATOMIC_ACQUIRE) != NULL;
}

uint64_t memory_ready(const struct command *c, bool uses_all)
{
	uint64_t ready = 0;

	if (!memory_is_untouched())
		return 0;
	pthread_mutex_lock(&untouched_lock);
	for (struct untouched **u = &untouched; *u;) {
		struct untouched *used = *u;

		if (uses_all || points_into(c, used)) {
			ready = ready ? later_of(ready, used->ready) : used->ready;
			*u = used->next;
			free(used);
		} else {
			u = &used->next;
		}
	}
	pthread_mutex_unlock(&untouched_lock);
	return ready;
}
