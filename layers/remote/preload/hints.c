/*
 * hints.c - functions whose effect a program cannot see here: hints of where caches and shared
 * memory go, peers of a single device, what CUDA itself has made a function without effect.
 * And entry points of the driver, of which there are none: each is refused by its own name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/remote/preload/client.h"

SHOWN int cudaDeviceGetAttribute(int *value, int attribute, int device);
SHOWN int cudaDeviceGetLimit(size_t *value, int limit);
SHOWN int cudaDeviceSetLimit(int limit, size_t value);
SHOWN int cudaDeviceSynchronize(void);
SHOWN int cudaSetDeviceFlags(unsigned flags);

/* ---- caches and banks --------------------------------------------------------------------- */

enum { CACHE_CONFIGS = 4, BANK_CONFIGS = 3, BANKS_OF_4_BYTES = 1 };

static int cache_config;

SHOWN int cudaDeviceSetCacheConfig(int config);
int cudaDeviceSetCacheConfig(int config)
{
	if (config < 0 || config >= CACHE_CONFIGS)
		return client_result(CUDA_INVALID_VALUE);
	cache_config = config;
	return 0;
}

SHOWN int cudaDeviceGetCacheConfig(int *config);
int cudaDeviceGetCacheConfig(int *config)
{
	if (!config)
		return client_result(CUDA_INVALID_VALUE);
	*config = cache_config;
	return 0;
}

/* Since compute capability 5.0 banks are of 4 bytes, whatever is asked for. */
SHOWN int cudaDeviceSetSharedMemConfig(int config);
int cudaDeviceSetSharedMemConfig(int config)
{
	return client_result(config < 0 || config >= BANK_CONFIGS ? CUDA_INVALID_VALUE : 0);
}

SHOWN int cudaDeviceGetSharedMemConfig(int *config);
int cudaDeviceGetSharedMemConfig(int *config)
{
	if (!config)
		return client_result(CUDA_INVALID_VALUE);
	*config = BANKS_OF_4_BYTES;
	return 0;
}

/* The function must be a kernel. */
static int hint_of_kernel(const void *function, bool valid)
{
	int error = valid ? client_enter() : client_result(CUDA_INVALID_VALUE);

	if (error)
		return error;
	kernel_of(function, &error);
	return client_leave(error);
}

SHOWN int cudaFuncSetCacheConfig(const void *function, int config);
int cudaFuncSetCacheConfig(const void *function, int config)
{
	return hint_of_kernel(function, config >= 0 && config < CACHE_CONFIGS);
}

SHOWN int cudaFuncSetSharedMemConfig(const void *function, int config);
int cudaFuncSetSharedMemConfig(const void *function, int config)
{
	return hint_of_kernel(function, config >= 0 && config < BANK_CONFIGS);
}

SHOWN int cudaCtxResetPersistingL2Cache(void);
int cudaCtxResetPersistingL2Cache(void)
{
	return 0;
}

/* ---- streams ------------------------------------------------------------------------------ */

static int stream_is_one(const void *stream)
{
	uint64_t word;
	int error = client_enter();

	return error ? error : client_leave(handle_stream(stream, &word) ? 0 : CUDA_INVALID_HANDLE);
}

/* What of L2 persists for it, and how a thread waits for it, are hints; others are refused. */
SHOWN int cudaStreamSetAttribute(const void *stream, int attribute, const void *value);
int cudaStreamSetAttribute(const void *stream, int attribute, const void *value)
{
	enum { ACCESS_POLICY = 1, SYNCHRONIZATION_POLICY = 3 };

	if (attribute != ACCESS_POLICY && attribute != SYNCHRONIZATION_POLICY)
		return client_refuse("cudaStreamSetAttribute");
	return value ? stream_is_one(stream) : client_result(CUDA_INVALID_VALUE);
}

SHOWN int cudaStreamGetDevice(const void *stream, int *device);
int cudaStreamGetDevice(const void *stream, int *device)
{
	int error = device ? stream_is_one(stream) : client_result(CUDA_INVALID_VALUE);

	if (!error)
		*device = 0;
	return error;
}

