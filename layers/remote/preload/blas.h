/*
 * blas.h - what functions of cuBLAS and cuBLASLt share in the client. They return statuses, and
 * leave the runtime's last error as it is, but for errors of calls sent ahead.
 *
 *	int status = blas_enter();
 *
 *	if (status)
 *		return status;
 *	...
 *	return blas_leave(client_ahead(REMOTE_BLAS_DESTROY, WORDS(number)));
 */
#ifndef RIFT_REMOTE_PRELOAD_BLAS_H
#define RIFT_REMOTE_PRELOAD_BLAS_H

#include "layers/remote/preload/client.h"
#include "layers/remote/wire/products.h"

/* Takes the lock; or returns a status, without. */
int blas_enter(void);

/* Gives it back. Returns the status of an error, which may be REMOTE_STATUS's. */
int blas_leave(int error);

/* A status for the program, after a line that names what is refused; without the lock or with. */
int blas_refuse(const char *what);

/* The same of what has a number: "... of type 3". */
int blas_refuse_number(const char *what, int number);

/* The number of a handle, of cuBLASLt too if lt; false: it is none. With the lock. */
bool blas_number(const void *handle, bool lt, uint64_t *number);

/* A new handle. */
int blas_create(void **handle, bool lt);
int blas_destroy(void *handle, bool lt);

/*
 * Products go ahead once the library has taken one that is the same but for its operands: then
 * nothing speaks against the next one. Sends the command that has begun, or waits for its answer.
 */
int blas_send_product(const void *like, size_t bytes, bool promising);

/* CUBLAS_STATUS_... */
SHOWN const char *cublasGetStatusName(int status);

/* cublasLtGetVersion() of the daemon's; 0: it has none. */
size_t blas_version(void);

#endif
