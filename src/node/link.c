/* link.c - moves a link through its states, by events of its name lookup, connection and timer. */
#include "node/link.h"

#include "base/time.h"
#include "core/backoff.h"
#include "net/clock.h"
#include "net/loop.h"
#include "node/options.h"

#define RETRY_MIN_US 10000

static void end_unconnected(struct rlk_link *l, const struct rlk_fault *fault)
{
    l->owner->ended(l, RLK_LINK_UNCONNECTED, fault, rlk_clock_us());
}

/* ---- events ---- */

static void on_link_dialed(struct rlk_dial *d, int fd, const struct rlk_fault *fault)
{
    struct rlk_link *l = RLK_CONTAINER(d, struct rlk_link, dial);
    struct rlk_fault why;

    if (fault) {
        end_unconnected(l, fault);
        return;
    }
    if (l->owner->dialed) {
        l->owner->dialed(l);
    }
    l->state = RLK_LINK_HANDSHAKE;
    if (rlk_conn_open(&l->conn, fd, l->options->tls[l->index], &why)) {
        end_unconnected(l, &why);
    }
}

void rlk_link_on_opened(struct rlk_conn *c)
{
    struct rlk_link *l = rlk_link_of(c);

    l->owner->opened(l, rlk_clock_us());
}

void rlk_link_on_broken(struct rlk_conn *c, const struct rlk_fault *fault)
{
    struct rlk_link *l = rlk_link_of(c);

    l->owner->ended(l, RLK_LINK_BROKEN, fault, rlk_clock_us());
}

static void on_link_timer(struct rlk_timer *t, uint64_t now_us)
{
    struct rlk_link *l = RLK_CONTAINER(t, struct rlk_link, timer);

    if (l->state == RLK_LINK_DOWN) {
        l->owner->due(l, now_us);
    } else {
        l->owner->ended(l, RLK_LINK_LATE, NULL, now_us);
    }
}

/* ---- calls ---- */

void rlk_link_init(struct rlk_link *l)
{
    rlk_timer_init(&l->timer, on_link_timer);
    rlk_dial_init(&l->dial, l->loop, on_link_dialed);
    rlk_conn_init(&l->conn, l->loop, &l->owner->conn);
}

static void begin_dialing(struct rlk_link *l, uint64_t now_us)
{
    l->state = RLK_LINK_DIALING;
    rlk_timer_set(&l->loop->timers, &l->timer,
                  rlk_time_add(now_us, l->options->connect_timeout_us));
}

void rlk_link_open(struct rlk_link *l, uint64_t now_us)
{
    begin_dialing(l, now_us);
    rlk_dial_start(&l->dial, &l->options->uris[l->index]);
}

void rlk_link_open_same(struct rlk_link *l, const struct rlk_link *other, uint64_t now_us)
{
    begin_dialing(l, now_us);
    rlk_dial_start_same(&l->dial, &other->dial);
}

void rlk_link_up(struct rlk_link *l)
{
    rlk_timer_cancel(&l->loop->timers, &l->timer);
    rlk_conn_note_login(&l->conn);
    l->state = RLK_LINK_UP;
}

void rlk_link_close(struct rlk_link *l)
{
    rlk_dial_cancel(&l->dial);
    rlk_timer_cancel(&l->loop->timers, &l->timer);
    rlk_conn_close(&l->conn, true);
    l->state = RLK_LINK_DOWN;
}

uint64_t rlk_link_backoff_us(struct rlk_link *l, uint64_t up_us)
{
    return rlk_backoff_reconnect_us(l->prng, &l->failures, up_us, RETRY_MIN_US,
                                    l->owner->retry_max_us);
}

void rlk_link_retry(struct rlk_link *l, uint64_t delay_us, uint64_t now_us)
{
    rlk_timer_set(&l->loop->timers, &l->timer, rlk_time_add(now_us, delay_us));
}

void rlk_link_stop(struct rlk_link *l)
{
    rlk_dial_cancel(&l->dial);
    rlk_timer_cancel(&l->loop->timers, &l->timer);
    l->state = RLK_LINK_DOWN;
}

void rlk_link_end(struct rlk_link *l)
{
    rlk_link_stop(l);
    rlk_conn_end(&l->conn);
}
