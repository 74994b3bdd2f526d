/* shared_file.h - a file that processes map, to tell each other what changes. */
#ifndef RIFT_SHARED_FILE_H
#define RIFT_SHARED_FILE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * flags: 0, or O_CREAT and what goes with it: then it is made as long as that, for this user alone.
 * To be unmapped by munmap(). NULL: errno says why.
 */
void *shared_file_map(const char *path, size_t bytes, int flags);

#ifdef __cplusplus
}
#endif
#endif
