/* scan.h - asks one master for the names of its keys, a part at a time.
 *
 *     rlk_scan_step() ---> SCAN cursor ---> names, and the next cursor ---> user->stepped
 *                                              |
 *                                              +--- the last one: complete
 *
 * One step is under way at a time, and the user decides when the next one begins: so it decides how
 * fast the master is asked, and nothing waits for a scan. A reply with more names than fit into the
 * memory for a reply (net/reply.h) is asked for again, with a smaller count: the cursor is the same
 * then, so no name is missed.
 *
 * SCAN names every key that was there from the first step to the last. It may name some twice, and
 * those that came or went meanwhile or not. */
#ifndef RLK_LOCK_SCAN_H
#define RLK_LOCK_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "node/claim.h"
#include "node/trouble.h"

struct rlk_node;
struct rlk_scan;

/* How many keys the server looks at in a step. It exceeds that by some, so this leaves room to the
 * most elements of a reply. */
#define RLK_SCAN_COUNT 50

/* What a step counts as, in commands. */
#define RLK_SCAN_COST 10

/* What scans that belong together have in common. */
struct rlk_scan_user {
    struct rlk_key prefix; /* of the names; borrowed */
    unsigned refs; /* scans with commands in flight, and those that the user counts itself */
    void (*found)(struct rlk_scan *s, const struct rlk_key *name);
    /* The step has ended: `complete`, `error` or another step. */
    void (*stepped)(struct rlk_scan *s, uint64_t now_us);
    /* The last reference was dropped. */
    void (*free)(struct rlk_scan_user *user);
};

struct rlk_scan {
    unsigned refs; /* commands in flight: while there are any, one reference to the user */
    struct rlk_scan_user *user;
    struct rlk_node *node;
    uint64_t cursor;
    unsigned count; /* 0: it has not begun */
    bool asking;    /* a step is under way */
    bool complete;
    char error[160]; /* why it goes no further; "" */
    uint64_t names, steps;
};

/* No step may be under way, and the scan has not ended. False: it could not be sent, and `error`
 * says so; `stepped` is not called. */
bool rlk_scan_step(struct rlk_scan *s, uint64_t now_us);

/* It goes no further, for this reason unless it is complete, there is a reason already, or it has
 * not begun. A step that is under way ends unheard. */
void rlk_scan_end(struct rlk_scan *s, enum rlk_trouble_kind why);

void rlk_scan_unref(struct rlk_scan_user *user);

#endif
