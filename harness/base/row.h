/* row.h - rows of a table for people: a label, and text that is wrapped beside it. */
#ifndef RIFT_BASE_ROW_H
#define RIFT_BASE_ROW_H

#include <stdio.h>

enum { ROW_LABEL = 17, ROW_WIDTH = 100, HARD_BLANK = '\037' };

/* "label  text", the text wrapped at blanks but not at HARD_BLANKs. */
void row(FILE *out, const char *label, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The same with a label of another width. */
void row_of(FILE *out, int label_width, const char *label, const char *text);

/*
 * "cells text": a line of a table whose last cell is a text. It is wrapped in its column where a
 * terminal or COLUMNS bounds lines and leaves it room; for machines it stays one line.
 */
void row_last(FILE *out, const char *cells, const char *text);

#endif
