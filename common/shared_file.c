/* shared_file.c - see shared_file.h. */
#include "common/shared_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

void *shared_file_map(const char *path, size_t bytes, int flags)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | flags, 0600);
	void *at = MAP_FAILED;

	if (fd >= 0 && (!flags || !ftruncate(fd, (off_t)bytes)))
		at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	return at == MAP_FAILED ? NULL : at;
}
