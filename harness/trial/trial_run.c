/* trial_run.c - see trial_run.h. */
#include "harness/trial/trial_run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/check.h"
#include "common/inherited.h"
#include "common/preload.h"
#include "common/temporary.h"
#include "common/timing.h"
#include "harness/base/text.h"
#include "harness/profile/program_run.h"

/* ---- the stage ------------------------------------------------------------------------------ */

/* Without it the calls are not known, and nothing else is lost. */
static void open_span(struct stage *s)
{
	int fd;

	if (!preload_beside(SPAN_LIBRARY, s->library) || !preload_can(s->library)) {
		*s->library = '\0';
		return;
	}
	snprintf(s->span_path, sizeof(s->span_path), "/tmp/rift-span-XXXXXX");
	fd = mkostemp(s->span_path, O_CLOEXEC);
	if (fd >= 0)
		temporary_add(s->span_path);
	if (fd >= 0 && !ftruncate(fd, sizeof(struct program_span)))
		s->span = mmap(NULL, sizeof(struct program_span), PROT_READ | PROT_WRITE,
			       MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	if (s->span == MAP_FAILED)
		s->span = NULL;
	if (!s->span)
		*s->library = '\0';
}

static int open_layers(struct stage *s)
{
	int err = 0;

	for (int i = 0; i < s->plan->sides && !err; i++) {
		const char *text = s->plan->side[i].layer, *why;

		if (!text)
			continue;
		err = layer_parse_text(&s->layered[i], text, &s->copy[i]);
		why = err ? NULL : layer_missing(s->layered[i].layer);
		if (why)
			err = complain(ENODEV, "--layer '%s': not available here: %s",
				       text_shown(text).s, why);
	}
	return err;
}

int stage_open(struct stage *s, const struct trial_plan *plan, const char *pci)
{
	*s = (struct stage){ .plan = plan, .opened_ns = timing_monotonic_ns() };
#ifdef __x86_64__
	s->opened_ticks = span_ticks();
#endif
	s->error = memfd_create("rift-stderr", MFD_CLOEXEC);
	s->output = plan->same_output ? memfd_create("rift-stdout", MFD_CLOEXEC)
				      : open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (s->error < 0 || s->output < 0)
		return complain(errno, "no file for what the program writes: %s", strerror(errno));
	if (!plan->bare)
		open_span(s);
	s->has_nvml =
		*pci && nvml_open(&s->nvml, "libnvidia-ml.so.1") && nvml_choose(&s->nvml, pci);
	return open_layers(s);
}

void stage_close(struct stage *s)
{
	if (s->error > 0)
		close(s->error);
	if (s->output > 0)
		close(s->output);
	if (*s->span_path) {
		unlink(s->span_path);
		temporary_forget(s->span_path);
	}
	if (s->span)
		munmap((void *)(uintptr_t)s->span, sizeof(*s->span));
	for (int i = 0; i < TRIAL_SIDES_MAX; i++) {
		layer_release(&s->layered[i]);
		free(s->copy[i]);
	}
	nvml_close(&s->nvml);
	*s = (struct stage){ .plan = NULL };
}

/* ---- the process that becomes the program -----------------------------------------------------
 */

struct start {
	struct stage *stage;
	int side;
};

static int words_behind(char *const *argv, const char *against)
{
	char **words, *command;
	int n = 0;

	while (argv[n])
		n++;
	words = calloc((size_t)n + 5, sizeof(*words));
	CHECK(words && asprintf(&command, "exec %s \"$@\"", against) >= 0, "memory of a command");
	memcpy(words, (char *[]){ "sh", "-c", command, "sh" }, 4 * sizeof(*words));
	memcpy(words + 4, argv, (size_t)n * sizeof(*words));
	execv("/bin/sh", words);
	complain(errno, "/bin/sh: %s", strerror(errno));
	return LAYER_NOT_RUN;
}

static int become(void *of, char *const *argv)
{
	const struct start *start = of;
	const struct stage *s = start->stage;
	const struct trial_side *side = &s->plan->side[start->side];
	const char *library = *s->library ? s->library : NULL;
	int err;

	if (library) {
		setenv(SPAN_VARIABLE, s->span_path, 1);
		setenv(SPAN_NVTX_VARIABLE, library, 0); /* another tool's stays */
	}
	if (side->layer)
		return layer_enter(&s->layered[start->side], (char **)(uintptr_t)argv, true,
				   library);
	if (library)
		preload_add(library);
	inherited_restore();
	if (side->against)
		return words_behind(argv, side->against);
	execvp(argv[0], argv);
	err = errno;
	complain(err, "%s: cannot be started: %s", text_shown(argv[0]).s, strerror(err));
	return err == ENOENT ? LAYER_NOT_FOUND : LAYER_NOT_RUN;
}

/* ---- while it runs ----------------------------------------------------------------------------
 */

static int64_t device_bytes(const struct stage *s)
{
	struct fact used = nvml_memory_used(&s->nvml);

	return fact_known(&used) ? used.number : -1;
}

static double device_mj(const struct stage *s)
{
	struct fact energy = nvml_bits(&s->nvml, "nvmlDeviceGetTotalEnergyConsumption");

	return fact_known(&energy) ? (double)energy.number : NAN;
}

static void look(void *of)
{
	struct stage *s = ((const struct start *)of)->stage;
	int64_t used = device_bytes(s);

	s->used_most = used > s->used_most ? used : s->used_most;
}

/* ---- what it left behind ----------------------------------------------------------------------
 */

static void add_file(struct hash *h, int fd)
{
	char piece[1 << 16];
	ssize_t n;

	lseek(fd, 0, SEEK_SET);
	while ((n = read(fd, piece, sizeof(piece))) > 0)
		hash_add(h, piece, (size_t)n);
}

/* What a file is, so that one that a run has written is told from one of an earlier run. */
static struct stage_file file_now(const char *path)
{
	struct stage_file f = { .there = false };
	struct stat st;

	if (!stat(path, &st))
		f = (struct stage_file){ true,	     st.st_dev,	 st.st_ino,
					 st.st_size, st.st_mtim, st.st_ctim };
	return f;
}

static bool is_alike(const struct stage_file *a, const struct stage_file *b)
{
	return a->there == b->there && a->device == b->device && a->inode == b->inode &&
	       a->size == b->size && !memcmp(&a->changed, &b->changed, sizeof(a->changed)) &&
	       !memcmp(&a->status, &b->status, sizeof(a->status));
}

static void add_named(struct hash *h, const char *path, const struct stage_file *before)
{
	struct stage_file now = file_now(path);
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	hash_add(h, path, strlen(path) + 1);
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || is_alike(before, &now))
		hash_add(h, "not written", 11);
	else
		add_file(h, fd);
	if (fd >= 0)
		close(fd);
}

