/*
 * libcudart.c - NVIDIA's runtime by file name and version alone. A program that was linked with
 * libcudart.so.12 or .13 finds this one, and with it the client's library, which has the functions.
 * They cannot be here: the loader would take one library for both versions. As libcuda.so.1 it
 * keeps the driver out of the program, and is what whoever opens that is given.
 */
__attribute__((visibility("default"))) const char rift_remote_cudart = 1;
