/* main.cu - runs one seeded bug or correct program (see bugs.cuh). */
#include "tests/bugs/bugs.cuh"

#include <stdio.h>
#include <string.h>

static const struct bug *const tables[] = { race_bugs, memory_bugs, fault_bugs, correct_programs };

static void list(void)
{
	for (const struct bug *table : tables)
		for (const struct bug *b = table; b->name; b++)
			printf("%s %s\n", b->found_by, b->name);
}

static const struct bug *find_bug(const char *name)
{
	for (const struct bug *table : tables)
		for (const struct bug *b = table; b->name; b++)
			if (!strcmp(b->name, name))
				return b;
	return nullptr;
}

int main(int argc, char **argv)
{
	const struct bug *b = argc == 2 ? find_bug(argv[1]) : nullptr;

	if (argc == 1) {
		list();
		return 0;
	}
	if (!b) {
		fprintf(stderr, "rift: no such bug; without arguments they are listed\n");
		return 3;
	}
	b->run();
	CUDA(cudaDeviceSynchronize());
	puts("end");
	return 0;
}
