/* rig.hpp - real masters, and a manager of redlock/redlock.hpp on them. */
#ifndef RLK_TESTS_CPP_RIG_HPP
#define RLK_TESTS_CPP_RIG_HPP

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <system_error>

#include <check.h>
#include <redlock/redlock.hpp>

extern "C" {
#include "lib/master.h"
#include "lib/runner.h"
}

using namespace std::chrono_literals;
using redlockpp::errc;

/* One per test: the destructor closes the manager, and ends the masters. */
class rig
{
public:
    rig();
    rig(const rig &) = delete;
    rig &operator=(const rig &) = delete;
    ~rig();

    redlockpp::options options() const;
    void stop_masters();
    void continue_masters();

    /* On every master. */
    void delete_key(const char *key);

    /* On the last master. */
    void set_key_on_one(const char *key, const char *value);

    /* Fail the test unless all masters lose all keys. */
    void expect_clean();

    redlockpp::manager m;

private:
    std::array<master *, 3> masters_;
};

/* One try for a lock that is not renewed, with a ttl that does not end while a test runs. */
redlockpp::request once(const char *key);

/* Wait until a condition holds, or fail the test. */
template <typename Condition> void wait_until(Condition holds)
{
    const auto end = std::chrono::steady_clock::now() + 20s;

    while (!holds()) {
        ck_assert_msg(std::chrono::steady_clock::now() < end, "it did not happen");
    }
}

/* The code of the exception that a function throws; none: it throws none. */
template <typename Function> std::error_code thrown_by(Function &&function)
{
    try {
        function();
    } catch (const redlockpp::error &e) {
        return e.code();
    }
    return {};
}

#endif
