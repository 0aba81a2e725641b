/* test_locks.cpp - how a lock is acquired, how long it lives, and what is known of it. */
#include <thread>
#include <type_traits>

#include "cpp/rig.hpp"
#include "lib/test.h"

SUITE("locks");

using redlockpp::held_lock;
using redlockpp::release_result;

static_assert(!std::is_copy_constructible_v<held_lock> && !std::is_copy_assignable_v<held_lock>);
static_assert(std::is_nothrow_move_constructible_v<held_lock>);
static_assert(std::is_nothrow_move_assignable_v<held_lock>);
static_assert(!std::is_constructible_v<redlockpp::request, std::nullptr_t>);

TEST(a_lock_lives_as_long_as_its_object)
{
    rig r;

    {
        held_lock lock = r.m.lock(once("k"));

        ck_assert(lock.valid_for() > 100s && lock.valid_for() < 2min);
        ck_assert(static_cast<bool>(lock));
        ck_assert(!r.m.try_lock(once("k")));
        held_lock other = std::move(lock);
        ck_assert(other && !held_lock());
    }
    r.expect_clean();
    ck_assert(r.m.try_lock(once("k")).has_value());
}

TEST(a_lock_of_somebody_else_is_no_exception)
{
    rig r;
    std::error_code ec = errc::lost;
    auto lock = r.m.try_lock(once("k"), ec);

    ck_assert(lock && !ec);
    ck_assert(!r.m.try_lock(once("k")));
    ck_assert(!r.m.try_lock(once("k"), ec));
    ck_assert(ec == errc::held && ec == std::errc::device_or_resource_busy);
    ck_assert(!r.m.try_lock_for(once("k"), 20ms));
    ck_assert(!r.m.try_lock_for(once("k"), -1h));
    ck_assert(!r.m.try_lock_until(once("k"), redlockpp::clock::now() + 20ms));
    ck_assert(!r.m.try_lock_until(once("k"), redlockpp::clock::now() - 1h, ec) && ec == errc::held);
    ck_assert(!r.m.try_lock_until(once("k"), redlockpp::clock::time_point::min()));
    ck_assert(r.m.try_lock_until(once("until"), redlockpp::clock::time_point::max()).has_value());
    ck_assert(!r.m.try_lock_for(once("k"), 20ms, ec));
    ck_assert(ec == errc::deadline && ec == std::errc::timed_out);
    ck_assert(redlockpp::error_reason() == errc::held);
    ck_assert(r.m.try_lock("other", ec).has_value());
    ck_assert(!redlockpp::error_reason());
}

TEST(masters_that_do_not_answer_are_an_exception)
{
    rig r;
    redlockpp::options o = r.options();
    std::error_code ec;

    o.node_timeout = 50ms;
    redlockpp::manager m(o);
    r.stop_masters();
    ck_assert(thrown_by([&] { (void)m.try_lock(once("k")); }) == errc::no_quorum);
    try {
        (void)m.try_lock_for(once("k"), 60ms);
        ck_abort_msg("it was not thrown");
    } catch (const redlockpp::error &e) {
        ck_assert(e.code() == errc::deadline && e.reason() == errc::no_quorum);
    }
    ck_assert(!m.try_lock_for(once("k"), 60ms, ec));
    ck_assert(ec == errc::deadline && redlockpp::error_reason() == errc::no_quorum);
    ck_assert(!m.try_lock(once("k"), ec));
    ck_assert(ec == errc::no_quorum);
    r.continue_masters();
}

TEST(lock_waits_for_the_release)
{
    rig r;
    std::optional<held_lock> first = r.m.lock(once("k"));
    std::thread other([&] {
        std::error_code ec;
        auto second = r.m.lock(once("k"), ec);

        ck_assert(second && !ec);
    });

    std::this_thread::sleep_for(20ms);
    ck_assert(first->release() == release_result::released);
    other.join();
    ck_assert(r.m.try_lock_for(once("k"), redlockpp::forever).has_value());
}

TEST(a_lock_can_be_moved)
{
    rig r;
    held_lock one = r.m.lock(once("one"));
    held_lock two = std::move(one);

    ck_assert_int_eq(one.valid_for().count(), 0);
    ck_assert(two.valid_for() > 0ms && two.key() == "one");
    two = r.m.lock(once("two"));
    ck_assert(two.key() == "two");
    ck_assert(r.m.try_lock(once("one")).has_value());
    held_lock &same = two;
    two = std::move(same);
    ck_assert(two.valid_for() > 0ms);
}

