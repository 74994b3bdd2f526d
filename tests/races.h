/*
 * races.h - under the thread sanitizer a kernel takes 20 to 50 times as long. There cases are left
 * out that differ in their numbers, not in which thread touches what: if (!RACES).
 */
#ifndef RIFT_TESTS_RACES_H
#define RIFT_TESTS_RACES_H

#ifdef __SANITIZE_THREAD__
#define RACES 1
#else
#define RACES 0
#endif

#endif