/* With default streams per thread: stream 0 is another, and one too. */
SHOWN int cudaStreamSetAttribute_ptsz(const void *stream, int attribute, const void *value);
int cudaStreamSetAttribute_ptsz(const void *stream, int attribute, const void *value)
{
	return cudaStreamSetAttribute(stream, attribute, value);
}

SHOWN int cudaStreamGetDevice_ptsz(const void *stream, int *device);
int cudaStreamGetDevice_ptsz(const void *stream, int *device)
{
	return cudaStreamGetDevice(stream, device);
}

/* ---- the device, of which there is one ---------------------------------------------------- */

SHOWN int cudaInitDevice(int device, unsigned device_flags, unsigned flags);
int cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
	enum { FLAGS_ARE_VALID = 1 };

	if (device)
		return client_result(CUDA_INVALID_DEVICE);
	return flags & FLAGS_ARE_VALID ? cudaSetDeviceFlags(device_flags) : 0;
}

SHOWN int cudaSetValidDevices(const int *devices, int n);
int cudaSetValidDevices(const int *devices, int n)
{
	for (int i = 0; devices && i < n; i++)
		if (devices[i])
			return client_result(CUDA_INVALID_DEVICE);
	return client_result(!devices && n ? CUDA_INVALID_VALUE : 0);
}

SHOWN int cudaChooseDevice(int *device, const void *properties);
int cudaChooseDevice(int *device, const void *properties)
{
	if (!device || !properties)
		return client_result(CUDA_INVALID_VALUE);
	*device = 0;
	return 0;
}

/* Not even the device itself is a peer of the device. */
SHOWN int cudaDeviceCanAccessPeer(int *can, int device, int peer);
int cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
	if (!can || device || peer)
		return client_result(can ? CUDA_INVALID_DEVICE : CUDA_INVALID_VALUE);
	*can = 0;
	return 0;
}

SHOWN int cudaDeviceEnablePeerAccess(int peer, unsigned flags);
int cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
	(void)peer, (void)flags;
	return client_result(CUDA_INVALID_DEVICE);
}

SHOWN int cudaDeviceDisablePeerAccess(int peer);
int cudaDeviceDisablePeerAccess(int peer)
{
	(void)peer;
	return client_result(CUDA_INVALID_DEVICE);
}

/* Where it is in the daemon's machine: "0000:17:00.0". */
static int bus_id(char out[16])
{
	enum { BUS = 33, SLOT = 34, DOMAIN = 50 };
	int bus, slot, domain, error = cudaDeviceGetAttribute(&bus, BUS, 0);

	error = error ? error : cudaDeviceGetAttribute(&slot, SLOT, 0);
	error = error ? error : cudaDeviceGetAttribute(&domain, DOMAIN, 0);
	if (!error)
		snprintf(out, 16, "%04x:%02x:%02x.0", domain & 0xffff, bus & 0xff, slot & 0xff);
	return error;
}

SHOWN int cudaDeviceGetPCIBusId(char *out, int bytes, int device);
int cudaDeviceGetPCIBusId(char *out, int bytes, int device)
{
	char id[16];
	int error = out && bytes > 0 ? 0 : client_result(CUDA_INVALID_VALUE);

	if (!error && device)
		error = client_result(CUDA_INVALID_DEVICE);
	if (!error)
		error = bus_id(id);
	if (!error && (size_t)bytes <= strlen(id))
		error = client_result(CUDA_INVALID_VALUE);
	if (!error)
		strcpy(out, id);
	return error;
}

SHOWN int cudaDeviceGetByPCIBusId(int *device, const char *id);
int cudaDeviceGetByPCIBusId(int *device, const char *id)
{
	unsigned domain = 0, bus, slot, function;
	char own[16], wanted[16];
	int error = device && id ? bus_id(own) : client_result(CUDA_INVALID_VALUE);

	if (error)
		return error;
	if (sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4) {
		domain = 0;
		if (sscanf(id, "%x:%x.%x", &bus, &slot, &function) != 3)
			return client_result(CUDA_INVALID_VALUE);
	}
	snprintf(wanted, sizeof(wanted), "%04x:%02x:%02x.0", domain & 0xffff, bus & 0xff,
		 slot & 0xff);
	if (strcmp(own, wanted) != 0)
		return client_result(CUDA_INVALID_DEVICE);
	*device = 0;
	return 0;
}