TEST(an_empty_lock_may_be_asked_everything)
{
    held_lock empty;
    std::error_code ec;

    ck_assert_int_eq(empty.valid_for().count(), 0);
    ck_assert_int_eq(empty.deadline().time_since_epoch().count(), 0);
    ck_assert(empty.token() == "" && empty.key() == "" && empty.fencing_token() == 0);
    ck_assert(empty.lost() == errc::invalid_argument);
    ck_assert(empty.release(ec) == release_result::unknown && ec == errc::invalid_argument);
    ck_assert(thrown_by([&] { empty.release(); }) == errc::invalid_argument);
    ck_assert(thrown_by([&] { empty.hand_over("heir"); }) == errc::invalid_argument);
    ck_assert(thrown_by([&] { empty.detach(); }) == errc::invalid_argument);
    ck_assert(thrown_by([&] { empty.extend(); }) == errc::invalid_argument);
    ck_assert(thrown_by([&] { empty.heartbeat(); }) == errc::invalid_argument);
    ck_assert(thrown_by([&] { empty.fd(); }) == errc::invalid_argument);
    ck_assert_ptr_null(empty.native_handle());
}

TEST(what_is_known_of_a_lock)
{
    rig r;
    redlockpp::request request = once("k");

    request.fencing = true;
    request.owner = "me";
    held_lock lock = r.m.lock(request);
    ck_assert_uint_gt(lock.fencing_token(), 0);
    ck_assert(lock.key() == "k");
    ck_assert(lock.token().size() == 43 && lock.token().substr(40) == ":me");
    ck_assert(!lock.lost());
    ck_assert(lock.deadline() - redlockpp::clock::now() > 100s);
    ck_assert_int_ge(lock.fd(), 0);
}

TEST(a_lock_can_be_extended_and_kept_alive)
{
    rig r;
    held_lock lock = r.m.lock(once("k"));
    std::error_code ec = errc::lost;

    lock.extend(4min);
    ck_assert(lock.valid_for() > 3min);
    lock.extend(4min, ec);
    ck_assert(!ec);
    lock.extend(-1ms, ec);
    ck_assert(!ec); /* as 0: the same ttl as before */
    lock.extend(1h, ec);
    ck_assert(ec == errc::bad_ttl);
    lock.heartbeat();
    lock.heartbeat(ec);
    ck_assert(!ec);
}

TEST(a_lock_can_be_handed_on_by_its_token)
{
    rig r;
    held_lock lock = r.m.lock(once("k"));
    std::string token(lock.token());
    std::error_code ec;

    lock.detach();
    ck_assert_ptr_null(lock.native_handle());
    ck_assert(!r.m.try_lock(once("k")));
    held_lock adopted = r.m.adopt(once("k"), token);
    ck_assert(adopted.token() == token);
    adopted.detach(ec);
    ck_assert(!ec);
    ck_assert(r.m.release_token({"k"}, token) == release_result::released);
    ck_assert(r.m.release_token({"k"}, token, ec) == release_result::gone && !ec);
    ck_assert(thrown_by([&] { (void)r.m.adopt(once("k"), token); }) == errc::lost);
    ck_assert(!r.m.adopt(once("k"), token, ec) && ec == errc::lost);
    ck_assert(r.m.release_token({}, token, ec) == release_result::unknown &&
              ec == errc::invalid_argument);
}

/* Without share_token, a master that has refused is not asked to release. */
TEST(a_lock_whose_token_is_shared_is_released_everywhere)
{
    rig r;
    redlockpp::request request = once("k");

    r.set_key_on_one("k", "another");
    request.share_token = true;
    held_lock lock = r.m.lock(request);
    r.set_key_on_one("k", std::string(lock.token()).c_str());
    ck_assert(lock.release() == release_result::released);
    r.expect_clean();
}

TEST(a_lock_is_handed_over_to_a_waiter)
{
    rig r;
    redlockpp::request heir = once("k");
    held_lock lock = r.m.lock(once("k"));
    std::string token(lock.token());
    std::error_code ec;

    heir.owner = "heir";
    ck_assert(thrown_by([&] { lock.hand_over(""); }) == errc::invalid_argument);
    ck_assert(lock.hand_over(std::string("h\0", 2), 1s, ec) == release_result::unknown &&
              ec == errc::invalid_argument);
    ck_assert(lock.valid_for() > 0ms);
    ck_assert(lock.hand_over("heir", 1min, ec) == release_result::released && !ec);
    ck_assert_ptr_null(lock.native_handle());
    ck_assert(!r.m.try_lock(once("k")));
    held_lock got = r.m.lock(heir);
    token = got.token();
    got.detach();
    ck_assert(thrown_by([&] { r.m.hand_over_token({"k"}, token, ""); }) == errc::invalid_argument);
    ck_assert(r.m.hand_over_token({"k"}, token, "heir") == release_result::released);
    ck_assert(r.m.hand_over_token({"k"}, token, "heir", 1s, ec) != release_result::released);
    got = r.m.lock(heir);
    ck_assert(got.hand_over("heir") == release_result::released);
}

