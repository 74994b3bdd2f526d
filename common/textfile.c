/* textfile.c - a whole file, or what a pipe gives, in memory; see textfile.h. */
#include "common/textfile.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/input.h"
#include "common/interrupt.h"
#include "common/room.h"

enum { PIECE = 1 << 16, UNASKED = 64 << 20 };

/*
 * Is there space now for at least one more byte and the final zero? The host must have as much to
 * spare for a large file: memory that it promised and has not got ends the process later.
 */
static bool grow(char **text, size_t *capacity)
{
	size_t larger = *capacity ? 2 * *capacity : PIECE;
	int64_t spare = larger > UNASKED ? room_host_spare() : -1;
	char *moved =
		spare >= 0 && (int64_t)(larger - *capacity) > spare ? NULL : realloc(*text, larger);

	if (!moved)
		return false;
	*text = moved;
	*capacity = larger;
	return true;
}

/* By pieces: the length of a pipe is known at its end. */
static int read_all(FILE *file, const char *begin, size_t most, char **text, size_t *length)
{
	size_t capacity = 0, got;

	do {
		if (interrupted())
			return -EINTR;
		if (*length + 1 >= capacity && !grow(text, &capacity))
			return -ENOMEM;
		got = fread(*text + *length, 1, capacity - *length - 1, file);
		*length += got;
		if (*length > most)
			return -EFBIG;
		if (*length >= strlen(begin) && memcmp(*text, begin, strlen(begin)))
			break;
	} while (got);
	(*text)[*length] = '\0';
	return ferror(file) ? -(errno ? errno : EIO) : 0;
}

int textfile_read(const char *path, const char *begin, size_t most, char **text, size_t *length)
{
	struct stat st;
	FILE *file;
	int err, fd;

	*text = NULL;
	*length = 0;
	fd = input_open(path, true);
	if (fd < 0)
		return fd;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && (uint64_t)st.st_size > most) {
		close(fd);
		return -EFBIG;
	}
	file = fdopen(fd, "rb");
	if (!file) {
		close(fd);
		return -ENOMEM;
	}
	errno = 0;
	err = read_all(file, begin, most, text, length);
	fclose(file);
	return err;
}
