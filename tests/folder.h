/*
 * folder.h - a folder of a test's own in /tmp.
 *
 *   TEST_FOLDER(dir);
 *   TestSuite(small_x, .init = make_dir, .fini = remove_dir);
 */
#ifndef RIFT_TESTS_FOLDER_H
#define RIFT_TESTS_FOLDER_H

#define TEST_FOLDER_PATH "/tmp/rift-test-XXXXXX"

/* Makes it; path is TEST_FOLDER_PATH before, and the folder's behind it. */
void test_folder_make(char *path);

/* Removes it with all that is in it, as far as that can be removed. */
void test_folder_remove(const char *path);

#define TEST_FOLDER(name)                                                                          \
	static char name[] = TEST_FOLDER_PATH;                                                     \
	static inline void make_##name(void)                                                       \
	{                                                                                          \
		test_folder_make(name);                                                            \
	}                                                                                          \
	static inline void remove_##name(void)                                                     \
	{                                                                                          \
		test_folder_remove(name);                                                          \
	}                                                                                          \
	static inline void make_##name(void)

#endif
