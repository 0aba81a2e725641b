/* leader_text.h - the owner text of a leader's lock, written and read.
 *
 *     leader ID              leader+PRIORITY ID
 *     leader ID VALUE        leader+PRIORITY ID VALUE
 *
 * An id has no space. The value is everything behind the space that ends the id, so it may have
 * spaces, also in front. */
#ifndef RLK_LOCK_LEADER_TEXT_H
#define RLK_LOCK_LEADER_TEXT_H

#include <stdint.h>

#include <redlock/election.h>
#include <redlock/lock.h>

#define RLK_LEADER_MAX_PRIORITY 999

struct rlk_leader_text {
    const char *value;           /* in the owner text; "": the leader publishes none */
    uint32_t priority;           /* 0: none */
    char id[REDLOCK_MAX_ID + 1]; /* "": the owner text has another form */
};

/* Write it. id: 1 to REDLOCK_MAX_ID bytes; value: at most REDLOCK_MAX_VALUE, may be "" or NULL. */
void rlk_leader_text_write(char owner[REDLOCK_MAX_OWNER + 1], const char *id, const char *value,
                           uint32_t priority);

/* Read the owner text of any lock. One of another form leaves everything empty. */
void rlk_leader_text_read(const char *owner, struct rlk_leader_text *ret_text);

#endif
