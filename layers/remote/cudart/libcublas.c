/*
 * libcublas.c - NVIDIA's cuBLAS and cuBLASLt by file name and version alone, like libcudart.c. A
 * program that is linked with them, or opens them by their names, finds the client's library.
 */
__attribute__((visibility("default"))) const char rift_remote_cublas = 1;
