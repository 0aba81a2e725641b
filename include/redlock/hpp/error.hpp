/* error.hpp - the status codes of redlock/error.h as std::error_code, and the exception. */
#ifndef REDLOCK_HPP_ERROR_HPP
#define REDLOCK_HPP_ERROR_HPP

#include <array>
#include <cstdio>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <memory>
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

} // namespace redlockpp

template <> struct std::is_error_code_enum<redlockpp::errc> : std::true_type {
};

namespace redlockpp
{

namespace detail
{

inline constexpr const char *category_name = "redlock";

/* clang-format mistakes the attribute for the name of the class. */
// clang-format off
class [[gnu::visibility("default")]] error_category final : public std::error_category
{
public:
    [[nodiscard]] const char *name() const noexcept override
    {
        return category_name;
    }

    [[nodiscard]] std::string message(int status) const override
    {
        return redlock_strerror(status);
    }

    /* Lets a program compare with std::errc where that has the same meaning. */
    [[nodiscard]] std::error_condition default_error_condition(int status) const noexcept override
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
};
// clang-format on

/* One object, even if several shared objects include this file and hide their symbols. There are
 * several if shared objects were loaded by dlopen(3) without RTLD_GLOBAL, or linked with
 * -Bsymbolic. */
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

/* Compares the names of the categories, so that codes of another shared object with its own
 * category object compare equal, too. */
inline bool operator==(const std::error_code &one, errc other) noexcept
{
    return one.value() == static_cast<int>(other) &&
           std::strcmp(one.category().name(), detail::category_name) == 0;
}
inline bool operator==(errc one, const std::error_code &other) noexcept
{
    return other == one;
}
inline bool operator!=(const std::error_code &one, errc other) noexcept
{
    return !(one == other);
}
inline bool operator!=(errc one, const std::error_code &other) noexcept
{
    return !(other == one);
}

/* The status of a function of the C API as an error code; no error for 0 and for the outcomes of a
 * release. */
inline std::error_code code(int status) noexcept
{
    return status < 0 ? std::error_code{status, category()} : std::error_code{};
}

namespace detail
{

using redlockpp::code;

/* The text, and then the short part of what the code says. Null if the text is empty. */
inline std::shared_ptr<const std::string> explain(const char *text, const std::error_code &ec)
{
    if (text[0] == '\0') {
        return nullptr;
    }
    const std::string says = ec.message();
    const std::string brief = says.substr(0, says.find_first_of(";:("));

    return std::make_shared<const std::string>(std::string(text) + ": " +
                                               brief.substr(0, brief.find_last_not_of(' ') + 1));
}

} // namespace detail

/* What the functions without a std::error_code& throw when they fail. what() names the master, the
 * field or the holder that caused it, as redlock_sync_error_text() does, and then says in short
 * what code() means. If there is no such text, what() is code().message(). With -fno-exceptions
 * such a failure ends the program by std::terminate(): use the versions with a std::error_code&. */
class error : public std::system_error
{
public:
    using std::system_error::system_error;
    /* With "" as its text, what() is the message of the code. */
    error(std::error_code code, const char *text, std::error_code reason)
        : std::system_error(code), reason_(reason), text_(detail::explain(text, code))
    {
    }

    [[nodiscard]] const char *what() const noexcept override
    {
        return text_ ? text_->c_str() : std::system_error::what();
    }

    /* After an acquire or a campaign: error_reason() of that call. */
    [[nodiscard]] std::error_code reason() const noexcept
    {
        return reason_;
    }

private:
    std::error_code reason_{};
    std::shared_ptr<const std::string> text_{}; /* shared: a copy of an exception must not throw */
};

/* What was wrong with the last call of this thread; "" when std::error_code::message() says
 * everything. For the versions with a std::error_code&. */
inline std::string error_text()
{
    return redlock_sync_error_text();
}

/* After an acquire, adoption or campaign of this thread that failed: why its last round failed. It
 * tells errc::deadline because somebody else holds the lock (errc::held) from errc::deadline
 * because no majority replies (errc::no_quorum). No error after other calls. */
inline std::error_code error_reason() noexcept
{
    return detail::code(redlock_sync_error_reason());
}

namespace detail
{

/* Throw what is wrong with the last call of this thread. */
[[noreturn]] inline void throw_status(int status)
{
#ifdef __cpp_exceptions
    throw error(code(status), redlock_sync_error_text(), error_reason());
#else
    (void)status;
    std::terminate();
#endif
}

inline void check(int status)
{
    if (status < 0) {
        throw_status(status);
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
#ifdef __cpp_exceptions
    try {
        return function();
    } catch (const std::bad_alloc &) {
        return REDLOCK_ENOMEM;
    }
#else
    return function();
#endif
}

/* A text that the C functions take up to its first NUL. */
struct named_text {
    const char *name;
    const std::string &text;
};

/* 0, or REDLOCK_EINVAL when one of them would be cut. */
inline int check_texts(std::initializer_list<named_text> texts) noexcept
{
    for (const named_text &one : texts) {
        if (one.text.find('\0') != std::string::npos) {
            std::array<char, 96> said;

            std::snprintf(said.data(), said.size(), "%s has a NUL byte, where it would be cut",
                          one.name);
            return redlock_sync_refuse(said.data());
        }
    }
    return 0;
}

} // namespace detail
} // namespace redlockpp

#endif
