/* blocking.cpp - work under a lock, in C++: the example of the README. As blocking.c.
 *
 *     blocking redis://a redis://b redis://c
 *
 * The lock is released where its object ends, also when a step throws.
 */
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <vector>

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

static void work(const std::vector<std::string> &nodes)
{
    redlockpp::manager masters({nodes});

    if (auto lock = masters.try_lock_for("nightly-report", 5s)) {
        while (steps < 5 && lock->valid_for() > longest_step) {
            do_step();
        }
    }
}

int main(int argc, char **argv)
{
    try {
        work({argv + 1, argv + argc});
        std::puts(steps == 5 ? "done" : "held by somebody else, or lost");
        return steps == 5 ? 0 : 1;
    } catch (const std::exception &e) {
        std::puts(e.what());
        return 1;
    }
}
