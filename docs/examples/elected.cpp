/* elected.cpp - a daemon that runs on several machines, and works on one of them: in C++.
 *
 *     elected ID
 *
 * As elected.c, but without an event loop. The main thread waits until it is elected, works until
 * the leadership has ended, and waits again. Before each step it compares the deadline of the
 * leadership with the clock. A second thread waits for SIGTERM: it resigns, and ends the waits of
 * the main thread. What keeps everybody from being elected is printed whenever it changes.
 */
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>

#include <redlock/redlock.hpp>

using namespace std::chrono_literals;

constexpr auto longest_step = 20ms;

/* Here is the work. It needs the term, not the election. */
static void do_step(const std::string &id, unsigned long long term)
{
    auto from = redlockpp::clock::now().time_since_epoch();

    std::this_thread::sleep_for(longest_step / 2);
    auto to = redlockpp::clock::now().time_since_epoch();
    std::printf("%s term %llu from %lld to %lld\n", id.c_str(), term,
                static_cast<long long>(from.count()), static_cast<long long>(to.count()));
}

/* Without time for a step it waits: for the next renewal, or for the end of the leadership. */
static redlockpp::demotion work(redlockpp::election &election, const std::string &id,
                                std::uint64_t term)
{
    for (;;) {
        while (election.leads_for() > longest_step) {
            do_step(id, term);
        }
        if (auto end = election.wait_demoted_for(term, longest_step)) {
            return *end;
        }
    }
}

/* Called for each change, on the I/O thread. */
static void on_node(std::size_t, const redlock_node_info &master)
{
    std::fprintf(stderr, "%s %s\n", master.name, master.error[0] ? master.error : "is up");
}

/* Waits as long as it has to, and prints what fails. Another leader is no failure. */
static std::uint64_t wait_elected(redlockpp::election &election)
{
    std::error_code said;

    for (;;) {
        if (auto term = election.wait_elected_for(1s)) {
            return *term;
        }
        std::error_code why = redlockpp::error_reason();
        if (why && why != said) {
            std::fprintf(stderr, "not elected: %s: %s\n", redlockpp::error_text().c_str(),
                         why.message().c_str());
        }
        said = why;
    }
}

static void lead_again_and_again(redlockpp::election &election, const std::string &id)
{
    for (;;) {
        std::uint64_t term = wait_elected(election);

        std::printf("%s elected, term %llu\n", id.c_str(), static_cast<unsigned long long>(term));
        redlockpp::demotion end = work(election, id, term);
        std::printf("%s demoted: %s\n", id.c_str(), end.reason.message().c_str());
        election.stopped();
    }
}

static void wait_for_signal(const sigset_t &signals)
{
    int number;

    sigwait(&signals, &number);
}

static void run(const std::string &id, const sigset_t &signals)
{
    redlockpp::options options = redlockpp::read_settings();
    options.on_node = on_node;
    redlockpp::manager masters(options);
    redlockpp::canceler cancel(masters);
    redlockpp::election_options what;

    what.name = "elected";
    what.id = id;
    what.ttl = 3s;
    what.stops_later = true;
    what.cancel = &cancel;
    redlockpp::election election(masters, what);
    std::thread ender([&] {
        wait_for_signal(signals);
        cancel.cancel();
        election.resign();
    });
    try {
        lead_again_and_again(election, id);
    } catch (const redlockpp::error &e) {
        if (e.code() != redlockpp::errc::canceled) {
            std::fprintf(stderr, "%s\n", e.what());
            std::_Exit(1); /* a leadership ends when its ttl is over */
        }
    }
    ender.join();
}

int main(int argc, char **argv)
{
    sigset_t signals;

    if (argc != 2) {
        std::fprintf(stderr, "usage: elected ID\n");
        return 64;
    }
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr); /* in all threads */
    try {
        run(argv[1], signals);
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return 0;
}
