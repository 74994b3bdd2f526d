/* textfile.c - a whole file, or what a pipe gives, in memory; see textfile.h. */
#include "common/textfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/interrupt.h"

/* Makes room for at least one more byte and the final zero. */
static int grow(char **text, size_t *room)
{
	size_t larger = *room ? 2 * *room : 1 << 16;
	char *moved = realloc(*text, larger);

	if (!moved)
		return -ENOMEM;
	*text = moved;
	*room = larger;
	return 0;
}

/* By pieces: the length of a pipe is known at its end. */
static int read_all(FILE *file, size_t most, char **text, size_t *length)
{
	size_t room = 0, got;

	do {
		if (interrupted())
			return -EINTR;
		if (*length + 1 >= room && grow(text, &room))
			return -ENOMEM;
		got = fread(*text + *length, 1, room - *length - 1, file);
		*length += got;
		if (*length > most)
			return -EFBIG;
	} while (got);
	(*text)[*length] = '\0';
	return ferror(file) ? -(errno ? errno : EIO) : 0;
}

int textfile_read(const char *path, size_t most, char **text, size_t *length)
{
	FILE *file;
	int err;

	*text = NULL;
	*length = 0;
	file = fopen(path, "rb");
	if (!file)
		return -errno;
	errno = 0;
	err = read_all(file, most, text, length);
	fclose(file);
	return err;
}
