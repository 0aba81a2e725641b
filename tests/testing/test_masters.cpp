/* testing/test_masters.cpp - the masters of redlock/testing.h in a C++ test. */
#include <redlock/redlock.hpp>
#include <redlock/testing.h>

#include "lib/test.h"

SUITE("testing-cpp");

using namespace std::chrono_literals;

TEST(a_lock_in_cpp)
{
    redlock_testing *masters;
    redlockpp::options options;

    ck_assert_int_eq(redlock_testing_new(3, &masters), 0);
    options.nodes.assign(redlock_testing_nodes(masters),
                         redlock_testing_nodes(masters) + redlock_testing_node_count(masters));
    {
        redlockpp::manager manager(options);

        ck_assert(manager.try_lock("k").has_value());
        ck_assert_int_eq(redlock_testing_count(masters, REDLOCK_TESTING_RELEASED, "k"), 1);
        ck_assert_int_eq(redlock_testing_hold(masters, "k", "host-7", 0), 0);
        ck_assert(!manager.try_lock("k").has_value());
    }
    redlock_testing_free(masters);
}
