/*
 * blas.c - cuBLAS and cuBLASLt: NVIDIA's launch past the runtime, so their functions are commands
 * of their own here.
 *
 * The two products that programs call most (cublasGemmEx, cublasLtMatmul) are kept in packets, with
 * copies of their factors, like a launch. What they read when they are made, a handle or a
 * descriptor, must not change before: each other function of the libraries is called when nothing
 * waits. Those that compute are charged as one command.
 *
 * Names and values are those of cublas_v2.h and cublasLt.h; pointers to what is opaque are void.
 */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "layers/emulate/preload/blas.h"
#include "layers/emulate/preload/calls.h"
#include "layers/emulate/preload/command.h"
#include "layers/emulate/preload/others.h"
#include "layers/emulate/preload/packet.h"
#include "layers/emulate/preload/spin.h"
#include "layers/interpose.h"

#define HIDDEN __attribute__((visibility("hidden")))
#define SHOWN __attribute__((visibility("default")))

enum { NOT_SUPPORTED = 15 }; /* CUBLAS_STATUS_NOT_SUPPORTED */

static const char *const names[] = {
#define BLAS_CALL(function) #function,
#include "layers/blas_calls.h"
#undef BLAS_CALL
};

/* ---- the next library's functions ---------------------------------------------------------------
 */

static int missing(void)
{
	return NOT_SUPPORTED;
}

enum { LIBRARIES_MAX = 8 };

struct libraries {
	char path[LIBRARIES_MAX][PATH_MAX];
	int n;
};

/* The loader's lock is held: nothing is opened here. */
static int note_library(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	struct libraries *all = arg;

	(void)size;
	if (slash && !strncmp(slash + 1, "libcublas", strlen("libcublas")) &&
	    strlen(info->dlpi_name) < PATH_MAX && all->n < LIBRARIES_MAX)
		strcpy(all->path[all->n++], info->dlpi_name);
	return 0;
}

/* In one that was loaded for some library alone, and so is not in the loader's order. */
static void *look_in_libraries(const char *name)
{
	struct libraries *all = calloc(1, sizeof(*all));
	void *found = NULL;

	if (!all)
		abort();
	dl_iterate_phdr(note_library, all);
	for (int i = 0; i < all->n && !found; i++) {
		void *library = dlopen(all->path[i], RTLD_LAZY | RTLD_NOLOAD);

		if (library && interpose_libc_dlsym())
			found = interpose_libc_dlsym()(library, name);
	}
	free(all);
	return found;
}

static void *look_up(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);
	int (*none)(void) = missing;

	if (!found)
		found = look_in_libraries(name);
	if (!found)
		memcpy(&found, &none, sizeof(found));
	return found;
}

static void *next[BLAS_CALLS];

static void *next_blas(enum blas_call call)
{
	void *found = __atomic_load_n(&next[call], __ATOMIC_ACQUIRE);

	if (!found) {
		found = look_up(names[call]);
		__atomic_store_n(&next[call], found, __ATOMIC_RELEASE);
	}
	return found;
}

/* ---- functions that are called when nothing waits ----------------------------------------------
 */

/* Words of functions that ask, set and make: they are no commands. */
static bool computes(const char *name)
{
	static const char *const asks[] = {
		"Create",     "Destroy", "Set",	      "Get",	"Init",	     "Version",
		"Logger",     "Alloc",	 "Free",      "Status", "Heuristic", "Shutdown",
		"Preference", "Layout",	 "Desc",      "Algo",	"Query",     "Property",
		"Disable",    "Xerbla",	 "MaxBoards", "Select", "Clear",
	};

	for (size_t i = 0; i < sizeof(asks) / sizeof(*asks); i++)
		if (strstr(name, asks[i]))
			return false;
	return true;
}

static double command_ns(void)
{
	const struct emulate_costs *c = &shared->costs;

	return c->call_ns + (c->where == SUBMIT_CALLER ? c->submit_ns : 0);
}

/* Whether it was: not in a capture. words: memory that the command uses, NULL: any. */
static bool spend_command(struct thread *by, const uint64_t *words)
{
	if (calls_captured())
		return false;
	calls_wait_for_memory(by, words);
	spend(command_ns(), ticks_now(), &by->account);
	return true;
}

