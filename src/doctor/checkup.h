/* checkup.h - what one master is asked when it is examined, and what it answers.
 *
 * A row of commands, sent at once. Answers come in that order, so the place in the row tells which
 * one it is. Whether a right is there is found out by using it: on a key that does not exist, so
 * that nothing changes. An ACL that is asked itself (ACL DRYRUN) tells it only to users who need
 * not ask, and says nothing of commands that were renamed. */
#ifndef RLK_DOCTOR_CHECKUP_H
#define RLK_DOCTOR_CHECKUP_H

#include <redlock/examine.h>

#include "core/clocks.h"
#include "core/server.h"

struct rlk_node;
struct rlk_reply;

/* How often it is asked for the time. */
#define RLK_CHECKUP_PINGS 20

#define RLK_CHECKUP_KEY_SIZE 1200

struct rlk_checkup {
    unsigned at; /* how many of the row have been answered */
    struct rlk_server info;
    char product[24], version[24], user[64], refusal[160];
    int rdb, rdb_fails;
    unsigned min_replicas;
    uint64_t used_memory, evicted_keys;
    unsigned denied, missing;
    bool keys_denied, database_denied, remote;
    unsigned database;
    unsigned pings;
    uint64_t ping_us[RLK_CHECKUP_PINGS]; /* sorted */
    struct rlk_clock_sample time;        /* of the quickest; received_us 0: none */
};

void rlk_checkup_init(struct rlk_checkup *p);

/* The words of the command at this place of the row, ended by a NULL; false behind the last one.
 * What they need is borrowed. */
struct rlk_checkup_words {
    const char *word[10];
};
bool rlk_checkup_words(unsigned at, const struct rlk_node *n, const char *key,
                       struct rlk_checkup_words *ret);

/* The answer to the next one; true when it was the last. */
bool rlk_checkup_take(struct rlk_checkup *p, const struct rlk_reply *reply);

/* The answer to TIME. */
void rlk_checkup_take_time(struct rlk_checkup *p, const struct rlk_reply *reply, uint64_t sent_us,
                           uint64_t now_us);

/* Its time is over: one that was asked for since sent_us has not come, which counts if none took
 * longer. */
void rlk_checkup_end(struct rlk_checkup *p, uint64_t sent_us, uint64_t now_us);

/* What does not come from answers: whom it is asked as, and over which way. */
void rlk_checkup_note_connection(struct rlk_checkup *p, const struct rlk_node *n);

/* All of it, but what struct redlock_node_info has, the clock and the verdict. */
void rlk_checkup_write(const struct rlk_checkup *p, struct redlock_examined *ret);

#endif