/* ---- memory of graphs: no graph here takes any -------------------------------------------- */

SHOWN int cudaDeviceGraphMemTrim(int device);
int cudaDeviceGraphMemTrim(int device)
{
	return client_result(device ? CUDA_INVALID_DEVICE : 0);
}

SHOWN int cudaDeviceGetGraphMemAttribute(int device, int attribute, uint64_t *value);
int cudaDeviceGetGraphMemAttribute(int device, int attribute, uint64_t *value)
{
	enum { ATTRIBUTES = 4 };

	if (device || !value || attribute < 0 || attribute >= ATTRIBUTES)
		return client_result(device ? CUDA_INVALID_DEVICE : CUDA_INVALID_VALUE);
	*value = 0;
	return 0;
}

/* ---- former names, and what no longer does anything --------------------------------------- */

SHOWN int cudaThreadSynchronize(void);
int cudaThreadSynchronize(void)
{
	return cudaDeviceSynchronize();
}

SHOWN int cudaThreadGetLimit(size_t *value, int limit);
int cudaThreadGetLimit(size_t *value, int limit)
{
	return cudaDeviceGetLimit(value, limit);
}

SHOWN int cudaThreadSetLimit(int limit, size_t value);
int cudaThreadSetLimit(int limit, size_t value)
{
	return cudaDeviceSetLimit(limit, value);
}

SHOWN int cudaThreadGetCacheConfig(int *config);
int cudaThreadGetCacheConfig(int *config)
{
	return cudaDeviceGetCacheConfig(config);
}

SHOWN int cudaThreadSetCacheConfig(int config);
int cudaThreadSetCacheConfig(int config)
{
	return cudaDeviceSetCacheConfig(config);
}

SHOWN int cudaSetDoubleForDevice(double *d);
int cudaSetDoubleForDevice(double *d)
{
	(void)d;
	return 0;
}

SHOWN int cudaSetDoubleForHost(double *d);
int cudaSetDoubleForHost(double *d)
{
	(void)d;
	return 0;
}

/* cudaChannelFormatDesc */
struct cuda_channel {
	int x, y, z, w, kind;
};

SHOWN struct cuda_channel cudaCreateChannelDesc(int x, int y, int z, int w, int kind);
struct cuda_channel cudaCreateChannelDesc(int x, int y, int z, int w, int kind)
{
	return (struct cuda_channel){ x, y, z, w, kind };
}

/* ---- entry points of the driver ----------------------------------------------------------- */

/*
 * A program that has one opens a device of its own, past the layer. It gets none, with an error:
 * one that needs the driver ends here, before it computes, and the line says what it asked for.
 */
static int refuse_entry(const char *function, const char *symbol, void **out, int *status)
{
	enum { NOT_FOUND = 1 };
	static _Thread_local char said[128];

	if (!symbol || !out)
		return client_result(CUDA_INVALID_VALUE);
	*out = NULL;
	if (status)
		*status = NOT_FOUND;
	snprintf(said, sizeof(said), "the driver's own function %.48s, by %.48s", symbol, function);
	return client_refuse(said);
}

#define ENTRY_POINT(function)                                                                      \
	SHOWN int function(const char *symbol, void **out, uint64_t flags, int *status);           \
	int function(const char *symbol, void **out, uint64_t flags, int *status)                  \
	{                                                                                          \
		(void)flags;                                                                       \
		return refuse_entry(#function, symbol, out, status);                               \
	}
#define ENTRY_POINT_OF_VERSION(function)                                                           \
	SHOWN int function(const char *symbol, void **out, unsigned version, uint64_t flags,       \
			   int *status);                                                           \
	int function(const char *symbol, void **out, unsigned version, uint64_t flags,             \
		     int *status)                                                                  \
	{                                                                                          \
		(void)version, (void)flags;                                                        \
		return refuse_entry(#function, symbol, out, status);                               \
	}
ENTRY_POINT(cudaGetDriverEntryPoint)
ENTRY_POINT(cudaGetDriverEntryPoint_ptsz)
ENTRY_POINT_OF_VERSION(cudaGetDriverEntryPointByVersion)
ENTRY_POINT_OF_VERSION(cudaGetDriverEntryPointByVersion_ptsz)
