/* doctor.c - rift doctor: what this machine is, what works, what would spoil a measurement. */
#include "harness/cmd/options.h"
#include "harness/platform/doctor.h"
#include "harness/platform/in_force.h"

static const struct command_option options[] = {
	{ OPTION_JSON, "print one JSON object with everything that records say about a platform" },
	{ OPTION_LAYER, "check under this layer, as in rift run" },
	{ OPTION_PLATFORM, "name this platform in the output" },
	{ OPTION_HOST_NAME, "write the host's name into the JSON, not its hash" },
	{ OPTION_HELP, "show this help" },
	{ 0 },
};

static const struct exit_text exits[] = {
	{ RIFT_OK, "everything that measuring needs works" },
	{ RIFT_FAILED_POINTS, "something that some measurements need is not supported here" },
	{ RIFT_USAGE, "usage" },
	{ RIFT_NO_DEVICE, "the device does not work" },
	{ 0 },
};

/* What was found of what. */
struct examined {
	struct platform platform;
	struct doctor doctor;
};

/* The host first: opening a device loads the machine. */
static void examine(struct doctor *d, struct platform *p)
{
	const struct place here = place_here();
	struct clock_probe clock;

	platform_host(p);
	clock = clock_probe();
	doctor_device(d, p, &here);
	if (d->works) /* a row says which is not in force */
		p->layers = layers_in_force();
	platform_details(p);
	doctor_gpu(d, p);
	doctor_layers(d, p);
	doctor_host(d, p, &clock);
	doctor_software(d, p, &here);
}

static void print(const void *found, FILE *out)
{
	const struct examined *e = found;

	doctor_print(&e->doctor, &e->platform, out);
}

static json_t *json(const void *found)
{
	const struct examined *e = found;

	return doctor_json(&e->doctor, &e->platform);
}

static int doctor(void *arguments)
{
	static struct examined e; /* some 100 KB */
	const struct arguments *a = arguments;

	e.platform.declared = a->platform;
	e.platform.host_name = a->host_name;
	examine(&e.doctor, &e.platform);
	show(a, &e, print, json);
	note_cpu(a, a->json && e.doctor.works && !e.platform.is_gpu);
	platform_release(&e.platform);
	return !e.doctor.works	      ? RIFT_NO_DEVICE
	       : e.doctor.unsupported ? RIFT_FAILED_POINTS
				      : RIFT_OK;
}

const struct command command_doctor = {
	.name = "doctor",
	.usage = "[--json]",
	.line = "check this machine: what works, what would spoil results",
	.doc = "Says what this machine is, what works, and what would spoil a measurement, each "
	       "with what to do about it: ok, note (affects results), warn (spoils them), missing.",
	.exits = exits,
	.options = options,
	.takes = "no arguments",
	.run = doctor,
};
