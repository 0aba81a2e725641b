/* redlock/redlock.hpp - the blocking façade for C++17. Header only; link with libredlock.
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
 *     redlock/hpp/manager.hpp   manager: lock, try_lock, try_lock_for, adopt, query, examine, run
 *     redlock/hpp/request.hpp   what to acquire, and how
 *     redlock/hpp/lock.hpp      held_lock: what can be asked of a lock; extend, release
 *     redlock/hpp/election.hpp  election: one of several candidates leads
 *     redlock/hpp/error.hpp     error codes and the exception
 *     redlock/hpp/time.hpp      the clock of deadlines
 *
 * The functions are those of redlock/sync.h and redlock/sync_election.h, which say what they do;
 * their rules about threads, the I/O thread and fork() hold here too. What is different:
 *
 *  1. The namespace is redlockpp, because redlock is the name of a struct of the C headers.
 *  2. Most functions come twice, as in <filesystem>. One throws redlockpp::error, a
 *     std::system_error whose what() says which master, field or holder it is about. The other one
 *     is noexcept, and its last argument is a std::error_code&. The codes are those of enum class
 *     errc, in redlockpp::category(); some compare equal to codes of std::errc, such as timed_out.
 *     The first also throws what the copy of a std::function or a std::string throws; the second
 *     reports std::bad_alloc as errc::no_memory. error_text() and error_reason() say more about
 *     the last call of this thread. Everything compiles with -fno-exceptions, too; there the
 *     functions of the first kind end the program when they fail.
 *  3. Times are std::chrono::milliseconds. Deadlines are time points of redlockpp::clock.
 *  4. Callbacks are std::functions. They run on the I/O thread: keep them short, and call nothing
 *     there that waits (errc::bad_state). An exception that leaves a callback ends the program
 *     (std::terminate), as one that leaves the function of a std::thread does: below it is C, and
 *     nobody could catch it. manager::run() and examine() alone pass it on.
 *  5. Objects can be moved and not copied. One that is empty (moved from, closed, released, or not
 *     made) may be used: calls fail with errc::invalid_argument, and a lock that is not there is
 *     valid for 0 ms.
 *  6. A text with a NUL byte is refused (errc::invalid_argument), and never cut. Only a key may
 * have some: a single one of a request, that of a query, those of release_token().
 */
#ifndef REDLOCK_HPP
#define REDLOCK_HPP

#include <redlock/hpp/election.hpp>
#include <redlock/hpp/error.hpp>
#include <redlock/hpp/lock.hpp>
#include <redlock/hpp/manager.hpp>
#include <redlock/hpp/request.hpp>
#include <redlock/hpp/time.hpp>

#endif
