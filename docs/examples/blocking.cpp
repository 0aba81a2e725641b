/* blocking.cpp - work under a lock, in C++: the example of the README. As blocking.c.
 *
 *     blocking
 *
 * The lock is released where its object ends, also when a step throws.
 */
#include <chrono>
#include <cstdio>
#include <exception>
#include <thread>

#include <redlock/redlock.hpp>

using namespace std::chrono_literals;

constexpr auto longest_step = 1s;

static int steps;

/* Here is the work. */
static void do_step()
{
    std::this_thread::sleep_for(300ms);
    std::printf("step %d\n", ++steps);
    std::fflush(stdout);
}

static void work()
{
    redlockpp::manager masters(redlockpp::read_settings());

    if (auto lock = masters.try_lock_for("nightly-report", 5s)) {
        while (steps < 5 && lock->valid_for() > longest_step) {
            do_step();
        }
    }
}

int main()
{
    try {
        work();
        std::puts(steps == 5 ? "done" : "held by somebody else, or lost");
        return steps == 5 ? 0 : 1;
    } catch (const std::exception &e) {
        std::puts(e.what());
        return 1;
    }
}
