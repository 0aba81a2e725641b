/* node.h - one master: connected, greeted, asked, and connected again by itself.
 *
 *            time is up         an address          connected          greeted
 *   DOWN -----------------> RESOLVING -------> CONNECTING -------> GREETING -------> UP
 *    ^                          |                   |                 |               |
 *    +--------------------------+-------------------+-----------------+---------------+
 *                    failed: again after a back-off with full jitter, 10 ms to 2 s
 *
 * Nothing is ever queued for a node that is not UP: what it has to be told later is a
 * pending_release [S5]. A node whose oldest answer is overdue is stuck [S14]: still UP, but not
 * asked until it answers. A timeout by itself never closes a connection. */
#ifndef RLK_NODE_NODE_H
#define RLK_NODE_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/prng.h"
#include "core/former.h"
#include "core/inspection.h"
#include "core/server.h"
#include "core/quarantine.h"
#include "net/conn.h"
#include "net/resolve.h"
#include "net/timers.h"
#include "node/command.h"
#include "node/pending_list.h"
#include "node/inflight.h"
#include "node/trouble.h"

/* The most of a sentence about it. */
#define RLK_NODE_TEXT 256

struct rlk_claim;
struct rlk_clock_sample;
struct rlk_node;
struct rlk_options;
struct rlk_uri;

enum rlk_node_state {
    RLK_NODE_DOWN = 0,
    RLK_NODE_RESOLVING,
    RLK_NODE_CONNECTING,
    RLK_NODE_GREETING,
    RLK_NODE_UP
};

/* What a node's owner is told. */
struct rlk_node_hooks {
    /* It is connected: begin the greeting, which ends in rlk_node_greeted or rlk_node_refuse.
     * False when there is no memory. */
    bool (*greet)(struct rlk_node *n, uint64_t now_us);
    void (*up)(struct rlk_node *n, uint64_t now_us);
    /* It could not be connected, or refused us. */
    void (*down)(struct rlk_node *n, uint64_t now_us);
    /* It has answered something, or will not any more: there is room for more. */
    void (*eased)(struct rlk_node *n, uint64_t now_us);
    /* Its votes do not count from now on. */
    void (*quarantined)(struct rlk_node *n, uint64_t now_us);
    /* It restarted, and was not durable: the clock may be another, too. */
    void (*restarted)(struct rlk_node *n);
    /* It told the time. */
    void (*timed)(struct rlk_node *n, const struct rlk_clock_sample *sample);
    /* Another node that is UP and the same server [S10]; NULL for none. */
    const struct rlk_node *(*duplicate)(const struct rlk_node *n);
};

struct rlk_node {
    struct rlk_loop *loop;
    const struct rlk_options *options;
    const struct rlk_uri *uri;
    const struct rlk_node_hooks *hooks;
    void *owner;
    unsigned index;

    enum rlk_node_state state;
    bool failed; /* the last attempt to connect did: nobody waits for the next one */
    unsigned failures;
    struct rlk_prng prng;
    struct rlk_timer timer; /* DOWN: when to try again; until UP: when to give up; UP: when to
                               pay what it is still owed and would not hear; not set: at once */
    struct rlk_resolve resolve;
    unsigned next_address;
    struct rlk_conn conn;
    struct rlk_inflight inflight;
    struct rlk_pending_list pending;
    uint64_t since_us; /* of being UP, or of not being UP */
    uint64_t rtt_us;
    uint64_t heard_us; /* when it answered last */
    unsigned expected; /* rounds that have begun since it began to be connected, and wait for it */

    /* From the greeting. */
    bool returns_holder; /* SET ... NX GET works */
    unsigned
        scripts;     /* their bits: it has run them over this connection, so it knows their SHA-1 */
    char server[48]; /* "redis 7.0.15" */
    struct rlk_server info;
    int64_t client_id; /* 0: unknown */
    struct rlk_former former;
    bool duplicate; /* it was another node's server when it fell last [S10] */
    struct rlk_quarantine quarantine;
    struct rlk_inspection inspection;
    struct rlk_timer inspection_timer; /* when to look again: node/health.c */

    struct rlk_trouble trouble;    /* the last thing that went wrong */
    char words[RLK_TROUBLE_WORDS]; /* of that */
    char text[2 * RLK_NODE_TEXT];  /* what is wrong, when somebody asked for it */
};

void rlk_node_init(struct rlk_node *n, struct rlk_loop *loop, const struct rlk_options *options,
                   unsigned index, const struct rlk_node_hooks *hooks, void *owner, uint64_t seed);

/* Begin to connect. */
void rlk_node_start(struct rlk_node *n, uint64_t now_us);

/* Close, and let go of everything. Requests in flight are told that they are broken before. */
void rlk_node_end(struct rlk_node *n);

/* UP, and no answer is overdue. */
bool rlk_node_ready(const struct rlk_node *n, uint64_t now_us);

/* When the oldest answer to come is overdue; RLK_NEVER: there is none. */
uint64_t rlk_node_overdue_us(const struct rlk_node *n);

/* UP, and an answer is overdue [S14]. */
bool rlk_node_stuck(const struct rlk_node *n, uint64_t now_us);

/* On its way to be UP, and worth waiting for. */
bool rlk_node_connecting(const struct rlk_node *n);

/* Ask an UP node. False when it is not UP, or at a limit, or for want of memory: nothing was
 * queued, and the kind is not told. A request in flight has a reference to its context. */
bool rlk_node_send(struct rlk_node *n, const struct rlk_command *c,
                   const struct rlk_exchange_kind *kind, void *context, uint64_t now_us);

/* Ask it with few words and no context, in any state with an open connection: for the greeting. */
bool rlk_node_send_words(struct rlk_node *n, const struct rlk_exchange_kind *kind,
                         const char *const *words, uint64_t now_us);

/* Owe it the release of a claim, for as long as its key may be there; a reference is taken. It is
 * told as soon as it is UP and has room; a little later when it refused (for now). */
void rlk_node_add_pending(struct rlk_node *n, struct rlk_claim *claim, bool refused,
                          uint64_t now_us);

/* It is owed something, and can be told. */
bool rlk_node_can_send_pending(const struct rlk_node *n);

/* Tell it what it is owed, as far as it has room. */
void rlk_node_send_pending(struct rlk_node *n, uint64_t now_us);

/* For the greeting: it is UP now; or it is not fit, close and try again later. */
void rlk_node_greeted(struct rlk_node *n, uint64_t now_us);
void rlk_node_refuse(struct rlk_node *n, const struct rlk_trouble *t);

/* Note what went wrong; the words are copied. The second: a kind with words, or none (NULL). */
void rlk_node_note(struct rlk_node *n, const struct rlk_trouble *t);
void rlk_node_note_kind(struct rlk_node *n, enum rlk_trouble_kind kind, const char *words);

/* What is wrong with it now; its words are valid until something else goes wrong. */
struct rlk_trouble rlk_node_trouble(const struct rlk_node *n, uint64_t now_us);

/* The same in words, and behind why its vote does not count what else went wrong. "" for nothing;
 * valid until the next call. */
const char *rlk_node_explain(struct rlk_node *n, uint64_t now_us);

#endif
