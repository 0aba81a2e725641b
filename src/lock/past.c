/* past.c - sorts the entries, first by token and then by time, and judges each token.
 *
 * Within a millisecond one lock may be released and the next one acquired. So until the end times
 * are moments: the ms of an entry, and its number in that ms on its master. */
#include "lock/past.h"

#include <stdlib.h>
#include <string.h>

#include "base/mask.h"
#include "core/validity.h"

enum redlock_history_kind rlk_past_kind(const char *event)
{
    static const char *const names[] = {
        [REDLOCK_HISTORY_ACQUIRED] = "acquired",  [REDLOCK_HISTORY_ADOPTED] = "adopted",
        [REDLOCK_HISTORY_BROKEN] = "broken",      [REDLOCK_HISTORY_RELEASED] = "released",
        [REDLOCK_HISTORY_LOST] = "lost",          [REDLOCK_HISTORY_HANDED_OVER] = "handed over",
        [REDLOCK_HISTORY_WITHDRAWN] = "withdrawn"};
    unsigned i;

    for (i = 1; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(event, names[i]) == 0) {
            return (enum redlock_history_kind)i;
        }
    }
    return (enum redlock_history_kind)0;
}

/* ---- moments ---- */

#define NUMBERS (UINT64_C(1) << 20)

static uint64_t moment_of(const struct rlk_past_entry *e)
{
    return e->ms * NUMBERS + (e->seq < NUMBERS ? e->seq : NUMBERS - 1);
}

static uint64_t ms_of(const struct redlock_history_event *event)
{
    return event->time_ms / NUMBERS;
}

/* ---- entries that are one event ---- */

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_tokens(const char *id_a, const char *owner_a, const char *id_b,
                          const char *owner_b)
{
    int order = strcmp(id_a, id_b);

    return order ? order : strcmp(owner_a, owner_b);
}

static int compare_entries(const void *a, const void *b)
{
    const struct rlk_past_entry *x = a, *y = b;
    int order = compare_tokens(x->id, x->owner, y->id, y->owner);

    order = order ? order : compare(x->kind, y->kind);
    order = order ? order : compare(moment_of(x), moment_of(y));
    return order ? order : compare(x->node, y->node);
}

/* A master may have two entries of one kind for a token: of a release that was sent again, or of
 * several adoptions. Nothing tells the locks of other libraries apart. */
static bool is_repeated(const struct rlk_past_entry *e)
{
    return e->kind == REDLOCK_HISTORY_ADOPTED || e->id[0] == '\0';
}

static bool belongs_to(const struct rlk_past_entry *e, const struct redlock_history_event *event)
{
    return event->kind == e->kind &&
           compare_tokens(e->id, e->owner, event->id, event->owner) == 0 &&
           !((event->masters & rlk_mask_bit(e->node)) && is_repeated(e));
}

static void add_to(struct redlock_history_event *event, const struct rlk_past_entry *e)
{
    event->masters |= rlk_mask_bit(e->node);
    event->fencing_token = e->fence > event->fencing_token ? e->fence : event->fencing_token;
    event->ttl_ms = e->ttl_ms > event->ttl_ms ? e->ttl_ms : event->ttl_ms;
}

/* Of the first `n` entries, which are in the order of their times. Returns how many there are. */
static size_t take_event(const struct rlk_past_entry *entries, size_t n,
                         struct redlock_history_event *ret)
{
    bool handed_over = entries->kind == REDLOCK_HISTORY_HANDED_OVER;
    uint64_t times[RLK_MAX_NODES];
    unsigned n_times = 0;
    size_t i;

    *ret = (struct redlock_history_event){.size = sizeof(*ret),
                                          .kind = entries->kind,
                                          .id = entries->id,
                                          .owner = entries->owner,
                                          .by = handed_over ? "" : entries->other,
                                          .to = handed_over ? entries->other : ""};
    for (i = 0; i < n && belongs_to(&entries[i], ret); i++) {
        if (!(ret->masters & rlk_mask_bit(entries[i].node))) {
            times[n_times++] = moment_of(&entries[i]);
        }
        add_to(ret, &entries[i]);
    }
    ret->time_ms = times[(n_times - 1) / 2];
    return i;
}

/* ---- what follows for a token ---- */

static uint64_t knowing(const struct rlk_past_masters *m, uint64_t time_ms)
{
    uint64_t nodes = 0;
    unsigned node;

    for (node = 0; node < m->n; node++) {
        nodes |= m->since_ms[node] <= time_ms ? rlk_mask_bit(node) : 0;
    }
    return nodes;
}

/* A loss and a withdrawal are written where it can be done. */
static uint64_t missing(const struct rlk_past_masters *m, const struct redlock_history_event *e)
{
    bool everywhere = e->kind != REDLOCK_HISTORY_LOST && e->kind != REDLOCK_HISTORY_WITHDRAWN;

    return everywhere ? knowing(m, ms_of(e)) & ~e->masters : 0;
}

/* Masters that do not know may have granted it. */
static bool had_majority(const struct rlk_past_masters *m, const struct redlock_history_event *e)
{
    uint64_t maybe = e->masters | ~knowing(m, ms_of(e));

    return rlk_voters_are_enough(m->voters, maybe);
}

