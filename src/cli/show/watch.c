/* watch.c - shows something again and again, until a signal. */
#include "cli/show/watch.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include "cli/say/duration.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/session.h"
#include "cli/system/signals.h"

/* One state is written at once, so that a terminal does not flicker. */
static char buffer[65536];

struct watch {
    struct event *timer;
    struct timeval interval;
    uint32_t interval_ms;
    bool is_terminal, heading;
    bool go_on; /* the pause is over, or a signal has come */
    int code;   /* of the signal; CLI_GO_ON: there was none */
};

static void on_watch_timer(evutil_socket_t fd, short what, void *arg)
{
    struct watch *watch = arg;

    (void)fd;
    (void)what;
    watch->go_on = true;
}

static void on_watch_signal(void *arg, int signo)
{
    struct watch *watch = arg;

    if (cli_signals_ends(signo) && watch->code == CLI_GO_ON) {
        watch->code = CLI_SIGNALED + signo;
        watch->go_on = true;
    }
}

static void print_heading(const struct watch *watch)
{
    char clock[32] = "", interval[CLI_DURATION_TEXT];
    time_t now = time(NULL);
    struct tm local;

    if (localtime_r(&now, &local)) {
        strftime(clock, sizeof(clock), "%H:%M:%S", &local);
    }
    printf("%s, every %s\n", clock, cli_duration_print(watch->interval_ms, interval));
}

/* Home, and clear to the end. A line may be wrapped, and the window may have another size by now.
 */
static void begin_frame(const struct watch *watch)
{
    if (watch->is_terminal) {
        printf("\033[H\033[J");
    }
    if (watch->heading) {
        print_heading(watch);
    }
}

/* Returns CLI_GO_ON, or the code of the signal that has ended the pause. */
static int await_next(struct watch *watch, struct cli_session *session)
{
    int code;

    if (watch->code == CLI_GO_ON) {
        watch->go_on = event_add(watch->timer, &watch->interval) != 0;
        code = cli_loop_run(&session->loop, &watch->go_on);
        return code == CLI_GO_ON ? watch->code : code;
    }
    return watch->code;
}

static int run_watch(struct watch *watch, struct cli_session *session,
                     int (*show)(struct cli_session *session, void *arg), void *arg)
{
    for (;;) {
        int code;

        begin_frame(watch);
        code = show(session, arg);
        if (code != CLI_OK && code != CLI_UNREACHABLE) {
            return code;
        }
        code = await_next(watch, session);
        if (code != CLI_GO_ON) {
            return code;
        }
    }
}

int cli_watch_run(struct cli_session *session, struct cli_signals *signals, uint32_t interval_ms,
                  bool heading, int (*show)(struct cli_session *session, void *arg), void *arg)
{
    struct watch watch = {.timer = event_new(session->loop.base, -1, 0, on_watch_timer, &watch),
                          .interval = {interval_ms / 1000, interval_ms % 1000 * 1000},
                          .interval_ms = interval_ms,
                          .is_terminal = isatty(STDOUT_FILENO),
                          .heading = heading,
                          .code = CLI_GO_ON};
    int code;

    if (watch.timer == NULL) {
        cli_say("out of memory");
        return CLI_INTERNAL;
    }
    setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
    code = cli_signals_start(signals, &session->loop);
    if (code == CLI_OK) {
        signals->on = on_watch_signal;
        signals->arg = &watch;
        code = run_watch(&watch, session, show, arg);
        signals->on = NULL;
    }
    cli_signals_stop(signals);
    event_free(watch.timer);
    return code;
}
