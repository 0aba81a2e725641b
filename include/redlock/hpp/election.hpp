/* election.hpp - leader election: one of several candidates leads, until it is demoted. */
#ifndef REDLOCK_HPP_ELECTION_HPP
#define REDLOCK_HPP_ELECTION_HPP

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <redlock/redlock.h>
#include <redlock/hpp/error.hpp>
#include <redlock/hpp/manager.hpp>
#include <redlock/hpp/stop.hpp>
#include <redlock/hpp/time.hpp>

namespace redlockpp
{

/* The end of a leadership: struct redlock_demotion. */
struct demotion {
    std::error_code reason; /* false: resigned */
    std::uint64_t term;
    clock::time_point stop_by;
};

/* Who leads: struct redlock_leader. */
struct leader {
    std::string id;
    std::string value;
    std::uint64_t term;
    bool known;
    bool is_me;
};

/* The options of an election. struct redlock_election_options in redlock/election.h documents each
 * field. A field that is not set has the library's default. */
struct election_options {
    std::string name{};
    std::string id{}; /* empty: an observer */
    std::string value{};
    std::optional<std::chrono::milliseconds> ttl{};
    std::optional<std::chrono::milliseconds> renew_deadline{};
    std::optional<std::chrono::milliseconds> retry{};
    std::optional<std::chrono::milliseconds> delay{};
    std::uint32_t priority = 0;
    /* true: the lock is released when election::stopped() is called. false: when on_demoted has
     * returned. A candidate needs true, or an on_demoted. */
    bool stops_later = false;
    /* Called on the I/O thread; redlock/redlock.hpp says what they may do. */
    std::function<void(std::uint64_t term)> on_elected{};
    std::function<void(const demotion &)> on_demoted{};
    std::function<void(const leader &)> on_leader{};
    std::function<bool()> healthy{};
    /* Cancels the waits of this election. It must outlive the election. */
    const canceler *cancel = nullptr;
};

namespace detail
{

inline demotion to_demotion(const redlock_demotion &d) noexcept
{
    return {code(d.reason), d.term, to_time_point(d.stop_by_us)};
}

/* Called from C: an exception ends the program. */

inline void on_elected(redlock_election *, std::uint64_t term, void *arg) noexcept
{
    static_cast<const election_options *>(arg)->on_elected(term);
}

inline void on_demoted(redlock_election *, const redlock_demotion *d, void *arg) noexcept
{
    static_cast<const election_options *>(arg)->on_demoted(to_demotion(*d));
}

inline void on_leader(redlock_election *, const redlock_leader *l, void *arg) noexcept
{
    static_cast<const election_options *>(arg)->on_leader(
        {l->id, l->value, l->term, l->known != 0, l->is_me != 0});
}

inline int on_healthy(redlock_election *, void *arg) noexcept
{
    return static_cast<const election_options *>(arg)->healthy();
}

/* They point into `o`, and the callbacks get it. */
inline redlock_election_options to_c(election_options &o) noexcept
{
    redlock_election_options c;

    redlock_election_options_init(&c);
    c.name = o.name.c_str();
    c.id = text_or_null(o.id);
    c.value = text_or_null(o.value);
    put(c.ttl_ms, o.ttl);
    put(c.renew_deadline_ms, o.renew_deadline);
    put(c.retry_ms, o.retry);
    put(c.delay_ms, o.delay);
    c.priority = o.priority;
    c.stops_later = o.stops_later;
    c.elected_cb = o.on_elected ? on_elected : nullptr;
    c.demoted_cb = o.on_demoted ? on_demoted : nullptr;
    c.leader_cb = o.on_leader ? on_leader : nullptr;
    c.healthy_cb = o.healthy ? on_healthy : nullptr;
    c.arg = &o;
    return c;
}

} // namespace detail

/* A candidate or an observer: struct redlock_sync_election. It can be moved while no other thread
 * uses it. An object that was moved from, or could not be made, is empty: every call fails with
 * errc::invalid_argument, and it does not lead. */
class election
{
public:
    election() noexcept = default;

