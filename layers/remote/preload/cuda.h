/*
 * cuda.h - what the client takes from CUDA's ABI (13.0): numbers and layouts, so that it needs no
 * toolkit and conflicts with no version's headers.
 */
#ifndef RIFT_REMOTE_CUDA_H
#define RIFT_REMOTE_CUDA_H

#include <stddef.h>
#include <stdint.h>

enum cuda_error {
	CUDA_OK = 0,
	CUDA_INVALID_VALUE = 1,
	CUDA_NO_MEMORY = 2,
	CUDA_NOT_INITIALIZED = 3,
	CUDA_INVALID_PITCH = 12,
	CUDA_INVALID_SYMBOL = 13,
	CUDA_INVALID_DIRECTION = 21,
	CUDA_NO_CONFIGURATION = 52, /* cudaErrorMissingConfiguration */
	CUDA_NO_KERNEL = 98,	    /* cudaErrorInvalidDeviceFunction */
	CUDA_INVALID_DEVICE = 101,
	CUDA_BAD_IMAGE = 200, /* cudaErrorInvalidKernelImage */
	CUDA_INVALID_HANDLE = 400,
	CUDA_ILLEGAL_STATE = 401,
	CUDA_NOT_READY = 600,
	CUDA_CONTEXT_GONE = 709, /* cudaErrorContextIsDestroyed */
	CUDA_REGISTERED_ALREADY = 712,
	CUDA_NOT_REGISTERED = 713,
	CUDA_LAUNCH_FAILED = 719,
	CUDA_NOT_PERMITTED = 800,
	CUDA_NOT_SUPPORTED = 801,
	CUDA_CAPTURE_UNMATCHED = 903, /* cudaErrorStreamCaptureUnmatched */
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

/* They hold a value and no address. */
enum cuda_attribute_id {
	ATTRIBUTE_IGNORE = 0,
	ATTRIBUTE_COOPERATIVE = 2,
	ATTRIBUTE_CLUSTER = 4,
	ATTRIBUTE_CLUSTER_POLICY = 5,
	ATTRIBUTE_PROGRAMMATIC = 6,
	ATTRIBUTE_PRIORITY = 8,
};

/* What nvcc's objects register: magic 0x466243b1; version 2 with -rdc. */
struct cuda_fat_wrapper {
	uint32_t magic, version;
	const uint8_t *data;
	const void *more;
};

/* How a fat binary begins: magic 0xba55ed50. */
struct cuda_fat_header {
	uint32_t magic;
	uint16_t version, header_bytes;
	uint64_t body_bytes; /* behind the header */
};

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

struct cuda_pos {
	size_t x, y, z; /* x of linear memory: bytes */
};

struct cuda_extent {
	size_t width, height, depth;
};

struct cuda_pitched {
	void *at;
	size_t pitch, width, height;
};

/* cudaMemcpy3DParms */
struct cuda_copy_node {
	void *src_array;
	struct cuda_pos src_pos;
	struct cuda_pitched src;
	void *dst_array;
	struct cuda_pos dst_pos;
	struct cuda_pitched dst;
	struct cuda_extent extent;
	int kind;
};

/* cudaMemsetParams */
struct cuda_set_node {
	void *dst;
	size_t pitch;
	unsigned value, element; /* element: bytes */
	size_t width, height;	 /* elements, rows */
};

struct cuda_host_node {
	void (*function)(void *data);
	void *data;
};

struct cuda_update_result {
	int result;
	void *node, *from_node;
};

#endif
