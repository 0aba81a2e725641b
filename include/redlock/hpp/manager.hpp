/* manager.hpp - the masters, the thread that talks to them, and what it can be asked for. */
#ifndef REDLOCK_HPP_MANAGER_HPP
#define REDLOCK_HPP_MANAGER_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <redlock/redlock.h>
#include <redlock/hpp/error.hpp>
#include <redlock/hpp/lock.hpp>
#include <redlock/hpp/request.hpp>
#include <redlock/hpp/stop.hpp>
#include <redlock/hpp/time.hpp>

namespace redlockpp
{

/* The options of a manager. struct redlock_options in redlock/manager.h documents each field. A
 * field that is not set has the library's default. */
struct options {
    std::vector<std::string> nodes{};
    std::string username{};
    std::string password{};
    std::string password_file{};
    std::string key_prefix{};
    std::string client_name{};
    std::optional<std::chrono::milliseconds> node_timeout{};
    std::optional<std::chrono::milliseconds> connect_timeout{};
    std::optional<std::chrono::milliseconds> max_ttl{};
    std::optional<std::uint32_t> drift_ppm{};
    redlock_quarantine quarantine = REDLOCK_QUARANTINE_STRICT;
    std::optional<std::chrono::milliseconds> inspection{};
    bool subscribe = true;
    std::string tls_cacert{};
    std::string tls_cert{};
    std::string tls_key{};
    std::string tls_sni{};
    bool tls_verify = true;
    /* Gets a trace of everything that happens, on the I/O thread: see redlock/trace.h. It must not
     * throw. */
    std::function<void(const redlock_trace &)> on_trace{};
    /* Called on the I/O thread when a master has changed its state, with the index of the master in
     * `nodes`: redlock_node_cb in redlock/manager.h. It must not throw. */
    std::function<void(std::size_t, const struct redlock_node_info &)> on_node{};
    std::uint32_t audit_entries = 0;
    bool record = true;
};

/* The options of a companion: struct redlock_companion_options in redlock/companion.h. */
struct companion_options {
    std::string command{};
    /* Called on the I/O thread when the companion is ready, or has ended and why. It must not
     * throw.
     */
    std::function<void(enum redlock_companion_state, const char *)> on_state{};
};

namespace detail
{

inline void on_companion(redlock *, enum redlock_companion_state state, const char *why,
                         void *arg) noexcept
{
    using call = std::function<void(enum redlock_companion_state, const char *)>;

    (*static_cast<const call *>(arg))(state, why);
}

inline void on_trace(const redlock_trace *event, void *arg) noexcept
{
    (*static_cast<const std::function<void(const redlock_trace &)> *>(arg))(*event);
}

inline void on_node(redlock *, std::size_t index, const struct redlock_node_info *info,
                    void *arg) noexcept
{
    using call = std::function<void(std::size_t, const struct redlock_node_info &)>;

    (*static_cast<const call *>(arg))(index, *info);
}

inline const char *text_or_null(const std::string &text) noexcept
{
    return text.empty() ? nullptr : text.c_str();
}

inline int check_texts(const options &o) noexcept
{
    int status = check_texts({{"username", o.username},
                              {"password", o.password},
                              {"password_file", o.password_file},
                              {"key_prefix", o.key_prefix},
                              {"client_name", o.client_name},
                              {"tls_cacert", o.tls_cacert},
                              {"tls_cert", o.tls_cert},
                              {"tls_key", o.tls_key},
                              {"tls_sni", o.tls_sni}});

    for (std::size_t i = 0; i < o.nodes.size() && status == 0; i++) {
        status = check_texts({{"the URI of a master", o.nodes[i]}});
    }
    return status;
}

/* Options as the C functions take them. They point into `o`, which must outlive them. */
class c_options
{
public:
    explicit c_options(const options &o)
    {
        redlock_options_init(&c_);
        for (const std::string &node : o.nodes) {
            nodes_.push_back(node.c_str());
        }
        c_.nodes = nodes_.data();
        c_.n_nodes = nodes_.size();
        c_.username = text_or_null(o.username);
        c_.password = text_or_null(o.password);
        c_.password_file = text_or_null(o.password_file);
        c_.key_prefix = text_or_null(o.key_prefix);
        c_.client_name = text_or_null(o.client_name);
        put(c_.node_timeout_ms, o.node_timeout);
        put(c_.connect_timeout_ms, o.connect_timeout);
        put(c_.max_ttl_ms, o.max_ttl);
        put(c_.inspection_ms, o.inspection);
        c_.drift_ppm = o.drift_ppm.value_or(c_.drift_ppm);
        c_.quarantine = o.quarantine;
        c_.subscribe = o.subscribe;
        c_.tls_cacert = text_or_null(o.tls_cacert);
        c_.tls_cert = text_or_null(o.tls_cert);
        c_.tls_key = text_or_null(o.tls_key);
        c_.tls_sni = text_or_null(o.tls_sni);
        c_.tls_verify = o.tls_verify;
        c_.audit_entries = o.audit_entries;
        c_.record = o.record;
    }
    c_options(const c_options &) = delete;
    c_options &operator=(const c_options &) = delete;

