/* past.h - puts the entries of the audit streams together to the events of a lock.
 *
 *     entries of each master, by its clock ---> events, by the median of the clocks
 *
 * An event is what several masters say of one token. The rest follows from the events: a round that
 * too few masters granted was lost, and a lock that is acquired again without a release has
 * expired. All functions but rlk_past_add() only compute. */
#ifndef RLK_LOCK_PAST_H
#define RLK_LOCK_PAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <redlock/history.h>

struct rlk_voters;

#define RLK_PAST_ID 16
#define RLK_PAST_TEXT 256

struct rlk_past_entry {
    uint64_t ms, seq; /* its id: by the clock of the master, and its number in that ms */
    unsigned node;
    enum redlock_history_kind kind;
    uint64_t fence;
    uint32_t ttl_ms;
    char id[RLK_PAST_ID], owner[RLK_PAST_TEXT];
    char other[RLK_PAST_TEXT]; /* who broke it, or whom it was handed over to */
};

/* The masters whose entries these are. */
struct rlk_past_masters {
    unsigned n;
    const struct rlk_voters *voters; /* a round was won by a majority of these */
    uint64_t since_ms[63];           /* since when each knows; UINT64_MAX: it knows nothing */
    uint64_t cut;                    /* have older entries than those that they have sent */
};

/* The kind with this name; 0: none has it. */
enum redlock_history_kind rlk_past_kind(const char *event);

/* Write the events of `n` entries, which are sorted here, to `ret`, which has room for 2 * n; the
 * oldest first. Their texts are those of the entries. Returns how many there are. */
size_t rlk_past_events(struct rlk_past_entry *entries, size_t n,
                       const struct rlk_past_masters *masters, struct redlock_history_event *ret);

#endif
