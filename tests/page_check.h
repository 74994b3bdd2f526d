/*
 * page_check.h - is a page of rift report safe to open and to send on? By its bytes alone: no tag
 * that was not written for it, nothing that hides or turns text, nothing to fetch.
 */
#ifndef RIFT_TESTS_PAGE_CHECK_H
#define RIFT_TESTS_PAGE_CHECK_H

/* What an attacker would write into a field: a script, ends of attributes, an entity, a control
 * sequence, signs that turn the direction of writing, markup, a person's name, a line of its own.
 */
#define HOSTILE                                                                                    \
	"<script>alert(1)</script>\"'><img src=x onerror=alert(2)>&amp;\033[31m\342\200\256"       \
	"\342\201\246|`**[l](http://e.x)</pre></svg>@all #1\n```\n# own\r"

/* Every tag is one that pages have, and none has a handler or a reference out of the page. */
void page_is_safe(const char *html);

/* Nothing of HOSTILE is markup in it, and every line is rift's own. */
void markdown_is_safe(const char *text);

#endif
