/* sync/inside.c - runs what needs the inside of the library. */
#include <stddef.h>

#include "lib/runner.h"
#include "sync/suites.h"

int main(int argc, char **argv)
{
    Suite *(*const suites[])(void) = {copy_suite, memory_suite, parts_suite, NULL};

    return rlk_test_main(argc, argv, suites);
}
