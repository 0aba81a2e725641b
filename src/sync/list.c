/* list.c - lists the keys of a manager, and waits for the end of the list. */
#include <redlock/redlock.h>

#include "base/sized.h"
#include "sync/thread.h"

struct sync_list {
    struct rlk_sync_call call;
    const struct redlock_list_options *options;
    struct redlock_list_options own; /* a copy of the caller's, with our callbacks */
    redlock_listed_cb *listed_cb;
    redlock_list_cb *list_cb;
    void *arg;
};

static void on_key_listed(const struct redlock_listed *key, void *arg)
{
    struct sync_list *l = arg;

    l->listed_cb(key, l->arg);
    rlk_sync_end_child(l->call.s);
}

static void on_list_ended(const struct redlock_list_summary *summary, int status, void *arg)
{
    struct sync_list *l = arg;

    if (summary) {
        l->list_cb(summary, status, l->arg);
        rlk_sync_end_child(l->call.s);
    }
    rlk_sync_finish(&l->call, status);
}

static void begin_list(struct rlk_sync_call *call)
{
    struct sync_list *l = RLK_CONTAINER(call, struct sync_list, call);

    rlk_sync_began(call, redlock_list(call->s->rl, l->options));
}

/* Options that are wrong go to the manager as they are, which refuses them and says why. */
static void read_list_options(struct sync_list *l)
{
    const size_t least = RLK_SIZED_UP_TO(struct redlock_list_options, arg);

    redlock_list_options_init(&l->own);
    if (l->options == NULL ||
        rlk_sized_read(l->options, least, &l->own, sizeof(l->own)) != RLK_SIZED_READ ||
        l->own.listed_cb == NULL || l->own.list_cb == NULL) {
        return;
    }
    l->listed_cb = l->own.listed_cb;
    l->list_cb = l->own.list_cb;
    l->arg = l->own.arg;
    l->own.listed_cb = on_key_listed;
    l->own.list_cb = on_list_ended;
    l->own.arg = l;
    l->options = &l->own;
}

REDLOCK_EXPORT int redlock_sync_list(struct redlock_sync *s,
                                     const struct redlock_list_options *options)
{
    struct sync_list l = {.call = {.begin = begin_list, .when_closed = REDLOCK_ESTATE},
                          .options = options};

    read_list_options(&l);
    return rlk_sync_call(s, &l.call);
}
