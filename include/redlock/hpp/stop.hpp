/* stop.hpp - a std::stop_token ends a wait, in C++20 and later. */
#ifndef REDLOCK_HPP_STOP_HPP
#define REDLOCK_HPP_STOP_HPP

#include <memory>
#include <utility>
#if __has_include(<version>)
#include <version>
#endif
#ifdef __cpp_lib_jthread
#include <stop_token>
#endif

#include <redlock/redlock.h>

#ifdef __cpp_lib_jthread
namespace redlockpp::detail
{

struct free_canceler {
    void operator()(redlock_sync_canceler *canceler) const noexcept
    {
        redlock_sync_canceler_free(canceler);
    }
};

/* Calls a function with a canceler that a stop request cancels, and returns the status of the
 * function. `other` is the canceler in the request or in the options of the election. If there is
 * one, the call is refused, because it can have only one canceler. */
template <typename Call>
int until_stopped(redlock_sync *s, std::stop_token stop, const void *other, Call &&call)
{
    redlock_sync_canceler *canceler = nullptr;

    if (other != nullptr) {
        return redlock_sync_refuse("a canceler and a stop token are both given; give one of them");
    }
    if (int status = redlock_sync_canceler_new(s, &canceler)) {
        return status;
    }
    const std::unique_ptr<redlock_sync_canceler, free_canceler> owner(canceler);
    const auto cancel = [canceler]() noexcept { redlock_sync_cancel(canceler); };
    const std::stop_callback<decltype(cancel)> callback(std::move(stop), cancel);

    return call(canceler);
}

} // namespace redlockpp::detail
#endif

#endif
