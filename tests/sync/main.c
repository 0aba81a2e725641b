/* sync/main.c - runs the blocking façade on real masters. */
#include <stddef.h>

#include "lib/runner.h"
#include "sync/suites.h"

int main(int argc, char **argv)
{
    Suite *(*const suites[])(void) = {calls_suite,       cancel_suite, close_suite, election_suite,
                                      fork_suite,        kept_suite,   lost_suite,  threads_suite,
                                      uncancelled_suite, NULL};

    return rlk_test_main(argc, argv, suites);
}
