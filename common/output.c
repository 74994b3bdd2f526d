/* output.c - a file that appears whole or not at all. */
#include "common/output.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/check.h"
#include "common/datafile.h"
#include "common/temporary.h"

enum { LINKS_MAX = 40 }; /* as Linux follows; stat() refuses more */

/* The file that PATH leads to by symbolic links, existing or not: a rename replaces links. */
static char *follow_links(const char *path)
{
	char *at = strdup(path), *next, link[PATH_MAX];
	ssize_t n;

	for (int i = 0; at && i < LINKS_MAX; i++, at = next) {
		n = readlink(at, link, sizeof(link) - 1);
		if (n < 0)
			break;
		link[n] = '\0';
		next = strrchr(at, '/');
		if (asprintf(&next, "%.*s%s", *link == '/' || !next ? 0 : (int)(next + 1 - at), at,
			     link) < 0)
			next = NULL;
		free(at);
	}
	CHECK(at, "memory for %s", path);
	return at;
}

/*
 * May the file that PATH leads to be replaced, or made? *old has its owner and mode, st_nlink = 0
 * where there is none. The rename that replaces it asks nobody whether it was writable.
 */
static int check_target(const char *name, const char *path, const char *file, struct stat *old)
{
	if (datafile_owns(file))
		return complain(EINVAL,
				"%s=%s: is among rift's own files, in workloads/ or data/; write "
				"to another folder",
				name, path);
	if (stat(path, old)) {
		old->st_nlink = 0;
		return errno == ENOENT ? 0
				       : complain(errno, "%s=%s: %s", name, path, strerror(errno));
	}
	if (S_ISDIR(old->st_mode))
		return complain(EISDIR, "%s=%s: is a folder; give the name of a file", name, path);
	if (!S_ISREG(old->st_mode))
		return complain(EINVAL, "%s=%s: is not a regular file and cannot be replaced", name,
				path);
	if (access(path, W_OK))
		return complain(errno, "%s=%s: %s", name, path, strerror(errno));
	return 0;
}

/* The new file is to be seen and changed by whom the old one was; the owner is root's to keep. */
static void keep_mode(const struct output *out, const struct stat *old)
{
	int fd = fileno(out->file);

	if (!old->st_nlink)
		return;
	if (fchown(fd, old->st_uid, old->st_gid))
		errno = 0;
	if (fchmod(fd, old->st_mode & 0777))
		errno = 0; /* a file system without modes */
}

static int refuse_name(const char *name, const char *path)
{
	size_t n = strlen(path);

	if (!strcmp(path, "-"))
		return complain(EINVAL,
				"%s=-: rift writes to a file, not to stdout; for a file of that "
				"name write ./-",
				name);
	if (n < 3 || strcmp(path + n - 3, ".gz"))
		return 0;
	return complain(EINVAL,
			"%s=%s: rift writes plain files: leave .gz out, and compress it with gzip "
			"afterwards",
			name, path);
}

int output_refuse(const char *name, const char *path)
{
	struct stat st;
	int err = refuse_name(name, path);

	if (!err && !lstat(path, &st) && S_ISLNK(st.st_mode) && access(path, F_OK))
		err = complain(EEXIST,
			       "%s is a broken link; name the file itself, or another, with %s",
			       path, name);
	return err;
}

static int open_part(struct output *out, const char *name, const char *path)
{
	struct stat old;
	int err = refuse_name(name, path);

	if (err)
		return err;
	out->path = follow_links(path);
	err = check_target(name, path, out->path, &old);
	if (!err && out->is_new && old.st_nlink)
		err = complain(EEXIST, "%s=%s: exists; give another name", name, path);
	if (err) {
		output_discard(out);
		return err;
	}
	/* of this process alone, and never a file that was there: it will be renamed or removed */
	CHECK(asprintf(&out->part, "%s.%ld.part", out->path, (long)getpid()) >= 0, "memory");
	/* before it is there, as a signal may end the process right after; longer names fail */
	if (strlen(out->part) < PATH_MAX)
		temporary_add(out->part);
	out->file = fopen(out->part, "wxe");
	if (!out->file) {
		err = complain(errno, "%s=%s: cannot create %s: %s", name, path, out->part,
			       strerror(errno));
		temporary_forget(out->part);
		output_discard(out);
		return err;
	}
	keep_mode(out, &old);
	return 0;
}

