/* static_runtime.c - see static_runtime.h. */
#include "harness/layer/static_runtime.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/check.h"
#include "harness/base/text.h"
#include "layers/layer.h"

/* ---- the file ------------------------------------------------------------------------------ */

/* As execvp() looks: a name without a slash in each folder of PATH. */
static bool find_file(const char *command, char out[PATH_MAX])
{
	const char *folders = getenv("PATH");
	char *copy, *rest, *folder;
	bool found = false;

	snprintf(out, PATH_MAX, "%s", command);
	if (strchr(command, '/') || !folders)
		return true;
	copy = rest = strdup(folders);
	CHECK(copy, "%zu bytes", strlen(folders));
	while (!found && (folder = strsep(&rest, ":"))) {
		snprintf(out, PATH_MAX, "%s/%s", *folder ? folder : ".", command);
		found = !access(out, X_OK);
	}
	free(copy);
	return found;
}

struct file {
	const char *bytes;
	size_t n;
};

static bool map_file(const char *path, struct file *f)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat s;

	f->bytes = MAP_FAILED;
	if (fd >= 0 && !fstat(fd, &s) && S_ISREG(s.st_mode) && s.st_size > 0) {
		f->n = (size_t)s.st_size;
		f->bytes = mmap(NULL, f->n, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	if (fd >= 0)
		close(fd);
	return f->bytes != MAP_FAILED;
}

/* ---- what it holds: whatever is damaged holds nothing --------------------------------------- */

/* n bytes at this offset, or NULL: they are not all there. */
static const void *at(const struct file *f, size_t offset, size_t n)
{
	return offset <= f->n && n <= f->n - offset ? f->bytes + offset : NULL;
}

static const char *text_at(const struct file *f, size_t offset)
{
	return offset < f->n && memchr(f->bytes + offset, '\0', f->n - offset) ? f->bytes + offset
									       : "";
}

static const Elf64_Shdr *section(const struct file *f, const Elf64_Ehdr *head, size_t i)
{
	return at(f, head->e_shoff + i * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr));
}

/* The section that nvcc leaves device code in. */
static bool has_device_code(const struct file *f, const Elf64_Ehdr *head)
{
	const Elf64_Shdr *names = section(f, head, head->e_shstrndx);

	for (size_t i = 0; names && i < head->e_shnum; i++) {
		const Elf64_Shdr *s = section(f, head, i);

		if (s && !strcmp(text_at(f, names->sh_offset + s->sh_name), ".nv_fatbin"))
			return true;
	}
	return false;
}

static bool needs_in(const struct file *f, const Elf64_Ehdr *head, const Elf64_Shdr *dynamic,
		     const char *library)
{
	const Elf64_Shdr *names = section(f, head, dynamic->sh_link);
	size_t n = dynamic->sh_size / sizeof(Elf64_Dyn);
	const Elf64_Dyn *d = at(f, dynamic->sh_offset, n * sizeof(*d));

	for (size_t i = 0; names && d && i < n; i++)
		if (d[i].d_tag == DT_NEEDED &&
		    !strncmp(text_at(f, names->sh_offset + d[i].d_un.d_val), library,
			     strlen(library)))
			return true;
	return false;
}

static bool needs(const struct file *f, const Elf64_Ehdr *head, const char *library)
{
	for (size_t i = 0; i < head->e_shnum; i++) {
		const Elf64_Shdr *s = section(f, head, i);

		if (s && s->sh_type == SHT_DYNAMIC && needs_in(f, head, s, library))
			return true;
	}
	return false;
}

static bool has_loader(const struct file *f, const Elf64_Ehdr *head)
{
	for (size_t i = 0; i < head->e_phnum; i++) {
		const Elf64_Phdr *p = at(f, head->e_phoff + i * sizeof(*p), sizeof(*p));

		if (p && p->p_type == PT_INTERP)
			return true;
	}
	return false;
}

static enum runtime_link link_of_file(const struct file *f)
{
	const Elf64_Ehdr *head = at(f, 0, sizeof(*head));

	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) ||
	    head->e_ident[EI_CLASS] != ELFCLASS64)
		return RUNTIME_UNKNOWN;
	if (!has_loader(f, head))
		return RUNTIME_NO_LOADER;
	if (needs(f, head, "libcudart.so"))
		return RUNTIME_SHARED;
	return has_device_code(f, head) ? RUNTIME_STATIC : RUNTIME_UNKNOWN;
}

enum runtime_link runtime_link_of(const char *command)
{
	enum runtime_link found = RUNTIME_UNKNOWN;
	char path[PATH_MAX];
	struct file f;

	if (!find_file(command, path) || !map_file(path, &f))
		return found;
	found = link_of_file(&f);
	munmap((void *)(uintptr_t)f.bytes, f.n);
	return found;
}

/* ---- refused ------------------------------------------------------------------------------- */

/* "cpu, none": layers that do not look at calls of the runtime. */
static void list_others(char *out, size_t size)
{
	size_t used = 0;

	for (const struct layer *const *l = layers; *l; l++)
		if (!(*l)->wraps_runtime && used < size)
			used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "",
						 (*l)->name);
}

/* Behind `rift layer OTHER ... --` stands what it is about. */
static const char *inner_command(char *const *command)
{
	const char *name = strrchr(command[0], '/');

	if (strcmp(name ? name + 1 : command[0], "rift") || !command[1] ||
	    strcmp(command[1], "layer"))
		return command[0];
	while (*command && strcmp(*command, "--"))
		command++;
	return *command && command[1] ? inner_command(command + 1) : "";
}

int static_runtime_refuse(const char *layer, char *const *command)
{
	const char *file = inner_command(command);
	enum runtime_link found = *file ? runtime_link_of(file) : RUNTIME_UNKNOWN;
	char others[256];

	if (found != RUNTIME_STATIC && found != RUNTIME_NO_LOADER)
		return 0;
	list_others(others, sizeof(others));
	return complain(EINVAL,
			"layer %s: %s %s, so %s would see no call: link it with `nvcc -cudart "
			"shared`, or take one of %s",
			layer, text_shown(file).s,
			found == RUNTIME_STATIC ? "has a CUDA runtime of its own in it"
						: "is linked statically as a whole",
			layer, others);
}
