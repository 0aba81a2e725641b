/* life.c - a pair of sockets that keep messages apart, and an event for one of them. */
#include "net/life.h"

#include <errno.h>
#include <event2/event.h>
#include <sys/socket.h>
#include <unistd.h>

#include <redlock/error.h>

#include "net/fork.h"

static void on_life_readable(evutil_socket_t fd, short what, void *arg)
{
    struct rlk_life *life = arg;
    char text[RLK_LIFE_TEXT];
    ssize_t n;

    (void)what;
    if (rlk_fork_is_child(life->fork)) {
        event_del(life->event);
        return;
    }
    n = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);
    if (n > 0) {
        text[n] = '\0';
        life->heard(life, text);
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        event_del(life->event);
        life->heard(life, NULL);
    }
}

int rlk_life_begin(struct rlk_life *life, struct event_base *base, const struct rlk_fork *fork,
                   void (*heard)(struct rlk_life *life, const char *text), int *ret_other)
{
    int fds[2];

    rlk_life_init(life);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) {
        return REDLOCK_ESYSTEM;
    }
    *life = (struct rlk_life){.fork = fork, .fd = fds[0], .heard = heard};
    life->event = event_new(base, fds[0], EV_READ | EV_PERSIST, on_life_readable, life);
    if (life->event == NULL || event_add(life->event, NULL) != 0) {
        close(fds[1]);
        rlk_life_end(life);
        return REDLOCK_ENOMEM;
    }
    *ret_other = fds[1];
    return 0;
}

void rlk_life_close_other(int other)
{
    close(other);
}

void rlk_life_end(struct rlk_life *life)
{
    if (life->event) {
        event_free(life->event);
    }
    if (life->fd >= 0) {
        send(life->fd, "q", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
        close(life->fd);
    }
    rlk_life_init(life);
}
