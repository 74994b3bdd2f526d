/*
 * fuzz.c FIRST END [SEED] - rift's commands on damaged files: case FIRST to END - 1, each in a
 * process of its own, forked from this one so that a case takes milliseconds under the sanitizers
 * too.
 *
 * A case draws a sample, damages it, and gives it to one command. It must end by itself, within 60
 * s of processor time, with one of rift's exit codes; with 3 and above after a line; and it may
 * send no control character to the terminal. What does not is kept in a folder, and named.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "common/check.h"
#include "harness/cmd/options.h"
#include "harness/platform/system.h"
#include "harness/session/worker.h"
#include "tests/enemy/mutate.h"
#include "tests/fake_session.h"

enum { PROCESSOR_S = 60, WALL_S = 120, ARGS_MAX = 24, SAMPLES_MAX = 32 };

/* A report must end the process by a signal; leaks are for other tests. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "abort_on_error=1:detect_leaks=0:allocator_may_return_null=1:hard_rss_limit_mb=3000";
}

const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
	return "abort_on_error=1:print_stacktrace=1";
}

/* ---- samples ---------------------------------------------------------------------------- */

enum kind {
	SESSION,
	OTHER,
	COSTS,
	PART,
	SHARED,
	TRACED,
	GRID,
	CURVES,
	VISITS,
	READS,
	VIDEO,
	IMAGE,
	IDX,
	LABELS,
	STATE,
	CONSTANTS,
	STATES
};

static struct sample {
	enum kind kind;
	struct bytes bytes;
} sample[SAMPLES_MAX];
static int n_samples;
static char root[4096], work[] = "/tmp/rift-fuzz-XXXXXX";

static struct bytes read_whole(const char *path)
{
	struct bytes b = { 0 };
	FILE *f = fopen(path, "rb");
	char piece[1 << 16];
	size_t got;

	CHECK(f, "%s", path);
	while ((got = fread(piece, 1, sizeof(piece), f)) > 0) {
		b.s = realloc(b.s, b.n + got + 1);
		CHECK(b.s, "memory");
		memcpy(b.s + b.n, piece, got);
		b.s[b.n += got] = '\0';
	}
	fclose(f);
	return b;
}

static void write_whole(const char *path, const char *s, size_t n)
{
	FILE *f = fopen(path, "wb");

	CHECK(f && fwrite(s, 1, n, f) == n && !fclose(f), "%s", path);
}

static void add(enum kind kind, const char *s, size_t n)
{
	CHECK(n_samples < SAMPLES_MAX, "more than %d samples", SAMPLES_MAX);
	sample[n_samples].kind = kind;
	bytes_set(&sample[n_samples++].bytes, s, n);
}

/* The beginning of a file: `most` bytes, to the end of the line. */
static void add_file(enum kind kind, const char *name, size_t most)
{
	char path[8192];
	struct bytes b;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	b = read_whole(path);
	while (most && most < b.n && b.s[most - 1] != '\n')
		most++;
	add(kind, b.s, most && most < b.n ? most : b.n);
	free(b.s);
}

static void add_unpacked(enum kind kind, const char *name)
{
	char path[8192], piece[1 << 16];
	struct bytes b = { 0 };
	gzFile f;
	int got;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	f = gzopen(path, "rb");
	CHECK(f, "%s", path);
	while ((got = gzread(f, piece, sizeof(piece))) > 0) {
		b.s = realloc(b.s, b.n + (size_t)got);
		CHECK(b.s, "memory");
		memcpy(b.s + b.n, piece, (size_t)got);
		b.n += (size_t)got;
	}
	gzclose(f);
	add(kind, b.s, b.n);
	free(b.s);
}

static void add_session(enum kind kind, const char *mode, int sides, int processes)
{
	struct fake_session s = fake_session();
	struct bytes b;

	s.quick = true;
	s.workload = kind == OTHER ? "myocyte" : "launch";
	s.size = kind == OTHER ? "1,256" : "0,10";
	s.depth = "1,64";
	s.mode = mode;
	s.processes = processes;
	s.sides = sides;
	s.blocks = 3;
	s.model[1].v[0] *= 1.2;
	fake_session_write(&s, "made.jsonl");
	b = read_whole("made.jsonl");
	unlink("made.jsonl");
	add(kind, b.s, b.n);
	free(b.s);
}

