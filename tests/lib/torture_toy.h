/* lib/torture_toy.h - a made-up library with a fault, to see whether torture finds it.
 *
 * Just enough of the public API for one scenario: managers, and acquires that are granted at
 * once. What is wrong with it shows only when an allocation fails. */
#ifndef RLK_TESTS_LIB_TORTURE_TOY_H
#define RLK_TESTS_LIB_TORTURE_TOY_H

/* "none"; "text", which is not a fault either: it reports the failure in a text only; "crash",
 * "hang", "lose", "silent", "twice", "inside", "leak", "written". */
extern const char *torture_toy_fault;

#endif
