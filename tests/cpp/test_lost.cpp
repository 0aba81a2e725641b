/* test_lost.cpp - a lock that is lost, callbacks, and what must not be done in them. */
#include <atomic>
#include <csignal>
#include <poll.h>
#include <stdexcept>

#include "cpp/rig.hpp"
#include "cpp/suites.hpp"

using redlockpp::held_lock;
using redlockpp::notice;

static redlockpp::request renewed(const char *key)
{
    redlockpp::request request(key);

    request.ttl = 600ms;
    return request;
}

/* The code, the file descriptor and the callback agree. */
START_TEST(a_lost_lock_is_reported)
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
END_TEST

START_TEST(moves_are_reported_when_they_are_wanted)
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
END_TEST

/* The request, and its function, are copied. */
START_TEST(nothing_is_reported_after_the_release)
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
END_TEST

START_TEST(a_call_that_waits_is_refused_in_a_callback)
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
END_TEST

START_TEST(run_passes_an_exception_on)
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
END_TEST

/* ---- what ends the program ---- */

START_TEST(an_exception_in_a_notice_ends_the_program)
{
    rig r;
    redlockpp::request request = renewed("k");

    request.notify_moves = true;
    request.on_notice = [](const notice &) { throw std::runtime_error("oh"); };
    held_lock lock = r.m.lock(request);
    wait_until([] { return false; });
}
END_TEST

START_TEST(the_end_of_a_lock_in_a_callback_ends_the_program)
{
    rig r;
    std::optional<held_lock> lock = r.m.lock(once("k"));

    r.m.run([&](struct redlock *) { lock.reset(); });
}
END_TEST

START_TEST(the_end_of_a_manager_in_a_callback_ends_the_program)
{
    rig r;
    redlockpp::manager &m = r.m;

    m.run([&](struct redlock *) { m = {}; });
}
END_TEST

Suite *lost_suite()
{
    Suite *s = suite_create("lost");
    TCase *tc = tcase_create("lost");

    tcase_add_test(tc, a_lost_lock_is_reported);
    tcase_add_test(tc, moves_are_reported_when_they_are_wanted);
    tcase_add_test(tc, nothing_is_reported_after_the_release);
    tcase_add_test(tc, a_call_that_waits_is_refused_in_a_callback);
    tcase_add_test(tc, run_passes_an_exception_on);
    tcase_add_test_raise_signal(tc, an_exception_in_a_notice_ends_the_program, SIGABRT);
    tcase_add_test_raise_signal(tc, the_end_of_a_lock_in_a_callback_ends_the_program, SIGABRT);
    tcase_add_test_raise_signal(tc, the_end_of_a_manager_in_a_callback_ends_the_program, SIGABRT);
    suite_add_tcase(s, tc);
    return s;
}
