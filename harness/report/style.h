/*
 * style.h - how a page looks: light and dark, on a screen of any width and on A4. No font and no
 * picture is fetched.
 */
#ifndef RIFT_REPORT_STYLE_H
#define RIFT_REPORT_STYLE_H

extern const char page_style[];

#endif
