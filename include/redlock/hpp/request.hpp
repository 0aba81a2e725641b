/* request.hpp - struct redlock_request and its notifications, with C++ types. */
#ifndef REDLOCK_HPP_REQUEST_HPP
#define REDLOCK_HPP_REQUEST_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <redlock/redlock.h>
#include <redlock/hpp/error.hpp>
#include <redlock/hpp/time.hpp>

namespace redlockpp
{

class canceler;

/* A notification about a held lock: struct redlock_notice. */
struct notice {
    redlock_notice_kind kind;
    std::error_code reason;
    std::chrono::milliseconds left;
    clock::time_point deadline;
};

/* What to acquire, and how. struct redlock_request in redlock/lock.h documents each field. A field
 * that is not set has the library's default. How long to wait is a parameter of the call. */
struct request {
    /* One key, or several as one lock. A single key may contain any bytes. If it is NULL, there is
     * no key, and the calls fail with errc::invalid_argument. */
    request(const char *key) : request{key}
    {
    }
    request(std::string_view key) : keys{std::string(key)}
    {
    }
    request(std::string key) : keys{std::move(key)}
    {
    }
    request(std::nullptr_t) = delete;
    request(std::vector<std::string> all) : keys(std::move(all))
    {
    }
    request(std::initializer_list<std::string> all) : keys(all)
    {
    }
    request(std::initializer_list<const char *> all)
    {
        if (std::find(all.begin(), all.end(), nullptr) == all.end()) {
            keys.assign(all.begin(), all.end());
        }
    }

    std::vector<std::string> keys{};
    std::optional<std::chrono::milliseconds> ttl{};
    std::optional<std::chrono::milliseconds> retry_min{};
    std::optional<std::chrono::milliseconds> retry_max{};
    std::optional<std::uint32_t> max_retries{};
    std::optional<std::chrono::milliseconds> min_validity{};
    std::string owner{};
    bool renew = true;
    bool needs_heartbeat = false;
    std::optional<std::chrono::milliseconds> max_hold{};
    std::optional<std::uint32_t> max_renewals{};
    bool fencing = false;
    /* Called on the I/O thread; redlock/redlock.hpp says what it may do. Not called any more once
     * the held_lock has been released, detached or destroyed. */
    std::function<void(const notice &)> on_notice{};
    /* Report REDLOCK_NOTICE_MOVED, too. */
    bool notify_moves = false;
    /* Other processes get the token, and may extend or adopt the lock: REDLOCK_SHARE_TOKEN. */
    bool share_token = false;
    /* Ends the wait for the lock. Must live until the call returns. */
    const canceler *cancel = nullptr;
};

namespace detail
{

/* Runs on the I/O thread, called from C: an exception ends the program. */
inline void on_notice(redlock_lock *, const redlock_notice *n, void *arg) noexcept
{
    const auto &call = *static_cast<const std::function<void(const notice &)> *>(arg);

    call(notice{n->kind, code(n->reason), to_ms(n->left_ms), to_time_point(n->deadline_us)});
}

/* A single key may have NULs. token: NULL for a lock that is not adopted. */
inline int check_texts(const request &r, const std::string *token) noexcept
{
    int status = r.keys.empty() ? redlock_sync_refuse("no key is given, or a key is NULL")
                                : check_texts({{"owner", r.owner}});

    if (status == 0 && token != nullptr) {
        status = check_texts({{"the token", *token}});
    }
    for (std::size_t i = 0; i < r.keys.size() && r.keys.size() > 1 && status == 0; i++) {
        status = check_texts({{"one of several keys", r.keys[i]}});
    }
    return status;
}

/* A request as the C functions take it. It points into `r`, which must outlive it. */
class c_request
{
public:
    c_request(const request &r, std::uint32_t wait_ms)
    {
        redlock_request_init(&c_);
        put_keys(r.keys);
        put_durations(r);
        c_.wait_ms = wait_ms;
        c_.max_retries = r.max_retries.value_or(c_.max_retries);
        c_.max_renewals = r.max_renewals.value_or(c_.max_renewals);
        c_.owner = r.owner.empty() ? nullptr : r.owner.c_str();
        c_.renew = r.renew;
        c_.needs_heartbeat = r.needs_heartbeat;
        c_.fencing = r.fencing;
        c_.flags =
            (r.notify_moves ? REDLOCK_NOTIFY_MOVES : 0) | (r.share_token ? REDLOCK_SHARE_TOKEN : 0);
    }

    void put_notice(std::function<void(const notice &)> *call) noexcept
    {
        c_.notice_cb = on_notice;
        c_.notice_arg = call;
    }

    [[nodiscard]] const redlock_request *get() const noexcept
    {
        return &c_;
    }

private:
    void put_keys(const std::vector<std::string> &keys)
    {
        if (keys.size() == 1) {
            c_.key = keys[0].data();
            c_.key_len = keys[0].size();
            return;
        }
        for (const std::string &key : keys) {
            pointers_.push_back(key.c_str());
        }
        c_.keys = pointers_.data();
        c_.n_keys = pointers_.size();
    }

    void put_durations(const request &r) noexcept
    {
        put(c_.ttl_ms, r.ttl);
        put(c_.retry_min_ms, r.retry_min);
        put(c_.retry_max_ms, r.retry_max);
        put(c_.min_validity_ms, r.min_validity);
        put(c_.max_hold_ms, r.max_hold);
        if (r.max_hold && c_.max_hold_ms == 0) {
            c_.max_hold_ms = 1; /* 0 would be no limit */
        }
    }

    redlock_request c_;
    std::vector<const char *> pointers_;
};

} // namespace detail
} // namespace redlockpp

#endif