/* All that was given before is issued. */
static void make_way(struct thread *by, bool is_command)
{
	packet_drain(by);
	if (is_command && spend_command(by, NULL))
		__atomic_fetch_add(&shared->calls[KIND_KERNEL], 1, __ATOMIC_RELAXED);
}

void *emulate_blas_next(long call, const void *caller)
{
	struct thread *t = thread_self();
	void *found;

	if (t->inside || others_is_blas(caller))
		return next_blas((enum blas_call)call);
	t->inside = true;
	others_blas_is_seen();
	t->account.own = 0;
	make_way(t, computes(names[call]));
	found = next_blas((enum blas_call)call);
	t->inside = false;
	return found;
}

/* ---- what is known of handles and descriptors ---------------------------------------------------
 */

/* Of one that is not here nothing is known: its products do not wait. */
struct known {
	struct known *next;
	const void *what;
	const void *stream; /* of a handle */
};

static struct known *all_known;
static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;

/* Under the lock. */
static struct known **place_of(const void *what)
{
	struct known **k = &all_known;

	while (*k && (*k)->what != what)
		k = &(*k)->next;
	return k;
}

static void forget(const void *what)
{
	struct known **k, *gone;

	pthread_mutex_lock(&known_lock);
	k = place_of(what);
	gone = *k;
	if (gone)
		*k = gone->next;
	pthread_mutex_unlock(&known_lock);
	free(gone);
}

static void learn(const void *what, const void *stream)
{
	struct known *k = calloc(1, sizeof(*k));

	if (!k)
		abort();
	forget(what);
	pthread_mutex_lock(&known_lock);
	*k = (struct known){ all_known, what, stream };
	all_known = k;
	pthread_mutex_unlock(&known_lock);
}

static bool is_known(const void *what, const void **stream)
{
	const struct known *k;

	pthread_mutex_lock(&known_lock);
	k = *place_of(what);
	if (k && stream)
		*stream = k->stream;
	pthread_mutex_unlock(&known_lock);
	return k != NULL;
}

/* Calls what changes a handle or a descriptor, when nothing waits. */
#define CALL_NEXT(call, type, ...)                                                                 \
	({                                                                                         \
		void *found_ = emulate_blas_next(call, __builtin_return_address(0));               \
		int(*function_) type;                                                              \
		memcpy(&function_, &found_, sizeof(function_));                                    \
		function_(__VA_ARGS__);                                                            \
	})

SHOWN int cublasCreate_v2(void **handle)
{
	int status = CALL_NEXT(BLAS_cublasCreate_v2, (void **), handle);

	if (!status)
		learn(*handle, NULL);
	return status;
}

SHOWN int cublasDestroy_v2(void *handle)
{
	forget(handle);
	return CALL_NEXT(BLAS_cublasDestroy_v2, (void *), handle);
}

SHOWN int cublasSetStream_v2(void *handle, void *stream)
{
	int status = CALL_NEXT(BLAS_cublasSetStream_v2, (void *, void *), handle, stream);

	if (!status && is_known(handle, NULL))
		learn(handle, stream);
	return status;
}

/* Factors on the device are read there, when the product runs. */
SHOWN int cublasSetPointerMode_v2(void *handle, int mode)
{
	int status = CALL_NEXT(BLAS_cublasSetPointerMode_v2, (void *, int), handle, mode);

	if (mode)
		forget(handle);
	return status;
}

enum { REAL_32F = 0 }; /* CUDA_R_32F */

SHOWN int cublasLtMatmulDescCreate(void **desc, int compute, int scale)
{
	int status =
		CALL_NEXT(BLAS_cublasLtMatmulDescCreate, (void **, int, int), desc, compute, scale);

	if (!status && scale == REAL_32F)
		learn(*desc, NULL);
	return status;
}

SHOWN int cublasLtMatmulDescDestroy(void *desc)
{
	forget(desc);
	return CALL_NEXT(BLAS_cublasLtMatmulDescDestroy, (void *), desc);
}

