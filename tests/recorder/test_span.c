/*
 * test_span.c - the library that notes a program's first and last calls and its NVTX ranges: here
 * as NVTX calls it, with tables of pointers as NVTX has them. Calls are in test_cli_time.c.
 */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "tests/folder.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "common/recorder/span.h"

TEST_FOLDER(folder);

TestSuite(small_span, .timeout = 60, .init = make_folder, .fini = remove_folder);

#ifdef __x86_64__

/* ---- NVTX's side ----------------------------------------------------------------------------- */

enum { PLACES = 17 };

typedef void function(void);

static function *core[PLACES], *core2[PLACES];
static function **table_core[PLACES], **table_core2[PLACES];

static unsigned places = PLACES - 1;

static int table_of(int module, function ****table, unsigned *n)
{
	*table = module == 1 ? table_core : module == 5 ? table_core2 : NULL;
	*n = places;
	return *table != NULL;
}

static const void *export_table(uint32_t id)
{
	static const struct {
		size_t size;
		int (*table_of)(int, function ****, unsigned *);
	} callbacks = { sizeof(callbacks), table_of };

	return id == 1 ? &callbacks : NULL;
}

static const void *nothing(uint32_t id)
{
	(void)id;
	return NULL;
}

static int push(const char *name)
{
	return ((int (*)(const char *))core[9])(name);
}

static int pop(void)
{
	return ((int (*)(void))core[11])();
}

struct attributes {
	uint16_t version, size;
	uint32_t category, words[3];
	int32_t reserved;
	uint64_t payload;
	int32_t message_type;
	const char *message;
};

static int push_in(const void *domain, int type, const char *message)
{
	struct attributes a = { .message_type = type, .message = message };

	return ((int (*)(const void *, const struct attributes *))core2[4])(domain, &a);
}

static int pop_in(const void *domain)
{
	return ((int (*)(const void *))core2[5])(domain);
}

/* ---- the library ------------------------------------------------------------------------------
 */

static struct program_span *span;

static void load(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 64);
	int (*initialize)(const void *(*)(uint32_t)), fd;
	void *library, *found;
	char *end;

	cr_assert(lt(i64, 0, n));
	path[n] = '\0';
	end = strstr(path, "/tests/recorder/");
	cr_assert(ne(ptr, end, NULL), "%s", path);
	strcpy(end, "/" SPAN_LIBRARY);
	for (int i = 1; i < PLACES - 1; i++) {
		table_core[i] = &core[i];
		table_core2[i] = i == 4 && places < PLACES - 1 ? NULL : &core2[i];
	}
	cr_assert(zero(int, chdir(folder)));
	fd = open("span", O_RDWR | O_CREAT, 0600);
	cr_assert(zero(int, ftruncate(fd, sizeof(*span))));
	span = mmap(NULL, sizeof(*span), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	setenv(SPAN_VARIABLE, "span", 1);
	library = dlopen(path, RTLD_NOW);
	cr_assert(ne(ptr, library, NULL), "%s", dlerror());
	found = dlsym(library, "InitializeInjectionNvtx2");
	memcpy(&initialize, &found, sizeof(found));
	cr_assert(zero(int, initialize(NULL)));
	cr_assert(zero(int, initialize(nothing)));
	cr_assert(eq(int, initialize(export_table), 1));
}

static void range_is(int at, const char *name, int count)
{
	cr_expect(eq(str, span->range[at].name, (char *)(uintptr_t)name));
	cr_expect(eq(int, (int)span->range[at].count, count), "%s", name);
	cr_expect(ne(int, span->range[at].ticks > 0, 0), "%s", name);
}

Test(small_span, ranges_nest)
{
	load();
	for (int i = 0; i < 3; i++) {
		cr_expect(eq(int, push("outer"), 0));
		cr_expect(eq(int, push("inner"), 1));
		cr_expect(eq(int, pop(), 1));
		cr_expect(eq(int, push("inner"), 1));
		cr_expect(eq(int, pop(), 1));
		cr_expect(eq(int, pop(), 0));
	}
	cr_expect(eq(int, (int)span->ranges, 2));
	range_is(0, "outer", 3);
	range_is(1, "inner", 6);
	cr_expect(ne(int, span->range[0].ticks > span->range[1].ticks, 0));
}

/* A domain's pop ends the innermost range of that domain. */
Test(small_span, domains_do_not_mix)
{
	static const void *domain, *registered; /* the program's for good */

	load();
	domain = ((const void *(*)(const char *))core2[12])("mine");
	registered = ((const void *(*)(const void *, const char *))core2[10])(domain, "kept");
	cr_assert(ne(ptr, (void *)(uintptr_t)domain, NULL));
	push_in(domain, 3, registered);
	push("plain");
	pop_in(domain);
	range_is(0, "kept", 1);
	cr_expect(zero(int, (int)span->range[1].count));
	pop();
	range_is(1, "plain", 1);
}

Test(small_span, a_pop_too_many_and_ranges_without_a_name_do_no_harm)
{
	load();
	cr_expect(eq(int, pop(), -1));
	push_in(NULL, 0, NULL);
	pop_in(NULL);
	push("");
	pop();
	push_in(NULL, 1, "ascii");
	pop_in(NULL);
	cr_expect(eq(int, (int)span->ranges, 1));
	range_is(0, "ascii", 1);
}

/* Nor do those of text that is not counted, among others that are. */
Test(small_span, what_is_no_range_counts_for_none)
{
	load();
	for (int i = 0; i < 2; i++) {
		push(i ? "second" : "first");
		cr_expect(eq(int, pop_in("of another domain"), -1));
		((int (*)(const void *))core[10])(L"wide");
		pop();
		push(NULL);
		pop();
		pop();
	}
	cr_expect(eq(int, (int)span->ranges, 2));
	range_is(0, "first", 1);
	range_is(1, "second", 1);
}

/* A table may be shorter, and have no place for a function. */
Test(small_span, functions_that_nvtx_has_not)
{
	places = 10;
	load();
	cr_expect(ne(ptr, (void *)core[9], NULL));
	cr_expect(zero(ptr, (void *)core[10]));
	cr_expect(zero(ptr, (void *)core[11]));
	cr_expect(ne(ptr, (void *)core2[5], NULL));
	cr_expect(zero(ptr, (void *)core2[10]));
}

Test(small_span, deeper_and_more_than_there_is_room_for)
{
	char name[100];

	load();
	for (int i = 0; i < 200; i++)
		push("deep");
	for (int i = 0; i < 200; i++)
		pop();
	cr_expect(eq(int, (int)span->range[0].count, 64));
	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "%d: a name of more than forty characters, so cut", i);
		push(name);
		pop();
	}
	cr_expect(eq(int, (int)span->ranges, SPAN_RANGES_MAX));
	cr_expect(eq(int, (int)strlen(span->range[1].name), SPAN_NAME - 1));
	cr_expect(eq(int, (int)span->range[1].count, 1));
}

#endif
