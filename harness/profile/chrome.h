/*
 * chrome.h - a trace as Chrome's trace events, which chrome://tracing and Perfetto open; categories
 * are those of Kineto, so that tools for PyTorch's traces read them: cuda_runtime, kernel,
 * gpu_memcpy, gpu_memset, cuda_sync, user_annotation, gpu_user_annotation for what the device did
 * of a range, and flows ac2g from calls to operations.
 *
 * Source: "Trace Event Format", the Chromium project. Times are as recorded, in us.
 */
#ifndef RIFT_PROFILE_CHROME_H
#define RIFT_PROFILE_CHROME_H

#include <stdbool.h>
#include <stdio.h>

#include "common/trace/trace.h"

void chrome_write(const struct trace *t, FILE *out);

/* Is this file a timeline that chrome_write() may have written? */
bool chrome_is(const char *path);

#endif