    void put_trace(std::function<void(const redlock_trace &)> *call) noexcept
    {
        c_.trace_cb = on_trace;
        c_.trace_arg = call;
    }
    void put_node(std::function<void(std::size_t, const struct redlock_node_info &)> *call) noexcept
    {
        c_.node_cb = on_node;
        c_.node_arg = call;
    }

    redlock_options *get() noexcept
    {
        return &c_;
    }

private:
    redlock_options c_;
    std::vector<const char *> nodes_;
};

/* Whether this thread's acquire failed because somebody else holds the lock. */
inline bool is_held(int status) noexcept
{
    return status == REDLOCK_EHELD ||
           (status == REDLOCK_EDEADLINE && redlock_sync_error_reason() == REDLOCK_EHELD);
}

struct free_query {
    void operator()(redlock_query_result *result) const noexcept
    {
        redlock_sync_query_free(result);
    }
};

struct free_settings {
    void operator()(redlock_settings *settings) const noexcept
    {
        redlock_settings_free(settings);
    }
};

inline std::string text_of(const char *text)
{
    return text ? text : "";
}

/* Copy the fields that redlock_settings_read() writes. */
inline void take_settings(options &o, const redlock_options &c)
{
    o.nodes.assign(c.nodes, c.nodes + c.n_nodes);
    o.username = text_of(c.username);
    o.password = text_of(c.password);
    o.password_file = text_of(c.password_file);
    o.key_prefix = text_of(c.key_prefix);
    o.node_timeout = std::chrono::milliseconds(c.node_timeout_ms);
    o.max_ttl = std::chrono::milliseconds(c.max_ttl_ms);
    o.quarantine = c.quarantine;
    o.tls_cacert = text_of(c.tls_cacert);
    o.tls_cert = text_of(c.tls_cert);
    o.tls_key = text_of(c.tls_key);
    o.tls_sni = text_of(c.tls_sni);
    o.tls_verify = c.tls_verify != 0;
    o.audit_entries = c.audit_entries;
    o.record = c.record != 0;
}

inline int read_settings(options &o)
{
    std::array<char, 1024> text{};
    c_options c(o);
    redlock_settings *settings = nullptr;
    int status = check_texts(o);

    if (status != 0) {
        return status;
    }
    c.get()->error_text = text.data();
    c.get()->error_text_size = text.size();
    status = redlock_settings_read(c.get(), &settings);
    redlock_sync_refuse(text.data());
    if (status == 0) {
        const std::unique_ptr<redlock_settings, free_settings> owner(settings);

        take_settings(o, *c.get());
    }
    return status;
}

} // namespace detail

/* Options with the settings of the command redlock, from the environment and the file of masters:
 * redlock_settings_read(). Masters or a password that `o` already has are not looked up; its other
 * fields are the defaults. The second overload returns `o` when it fails.
 *
 *     redlockpp::manager masters(redlockpp::read_settings());
 */
[[nodiscard]] inline options read_settings(options o = {})
{
    detail::check(detail::read_settings(o));
    return o;
}
[[nodiscard]] inline options read_settings(options o, std::error_code &ec) noexcept
{
    options found;

    ec = detail::code(detail::status_of([&] {
        found = o;
        return detail::read_settings(found);
    }));
    return ec ? std::move(o) : std::move(found);
}

/* The result of a query: struct redlock_query_result. */
using query_result = std::unique_ptr<redlock_query_result, detail::free_query>;

/* A lock that was broken: struct redlock_break_result. */
struct broken_lock {
    /* For how long the former holder may still believe in it. Nobody else gets it before that. */
    std::chrono::milliseconds left{};
    /* How many masters had the token of its holder. */
    std::size_t replaced = 0;
    /* The token that they have now. */
    std::string token;
};

/* The record of the masters: struct redlock_record_info, and its entries. */
struct masters_record {
    /* struct redlock_record_master. */
    struct entry {
        std::string address;
        int node = -1;
        std::uint32_t from_epoch = 0;
        std::uint32_t until_epoch = 0;
        bool lost = false;
    };