TEST(several_keys_are_one_lock)
{
    rig r;
    redlockpp::request both = {"a", "b"};

    both.ttl = 2min;
    held_lock lock = r.m.lock(both);
    ck_assert(lock.key() == "a");
    ck_assert(!r.m.try_lock(once("b")));
    lock.release();
    ck_assert(r.m.try_lock(once("b")).has_value());
    ck_assert(r.m.try_lock(std::vector<std::string>{"x", "y", "z"}).has_value());
}

TEST(keys_are_texts_of_any_type)
{
    const std::string a = "a", b = "b";
    const char *const null = nullptr;
    rig r;
    std::error_code ec;

    ck_assert(redlockpp::request(std::string_view("ab").substr(0, 1)).keys ==
              redlockpp::request(a).keys);
    ck_assert_uint_eq(redlockpp::request({a, b}).keys.size(), 2);
    ck_assert_uint_eq(redlockpp::request({"a", b}).keys.size(), 2);
    ck_assert_uint_eq(redlockpp::request({"a", "b"}).keys.size(), 2);
    ck_assert(r.m.try_lock({a, b}).has_value());
    ck_assert(!r.m.try_lock(null, ec) && ec == errc::invalid_argument);
    ck_assert(!r.m.try_lock({"a", null}, ec) && ec == errc::invalid_argument);
    ck_assert(redlockpp::error_text().find("a key is NULL") != std::string::npos);
}

/* In a single key it is a byte as others are; of several keys it would cut one of a request. */
TEST(a_key_with_a_nul_is_never_cut)
{
    rig r;
    const std::string key("k\0z", 3);
    held_lock lock = r.m.lock(key);
    std::error_code ec;

    ck_assert(lock.key() == key);
    ck_assert(r.m.try_lock("k").has_value());
    ck_assert(!r.m.try_lock(std::vector<std::string>{"a", key}, ec));
    ck_assert(ec == errc::invalid_argument);
    ck_assert(redlockpp::error_text().find("has a NUL byte") != std::string::npos);
    ck_assert_int_eq(r.m.query(key)->held, 1);
    ck_assert_int_eq(r.m.query("k")->held, 0);
    ck_assert(r.m.release_token({key}, std::string(lock.token())) == release_result::released);
    ck_assert_int_eq(r.m.query(key)->held, 0);
    ck_assert(!r.m.try_lock("", ec) && ec == errc::invalid_argument);
    ck_assert(!r.m.try_lock(std::vector<std::string>{}, ec) && ec == errc::invalid_argument);
}

/* Every text that the C functions take up to its first NUL. */
TEST(a_text_with_a_nul_is_refused)
{
    rig r;
    const std::string text("a\0b", 3);
    redlockpp::request request = once("k");
    redlockpp::options o = r.options();
    redlockpp::election_options e;
    std::error_code ec;

    request.owner = text;
    ck_assert(!r.m.try_lock(request, ec) && ec == errc::invalid_argument);
    ck_assert(redlockpp::error_text().find("owner has a NUL byte") != std::string::npos);
    ck_assert(!r.m.adopt(once("k"), text, ec) && ec == errc::invalid_argument);
    ck_assert(thrown_by([&] { r.m.release_token({"k"}, text); }) == errc::invalid_argument);
    o.key_prefix = text;
    ck_assert(thrown_by([&] { redlockpp::manager{o}; }) == errc::invalid_argument);
    o = r.options();
    o.nodes[0] += text;
    ck_assert(thrown_by([&] { redlockpp::manager{o}; }) == errc::invalid_argument);
    e.id = "ann";
    e.stops_later = true;
    e.name = text;
    ck_assert(thrown_by([&] { redlockpp::election(r.m, e); }) == errc::invalid_argument);
    e.name = "boss";
    e.value = text;
    ck_assert(thrown_by([&] { redlockpp::election(r.m, e); }) == errc::invalid_argument);
    e.value.clear();
    e.id = text;
    ck_assert(thrown_by([&] { redlockpp::election(r.m, e); }) == errc::invalid_argument);
}

TEST(durations_that_do_not_fit_are_not_cut)
{
    rig r;
    redlockpp::request request("k");
    std::error_code ec;

    request.ttl = std::chrono::milliseconds(0x100000000 + 1000);
    ck_assert(!r.m.try_lock(request, ec) && ec == errc::bad_ttl);
    request.ttl = -1s;
    ck_assert(!r.m.try_lock(request, ec) && ec == errc::bad_ttl);
    request.ttl = 5s;
    request.max_hold = -1s;
    held_lock lock = r.m.lock(request);
    wait_until([&] { return lock.lost().value() != 0; });
    ck_assert(lock.lost() == errc::unrenewed || lock.lost() == errc::lost);
}