int output_open(struct output *out, const char *name, const char *path)
{
	*out = (struct output){ 0 };
	return open_part(out, name, path);
}

int output_create(struct output *out, const char *name, const char *path)
{
	*out = (struct output){ .is_new = true };
	return open_part(out, name, path);
}

bool output_same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	if (!a || !b)
		return false;
	if (!strcmp(a, b))
		return true;
	return !stat(a, &sa) && !stat(b, &sb) && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

void output_numbers(struct output *out, const double *v, int n)
{
	for (int i = 0; i < n; i++)
		fprintf(out->file, "%.17g%c", v[i], i == n - 1 ? '\n' : ',');
}

/* ---- new names ---------------------------------------------------------------------------- */

static bool is_same_inode(const char *a, const char *b)
{
	struct stat sa, sb;

	return !lstat(a, &sa) && !lstat(b, &sb) && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

/* Returns 0, EEXIST, or another errno. Each way is for file systems that lack those before it. */
static int rename_to_free_name(const char *from, const char *to)
{
	int fd;

	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return 0;
	/* under both names: it was killed between link() and unlink() */
	if (errno == EEXIST && !is_same_inode(from, to))
		return EEXIST;
	if (!link(from, to) || (errno == EEXIST && is_same_inode(from, to)))
		return unlink(from) ? errno : 0;
	if (errno == EEXIST)
		return EEXIST;
	fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return errno;
	close(fd);
	return rename(from, to) ? errno : 0;
}

/* X-2.csv of X.csv, X-2 of X. */
static char *numbered_path(const char *path, int number)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	const char *dot = *base ? strrchr(base + 1, '.') : NULL;
	int stem = (int)(dot ? (size_t)(dot - path) : strlen(path));
	char *name;

	CHECK(asprintf(&name, "%.*s-%d%s", stem, path, number, dot ? dot : "") >= 0, "memory");
	return name;
}

int output_rename_new(const char *from, const char *path, char **taken)
{
	int err = EEXIST;

	*taken = NULL;
	for (int i = 1; err == EEXIST; i++) {
		free(*taken);
		*taken = i == 1 ? strdup(path) : numbered_path(path, i);
		CHECK(*taken, "memory of a name");
		err = rename_to_free_name(from, *taken);
	}
	if (err) {
		free(*taken);
		*taken = NULL;
	}
	return err;
}

/* Returns an errno; EEXIST after one line: it is kept under another name. */
static int rename_part(const struct output *out)
{
	char *taken;
	int err;

	if (!out->is_new)
		return rename(out->part, out->path) ? errno : 0;
	err = output_rename_new(out->part, out->path, &taken);
	if (!err && strcmp(taken, out->path))
		err = -complain(
			EEXIST,
			"%s was created meanwhile and is not replaced; the output is kept as %s",
			out->path, taken);
	free(taken);
	return err;
}

int output_commit(struct output *out)
{
	int err = 0;

	/* ferror: a write that failed earlier may be followed by ones that did not */
	errno = 0;
	if (fflush(out->file) || ferror(out->file))
		err = errno ? errno : EIO;
	if (fclose(out->file) && !err)
		err = errno;
	out->file = NULL;
	if (!err)
		err = rename_part(out);
	if (err && !(err == EEXIST && out->is_new)) {
		unlink(out->part);
		complain(err, "cannot write %s: %s", out->path, strerror(err));
	}
	err = -err;
	temporary_forget(out->part);
	output_discard(out);
	return err;
}

void output_discard(struct output *out)
{
	if (out->file) {
		fclose(out->file);
		unlink(out->part);
		temporary_forget(out->part);
	}
	free(out->path);
	free(out->part);
	*out = (struct output){ 0 };
}

/* ---- folders ------------------------------------------------------------------------------ */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)st, (void)type, (void)walk;
	(void)remove(path);
	return 0;
}

void output_remove_folder(const char *path)
{
	enum { FILES_OPEN = 16 };

	(void)nftw(path, remove_one, FILES_OPEN, FTW_DEPTH | FTW_PHYS);
}