static void take_output(const struct stage *s, struct trial_run *out)
{
	struct hash h;

	if (!s->plan->same_output)
		return;
	hash_start(&h);
	add_file(&h, s->output);
	for (int i = 0; i < s->plan->files; i++)
		add_named(&h, s->plan->file[i], &s->file[i]);
	hash_text(&h, out->output);
}

/* The last line on stderr. */
static void take_said(const struct stage *s, struct trial_run *out)
{
	char end[sizeof(out->said)] = "", *line;
	off_t size = lseek(s->error, 0, SEEK_END);
	off_t from = size > (off_t)sizeof(end) - 1 ? size - (off_t)sizeof(end) + 1 : 0;
	ssize_t n = pread(s->error, end, sizeof(end) - 1, from);

	while (n > 0 && (end[n - 1] == '\n' || end[n - 1] == ' '))
		end[--n] = '\0';
	line = n > 0 ? strrchr(end, '\n') : NULL;
	snprintf(out->said, sizeof(out->said), "%.159s", text_escaped(line ? line + 1 : end).s);
}

/* What a tick of the processor's counter takes, by the 20 ms and more that a stage has stood. */
static double ns_per_tick(const struct stage *s)
{
#ifdef __x86_64__
	return (double)(timing_monotonic_ns() - s->opened_ns) /
	       (double)(span_ticks() - s->opened_ticks);
#else
	(void)s;
	return NAN;
#endif
}

