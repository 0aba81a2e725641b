/* error.hpp - the status codes of redlock/error.h as std::error_code, and the exception. */
#ifndef REDLOCK_HPP_ERROR_HPP
#define REDLOCK_HPP_ERROR_HPP

#include <exception>
#include <new>
#include <string>
#include <system_error>

#include <redlock/redlock.h>

namespace redlockpp
{

/* The codes of enum redlock_status that are errors. */
enum class errc {
    invalid_argument = REDLOCK_EINVAL,
    bad_state = REDLOCK_ESTATE,
    bad_uri = REDLOCK_EURI,
    bad_ttl = REDLOCK_ETTL,
    forked = REDLOCK_EFORK,
    limit = REDLOCK_ELIMIT,

    held = REDLOCK_EHELD,
    too_slow = REDLOCK_ETOOSLOW,
    deadline = REDLOCK_EDEADLINE,
    canceled = REDLOCK_ECANCELED,
    lost = REDLOCK_ELOST,
    suspended = REDLOCK_ESUSPENDED,
    unrenewed = REDLOCK_EUNRENEWED,
    outranked = REDLOCK_EOUTRANKED,

    no_quorum = REDLOCK_ENOQUORUM,
    no_memory = REDLOCK_ENOMEM,
    system = REDLOCK_ESYSTEM,
    config = REDLOCK_ECONFIG
};

namespace detail
{

class [[gnu::visibility("default")]] error_category final
    : public std::
      error_category{public : const char * name() const noexcept override{return "redlock";
}

std::string message(int status) const override
{
    return redlock_strerror(status);
}

/* So that a program can compare with std::errc where that says the same. */
std::error_condition default_error_condition(int status) const noexcept override
{
    switch (status) {
    case REDLOCK_EINVAL:
    case REDLOCK_EURI:
    case REDLOCK_ETTL:
        return std::errc::invalid_argument;
    case REDLOCK_ESTATE:
    case REDLOCK_EFORK:
        return std::errc::operation_not_permitted;
    case REDLOCK_ELIMIT:
        return std::errc::resource_unavailable_try_again;
    case REDLOCK_EHELD:
        return std::errc::device_or_resource_busy;
    case REDLOCK_EDEADLINE:
        return std::errc::timed_out;
    case REDLOCK_ECANCELED:
        return std::errc::operation_canceled;
    case REDLOCK_ENOMEM:
        return std::errc::not_enough_memory;
    default:
        return {status, *this};
    }
}
}; // namespace redlockpp

/* Categories are compared by their address: this is one object, also when several shared objects
 * include this file and hide what they define. */
[[gnu::visibility("default")]] inline const error_category the_category{};

} // namespace detail

/* The category of all error codes of this library. */
inline const std::error_category &category() noexcept
{
    return detail::the_category;
}

inline std::error_code make_error_code(errc code) noexcept
{
    return {static_cast<int>(code), category()};
}

/* What a call throws that has no std::error_code& and fails. what() says which master, which field
 * or which holder, as redlock_sync_error_text() does. */
class error : public std::system_error
{
public:
    using std::system_error::system_error;
};

/* What was wrong with the last call of this thread; "" when there is no more to say than
 * std::error_code::message() does. For calls with a std::error_code&. */
inline std::string error_text()
{
    return redlock_sync_error_text();
}

namespace detail
{

/* 0 and the outcomes of a release are no errors. */
inline std::error_code code(int status) noexcept
{
    return status < 0 ? std::error_code{status, category()} : std::error_code{};
}

[[noreturn]] inline void throw_status(int status, const char *text)
{
    if (text[0] != '\0') {
        throw error(code(status), text);
    }
    throw error(code(status));
}

inline void check(int status)
{
    if (status < 0) {
        throw_status(status, redlock_sync_error_text());
    }
}

/* A destructor that cannot do its work in a callback of this library: it would wait for itself. */
inline void must_not_be_a_callback(int status) noexcept
{
    if (status == REDLOCK_ESTATE) {
        std::terminate();
    }
}

/* For functions that are noexcept: a status below 0 instead of std::bad_alloc. */
template <typename Function> int status_of(Function &&function) noexcept
{
    try {
        return function();
    } catch (const std::bad_alloc &) {
        return REDLOCK_ENOMEM;
    }
}

} // namespace detail
} // namespace redlockpp

template <> struct std::is_error_code_enum<redlockpp::errc> : std::true_type {
};

#endif
