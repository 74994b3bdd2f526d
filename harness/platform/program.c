/* program.c - see program.h. */
#include "harness/platform/program.h"

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
#include <sys/xattr.h>
#include <unistd.h>

#include "common/check.h"
#include "harness/base/text.h"
#include "layers/layer.h"

/* ---- which file it is --------------------------------------------------------------------- */

static int is_runnable(const char *path)
{
	struct stat s;

	if (stat(path, &s))
		return errno == EACCES ? -EACCES : -ENOENT;
	return S_ISREG(s.st_mode) && !access(path, X_OK) ? 0 : -EACCES;
}

/* PATH, or what stands for it where there is none. To be freed. */
static char *folders(void)
{
	const char *path = getenv("PATH");
	size_t n = confstr(_CS_PATH, NULL, 0);
	char *copy = path ? strdup(path) : calloc(1, n + 1);

	CHECK(copy, "memory of PATH");
	if (!path)
		confstr(_CS_PATH, copy, n);
	return copy;
}

int find_command(const char *command, char out[PATH_MAX])
{
	char *copy, *rest, *folder;
	int err = -ENOENT;

	if (strchr(command, '/') || !*command) {
		snprintf(out, PATH_MAX, "%s", command);
		return is_runnable(out);
	}
	copy = rest = folders();
	while (err && (folder = strsep(&rest, ":"))) {
		int here;

		snprintf(out, PATH_MAX, "%s/%s", *folder ? folder : ".", command);
		here = is_runnable(out);
		err = here == -ENOENT ? err : here;
	}
	free(copy);
	return err;
}

/* ---- its bytes ----------------------------------------------------------------------------- */

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

/* Copies n bytes at this offset, which may be odd. False: they are not all there. */
static bool copy_at(const struct file *f, size_t offset, void *out, size_t n)
{
	if (offset > f->n || n > f->n - offset)
		return false;
	memcpy(out, f->bytes + offset, n);
	return true;
}

static const char *text_at(const struct file *f, size_t offset)
{
	return offset < f->n && memchr(f->bytes + offset, '\0', f->n - offset) ? f->bytes + offset
									       : "";
}

static bool section(const struct file *f, const Elf64_Ehdr *head, size_t i, Elf64_Shdr *out)
{
	return copy_at(f, head->e_shoff + i * sizeof(*out), out, sizeof(*out));
}

/* The section that nvcc leaves device code in. */
static bool has_device_code(const struct file *f, const Elf64_Ehdr *head)
{
	Elf64_Shdr names, s;
	bool found = false;

	if (!section(f, head, head->e_shstrndx, &names))
		return false;
	for (size_t i = 0; !found && i < head->e_shnum && section(f, head, i, &s); i++)
		found = !strcmp(text_at(f, names.sh_offset + s.sh_name), ".nv_fatbin");
	return found;
}

static bool needs_in(const struct file *f, const Elf64_Ehdr *head, const Elf64_Shdr *dynamic,
		     const char *library)
{
	Elf64_Shdr names;
	Elf64_Dyn d;
	size_t n = dynamic->sh_size / sizeof(d);
	bool found = false;

	if (!section(f, head, dynamic->sh_link, &names))
		return false;
	for (size_t i = 0; !found && i < n; i++) {
		if (!copy_at(f, dynamic->sh_offset + i * sizeof(d), &d, sizeof(d)))
			return false;
		found = d.d_tag == DT_NEEDED && !strncmp(text_at(f, names.sh_offset + d.d_un.d_val),
							 library, strlen(library));
	}
	return found;
}

static bool needs(const struct file *f, const Elf64_Ehdr *head, const char *library)
{
	Elf64_Shdr s;

	for (size_t i = 0; i < head->e_shnum && section(f, head, i, &s); i++)
		if (s.sh_type == SHT_DYNAMIC && needs_in(f, head, &s, library))
			return true;
	return false;
}

static bool has_loader(const struct file *f, const Elf64_Ehdr *head)
{
	Elf64_Phdr p;

	for (size_t i = 0; i < head->e_phnum; i++)
		if (copy_at(f, head->e_phoff + i * sizeof(p), &p, sizeof(p)) &&
		    p.p_type == PT_INTERP)
			return true;
	return false;
}

