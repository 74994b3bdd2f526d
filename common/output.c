/* output.c - a file that appears whole or not at all. */
#include "common/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/check.h"
#include "common/temporary.h"

/* PATH will be replaced by a rename, which asks nobody whether the old file was writable. */
static int check_target(const char *name, const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno == ENOENT ? 0
				       : complain(errno, "%s=%s: %s", name, path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return complain(EISDIR, "%s=%s: is a folder; give the name of a file", name, path);
	if (!S_ISREG(st.st_mode))
		return complain(EINVAL, "%s=%s: is no regular file and cannot be replaced", name,
				path);
	if (access(path, W_OK))
		return complain(errno, "%s=%s: %s", name, path, strerror(errno));
	return 0;
}

int output_open(struct output *out, const char *name, const char *path)
{
	size_t size = strlen(path) + 32;
	int err = check_target(name, path);

	*out = (struct output){ 0 };
	if (err)
		return err;
	out->path = strdup(path);
	out->part = malloc(size);
	CHECK(out->path && out->part, "%zu bytes", size);
	/* of this process alone, and never a file that was there: it will be renamed or removed */
	snprintf(out->part, size, "%s.%ld.part", path, (long)getpid());
	out->file = fopen(out->part, "wx");
	if (!out->file) {
		err = complain(errno, "%s=%s: cannot create %s: %s", name, path, out->part,
			       strerror(errno));
		output_discard(out);
		return err;
	}
	temporary_add(out->part);
	return 0;
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
