/*
 * test_cpu_remote_schedule.c - layers/remote/daemon/schedule.h: which of two devices a client gets,
 * by processes that do nothing else, and by clients of a daemon.
 */
/* begins early: it waits long */
/* sanitizers: seen elsewhere */
#include "tests/test.h"
#include "layers/remote/daemon/schedule.h"

#include <cuda_runtime_api.h>
#include <sched.h>
#include <signal.h>

#include "layers/remote/remote.h"
#include "layers/remote/test_daemon.h"
#include "tests/cli.h"
#include "tests/under_layer.h"

TestSuite(small_remote_schedule, .timeout = 100);
TestSuite(small_remote_scheduled, .init = layers_apart, .timeout = 100);

/* ---- how long both poll -------------------------------------------------------------------- */

Test(small_remote_schedule, polls_as_long_as_told_or_as_there_are_processors)
{
	struct remote_opts o = { .poll = 7.5 };
	cpu_set_t all, one;

	cr_expect(eq(i64, remote_poll_ns(&o), 7500));
	o.poll = 0;
	cr_expect(zero(i64, remote_poll_ns(&o)));
	o.poll = -1;
	cr_assert(zero(int, sched_getaffinity(0, sizeof(all), &all)));
	cr_expect(eq(i64, remote_poll_ns(&o), CPU_COUNT(&all) < 4 ? 20000 : 1000000));
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
		if (CPU_ISSET(i, &all))
			CPU_SET(i, &one);
	cr_assert(zero(int, sched_setaffinity(0, sizeof(one), &one)));
	cr_expect(eq(i64, remote_poll_ns(&o), 20000), "one processor");
}

/* ---- the choice --------------------------------------------------------------------------- */

Test(small_remote_schedule, fewest_clients_then_least_memory_then_the_first)
{
	cr_assert(eq(int, schedule_least((int[]){ 2, 1, 1 }, (uint64_t[]){ 0, 9, 8 }, 3), 2));
	cr_assert(eq(int, schedule_least((int[]){ 1, 0 }, (uint64_t[]){ 0, 9 }, 2), 1));
	cr_assert(eq(int, schedule_least((int[]){ 1, 1 }, (uint64_t[]){ 9, 9 }, 2), 0));
}

static const char *seen_after(const char *named, int device)
{
	if (named)
		setenv("CUDA_VISIBLE_DEVICES", named, 1);
	else
		unsetenv("CUDA_VISIBLE_DEVICES");
	schedule_see_only(device);
	return getenv("CUDA_VISIBLE_DEVICES");
}

Test(small_remote_schedule, numbers_count_among_those_that_are_named)
{
	cr_assert(eq(str, (char *)seen_after(NULL, 1), "1"));
	cr_assert(eq(str, (char *)seen_after("", 1), "1"));
	cr_assert(eq(str, (char *)seen_after("3,2", 0), "3"));
	cr_assert(eq(str, (char *)seen_after("3,GPU-5f0c,1", 1), "GPU-5f0c"));
}

/* ---- processes that have places ----------------------------------------------------------- */

static struct schedule *schedule_of(enum remote_schedule kind, struct param_list devices)
{
	struct remote_opts o = { .schedule = (int)kind, .devices = devices };
	static struct schedule *s; /* the test's, to its end */
	bool ok;

	setenv("RIFT_CPU_DEVICES", "2", 1);
	unsetenv("CUDA_VISIBLE_DEVICES");
	s = schedule_new(&o, &ok);
	cr_assert(ok == (s != NULL), "it is scheduled, or there was a line");
	return s;
}

static const struct param_list all_devices = { 1, { -1 } };

struct holder {
	pid_t pid;
	int device;
};

/* A process that takes a device, says that it has so many bytes, and stays. */
static struct holder hold(struct schedule *s, uint64_t bytes)
{
	struct holder h = { .device = -2 };
	int out[2];

	cr_assert(zero(int, pipe(out)));
	h.pid = fork();
	if (!h.pid) {
		struct scheduled given = schedule_take(s);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		atomic_store(given.bytes, bytes);
		if (write(out[1], &given.device, sizeof(given.device)) < 0)
			_exit(1);
		pause();
		_exit(0);
	}
	close(out[1]);
	cr_assert(eq(sz, (size_t)read(out[0], &h.device, sizeof(h.device)), sizeof(h.device)));
	close(out[0]);
	return h;
}

