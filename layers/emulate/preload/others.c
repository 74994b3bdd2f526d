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

/* What is loaded. */
struct loaded {
	bool other, blas;
};

static int look(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *path = info->dlpi_name ? info->dlpi_name : "";
	bool is_blas = !strncmp(name_of(path), cublas, strlen(cublas));
	struct loaded *l = arg;

	(void)size;
	if ((is_blas || is_one_by_name(path)) && !needs_runtime(info))
		*(is_blas ? &l->blas : &l->other) = true;
	return l->other;
}

static int count_loads(struct dl_phdr_info *info, size_t size, void *loads)
{
	(void)size;
	*(unsigned long long *)loads = info->dlpi_adds;
	return 1;
}

static bool blas_seen; /* for good */

void others_blas_is_seen(void)
{
	if (!__atomic_load_n(&blas_seen, __ATOMIC_RELAXED))
		__atomic_store_n(&blas_seen, true, __ATOMIC_RELEASE);
}

bool others_submit(void)
{
	static unsigned long long looked_at = ~0ull; /* how many loads there had been */
	static bool found; /* for good: a library may have left work behind */
	static bool has_blas;
	unsigned long long loads = 0;
	struct loaded there = { false, false };
	bool submit;

	if (__atomic_load_n(&found, __ATOMIC_RELAXED))
		return true;
	dl_iterate_phdr(count_loads, &loads);
	if (loads != __atomic_load_n(&looked_at, __ATOMIC_RELAXED)) {
		dl_iterate_phdr(look, &there);
		__atomic_store_n(&found, there.other, __ATOMIC_RELAXED);
		__atomic_store_n(&has_blas, there.blas, __ATOMIC_RELAXED);
		__atomic_store_n(&looked_at, loads, __ATOMIC_RELAXED);
	}
	submit = __atomic_load_n(&found, __ATOMIC_RELAXED) ||
		 (__atomic_load_n(&has_blas, __ATOMIC_RELAXED) &&
		  !__atomic_load_n(&blas_seen, __ATOMIC_ACQUIRE));
	if (submit != (bool)__atomic_load_n(&shared->others, __ATOMIC_RELAXED))
		__atomic_store_n(&shared->others, submit, __ATOMIC_RELAXED);
	return submit;
}
