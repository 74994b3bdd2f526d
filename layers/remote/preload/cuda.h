/*
 * cuda.h - what the client takes from CUDA's ABI (13.0): numbers and layouts, so that it needs no
 * toolkit and conflicts with no version's headers.
 */
#ifndef RIFT_REMOTE_CUDA_H
#define RIFT_REMOTE_CUDA_H

#include <stddef.h>

enum cuda_error {
	CUDA_OK = 0,
	CUDA_INVALID_VALUE = 1,
	CUDA_NO_MEMORY = 2,
	CUDA_NOT_INITIALIZED = 3,
	CUDA_INVALID_PITCH = 12,
	CUDA_INVALID_SYMBOL = 13,
	CUDA_INVALID_DIRECTION = 21,
	CUDA_NO_KERNEL = 98, /* cudaErrorInvalidDeviceFunction */
	CUDA_INVALID_DEVICE = 101,
	CUDA_INVALID_HANDLE = 400,
	CUDA_NOT_READY = 600,
	CUDA_CONTEXT_GONE = 709, /* cudaErrorContextIsDestroyed */
	CUDA_REGISTERED_ALREADY = 712,
	CUDA_NOT_REGISTERED = 713,
	CUDA_NOT_SUPPORTED = 801,
};

enum cuda_copy_kind { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, ANY_WAY };

enum cuda_memory_type { MEMORY_UNREGISTERED, MEMORY_HOST, MEMORY_DEVICE };

struct cuda_dim {
	unsigned x, y, z;
};

struct cuda_pointer_attributes {
	int type, device;
	void *device_pointer, *host_pointer;
	long reserved[8];
};

/* cudaLaunchAttribute; the value is a union of 64 bytes. */
struct cuda_attribute {
	int id, pad;
	int value;
	char rest[60];
};

enum { ATTRIBUTE_PROGRAMMATIC = 6 };

struct cuda_launch_config {
	struct cuda_dim grid, block;
	size_t shared_bytes;
	void *stream;
	const struct cuda_attribute *attributes;
	unsigned n_attributes;
};

struct cuda_kernel_node {
	const void *function;
	struct cuda_dim grid, block;
	unsigned shared_bytes;
	void **arguments, **extra;
};

struct cuda_update_result {
	int result;
	void *node, *from_node;
};

#endif
