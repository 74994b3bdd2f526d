/* input.c - opens a file that somebody named; see input.h. */
#include "common/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WRITER_MS = 1000 };

/*
 * Who was waiting to write gets the pipe open only now. From here on its reader may wait, for whom
 * has it open for writing; where nobody has, it is at its end.
 */
static int expect_writer(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (poll(&p, 1, WRITER_MS) < 0)
		return -errno;
	return fcntl(fd, F_SETFL, 0) ? -errno : 0;
}

/* -ESPIPE: neither a file nor a pipe, which open() has several errors for. */
static int check_kind(int fd, bool pipes)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (S_ISREG(st.st_mode))
		return 0;
	if (!pipes || !S_ISFIFO(st.st_mode))
		return -ESPIPE;
	return expect_writer(fd);
}

int input_open(const char *path, bool pipes)
{
	/* without O_NONBLOCK, a pipe that nobody writes to would be waited for here */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err;

	if (fd < 0)
		return errno == ENXIO || errno == ENODEV ? -ESPIPE : -errno;
	err = check_kind(fd, pipes);
	if (err)
		close(fd);
	return err ? err : fd;
}

const char *input_reason(int err)
{
	return err == -ESPIPE ? "is not a regular file" : strerror(-err);
}
