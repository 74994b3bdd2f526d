/*
 * test_particlefilter_options.c - `rift run particlefilter` with options and files that make no
 * sense, by class; and the files that it reads and writes.
 */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "tests/cli.h"
#include "tests/folder.h"
#include "tests/need_gnuplot.h"

TEST_FOLDER(folder);

TestSuite(small_particlefilter_options, .init = make_folder, .fini = remove_folder, .timeout = 300);

/* Enough of a run: its figures are not looked at. */
#define RUN "run particlefilter --depth 1 --samples 1 --check-steps 9 "

static void has(const char *text, const char *part)
{
	cr_assert(strstr(text, part), "'%s' is not in:\n%s", part, text);
}

Test(small_particlefilter_options, what_makes_no_sense_is_refused)
{
	static const struct wrong_args rows[] = {
		{ "rows=8", "9 x 9 pixels, is larger than a frame" },
		{ "cols=1", "larger than a frame" },
		{ "rows=65536 cols=65536", "can be addressed" },
		{ "clock=", "clock=: empty; must be T or p1" },
		/* contradictions */
		{ "variant=rodinia precision=float", "needs rng=philox" },
		{ "rng=lcg", "only with variant=rodinia" },
		{ "variant=rodinia rng=philox clock=1", "only with rng=auto|lcg" },
		{ "variant=rodinia clock=p2", "or p1" },
		{ "variant=rodinia clock=-1", "or p1" },
		{ "variant=rodinia clock=1234567890123456789", "or p1" },
		{ "radius=3", "only with input=" },
		{ "variant=round drift_row=1", "only with variant=matched" },
		{ "track=/tmp/a particles8=/tmp/a", "give two files" },
		{ "particles=1025 --mode fused", "several blocks" },
		{ "granularity=split --mode fused", "four launches" },
	};

	words_refused(RUN, "particles=0 rows=0 frames=1");
	ROWS_REFUSED(RUN, rows);
}

Test(small_particlefilter_options, the_clock_is_a_text)
{
	const char *text;

	cr_assert(run_rift(OUT, &text, "list particlefilter") == 0, "list");
	has(text, "\n  clock            text    -          none     T or p1 ");
}

Test(small_particlefilter_options, outputs_that_cannot_be_written_are_refused_at_once)
{
	need_device();
	refused(3, "no/such/folder", RUN "track=%s/no/such/folder.csv", folder);
	refused(3, folder, RUN "particles8=%s", folder);
	refused(3, "/dev/null", RUN "track=/dev/null");
}

/* ---- video files ----------------------------------------------------------------------------- */

/* Headers of image k, by its columns and rows; comments behind a number, or right behind it. */
static const char plain[] = "P5\n# image %d\n%d %d\n255\n";
static const char touching[] = "P5# image %d\n%d#columns\n%d#rows\n255#white\n";

/* frames images of rows x cols, a disk of level 200 on 90 at row 20 + k, column 24 + 2 k. */
static void write_video(const char *name, int frames, const char *headers)
{
	enum { ROWS = 40, COLS = 64 };
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "wb");
	cr_assert(f, "%s", path);
	for (int k = 0; k < frames; k++) {
		if (headers)
			fprintf(f, headers, k, COLS, ROWS);
		for (int r = 0; r < ROWS; r++)
			for (int c = 0; c < COLS; c++) {
				int dr = r - 20 - k, dc = c - 24 - 2 * k;

				fputc(dr * dr + dc * dc < 16 ? 200 : 90, f);
			}
	}
	fclose(f);
}

/* Options that suit it: the start is where the object is in the first frame. */
#define SUITS                                                                                      \
	"radius=4 object=200 background=90 start_row=20 start_col=24 drift_row=1 drift_col=2 "     \
	"spread_col=2 "                                                                            \
	"particles=2000 "

static void follows(const char *track)
{
	const char *text;

	/* frame 7: row 27, column 38 */
	shell(&text, "awk -F, 'NR == 8 && ($2 - 27)^2 + ($3 - 38)^2 < 0.1 {print \"found\"}' %s/%s",
	      folder, track);
	has(text, "found");
	shell(&text, "head -n 2 %s/%s", folder, track);
	has(text, ",nan,nan,");
	shell(&text, "wc -l <%s/%s", folder, track);
	has(text, "8");
}

