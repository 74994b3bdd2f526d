/* input_again.c - see input_again.h. */
#include "harness/profile/input_again.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 16, LONGEST_MS = 50 };

/* What runs have read so far, in memory; all processes of rift have the same. */
static int kept_file(void)
{
	static int file = -1;

	if (file < 0)
		file = memfd_create("rift-input", MFD_CLOEXEC);
	return file;
}

void input_again_prepare(void)
{
	(void)kept_file();
}

int input_again_begin(struct input_again *in)
{
	struct stat s;
	int fds[2];

	*in = (struct input_again){ .to = -1 };
	if (fstat(STDIN_FILENO, &s) || (!S_ISFIFO(s.st_mode) && !S_ISSOCK(s.st_mode)) ||
	    kept_file() < 0 || pipe2(fds, O_CLOEXEC))
		return -1;
	fcntl(fds[1], F_SETFL, O_NONBLOCK);
	in->to = fds[1];
	in->is_socket = S_ISSOCK(s.st_mode);
	return fds[0];
}

static void end(struct input_again *in)
{
	close(in->to);
	in->to = -1;
}

/* What the program has read is its own: taken from the input, and kept. */
static void take_what_was_read(struct input_again *in)
{
	char piece[PIECE];
	int left = 0;

	if (ioctl(in->to, FIONREAD, &left))
		return;
	while (in->ahead > (size_t)left) {
		size_t n = in->ahead - (size_t)left;
		ssize_t got = read(STDIN_FILENO, piece, n < PIECE ? n : PIECE);

		if (got <= 0 || pwrite(kept_file(), piece, (size_t)got, in->sent) != got)
			return;
		in->ahead -= (size_t)got;
		in->sent += got;
		in->wait_ms = 0;
	}
}

/* A piece of what earlier runs have read; false: there is no more. */
static bool repeat(struct input_again *in)
{
	char piece[PIECE];
	ssize_t n = pread(kept_file(), piece, PIECE, in->sent), done;

	if (n <= 0)
		return false;
	done = write(in->to, piece, (size_t)n);
	if (done > 0) {
		in->sent += done;
		in->wait_ms = 0;
	} else if (errno == EPIPE) {
		end(in);
	}
	return true;
}

static ssize_t peek(const struct input_again *in)
{
	char piece[PIECE];
	ssize_t n;

	if (!in->is_socket)
		return tee(STDIN_FILENO, in->to, PIECE, SPLICE_F_NONBLOCK);
	n = recv(STDIN_FILENO, piece, PIECE, MSG_PEEK | MSG_DONTWAIT);
	return n > 0 ? write(in->to, piece, (size_t)n) : n;
}

static void look_ahead(struct input_again *in)
{
	ssize_t n = peek(in);

	if (n > 0)
		in->ahead = (size_t)n;
	else if (!n || errno != EAGAIN)
		end(in);
}

int input_again_feed(struct input_again *in, int *watch)
{
	*watch = -1;
	if (in->to < 0)
		return -1;
	take_what_was_read(in);
	if (!in->ahead && !repeat(in)) {
		look_ahead(in);
		if (in->to >= 0 && !in->ahead) {
			*watch = STDIN_FILENO;
			return -1;
		}
	}
	in->wait_ms = in->wait_ms ? 2 * in->wait_ms : 1;
	in->wait_ms = in->wait_ms < LONGEST_MS ? in->wait_ms : LONGEST_MS;
	return in->to < 0 ? -1 : in->wait_ms;
}
