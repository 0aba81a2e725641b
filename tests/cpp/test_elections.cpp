/* test_elections.cpp - leader election from C++. */
#include <atomic>
#include <csignal>
#include <cstring>
#include <mutex>
#include <poll.h>
#include <stdexcept>
#include <thread>
#include <vector>

#include "cpp/rig.hpp"
#include "lib/test.h"

SUITE("elections");

using redlockpp::demotion;
using redlockpp::election;
using redlockpp::election_options;
using redlockpp::leader;

/* A candidate for "e". */
static election_options candidate(const char *id)
{
    election_options o;

    o.name = "e";
    o.id = id;
    o.ttl = 1min;
    o.on_demoted = [](const demotion &) {};
    return o;
}

TEST(a_lead_is_reported_by_callbacks)
{
    rig r;
    election_options o = candidate("anna");
    std::atomic<std::uint64_t> elected{0}, demoted{0};
    std::atomic<bool> resigned{false};

    o.on_elected = [&](std::uint64_t term) { elected = term; };
    o.on_demoted = [&](const demotion &d) {
        resigned = !d.reason;
        demoted = d.term;
    };
    election e(r.m, o);
    ck_assert(!e.is_leader() && e.term() == 0 && e.leads_for() == 0us);
    e.campaign();
    wait_until([&] { return elected != 0; });
    ck_assert(e.is_leader() && e.term() == elected && e.leads_for() > 1s);
    ck_assert(e.deadline() > redlockpp::clock::now());
    e.resign();
    ck_assert(!e.is_leader());
    wait_until([&] { return demoted != 0; });
    ck_assert(demoted == elected && resigned);
}

TEST(who_leads_is_reported_to_everybody)
{
    rig r;
    election_options o, mine = candidate("anna");
    std::mutex mutex;
    leader last{};
    std::error_code ec = errc::lost;

    o.name = "e";
    o.on_leader = [&](const leader &l) {
        std::lock_guard<std::mutex> guard(mutex);
        last = l;
    };
    mine.value = "10.0.0.7:80";
    election observer(r.m, o), anna(r.m, mine);
    std::uint64_t term = anna.wait_elected();
    wait_until([&] {
        std::lock_guard<std::mutex> guard(mutex);
        return last.id == "anna" && last.term == term;
    });
    ck_assert(last.value == "10.0.0.7:80" && last.known && !last.is_me);
    leader asked = observer.who_leads();
    ck_assert(asked.id == "anna" && asked.value == "10.0.0.7:80" && asked.term == term);
    ck_assert(observer.who_leads(ec).known && !ec);
    ck_assert(thrown_by([&] { observer.campaign(); }) == errc::invalid_argument);
}

TEST(one_leads_until_it_resigns)
{
    rig r;
    election anna(r.m, candidate("anna")), berta(r.m, candidate("berta"));
    std::uint64_t term = anna.wait_elected();
    std::error_code ec;

    ck_assert(!berta.wait_elected_for(20ms));
    ck_assert(!berta.wait_elected_for(20ms, ec) && ec == std::errc::timed_out);
    ck_assert(!anna.wait_demoted_for(term, 20ms));
    ck_assert(!anna.wait_demoted_for(term, 20ms, ec) && ec == errc::deadline);
    std::thread other([&] { anna.resign(); });
    demotion d = anna.wait_demoted(term);
    other.join();
    ck_assert(!d.reason && d.term == term);
    ck_assert_uint_gt(berta.wait_elected(), term);
    ck_assert(berta.is_leader() && !anna.is_leader());
}

TEST(a_leader_hands_over)
{
    rig r;
    election anna(r.m, candidate("anna")), berta(r.m, candidate("berta"));
    std::uint64_t term = anna.wait_elected();
    std::error_code ec;

    ck_assert(thrown_by([&] { anna.hand_over("anna"); }) == errc::invalid_argument);
    anna.hand_over(std::string("b\0", 2), 1s, ec);
    ck_assert(ec == errc::invalid_argument && anna.is_leader());
    anna.hand_over("berta", 1min, ec);
    ck_assert(!ec && !anna.is_leader());
    ck_assert_uint_gt(berta.wait_elected(), term);
    berta.hand_over("anna");
    ck_assert_uint_gt(anna.wait_elected(), term + 1);
}

TEST(the_end_of_an_object_ends_its_lead)
{
    rig r;
    election berta(r.m, candidate("berta"));

    {
        election anna(r.m, candidate("anna"));
        anna.wait_elected();
        berta.campaign();
    }
    ck_assert_uint_gt(berta.wait_elected(), 0);
    election moved = std::move(berta);
    ck_assert(moved.is_leader() && !berta.is_leader());
    berta = election(r.m, candidate("carla"));
    ck_assert(moved.is_leader());
    moved = {};
    ck_assert_uint_gt(berta.wait_elected(), 0);
}

