/* test_stop.cpp - what redlock/redlock.hpp offers only in C++20: a std::stop_token ends a wait. */
#include <thread>

#include "cpp/rig.hpp"
#include "lib/test.h"

SUITE("stop");

#ifdef __cpp_lib_jthread

TEST(a_stop_request_ends_a_wait)
{
    rig r;
    auto held = r.m.lock(once("k"));
    std::error_code ec;
    bool got = true;

    {
        std::jthread waiter(
            [&](std::stop_token stop) { got = r.m.lock(once("k"), stop).has_value(); });
        waiter.request_stop();
    }
    ck_assert(!got);
    {
        std::jthread waiter([&](std::stop_token stop) {
            got = r.m.try_lock_for(once("k"), redlockpp::forever, stop, ec).has_value();
        });
        waiter.request_stop();
    }
    ck_assert(!got && ec == errc::canceled);
}

TEST(without_a_stop_request_a_lock_is_acquired)
{
    rig r;
    std::stop_source source;
    std::error_code ec;
    auto held = r.m.lock(once("k"), source.get_token());

    ck_assert(held && *held);
    ck_assert(!r.m.try_lock_for(once("k"), 0ms, source.get_token()));
    held.reset();
    held = r.m.lock(once("k"), source.get_token(), ec);
    ck_assert(held && !ec);
}

TEST(a_stop_request_ends_a_wait_until_a_time)
{
    rig r;
    const auto far = redlockpp::clock::now() + 1h;
    auto held = r.m.lock(once("k"));
    std::stop_source source;
    std::error_code ec;

    ck_assert(r.m.try_lock_until(once("other"), far, source.get_token()).has_value());
    source.request_stop();
    ck_assert(!r.m.try_lock_until(once("k"), far, source.get_token()));
    ck_assert(!r.m.try_lock_until(once("k"), far, source.get_token(), ec));
    ck_assert(ec == errc::canceled);
}

TEST(a_stop_request_ends_a_campaign)
{
    rig r;
    redlockpp::election_options o;
    std::stop_source source, never;
    std::error_code ec;

    o.name = "boss";
    o.id = "anna";
    o.stops_later = true;
    redlockpp::election anna(r.m, o);
    auto term = anna.wait_elected(never.get_token());
    ck_assert(term.has_value());
    o.id = "berta";
    redlockpp::election berta(r.m, o);
    {
        std::jthread other([&] { source.request_stop(); });

        ck_assert(!berta.wait_elected(source.get_token()));
    }
    ck_assert(!berta.wait_elected(source.get_token(), ec) && ec == errc::canceled);
    ck_assert(!anna.wait_demoted(*term, source.get_token()));
    ck_assert(!anna.wait_demoted(*term, source.get_token(), ec) && ec == errc::canceled);
    anna.resign();
    ck_assert(!anna.wait_demoted(*term, never.get_token())->reason);
    redlockpp::election empty;
    ck_assert(!empty.wait_elected(never.get_token(), ec) && ec == errc::invalid_argument);
}

/* A wait ends by only one of them, so the other would do nothing. */
TEST(a_canceler_and_a_stop_token_are_refused)
{
    rig r;
    redlockpp::canceler cancel(r.m);
    redlockpp::request request = once("k");
    std::stop_source source;
    std::error_code ec;

    request.cancel = &cancel;
    ck_assert(!r.m.lock(request, source.get_token(), ec) && ec == errc::invalid_argument);
    ck_assert(redlockpp::error_text().find("stop token") != std::string::npos);
    ck_assert(thrown_by([&] { (void)r.m.lock(request, source.get_token()); }) ==
              errc::invalid_argument);
    ck_assert(r.m.lock(request, ec).has_value());
}

TEST(an_empty_manager_refuses_a_wait_with_a_token)
{
    redlockpp::manager empty;
    std::stop_source source;
    std::error_code ec;

    ck_assert(!empty.lock(once("k"), source.get_token(), ec) && ec == errc::invalid_argument);
}

TEST(errors_are_thrown_as_without_a_token)
{
    rig r;
    std::stop_source source;
    std::error_code ec;

    ck_assert(thrown_by([&] { (void)r.m.lock(once(""), source.get_token()); }) ==
              errc::invalid_argument);
    (void)r.m.lock(once(""), source.get_token(), ec);
    ck_assert(ec == errc::invalid_argument);
}

TEST(an_empty_manager_is_an_error_as_without_a_token)
{
    rig r;
    const redlockpp::manager moved = std::move(r.m);
    std::stop_source source;
    std::error_code ec;

    ck_assert(thrown_by([&] { (void)r.m.lock(once("k"), source.get_token()); }) ==
              errc::invalid_argument);
    ck_assert(!r.m.lock(once("k"), source.get_token(), ec));
    ck_assert(ec == errc::invalid_argument);
}

#endif
