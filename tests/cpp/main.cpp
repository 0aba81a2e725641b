/* main.cpp - runs redlock/redlock.hpp on real masters. */
#include "cpp/rig.hpp"
#include "cpp/suites.hpp"

int main(int argc, char **argv)
{
    Suite *(*const suites[])() = {elections_suite, errors_suite,   locks_suite,
                                  lost_suite,      managers_suite, nullptr};

    return rlk_test_main(argc, argv, suites);
}
