/* io/main.c - runs the real connection code against scripted servers. */
#include <stddef.h>

#include "io/suites.h"
#include "lib/runner.h"

int main(int argc, char **argv)
{
    Suite *(*const suites[])(void) = {adopt_suite,
                                      callbacks_suite,
                                      clocks_suite,
                                      config_suite,
                                      contention_suite,
                                      data_suite,
                                      deadline_suite,
                                      details_suite,
                                      election_suite,
                                      election_calls_suite,
                                      election_leader_suite,
                                      election_options_suite,
                                      embedded_suite,
                                      endings_suite,
                                      examine_suite,
                                      extend_suite,
                                      fence_suite,
                                      hold_suite,
                                      hostile_suite,
                                      keys_suite,
                                      login_suite,
                                      native_suite,
                                      nonsense_suite,
                                      noscript_suite,
                                      renewals_suite,
                                      health_suite,
                                      query_suite,
                                      release_suite,
                                      restarts_suite,
                                      capacity_suite,
                                      stats_suite,
                                      stuck_suite,
                                      trace_suite,
                                      duplicates_suite,
                                      upkeep_suite,
                                      versions_suite,
                                      waiting_suite,
                                      wakes_suite,
                                      wire_suite,
                                      NULL};

    return rlk_test_main(argc, argv, suites);
}
