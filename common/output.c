/* output.c - a file that appears whole or not at all. */
#include "common/output.h"

#include <errno.h>
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
		return complain(EINVAL, "%s=%s: is no regular file and cannot be replaced", name,
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

int output_open(struct output *out, const char *name, const char *path)
{
	struct stat old;
	int err;

	*out = (struct output){ .path = follow_links(path) };
	err = check_target(name, path, out->path, &old);
	if (err) {
		output_discard(out);
		return err;
	}
	/* of this process alone, and never a file that was there: it will be renamed or removed */
	CHECK(asprintf(&out->part, "%s.%ld.part", out->path, (long)getpid()) >= 0, "memory");
	/* before it is there, as a signal may end the process right after; longer names fail */
	if (strlen(out->part) < PATH_MAX)
		temporary_add(out->part);
	out->file = fopen(out->part, "wx");
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

int output_commit(struct output *out)
{
	int err = 0;

	/* ferror: a write that failed earlier may be followed by ones that did not */
	if (fflush(out->file) || ferror(out->file))
		err = errno ? errno : EIO;
	if (fclose(out->file) && !err)
		err = errno;
	out->file = NULL;
	if (!err && rename(out->part, out->path))
		err = errno;
	if (err) {
		unlink(out->part);
		err = complain(err, "cannot write %s: %s", out->path, strerror(err));
	}
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