static struct bytes packed_of(const char *s, size_t n)
{
	gzFile f = gzopen("packed.gz", "wb");
	struct bytes b;

	CHECK(f && gzwrite(f, s, (unsigned)n) == (int)n && gzclose(f) == Z_OK, "gzip");
	b = read_whole("packed.gz");
	unlink("packed.gz");
	return b;
}

static void add_reads(void)
{
	static const char fasta[] =
		">q1 first\nACGTACGTNN\nACGT\n>t1\nACGTTCGT\n>q2\n\n>t2\r\nGG\r\n";
	static const char fastq[] = "@q1\nACGTACGT\n+\nIIIIIIII\n@t1 x\nACGTAC\n+t1\nIIIIII\n";
	struct bytes packed;

	add(READS, fasta, sizeof(fasta) - 1);
	add(READS, fastq, sizeof(fastq) - 1);
	packed = packed_of(fasta, sizeof(fasta) - 1);
	add(READS, packed.s, packed.n);
	free(packed.s);
}

static void add_pixels(enum kind kind, const char *head, size_t head_bytes, int images, size_t n)
{
	struct bytes b = { 0 };
	char *all = malloc((head_bytes + n) * (size_t)images), *end = all;

	CHECK(all, "memory");
	for (int i = 0; i < images; i++) {
		memcpy(end, head, head_bytes);
		end += head_bytes;
		for (size_t k = 0; k < n; k++)
			*end++ = (char)(k * 7 + (size_t)i);
	}
	add(kind, all, (size_t)(end - all));
	free(all);
	free(b.s);
}

static void make_samples(void)
{
	static const char idx[] = "\0\0\10\3\0\0\0\24\0\0\0\34\0\0\0\34";
	static const char labels[] =
		"\0\0\10\1\0\0\0\24\0\1\2\3\4\5\6\7\10\11\0\1\2\3\4\5\6\7\10\11";

	add_session(SESSION, "stream,graph", 1, 5);
	add_session(SESSION, "stream", 1, 3);
	add_session(SESSION, "stream,graph", 2, 5);
	add_session(SESSION, "stream", 2, 3);
	add_session(OTHER, "stream,graph", 1, 5);
	add_session(OTHER, "stream", 2, 3);
	add_file(OTHER, "data/sessions/h200-block.jsonl", 0);
	add_file(COSTS, "data/sessions/h200-costs.json", 0);
	add_file(PART, "tests/enemy/samples/interrupted.jsonl.part", 0);
	add_file(VISITS, "tests/enemy/samples/interrupted.jsonl.visits", 0);
	add_unpacked(SHARED, "data/sessions/share-h200/equal-1.jsonl.gz");
	add_unpacked(TRACED, "data/traces/cpu-mlp.trace.gz");
	add_unpacked(GRID, "data/sessions/graphs-h200/layer-cpu-100.json.gz");
	add_unpacked(CURVES, "data/sessions/warmup-h200/long.json.gz");
	add_reads();
	add_pixels(VIDEO, "P5\n16 12\n255\n", 13, 3, 192);
	add_pixels(IMAGE, "P6 # c\n16 12\n255\n", 17, 1, 576);
	add_pixels(IDX, idx, 16, 1, 20 * 784);
	add(LABELS, labels, sizeof(labels) - 1);
	add_file(STATE, "workloads/myocyte/initial_state.csv", 0);
	add_file(CONSTANTS, "workloads/myocyte/parameters.csv", 0);
	add_file(STATES, "workloads/myocyte/golden/derivatives.csv", 6000);
}

/* ---- commands --------------------------------------------------------------------------- */

struct line {
	enum kind kind;
	const char *words; /* F: the damaged file; G, O, C: good ones of these kinds */
};

#define ONCE " --depth 1 --samples 1 --check-steps 1 --quiet"

