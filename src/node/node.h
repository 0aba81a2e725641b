/* node.h - one master: its connection, the commands in flight, and reconnecting.
 *
 *             back-off over       connected            accepted
 *   DOWN -----------------> DIALING ---------> HANDSHAKE --------> UP
 *    ^                         |                  |                |
 *    +-------------------------+------------------+----------------+
 *          failed: retry after a back-off with full jitter, 10 ms to 2 s
 *
 * From DIALING to UP it may take connect_timeout_ms, over all addresses of the name.
 *
 * No command is ever queued for a node that is not UP; only releases wait for it, as pending
 * releases [S5]. A node whose oldest reply is overdue is unresponsive [S14]: it is still UP, but
 * rounds do not ask it until it replies. A timeout by itself never closes a connection. */
#ifndef RLK_NODE_NODE_H
#define RLK_NODE_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/prng.h"
#include "core/former.h"
#include "core/inspection.h"
#include "core/server.h"
#include "core/quarantine.h"
#include "net/timers.h"
#include "node/command.h"
#include "node/link.h"
#include "node/pending_list.h"
#include "node/stats.h"
#include "node/trouble.h"
#include "node/subscriber.h"

struct rlk_claim;
struct rlk_clock_sample;
struct rlk_node;
struct rlk_options;
struct rlk_reply;
struct rlk_uri;

/* What a node calls when something happens to it; n->owner says whose node it is. */
struct rlk_node_hooks {
    /* The node is connected: begin the handshake, which ends with rlk_node_accept() or
     * rlk_node_refuse(). False: out of memory. */
    bool (*begin_handshake)(struct rlk_node *n, uint64_t now_us);
    /* The node is UP. */
    void (*up)(struct rlk_node *n, uint64_t now_us);
    /* An attempt to connect failed, or its handshake ended with rlk_node_refuse(). */
    void (*down)(struct rlk_node *n, uint64_t now_us);
    /* The node has fewer commands in flight: replies came, or its connection ended. Also when it is
     * time to send pending releases again. */
    void (*capacity_freed)(struct rlk_node *n, uint64_t now_us);
    /* The votes of the node do not count from now on. */
    void (*quarantined)(struct rlk_node *n, uint64_t now_us);
    /* The server restarted and is not durable: its clock may be a different one, too. */
    void (*restarted)(struct rlk_node *n);
    /* Something came over the subscriber connection (node/subscriber.h). key: `len` bytes, as the
     * key is called on the server, borrowed; NULL: every key. Any bytes may come: it is a hint. */
    void (*woken)(struct rlk_node *n, enum rlk_wake wake, const char *key, size_t len,
                  uint64_t now_us);
    /* The server showed its record of the masters [S15]: a text, nil where it has none, or an
     * error. NULL: it could not be inspected. server_us: the time by its clock. */
    void (*record_shown)(struct rlk_node *n, const struct rlk_reply *record, uint64_t server_us,
                         uint64_t now_us);
    /* The server told its time. */
    void (*clock_sampled)(struct rlk_node *n, const struct rlk_clock_sample *sample);
    /* Another node that is UP and is the same server [S10]; NULL: there is no duplicate. */
    const struct rlk_node *(*duplicate)(const struct rlk_node *n);
};

/* How a node takes releases: a way that it has refused is not used again while the other works. */
enum rlk_release_way {
    RLK_RELEASE_ANYHOW = 0,
    RLK_RELEASE_BY_SCRIPT,
    RLK_RELEASE_BY_NATIVE
};

/* Whether the server lets us renew and release locks: node/upkeep.c. */
struct rlk_upkeep {
    bool asked;                  /* a reply is outstanding */
    bool unsure;                 /* since it was asked, it refused something only for the moment */
    enum rlk_trouble_kind found; /* what it refused since it was asked */
    enum rlk_trouble_kind trouble; /* the last finding; RLK_TROUBLE_NONE: it lets us */
    char found_words[64], words[64];
};

struct rlk_node {
    struct rlk_loop *loop;
    const struct rlk_options *options;
    const struct rlk_uri *uri;
    const struct rlk_node_hooks *hooks;
    void *owner;
    unsigned index;

    struct rlk_link link; /* for commands */
    bool connect_failed;  /* the last attempt to connect failed: no round waits for the next one */
    bool was_down;        /* a connection, or an attempt to make one, has ended */
    bool login_refused;   /* our login was refused or missing, and none was accepted since */
    struct rlk_prng prng;
    struct rlk_timer pending_timer; /* UP: when to send pending releases again that it has refused;
                                       not set: with the next reply */
    char several[160]; /* the addresses of its name, when the last lookup gave several of one
                          family: these may be several servers; "" */
    const char *tls;   /* the TLS of the last connection, in words (net/conn.h) */
    struct rlk_pending_list pending;
    struct rlk_subscriber subscriber;
    uint64_t since_us; /* when it became UP, or when that ended */
    uint64_t rtt_us;   /* the average time from a command to its reply; 0: unknown */
    uint64_t last_reply_us;
    struct rlk_node_stats stats;
    unsigned expected; /* operations that wait for it to be connected, to ask it then */

    /* From the handshake. */
    bool returns_holder;    /* SET ... NX GET works */
    enum rlk_native native; /* the command that releases one key there without a script */
    enum rlk_release_way way;
    char server[48]; /* "redis 7.0.15" */
    struct rlk_server info;
    int64_t client_id; /* 0: unknown */
    struct rlk_former former;
    bool duplicate; /* when it last went down, it was refused as a duplicate [S10] */
    struct rlk_quarantine quarantine;
    bool unconfirmed;  /* too few masters have confirmed a record of the masters [S15] */
    bool hides_record; /* it does not vote because we may not read its record any more [M6] */
    struct rlk_inspection inspection;
    struct rlk_upkeep upkeep;
    uint64_t leased_us;                /* until when a lease of ours on it may last */
    uint64_t inspection_pause_us;      /* from the last regular inspection to the next */
    struct rlk_timer inspection_timer; /* when to inspect it next: node/inspect.c */

