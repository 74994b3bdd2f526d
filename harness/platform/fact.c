/* fact.c - facts about a machine, known or not, and where they are read. */
#include "harness/platform/fact.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "common/check.h"
#include "harness/base/json.h"

/* ---- one fact --------------------------------------------------------------------------- */

/* Control characters would break lines of tables; device trees end texts with NUL. */
static void tidy(char *text)
{
	size_t from = strspn(text, " \t\n"), n = strlen(text);

	while (n > from && isspace((unsigned char)text[n - 1]))
		n--;
	memmove(text, text + from, n - from);
	text[n - from] = '\0';
	for (char *c = text; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = ' ';
}

struct fact fact_text(const char *fmt, ...)
{
	struct fact f = { .kind = FACT_TEXT };
	va_list args;

	va_start(args, fmt);
	vsnprintf(f.text, sizeof(f.text), fmt, args);
	va_end(args);
	tidy(f.text);
	return *f.text ? f : fact_unknown("empty");
}

struct fact fact_int(int64_t value)
{
	return (struct fact){ .kind = FACT_INT, .number = value };
}

struct fact fact_real(double value)
{
	if (!isfinite(value))
		return fact_unknown("not a number");
	return (struct fact){ .kind = FACT_REAL, .real = value };
}

struct fact fact_bool(bool value)
{
	return (struct fact){ .kind = FACT_BOOL, .number = value };
}

struct fact fact_cuda_version(int packed)
{
	return packed > 0 ? fact_text("%d.%d", packed / 1000, packed % 1000 / 10)
			  : fact_unknown("none is installed");
}

struct fact fact_unknown(const char *fmt, ...)
{
	struct fact f = { .kind = FACT_UNKNOWN };
	va_list args;

	va_start(args, fmt);
	vsnprintf(f.text, sizeof(f.text), fmt, args);
	va_end(args);
	tidy(f.text);
	return f;
}

bool fact_is(const struct fact *f, const char *text)
{
	return f->kind == FACT_TEXT && !strcmp(f->text, text);
}

bool fact_true(const struct fact *f)
{
	return f->kind == FACT_BOOL && f->number;
}

const char *fact_or(const struct fact *f, const char *fallback)
{
	return f->kind == FACT_TEXT ? f->text : fallback;
}

json_t *fact_json(const struct fact *f)
{
	switch (f->kind) {
	case FACT_TEXT:
		return json_text(f->text);
	case FACT_INT:
		return json_integer(f->number);
	case FACT_REAL:
		return json_number(f->real);
	case FACT_BOOL:
		return json_boolean(f->number);
	case FACT_UNKNOWN:
		break;
	}
	return json_null();
}

void facts_add(json_t *o, const char *name, json_t *value, const char *why)
{
	json_t *reasons = json_object_get(o, "why_null");

	json_object_set_new(o, name, value ? value : json_null());
	if (value && !json_is_null(value))
		return;
	if (!reasons) {
		reasons = json_object();
		json_object_set_new(o, "why_null", reasons);
	}
	json_object_set_new(reasons, name, json_text(*why ? why : "not asked"));
}

json_t *facts_json(const struct fact_row *rows, const void *facts)
{
	json_t *o = json_object();

	for (const struct fact_row *row = rows; row->name; row++) {
		const struct fact *f =
			(const struct fact *)(const void *)((const char *)facts + row->offset);

		facts_add(o, row->name, fact_json(f), f->text);
	}
	return o;
}

/* ---- where facts are read --------------------------------------------------------------- */

enum { TEXT_MAX = 1 << 20, LOG_BYTES = 8192 };

/* ---- this machine ----------------------------------------------------------------------- */

#if defined(__x86_64__) || defined(__i386__)
/*
 * Leaf 0x40000000 is the hypervisor's name; one that also answers in the name of another (KVM for
 * Windows guests, Xen) gives its own 0x100 leaves later. Without a hypervisor the leaves hold
 * something else.
 */
static const struct cpuid *cpuid_here(void)
{
	static struct cpuid found;
	unsigned eax, ebx, ecx, edx, name[3];

	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx))
		return NULL;
	found = (struct cpuid){ .hypervisor = ecx >> 31 };
	for (unsigned i = 0; found.hypervisor && i < CPUID_SIGNATURES; i++) {
		unsigned leaf = 0x40000000u + 0x100 * i;

		__cpuid(leaf, eax, name[0], name[1], name[2]);
		/* eax is the last leaf of the block, or 0 in old KVM: in the first block only */
		if (i && (eax < leaf || eax > leaf + 0xff))
			continue;
		memcpy(found.signature[found.n], name, sizeof(name));
		found.n += *found.signature[found.n] != '\0';
	}
	return &found;
}
#else
static const struct cpuid *cpuid_here(void)
{
	return NULL;
}
#endif

static const char *kernel_log_here(void)
{
	enum { SYSLOG_ACTION_READ_ALL = 3 };
	static char text[LOG_BYTES + 1];
	int n = klogctl(SYSLOG_ACTION_READ_ALL, text, LOG_BYTES);

	if (n < 0)
		return NULL;
	text[n] = '\0';
	return text;
}

struct place place_here(void)
{
	return (struct place){ "", environ, cpuid_here(), kernel_log_here() };
}

