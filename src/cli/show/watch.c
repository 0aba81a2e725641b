/* watch.c - a timer between two states, and the signal that ends it. */
#include "cli/show/watch.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include "settings/duration.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/node_state.h"
#include "cli/session/session.h"
#include "cli/system/hangup.h"
#include "cli/system/signals.h"

/* One state is written at once, so that a terminal does not flicker. */
static char buffer[65536];

struct watching {
    const struct cli_watch *watch;
    struct event *timer;
    struct timeval interval;
    bool is_terminal;
    bool go_on; /* the pause is over, or a signal has come */
    int code;   /* of the signal, or when nobody reads any more; CLI_GO_ON: neither has come */
};

static void on_watch_timer(evutil_socket_t fd, short what, void *arg)
{
    struct watching *w = arg;

    (void)fd;
    (void)what;
    w->go_on = true;
}

static void end_watch(struct watching *w, int code)
{
    if (w->code == CLI_GO_ON) {
        w->code = code;
        w->go_on = true;
        if (w->watch->done) {
            *w->watch->done = true;
        }
    }
}

static void on_watch_signal(void *arg, int signo)
{
    if (cli_signals_ends(signo)) {
        end_watch(arg, CLI_SIGNALED + signo);
    }
}

static void on_watch_unread(void *arg)
{
    end_watch(arg, CLI_UNREAD);
}

static void print_heading(const struct watching *w)
{
    char clock[32] = "";
    time_t now = time(NULL);
    struct tm local;

    if (localtime_r(&now, &local)) {
        strftime(clock, sizeof(clock), "%H:%M:%S", &local);
    }
    printf("%s, every %s\n", clock, rlk_duration(w->watch->interval_ms));
}

/* Home, and clear to the end. A line may be wrapped, and the window may have another size by now.
 */
static void begin_frame(const struct watching *w, struct cli_session *session)
{
    if (w->is_terminal) {
        printf("\033[H\033[J");
        cli_nodes_reset_said(session);
    }
    if (w->watch->heading) {
        print_heading(w);
    }
}

/* Returns CLI_GO_ON, or the code of the signal that has ended the pause. */
static int await_next(struct watching *w, struct cli_session *session)
{
    int code;

    if (w->code == CLI_GO_ON) {
        w->go_on = event_add(w->timer, &w->interval) != 0;
        code = cli_loop_run(&session->loop, &w->go_on);
        return code == CLI_GO_ON ? w->code : code;
    }
    return w->code;
}

static int run_frames(struct watching *w, struct cli_session *session)
{
    for (;;) {
        int code;

        begin_frame(w, session);
        code = w->watch->show(session, w->watch->arg);
        if (code != CLI_OK && code != CLI_UNREACHABLE) {
            return code;
        }
        code = await_next(w, session);
        if (code != CLI_GO_ON) {
            return code;
        }
    }
}

static int watch_on(struct watching *w, struct cli_session *session, struct cli_signals *signals)
{
    struct cli_hangup output = {.on = on_watch_unread, .arg = w};
    int code;

    setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
    code = cli_signals_start(signals, &session->loop);
    code = code == CLI_OK ? cli_hangup_watch(&output, &session->loop, STDOUT_FILENO, false) : code;
    if (code == CLI_OK) {
        signals->on = on_watch_signal;
        signals->arg = w;
        code = run_frames(w, session);
        signals->on = NULL;
    }
    cli_hangup_end(&output);
    cli_signals_stop(signals);
    return code;
}

int cli_watch_run(const struct cli_watch *watch, struct cli_session *session,
                  struct cli_signals *signals)
{
    uint32_t ms = watch->interval_ms;
    struct watching w = {.watch = watch,
                         .interval = {ms / 1000, ms % 1000 * 1000},
                         .is_terminal = isatty(STDOUT_FILENO),
                         .code = CLI_GO_ON};
    int code;

    if (ms == 0) {
        return watch->show(session, watch->arg);
    }
    w.timer = event_new(session->loop.base, -1, 0, on_watch_timer, &w);
    if (w.timer == NULL) {
        return cli_say_no_memory();
    }
    code = watch_on(&w, session, signals);
    cli_event_free(w.timer);
    return code;
}

unsigned cli_watch_lines(void)
{
    struct winsize size;

    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) {
        return 0;
    }
    return size.ws_row > 2 ? size.ws_row - 1U : 0;
}
