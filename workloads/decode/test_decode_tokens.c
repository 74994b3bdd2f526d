/*
 * test_decode_tokens.c - tokens=FILE, of golden/: what is generated is the greedy choice by logits
 * that were made elsewhere.
 */
/* sanitizers: seen elsewhere */
#include "tests/plain.h"
#include "tests/cli.h"
#include "tests/folder.h"

TEST_FOLDER(folder);

TestSuite(small_decode_tokens, .init = make_folder, .fini = remove_folder, .timeout = 300);
TestSuite(large_decode_tokens, .init = make_folder, .fini = remove_folder, .timeout = 300);

/* Of each sequence of golden/README.md the tokens of its prompt; of the third its first eight. */
enum { SEQUENCES = 3, ROWS = 32 };
static const int prompts[SEQUENCES] = { 4, 1, 8 };

static struct golden {
	int n, token[ROWS], best[ROWS]; /* best: behind each position */
} golden[SEQUENCES];

/* Column of the largest one. */
static int largest(const char *at)
{
	double most = -INFINITY;
	int best = 0;
	char *end;

	for (int i = 0; *at == ','; i++, at = end) {
		double v = strtod(at + 1, &end);

		if (v > most) {
			most = v;
			best = i;
		}
	}
	return best;
}

static void read_golden(const char *checkpoint)
{
	char path[128], line[8192];
	FILE *in;

	memset(golden, 0, sizeof(golden));
	snprintf(path, sizeof(path), "workloads/decode/golden/%s/logits.csv", checkpoint);
	in = fopen(path, "r");
	cr_assert(in && fgets(line, sizeof(line), in), "%s", path);
	while (fgets(line, sizeof(line), in)) {
		int sequence, position, token, read;
		struct golden *g;

		cr_assert(sscanf(line, "%d,%d,%d%n", &sequence, &position, &token, &read) == 3 &&
				  sequence < SEQUENCES,
			  "%s", line);
		g = &golden[sequence];
		cr_assert(position == g->n && position < ROWS, "position %d", position);
		g->token[g->n] = token;
		g->best[g->n++] = largest(line + read);
	}
	fclose(in);
}

static void append(char *text, size_t size, int token, char behind)
{
	size_t n = strlen(text);

	snprintf(text + n, size - n, "%d%c", token, behind);
}

/* A sequence from its prompt on, to the last position that golden/ has. */
static void expect_tokens(const char *checkpoint, int sequence, const char *more)
{
	const struct golden *g = &golden[sequence];
	char prompt[128] = "", want[256] = "";
	const char *text;

	for (int i = 0; i < prompts[sequence]; i++)
		append(prompt, sizeof(prompt), g->token[i], i + 1 < prompts[sequence] ? ',' : '\0');
	for (int i = prompts[sequence] - 1; i < g->n; i++)
		append(want, sizeof(want), g->best[i], i + 1 < g->n ? ',' : '\n');
	shell(NULL, "rm -f %s/tokens", folder);
	cr_assert(
		!run_rift(ERR, &text,
			  "run decode checkpoint=workloads/decode/golden/%s prompt=%s "
			  "positions=%d tokens=%s/tokens %s --samples 1 --depth 1 --check-steps 1",
			  checkpoint, prompt, g->n, folder, more),
		"%s: %s", more, text);
	shell(&text, "cat %s/tokens", folder);
	cr_assert(!strcmp(text, want), "%s, sequence %d, %s: %snot %s", checkpoint, sequence, more,
		  text, want);
}

static void expect_all(const char *checkpoint, const char *more)
{
	need_device();
	read_golden(checkpoint);
	for (int i = 0; i < SEQUENCES; i++) {
		cr_assert(golden[i].n > prompts[i] + 8, "%s: sequence %d", checkpoint, i);
		expect_tokens(checkpoint, i, more);
	}
}

Test(small_decode_tokens, few_launches)
{
	expect_all("tied-f32", "precision=fp32");
}

Test(small_decode_tokens, many_launches)
{
	expect_all("tied-f32", "precision=fp32 launches=many");
}

/* The weights are the same in both: the file has bfloat16. */
Test(large_decode_tokens, few_launches_of_bf16)
{
	expect_all("untied-bf16", "precision=fp32");
	expect_all("untied-bf16", "precision=bf16");
}

Test(small_decode_tokens, many_launches_of_bf16)
{
	expect_all("untied-bf16", "precision=bf16 launches=many");
}

/* The prompt's last token is one more in each sequence, and each has a line. */
Test(small_decode_tokens, a_line_for_each_sequence)
{
	char want[64];
	const char *text;

	need_device();
	read_golden("tied-f32");
	cr_assert(
		!run_rift(ERR, &text,
			  "run decode checkpoint=workloads/decode/golden/tied-f32 prompt=0 "
			  "batch=2 positions=3 precision=fp32 tokens=%s/two --samples 1 --depth 1 "
			  "--check-steps 1",
			  folder),
		"%s", text);
	shell(&text, "tail -n 1 %s/two; wc -l <%s/two", folder, folder);
	snprintf(want, sizeof(want), "%d,%d,%d\n2\n", golden[1].best[0], golden[1].best[1],
		 golden[1].best[2]);
	cr_assert(!strcmp(text, want), "%snot %s", text, want);
}