Test(small_particlefilter_options, an_object_in_a_file_is_followed)
{
	const char *text;

	need_device();
	write_video("v.pgm", 8, plain);
	write_video("touching.pgm", 8, touching);
	write_video("v.raw", 8, NULL);
	cr_assert(!run_rift(ERR, &text, RUN SUITS "input=%s/v.pgm track=%s/a.csv", folder, folder),
		  "%s", text);
	follows("a.csv");
	cr_assert(!run_rift(ERR, &text, RUN SUITS "input=%s/v.raw raw=40,64 track=%s/b.csv", folder,
			    folder),
		  "%s", text);
	cr_assert(!shell(NULL, "cmp %s/a.csv %s/b.csv", folder, folder), "raw differs from PGM");
	cr_assert(!run_rift(ERR, &text, RUN SUITS "input=%s/touching.pgm track=%s/c.csv", folder,
			    folder),
		  "%s", text);
	cr_assert(!shell(NULL, "cmp %s/a.csv %s/c.csv", folder, folder), "comments differ");
}

/* Levels so far apart that e^L leaves a double. */
Test(small_particlefilter_options, full_contrast_is_no_overflow)
{
	const char *text;

	need_device();
	write_video("v.pgm", 8, plain);
	for (int split = 0; split < 2; split++) {
		cr_assert(
			!run_rift(
				ERR, &text,
				RUN
				"input=%s/v.pgm radius=4 object=255 background=0 "
				"start_row=20 start_col=24 drift_row=1 drift_col=2 granularity=%s",
				folder, split ? "split" : "frame"),
			"%s", text);
	}
}

/* Files of the folder, and options beside them. */
Test(small_particlefilter_options, malformed_videos_are_refused)
{
	static const struct wrong_args rows[] = {
		{ "missing.pgm", "missing.pgm" },
		{ "cut.pgm", "image 2 is cut off" },
		{ "colour.pgm", "in colour" },
		{ "text.pgm", "P5 is needed" },
		{ "deep.pgm", "white is 65535" },
		{ "empty.pgm", "no PGM image" },
		{ "mixed.pgm", "all must be alike" },
		{ "short.pgm", "width and height" },
		{ "none.pgm", "width and height" },
		{ "one.pgm", "one frame" },
		{ "v.raw", "give raw=ROWS,COLS" },
		{ "v.raw raw=40,63", "not a whole number of frames" },
		{ "v.raw raw=40", "needs rows,cols" },
		{ "v.pgm radius=22", "larger than a frame" },
		{ "v.pgm start_row=40", "outside frames" },
		{ "v.pgm object=100", "nothing to see" },
	};

	need_device();
	write_video("v.pgm", 3, plain);
	write_video("one.pgm", 1, plain);
	write_video("v.raw", 3, NULL);
	shell(NULL,
	      "cd %s && head -c 7000 v.pgm >cut.pgm && sed 's/P5/P6/' v.pgm >colour.pgm && "
	      "sed 's/P5/P2/' v.pgm >text.pgm && sed 's/^255$/65535/' v.pgm >deep.pgm && "
	      ": >empty.pgm && { cat one.pgm; sed 's/64 40/40 64/' one.pgm; } >mixed.pgm && "
	      "printf 'P5\\n64' >short.pgm && printf 'P5\\n0 0\\n255\\n' >none.pgm",
	      folder);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		refused(3, rows[i].says, RUN "input=%s/%s", folder, rows[i].args);
	refused(3, "write to another file", RUN "input=%s/v.pgm track=%s/v.pgm", folder, folder);
}

/* ---- what is written --------------------------------------------------------------------- */

Test(small_particlefilter_options, files_are_written_and_named)
{
	const char *text;

	need_device();
	cr_assert(!run_rift(OUT, &text, RUN "particles=100 track=%s/t.csv particles8=%s/p.csv",
			    folder, folder),
		  "%s", text);
	has(text, "9 rows in ");
	has(text, "72 rows in ");
	shell(&text, "wc -l <%s/p.csv", folder);
	has(text, "73");
}

Test(small_particlefilter_options, a_track_is_drawn)
{
	const char *text;

	need_device();
	NEED_GNUPLOT();
	cr_assert(!run_rift(ERR, &text, RUN "--plot=%s", folder), "%s", text);
	cr_assert(!*text, "stderr: %s", text);
	shell(&text, "LC_ALL=C ls -A %s", folder);
	cr_assert(!strcmp(text, "particlefilter-frame.csv\nparticlefilter-track.csv\n"
				"particlefilter.gp\nparticlefilter.png\nparticlefilter.svg\n"),
		  "%s", text);
	shell(&text, "cat %s/particlefilter.svg", folder);
	has(text, "The filter is 0.091 pixels off over 9 frames");
}

/* About the frames that were checked, here all of them. */
Test(small_particlefilter_options, the_report_tells_the_error)
{
	const char *text;

	need_device();
	run_rift(OUT, &text, "run particlefilter --depth 9 --samples 1 --check-steps 9 --verbose");
	has(text, "frames filtered   9 frames");
	has(text, "error of the track 0.09");
	run_rift(OUT, &text,
		 "run particlefilter --depth 39 --samples 1 --check-steps 39 frames=40 "
		 "particles=100 --verbose");
	has(text, "frames that show the object");
}
