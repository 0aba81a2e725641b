/* checkup.h - the questions of an examination to one master, and its replies.
 *
 * The questions are a conversation (node/talk.h). A permission is tried by using
 * it, on a key that does not exist, so that nothing changes. ACL DRYRUN cannot replace this: only
 * users with many rights may call it, and it says nothing about commands that were renamed.
 * SUBSCRIBE is tried over another connection: doctor/trial.h. */
#ifndef RLK_DOCTOR_CHECKUP_H
#define RLK_DOCTOR_CHECKUP_H

#include <redlock/examine.h>

#include "core/clocks.h"
#include "core/server.h"
#include "node/talk.h"
#include "node/trouble.h"

struct rlk_node;
struct rlk_reply;

/* How often a master is asked for the time. */
#define RLK_CHECKUP_PINGS 20

struct rlk_checkup {
    unsigned refs;        /* the first member, as conversations count them */
    void *entry;          /* of the examination */
    const char *key;      /* a key of ours that does not exist; borrowed */
    const char *lock_key; /* likewise, but named as a lock may be */
    bool answered;        /* every question has its reply */
    struct rlk_server info;
    char product[24], version[24], user[64], refusal[160];
    char subscriber[2 * RLK_TROUBLE_TEXT]; /* why SUBSCRIBE could not be tried */
    int rdb, rdb_fails;
    unsigned min_replicas;
    uint64_t used_memory, evicted_keys;
    unsigned denied, missing;
    bool keys_denied, lock_keys_denied, database_denied, remote, no_channels;
    unsigned database;
    unsigned pings;
    uint64_t ping_us[RLK_CHECKUP_PINGS]; /* round trips, sorted */
    struct rlk_clock_sample time;        /* of the shortest round trip; received_us 0: none */
};

void rlk_checkup_init(struct rlk_checkup *p);

/* The conversation; its context is the checkup. _refused: errors go there. */
#define RLK_CHECKUP_LINES 35
extern const struct rlk_line rlk_checkup_lines[RLK_CHECKUP_LINES];

void rlk_checkup_refused(const struct rlk_heard *h);

/* Sort an error: a command that our user may not call, a channel that it may not use (`channel` is
 * the right for that), a denied key or database, or a command that the server does not know. False:
 * the error says nothing of these. */
bool rlk_checkup_take_denial(struct rlk_checkup *p, unsigned right, unsigned channel,
                             const struct rlk_reply *reply);

/* SUBSCRIBE could not be tried. */
void rlk_checkup_note_subscriber(struct rlk_checkup *p, const struct rlk_node *n,
                                 const struct rlk_trouble *t);

/* The reply to TIME. */
void rlk_checkup_take_time(struct rlk_checkup *p, const struct rlk_reply *reply, uint64_t sent_us,
                           uint64_t now_us);

/* The timeout of the master has passed. The TIME that was sent at sent_us has no reply; its round
 * trip up to now counts if it is the longest. */
void rlk_checkup_end(struct rlk_checkup *p, uint64_t sent_us, uint64_t now_us);

/* Facts that do not come from replies: the user, the database, the address, and the product from
 * the handshake. */
void rlk_checkup_note_connection(struct rlk_checkup *p, const struct rlk_node *n);

/* Write everything except the fields of struct redlock_node_info, the clock and the verdict. */
void rlk_checkup_write(const struct rlk_checkup *p, struct redlock_examined *ret);

#endif