    redlock_record_state state = REDLOCK_RECORD_OFF;
    std::string error;
    std::uint32_t epoch = 0;
    std::chrono::milliseconds max_ttl{};
    std::size_t shown_by = 0;
    std::size_t readable = 0;
    std::vector<entry> entries;
};

namespace detail
{

inline masters_record read_record(const struct redlock *rl)
{
    struct redlock_record_info info = {};
    struct redlock_record_master m = {};
    masters_record record;

    info.size = sizeof(info);
    m.size = sizeof(m);
    if (redlock_get_record(rl, &info) != 0) {
        return record;
    }
    record.state = info.state;
    record.error = info.error;
    record.epoch = info.epoch;
    record.max_ttl = std::chrono::milliseconds(info.max_ttl_ms);
    record.shown_by = info.shown_by;
    record.readable = info.readable;
    for (std::size_t i = 0; redlock_get_record_master(rl, i, &m) == 0; i++) {
        record.entries.push_back({m.address, m.node, m.from_epoch, m.until_epoch, m.lost != 0});
    }
    return record;
}

} // namespace detail

/* A manager and its I/O thread: struct redlock_sync. Make one and keep it. Any thread may call any
 * function, but no other thread may use the manager while it is moved from, assigned to or
 * destroyed.
 *
 * A manager that was moved from, closed, or could not be made is empty: every call fails with
 * errc::invalid_argument. */
class manager
{
public:
    manager() noexcept = default;

    /* Starts to connect to every master, and returns without waiting: redlock_sync_new(). */
    explicit manager(const options &o)
    {
        detail::check(open(o));
    }
    manager(const options &o, std::error_code &ec) noexcept
    {
        ec = detail::code(detail::status_of([&] { return open(o); }));
    }

    manager(manager &&other) noexcept
        : s_(std::exchange(other.s_, nullptr)), trace_(std::move(other.trace_)),
          node_(std::move(other.node_)), companion_(std::move(other.companion_))
    {
    }
    manager &operator=(manager &&other) noexcept
    {
        if (this != &other) {
            end();
            s_ = std::exchange(other.s_, nullptr);
            trace_ = std::move(other.trace_);
            node_ = std::move(other.node_);
            companion_ = std::move(other.companion_);
        }
        return *this;
    }

    /* Like close(), but without errors. Must not run in a callback: it would wait for itself, so it
     * calls std::terminate(). Does nothing in a forked child. */
    ~manager()
    {
        end();
    }

    /* Close the manager, and wait until that is done: redlock_sync_close(). Held locks are
     * released; their held_lock objects may outlive the manager. */
    void close()
    {
        detail::check(do_close());
    }
    void close(std::error_code &ec) noexcept
    {
        ec = detail::code(do_close());
    }

    /* Start a companion, which releases the locks when the program is dead, right after the manager
     * was made: redlock_sync_companion_open(). redlock/companion.h says when that is safe. */
    void open_companion(const companion_options &o = {})
    {
        detail::check(do_open_companion(o));
    }
    void open_companion(const companion_options &o, std::error_code &ec) noexcept
    {
        ec = detail::code(detail::status_of([&] { return do_open_companion(o); }));
    }

    /* ---- acquiring: redlock_sync_acquire() ----
     *
     * On success the lock is in the result; otherwise nothing is held. lock() waits without a
     * limit, try_lock_for() for a while (with `forever`: without a limit). try_lock() does not
     * wait: it asks once.
     *
     * That somebody else holds the lock is not an error for try_lock() and try_lock_for(): they
     * return std::nullopt. They throw when they cannot tell, for example because no majority of the
     * masters replies (errc::no_quorum). The versions with an error code never throw, and the code
     * always says why there is no lock. */
    [[nodiscard]] held_lock lock(const request &r)
    {
        held_lock got;

        detail::check(acquire(r, REDLOCK_FOREVER, nullptr, got));
        return got;
    }
    [[nodiscard]] std::optional<held_lock> lock(const request &r, std::error_code &ec) noexcept
    {
        return try_acquire(r, REDLOCK_FOREVER, nullptr, ec);
    }

