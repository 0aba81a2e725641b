/* await.cpp - a coroutine of C++20 that waits for a lock, on a plain libevent loop.
 *
 *     await
 *
 * The awaitables are short, because a callback never runs inside the call that has started it: a
 * coroutine that is suspended in the call is resumed later, from the loop. The first part is what
 * any program can copy. The object of an awaitable lives in the frame of its coroutine, so it is
 * there until the callback has come.
 *
 * What a coroutine owns is freed, however the coroutine ends. An exception ends the coroutine, not
 * the program: exceptions must not pass through the loop, which is C.
 */
#include <chrono>
#include <coroutine>
#include <cstdio>
#include <event2/event.h>
#include <exception>
#include <memory>
#include <redlock/redlock.h>
#include <utility>

using namespace std::chrono_literals;

/* ---- awaitables ---- */

/* A coroutine that nobody waits for: it begins at once, and frees itself. */
struct job {
    struct promise_type {
        job get_return_object() noexcept
        {
            return {};
        }
        std::suspend_never initial_suspend() noexcept
        {
            return {};
        }
        std::suspend_never final_suspend() noexcept
        {
            return {};
        }
        void return_void() noexcept
        {
        }
        void unhandled_exception() noexcept
        {
            try {
                throw;
            } catch (const std::exception &e) {
                std::fprintf(stderr, "%s\n", e.what());
            } catch (...) {
                std::fprintf(stderr, "an exception\n");
            }
        }
    };
};

/* What ends by a callback with a status. The derived struct has start(), which returns 0 if that
 * callback will come. */
template <typename Call> struct call {
    int status = 0;
    redlock_lock *lock = nullptr;
    std::coroutine_handle<> waiting{};

    bool await_ready() const noexcept
    {
        return false;
    }
    bool await_suspend(std::coroutine_handle<> coroutine)
    {
        waiting = coroutine;
        status = static_cast<Call *>(this)->start();
        return status == 0; /* otherwise the coroutine goes on at once */
    }
    int await_resume() const noexcept
    {
        return status;
    }
    static void on_done(redlock_lock *lock, int status, void *arg)
    {
        auto *self = static_cast<call *>(arg);

        self->lock = lock;
        self->status = status;
        self->waiting.resume();
    }
};

struct acquire : call<acquire> {
    redlock *rl;
    const redlock_request *request;

    acquire(redlock *rl_, const redlock_request *request_) : rl(rl_), request(request_)
    {
    }
    int start()
    {
        return redlock_acquire(rl, request, on_done, static_cast<call *>(this), nullptr);
    }
};

struct release : call<release> {
    explicit release(redlock_lock *lock_)
    {
        lock = lock_;
    }
    int start()
    {
        return redlock_release(lock, on_done, static_cast<call *>(this));
    }
};

struct pause_for {
    event_base *base;
    std::chrono::microseconds time;

    bool await_ready() const noexcept
    {
        return false;
    }
    void await_suspend(std::coroutine_handle<> coroutine)
    {
        const timeval after = {static_cast<time_t>(time.count() / 1000000),
                               static_cast<suseconds_t>(time.count() % 1000000)};

        event_base_once(base, -1, EV_TIMEOUT, on_time, coroutine.address(), &after);
    }
    void await_resume() const noexcept
    {
    }
    static void on_time(evutil_socket_t, short, void *coroutine)
    {
        std::coroutine_handle<>::from_address(coroutine).resume();
    }
};

/* ---- owners: what is freed however its scope ends ---- */

struct free_base {
    void operator()(event_base *base) const noexcept
    {
        event_base_free(base);
    }
};

/* A lock that a coroutine holds. Nobody can wait in a destructor: after an exception this only
 * begins the release, and redlock_close() waits for it. */
class held
{
public:
    explicit held(redlock_lock *lock) noexcept : lock_(lock)
    {
    }
    held(const held &) = delete;
    held &operator=(const held &) = delete;
    ~held()
    {
        if (lock_ != nullptr) {
            redlock_release(lock_, nullptr, nullptr);
        }
    }
    std::uint64_t validity_ms() const noexcept
    {
        return redlock_lock_validity_ms(lock_);
    }
    /* From then on the handle belongs to the library. */
    release release_now() noexcept
    {
        return release(std::exchange(lock_, nullptr));
    }

private:
    redlock_lock *lock_;
};

/* Closes the manager at the end of its scope. Then the loop has nothing to do, and returns. */
class closes
{
public:
    explicit closes(redlock *rl) noexcept : rl_(rl)
    {
    }
    closes(const closes &) = delete;
    closes &operator=(const closes &) = delete;
    ~closes()
    {
        redlock_close(rl_, nullptr, nullptr);
    }

private:
    redlock *rl_;
};

/* ---- a program ---- */

constexpr unsigned longest_step_ms = 1000;

/* Why there is no lock, and what is wrong with each master. */
static void explain(const redlock *rl, const redlock_lock *lock)
{
    redlock_node_info info = {};

    info.size = sizeof(info);
    std::fprintf(stderr, "%s\n", redlock_strerror(redlock_lock_reason(lock)));
    for (std::size_t i = 0; redlock_get_node_info(rl, i, &info) == 0; i++) {
        if (info.error[0]) {
            std::fprintf(stderr, "%s: %s\n", info.name, info.error);
        }
    }
}

/* *ret_status lives until the manager is closed. */
static job work(event_base *base, redlock *rl, int *ret_status)
{
    const closes manager(rl);
    redlock_request request;
    int status;

    redlock_request_init(&request);
    request.key = "nightly-report";
    request.wait_ms = 5000;
    acquire got(rl, &request);
    status = co_await got;
    if (status != 0) {
        std::printf("not acquired: %s\n", redlock_strerror(status));
        explain(rl, got.lock);
    } else {
        held lock(got.lock);

        for (int step = 1; step <= 5; step++) {
            if (lock.validity_ms() <= longest_step_ms) {
                break; /* no time left for a step */
            }
            co_await pause_for{base, 100ms};
            std::printf("step %d\n", step);
        }
        status = co_await lock.release_now();
        std::printf("released: %s\n", redlock_strerror(status));
    }
    *ret_status = status;
}

/* To the masters that redlock(1) uses: those of REDLOCK_NODES or /etc/redlock/nodes. */
static int connect_masters(event_base *base, redlock **ret_rl)
{
    redlock_options options;
    redlock_settings *settings;
    char why[512] = "";
    int status;

    redlock_options_init(&options);
    options.error_text = why;
    options.error_text_size = sizeof(why);
    status = redlock_settings_read(&options, &settings);
    if (status == 0) {
        status = redlock_new(base, &options, ret_rl);
        redlock_settings_free(settings);
    }
    if (status != 0) {
        std::fprintf(stderr, "%s\n", why[0] ? why : redlock_strerror(status));
    }
    return status;
}

int main()
{
    const std::unique_ptr<event_base, free_base> base(event_base_new());
    redlock *rl;
    int status = 1;

    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    if (!base || connect_masters(base.get(), &rl) != 0) {
        return 1;
    }
    work(base.get(), rl, &status);
    event_base_dispatch(base.get());
    return status ? 1 : 0;
}
