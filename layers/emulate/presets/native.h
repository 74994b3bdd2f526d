/* native - nothing is added: the null of the others, through the same path. */
static const char native[] = "call=0";