static const struct line lines[] = {
	{ SESSION, "show --check F" },
	{ SESSION, "show --check F --csv out.csv" },
	{ SESSION, "show --check F --ratios out.csv" },
	{ SESSION, "show F" },
	{ SESSION, "fit F" },
	{ SESSION, "fit F --json" },
	{ SESSION, "compare F G --force" },
	{ SESSION, "predict O --on F" },
	{ SESSION, "predict O --on F --measured O" },
	{ SESSION, "predict --validate O --on F" },
	{ SESSION, "fit --stack F" },
	{ SESSION, "fit --stack F --from G --json" },
	{ SESSION, "fit --stack F --costs C" },
	{ SESSION, "compare F G" },
	{ SESSION, "compare G F --json" },
	{ SESSION, "compare F" },
	{ SESSION, "compare F --all" },
	{ SESSION, "compare F --self-test" },
	{ SESSION, "plot F --output plots" },
	{ SESSION, "plot F G --output plots" },
	{ OTHER, "predict F --on G" },
	{ OTHER, "predict --validate F --on G" },
	{ OTHER, "predict --validate F --on G --json" },
	{ OTHER, "fit --stack F --from G" },
	{ OTHER, "fit --stack F --all" },
	{ OTHER, "fit F" },
	{ OTHER, "show F" },
	{ OTHER, "compare F O" },
	{ OTHER, "compare F O --force" },
	{ OTHER, "plot F --output plots" },
	{ COSTS, "show F" },
	{ COSTS, "show --check F" },
	{ COSTS, "compare F C" },
	{ COSTS, "compare C F --json" },
	{ COSTS, "compare C F --strict" },
	{ COSTS, "fit --stack G --costs F" },
	{ PART, "sweep --resume F --quiet" },
	{ PART, "show --check F" },
	{ PART, "show F" },
	{ VISITS, "sweep --resume s.jsonl --quiet" },
	{ SHARED, "show --check F" },
	{ SHARED, "share --from F" },
	{ SHARED, "share --from F --json" },
	{ TRACED, "show --check F" },
	{ TRACED, "profile F" },
	{ TRACED, "profile F --json --chrome out.json" },
	{ GRID, "show F" },
	{ GRID, "plot F --output plots" },
	{ CURVES, "show F" },
	{ CURVES, "plot F --output plots" },
	{ READS, "run alignment input=F" ONCE },
	{ READS, "run alignment input=F,G.fa" ONCE },
	{ VIDEO, "run particlefilter particles=20 radius=3 start_row=4 start_col=4 input=F" ONCE },
	{ VIDEO, "run particlefilter particles=20 radius=3 raw=12,16 input=F" ONCE },
	{ IMAGE, "run stereo left=F right=G.ppm" ONCE },
	{ IMAGE, "run stereo left=G.ppm right=F" ONCE },
	{ IDX, "run mlp folder=. batch=4" ONCE },
	{ LABELS, "run mlp folder=. batch=4" ONCE },
	{ STATE, "run myocyte initial=F" ONCE },
	{ CONSTANTS, "run myocyte parameters=F" ONCE },
	{ STATES, "run myocyte states=F derivatives=out.csv --quiet" },
};

static const struct command *const commands[] = {
	&command_show,	&command_fit, &command_predict, &command_compare, &command_plot,
	&command_sweep, &command_run, &command_share,	&command_profile,
};

/* A file of the kind that the case takes, under the name that its command expects. */
static const char *file_name(enum kind kind)
{
	switch (kind) {
	case PART:
	case VISITS:
		return kind == PART ? "s.jsonl.part" : "s.jsonl.visits";
	case IDX:
		return "train-images-idx3-ubyte";
	case LABELS:
		return "train-labels-idx1-ubyte";
	default:
		return "file";
	}
}

static const struct sample *first_of(enum kind kind)
{
	const struct sample *s = sample;

	while (s->kind != kind)
		s++;
	return s;
}

static void put(enum kind kind, const char *name)
{
	const struct bytes *b = &first_of(kind)->bytes;

	write_whole(name, b->s, b->n);
}

/* One is not compared with itself. */
static void put_another_costs(const char *name)
{
	struct bytes b = { 0 };
	char *id;

	bytes_set(&b, first_of(COSTS)->bytes.s, first_of(COSTS)->bytes.n);
	id = strstr(b.s, "\"session_id\": \"");
	CHECK(id, "a card without an id");
	id[15] = id[15] == '0' ? '1' : '0';
	write_whole(name, b.s, b.n);
	free(b.s);
}

