/* svg.h - a picture of gnuplot's, fit to stand inside an HTML page. */
#ifndef RIFT_REPORT_SVG_H
#define RIFT_REPORT_SVG_H

#include <stdio.h>

/*
 * Writes the svg element of the file: without the prolog, without titles and descriptions of its
 * parts, with ids that begin with cN- (n: number), and with the words as its name for those who do
 * not see it.
 *
 * Elements and attributes are taken from a list of those that gnuplot writes and that do nothing
 * but draw. Any other one, and a reference out of the file, is refused: nothing is written then.
 * Returns 0, -ENOENT or another errno of reading, or -EINVAL; without a line.
 */
int svg_inline(FILE *out, const char *path, int number, const char *words);

/* The same of text that ends with '\0'. */
int svg_inline_text(FILE *out, const char *svg, int number, const char *words);

#endif
