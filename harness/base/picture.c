/* picture.c - pictures: what a struct plot describes, drawn by gnuplot. */
#include "harness/base/picture.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/check.h"
#include "common/escape.h"
#include "common/datafile.h"
#include "common/typed.h"
#include "harness/base/command.h"
#include "harness/base/json.h"

/* ---- running gnuplot -------------------------------------------------------------------- */

/* What plots/style.gp and the scripts were written for; 5.2 is of 2017. */
enum { MAJOR = 5, MINOR = 2 };

enum { OUTPUT_BYTES = 4096 };

/* The end of what a child writes, at most OUTPUT_BYTES - 1 of it. */
static void read_tail(int fd, char text[OUTPUT_BYTES])
{
	const size_t half = OUTPUT_BYTES / 2;
	size_t used = 0;
	ssize_t n;

	while ((n = read(fd, text + used, OUTPUT_BYTES - 1 - used)) > 0 ||
	       (n < 0 && errno == EINTR)) {
		used += n > 0 ? (size_t)n : 0;
		if (used < OUTPUT_BYTES - 1)
			continue;
		used -= half;
		memmove(text, text + half, used);
	}
	text[used] = '\0';
}

/* The environment with LC_ALL=C.UTF-8: in a locale without UTF-8 gnuplot remarks on every chart. */
static char **utf8_environment(void)
{
	static char locale[] = "LC_ALL=C.UTF-8";
	char **env, **end;
	size_t n = 0;

	while (environ[n])
		n++;
	env = end = calloc(n + 2, sizeof(*env));
	CHECK(env, "memory of %zu variables", n);
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], "LC_ALL=", strlen("LC_ALL=")))
			*end++ = environ[i];
	*end = locale;
	return env;
}

/* stdin is empty, both outputs go to the pipe. Returns 0 or an errno. */
static int spawn(pid_t *pid, const char *folder, char *const argv[], const int pipe_fd[2])
{
	posix_spawn_file_actions_t files;
	char **env = utf8_environment();
	int err = posix_spawn_file_actions_init(&files);

	if (err) {
		free(env);
		return err;
	}
	err = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!err)
		err = posix_spawn_file_actions_adddup2(&files, pipe_fd[1], STDOUT_FILENO);
	if (!err)
		err = posix_spawn_file_actions_adddup2(&files, pipe_fd[1], STDERR_FILENO);
	if (!err)
		err = posix_spawn_file_actions_addchdir_np(&files, folder);
	if (!err)
		err = posix_spawnp(pid, argv[0], &files, NULL, argv, env);
	free(env);
	posix_spawn_file_actions_destroy(&files);
	return err;
}

/* Runs and waits. Returns 0 with the status as of waitpid(), or an errno. */
static int run_gnuplot(const char *folder, char *const argv[], char text[OUTPUT_BYTES], int *status)
{
	int fd[2], err;
	pid_t pid;

	*text = '\0';
	if (pipe2(fd, O_CLOEXEC))
		return errno;
	err = spawn(&pid, folder, argv, fd);
	close(fd[1]);
	if (!err)
		read_tail(fd[0], text);
	close(fd[0]);
	while (!err && waitpid(pid, status, 0) < 0)
		if (errno != EINTR)
			err = errno;
	return err;
}

/* gnuplot's errors end with the line that says what is wrong, and where. */
static struct gnuplot_words last_line(const char *text)
{
	struct gnuplot_words words;
	char line[sizeof(words.s)];
	const char *end = text + strlen(text), *begin;

	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	for (begin = end; begin > text && begin[-1] != '\n'; begin--)
		;
	snprintf(line, sizeof(line), "%.*s", (int)(end - begin), begin);
	for (char *c = line; *c; c++)
		*c = iscntrl((unsigned char)*c) ? '?' : *c;
	snprintf(words.s, sizeof(words.s), "%.250s", text_escaped(line).s);
	return words;
}

/* ---- by hand ---------------------------------------------------------------------------- */

char *gnuplot_by_hand(const char *folder, const char *script)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK(out, "memory of a name");
	fputs(*folder == '-' ? "cd -- " : "cd ", out);
	escape_shell(out, folder);
	fprintf(out, " && gnuplot %s", script);
	CHECK(!fclose(out), "memory of a name");
	return text;
}

/* ---- which gnuplot ---------------------------------------------------------------------- */

static int refuse_script(const char *why, const char *folder, const char *script)
{
	char *again = gnuplot_by_hand(folder, script);
	int err = complain(ENOENT,
			   "not drawn: %s; install one, on Debian or Ubuntu with: apt-get install "
			   "gnuplot-nox; then: %s",
			   why, again);

	free(again);
	return err;
}

bool gnuplot_suffices(const char *version)
{
	int major, minor;

	return sscanf(version, "gnuplot %d.%d", &major, &minor) == 2 &&
	       (major > MAJOR || (major == MAJOR && minor >= MINOR));
}

