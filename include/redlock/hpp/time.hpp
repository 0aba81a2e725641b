/* time.hpp - the clock of deadlines, and durations as the C functions take them. */
#ifndef REDLOCK_HPP_TIME_HPP
#define REDLOCK_HPP_TIME_HPP

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

#include <redlock/redlock.h>

namespace redlockpp
{

/* The clock of all deadlines: redlock_clock_us(). It counts the time in which the machine is
 * suspended. */
struct clock {
    using duration = std::chrono::microseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<clock>;
    static constexpr bool is_steady = true;

    static time_point now() noexcept
    {
        return time_point{duration{static_cast<rep>(redlock_clock_us())}};
    }
};

/* Wait without a limit. */
inline constexpr std::chrono::milliseconds forever = std::chrono::milliseconds::max();

namespace detail
{

inline clock::time_point to_time_point(std::uint64_t us) noexcept
{
    return clock::time_point{clock::duration{static_cast<clock::rep>(us)}};
}

inline std::chrono::milliseconds to_ms(std::uint64_t ms) noexcept
{
    return std::chrono::milliseconds{static_cast<std::chrono::milliseconds::rep>(ms)};
}

/* A wait below 0 is no wait, as with std::timed_mutex; 49 days or more are 49 days. */
inline std::uint32_t from_wait(std::chrono::milliseconds wait) noexcept
{
    if (wait == forever) {
        return REDLOCK_FOREVER;
    }
    if (wait.count() <= 0) {
        return 0;
    }
    return wait.count() < REDLOCK_FOREVER ? static_cast<std::uint32_t>(wait.count())
                                          : REDLOCK_FOREVER - 1;
}

/* The time left until a time point, rounded up; 0 if it has passed. */
inline std::chrono::milliseconds wait_until(clock::time_point end) noexcept
{
    const clock::time_point now = clock::now();

    return end > now ? std::chrono::ceil<std::chrono::milliseconds>(end - now)
                     : std::chrono::milliseconds::zero();
}

/* A duration of an option or a request; one that does not fit becomes the nearest that does, and
 * the library says whether it is in range. What is not set keeps the library's default. */
inline void put(std::uint32_t &field,
                const std::optional<std::chrono::milliseconds> &value) noexcept
{
    if (value) {
        field = static_cast<std::uint32_t>(
            std::clamp<std::int64_t>(value->count(), 0, std::numeric_limits<std::uint32_t>::max()));
    }
}

} // namespace detail
} // namespace redlockpp

#endif
