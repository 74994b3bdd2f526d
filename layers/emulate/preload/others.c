/* others.c - see others.h. */
#include "layers/emulate/preload/others.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

#include "layers/emulate/preload/spin.h"

/* Beginnings of file names. */
static const char *const libraries[] = {
	"libcudnn",    "libcufft", "libcusparse", "libcusolver", "libcurand",
	"libcutensor", "libnccl",  "libnvinfer",  "libnpp",	 "libnvshmem",
};

static const char cublas[] = "libcublas";

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_one_by_name(const char *path)
{
	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++)
		if (!strncmp(name_of(path), libraries[i], strlen(libraries[i])))
			return true;
	return false;
}

static const ElfW(Dyn) * dynamic_of(const struct dl_phdr_info *info)
{
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			return (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	return NULL;
}

/* One that needs libcudart calls it, and is seen. */
static bool needs_runtime(const struct dl_phdr_info *info)
{
	const ElfW(Dyn) *first = dynamic_of(info), *d;
	const char *strings = NULL;

	for (d = first; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_STRTAB)
			strings = (const char *)d->d_un.d_ptr;
	for (d = first; d && strings && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_NEEDED &&
		    !strncmp(strings + d->d_un.d_val, "libcudart", strlen("libcudart")))
			return true;
	return false;
}

/* ---- where cuBLAS is --------------------------------------------------------------------------
 */

enum { RANGES_MAX = 16 };

/* Of libcublas and libcublasLt, as they were loaded. Only added to. */
static struct range {
	uintptr_t from, to;
} ranges[RANGES_MAX];
static int n_ranges;

static struct range range_of(const struct dl_phdr_info *info)
{
	struct range r = { UINTPTR_MAX, 0 };

	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		uintptr_t to = from + info->dlpi_phdr[i].p_memsz;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		r.from = from < r.from ? from : r.from;
		r.to = to > r.to ? to : r.to;
	}
	return r;
}

/* The loader's lock is held, so one thread at a time. */
static void add_range(const struct dl_phdr_info *info)
{
	struct range r = range_of(info);

	for (int i = 0; i < n_ranges; i++)
		if (ranges[i].from == r.from)
			return;
	if (n_ranges == RANGES_MAX)
		return;
	ranges[n_ranges] = r;
	__atomic_store_n(&n_ranges, n_ranges + 1, __ATOMIC_RELEASE);
}

/* ---- what is loaded -----------------------------------------------------------------------------
 */

static bool other_is_there; /* for good: a library may have left work behind */
static bool blas_is_there;
static bool blas_is_seen; /* for good */

static int look(struct dl_phdr_info *info, size_t size, void *unused)
{
	const char *path = info->dlpi_name ? info->dlpi_name : "";
	bool is_blas = !strncmp(name_of(path), cublas, strlen(cublas));

	(void)size, (void)unused;
	if (is_blas)
		add_range(info);
	if ((is_blas || is_one_by_name(path)) && !needs_runtime(info))
		__atomic_store_n(is_blas ? &blas_is_there : &other_is_there, true,
				 __ATOMIC_RELAXED);
	return 0;
}

static int count_loads(struct dl_phdr_info *info, size_t size, void *loads)
{
	(void)size;
	*(unsigned long long *)loads = info->dlpi_adds;
	return 1;
}

/* Only where something was loaded since. */
static void look_again(void)
{
	static unsigned long long looked_at = ~0ull; /* how many loads there had been */
	unsigned long long loads = 0;

	dl_iterate_phdr(count_loads, &loads);
	if (loads == __atomic_load_n(&looked_at, __ATOMIC_RELAXED))
		return;
	dl_iterate_phdr(look, NULL);
	__atomic_store_n(&looked_at, loads, __ATOMIC_RELAXED);
}

void others_blas_is_seen(void)
{
	if (!__atomic_load_n(&blas_is_seen, __ATOMIC_RELAXED))
		__atomic_store_n(&blas_is_seen, true, __ATOMIC_RELEASE);
}

bool others_is_blas(const void *address)
{
	uintptr_t at = (uintptr_t)address;

	look_again();
	for (int i = 0; i < __atomic_load_n(&n_ranges, __ATOMIC_ACQUIRE); i++)
		if (at - ranges[i].from < ranges[i].to - ranges[i].from)
			return true;
	return false;
}

/* How many processes have such a library is one number for all of them. */
static void tell(bool submit)
{
	static bool told;

	if (__atomic_load_n(&told, __ATOMIC_RELAXED) != submit &&
	    __atomic_exchange_n(&told, submit, __ATOMIC_RELAXED) != submit)
		__atomic_fetch_add(&shared->others, submit ? 1 : -1, __ATOMIC_RELAXED);
}

bool others_submit(void)
{
	bool submit = __atomic_load_n(&other_is_there, __ATOMIC_RELAXED);

	if (!submit) {
		look_again();
		submit = __atomic_load_n(&other_is_there, __ATOMIC_RELAXED) ||
			 (__atomic_load_n(&blas_is_there, __ATOMIC_RELAXED) &&
			  !__atomic_load_n(&blas_is_seen, __ATOMIC_ACQUIRE));
	}
	tell(submit);
	return submit;
}
