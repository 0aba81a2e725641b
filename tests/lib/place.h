/* lib/place.h - a place in the source, as a person at the top of the repository names it. */
#ifndef RLK_TESTS_LIB_PLACE_H
#define RLK_TESTS_LIB_PLACE_H

#include <stddef.h>

/* A path from the top of the repository, for a path as __FILE__ or the debugger gives it. A file
 * outside of the repository keeps its name. */
void place_of_file(const char *file, char *ret_path, size_t size);

/* The program that runs, by its path from the top. */
void place_of_program(char *ret_path, size_t size);

/* The calls that led here, innermost first, up to the function of the test that runs: a line " in
 * NAME (FILE:LINE)" for each that is in the repository. Returns the line of the innermost call in
 * `file`, 0 when that is not known. addr2line reads this from the program's debug information:
 * without these, and in a thread other than the test's, the text is empty. */
int place_of_callers(const char *file, char *ret_text, size_t size);

#endif
