/* life.h - how another process sees that this one is dead: it reads the end of a socket whose other
 * end only this process has, and processes that it forks. A program that is started by exec(2) does
 * not have it. The other process can say something, too, and this one sees when it has ended. */
#ifndef RLK_NET_LIFE_H
#define RLK_NET_LIFE_H

#include <stddef.h>

struct event;
struct event_base;
struct rlk_fork;

/* The most bytes that are said at once. */
#define RLK_LIFE_TEXT 256

struct rlk_life {
    const struct rlk_fork *fork;
    int fd; /* -1: not begun */
    struct event *event;

    /* From the event loop: the other process has said this; NULL: it has ended, and this is the
     * last call. */
    void (*heard)(struct rlk_life *life, const char *text);
};

static inline void rlk_life_init(struct rlk_life *life)
{
    *life = (struct rlk_life){.fd = -1};
}

/* 0, REDLOCK_ENOMEM or REDLOCK_ESYSTEM. *ret_other: the other end, to be closed when the other
 * process has it. */
int rlk_life_begin(struct rlk_life *life, struct event_base *base, const struct rlk_fork *fork,
                   void (*heard)(struct rlk_life *life, const char *text), int *ret_other);

void rlk_life_close_other(int other);

/* Tell the other process that nothing is left to do, also if a forked process has the socket. */
void rlk_life_end(struct rlk_life *life);

#endif