    [[nodiscard]] std::optional<held_lock> try_lock(const request &r)
    {
        return try_lock_for(r, std::chrono::milliseconds::zero());
    }
    [[nodiscard]] std::optional<held_lock> try_lock(const request &r, std::error_code &ec) noexcept
    {
        return try_acquire(r, 0, nullptr, ec);
    }

    [[nodiscard]] std::optional<held_lock> try_lock_for(const request &r,
                                                        std::chrono::milliseconds wait)
    {
        held_lock got;
        int status = acquire(r, detail::from_wait(wait), nullptr, got);

        if (detail::is_held(status)) {
            return std::nullopt;
        }
        detail::check(status);
        return got;
    }
    [[nodiscard]] std::optional<held_lock>
    try_lock_for(const request &r, std::chrono::milliseconds wait, std::error_code &ec) noexcept
    {
        return try_acquire(r, detail::from_wait(wait), nullptr, ec);
    }

    /* The same until a time point of redlockpp::clock, which keeps running while the machine is
     * suspended. If it is in the past, the masters are asked once. */
    [[nodiscard]] std::optional<held_lock> try_lock_until(const request &r, clock::time_point end)
    {
        return try_lock_for(r, detail::wait_until(end));
    }
    [[nodiscard]] std::optional<held_lock> try_lock_until(const request &r, clock::time_point end,
                                                          std::error_code &ec) noexcept
    {
        return try_lock_for(r, detail::wait_until(end), ec);
    }

#ifdef __cpp_lib_jthread
    /* The same in C++20 and later, but a stop request ends the wait. Then lock() returns
     * std::nullopt, as try_lock_for() does; the overloads with an error code set it to
     * errc::canceled. A request that has a canceler, too, is refused (errc::invalid_argument). */
    [[nodiscard]] std::optional<held_lock> lock(const request &r, std::stop_token stop)
    {
        return try_lock_for(r, forever, std::move(stop));
    }
    [[nodiscard]] std::optional<held_lock> lock(const request &r, std::stop_token stop,
                                                std::error_code &ec) noexcept
    {
        return try_lock_for(r, forever, std::move(stop), ec);
    }
    [[nodiscard]] std::optional<held_lock>
    try_lock_for(const request &r, std::chrono::milliseconds wait, std::stop_token stop);
    [[nodiscard]] std::optional<held_lock> try_lock_for(const request &r,
                                                        std::chrono::milliseconds wait,
                                                        std::stop_token stop,
                                                        std::error_code &ec) noexcept;
    [[nodiscard]] std::optional<held_lock> try_lock_until(const request &r, clock::time_point end,
                                                          std::stop_token stop)
    {
        return try_lock_for(r, detail::wait_until(end), std::move(stop));
    }
    [[nodiscard]] std::optional<held_lock> try_lock_until(const request &r, clock::time_point end,
                                                          std::stop_token stop,
                                                          std::error_code &ec) noexcept
    {
        return try_lock_for(r, detail::wait_until(end), std::move(stop), ec);
    }
#endif

    /* Take over a lock by its token: redlock_sync_adopt(). */
    [[nodiscard]] held_lock adopt(const request &r, const std::string &token)
    {
        held_lock got;

        detail::check(acquire(r, 0, &token, got));
        return got;
    }
    [[nodiscard]] std::optional<held_lock> adopt(const request &r, const std::string &token,
                                                 std::error_code &ec) noexcept
    {
        return try_acquire(r, 0, &token, ec);
    }

    /* ---- everything else ---- */

    /* Release a lock by its keys and its token: redlock_sync_release_token(). */
    release_result release_token(const std::vector<std::string> &keys, const std::string &token)
    {
        int status = do_release_token(keys, token);

        detail::check(status);
        return detail::to_result(status);
    }
    release_result release_token(const std::vector<std::string> &keys, const std::string &token,
                                 std::error_code &ec) noexcept
    {
        int status = detail::status_of([&] { return do_release_token(keys, token); });

        ec = detail::code(status);
        return detail::to_result(status);
    }