static void end(struct holder h)
{
	kill(h.pid, SIGKILL);
	waitpid(h.pid, NULL, 0);
}

static void gets(struct schedule *s, uint64_t bytes, int device)
{
	cr_assert(eq(int, hold(s, bytes).device, device));
}

Test(small_remote_schedule, static_deals_devices_in_turn_whoever_has_ended)
{
	struct schedule *s = schedule_of(REMOTE_STATIC, all_devices);

	gets(s, 0, 0);
	end(hold(s, 0));
	gets(s, 0, 0);
	gets(s, 0, 1);
}

Test(small_remote_schedule, a_list_is_a_map)
{
	struct schedule *s = schedule_of(REMOTE_STATIC, (struct param_list){ 3, { 1, 1, 0 } });

	gets(s, 0, 1);
	gets(s, 0, 1);
	gets(s, 0, 0);
	gets(s, 0, 1);
}

/* By clients: 0, 1. Who was on 1 ends: 1. Then both have one, and 0 has less memory. */
Test(small_remote_schedule, load_goes_where_fewest_are_and_an_end_counts)
{
	struct schedule *s = schedule_of(REMOTE_LOAD, all_devices);
	struct holder second;

	gets(s, 100, 0);
	second = hold(s, 500);
	cr_assert(eq(int, second.device, 1));
	end(second);
	gets(s, 500, 1);
	gets(s, 0, 0);
	gets(s, 0, 1);
	gets(s, 0, 0);
}

Test(small_remote_schedule, a_device_that_is_listed_twice_is_one)
{
	struct schedule *s = schedule_of(REMOTE_LOAD, (struct param_list){ 3, { 1, 1, 0 } });

	gets(s, 7, 1);
	gets(s, 3, 0);
	gets(s, 0, 0);
	gets(s, 0, 1);
}

Test(small_remote_schedule, a_device_that_is_not_there)
{
	const char *text;

	divert_stderr();
	cr_assert(schedule_of(REMOTE_LOAD, (struct param_list){ 2, { 0, 2 } }) == NULL);
	text = diverted_stderr();
	cr_assert(is_one_complaint(text) && tells(text, "no device 2; the daemon sees 2"), "%s",
		  text);
}

/* ---- clients ------------------------------------------------------------------------------ */

/* Is run as a client of a daemon's: how many devices it sees, and the bus of its own. It stays
 * while the file RIFT_TEST_STAYS is there. */
Test(small_remote_schedule, says_which_device_it_has)
{
	const char *says = getenv("RIFT_TEST_SAYS"), *stays = getenv("RIFT_TEST_STAYS");
	struct cudaDeviceProp p;
	void *memory;
	FILE *out;
	int count;

	cr_assert(zero(int, (int)cudaGetDeviceCount(&count)));
	cr_assert(zero(int, (int)cudaGetDeviceProperties(&p, 0)));
	cr_assert(eq(int, (int)cudaSetDevice(1), (int)cudaErrorInvalidDevice));
	if (!says)
		return;
	cr_assert(
		zero(int, (int)cudaMalloc(&memory, strtoul(getenv("RIFT_TEST_BYTES"), NULL, 10))));
	out = fopen(says, "a");
	cr_assert(out && fprintf(out, "%d %d,", count, p.pciBusID) > 0 && !fclose(out));
	while (stays && !access(stays, F_OK))
		usleep(1000);
}

/*
 * "1 0,1 1,": what clients said, which a shell starts in that order. client BYTES [VARIABLE] is
 * one; after said N so many have spoken, after served N the daemon has so many processes, after
 * clients N so many sockets of clients.
 */
