/* live/main.c - runs the library on real masters. */
#include <stddef.h>

#include "live/suites.h"
#include "lib/runner.h"

int main(int argc, char **argv)
{
    Suite *(*const suites[])(void) = {
        acl_suite,   address_suite,    election_suite,    faults_suite,   fence_suite,
        hold_suite,  many_suite,       node_report_suite, refusals_suite, renew_suite,
        roles_suite, quarantine_suite, steps_suite,       waiting_suite,  NULL};

    return rlk_test_main(argc, argv, suites);
}
