/* lib/place.h - where something is, as a person at the top of the repository names it. */
#ifndef RLK_TESTS_LIB_PLACE_H
#define RLK_TESTS_LIB_PLACE_H

#include <stddef.h>

/* A path from the top of the repository for what __FILE__ or the debugger calls a file. What is
 * not in the repository keeps its name. */
void place_of_file(const char *file, char *ret_path, size_t size);

/* The program that runs, by its path from the top. */
void place_of_program(char *ret_path, size_t size);

/* Who has called, innermost first, up to the function of the test that runs: a line "  in NAME
 * (FILE:LINE)" for each that is in the repository. Returns the line at which the innermost of those
 * in `file` is, 0 when that is not known. It takes what addr2line says of the program's debug
 * information: without these, and in a thread that is not the test's, the text is empty. */
int place_of_callers(const char *file, char *ret_text, size_t size);

#endif