/* What the line names beside its damaged file, whole. */
static void put_others(const struct line *l)
{
	if (l->kind <= COSTS) {
		put(SESSION, "good.jsonl");
		put(OTHER, "other.jsonl");
		put_another_costs("good.json");
	}
	if (l->kind == VISITS)
		put(PART, "s.jsonl.part");
	if (l->kind == READS)
		put(READS, "G.fa");
	if (l->kind == IMAGE)
		put(IMAGE, "G.ppm");
	if (l->kind == IDX || l->kind == LABELS) {
		put(IDX, "t10k-images-idx3-ubyte");
		put(LABELS, "t10k-labels-idx1-ubyte");
		put(IDX, "train-images-idx3-ubyte");
		put(LABELS, "train-labels-idx1-ubyte");
	}
}

static void damage(struct bytes *b, enum kind kind, uint64_t *state)
{
	bool json = kind <= VISITS;
	int times = draw(state) % 2 ? 1 : 1 + (int)draw_below(state, 3);

	for (int i = 0; i < times; i++)
		if (!json || draw(state) % 5 == 0 || !mutate_json(b, state))
			mutate_bytes(b, state);
	if (json && draw(state) % 4)
		mutate_sign(b);
}

/* As somebody may have left it: compressed, and sometimes damaged behind that. */
static void pack(struct bytes *b, uint64_t *state)
{
	struct bytes packed = packed_of(b->s, b->n);

	bytes_set(b, packed.s, packed.n);
	free(packed.s);
	if (draw(state) % 2)
		mutate_bytes(b, state);
}

/* ---- a case ----------------------------------------------------------------------------- */

/* F, G and C become names; the words of the line, cut apart in text. */
static int cut(const struct line *l, char *text, size_t room, char **word)
{
	size_t n = 0;
	int words = 0;

	for (const char *c = l->words; *c && n + 64 < room; c++) {
		bool alone = (c == l->words || strchr(" =,", c[-1])) && strchr(" ,", c[1]);

		alone |= (c == l->words || strchr(" =,", c[-1])) && !c[1];
		if (alone && *c == 'F')
			n += (size_t)sprintf(text + n, "%s", file_name(l->kind));
		else if (alone && *c == 'G')
			n += (size_t)sprintf(text + n, "good.jsonl");
		else if (alone && *c == 'O')
			n += (size_t)sprintf(text + n, "other.jsonl");
		else if (alone && *c == 'C')
			n += (size_t)sprintf(text + n, "good.json");
		else
			text[n++] = *c;
	}
	text[n] = '\0';
	for (char *at = strtok(text, " "); at && words < ARGS_MAX - 1; at = strtok(NULL, " "))
		word[words++] = at;
	word[words] = NULL;
	return words;
}

/* In the child: rift's main(), without its help. */
static void obey(const struct line *l)
{
	const struct rlimit processor = { PROCESSOR_S, PROCESSOR_S + 2 };
	const struct rlimit file = { 1 << 30, 1 << 30 }, core = { 0, 0 };
	char text[512], *word[ARGS_MAX];
	int n = cut(l, text, sizeof(text), word), code = 3;
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setrlimit(RLIMIT_CPU, &processor);
	setrlimit(RLIMIT_FSIZE, &file);
	setrlimit(RLIMIT_CORE, &core);
	CHECK(freopen("/dev/null", "r", stdin) && freopen("../out", "w", stdout) &&
		      freopen("../err", "w", stderr),
	      "outputs");
	setvbuf(stderr, NULL, _IONBF, 0);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(commands[i]->name, word[0]))
			code = command_main(commands[i], n, word);
	fclose(stdout);
	_exit(code);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *at)
{
	(void)st, (void)flag;
	return at->level ? remove(path) : 0;
}

static const char *control_character(const char *path)
{
	struct bytes b = read_whole(path);
	const char *why = NULL;

	for (size_t i = 0; i < b.n && !why; i++)
		if ((unsigned char)b.s[i] < 0x20 && b.s[i] != '\n' && b.s[i] != '\t')
			why = "a control character is printed";
	if (b.n && memmem(b.s, b.n, "\nrift: FORGED", 13))
		why = "a text of the file is a line of its own";
	free(b.s);
	return why;
}

/* Why that is no end of rift's, or NULL. */
static const char *judge(int status, bool late)
{
	static const int known[] = { 0, 1, 2, 3, 4, 5, 75 };
	static char text[64];
	struct stat err;
	bool is_known = false;

	if (late)
		return "it hangs";
	if (WIFSIGNALED(status)) {
		snprintf(text, sizeof(text), "signal %d", WTERMSIG(status));
		return text;
	}
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		is_known |= WEXITSTATUS(status) == known[i];
	if (!is_known) {
		snprintf(text, sizeof(text), "exit code %d", WEXITSTATUS(status));
		return text;
	}
	if (WEXITSTATUS(status) >= 3 && WEXITSTATUS(status) != 75 &&
	    (stat("../err", &err) || !err.st_size))
		return "refused without a line";
	return control_character("../out") ? control_character("../out")
					   : control_character("../err");
}