TEST(nobody_is_elected_before_the_old_one_has_stopped)
{
    rig r;
    election_options o = candidate("anna");
    std::error_code ec;

    o.stops_later = true;
    election anna(r.m, o), berta(r.m, candidate("berta"));
    std::uint64_t term = anna.wait_elected();
    berta.campaign();
    anna.stopped(ec);
    ck_assert(ec == errc::bad_state);
    anna.resign(ec);
    ck_assert(!ec && anna.wait_demoted(term, ec) && !ec);
    ck_assert(!berta.wait_elected_for(50ms));
    anna.stopped();
    ck_assert_uint_gt(berta.wait_elected(), term);
}

TEST(who_is_not_healthy_is_not_elected)
{
    rig r;
    election_options o = candidate("anna");
    std::atomic<bool> healthy{false};

    o.healthy = [&] { return healthy.load(); };
    o.ttl = 6s;
    election e(r.m, o);
    ck_assert(!e.wait_elected_for(50ms));
    healthy = true;
    std::uint64_t term = e.wait_elected();
    healthy = false;
    ck_assert(e.wait_demoted(term).reason == errc::unrenewed);
}

TEST(waits_can_be_cancelled)
{
    rig r;
    redlockpp::canceler cancel(r.m);
    election_options o = candidate("berta");
    std::error_code ec;

    o.cancel = &cancel;
    election anna(r.m, candidate("anna")), berta(r.m, o);
    anna.wait_elected();
    std::thread other([&] { ck_assert(!berta.wait_elected(ec)); });
    std::this_thread::sleep_for(20ms);
    cancel.cancel();
    other.join();
    ck_assert(ec == errc::canceled);
}

TEST(the_descriptor_shows_who_leads)
{
    rig r;
    election e(r.m, candidate("anna"));
    pollfd leads = {e.fd(), POLLOUT, 0}, not_leads = {e.fd(), POLLIN, 0};
    std::error_code ec = errc::lost;

    ck_assert_int_eq(e.fd(ec), e.fd());
    ck_assert(!ec);
    ck_assert_int_eq(poll(&leads, 1, 0), 0);
    e.campaign();
    ck_assert_int_eq(poll(&leads, 1, 20000), 1);
    ck_assert_int_eq(poll(&not_leads, 1, 0), 0);
}

TEST(options_that_cannot_work_are_refused_with_a_text)
{
    rig r;
    election_options o = candidate("anna");
    std::error_code ec;

    o.renew_deadline = 2min;
    try {
        election e(r.m, o);
        ck_abort_msg("it was not thrown");
    } catch (const redlockpp::error &e) {
        ck_assert(e.code() == errc::invalid_argument);
        ck_assert_msg(std::strstr(e.what(), "renew_deadline_ms") != nullptr, "%s", e.what());
    }
    election e(r.m, o, ec);
    ck_assert(ec == errc::invalid_argument && e.native_handle() == nullptr);
}

TEST(an_observer_cannot_campaign_and_is_told_so)
{
    rig r;
    election_options o;

    o.name = "boss";
    o.on_leader = [](const redlockpp::leader &) {};
    election e(r.m, o);
    try {
        e.campaign();
        ck_abort_msg("it was not thrown");
    } catch (const redlockpp::error &error) {
        ck_assert(error.code() == errc::invalid_argument);
        ck_assert_ptr_nonnull(std::strstr(error.what(), "an observer cannot campaign"));
    }
    e.resign();
}

TEST(an_empty_election_refuses_every_call)
{
    election e;
    std::error_code ec;

    ck_assert(thrown_by([&] { e.campaign(); }) == errc::invalid_argument);
    ck_assert(thrown_by([&] { e.wait_elected(); }) == errc::invalid_argument);
    ck_assert(thrown_by([&] { e.wait_demoted(1); }) == errc::invalid_argument);
    ck_assert(thrown_by([&] { e.resign(); }) == errc::invalid_argument);
    ck_assert(thrown_by([&] { e.hand_over("anna"); }) == errc::invalid_argument);
    ck_assert(thrown_by([&] { e.stopped(); }) == errc::invalid_argument);
    ck_assert(thrown_by([&] { e.who_leads(); }) == errc::invalid_argument);
    ck_assert(thrown_by([&] { (void)e.fd(); }) == errc::invalid_argument);
    ck_assert(!e.is_leader() && e.term() == 0 && e.leads_for() == 0us);
}

TEST(the_end_of_the_manager_ends_the_lead)
{
    rig r;
    std::vector<std::error_code> reasons;
    election_options o = candidate("anna");

    o.on_demoted = [&](const demotion &d) { reasons.push_back(d.reason); };
    election e(r.m, o);
    e.wait_elected();
    r.m.close();
    ck_assert(reasons.size() == 1 && reasons[0] == errc::canceled);
    ck_assert(!e.is_leader());
}

TEST_SIGNAL(an_exception_in_a_callback_ends_the_program, SIGABRT)
{
    rig r;
    election_options o = candidate("anna");

    o.on_elected = [](std::uint64_t) { throw std::runtime_error("oh"); };
    election e(r.m, o);
    e.wait_elected();
    wait_until([] { return false; });
}

TEST_SIGNAL(the_end_of_an_election_in_a_callback_ends_the_program, SIGABRT)
{
    rig r;
    election e(r.m, candidate("anna"));

    r.m.run([&](struct redlock *) { e = {}; });
}
