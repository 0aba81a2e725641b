/* chaos/client.c - a client of the chaos test: locks and elections by the public API, in drawn
 * operations, and a history of what it did (README.md).
 *
 *     chaos-client --name c3 --log FILE --keys k0,k1 --register unix:PATH|HOST:PORT
 *                  [OPTION]... URI...
 *
 *     --seed N             what is drawn
 *     --elections e0,e1    names of elections; their keys are election:e0, election:e1
 *     --workers N          how many operations are under way at once (default 3)
 *     --ttl MS, --max-ttl MS
 *     --prefix TEXT
 *     --rate PPM           how fast the clock of this process is; default: $RLK_TEST_RATE, or 0
 *     --quarantine strict|lenient|off
 *     --node-timeout MS, --inspection MS, --drift PPM, --audit N, --no-subscribe, --no-record
 *     --seconds N          end after that time
 *     --sabotage NAME      do something wrong; NAME `list` prints the names
 *
 * On SIGTERM it begins nothing new, ends everything, waits for all answers, and exits with 0. It
 * exits with 3 when the history cannot be written, and with 4 when the library breaks a promise
 * that the history does not show. */
#include <event2/event.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "chaos/client.h"

#define TURN_MS 10

static bool is_over, is_closing;
static uint64_t state_of_draws;

/* An xorshift generator: what is drawn depends on the seed alone. */
uint32_t draw(uint32_t below)
{
    state_of_draws ^= state_of_draws << 13;
    state_of_draws ^= state_of_draws >> 7;
    state_of_draws ^= state_of_draws << 17;
    return below ? (uint32_t)((state_of_draws >> 16) % below) : 0;
}

uint32_t draw_between(uint32_t least, uint32_t most)
{
    return least + draw(most - least + 1);
}

bool chance(uint32_t once_in)
{
    return draw(once_in) == 0;
}

void wrong(const char *format, ...)
{
    va_list ap;

    fprintf(stderr, "%s: ", self.name);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputc('\n', stderr);
    exit(WRONG);
}

static void on_closed(void *arg)
{
    (void)arg;
    is_over = true;
}

static void stop(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    if (!self.is_stopping) {
        self.is_stopping = true;
        workers_stop();
        candidate_stop();
    }
}

/* Does nothing but end a turn, so that the deadlines are looked at often; and closes the manager
 * when everything else is over. */
static void on_turn(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    if (self.is_stopping && !is_closing && op_pending() == 0 && !holds_any() &&
        workers_are_idle() && candidate_is_idle()) {
        is_closing = true;
        if (redlock_close(self.rl, on_closed, NULL)) {
            wrong("the manager cannot be closed");
        }
    }
}

static struct event *event_for(evutil_socket_t fd, short what, event_callback_fn cb,
                               uint64_t after_ms)
{
    struct event *event = event_new(self.base, fd, what, cb, NULL);
    struct timeval in = {(time_t)(after_ms / 1000), (suseconds_t)(after_ms % 1000 * 1000)};

    if (!event || event_add(event, after_ms ? &in : NULL)) {
        usage("the loop has no memory");
    }
    return event;
}

static void open_manager(void)
{
    char why[256] = "";

    self.options.error_text = why;
    self.options.error_text_size = sizeof(why);
    if (redlock_new(self.base, &self.options, &self.rl)) {
        usage(why);
    }
}

/* Each turn of the loop ends with a look at the deadlines. */
static void run(void)
{
    struct event *events[4];
    int i;

    events[0] = event_for(SIGTERM, EV_SIGNAL | EV_PERSIST, stop, 0);
    events[1] = event_for(SIGINT, EV_SIGNAL | EV_PERSIST, stop, 0);
    events[2] = event_for(-1, EV_PERSIST, on_turn, TURN_MS);
    events[3] = event_for(-1, 0, stop, self.seconds ? self.seconds * UINT64_C(1000) : UINT32_MAX);
    while (!is_over) {
        event_base_loop(self.base, EVLOOP_ONCE);
        holds_sample();
    }
    for (i = 0; i < 4; i++) {
        event_free(events[i]);
    }
}

static void begin(void)
{
    const char *sabotage = sabotage_name();

    log_open(self.log, self.name);
    log_line("start", "\"pid\":%ld,\"rate\":%.6f,\"sabotage\":%s%s%s", (long)getpid(),
             1 + self.rate_ppm / 1e6, sabotage ? "\"" : "", sabotage ? sabotage : "null",
             sabotage ? "\"" : "");
    self.base = event_base_new();
    open_manager();
    if (!register_open(self.base, self.target)) {
        usage("--register is unix:PATH or HOST:PORT");
    }
    if (!workers_begin() || !candidate_begin() || !sabotage_begin()) {
        usage("there is no memory");
    }
}

int main(int argc, char **argv)
{
    take_arguments(argc, argv);
    state_of_draws = self.seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    signal(SIGPIPE, SIG_IGN);
    begin();
    run();
    sabotage_stop();
    register_close();
    log_line("stop", "%s", "");
    sabotage_at_exit();
    return 0;
}