    /* Hand a lock over by its keys and its token: redlock_sync_hand_over_token(). */
    release_result
    hand_over_token(const std::vector<std::string> &keys, const std::string &token,
                    const std::string &to,
                    std::chrono::milliseconds within = std::chrono::milliseconds::zero())
    {
        int status = do_hand_over_token(keys, token, to, within);

        detail::check(status);
        return detail::to_result(status);
    }
    release_result hand_over_token(const std::vector<std::string> &keys, const std::string &token,
                                   const std::string &to, std::chrono::milliseconds within,
                                   std::error_code &ec) noexcept
    {
        int status = detail::status_of([&] { return do_hand_over_token(keys, token, to, within); });

        ec = detail::code(status);
        return detail::to_result(status);
    }

    /* Ask all masters who holds a key: redlock_sync_query(). If `ec` is errc::no_quorum, the result
     * has what the masters said that did reply. */
    [[nodiscard]] query_result query(const std::string &key)
    {
        redlock_query_result *got = nullptr;
        int status = redlock_sync_query(s_, key.data(), key.size(), &got);
        query_result result(got);

        detail::check(status);
        return result;
    }
    [[nodiscard]] query_result query(const std::string &key, std::error_code &ec) noexcept
    {
        redlock_query_result *got = nullptr;

        ec = detail::code(redlock_sync_query(s_, key.data(), key.size(), &got));
        return query_result(got);
    }

    /* The statistics as text for Prometheus: redlock_sync_prometheus(). */
    [[nodiscard]] std::string prometheus(unsigned flags = 0) const
    {
        std::string text;

        detail::check(write_prometheus(flags, text));
        return text;
    }
    [[nodiscard]] std::string prometheus(unsigned flags, std::error_code &ec) const noexcept
    {
        std::string text;

        ec = detail::code(detail::status_of([&] { return write_prometheus(flags, text); }));
        return text;
    }

    /* The statistics of the manager and of each master: redlock_sync_get_stats(),
     * redlock_sync_get_node_stats(). */
    [[nodiscard]] struct redlock_stats stats() const
    {
        struct redlock_stats got = {};

        got.size = sizeof(got);
        detail::check(redlock_sync_get_stats(s_, &got));
        return got;
    }
    [[nodiscard]] struct redlock_stats stats(std::error_code &ec) const noexcept
    {
        struct redlock_stats got = {};

        got.size = sizeof(got);
        ec = detail::code(redlock_sync_get_stats(s_, &got));
        return got;
    }

    [[nodiscard]] struct redlock_node_stats node_stats(std::size_t index) const
    {
        struct redlock_node_stats got = {};

        got.size = sizeof(got);
        detail::check(redlock_sync_get_node_stats(s_, index, &got));
        return got;
    }
    [[nodiscard]] struct redlock_node_stats node_stats(std::size_t index,
                                                       std::error_code &ec) const noexcept
    {
        struct redlock_node_stats got = {};

        got.size = sizeof(got);
        ec = detail::code(redlock_sync_get_node_stats(s_, index, &got));
        return got;
    }

    /* What the masters have on record about themselves: redlock_get_record(), on the I/O thread. */
    [[nodiscard]] masters_record record()
    {
        masters_record got;

        detail::check(do_record(got));
        return got;
    }
    [[nodiscard]] masters_record record(std::error_code &ec) noexcept
    {
        masters_record got;

        ec = detail::code(detail::status_of([&] { return do_record(got); }));
        return got;
    }

    /* Examine whether the masters are fit for locks: redlock_sync_examine(). `function` gets the
     * report, on the I/O thread; this call passes on an exception that it throws. This call can
     * fail even after a report, with errc::no_quorum or errc::config: no majority is usable. */
    void examine(const std::function<void(const redlock_report &)> &function)
    {
        detail::check(do_examine(function));
    }
    void examine(const std::function<void(const redlock_report &)> &function, std::error_code &ec)
    {
        ec = detail::code(do_examine(function));
    }

    /* Break the lock of somebody else: redlock_sync_break(). std::nullopt: nobody has the lock with
     * that token any more, or `ec` says why it is not broken. */
    std::optional<broken_lock> break_lock(const std::string &key, const std::string &token,
                                          const std::string &by)
    {
        std::optional<broken_lock> broken;

        detail::check(do_break(key, token, by, broken));
        return broken;
    }
    std::optional<broken_lock> break_lock(const std::string &key, const std::string &token,
                                          const std::string &by, std::error_code &ec) noexcept
    {
        std::optional<broken_lock> broken;

        ec = detail::code(detail::status_of([&] { return do_break(key, token, by, broken); }));
        return broken;
    }

