/* stack_sources.c - what time stacks have besides the session itself. */
#include "harness/probe/stack_sources.h"

#include <errno.h>

#include "common/check.h"
#include "harness/probe/card.h"
#include "harness/probe/card_copies.h"

static int read_card(struct stack_sources *out, const char *path, const struct journal *j, int side)
{
	json_t *card;
	int err = card_read(path, &card);

	if (err)
		return err;
	err = source_same_device("--card", path, card, j, side);
	card_copies(&out->costs, card);
	json_decref(card);
	out->card = &out->costs;
	return err;
}

int stack_sources_read(struct stack_sources *out, const char *from, const char *card,
		       const char *sync, const struct journal *j, int side)
{
	const struct session_arg arg = { "--from", from, SIDE_ANY };
	int err = 0;

	if ((from || card) && side == SIDE_ANY)
		return complain(EINVAL,
				"%s is of one platform, and here are two: take sessions of one "
				"side, one at a time, or name a side with --side a or --side b",
				from ? "--from" : "--card");
	if (from) {
		err = source_launches(&out->launches, &arg, sync, j, side);
		out->from = &out->launches.fit;
	}
	return err || !card ? err : read_card(out, card, j, side);
}

void stack_sources_release(struct stack_sources *s)
{
	source_release(&s->launches);
	*s = (struct stack_sources){ 0 };
}
