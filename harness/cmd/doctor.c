/* doctor.c - rift doctor: what this machine is, what works, what would spoil a measurement. */
#include <errno.h>

#include "common/check.h"
#include "harness/base/command.h"
#include "harness/base/json.h"
#include "harness/doctor/doctor.h"

enum { KEY_HELP = 'h', KEY_JSON = 256, KEY_PLATFORM, KEY_HOST_NAME };

static const struct argp_option options[] = {
	{ "json", KEY_JSON, NULL, 0, "one JSON object, with all that records say of a platform",
	  0 },
	{ "platform", KEY_PLATFORM, "NAME", 0, "what you call this platform", 0 },
	{ "host-name", KEY_HOST_NAME, NULL, 0, "the host's name into the JSON, not its hash", 0 },
	{ "help", KEY_HELP, NULL, 0, "this help", 0 },
	{ 0 },
};

struct doctor_args {
	const char *platform;
	bool json, host_name, help;
};

static error_t take(int key, char *arg, struct argp_state *state)
{
	struct doctor_args *a = state->input;

	switch (key) {
	case KEY_HELP:
		a->help = true;
		return 0;
	case KEY_JSON:
		a->json = true;
		return 0;
	case KEY_PLATFORM:
		a->platform = arg;
		return platform_declared(arg);
	case KEY_HOST_NAME:
		a->host_name = true;
		return 0;
	case ARGP_KEY_ARG:
		return take_word(NULL, 0, arg, "rift doctor takes no arguments");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = take,
	.doc = "Says what this machine is, what works, and what would spoil a measurement, each "
	       "with what to do about it: ok, note (bears on figures), warn (spoils them), missing."
	       "\vExit codes: 0 everything that measuring needs works, 2 something that some "
	       "measurements need is not supported here, 3 usage, 4 the device does not work.",
};

/* The host first: opening a device loads the machine. */
static void examine(struct doctor *d, struct platform *p)
{
	const struct place here = place_here();
	struct clock_probe clock;

	platform_host(p);
	clock = clock_probe();
	doctor_device(d, p, &here);
	platform_details(p);
	doctor_gpu(d, p);
	doctor_layers(d, p);
	doctor_host(d, p, &clock);
	doctor_software(d, p, &here);
}

int cmd_doctor(int argc, char **argv)
{
	/* static: together some 100 KB */
	static struct platform platform;
	static struct doctor doctor;
	struct doctor_args a = { 0 };
	int err = options_parse(&argp, "`rift doctor --help` shows its options", argc, argv, &a);

	if (err)
		return exit_code_of(err);
	if (a.help) {
		options_help(&argp, "doctor", stdout);
		return RIFT_OK;
	}
	platform.declared = a.platform;
	platform.host_name = a.host_name;
	examine(&doctor, &platform);
	if (!a.json)
		doctor_print(&doctor, &platform, stdout);
	else
		json_write(doctor_json(&doctor, &platform), stdout);
	if (a.json && doctor.works && !platform.is_gpu)
		fprintf(stderr, "%s\n", platform_not_gpu);
	platform_release(&platform);
	return !doctor.works ? RIFT_NO_DEVICE : doctor.unsupported ? RIFT_FAILED_POINTS : RIFT_OK;
}