    /* List the keys that begin with a prefix: redlock_sync_list(). `function` gets each key, on the
     * I/O thread; this call passes on an exception that it throws. `limits`: rate, timeout_ms and
     * max_keys; the other fields are not read. Returns how many keys `function` got. */
    std::uint64_t list(const std::string &prefix,
                       const std::function<void(const redlock_listed &)> &function,
                       const redlock_list_options &limits = default_limits())
    {
        std::uint64_t listed = 0;

        detail::check(do_list(prefix, function, limits, listed));
        return listed;
    }
    std::uint64_t list(const std::string &prefix,
                       const std::function<void(const redlock_listed &)> &function,
                       const redlock_list_options &limits, std::error_code &ec)
    {
        std::uint64_t listed = 0;

        ec = detail::code(do_list(prefix, function, limits, listed));
        return listed;
    }

    [[nodiscard]] static redlock_list_options default_limits() noexcept
    {
        redlock_list_options limits;

        redlock_list_options_init(&limits);
        return limits;
    }

    /* Call a function on the I/O thread, and wait until it returns: redlock_sync_run(). This call
     * passes on an exception that it throws. */
    void run(const std::function<void(struct redlock *)> &function)
    {
        visit<struct redlock *> what{function, nullptr};

        detail::check(redlock_sync_run(s_, on_run, &what));
        what.pass_on();
    }

    /* The C object, for the functions of redlock/sync.h; NULL if empty. Do not close it. */
    [[nodiscard]] redlock_sync *native_handle() const noexcept
    {
        return s_;
    }

private:
    /* A function to be called on the I/O thread while this one waits, and what it throws. */
    template <typename Argument> struct visit {
        const std::function<void(Argument)> &function;
        std::exception_ptr thrown;

        void call(Argument argument) noexcept
        {
#ifdef __cpp_exceptions
            try {
                function(argument);
            } catch (...) {
                thrown = std::current_exception();
            }
#else
            function(argument);
#endif
        }

        void pass_on() const
        {
            if (thrown) {
                std::rethrow_exception(thrown);
            }
        }
    };

    static void on_run(struct redlock *rl, void *arg) noexcept
    {
        static_cast<visit<struct redlock *> *>(arg)->call(rl);
    }

    int do_record(masters_record &ret)
    {
        const std::function<void(struct redlock *)> read = [&ret](struct redlock *rl) {
            ret = detail::read_record(rl);
        };
        visit<struct redlock *> what{read, nullptr};
        int status = redlock_sync_run(s_, on_run, &what);

        what.pass_on();
        return status;
    }

    static void on_report(const redlock_report *report, int, void *arg) noexcept
    {
        if (report != nullptr) {
            static_cast<visit<const redlock_report &> *>(arg)->call(*report);
        }
    }

    int do_examine(const std::function<void(const redlock_report &)> &function)
    {
        visit<const redlock_report &> what{function, nullptr};
        int status = redlock_sync_examine(s_, on_report, &what);

        what.pass_on();
        return status;
    }

    static void on_broken(const redlock_break_result *result, int status, void *arg) noexcept
    {
        if (status == REDLOCK_OK) {
            static_cast<visit<const redlock_break_result &> *>(arg)->call(*result);
        }
    }

    int do_break(const std::string &key, const std::string &token, const std::string &by,
                 std::optional<broken_lock> &ret)
    {
        const std::function<void(const redlock_break_result &)> keep =
            [&ret](const redlock_break_result &result) {
                ret = broken_lock{std::chrono::milliseconds(result.left_ms), result.replaced,
                                  result.token};
            };
        visit<const redlock_break_result &> what{keep, nullptr};
        int status = detail::check_texts({{"the token", token}, {"by", by}});

        if (status == 0) {
            status = redlock_sync_break(s_, key.data(), key.size(), token.c_str(), by.c_str(),
                                        on_broken, &what);
        }
        what.pass_on();
        return status > 0 ? REDLOCK_OK : status;
    }

    /* What the callbacks of a list get. */
    struct list_visit {
        visit<const redlock_listed &> what;
        std::uint64_t *listed;
    };