/* Of how factors are given: the compute type, their type, and where they are. */
SHOWN int cublasLtMatmulDescSetAttribute(void *desc, int attribute, const void *value, size_t bytes)
{
	enum { POINTER_MODE = 2 };

	if (attribute <= POINTER_MODE)
		forget(desc);
	return CALL_NEXT(BLAS_cublasLtMatmulDescSetAttribute, (void *, int, const void *, size_t),
			 desc, attribute, value, bytes);
}

SHOWN int cublasLtMatrixLayoutCreate(void **layout, int type, uint64_t rows, uint64_t columns,
				     int64_t leading)
{
	int status = CALL_NEXT(BLAS_cublasLtMatrixLayoutCreate,
			       (void **, int, uint64_t, uint64_t, int64_t), layout, type, rows,
			       columns, leading);

	if (!status)
		learn(*layout, NULL);
	return status;
}

SHOWN int cublasLtMatrixLayoutDestroy(void *layout)
{
	forget(layout);
	return CALL_NEXT(BLAS_cublasLtMatrixLayoutDestroy, (void *), layout);
}

/* ---- products ----------------------------------------------------------------------------------
 */

/* Copies of the two factors, where a product waits. */
struct factors {
	const void *alpha, *beta;
	float kept[2];
};

static void keep_factors(struct factors *f)
{
	memcpy(&f->kept[0], f->alpha, sizeof(float));
	memcpy(&f->kept[1], f->beta, sizeof(float));
	f->alpha = f->beta = NULL;
}

static const void *alpha_of(const struct factors *f)
{
	return f->alpha ? f->alpha : &f->kept[0];
}

static const void *beta_of(const struct factors *f)
{
	return f->beta ? f->beta : &f->kept[1];
}

/* What a product is besides its arguments. */
struct product {
	const void *stream;
	bool may_wait;
	uint64_t words[WORDS]; /* memory that it uses */
};

static int make_now(struct thread *t, const struct product *p, int (*make)(const void *),
		    const void *arguments)
{
	packet_drain(t);
	spend_command(t, p->words);
	return make(arguments);
}

static void keep(struct thread *t, const struct product *p, int (*make)(const void *),
		 const void *arguments, size_t bytes, uint64_t start)
{
	const struct emulate_costs *costs = &shared->costs;
	struct command *c = calloc(1, sizeof(*c) + bytes);

	if (!c)
		abort();
	c->from = t;
	c->device = t->device;
	c->stream = p->stream;
	c->bytes = bytes;
	c->make = make;
	memcpy(c->words, p->words, sizeof(c->words));
	memcpy(c->payload, arguments, bytes);
	c->ready = memory_ready(c, false);
	spend(costs->call_ns + costs->ns_per_byte * (double)bytes, start, &t->account);
	packet_add(c);
}

/* The status; 0 where the product waits. `factors` are within the arguments. */
static int submit(const struct product *p, int (*make)(const void *), const void *arguments,
		  size_t bytes, struct factors *factors, const void *caller)
{
	struct thread *t = thread_self();
	uint64_t start = ticks_now();
	int status = 0;

	if (t->inside || others_is_blas(caller))
		return make(arguments);
	t->inside = true;
	t->account.own = 0;
	others_blas_is_seen();
	__atomic_fetch_add(&shared->calls[KIND_KERNEL], 1, __ATOMIC_RELAXED);
	if (p->may_wait && factors->alpha && factors->beta && packets_in_use() &&
	    !calls_captured() && !calls_own_stream(p->stream)) {
		keep_factors(factors);
		keep(t, p, make, arguments, bytes, start);
	} else {
		status = make_now(t, p, make, arguments);
	}
	t->inside = false;
	return status;
}

struct gemm {
	void *handle;
	int trans_a, trans_b, m, n, k;
	const void *a, *b;
	void *c;
	int type_a, lda, type_b, ldb, type_c, ldc, compute, algo;
	struct factors factors;
};

typedef int gemm_fn(void *, int, int, int, int, int, const void *, const void *, int, int,
		    const void *, int, int, const void *, void *, int, int, int, int);