static bool is_beginning(const struct redlock_history_event *e)
{
    return e->kind == REDLOCK_HISTORY_ACQUIRED || e->kind == REDLOCK_HISTORY_ADOPTED;
}

static bool is_end(const struct redlock_history_event *e)
{
    return e->kind == REDLOCK_HISTORY_BROKEN || e->kind == REDLOCK_HISTORY_RELEASED ||
           e->kind == REDLOCK_HISTORY_HANDED_OVER || e->kind == REDLOCK_HISTORY_LOST;
}

static bool shows_holder(const struct redlock_history_event *e)
{
    return e->kind != REDLOCK_HISTORY_ACQUIRED && e->kind != REDLOCK_HISTORY_WITHDRAWN;
}

/* The events of one token. */
static void judge_token(const struct rlk_past_masters *m, struct redlock_history_event *events,
                        size_t n)
{
    bool held = false, won = true, ended = false;
    size_t i;

    for (i = 0; i < n; i++) {
        held = held || shows_holder(&events[i]);
        ended = ended || is_end(&events[i]);
        won = won && events[i].kind != REDLOCK_HISTORY_WITHDRAWN &&
              (events[i].kind != REDLOCK_HISTORY_ACQUIRED || had_majority(m, &events[i]));
        events[i].missing = missing(m, &events[i]);
    }
    for (i = 0; i < n; i++) {
        events[i].lost_round = !shows_holder(&events[i]) &&
                               (!(held || won) || events[i].kind == REDLOCK_HISTORY_WITHDRAWN);
        events[i].ended = is_beginning(&events[i]) && ended;
    }
}

static size_t count_token(const struct redlock_history_event *events, size_t n)
{
    size_t i = 1;

    while (i < n && events->id[0] &&
           compare_tokens(events->id, events->owner, events[i].id, events[i].owner) == 0) {
        i++;
    }
    return i;
}

/* ---- what follows for the key ---- */

static int compare_events(const void *a, const void *b)
{
    const struct redlock_history_event *x = a, *y = b;
    int order = compare(x->time_ms, y->time_ms);

    return order ? order : compare(x->kind, y->kind);
}

/* Whether a master may have an entry of it that it has not sent. */
static bool is_cut(const struct rlk_past_masters *m, const struct redlock_history_event *e)
{
    return (m->cut & ~e->masters & ~knowing(m, ms_of(e))) != 0;
}

/* The last event that may be incomplete, and all before it. */
static size_t leave_out_cut(const struct rlk_past_masters *m, struct redlock_history_event *events,
                            size_t n)
{
    size_t i = n;

    while (i > 0 && !is_cut(m, &events[i - 1])) {
        i--;
    }
    memmove(events, events + i, (n - i) * sizeof(events[0]));
    return n - i;
}

static bool is_of(const struct redlock_history_event *e, const struct redlock_history_event *lock)
{
    return compare_tokens(e->id, e->owner, lock->id, lock->owner) == 0;
}

static struct redlock_history_event expiry_of(const struct redlock_history_event *lock,
                                              const struct redlock_history_event *next)
{
    struct redlock_history_event e = *lock;

    e.kind = REDLOCK_HISTORY_EXPIRED;
    e.time_ms = next->time_ms;
    e.ttl_ms = 0;
    e.masters = e.missing = 0;
    e.ended = 0;
    return e;
}

/* From `events` to `ret`, with an expiry before the lock that follows one without an end. `ret` may
 * begin so far before `events` as there are of these: then no event is overwritten unread. `open`
 * is where the last lock without an end is in `ret`; SIZE_MAX: no lock is. */
static size_t add_expiries(const struct redlock_history_event *events, size_t n,
                           struct redlock_history_event *ret)
{
    size_t i, used = 0, open = SIZE_MAX;

    for (i = 0; i < n; i++) {
        struct redlock_history_event e = events[i];
        bool begins = is_beginning(&e) && !e.lost_round;

        if (begins && open != SIZE_MAX && !is_of(&e, &ret[open])) {
            ret[open].ended = 1;
            ret[used++] = expiry_of(&ret[open], &e);
        }
        ret[used++] = e;
        open = !begins ? open : e.ended ? SIZE_MAX : used - 1;
    }
    return used;
}

size_t rlk_past_events(struct rlk_past_entry *entries, size_t n,
                       const struct rlk_past_masters *masters, struct redlock_history_event *ret)
{
    struct redlock_history_event *events = ret + n;
    size_t i, n_events = 0, of_token;

    if (n == 0) {
        return 0;
    }
    qsort(entries, n, sizeof(entries[0]), compare_entries);
    for (i = 0; i < n; n_events++) {
        i += take_event(entries + i, n - i, &events[n_events]);
    }
    for (i = 0; i < n_events; i += of_token) {
        of_token = count_token(events + i, n_events - i);
        judge_token(masters, events + i, of_token);
    }
    qsort(events, n_events, sizeof(events[0]), compare_events);
    n_events = leave_out_cut(masters, events, n_events);
    n_events = add_expiries(events, n_events, ret);
    for (i = 0; i < n_events; i++) {
        ret[i].time_ms = ms_of(&ret[i]);
    }
    return n_events;
}
