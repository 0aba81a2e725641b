/* test_managers.cpp - a manager: its options, its end, and what else it can be asked. */
#include <atomic>
#include <cstring>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <type_traits>
#include <unistd.h>

#include "cpp/rig.hpp"
#include "lib/test.h"

SUITE("managers");

using redlockpp::held_lock;
using redlockpp::manager;

static_assert(!std::is_copy_constructible_v<manager> && !std::is_copy_assignable_v<manager>);
static_assert(std::is_nothrow_move_constructible_v<manager>);

TEST(the_end_of_a_manager_releases_its_locks)
{
    rig r;
    std::optional<held_lock> lock;

    {
        manager m(r.options());
        lock = m.lock(once("k"));
    }
    r.expect_clean();
    ck_assert_int_eq(lock->valid_for().count(), 0);
    ck_assert(lock->lost() == errc::canceled);
    ck_assert(thrown_by([&] { lock->release(); }) == errc::canceled);
    ck_assert_ptr_null(lock->native_handle());
}

TEST(settings_come_from_the_environment)
{
    rig r;
    redlockpp::options own;
    std::error_code ec;
    std::string nodes;

    for (const std::string &node : r.options().nodes) {
        nodes += node + " ";
    }
    setenv("REDLOCK_NODES", nodes.c_str(), 1);
    setenv("REDLOCK_KEY_PREFIX", "app:", 1);
    setenv("REDLOCK_QUARANTINE", "off", 1);
    own.client_name = "own";
    own.max_ttl = 7s;
    own = redlockpp::read_settings(std::move(own));
    ck_assert(own.nodes == r.options().nodes);
    ck_assert_str_eq(own.client_name.c_str(), "own");
    ck_assert(own.max_ttl == 7s);
    ck_assert_str_eq(own.key_prefix.c_str(), "app:");
    manager m(redlockpp::read_settings());
    ck_assert(m.lock("k").valid_for() > 0ms);

    setenv("REDLOCK_MAX_TTL", "5 apples", 1);
    try {
        (void)redlockpp::read_settings();
        ck_abort_msg("it does not throw");
    } catch (const redlockpp::error &e) {
        ck_assert(e.code() == errc::invalid_argument);
        ck_assert_ptr_nonnull(strstr(e.what(), "REDLOCK_MAX_TTL '5 apples' is not a time"));
    }
    own = redlockpp::read_settings(std::move(own), ec);
    ck_assert(ec == errc::invalid_argument);
    ck_assert_str_eq(own.client_name.c_str(), "own");
}

TEST(an_empty_manager_refuses_every_call)
{
    manager m;
    std::error_code ec;

    ck_assert(thrown_by([&] { (void)m.lock("k"); }) == errc::invalid_argument);
    ck_assert(thrown_by([&] { (void)m.query("k"); }) == errc::invalid_argument);
    ck_assert(thrown_by([&] { m.run([](struct redlock *) {}); }) == errc::invalid_argument);
    ck_assert(thrown_by([&] { m.close(); }) == errc::invalid_argument);
    ck_assert(thrown_by([&] { redlockpp::canceler c(m); }) == errc::invalid_argument);
    redlockpp::canceler none(m, ec);
    ck_assert(ec == errc::invalid_argument);
    none.cancel();
}

TEST(a_manager_can_be_moved_and_closed)
{
    rig r;
    manager m(r.options());
    manager other = std::move(m);
    std::error_code ec = errc::lost;

    ck_assert_ptr_null(m.native_handle());
    try {
        (void)m.lock("k");
        ck_abort_msg("it was not thrown");
    } catch (const redlockpp::error &e) {
        ck_assert_msg(std::strstr(e.what(), "empty: moved from") != nullptr, "%s", e.what());
    }
    ck_assert(other.try_lock("k").has_value());
    m = std::move(other);
    ck_assert(m.try_lock("k").has_value());
    m.close(ec);
    ck_assert(!ec);
    m.close(ec);
    ck_assert(ec == errc::invalid_argument);
}

TEST(the_options_arrive)
{
    rig r;
    redlockpp::options o = r.options();
    std::atomic<int> events{0}, ups{0};
    std::error_code ec;

    o.key_prefix = "p:";
    o.max_ttl = 20s;
    o.client_name = "tester";
    o.on_trace = [&](const redlock_trace &) { ++events; };
    o.on_node = [&](std::size_t index, const struct redlock_node_info &info) {
        ups += index == 0 && info.state == REDLOCK_NODE_UP;
    };
    manager m(o);
    held_lock lock = m.lock("k");
    ck_assert(lock.key() == "p:k");
    ck_assert(!m.try_lock(once("z"), ec) && ec == errc::bad_ttl);
    ck_assert_int_gt(events, 0);
    wait_until([&] { return ups == 1; });
    o.client_name = "not a name";
    ck_assert(thrown_by([&] { manager{o}; }) == errc::invalid_argument);
    o = r.options();
    o.node_timeout = -1s;
    ck_assert(thrown_by([&] { manager{o}; }) == errc::invalid_argument);
    o = r.options();
    o.username = "somebody";
    ck_assert(thrown_by([&] { manager{o}; }) == errc::invalid_argument);
}

