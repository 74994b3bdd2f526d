/* room.h - is there memory for what is asked for, with enough left for others? */
#ifndef RIFT_ROOM_H
#define RIFT_ROOM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { ROOM_PERCENT = 80 };	   /* of what is free may be taken */
enum { ROOM_BUFFER_PERCENT = 25 }; /* of all memory of the host, by buffers of copies */

/*
 * Memory of the device, or of the host, as the kernel of its system reckons. Returns 0, also where
 * it is not known, or -ENOMEM after one line with the numbers, which begins with what: "bytes=1G".
 */
int room_on_device(int64_t bytes, const char *what);
int room_on_host(int64_t bytes, const char *what);

/* Both at once, before either is taken: the CPU device's memory is the host's. */
int room_on_both(int64_t device_bytes, int64_t host_bytes, const char *what);

/* Bytes of the host's memory that may still be taken; -1: not known. */
int64_t room_host_spare(void);

/* The same for buffers of copies, which may be pinned: nobody else gets such memory back. */
int room_for_buffers(int64_t bytes, const char *what);

#ifdef __cplusplus
}
#endif
#endif
