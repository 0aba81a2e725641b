/* test_lost.cpp - a lock that is lost, callbacks, and what must not be done in them. */
#include <atomic>
#include <csignal>
#include <poll.h>
#include <stdexcept>

#include "cpp/rig.hpp"
#include "lib/test.h"

SUITE("lost");

using redlockpp::held_lock;
using redlockpp::notice;

static redlockpp::request renewed(const char *key)
{
    redlockpp::request request(key);

    request.ttl = 6s;
    return request;
}

/* The code, the file descriptor and the callback agree. */
TEST(a_lost_lock_is_reported)
{
    rig r;
    redlockpp::request request = renewed("k");
    std::atomic<int> lost{0}, reason{0};

    request.on_notice = [&](const notice &n) {
        if (n.kind == REDLOCK_NOTICE_LOST) {
            ck_assert(n.left == 0ms && n.deadline == redlockpp::clock::time_point{});
            ck_assert_ptr_eq(&n.reason.category(), &redlockpp::category());
            reason = n.reason.value();
            lost = 1;
        }
    };
    held_lock lock = r.m.lock(request);
    pollfd one = {lock.fd(), POLLIN, 0};
    ck_assert_int_eq(poll(&one, 1, 0), 0);
    r.delete_key("k");
    ck_assert_int_eq(poll(&one, 1, 20000), 1);
    wait_until([&] { return lost == 1; });
    ck_assert(lock.lost() == static_cast<errc>(reason.load()));
    ck_assert_int_eq(lock.valid_for().count(), 0);
    ck_assert(lock.release() != redlockpp::release_result::unknown);
}

TEST(moves_are_reported_when_they_are_wanted)
{
    rig r;
    redlockpp::request request = renewed("k");
    std::atomic<int> moves{0};

    request.notify_moves = true;
    request.on_notice = [&](const notice &n) {
        moves += n.kind == REDLOCK_NOTICE_MOVED && n.left > 0ms && !n.reason &&
                 n.deadline > redlockpp::clock::now();
    };
    held_lock lock = r.m.lock(request);
    held_lock moved = std::move(lock);
    wait_until([&] { return moves >= 2; });
}

/* The request, and its function, are copied. */
TEST(nothing_is_reported_after_the_release)
{
    rig r;
    auto count = std::make_shared<std::atomic<int>>(0);

    {
        std::optional<held_lock> lock;
        {
            redlockpp::request request = renewed("k");
            request.notify_moves = true;
            request.on_notice = [count](const notice &) { ++*count; };
            lock = r.m.lock(request);
        }
        wait_until([&] { return *count >= 1; });
        ck_assert_int_eq(count.use_count(), 2);
    }
    ck_assert_int_eq(count.use_count(), 1);
}

TEST(a_call_that_waits_is_refused_in_a_callback)
{
    rig r;
    held_lock lock = r.m.lock(once("k"));
    std::error_code released, asked;

    r.m.run([&](struct redlock *rl) {
        ck_assert_uint_eq(redlock_node_count(rl), 3);
        lock.release(released);
        (void)r.m.try_lock(once("z"), asked);
        ck_assert(lock.valid_for() > 1s);
    });
    ck_assert(released == errc::bad_state);
    ck_assert(asked == errc::bad_state);
    ck_assert(lock.valid_for() > 1s);
}

TEST(run_passes_an_exception_on)
{
    rig r;
    bool caught = false;

    try {
        r.m.run([](struct redlock *) { throw std::runtime_error("oh"); });
    } catch (const std::runtime_error &e) {
        caught = std::string(e.what()) == "oh";
    }
    ck_assert(caught);
    ck_assert(r.m.try_lock(once("k")).has_value());
}

/* ---- what ends the program ---- */

TEST_SIGNAL(an_exception_in_a_notice_ends_the_program, SIGABRT)
{
    rig r;
    redlockpp::request request = renewed("k");

    request.notify_moves = true;
    request.on_notice = [](const notice &) { throw std::runtime_error("oh"); };
    held_lock lock = r.m.lock(request);
    wait_until([] { return false; });
}

TEST_SIGNAL(the_end_of_a_lock_in_a_callback_ends_the_program, SIGABRT)
{
    rig r;
    std::optional<held_lock> lock = r.m.lock(once("k"));

    r.m.run([&](struct redlock *) { lock.reset(); });
}

TEST_SIGNAL(the_end_of_a_manager_in_a_callback_ends_the_program, SIGABRT)
{
    rig r;
    redlockpp::manager &m = r.m;

    m.run([&](struct redlock *) { m = {}; });
}