TEST(a_wait_can_be_cancelled)
{
    rig r;
    held_lock lock = r.m.lock(once("k"));
    redlockpp::canceler cancel(r.m);
    redlockpp::request request = once("k");
    std::error_code ec;
    std::thread other([&] {
        request.cancel = &cancel;
        ck_assert(!r.m.lock(request, ec));
    });

    std::this_thread::sleep_for(20ms);
    cancel.cancel();
    other.join();
    ck_assert(ec == errc::canceled && ec == std::errc::operation_canceled);
}

TEST(a_query_says_who_holds_a_key)
{
    rig r;
    redlockpp::request request = once("k");
    std::error_code ec;

    request.owner = "me";
    held_lock lock = r.m.lock(request);
    redlockpp::query_result result = r.m.query("k");
    ck_assert_int_eq(result->held, 1);
    ck_assert_str_eq(result->owner, "me");
    result = r.m.query("", ec);
    ck_assert(!result && ec == errc::invalid_argument);
}

TEST(what_was_done_is_counted)
{
    rig r;
    std::error_code ec = errc::lost;

    ck_assert(r.m.try_lock("k").has_value());
    ck_assert_uint_eq(r.m.stats().acquired, 1);
    ck_assert(r.m.stats(ec).acquired == 1 && !ec);
    ck_assert(r.m.prometheus().find("\nredlock_acquires_total{outcome=\"acquired\"} 1\n") !=
              std::string::npos);
    ck_assert(!r.m.prometheus(REDLOCK_PROMETHEUS_NO_LOCKS, ec).empty() && !ec);
    ck_assert(thrown_by([] { (void)manager().prometheus(); }) == errc::invalid_argument);
    ck_assert(r.m.prometheus(1u << 31, ec).empty() && ec == errc::invalid_argument);
    /* The lock needs no more than a majority. */
    wait_until([&] { return r.m.node_stats(2).connections == 1; });
    ck_assert(thrown_by([&] { (void)r.m.node_stats(99); }) == errc::invalid_argument);
    (void)r.m.node_stats(99, ec);
    ck_assert(ec == errc::invalid_argument);
}

/* The first client writes it; the rig's own manager has a policy that does without. */
TEST(the_record_names_each_master)
{
    rig r;
    std::error_code ec = errc::lost;
    redlockpp::options o = r.options();
    redlockpp::masters_record record;

    o.quarantine = REDLOCK_QUARANTINE_LENIENT;
    {
        manager m(o);

        ck_assert(m.try_lock("k").has_value());
        wait_until([&] { return m.record().shown_by == 3; });
        record = m.record(ec);
        ck_assert(!ec && record.state == REDLOCK_RECORD_AGREED && record.error.empty());
    }
    ck_assert(record.epoch == 1 && record.entries.size() == 3 && record.readable == 3);
    ck_assert(record.entries[2].node == 2 && record.entries[2].from_epoch == 1);
    ck_assert(record.max_ttl == 5min);
    (void)manager().record(ec);
    ck_assert(ec == errc::invalid_argument);
}

TEST(a_manager_with_another_max_ttl_acquires_nothing)
{
    rig r;
    redlockpp::options o = r.options();
    std::string text;

    o.quarantine = REDLOCK_QUARANTINE_LENIENT;
    {
        manager m(o);

        ck_assert(m.try_lock("k").has_value());
    }
    o.max_ttl = 1min;
    {
        manager m(o);

        ck_assert(thrown_by([&] { (void)m.try_lock("k"); }) == errc::config);
        text = redlockpp::error_text();
        ck_assert_str_eq(text.c_str(),
                         "the longest ttl (max-ttl) is 300000 ms on record, and 60000 ms here");
        ck_assert(m.record().error ==
                  "the longest ttl (max-ttl) is 300000 ms on record, and 60000 ms here");
        ck_assert(m.record().state == REDLOCK_RECORD_OTHER);
    }
    o.record = false;
    manager m(o);

    ck_assert(m.try_lock("k").has_value());
    ck_assert(m.record().state == REDLOCK_RECORD_OFF);
}