    static void on_listed(const redlock_listed *key, void *arg) noexcept
    {
        auto *v = static_cast<list_visit *>(arg);

        if (!v->what.thrown) {
            v->what.call(*key);
        }
    }

    static void on_list_end(const redlock_list_summary *summary, int, void *arg) noexcept
    {
        *static_cast<list_visit *>(arg)->listed = summary->listed;
    }

    int do_list(const std::string &prefix,
                const std::function<void(const redlock_listed &)> &function,
                const redlock_list_options &limits, std::uint64_t &ret_listed)
    {
        list_visit visited{{function, nullptr}, &ret_listed};
        redlock_list_options o = limits;
        int status;

        o.prefix = prefix.data();
        o.prefix_len = prefix.size();
        o.listed_cb = on_listed;
        o.list_cb = on_list_end;
        o.arg = &visited;
        status = redlock_sync_list(s_, &o);
        visited.what.pass_on();
        return status;
    }

    /* The text contains durations, so it may have grown since it was measured. */
    int write_prometheus(unsigned flags, std::string &ret_text) const
    {
        struct redlock_stats probe = {};
        std::size_t len = 0;
        std::string text;

        probe.size = sizeof(probe);
        if (int status = redlock_sync_get_stats(s_, &probe)) {
            return status;
        }
        do {
            text.resize(len + 1024);
            len = redlock_sync_prometheus(s_, flags, text.data(), text.size());
        } while (len >= text.size());
        text.resize(len);
        ret_text = std::move(text);
        if (len == 0 && (flags & ~unsigned{REDLOCK_PROMETHEUS_NO_LOCKS}) != 0) {
            return redlock_sync_refuse("a flag is not one of enum redlock_prometheus_flags");
        }
        return len ? 0 : REDLOCK_ESTATE;
    }

    int open(const options &o)
    {
        detail::c_options c(o);
        int status = detail::check_texts(o);

        if (status != 0) {
            return status;
        }
        if (o.on_trace) {
            trace_ = std::make_unique<std::function<void(const redlock_trace &)>>(o.on_trace);
            c.put_trace(trace_.get());
        }
        if (o.on_node) {
            node_ = std::make_unique<
                std::function<void(std::size_t, const struct redlock_node_info &)>>(o.on_node);
            c.put_node(node_.get());
        }
        return redlock_sync_new(c.get(), &s_);
    }

    int do_open_companion(const companion_options &o)
    {
        std::unique_ptr<std::function<void(enum redlock_companion_state, const char *)>> call;
        redlock_companion_options c;
        int status = detail::check_texts({{"command", o.command}});

        redlock_companion_options_init(&c);
        if (!o.command.empty()) {
            c.command = o.command.c_str();
        }
        if (o.on_state) {
            call =
                std::make_unique<std::function<void(enum redlock_companion_state, const char *)>>(
                    o.on_state);
            c.cb = detail::on_companion;
            c.arg = call.get();
        }
        status = status != 0 ? status : redlock_sync_companion_open(s_, &c);
        if (status == 0) {
            companion_ = std::move(call);
        }
        return status;
    }

    int do_close() noexcept
    {
        int status = redlock_sync_close(s_);

        if (status == 0) {
            s_ = nullptr;
            trace_.reset();
            node_.reset();
            companion_.reset();
        }
        return status;
    }

    void end() noexcept
    {
        if (s_ != nullptr) {
            detail::must_not_be_a_callback(do_close());
        }
    }

    /* token: NULL: this is no adoption. */
    int acquire(const request &r, std::uint32_t wait_ms, const std::string *token, held_lock &got);
    int acquire(const request &r, std::uint32_t wait_ms, const std::string *token,
                redlock_sync_canceler *cancel, held_lock &got);

    std::optional<held_lock> try_acquire(const request &r, std::uint32_t wait_ms,
                                         const std::string *token, std::error_code &ec) noexcept
    {
        held_lock got;
        int status = detail::status_of([&] { return acquire(r, wait_ms, token, got); });

        ec = detail::code(status);
        return status == 0 ? std::optional<held_lock>(std::move(got)) : std::nullopt;
    }

    /* Keys as the C functions take them. They point into `keys`, which must outlive them. */
    struct c_keys {
        std::vector<const char *> pointers;
        std::vector<std::size_t> lens;

        explicit c_keys(const std::vector<std::string> &keys)
        {
            for (const std::string &key : keys) {
                pointers.push_back(key.data());
                lens.push_back(key.size());
            }
        }
    };

