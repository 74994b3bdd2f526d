/* daemon.c - see daemon.h. Commands are those of NVIDIA's "Multi-Process Service", R580. */
#include "layers/mps/daemon.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/check.h"
#include "common/process.h"

static const char program[] = "nvidia-cuda-mps-control";

static const char pipes_variable[] = "CUDA_MPS_PIPE_DIRECTORY";
static const char default_pipes[] = "/tmp/nvidia-mps";

/* ---- asking ------------------------------------------------------------------------------- */

/*
 * One at a time, as several clients ask when they start and the daemon promises nobody that it
 * answers two programs at once. -1: there is no such folder; then nobody is waited for.
 */
static int await_turn(void)
{
	const char *pipes = getenv(pipes_variable);
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/asking", pipes ? pipes : default_pipes);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	while (fd >= 0 && flock(fd, LOCK_EX) && errno == EINTR)
		;
	return fd;
}

void mps_ask(const char *command, char answer[MPS_ANSWER])
{
	char line[256];
	int turn = await_turn();
	FILE *out;
	size_t n;

	snprintf(line, sizeof(line), "echo '%s' | timeout 5 %s 2>/dev/null", command, program);
	out = popen(line, "re");
	n = out ? fread(answer, 1, MPS_ANSWER - 1, out) : 0;
	answer[n] = '\0';
	if (out)
		pclose(out);
	if (turn >= 0)
		close(turn);
}

double mps_threads(void)
{
	char answer[MPS_ANSWER];
	double percent;

	mps_ask("get_default_active_thread_percentage", answer);
	return sscanf(answer, "%lf", &percent) == 1 ? percent : -1;
}

/* A daemon that was killed leaves its socket behind; programs then run without MPS. */
static bool somebody_listens(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, err;

	if (strlen(path) >= sizeof(address.sun_path))
		return false;
	strcpy(address.sun_path, path);
	/* does not wait where too many others do */
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	err = connect(fd, (struct sockaddr *)&address, sizeof(address)) ? errno : 0;
	if (fd >= 0)
		close(fd);
	/* it may be another user's, or speak in packets */
	return !err || err == EACCES || err == EPROTOTYPE || err == EAGAIN;
}

const char *mps_around(void)
{
	static char folder[256];
	const char *pipes = getenv(pipes_variable);
	char path[280];

	snprintf(folder, sizeof(folder), "%s", pipes ? pipes : default_pipes);
	snprintf(path, sizeof(path), "%s/control", folder);
	return somebody_listens(path) ? folder : NULL;
}

/* ---- starting ----------------------------------------------------------------------------- */

enum { START_MS = 9000, SERVER_MS = 3000, TICK_MS = 20 };

/* What it says while it starts, which is of use where it does not. */
static void path_of_said(char out[512])
{
	snprintf(out, 512, "%s/said", getenv(pipes_variable));
}

/*
 * It makes contexts on all GPUs, and the command chooses among them: by numbers it would choose
 * among those that are left if both did. UUIDs mean the same to both.
 */
static void choose_devices(void)
{
	const char *devices = getenv("CUDA_VISIBLE_DEVICES");

	if (devices && strncmp(devices, "GPU-", 4) != 0 && strncmp(devices, "MIG-", 4) != 0)
		unsetenv("CUDA_VISIBLE_DEVICES");
}

_Noreturn static void become_daemon(pid_t parent)
{
	char said[512];
	int fd;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* the helper has one thread */
	if (getppid() != parent)
		_exit(1);
	path_of_said(said);
	fd = open(said, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd >= 0) {
		dup2(fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
	}
	choose_devices();
	execlp(program, program, "-f", (char *)NULL);
	dprintf(STDERR_FILENO, "%s: %s\n", program, strerror(errno));
	_exit(127);
}

static void read_last_said(char out[160])
{
	char path[512], line[160];
	FILE *said;

	path_of_said(path);
	said = fopen(path, "re");
	strcpy(out, "it says nothing");
	while (said && fgets(line, sizeof(line), said)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line)
			strcpy(out, line);
	}
	if (said)
		fclose(said);
}

static bool has_ended(pid_t daemon)
{
	char last[160];

	if (waitpid(daemon, NULL, WNOHANG) != daemon)
		return false;
	read_last_said(last);
	complain(ECHILD, "layer mps: the control daemon has ended: %s", last);
	return true;
}

int mps_patience_ms(int usual_ms)
{
	const char *text = getenv("RIFT_MPS_PATIENCE_MS");

	return text && *text ? atoi(text) : usual_ms;
}

static bool await_answer(pid_t daemon)
{
	const struct timespec tick = { .tv_nsec = TICK_MS * 1000000L };

	for (int left_ms = mps_patience_ms(START_MS); left_ms > 0; left_ms -= TICK_MS) {
		if (mps_threads() >= 0)
			return true;
		if (has_ended(daemon))
			return false;
		nanosleep(&tick, NULL);
	}
	complain(ETIMEDOUT, "layer mps: the control daemon does not answer");
	return false;
}

/*
 * The server, which would else start with the first context, while clients that come with it wait
 * or are turned away. Where this daemon starts none at a word, and says so, it starts then.
 */
static void start_server(void)
{
	const struct timespec tick = { .tv_nsec = TICK_MS * 1000000L };
	char command[64], answer[MPS_ANSWER];

	snprintf(command, sizeof(command), "start_server -uid %d", (int)geteuid());
	mps_ask(command, answer);
	if (isalpha((unsigned char)*answer))
		return;
	for (int left_ms = SERVER_MS; left_ms > 0; left_ms -= TICK_MS) {
		mps_ask("get_server_list", answer);
		if (isdigit((unsigned char)*answer))
			return;
		nanosleep(&tick, NULL);
	}
}

/* ---- until the end ------------------------------------------------------------------------ */

static void note(int signal_number)
{
	(void)signal_number;
}

/* From here on SIGTERM waits to be taken; mask: what it was. */
static void hold_term(sigset_t *mask)
{
	const struct sigaction take = { .sa_handler = note, .sa_flags = SA_RESTART };
	sigset_t term;

	sigaction(SIGTERM, &take, NULL);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, mask);
}

/* True: the guard wants an end. False: the daemon has ended by itself. */
static bool await_term(pid_t daemon, const sigset_t *mask)
{
	struct pollfd end = { process_end_fd(daemon), POLLIN, 0 };

	while (ppoll(&end, 1, NULL, mask) < 0)
		if (errno == EINTR)
			return true;
	return false;
}

/*
 * The guard's SIGTERM ends the daemon by a command, as its servers end in order then. They are its
 * children; where one of them is killed, or time is up, the guard finds and kills what is left.
 */
void mps_serve(const void *opts, int ready)
{
	char answer[MPS_ANSWER];
	pid_t self = getpid(), daemon = fork();
	sigset_t mask;

	(void)opts;
	if (!daemon)
		become_daemon(self);
	if (daemon < 0 || !await_answer(daemon))
		return;
	start_server();
	hold_term(&mask);
	if (write(ready, "r", 1) != 1)
		return;
	close(ready);
	if (!await_term(daemon, &mask)) {
		has_ended(daemon);
		return;
	}
	sigprocmask(SIG_SETMASK, &mask, NULL);
	mps_ask("quit -t 1", answer);
	waitpid(daemon, NULL, 0);
}
