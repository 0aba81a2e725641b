/* redlock/redlock.hpp - the blocking API for C++17. Header only; link with libredlock.
 *
 *     #include <redlock/redlock.hpp>
 *     using namespace std::chrono_literals;
 *
 *     redlockpp::manager masters({{"redis://a", "redis://b", "redis://c"}});
 *
 *     if (auto lock = masters.try_lock_for("nightly-report", 5s)) {
 *         while (there_is_work && lock->valid_for() > time_of_a_step) {
 *             do_a_step();
 *         }
 *     }                                           // released here
 *
 *     redlock/hpp/manager.hpp   manager: lock, try_lock, try_lock_for, adopt, query, list,
 *                               break_lock, examine, run
 *     redlock/hpp/request.hpp   what to acquire, and how
 *     redlock/hpp/lock.hpp      held_lock: ask about a lock, extend it, release it, hand it over
 *     redlock/hpp/election.hpp  election: one of several candidates leads
 *     redlock/hpp/stop.hpp      a std::stop_token ends a wait (C++20)
 *     redlock/hpp/error.hpp     error codes and the exception
 *     redlock/hpp/time.hpp      the clock of deadlines
 *
 * Each function does what the function of the same name in redlock/sync.h or
 * redlock/sync_election.h does. Their rules about threads, the I/O thread and fork() apply here
 * too. The differences:
 *
 *  1. The namespace is redlockpp, because the C headers have a struct named redlock.
 *  2. Most functions have two versions, as in <filesystem>. One throws redlockpp::error, a
 *     std::system_error; its what() names the master, the field or the holder that caused it. The
 *     other is noexcept and has a std::error_code& as its last parameter. The codes are those of
 *     enum class errc, in redlockpp::category(). Some compare equal to codes of std::errc, such as
 *     timed_out. The throwing version also passes on exceptions from copying a std::function or a
 *     std::string; the other reports std::bad_alloc as errc::no_memory. error_text() and
 *     error_reason() say more about the last call of this thread. With -fno-exceptions everything
 *     compiles too, and the throwing versions end the program when they fail.
 *  3. Durations are std::chrono::milliseconds. Deadlines are time points of redlockpp::clock.
 *  4. Callbacks are std::functions that run on the I/O thread. Keep them short. A function that
 *     would wait reports errc::bad_state there. An exception that leaves a callback ends the
 *     program (std::terminate), as one that leaves the function of a std::thread does: the caller
 *     is C code and cannot catch it. Only manager::run(), manager::examine() and manager::list()
 *     pass exceptions on to their caller.
 *  5. Objects can be moved but not copied. An empty object (moved from, closed, released, or never
 *     made) is safe to use: calls fail with errc::invalid_argument, and an empty lock is valid for
 *     0 ms.
 *  6. A text with a NUL byte is refused (errc::invalid_argument), never cut. Only some keys may
 *     contain NUL bytes: the key of a request with one key, the key of a query, and the keys of
 *     release_token().
 */
#ifndef REDLOCK_HPP
#define REDLOCK_HPP

#include <redlock/hpp/election.hpp>
#include <redlock/hpp/error.hpp>
#include <redlock/hpp/lock.hpp>
#include <redlock/hpp/manager.hpp>
#include <redlock/hpp/request.hpp>
#include <redlock/hpp/stop.hpp>
#include <redlock/hpp/time.hpp>

#endif