    int do_release_token(const std::vector<std::string> &keys, const std::string &token)
    {
        int status = detail::check_texts({{"the token", token}});
        const c_keys c(keys);

        return status != 0 ? status
                           : redlock_sync_release_token(s_, c.pointers.data(), c.lens.data(),
                                                        keys.size(), token.c_str());
    }

    int do_hand_over_token(const std::vector<std::string> &keys, const std::string &token,
                           const std::string &to, std::chrono::milliseconds within)
    {
        int status = detail::check_texts({{"the token", token}, {"to", to}});
        const c_keys c(keys);
        std::uint32_t within_ms = 0;

        detail::put(within_ms, within);
        return status != 0
                   ? status
                   : redlock_sync_hand_over_token(s_, c.pointers.data(), c.lens.data(), keys.size(),
                                                  token.c_str(), to.c_str(), within_ms);
    }

    redlock_sync *s_ = nullptr;
    std::unique_ptr<std::function<void(const redlock_trace &)>> trace_;
    std::unique_ptr<std::function<void(std::size_t, const struct redlock_node_info &)>> node_;
    std::unique_ptr<std::function<void(enum redlock_companion_state, const char *)>> companion_;
};

/* Ends calls of other threads that wait: struct redlock_sync_canceler. For request.cancel and
 * election::campaign(). */
class canceler
{
public:
    explicit canceler(const manager &m)
    {
        detail::check(redlock_sync_canceler_new(m.native_handle(), &canceler_));
    }
    canceler(const manager &m, std::error_code &ec) noexcept
    {
        ec = detail::code(redlock_sync_canceler_new(m.native_handle(), &canceler_));
    }
    canceler(const canceler &) = delete;
    canceler &operator=(const canceler &) = delete;
    ~canceler()
    {
        redlock_sync_canceler_free(canceler_);
    }

    /* Cancel all calls that use this canceler, now and in the future. May be called in a signal
     * handler. */
    void cancel() noexcept
    {
        redlock_sync_cancel(canceler_);
    }

    [[nodiscard]] redlock_sync_canceler *native_handle() const noexcept
    {
        return canceler_;
    }

private:
    redlock_sync_canceler *canceler_ = nullptr;
};

inline int manager::acquire(const request &r, std::uint32_t wait_ms, const std::string *token,
                            held_lock &got)
{
    return acquire(r, wait_ms, token, r.cancel ? r.cancel->native_handle() : nullptr, got);
}

inline int manager::acquire(const request &r, std::uint32_t wait_ms, const std::string *token,
                            redlock_sync_canceler *cancel, held_lock &got)
{
    detail::c_request c(r, wait_ms);
    int status = detail::check_texts(r, token);

    if (status != 0) {
        return status;
    }
    if (r.on_notice) {
        got.notice_ = std::make_unique<std::function<void(const notice &)>>(r.on_notice);
        c.put_notice(got.notice_.get());
    }
    return token ? redlock_sync_adopt(s_, c.get(), token->c_str(), cancel, &got.lock_)
                 : redlock_sync_acquire(s_, c.get(), cancel, &got.lock_);
}

#ifdef __cpp_lib_jthread
inline std::optional<held_lock>
manager::try_lock_for(const request &r, std::chrono::milliseconds wait, std::stop_token stop)
{
    held_lock got;
    int status =
        detail::until_stopped(s_, std::move(stop), r.cancel, [&](redlock_sync_canceler *cancel) {
            return acquire(r, detail::from_wait(wait), nullptr, cancel, got);
        });

    if (status == REDLOCK_ECANCELED || detail::is_held(status)) {
        return std::nullopt;
    }
    detail::check(status);
    return got;
}

inline std::optional<held_lock> manager::try_lock_for(const request &r,
                                                      std::chrono::milliseconds wait,
                                                      std::stop_token stop,
                                                      std::error_code &ec) noexcept
{
    held_lock got;
    int status = detail::status_of([&] {
        return detail::until_stopped(
            s_, std::move(stop), r.cancel, [&](redlock_sync_canceler *cancel) {
                return acquire(r, detail::from_wait(wait), nullptr, cancel, got);
            });
    });

    ec = detail::code(status);
    return status == 0 ? std::optional<held_lock>(std::move(got)) : std::nullopt;
}
#endif

} // namespace redlockpp

#endif
