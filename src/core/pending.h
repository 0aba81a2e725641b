/* pending.h - a release that a node could not be told: until when it is kept, and when the node is
 * told again [S5].
 *
 * It comes first when the node is connected again, and whenever an answer of it has made room; no
 * answer may be on its way to do that, or it may have said that it carries out nothing for now:
 * then after a while. */
#ifndef RLK_CORE_PENDING_H
#define RLK_CORE_PENDING_H

#include <stdbool.h>
#include <stdint.h>

/* How long to wait before a node is told again what it would not hear. */
#define RLK_PENDING_RETRY_US 250000

/* What a node may have of ours when its answer to a question never comes. */
enum rlk_leftover {
    RLK_LEFTOVER_NOTHING = 0,
    RLK_LEFTOVER_KEYS,   /* set or kept, or yet to be */
    RLK_LEFTOVER_RELEASE /* it may not have arrived */
};

/* What follows when a node could not be sent a question, or broke the connection before it
 * answered. */
struct rlk_loss {
    bool set_lost; /* no release of this token that a node is owed ages, from now on */
    bool pending;  /* the release is */
    bool unknown;  /* whoever asked is told so */
};

struct rlk_loss rlk_pending_loss(enum rlk_leftover left, bool sent);

/* Why it is pending. */
struct rlk_pending {
    bool set_lost;        /* the connection broke before a SET of this token was answered */
    bool unanswered;      /* the node is connected, and has something to answer */
    bool refused;         /* it has answered the release: not now */
    uint64_t max_life_us; /* the longest that the key may live from now on, by the node's clock */
};

/* Until when the key may be there; RLK_NEVER: who knows. */
uint64_t rlk_pending_until_us(const struct rlk_pending *p, uint32_t drift_ppm, uint64_t now_us);

/* It is told again after RLK_PENDING_RETRY_US; otherwise with the next answer. */
bool rlk_pending_needs_timer(const struct rlk_pending *p);

#endif
