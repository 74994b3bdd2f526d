/*
 * channel.h - copies between host and device that cross a boundary: they are made by the thread
 * that gives them, at a limited rate, and may block it, and follow each other on one channel.
 */
#ifndef RIFT_LAYER_EMULATE_CHANNEL_H
#define RIFT_LAYER_EMULATE_CHANNEL_H

#include "layers/emulate/preload/packet.h"

/*
 * Makes a copy of words to, from, bytes and kind. Nothing that was given before waits in a packet.
 * stream: of an asynchronous one. Returns the runtime's error.
 */
int channel_copy(long call, const uint64_t words[WORDS], const void *stream, bool asynchronous);

#endif