int gnuplot_ask(struct gnuplot_words *version)
{
	char *const argv[] = { "gnuplot", "--version", NULL };
	char text[OUTPUT_BYTES];
	int status, err = run_gnuplot("/", argv, text, &status);

	*version = last_line(text);
	return -err;
}

/* It is asked until it suffices: to start it takes as long as to draw. */
int gnuplot_check(const char *folder, const char *script)
{
	static bool suffices;
	struct gnuplot_words version;
	char why[384];
	int err;

	if (suffices)
		return 0;
	err = gnuplot_ask(&version);
	if (err == -ENOENT)
		return refuse_script("no gnuplot on PATH", folder, script);
	if (err)
		return complain(-err, "not drawn: cannot start gnuplot: %s", strerror(-err));
	suffices = gnuplot_suffices(version.s);
	if (suffices)
		return 0;
	snprintf(why, sizeof(why), "gnuplot %d.%d or newer is needed, the one on PATH says '%s'",
		 MAJOR, MINOR, version.s);
	return refuse_script(why, folder, script);
}

/* ---- a script --------------------------------------------------------------------------- */

static int complain_status(int status, const char *again, const char *words)
{
	if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGTERM))
		return complain(EINTR, "not drawn: gnuplot was interrupted; to draw again: %s",
				again);
	if (WIFSIGNALED(status))
		return complain(EIO, "not drawn: signal %d ended gnuplot; to draw again: %s",
				WTERMSIG(status), again);
	return complain(EIO, "not drawn: gnuplot failed with %s; to draw again: %s",
			*words ? words : "no word", again);
}

static int judge_status(int status, const char *folder, const char *script, const char *words)
{
	char *again;
	int err;

	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	again = gnuplot_by_hand(folder, script);
	err = complain_status(status, again, words);
	free(again);
	return err;
}

int gnuplot_run(const char *folder, const char *script, const char *part,
		struct gnuplot_words *said)
{
	char text[OUTPUT_BYTES], assignment[128], name[256];
	char *const argv[] = { "gnuplot", "--default-settings", "-e", assignment, name, NULL };
	int status, err = gnuplot_check(folder, script);

	*said = (struct gnuplot_words){ "" };
	if (err)
		return err;
	snprintf(assignment, sizeof(assignment), "part = '%s'", part);
	snprintf(name, sizeof(name), "%s", script);
	err = run_gnuplot(folder, argv, text, &status);
	if (err)
		return complain(err, "not drawn: cannot run gnuplot in %s: %s", folder,
				strerror(err));
	*said = last_line(text);
	return judge_status(status, folder, script, said->s);
}

/* ---- a picture -------------------------------------------------------------------------- */

/* A path that is made of pieces; freed by the caller. */
static char *part_path(const struct plot *p, const char *suffix, const char *part)
{
	char *path;

	CHECK(asprintf(&path, "%s/%s%s%s", p->folder, p->name, suffix, part) > 0, "%s", p->name);
	return path;
}

/* ---- the folder ------------------------------------------------------------------------- */

/* The parts of the path one after the other; what is there already is no error. */
static int make_folders(char *path)
{
	for (char *slash = path; slash;) {
		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = '\0';
		if (mkdir(path, 0777) && errno != EEXIST)
			return errno;
		if (slash)
			*slash = '/';
	}
	return 0;
}