static const char *clients_say(enum remote_schedule kind, const char *order)
{
	struct own_daemon d;
	const char *text;

	setenv("RIFT_CPU_DEVICES", "2", 1);
	unsetenv("CUDA_VISIBLE_DEVICES");
	own_schedule = kind;
	d = own_daemon_start(false, NULL);
	setenv("FOLDER", d.folder, 1);
	setenv("CLIENT", client_library(), 1);
	shell(&text,
	      "cd \"$FOLDER\"; touch stays said; self=$(readlink /proc/%d/exe)\n"
	      "client() { env -u BXFI_MAP " REMOTE_VARIABLE "=\"$PWD\" LD_PRELOAD=\"$CLIENT\" "
	      "ASAN_OPTIONS=verify_asan_link_order=0 RIFT_TEST_SAYS=\"$PWD/said\" "
	      "RIFT_TEST_BYTES=$1 $2 \"$self\" -j1 --filter "
	      "'small_remote_schedule/says_which_device_it_has' >>log 2>&1; }\n"
	      "until_is() { n=0; until [ \"$(eval \"$2\")\" = $1 ] || [ $n = 200 ]; do sleep 0.05; "
	      "n=$((n + 1)); done; }\n"
	      "said() { until_is $1 'tr -cd , <said | wc -c'; }\n"
	      "served() { until_is $1 'wc -w </proc/%d/task/%d/children'; }\n"
	      "count() { ls -l /proc/%d/fd | grep -c socket:; }\n"
	      "own=$(count); clients() { until_is $((own + $1)) count; }\n"
	      "%s; rm stays; wait; cat said",
	      (int)getpid(), (int)d.pid, (int)d.pid, (int)d.pid, order);
	own_daemon_end(&d);
	return text;
}

/* The first stays on 0; the second gets 1 and ends; by load 1 is free again for the third. */
#define ONE_STAYS                                                                                  \
	"client 8 RIFT_TEST_STAYS=stays & said 1; client 8; said 2; served 1; client 8; said 3"

Test(small_remote_scheduled, clients_by_load)
{
	const char *said = clients_say(REMOTE_LOAD, ONE_STAYS);

	cr_assert(eq(str, (char *)said, "1 0,1 1,1 1,"));
}

/* One process, which has a socket for each. */
Test(small_remote_scheduled, clients_of_one_process)
{
	const char *said;

	own_is_shared = true;
	said = clients_say(REMOTE_LOAD,
			   "client 8 RIFT_TEST_STAYS=stays & said 1; client 8; said 2; "
			   "clients 1; client 8; said 3");
	cr_assert(eq(str, (char *)said, "1 0,1 1,1 1,"));
}

Test(small_remote_scheduled, clients_in_turn)
{
	const char *said = clients_say(REMOTE_STATIC, ONE_STAYS);

	cr_assert(eq(str, (char *)said, "1 0,1 1,1 0,"));
}

/* Both devices have one client, and that on 1 has less memory. */
Test(small_remote_scheduled, clients_by_memory)
{
	const char *said = clients_say(REMOTE_LOAD, "client 2000 RIFT_TEST_STAYS=stays & said 1; "
						    "client 1000 RIFT_TEST_STAYS=stays & said 2; "
						    "client 8; said 3");

	cr_assert(eq(str, (char *)said, "1 0,1 1,1 1,"));
}

Test(small_remote_scheduled, the_layer_takes_the_words)
{
	const char *text;
	int rc = shell(&text,
		       "RIFT_CPU_DEVICES=2 '%s' layer --quiet remote schedule=load devices=1,0 "
		       "transport=tcp -- '%s' run launch us=0 --samples 2 --depth 2 --quiet 2>&1",
		       rift(), rift());

	cr_assert(zero(int, rc), "%s", text);
	refused(125, "devices= needs schedule=", "layer --quiet remote devices=0 -- true");
	refused(125, "-1 means all devices and must be alone",
		"layer --quiet remote schedule=load devices=0,-1 -- true");
	refused(125, "schedule= configures the daemon",
		"layer --quiet remote transport=tcp schedule=load connect=a:1 token=x -- true");
	/* where there is one device */
	cr_assert(ne(int,
		     shell(&text, "'%s' layer --quiet remote schedule=load devices=1 -- true 2>&1",
			   rift()),
		     0));
	cr_assert(strstr(text, "no device 1; the daemon sees 1") != NULL, "%s", text);
	cr_assert(layers_gone(0));
}