static enum runtime_link link_of_file(const struct file *f)
{
	Elf64_Ehdr head;

	if (!copy_at(f, 0, &head, sizeof(head)) || memcmp(head.e_ident, ELFMAG, SELFMAG) ||
	    head.e_ident[EI_CLASS] != ELFCLASS64)
		return RUNTIME_UNKNOWN;
	if (!has_loader(f, &head))
		return RUNTIME_NO_LOADER;
	if (needs(f, &head, "libcudart.so"))
		return RUNTIME_SHARED;
	return has_device_code(f, &head) ? RUNTIME_STATIC : RUNTIME_UNKNOWN;
}

enum runtime_link runtime_link_of(const char *command)
{
	enum runtime_link found = RUNTIME_UNKNOWN;
	char path[PATH_MAX];
	struct file f;

	if (find_command(command, path) || !map_file(path, &f))
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

/* `env`, its options and variables skipped: its command. *cleared: it takes all variables away. */
static char *const *behind_env(char *const *word, bool *cleared)
{
	for (word++; *word && (**word == '-' || strchr(*word, '=')); word++) {
		const char *w = *word;
		bool is_short = w[0] == '-' && w[1] != '-';

		*cleared |= !strcmp(w, "-") || !strncmp(w, "--ignore", 8) ||
			    (is_short && strcspn(w, "i") < strcspn(w, "uCS"));
		*cleared &= strncmp(w, "LD_PRELOAD=", 11) != 0;
		if ((!strcmp(w, "-u") || !strcmp(w, "-C")) && word[1])
			word++;
	}
	return word;
}

static bool is_named(const char *command, const char *name)
{
	const char *slash = strrchr(command, '/');

	return !strcmp(slash ? slash + 1 : command, name);
}

/* What it is about stands behind `rift layer OTHER ... --` and `env A=1`; NULL at its end: nothing.
 */
static char *const *inner_command(char *const *command, bool *cleared)
{
	if (*command && is_named(*command, "env"))
		return inner_command(behind_env(command, cleared), cleared);
	if (!*command || !is_named(*command, "rift") || !command[1] || strcmp(command[1], "layer"))
		return command;
	while (*command && strcmp(*command, "--"))
		command++;
	return inner_command(command + (*command != NULL), cleared);
}

/* The loader then heeds no LD_PRELOAD with a path: another's rights are not for who starts it. */
static bool gains_rights(const char *command)
{
	char path[PATH_MAX], value[64];
	struct stat s;

	if (find_command(command, path) || stat(path, &s))
		return false;
	return ((s.st_mode & S_ISUID) && s.st_uid != getuid()) ||
	       ((s.st_mode & S_ISGID) && s.st_gid != getgid()) ||
	       (getuid() && getxattr(path, "security.capability", value, sizeof(value)) > 0);
}

int preload_refuse(const char *who, char *const *command)
{
	bool cleared = false;
	const char *file = *inner_command(command, &cleared);

	if (cleared)
		return complain(EINVAL,
				"%s: env -i removes the variables that it needs; put env -i before "
				"rift, or use -u NAME for each variable to remove",
				who);
	if (!file || !gains_rights(file))
		return 0;
	return complain(EINVAL,
			"%s: %s runs with another user's rights (setuid, setgid or capabilities), "
			"so the loader preloads nothing into it; run it as that user, without them",
			who, text_shown(file).s);
}

int static_runtime_refuse(const char *layer, char *const *command)
{
	bool cleared = false;
	const char *file = *inner_command(command, &cleared);
	enum runtime_link found = file ? runtime_link_of(file) : RUNTIME_UNKNOWN;
	char others[256];

	if (found != RUNTIME_STATIC && found != RUNTIME_NO_LOADER)
		return 0;
	list_others(others, sizeof(others));
	return complain(EINVAL,
			"layer %s: %s %s, so %s would see no call; link it with `nvcc -cudart "
			"shared`, or use one of %s",
			layer, text_shown(file).s,
			found == RUNTIME_STATIC ? "has its own CUDA runtime linked in"
						: "is linked statically",
			layer, others);
}