int picture_folder(const char *label, const char *folder)
{
	char *path = strdup(folder);
	struct stat st;
	int err;

	CHECK(path, "%s", folder);
	if (!strcmp(folder, "-")) {
		free(path);
		return complain(EINVAL,
				"%s=-: is not a folder; for a folder of that name write ./-",
				label);
	}
	err = make_folders(path);
	free(path);
	if (err)
		return complain(err, "%s=%s: cannot make this folder: %s", label, folder,
				strerror(err));
	if (stat(folder, &st))
		return complain(errno, "%s=%s: %s", label, folder, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return complain(ENOTDIR, "%s=%s: is not a folder", label, folder);
	if (access(folder, W_OK | X_OK))
		return complain(errno, "%s=%s: cannot write there: %s", label, folder,
				strerror(errno));
	return 0;
}

/* ---- the script ------------------------------------------------------------------------- */

/* Appends a file that comes with rift. */
static int append_data(FILE *out, const char *datafile)
{
	char path[DATAFILE_PATH_BYTES], buffer[4096];
	int err = datafile_find(datafile, path);
	size_t n;
	FILE *in;

	if (err)
		return err;
	in = fopen(path, "re");
	if (!in)
		return complain(errno, "cannot read %s: %s", path, strerror(errno));
	while ((n = fread(buffer, 1, sizeof(buffer), in)) > 0)
		fwrite(buffer, 1, n, out); /* a failure is told by output_commit() */
	if (ferror(in))
		err = complain(EIO, "cannot read %s", path);
	fclose(in);
	return err;
}

static int compose_script(struct plot *p, FILE *out)
{
	int err;

	fflush(p->out);
	fprintf(out,
		"# %s.gp - draws %s.png and %s.svg from the data files beside it.\n"
		"# To draw them again, in this folder: gnuplot %s.gp (5.2 or newer)\n"
		"# Written by rift %s.\n\n%s\n",
		p->name, p->name, p->name, p->name, RIFT_VERSION, p->values);
	err = append_data(out, "plots/style.gp");
	fputc('\n', out);
	return err ? err : append_data(out, p->script);
}

static int write_script(struct plot *p)
{
	char *path = part_path(p, ".gp", "");
	struct output out;
	int err = output_open(&out, p->option, path);

	free(path);
	if (err)
		return err;
	err = compose_script(p, out.file);
	if (!err)
		return output_commit(&out);
	output_discard(&out);
	return err;
}

/* ---- pictures --------------------------------------------------------------------------- */

static const struct format {
	const char *suffix, *end; /* what the last bytes of a whole file hold */
} formats[] = {
	{ ".png", "IEND\xae\x42\x60\x82" },
	{ ".svg", "</svg>" },
};

enum { FORMATS = sizeof(formats) / sizeof(*formats), END_BYTES = 16 };

/* gnuplot takes no notice of a full disk: a file is whole when its end is there. */
static bool is_whole(const char *path, const struct format *f)
{
	FILE *in = fopen(path, "re");
	char end[END_BYTES];
	bool whole = in && !fseek(in, -END_BYTES, SEEK_END) &&
		     fread(end, 1, END_BYTES, in) == END_BYTES &&
		     memmem(end, END_BYTES, f->end, strlen(f->end));

	if (in)
		fclose(in);
	return whole;
}

struct part {
	char *path, *target;
};

/* Before the first is renamed, all must be whole and no folder be in the way. */
static int take_pictures(const struct part part[FORMATS])
{
	struct stat st;

	for (int i = 0; i < FORMATS; i++) {
		if (!is_whole(part[i].path, &formats[i]))
			return complain(EIO, "not drawn: %s ends too early (is the disk full?)",
					part[i].target);
		if (!stat(part[i].target, &st) && S_ISDIR(st.st_mode))
			return complain(EISDIR, "not drawn: %s is a folder", part[i].target);
	}
	for (int i = 0; i < FORMATS; i++)
		if (rename(part[i].path, part[i].target))
			return complain(errno, "cannot write %s: %s", part[i].target,
					strerror(errno));
	return 0;
}

int picture_write(struct picture *p)
{
	int err = p->written ? 0 : write_script(&p->plot);

	p->written = !err;
	return err;
}

int picture_draw(struct picture *p)
{
	char suffix[32], script[PLOT_NAME_BYTES];
	struct part part[FORMATS];
	int err = picture_write(p);

	if (err)
		return err;
	snprintf(suffix, sizeof(suffix), ".%ld.part", (long)getpid());
	snprintf(script, sizeof(script), "%s.gp", p->plot.name);
	for (int i = 0; i < FORMATS; i++) {
		part[i].path = part_path(&p->plot, formats[i].suffix, suffix);
		part[i].target = part_path(&p->plot, formats[i].suffix, "");
	}
	err = gnuplot_run(p->plot.folder, script, suffix, &p->said);
	if (!err)
		err = take_pictures(part);
	p->drawn = !err;
	for (int i = 0; i < FORMATS; i++) {
		unlink(part[i].path);
		free(part[i].path);
		free(part[i].target);
	}
	return err;
}

void picture_release(struct picture *p)
{
	plot_end(&p->plot);
	*p = (struct picture){ 0 };
}

/* ---- for machines ----------------------------------------------------------------------- */

static json_t *path_json(const struct plot *p, const char *suffix, bool there)
{
	char *path = part_path(p, suffix, "");
	json_t *json = there ? json_text(path) : json_null();

	free(path);
	return json;
}

static json_t *data_json(const struct picture *p)
{
	json_t *array = json_array();
	char *path;

	for (int i = 0; i < p->plot.files; i++) {
		CHECK(asprintf(&path, "%s/%s", p->plot.folder, p->plot.file[i]) > 0, "path");
		json_array_append_new(array, json_text(path));
		free(path);
	}
	return array;
}

json_t *picture_json(const struct picture *p)
{
	if (!p->asked)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "folder", json_text(p->plot.folder), "png",
			 path_json(&p->plot, ".png", p->drawn), "svg",
			 path_json(&p->plot, ".svg", p->drawn), "script",
			 path_json(&p->plot, ".gp", p->written), "data", data_json(p));
}
