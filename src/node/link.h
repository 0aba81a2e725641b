/* link.h - one connection to a master, over which conversations are held: made, used, made again.
 *
 *            open              connected         rlk_link_up()
 *   DOWN -----------> DIALING ----------> HANDSHAKE -----------> UP
 *    ^                   |                   |                   |
 *    +-------------------+-------------------+-------------------+
 *       rlk_link_close(), by the owner: when `ended` says that it could not be made, was not UP in
 *       time, or has broken; or at any time. rlk_link_retry(): `due` after a back-off
 *
 * A node has two links: one for its commands, and one to hear of changes (node/subscriber.h). The
 * doctor makes a third one for a trial. */
#ifndef RLK_NODE_LINK_H
#define RLK_NODE_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/prng.h"
#include "net/conn.h"
#include "net/dial.h"
#include "net/timers.h"
#include "node/inflight.h"

struct rlk_link;
struct rlk_node;
struct rlk_options;

enum rlk_link_state {
    RLK_LINK_DOWN = 0,
    RLK_LINK_DIALING,
    RLK_LINK_HANDSHAKE,
    RLK_LINK_UP
};

enum rlk_link_end {
    RLK_LINK_UNCONNECTED, /* no connection could be made; dial.step says how far it came */
    RLK_LINK_LATE,        /* it was not UP within connect_timeout_ms */
    RLK_LINK_BROKEN       /* the connection has ended */
};

/* What a link calls. The functions may close it. */
struct rlk_link_owner {
    /* Of its connection. opened: rlk_link_on_opened; broken: rlk_link_on_broken. replied: takes the
     * oldest line in flight, and passes the reply to rlk_talk_reply(), unless it is a message of
     * the server's own. */
    struct rlk_conn_handler conn;
    /* Its socket is connected; with TLS a handshake follows. NULL: nothing to do. */
    void (*dialed)(struct rlk_link *l);
    /* It is connected: begin the handshake, which ends with rlk_link_up(). */
    void (*opened)(struct rlk_link *l, uint64_t now_us);
    /* It cannot be used any more, but is not closed yet. fault: NULL when it is late. */
    void (*ended)(struct rlk_link *l, enum rlk_link_end end, const struct rlk_fault *fault,
                  uint64_t now_us);
    /* A conversation could not be sent: a limit is reached [S13], or out of memory. Not called for
     * those of the handshake; NULL: there are no others. */
    void (*unsent)(struct rlk_link *l, bool at_limit);
    /* The back-off is over. NULL: it is not made again. */
    void (*due)(struct rlk_link *l, uint64_t now_us);
    uint64_t retry_max_us; /* the longest back-off */
};

struct rlk_link {
    struct rlk_node *node; /* for the owner and the conversations */
    const struct rlk_link_owner *owner;
    struct rlk_loop *loop;
    const struct rlk_options *options;
    unsigned index; /* of its URI */
    struct rlk_prng *prng;
    enum rlk_link_state state;
    uint32_t failures;      /* in a row, for the back-off */
    struct rlk_timer timer; /* DOWN: when it is due; until UP: when to give up */
    struct rlk_dial dial;
    struct rlk_conn conn;
    struct rlk_inflight inflight;
    unsigned scripts; /* bits of the scripts that ran over this connection: sent by SHA-1 now */
};

/* A link that is DOWN, of which the caller has set the fields up to `prng`. The pointers are
 * borrowed until rlk_link_end(). */
void rlk_link_init(struct rlk_link *l);

/* For the handler of its connection. */
void rlk_link_on_opened(struct rlk_conn *c);
void rlk_link_on_broken(struct rlk_conn *c, const struct rlk_fault *fault);

static inline struct rlk_link *rlk_link_of(struct rlk_conn *c)
{
    return RLK_CONTAINER(c, struct rlk_link, conn);
}

/* Connect to the node's address; _same: to the one that `other` is connected to. `ended` may be
 * called before they return. */
void rlk_link_open(struct rlk_link *l, uint64_t now_us);
void rlk_link_open_same(struct rlk_link *l, const struct rlk_link *other, uint64_t now_us);

/* The handshake is complete. */
void rlk_link_up(struct rlk_link *l);

/* Close the connection, or give up making it, and end the back-off. The lines in flight stay
 * until rlk_talk_break(), which says of each that no reply will come. */
void rlk_link_close(struct rlk_link *l);

/* After rlk_link_close(): `due` is called after a back-off with full jitter, from 10 ms; returns
 * how long. up_us: how long it had been UP; 0: it had not. */
uint64_t rlk_link_backoff_us(struct rlk_link *l, uint64_t up_us);
void rlk_link_retry(struct rlk_link *l, uint64_t delay_us, uint64_t now_us);

/* The owner is about to end it: it is DOWN now, so nothing more is sent. _end: close it, and free
 * its memory, after rlk_talk_break(). The connection is not reset: the kernel still delivers the
 * bytes that it has, among them releases. */
void rlk_link_stop(struct rlk_link *l);
void rlk_link_end(struct rlk_link *l);

#endif