    /* Does not campaign yet: redlock_sync_election_new(). */
    election(const manager &m, const election_options &o)
    {
        detail::check(open(m, o));
    }
    election(const manager &m, const election_options &o, std::error_code &ec) noexcept
    {
        ec = detail::code(detail::status_of([&] { return open(m, o); }));
    }

    election(election &&other) noexcept
        : election_(std::exchange(other.election_, nullptr)), s_(other.s_),
          options_(std::move(other.options_))
    {
    }
    election &operator=(election &&other) noexcept
    {
        if (this != &other) {
            end();
            election_ = std::exchange(other.election_, nullptr);
            s_ = other.s_;
            options_ = std::move(other.options_);
        }
        return *this;
    }

    /* Resigns, and waits until the lock is released: redlock_sync_election_free(). Stop everything
     * that only a leader may do before. Must not run in a callback: it would wait for itself, so it
     * calls std::terminate(). Does nothing in a forked child. */
    ~election()
    {
        end();
    }

    /* Become a candidate. Does not wait: on_elected will be called. */
    void campaign()
    {
        detail::check(begin());
    }
    void campaign(std::error_code &ec) noexcept
    {
        ec = detail::code(begin());
    }

    /* Become a candidate, and wait until this election leads: redlock_sync_election_campaign().
     * Returns the term. It stays a candidate whatever happens, until resign(). wait_elected_for()
     * returns std::nullopt when the time has passed. */
    std::uint64_t wait_elected()
    {
        std::uint64_t term = 0;

        detail::check(elect(REDLOCK_FOREVER, &term));
        return term;
    }
    std::optional<std::uint64_t> wait_elected(std::error_code &ec) noexcept
    {
        return wait_elected_for(forever, ec);
    }
    std::optional<std::uint64_t> wait_elected_for(std::chrono::milliseconds wait)
    {
        std::uint64_t term = 0;
        int status = elect(detail::from_wait(wait), &term);

        if (status == REDLOCK_EDEADLINE) {
            return std::nullopt;
        }
        detail::check(status);
        return term;
    }
    std::optional<std::uint64_t> wait_elected_for(std::chrono::milliseconds wait,
                                                  std::error_code &ec) noexcept
    {
        std::uint64_t term = 0;

        ec = detail::code(elect(detail::from_wait(wait), &term));
        return ec ? std::nullopt : std::optional<std::uint64_t>(term);
    }

#ifdef __cpp_lib_jthread
    /* The same in C++20 and later, but a stop request ends the wait. Then these return
     * std::nullopt, and the overloads with an error code set it to errc::canceled. Options that
     * have a canceler, too, are refused (errc::invalid_argument). */
    std::optional<std::uint64_t> wait_elected(std::stop_token stop)
    {
        std::uint64_t term = 0;
        int status = elect_until(std::move(stop), &term);

        if (status == REDLOCK_ECANCELED) {
            return std::nullopt;
        }
        detail::check(status);
        return term;
    }
    std::optional<std::uint64_t> wait_elected(std::stop_token stop, std::error_code &ec) noexcept
    {
        std::uint64_t term = 0;

        ec = detail::code(elect_until(std::move(stop), &term));
        return ec ? std::nullopt : std::optional<std::uint64_t>(term);
    }
#endif

