/* asio.cpp - a coroutine that waits for a lock, on standalone asio.
 *
 *     asio
 *
 * The first two parts are what any program on asio can copy. Unlike libuv, asio has no hook that
 * runs before it sleeps. So call poke() after each call that starts something in libredlock: it
 * posts a run of libevent's loop, and that run sets the timer.
 *
 * A coroutine is resumed by a handler of asio, never inside libevent's loop. Only one thread may
 * run the io_context, because libredlock must be called in one thread.
 */
#include <asio.hpp>
#include <chrono>
#include <cstdio>
#include <event2/event.h>
#include <exception>
#include <memory>
#include <redlock/redlock.h>
#include <utility>

/* ---- libevent's loop inside that of asio ---- */

class inner
{
public:
    explicit inner(asio::io_context &context) : watched(context), timer(context)
    {
    }
    inner(const inner &) = delete;
    inner &operator=(const inner &) = delete;

    /* The managers on the base are closed by now. */
    ~inner()
    {
        stop();
        event_base_free(base);
    }

    event_base *get() const
    {
        return base;
    }

    /* 0, or an error of libredlock. */
    int start()
    {
        const int fd = redlock_loop_fd(base);

        if (fd < 0) {
            return fd;
        }
        watched.assign(fd);
        watch();
        return 0;
    }

    /* After this asio has nothing to wait for. The descriptor belongs to libevent. */
    void stop()
    {
        timer.cancel();
        if (watched.is_open()) {
            watched.release();
        }
    }

    /* Has libevent's loop send what was started. */
    void poke()
    {
        if (!std::exchange(poked, true)) {
            asio::post(watched.get_executor(), [this] {
                poked = false;
                run();
            });
        }
    }

private:
    event_base *base = event_base_new();
    asio::posix::stream_descriptor watched;
    asio::steady_timer timer;
    bool poked = false;

    void run()
    {
        event_base_loop(base, EVLOOP_NONBLOCK);
        if (watched.is_open()) { /* otherwise a callback has called stop() */
            set_timer(redlock_loop_timeout_ms(base));
        }
    }

    void set_timer(int timeout_ms)
    {
        if (timeout_ms < 0) {
            timer.cancel();
            return;
        }
        timer.expires_after(std::chrono::milliseconds(timeout_ms));
        timer.async_wait([this](std::error_code error) {
            if (!error) {
                run();
            }
        });
    }

    /* Each wait checks again whether the descriptor is readable. */
    void watch()
    {
        watched.async_wait(asio::posix::descriptor_base::wait_read, [this](std::error_code error) {
            if (!error) {
                run();
                if (watched.is_open()) {
                    watch();
                }
            }
        });
    }
};

/* ---- awaitables ---- */

struct outcome {
    int status;
    int reason; /* redlock_lock_reason() */
    redlock_lock *lock;
};

/* The handle of a failed acquire is gone after this, so the reason is read here. */
template <typename Handler> void on_done(redlock_lock *lock, int status, void *arg)
{
    const std::unique_ptr<Handler> handler(static_cast<Handler *>(arg));
    const auto executor = asio::get_associated_executor(*handler);
    const outcome result = {status, redlock_lock_reason(lock), lock};

    asio::post(executor, [resume = std::move(*handler), result]() mutable { resume(result); });
}

/* start(callback, arg) makes a call that ends with the callback, unless it returns an error. */
template <typename Start> asio::awaitable<outcome> call(inner &loop, Start start)
{
    return asio::async_initiate<const asio::use_awaitable_t<>, void(outcome)>(
        [&loop, start](auto handler) {
            using type = decltype(handler);
            auto *arg = new type(std::move(handler));
            const int status = start(&on_done<type>, arg);

            if (status != 0) {
                on_done<type>(nullptr, status, arg);
            }
            loop.poke();
        },
        asio::use_awaitable);
}

/* *request must live until the coroutine is resumed. */
static asio::awaitable<outcome> acquire(inner &loop, redlock *rl, const redlock_request *request)
{
    return call(loop, [rl, request](redlock_acquire_cb *callback, void *arg) {
        return redlock_acquire(rl, request, callback, arg, nullptr);
    });
}

static asio::awaitable<outcome> release(inner &loop, redlock_lock *lock)
{
    return call(loop, [lock](redlock_release_cb *callback, void *arg) {
        return redlock_release(lock, callback, arg);
    });
}

/* ---- a program ---- */

constexpr int all_steps = 20;
constexpr unsigned step_ms = 50;

/* Works until all steps are done, or no time is left for another one. Returns how many it did. */
static asio::awaitable<int> do_steps(const redlock_lock *lock)
{
    asio::steady_timer timer(co_await asio::this_coro::executor);
    int steps = 0;

    while (steps < all_steps && redlock_lock_validity_ms(lock) > step_ms) {
        timer.expires_after(std::chrono::milliseconds(step_ms));
        co_await timer.async_wait(asio::use_awaitable);
        steps++;
    }
    co_return steps;
}

static asio::awaitable<bool> work(inner &loop, redlock *rl)
{
    redlock_request request;

    redlock_request_init(&request);
    request.key = "asio";
    request.ttl_ms = 2000;
    request.wait_ms = 10000;
    const outcome got = co_await acquire(loop, rl, &request);
    std::printf("acquired: %s\n", redlock_strerror(got.status));
    if (got.status != 0) {
        std::fprintf(stderr, "%s\n", redlock_strerror(got.reason));
        co_return false;
    }
    const int steps = co_await do_steps(got.lock);
    if (steps < all_steps) {
        std::printf("lost: no time for another step\n");
    }
    const outcome end = co_await release(loop, got.lock);
    std::printf("%d steps; released: %s\n", steps, redlock_strerror(end.status));
    co_return steps == all_steps;
}

/* Connects to the masters that redlock(1) uses: those of REDLOCK_NODES or /etc/redlock/nodes. */
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

static void on_closed(void *loop)
{
    static_cast<inner *>(loop)->stop();
}

int main()
{
    asio::io_context context(1);
    inner loop(context);
    redlock *rl;
    bool done = false;
    int status;

    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    if ((status = loop.start()) != 0) {
        std::fprintf(stderr, "%s\n", redlock_strerror(status));
        return 1;
    }
    if (connect_masters(loop.get(), &rl) != 0) {
        return 1;
    }
    asio::co_spawn(context, work(loop, rl), [&](const std::exception_ptr &error, bool result) {
        done = !error && result;
        redlock_close(rl, on_closed, &loop);
        loop.poke();
    });
    context.run();
    return done ? 0 : 1;
}
