/* pending.h - a release that could not be sent to a node: how long it is kept, and when it is sent
 * again [S5].
 *
 * Pending releases are the first thing that a node is sent when it is connected again. While it is
 * connected, each reply makes room for the next one. When no reply is outstanding, or the node has
 * rejected the release for now, a timer sends it again. node/pending_list.h keeps the releases. */
#ifndef RLK_CORE_PENDING_H
#define RLK_CORE_PENDING_H

#include <stdbool.h>
#include <stdint.h>

/* How long to wait before a release that was rejected is sent again. */
#define RLK_PENDING_RETRY_US 250000

/* What may be left on a node when the reply to a question is lost. */
enum rlk_leftover {
    RLK_LEFTOVER_NOTHING = 0,
    RLK_LEFTOVER_KEYS,   /* our keys: they were set or renewed, or still may be */
    RLK_LEFTOVER_RELEASE /* our keys: the release may not have arrived */
};

/* What follows when a question could not be sent, or the connection ended before the reply. */
struct rlk_loss {
    bool set_lost; /* pending releases of this token never expire from now on */
    bool pending;  /* the release is pending for the node */
    bool unknown;  /* the machine that asked gets an unknown vote or answer */
};

/* left: by the kind of the question. sent: it was sent, as a whole or in part. */
struct rlk_loss rlk_pending_loss(enum rlk_leftover left, bool sent);

/* A release that is pending. */
struct rlk_pending {
    bool set_lost;        /* the connection broke before the reply to a SET of this token */
    bool unanswered;      /* the node is connected, and a reply is outstanding */
    bool refused;         /* the node has rejected the release for now */
    uint64_t max_life_us; /* how long the key may live from now on at most, by the node's clock */
};

/* Until when the key may be there; RLK_NEVER: unknown, so the release is kept. */
uint64_t rlk_pending_until_us(const struct rlk_pending *p, uint32_t drift_ppm, uint64_t now_us);

/* Whether a timer has to send the release, RLK_PENDING_RETRY_US from now; otherwise the next reply
 * makes room for it. */
bool rlk_pending_needs_timer(const struct rlk_pending *p);

#endif