    struct rlk_trouble trouble;      /* the last thing that went wrong */
    char words[RLK_TROUBLE_WORDS];   /* the words of `trouble` */
    char inspection_error[64];       /* how the last inspection was refused; "": it was not */
    char text[2 * RLK_TROUBLE_TEXT]; /* what rlk_node_explain() returned last */
};

/* A node that is DOWN. Its memory is that of rlk_alloc(), and not used yet: it is zero, and most of
 * it is room for replies. index: its place in options->uris. The pointers are borrowed until
 * rlk_node_end(). */
void rlk_node_init(struct rlk_node *n, struct rlk_loop *loop, const struct rlk_options *options,
                   unsigned index, const struct rlk_node_hooks *hooks, void *owner, uint64_t seed);

/* Another link to the same server. Its memory must be zero, too. */
void rlk_node_init_link(struct rlk_node *n, struct rlk_link *l, const struct rlk_link_owner *owner);

/* Begin to connect. */
void rlk_node_start(struct rlk_node *n, uint64_t now_us);

/* Another server takes the place of this one: close the connection as if it had broken, and drop
 * all that was found out about the server. _start() connects again. Pending releases are dropped:
 * their keys expire. From the loop, not from inside a conversation. */
void rlk_node_leave(struct rlk_node *n, uint64_t now_us);

/* Connect a node that was left to another server. */
void rlk_node_join(struct rlk_node *n, uint64_t now_us);

/* Close, and free all memory. Before that `broken` is called for every command in flight. */
void rlk_node_end(struct rlk_node *n);

/* The node has refused to release in another way: from now on it is asked in this one. */
void rlk_node_release_by(struct rlk_node *n, enum rlk_release_way way);

/* The node no longer knows its own command for a release. */
void rlk_node_drop_native(struct rlk_node *n);

/* An operation waits for the node to be connected, to ask it then. */
void rlk_node_expect(struct rlk_node *n);

/* The node is UP, and no reply is overdue. */
bool rlk_node_ready(const struct rlk_node *n, uint64_t now_us);

/* [S11] Whether a yes of the node would count now, as far as we know. */
bool rlk_node_may_vote(const struct rlk_node *n, uint64_t now_us);

/* The node is UP, and a reply is overdue [S14]. */
bool rlk_node_unresponsive(const struct rlk_node *n, uint64_t now_us);

/* The node is being connected, and its last attempt did not fail: rounds wait for it. */
bool rlk_node_connecting(const struct rlk_node *n);

/* Keep the release of a claim as pending, for as long as the key may be there. Takes a reference to
 * the claim. The release is sent as soon as the node is UP and has capacity; after
 * RLK_PENDING_RETRY_US when no reply can be waited for, or when the node has refused it for now
 * (`refused`). */
void rlk_node_add_pending(struct rlk_node *n, struct rlk_claim *claim, bool refused,
                          uint64_t now_us);

/* Releases are pending, and can be sent now. */
bool rlk_node_can_send_pending(const struct rlk_node *n);

/* Send pending releases, the oldest first, as many as the node has capacity for. */
void rlk_node_send_pending(struct rlk_node *n, uint64_t now_us);

/* For the handshake. _accept: the node is UP. _refuse: close the connection, note why, and connect
 * again after the back-off. */
void rlk_node_accept(struct rlk_node *n, uint64_t now_us);
void rlk_node_refuse(struct rlk_node *n, const struct rlk_trouble *t);

/* The same, because the server has refused our login, or wants one, with this error. */
void rlk_node_refuse_login(struct rlk_node *n, const char *error);

/* Copy what the server said, cut to size and without secrets: up to our password if the server
 * repeats it, and with no more of a token than the trace shows. */
void rlk_node_quote(const struct rlk_node *n, const char *said, char *out, size_t size);

/* Note what went wrong. The words are copied; secrets are cut from those of a server. _kind: with
 * these words, or none (NULL). */
void rlk_node_note(struct rlk_node *n, const struct rlk_trouble *t);
void rlk_node_note_kind(struct rlk_node *n, enum rlk_trouble_kind kind, const char *words);

/* What the reply to a script of a lock says, and perhaps before it that no entry could be added to
 * the audit stream: that is noted, and changes nothing else. */
const struct rlk_reply *rlk_node_note_unaudited(struct rlk_node *n, const struct rlk_reply *reply);

static inline const struct rlk_reply *rlk_node_answer(struct rlk_node *n,
                                                      const struct rlk_reply *reply)
{
    return reply->type == RLK_REPLY_ARRAY && reply->integer == 2 && reply[1].type == RLK_REPLY_ERROR
               ? rlk_node_note_unaudited(n, reply)
               : reply;
}

/* What is wrong with the node now. Its words are valid until the next rlk_node_note(). */
struct rlk_trouble rlk_node_trouble(const struct rlk_node *n, uint64_t now_us);

/* The same as a sentence. When it says why the vote does not count, what else went wrong follows.
 * "" when nothing is wrong; valid until the next call. */
const char *rlk_node_explain(struct rlk_node *n, uint64_t now_us);

/* Emit a trace event with the reason why the votes of an UP node do not count, if they do not. */
void rlk_node_trace_quarantine(const struct rlk_node *n, uint64_t now_us);

#endif