static int await(pid_t pid, bool *late)
{
	const struct timespec most = { WALL_S, 0 };
	int status = 0;
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	*late = false;
	while (waitpid(pid, &status, WNOHANG) == 0)
		if (sigtimedwait(&child, NULL, &most) < 0 && errno == EAGAIN) {
			*late = true;
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			break;
		}
	return status;
}

static void keep(long number, const struct line *l, const char *why)
{
	char command[3 * sizeof(root)];

	printf("fuzz: case %ld: rift %s: %s; kept in fuzz-%ld\n", number, l->words, why, number);
	fflush(stdout);
	snprintf(command, sizeof(command),
		 "PATH=/usr/bin:/bin; mkdir -p '%s/build/fuzz-%ld' && cp -r . ../out ../err "
		 "'%s/build/fuzz-%ld/'",
		 root, number, root, number);
	if (system(command))
		printf("fuzz: case %ld: could not be kept\n", number);
}

static bool run_case(long number, uint64_t seed, long exits[4])
{
	uint64_t state = seed * 1000003 + (uint64_t)number;
	const struct line *l = &lines[draw_below(&state, sizeof(lines) / sizeof(*lines))];
	const struct sample *s;
	struct bytes b = { 0 };
	const char *why;
	bool late;
	pid_t pid;
	int status;

	do
		s = &sample[draw_below(&state, (size_t)n_samples)];
	while (s->kind != l->kind);
	nftw(".", remove_one, 16, FTW_DEPTH | FTW_PHYS);
	put_others(l);
	bytes_set(&b, s->bytes.s, s->bytes.n);
	damage(&b, l->kind, &state);
	if (l->kind <= VISITS && draw(&state) % 8 == 0)
		pack(&b, &state);
	write_whole(file_name(l->kind), b.s, b.n);
	free(b.s);
	fflush(stdout);
	pid = fork();
	CHECK(pid >= 0, "fork: %s", strerror(errno));
	if (!pid)
		obey(l);
	status = await(pid, &late);
	why = judge(status, late);
	if (why)
		keep(number, l, why);
	else
		exits[WEXITSTATUS(status) < 3 ? WEXITSTATUS(status) : 3]++;
	return !why;
}

/* ---- all of them ------------------------------------------------------------------------ */

static void prepare(void)
{
	sigset_t child;

	CHECK(getcwd(root, sizeof(root)) && mkdtemp(work) && !chdir(work), "%s", work);
	setenv("RIFT_HOME", root, 1);
	setenv("RIFT_CPU_WORKERS", "1", 1);
	setenv("PATH", "/nonexistent", 1); /* no gnuplot: what it would draw is of no interest */
	make_samples();
	CHECK(!mkdir("w", 0700) && !chdir("w"), "%s", work);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
}

static void clean(void)
{
	CHECK(!chdir(work), "%s", work);
	nftw(".", remove_one, 16, FTW_DEPTH | FTW_PHYS);
	CHECK(!chdir("/"), "/");
	rmdir(work);
}

int main(int argc, char **argv)
{
	long first, end, failed = 0, exits[4] = { 0 };
	uint64_t seed;

	/* a resumed sweep starts its workers so: there is nothing to measure here */
	if (argc > 1 && !strncmp(argv[1], "sweep-", 6))
		return -complain(4, "no device");
	CHECK(argc > 2, "fuzz FIRST END [SEED]");
	first = atol(argv[1]);
	end = atol(argv[2]);
	seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
	prepare();
	for (long i = first; i < end; i++) {
		failed += !run_case(i, seed, exits);
		if (i % 1000 == 999)
			fprintf(stderr, "fuzz: %ld\n", i + 1);
	}
	clean();
	printf("fuzz: cases %ld to %ld: %ld failed; exit codes 0: %ld, 1: %ld, 2: %ld, others: "
	       "%ld\n",
	       first, end - 1, failed, exits[0], exits[1], exits[2], exits[3]);
	return failed != 0;
}
