/*
 * image.h - the program that a process runs: its build, and places in it. On the CPU device kernels
 * are functions of the program, so client and daemon must run the same one; where such a function
 * lies in it is the same in both.
 */
#ifndef RIFT_REMOTE_IMAGE_H
#define RIFT_REMOTE_IMAGE_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "layers/remote/wire/wire.h"

struct image {
	uint64_t base, end; /* of the addresses where it lies */
	bool has_id;
	uint8_t build_id[REMOTE_BUILD_ID];
};

/* The linker's note NT_GNU_BUILD_ID, a digest of what was linked. */
static inline void image_take_notes(struct image *i, const uint8_t *at, size_t bytes)
{
	const uint8_t *end = at + bytes;

	while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const void *)at;
		const uint8_t *name = at + sizeof(*note);
		const uint8_t *id = name + (note->n_namesz + 3) / 4 * 4;

		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
		    !memcmp(name, "GNU", 4) && note->n_descsz <= REMOTE_BUILD_ID) {
			memcpy(i->build_id, id, note->n_descsz);
			i->has_id = true;
		}
		at = id + (note->n_descsz + 3) / 4 * 4;
	}
}

/* The first that is listed is the program itself. */
static inline int image_take(struct dl_phdr_info *info, size_t size, void *image)
{
	struct image *i = image;

	(void)size;
	i->base = info->dlpi_addr;
	for (int k = 0; k < info->dlpi_phnum; k++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[k];

		if (p->p_type == PT_LOAD && i->base + p->p_vaddr + p->p_memsz > i->end)
			i->end = i->base + p->p_vaddr + p->p_memsz;
		if (p->p_type == PT_NOTE)
			image_take_notes(i, (const uint8_t *)(i->base + p->p_vaddr), p->p_memsz);
	}
	return 1;
}

static inline struct image image_of_program(void)
{
	struct image i = { 0 };

	dl_iterate_phdr(image_take, &i);
	return i;
}

#endif