    /* Wait until the leadership with this term has ended: redlock_sync_election_wait_demoted().
     * Returns why it ended. wait_demoted_for() returns std::nullopt if it still leads after that
     * time. */
    demotion wait_demoted(std::uint64_t term)
    {
        redlock_demotion d = empty_demotion();

        detail::check(lose(term, REDLOCK_FOREVER, d));
        return detail::to_demotion(d);
    }
    std::optional<demotion> wait_demoted(std::uint64_t term, std::error_code &ec) noexcept
    {
        return wait_demoted_for(term, forever, ec);
    }
    std::optional<demotion> wait_demoted_for(std::uint64_t term, std::chrono::milliseconds wait)
    {
        redlock_demotion d = empty_demotion();
        int status = lose(term, detail::from_wait(wait), d);

        if (status == REDLOCK_EDEADLINE) {
            return std::nullopt;
        }
        detail::check(status);
        return detail::to_demotion(d);
    }
    std::optional<demotion> wait_demoted_for(std::uint64_t term, std::chrono::milliseconds wait,
                                             std::error_code &ec) noexcept
    {
        redlock_demotion d = empty_demotion();

        ec = detail::code(lose(term, detail::from_wait(wait), d));
        return ec ? std::nullopt : std::optional<demotion>(detail::to_demotion(d));
    }

#ifdef __cpp_lib_jthread
    /* The same with a stop token, which works as it does for wait_elected(). */
    std::optional<demotion> wait_demoted(std::uint64_t term, std::stop_token stop)
    {
        redlock_demotion d = empty_demotion();
        int status = lose_until(term, std::move(stop), d);

        if (status == REDLOCK_ECANCELED) {
            return std::nullopt;
        }
        detail::check(status);
        return detail::to_demotion(d);
    }
    std::optional<demotion> wait_demoted(std::uint64_t term, std::stop_token stop,
                                         std::error_code &ec) noexcept
    {
        redlock_demotion d = empty_demotion();

        ec = detail::code(lose_until(term, std::move(stop), d));
        return ec ? std::nullopt : std::optional<demotion>(detail::to_demotion(d));
    }
#endif

    /* Resign, and only observe from now on: redlock_sync_election_resign(). */
    void resign()
    {
        detail::check(redlock_sync_election_resign(election_));
    }
    void resign(std::error_code &ec) noexcept
    {
        ec = detail::code(redlock_sync_election_resign(election_));
    }

    /* Resign, so that a certain candidate is elected next: redlock_sync_election_hand_over(). 0:
     * the usual time. */
    void hand_over(const std::string &to,
                   std::chrono::milliseconds within = std::chrono::milliseconds::zero())
    {
        detail::check(do_hand_over(to, within));
    }
    void hand_over(const std::string &to, std::chrono::milliseconds within,
                   std::error_code &ec) noexcept
    {
        ec = detail::code(do_hand_over(to, within));
    }

    /* With stops_later, after wait_demoted() or on_demoted: tell the library that everything that
     * only a leader may do has stopped. */
    void stopped()
    {
        detail::check(redlock_sync_election_stopped(election_));
    }
    void stopped(std::error_code &ec) noexcept
    {
        ec = detail::code(redlock_sync_election_stopped(election_));
    }

    /* Who leads, as far as this manager knows: redlock_sync_election_leader(). */
    leader who_leads()
    {
        leader l{};

        detail::check(ask_leader(l));
        return l;
    }
    leader who_leads(std::error_code &ec) noexcept
    {
        leader l{};

        ec = detail::code(detail::status_of([&] { return ask_leader(l); }));
        return l;
    }

    /* ---- from any thread, without waiting ---- */

    /* Whether this election leads now. Only compares the clock with the deadline. */
    [[nodiscard]] bool is_leader() const noexcept
    {
        return redlock_sync_election_is_leader(election_) != 0;
    }

    /* When the leadership ends; the epoch of the clock when it does not lead. It changes, so read
     * it before each step. */
    [[nodiscard]] clock::time_point deadline() const noexcept
    {
        return detail::to_time_point(redlock_sync_election_deadline_us(election_));
    }

    /* How long it will lead without another renewal; 0 when it does not lead. */
    [[nodiscard]] std::chrono::microseconds leads_for() const noexcept
    {
        return std::max(deadline() - clock::now(), std::chrono::microseconds::zero());
    }

    /* The term of the current leadership; 0 when it does not lead. */
    [[nodiscard]] std::uint64_t term() const noexcept
    {
        return redlock_sync_election_term(election_);
    }

