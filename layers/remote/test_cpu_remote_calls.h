/* test_cpu_remote_calls.h - kernels of tests of the layer remote, and a variable of the device. */
#ifndef RIFT_TEST_CPU_REMOTE_CALLS_H
#define RIFT_TEST_CPU_REMOTE_CALLS_H

#ifdef __cplusplus
extern "C" {
#endif

/* (uint64_t *to, uint64_t value, uint8_t times): *to += value * times; or nothing. */
const void *kernel_add(void);
const void *kernel_nothing(void);

/* (const uint32_t *word, uint64_t *to): *to = 1 when the word of the host is not 0. */
const void *kernel_await(void);

/* (uint64_t *to): decimal digits, the lowest first: the grid's x, y, z, and the block's. */
const void *kernel_tell_shape(void);

/* (uint64_t *to): the first and the last of the variable's four words, added. */
const void *kernel_read_variable(void);
const void *variable(void);

#ifdef __cplusplus
}
#endif
#endif