static void take_ranges(const struct program_span *span, double tick_ns, struct trial_run *out)
{
	for (uint32_t i = 0; i < span->ranges && i < SPAN_RANGES_MAX; i++) {
		struct trial_range *r = &out->range[out->ranges];

		/* the program may write there, too */
		if (!*span->range[i].name || (int64_t)span->range[i].count < 0)
			continue;
		out->ranges++;
		snprintf(r->name, sizeof(r->name), "%.*s", SPAN_NAME - 1, span->range[i].name);
		r->count = (int64_t)span->range[i].count;
		r->s = 1e-9 * tick_ns * (double)span->range[i].ticks;
	}
}

static void take_span(const struct stage *s, const struct program_run *run, struct trial_run *out)
{
	double tick_ns = ns_per_tick(s);
	struct program_span span;

	if (!s->span)
		return;
	span = *(struct program_span *)(uintptr_t)s->span;
	take_ranges(&span, tick_ns, out);
	if (!span.first_ns)
		return;
	out->value[TRIAL_BEFORE_S] = 1e-9 * (double)(span.first_ns - run->begun_ns);
	/* a call is noted before it is known to be the first: of one alone, last is before first */
	out->value[TRIAL_CALLS_S] = 0;
	if (span.last_ticks > span.first_ticks)
		out->value[TRIAL_CALLS_S] =
			1e-9 * tick_ns * (double)(span.last_ticks - span.first_ticks);
}

static void take(const struct stage *s, const struct program_run *run, double mj_before,
		 struct trial_run *out)
{
	*out = (struct trial_run){ .there = true,
				   .wall_s = 1e-9 * (double)run->wall_ns,
				   .status = run->status,
				   .late = run->late,
				   .left = run->left };
	for (int q = 0; q < TRIAL_QUANTITIES; q++)
		out->value[q] = NAN;
	out->value[TRIAL_USER_S] = 1e-9 * (double)run->user_ns;
	out->value[TRIAL_SYSTEM_S] = 1e-9 * (double)run->system_ns;
	out->value[TRIAL_PEAK_BYTES] = (double)run->peak_bytes;
	take_span(s, run, out);
	trial_run_derive(out);
	if (s->has_nvml && s->used_before >= 0)
		out->value[TRIAL_DEVICE_BYTES] = (double)(s->used_most - s->used_before);
	if (s->has_nvml)
		out->value[TRIAL_ENERGY_J] = 1e-3 * (device_mj(s) - mj_before);
	if (run->status || run->late)
		take_said(s, out);
}

static void clear(const struct stage *s)
{
	lseek(s->error, 0, SEEK_SET);
	CHECK(!ftruncate(s->error, 0), "a file of memory cannot be emptied");
	if (s->plan->same_output) {
		lseek(s->output, 0, SEEK_SET);
		CHECK(!ftruncate(s->output, 0), "a file of memory cannot be emptied");
	}
	if (s->span)
		memset((void *)(uintptr_t)s->span, 0, sizeof(*s->span));
}

int stage_run(struct stage *s, int side, struct trial_run *out)
{
	struct start start = { s, side };
	const struct program program = {
		.argv = (char *const *)(uintptr_t)s->plan->argv,
		.output = s->output,
		.error = s->error,
		.patience_ns = (int64_t)(1e9 * s->plan->patience_s),
		.become = become,
		.meanwhile = s->has_nvml ? look : NULL,
		.of = &start,
		.apart = true,
	};
	struct program_run run;
	double mj;
	int err;

	clear(s);
	s->used_before = s->used_most = s->has_nvml ? device_bytes(s) : -1;
	mj = s->has_nvml ? device_mj(s) : NAN;
	for (int i = 0; i < s->plan->files; i++)
		s->file[i] = file_now(s->plan->file[i]);
	err = program_run(&program, &run);
	if (err)
		return err;
	take(s, &run, mj, out);
	take_output(s, out);
	return 0;
}
