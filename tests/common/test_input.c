/* test_input.c - common/input.h and textfile.h: what is opened, what is refused, and never waited
 * for. */
/* sanitizers: one thread */
#include "tests/plain.h"
#include "common/input.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "common/textfile.h"

static char folder[] = "/tmp/rift-input-XXXXXX";

static void enter_folder(void)
{
	cr_assert(mkdtemp(folder) && !chdir(folder), "%s", folder);
}

static void remove_folder(void)
{
	shell(NULL, "rm -rf %s", folder);
}

TestSuite(small_input, .init = enter_folder, .fini = remove_folder, .timeout = 300);

Test(small_input, files_are_opened)
{
	int fd;

	cr_assert(!shell(NULL, "echo a >file; ln -s file link"), "files");
	fd = input_open("link", false);
	cr_assert(fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC, "%d", fd);
	close(fd);
	cr_assert(input_open("none", true) == -ENOENT, "none");
}

static void make_socket(const char *name)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(at.sun_path, name);
	cr_assert(!bind(fd, (struct sockaddr *)&at, sizeof(at)), "%s", name);
	close(fd);
}

Test(small_input, folders_devices_and_sockets_are_refused)
{
	make_socket("socket");
	for (int pipes = 0; pipes < 2; pipes++) {
		cr_assert(input_open(".", pipes) == -EISDIR, "folder");
		cr_assert(input_open("/dev/zero", pipes) == -ESPIPE, "device");
		cr_assert(input_open("socket", pipes) == -ESPIPE, "socket");
	}
	cr_assert(strstr(input_reason(-ESPIPE), "not a regular file"), "%s", input_reason(-ESPIPE));
}

Test(small_input, a_pipe_is_for_those_who_take_one)
{
	char *text;
	size_t n;

	cr_assert(!mkfifo("pipe", 0600), "mkfifo");
	cr_assert(input_open("pipe", false) == -ESPIPE, "refused");
	cr_assert(!textfile_read("pipe", "", 100, &text, &n) && !n, "nobody writes: %zu bytes", n);
	free(text);
}

/* It opens the pipe before who reads it does, and waits; it writes after a while. */
Test(small_input, what_is_written_into_a_pipe_is_read)
{
	pid_t child;
	char *text;
	size_t n;

	cr_assert(!mkfifo("pipe", 0600), "mkfifo");
	child = fork();
	if (!child) {
		int fd = open("pipe", O_WRONLY);

		usleep(1200000); /* longer than a pipe is expected to be opened in */
		_exit(write(fd, "text", 4) != 4);
	}
	cr_assert(!textfile_read("pipe", "", 100, &text, &n), "read");
	cr_assert(n == 4 && !strcmp(text, "text"), "%zu bytes", n);
	free(text);
	waitpid(child, NULL, 0);
}

Test(small_input, too_much_is_refused_before_it_is_read)
{
	char *text;
	size_t n;

	cr_assert(!shell(NULL, "truncate -s 1T large"), "a file of 1 TiB without blocks");
	cr_assert(textfile_read("large", "", 1 << 20, &text, &n) == -EFBIG && !text, "read");
}

Test(small_input, what_does_not_begin_as_it_should_is_not_read_to_its_end)
{
	char *text;
	size_t n;

	cr_assert(!shell(NULL, "truncate -s 1G large"), "a file of 1 GiB");
	cr_assert(!textfile_read("large", "P5", (size_t)1 << 31, &text, &n), "read");
	cr_assert(n < 1 << 20, "%zu bytes", n);
	free(text);
}

/* ---- without memory ------------------------------------------------------------------------ */

static bool refuse_streams;

/* In place of the library's. */
FILE *fdopen(int fd, const char *mode)
{
	FILE *(*real)(int, const char *) =
		(FILE * (*)(int, const char *)) dlsym(RTLD_NEXT, "fdopen");

	errno = ENOMEM;
	return refuse_streams ? NULL : real(fd, mode);
}

Test(small_input, what_has_no_memory_is_an_error)
{
	char *text;
	size_t n;
	int fd, again;

	cr_assert(!shell(NULL, "echo a >file"), "file");
	cr_assert(!textfile_read("file", "", 100, &text, &n) && n == 2, "%zu bytes", n);
	free(text);
	fd = dup(0);
	close(fd);
	refuse_streams = true;
	cr_assert(textfile_read("file", "", 100, &text, &n) == -ENOMEM, "no stream");
	again = dup(0);
	cr_assert(fd == again && !text, "closed: %d, not %d", again, fd);
}

/* 256 MiB, half of which there are addresses for. Sanitizers take theirs otherwise. */
Test(small_input, what_outgrows_memory_is_an_error)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	cr_skip("a sanitizer ends the process");
#else
	struct rlimit limit;
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	char *text;
	size_t n;

	cr_assert(f && fscanf(f, "%ld", &pages) == 1, "statm");
	fclose(f);
	cr_assert(!shell(NULL, "truncate -s 256M large"), "a file of 256 MiB");
	getrlimit(RLIMIT_AS, &limit);
	limit.rlim_cur = (rlim_t)(pages * sysconf(_SC_PAGESIZE) + (128 << 20));
	cr_assert(!setrlimit(RLIMIT_AS, &limit), "limit");
	cr_assert(textfile_read("large", "", 1 << 30, &text, &n) == -ENOMEM, "read");
	free(text);
#endif
}
