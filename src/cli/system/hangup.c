/* hangup.c - notices that the other end of a file was closed.
 *
 * The event is edge-triggered, so that unread data cause one event, not a busy loop. poll(2) then
 * tells the end of the file from data.
 */
#include "cli/system/hangup.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <event2/event.h>

#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/system/loop.h"

bool cli_hangup_is_possible(int fd)
{
    struct stat file;

    return isatty(fd) ||
           (fstat(fd, &file) == 0 && (S_ISFIFO(file.st_mode) || S_ISSOCK(file.st_mode)));
}

/* POLLHUP and POLLERR need not be asked for. The peer of a socket may have closed only its writing
 * half. */
bool cli_hangup_await(const struct cli_hangup *hangup, int ms)
{
    struct pollfd fd = {.fd = hangup->fd, .events = hangup->reads ? POLLRDHUP : 0};

    return poll(&fd, 1, ms) > 0;
}

static void on_file_event(evutil_socket_t fd, short what, void *arg)
{
    struct cli_hangup *hangup = arg;

    (void)fd;
    (void)what;
    if (cli_hangup_await(hangup, 0)) {
        event_del(hangup->event);
        hangup->on(hangup->arg);
    }
}

int cli_hangup_watch(struct cli_hangup *hangup, const struct cli_loop *loop, int fd, bool reads)
{
    hangup->fd = fd;
    hangup->reads = reads;
    if (!cli_hangup_is_possible(fd)) {
        return CLI_OK;
    }
    hangup->event =
        event_new(loop->base, fd, EV_READ | EV_CLOSED | EV_ET | EV_PERSIST, on_file_event, hangup);
    if (hangup->event == NULL || event_add(hangup->event, NULL) != 0) {
        cli_say("cannot watch standard input and output for their end");
        return CLI_INTERNAL;
    }
    return CLI_OK;
}

void cli_hangup_end(struct cli_hangup *hangup)
{
    cli_event_free(hangup->event);
    hangup->event = NULL;
}