static int make_gemm(const void *arguments)
{
	const struct gemm *g = arguments;
	void *found = next_blas(BLAS_cublasGemmEx);
	gemm_fn *function;

	memcpy(&function, &found, sizeof(function));
	return function(g->handle, g->trans_a, g->trans_b, g->m, g->n, g->k, alpha_of(&g->factors),
			g->a, g->type_a, g->lda, g->b, g->type_b, g->ldb, beta_of(&g->factors),
			g->c, g->type_c, g->ldc, g->compute, g->algo);
}

/* CUBLAS_COMPUTE_32F and its fast kin, with real numbers: factors are of 4 bytes. */
static bool has_float_factors(const struct gemm *g)
{
	bool is_32f =
		g->compute == 68 || g->compute == 69 || (74 <= g->compute && g->compute <= 77);
	bool is_real = g->type_a == REAL_32F || g->type_a == 2 || g->type_a == 14;

	return is_32f && is_real; /* CUDA_R_16F, CUDA_R_16BF */
}

SHOWN int cublasGemmEx(void *handle, int trans_a, int trans_b, int m, int n, int k,
		       const void *alpha, const void *a, int type_a, int lda, const void *b,
		       int type_b, int ldb, const void *beta, void *c, int type_c, int ldc,
		       int compute, int algo)
{
	struct gemm g = { handle, trans_a, trans_b, m,	     n,	   k,
			  a,	  b,	   c,	    type_a,  lda,  type_b,
			  ldb,	  type_c,  ldc,	    compute, algo, { alpha, beta, { 0 } } };
	struct product p = { .words = { word_of(a), word_of(b), word_of(c) } };

	next_blas(BLAS_cublasGemmEx); /* now: whoever submits it must not look it up */
	p.may_wait = is_known(handle, &p.stream) && has_float_factors(&g) && a && b && c;
	return submit(&p, make_gemm, &g, sizeof(g), &g.factors, __builtin_return_address(0));
}

enum { ALGO_BYTES = 64 };

struct matmul {
	void *handle, *desc;
	const void *a, *layout_a, *b, *layout_b, *c, *layout_c;
	void *d;
	const void *layout_d;
	bool has_algo;
	char algo[ALGO_BYTES];
	void *workspace;
	size_t workspace_bytes;
	void *stream;
	struct factors factors;
};

typedef int matmul_fn(void *, void *, const void *, const void *, const void *, const void *,
		      const void *, const void *, const void *, const void *, void *, const void *,
		      const void *, void *, size_t, void *);

static int make_matmul(const void *arguments)
{
	const struct matmul *m = arguments;
	void *found = next_blas(BLAS_cublasLtMatmul);
	matmul_fn *function;

	memcpy(&function, &found, sizeof(function));
	return function(m->handle, m->desc, alpha_of(&m->factors), m->a, m->layout_a, m->b,
			m->layout_b, beta_of(&m->factors), m->c, m->layout_c, m->d, m->layout_d,
			m->has_algo ? m->algo : NULL, m->workspace, m->workspace_bytes, m->stream);
}

/* One that the caller made in memory of its own may be gone when the product is made. */
static bool lives(const void *layout)
{
	return !layout || is_known(layout, NULL);
}

SHOWN int cublasLtMatmul(void *handle, void *desc, const void *alpha, const void *a,
			 const void *layout_a, const void *b, const void *layout_b,
			 const void *beta, const void *c, const void *layout_c, void *d,
			 const void *layout_d, const void *algo, void *workspace,
			 size_t workspace_bytes, void *stream)
{
	struct matmul m = { handle,    desc,
			    a,	       layout_a,
			    b,	       layout_b,
			    c,	       layout_c,
			    d,	       layout_d,
			    algo,      { 0 },
			    workspace, workspace_bytes,
			    stream,    { alpha, beta, { 0 } } };
	struct product p = { stream,
			     is_known(desc, NULL) && lives(layout_a) && lives(layout_b) &&
				     lives(layout_c) && lives(layout_d) && a && b && d,
			     { word_of(a), word_of(b), word_of(c), word_of(d),
			       word_of(workspace) } };

	next_blas(BLAS_cublasLtMatmul);
	if (algo)
		memcpy(m.algo, algo, ALGO_BYTES);
	return submit(&p, make_matmul, &m, sizeof(m), &m.factors, __builtin_return_address(0));
}
