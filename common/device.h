/* device.h - is there a device at all? */
#ifndef RIFT_DEVICE_H
#define RIFT_DEVICE_H

#ifdef __cplusplus
extern "C" {
#endif

/* 0, or -ENODEV after one line with CUDA's reason; CUDA forgets the error. */
int device_present(void);

#ifdef __cplusplus
}
#endif
#endif