TEST(an_examination_reports_on_each_master)
{
    rig r;
    std::error_code ec = errc::lost;
    std::size_t n = 0;
    bool caught = false;

    r.m.examine([&](const redlock_report &report) { n = report.n_nodes; });
    ck_assert_uint_eq(n, 3);
    r.m.examine([&](const redlock_report &report) { n += report.n_nodes; }, ec);
    ck_assert(n == 6 && !ec);
    try {
        r.m.examine([](const redlock_report &) { throw std::runtime_error("oh"); });
    } catch (const std::runtime_error &) {
        caught = true;
    }
    ck_assert(caught);
    manager().examine([&](const redlock_report &) { n = 0; }, ec);
    ck_assert(n == 6 && ec == errc::invalid_argument);
}

TEST(a_lock_of_somebody_else_is_broken)
{
    rig r;
    std::error_code ec = errc::lost;
    std::optional<held_lock> lock;
    std::optional<redlockpp::broken_lock> broken;

    /* A lock that is not renewed never gets the key on a master that did not vote yet. */
    wait_until([&] {
        lock.reset();
        lock = r.m.lock(once("k"));
        return r.m.query("k")->holding == 3;
    });
    broken = r.m.break_lock("k", std::string(lock->token()), "ann: it hangs");
    ck_assert(broken.has_value());
    ck_assert_uint_eq(broken->replaced, 3);
    ck_assert(broken->left.count() > 0);
    ck_assert(broken->token.find("broken by ann: it hangs") != std::string::npos);
    ck_assert(!r.m.break_lock("k", std::string(lock->token()), "ann", ec) && !ec);
    ck_assert(!r.m.break_lock("k", std::string(lock->token()), std::string("a\0b", 3), ec));
    ck_assert(ec == errc::invalid_argument);
    ck_assert(!manager().break_lock("k", std::string(lock->token()), "ann", ec));
    ck_assert(ec == errc::invalid_argument);
}

TEST(the_locks_are_listed)
{
    rig r;
    std::error_code ec = errc::lost;
    std::optional<held_lock> one = r.m.lock(once("job:1")), two = r.m.lock(once("job:2"));
    redlock_list_options limits = manager::default_limits();
    std::string names;
    bool caught = false;

    ck_assert_uint_eq(r.m.list("job:", [&](const redlock_listed &key) { names += key.key; }), 2);
    ck_assert(names == "job:1job:2" || names == "job:2job:1");
    ck_assert_uint_eq(r.m.list(
                          "x", [](const redlock_listed &) {}, limits, ec),
                      0);
    ck_assert(!ec);
    limits.rate = 1;
    (void)r.m.list(
        "", [](const redlock_listed &) {}, limits, ec);
    ck_assert(ec == errc::invalid_argument);
    try {
        r.m.list("", [](const redlock_listed &) { throw std::runtime_error("oh"); });
    } catch (const std::runtime_error &) {
        caught = true;
    }
    ck_assert(caught);
    ck_assert(thrown_by([] { manager().list("", [](const redlock_listed &) {}); }) ==
              errc::invalid_argument);
}

TEST(a_child_can_do_nothing_with_the_parents_objects)
{
    rig r;
    std::optional<held_lock> lock = r.m.lock(once("k"));
    int status;

    if (fork() == 0) {
        std::error_code ec;

        bool refused = !r.m.try_lock("z", ec) && ec == errc::forked && lock->valid_for() == 0ms;
        lock.reset();
        {
            manager theirs = std::move(r.m);
        }
        _exit(refused ? 0 : 1);
    }
    wait(&status);
    ck_assert_int_eq(status, 0);
    ck_assert(lock->valid_for() > 1s && !r.m.try_lock(once("k")));
}

TEST(a_companion_is_started_or_the_error_says_why_not)
{
    rig r;
    manager m(r.options());
    redlockpp::companion_options wrong, right;
    std::atomic<bool> ready = false;
    std::error_code ec;

    wrong.command = "/nowhere/redlock";
    right.command = REDLOCK_COMMAND;
    right.on_state = [&](enum redlock_companion_state state, const char *) {
        ready = state == REDLOCK_COMPANION_READY;
    };
    ck_assert(thrown_by([&] { m.open_companion(wrong); }) == errc::system);
    m.open_companion(wrong, ec);
    ck_assert(ec == errc::system);
    m.open_companion(right);
    wait_until([&] { return ready.load(); });
    manager other = std::move(m);
    other.open_companion(right, ec);
    ck_assert(ec == errc::bad_state);
}