/* ---- files ------------------------------------------------------------------------------ */

static void join(char full[PATH_MAX], const struct place *p, const char *path)
{
	CHECK(snprintf(full, PATH_MAX, "%s%s", p->root, path) < PATH_MAX, "%s", path);
}

/* Most hold a line: a small buffer at first. */
static char *read_all(FILE *f, size_t *n)
{
	char *text = NULL;

	*n = 0;
	for (size_t capacity = 1 << 12; capacity <= TEXT_MAX && *n == (text ? capacity / 2 : 0);
	     capacity *= 2) {
		char *more = realloc(text, capacity + 1);

		CHECK(more, "%zu bytes", capacity);
		text = more;
		*n += fread(text + *n, 1, capacity - *n, f);
	}
	text[*n] = '\0';
	return text;
}

char *place_bytes(const struct place *p, const char *path, size_t *n)
{
	char full[PATH_MAX], *text;
	FILE *f;
	int failed;

	join(full, p, path);
	f = fopen(full, "re");
	if (!f)
		return NULL;
	text = read_all(f, n);
	failed = ferror(f) ? errno : 0;
	fclose(f);
	if (!failed)
		return realloc(text, *n + 1);
	free(text);
	errno = failed;
	return NULL;
}

char *place_text(const struct place *p, const char *path)
{
	size_t n;

	return place_bytes(p, path, &n);
}

static struct fact unreadable(const char *path)
{
	return fact_unknown("%s: %s", path, strerror(errno));
}

static struct fact first_line(const struct place *p, const char *path)
{
	char *text = place_text(p, path);
	struct fact f;

	if (!text)
		return unreadable(path);
	text[strcspn(text, "\n")] = '\0';
	f = *text ? fact_text("%s", text) : fact_unknown("%s is empty", path);
	free(text);
	return f;
}

/* A path made like printf's text, in `name`. */
#define PATH_OF(name, fmt)                                                                         \
	char name[256];                                                                            \
	va_list args;                                                                              \
	va_start(args, fmt);                                                                       \
	vsnprintf(name, sizeof(name), fmt, args);                                                  \
	va_end(args)

struct fact place_line(const struct place *p, const char *path, ...)
{
	PATH_OF(name, path);
	return first_line(p, name);
}

struct fact place_number(const struct place *p, const char *path, ...)
{
	struct fact line;
	int64_t value;

	PATH_OF(name, path);
	line = first_line(p, name);
	if (!fact_known(&line))
		return line;
	if (sscanf(line.text, "%" SCNd64, &value) != 1)
		return fact_unknown("%s: no number in '%.60s'", name, line.text);
	return fact_int(value);
}

struct fact place_choice(const struct place *p, const char *path)
{
	struct fact line = first_line(p, path);
	char *from, *to;

	if (!fact_known(&line))
		return line;
	from = strchr(line.text, '[');
	to = from ? strchr(from, ']') : NULL;
	if (!to)
		return fact_unknown("%s: nothing chosen in '%.60s'", path, line.text);
	*to = '\0';
	return fact_text("%s", from + 1);
}

/* Is this line "key : value"? Returns the value. */
static const char *value_in(const char *line, const char *key)
{
	size_t n = strlen(key);

	if (strncmp(line, key, n))
		return NULL;
	line += n + strspn(line + n, " \t");
	return *line == ':' ? line + 1 : NULL;
}

struct fact place_value(const struct place *p, const char *path, const char *key)
{
	char *text = place_text(p, path), *rest = text, *line;
	struct fact f;

	if (!text)
		return unreadable(path);
	f = fact_unknown("%s has no '%s'", path, key);
	while (!fact_known(&f) && (line = strsep(&rest, "\n"))) {
		const char *value = value_in(line, key);

		if (value)
			f = fact_text("%s", value);
	}
	free(text);
	return f;
}

struct fact place_link(const struct place *p, const char *path, ...)
{
	char full[PATH_MAX], target[PATH_MAX], *slash;
	ssize_t n;

	PATH_OF(name, path);
	join(full, p, name);
	n = readlink(full, target, sizeof(target) - 1);
	if (n < 0)
		return unreadable(name);
	target[n] = '\0';
	slash = strrchr(target, '/');
	return fact_text("%s", slash ? slash + 1 : target);
}

bool place_has(const struct place *p, const char *path)
{
	char full[PATH_MAX];

	join(full, p, path);
	return !access(full, F_OK);
}

static int not_dots(const struct dirent *d)
{
	return strcmp(d->d_name, ".") && strcmp(d->d_name, "..");
}

struct dirent **place_names(const struct place *p, const char *path, int *n)
{
	struct dirent **names = NULL;
	char full[PATH_MAX];

	join(full, p, path);
	*n = scandir(full, &names, not_dots, alphasort);
	if (*n < 0)
		*n = 0;
	return names;
}

void place_names_free(struct dirent **names, int n)
{
	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

const char *place_env(const struct place *p, const char *name)
{
	size_t n = strlen(name);

	for (char *const *e = p->env; *e; e++)
		if (!strncmp(*e, name, n) && (*e)[n] == '=')
			return *e + n + 1;
	return NULL;
}
