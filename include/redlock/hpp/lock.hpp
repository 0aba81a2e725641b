/* lock.hpp - the handle of an acquired lock. */
#ifndef REDLOCK_HPP_LOCK_HPP
#define REDLOCK_HPP_LOCK_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <redlock/redlock.h>
#include <redlock/hpp/error.hpp>
#include <redlock/hpp/request.hpp>
#include <redlock/hpp/time.hpp>

namespace redlockpp
{

/* What a release found. */
enum class release_result {
    released = REDLOCK_OK,
    gone = REDLOCK_GONE,
    taken = REDLOCK_TAKEN,
    /* The call failed: the error says why. */
    unknown
};

namespace detail
{

inline release_result to_result(int status) noexcept
{
    return status < 0 ? release_result::unknown : static_cast<release_result>(status);
}

} // namespace detail

/* The handle of an acquired lock. Its destructor releases the lock.
 *
 * It is named held_lock, not guard or unique_lock, because the lock can be lost while this object
 * lives: having the object does not mean having the lock. So there is no owns_lock(). Ask
 * valid_for() before each step, or the object itself: `if (lock)` is true as long as the lock is
 * valid.
 *
 * It can be moved. An object that was moved from, released or detached is empty: every function may
 * still be called, and there is no lock. */
class held_lock
{
public:
    held_lock() noexcept = default;
    held_lock(held_lock &&other) noexcept
        : lock_(std::exchange(other.lock_, nullptr)), notice_(std::move(other.notice_))
    {
    }
    held_lock &operator=(held_lock &&other) noexcept
    {
        if (this != &other) {
            end();
            lock_ = std::exchange(other.lock_, nullptr);
            notice_ = std::move(other.notice_);
        }
        return *this;
    }

    /* Releases the lock, and waits for the replies of a majority of the masters. Must not run in a
     * callback: it would wait for itself, so it calls std::terminate(). Does nothing in a forked
     * child. */
    ~held_lock()
    {
        end();
    }

    /* Release the lock now: redlock_sync_release(). Afterwards the object is empty, even if this
     * fails with errc::no_quorum (the release stays pending) or errc::canceled (the manager was
     * closed, and has released the lock). */
    release_result release()
    {
        int status = do_release();

        detail::check(status);
        return detail::to_result(status);
    }
    release_result release(std::error_code &ec) noexcept
    {
        int status = do_release();

        ec = detail::code(status);
        return detail::to_result(status);
    }

    /* Release the lock, so that a certain waiter gets it: redlock_sync_hand_over(). 0: the usual
     * time. If this fails with errc::invalid_argument the lock is held as before; otherwise the
     * object is empty, as after release(). */
    release_result hand_over(const std::string &to,
                             std::chrono::milliseconds within = std::chrono::milliseconds::zero())
    {
        int status = do_hand_over(to, within);

        detail::check(status);
        return detail::to_result(status);
    }
    release_result hand_over(const std::string &to, std::chrono::milliseconds within,
                             std::error_code &ec) noexcept
    {
        int status = do_hand_over(to, within);

        ec = detail::code(status);
        return detail::to_result(status);
    }

    /* Drop the handle, and leave the lock to its TTL: redlock_sync_lock_detach(). Anyone who has
     * the token can adopt or release it. */
    void detach()
    {
        detail::check(do_detach());
    }
    void detach(std::error_code &ec) noexcept
    {
        ec = detail::code(do_detach());
    }

    /* Extend the lock: redlock_sync_extend(). 0: by the same TTL as before. */
    void extend(std::chrono::milliseconds ttl = std::chrono::milliseconds::zero())
    {
        detail::check(do_extend(ttl));
    }
    void extend(std::chrono::milliseconds ttl, std::error_code &ec) noexcept
    {
        ec = detail::code(do_extend(ttl));
    }

    /* Send a heartbeat (request.needs_heartbeat): redlock_sync_lock_heartbeat(). */
    void heartbeat()
    {
        detail::check(redlock_sync_lock_heartbeat(lock_));
    }
    void heartbeat(std::error_code &ec) noexcept
    {
        ec = detail::code(redlock_sync_lock_heartbeat(lock_));
    }