    /* A file descriptor that is readable while it does not lead, and writable while it leads:
     * redlock_sync_election_fd(). */
    [[nodiscard]] int fd() const
    {
        int got = redlock_sync_election_fd(election_);

        detail::check(got);
        return got;
    }
    int fd(std::error_code &ec) const noexcept
    {
        int got = redlock_sync_election_fd(election_);

        ec = detail::code(got);
        return got;
    }

    /* The C object, for the functions of redlock/sync_election.h; NULL if empty. Do not free it. */
    [[nodiscard]] redlock_sync_election *native_handle() const noexcept
    {
        return election_;
    }

private:
    int open(const manager &m, const election_options &o)
    {
        auto own = std::make_unique<election_options>(o);
        redlock_election_options c = detail::to_c(*own);
        int status = detail::check_texts({{"name", o.name}, {"id", o.id}, {"value", o.value}});

        if (status == 0) {
            status = redlock_sync_election_new(m.native_handle(), &c, &election_);
        }
        if (status == 0) {
            s_ = m.native_handle();
            options_ = std::move(own);
        }
        return status;
    }

    int do_hand_over(const std::string &to, std::chrono::milliseconds within) noexcept
    {
        std::uint32_t within_ms = 0;
        int status = detail::check_texts({{"to", to}});

        detail::put(within_ms, within);
        return status != 0 ? status
                           : redlock_sync_election_hand_over(election_, to.c_str(), within_ms);
    }

    void end() noexcept
    {
        if (election_ != nullptr) {
            detail::must_not_be_a_callback(redlock_sync_election_free(election_));
        }
    }

    [[nodiscard]] redlock_sync_canceler *cancel() const noexcept
    {
        return options_ && options_->cancel ? options_->cancel->native_handle() : nullptr;
    }

    int elect(std::uint32_t wait_ms, std::uint64_t *ret_term) noexcept
    {
        return redlock_sync_election_campaign(election_, wait_ms, cancel(), ret_term);
    }

#ifdef __cpp_lib_jthread
    template <typename Call> int until_stopped(std::stop_token stop, Call &&call) noexcept
    {
        return detail::until_stopped(election_ ? s_ : nullptr, std::move(stop),
                                     options_ ? options_->cancel : nullptr, call);
    }

    int elect_until(std::stop_token stop, std::uint64_t *ret_term) noexcept
    {
        return until_stopped(std::move(stop), [&](redlock_sync_canceler *canceler) {
            return redlock_sync_election_campaign(election_, REDLOCK_FOREVER, canceler, ret_term);
        });
    }

    int lose_until(std::uint64_t term, std::stop_token stop, redlock_demotion &d) noexcept
    {
        return until_stopped(std::move(stop), [&](redlock_sync_canceler *canceler) {
            return redlock_sync_election_wait_demoted(election_, term, REDLOCK_FOREVER, canceler,
                                                      &d);
        });
    }
#endif

    /* It is a candidate, and mostly not the leader at once. */
    int begin() noexcept
    {
        int status = elect(0, nullptr);

        return status == REDLOCK_EDEADLINE ? 0 : status;
    }

    static redlock_demotion empty_demotion() noexcept
    {
        redlock_demotion d{};

        d.size = sizeof(d);
        return d;
    }

    int lose(std::uint64_t term, std::uint32_t wait_ms, redlock_demotion &d) noexcept
    {
        return redlock_sync_election_wait_demoted(election_, term, wait_ms, cancel(), &d);
    }

    int ask_leader(leader &l)
    {
        redlock_sync_leader c;
        int status;

        c.size = sizeof(c);
        status = redlock_sync_election_leader(election_, &c);
        if (status == 0) {
            l = {c.id, c.value, c.term, c.known != 0, c.is_me != 0};
        }
        return status;
    }

    redlock_sync_election *election_ = nullptr;
    redlock_sync *s_ = nullptr; /* lives as long as the election */
    std::unique_ptr<election_options> options_;
};

} // namespace redlockpp

#endif