    /* ---- from any thread, without waiting ---- */

    /* How long the lock is still valid, rounded down; 0 when it is lost, or its deadline has
     * passed. Reads the clock at each call, so it is right even if the process was stopped in
     * between. */
    [[nodiscard]] std::chrono::milliseconds valid_for() const noexcept
    {
        return detail::to_ms(redlock_sync_lock_validity_ms(lock_));
    }

    /* Whether the lock is valid right now: valid_for() is not 0. Before work that takes time, check
     * valid_for(). */
    explicit operator bool() const noexcept
    {
        return redlock_sync_lock_validity_ms(lock_) > 0;
    }

    /* When the lock ends; the epoch of the clock when it is lost. It changes, so read it before
     * each step. */
    [[nodiscard]] clock::time_point deadline() const noexcept
    {
        return detail::to_time_point(redlock_sync_lock_deadline_us(lock_));
    }

    /* Why the lock is lost; false: it is held. */
    [[nodiscard]] std::error_code lost() const noexcept
    {
        return detail::code(redlock_sync_lock_lost(lock_));
    }

    /* The fencing token, if the request asked for one; 0 otherwise. */
    [[nodiscard]] std::uint64_t fencing_token() const noexcept
    {
        return redlock_sync_lock_fencing_token(lock_);
    }

    /* The token, and the (first) key as it is on the masters. They live until the lock is released
     * or detached. */
    [[nodiscard]] std::string_view token() const noexcept
    {
        return redlock_sync_lock_token(lock_);
    }
    [[nodiscard]] std::string_view key() const noexcept
    {
        std::size_t len = 0;
        const char *text = redlock_sync_lock_key(lock_, &len);

        return {text, len};
    }

    /* A file descriptor that becomes readable when the lock is lost: redlock_sync_lock_fd(). */
    int fd() const
    {
        int got = redlock_sync_lock_fd(lock_);

        detail::check(got);
        return got;
    }
    int fd(std::error_code &ec) const noexcept
    {
        int got = redlock_sync_lock_fd(lock_);

        ec = detail::code(got);
        return got;
    }

    /* The C object, for the functions of redlock/sync.h; NULL if empty. Do not release or detach
     * it. */
    [[nodiscard]] redlock_sync_lock *native_handle() const noexcept
    {
        return lock_;
    }

private:
    friend class manager;

    /* The handle is gone, unless the call was refused. */
    void note_gone(int status) noexcept
    {
        if (status != REDLOCK_EINVAL && status != REDLOCK_ESTATE && status != REDLOCK_ENOMEM &&
            status != REDLOCK_EFORK) {
            lock_ = nullptr;
            notice_.reset();
        }
    }

    int do_release() noexcept
    {
        int status = redlock_sync_release(lock_);

        note_gone(status);
        return status;
    }

    int do_hand_over(const std::string &to, std::chrono::milliseconds within) noexcept
    {
        std::uint32_t within_ms = 0;
        int status = detail::check_texts({{"to", to}});

        detail::put(within_ms, within);
        if (status == 0) {
            status = redlock_sync_hand_over(lock_, to.c_str(), within_ms);
        }
        note_gone(status);
        return status;
    }

    int do_detach() noexcept
    {
        int status = redlock_sync_lock_detach(lock_);

        note_gone(status);
        return status;
    }

    int do_extend(std::chrono::milliseconds ttl) noexcept
    {
        std::uint32_t ttl_ms = 0;

        detail::put(ttl_ms, ttl);
        return redlock_sync_extend(lock_, ttl_ms);
    }

    void end() noexcept
    {
        if (lock_ != nullptr) {
            detail::must_not_be_a_callback(do_release());
        }
    }

    redlock_sync_lock *lock_ = nullptr;
    std::unique_ptr<std::function<void(const notice &)>> notice_;
};

} // namespace redlockpp

#endif
