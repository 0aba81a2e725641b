/* chaos/client_hold.c - the locks and leaderships that the client relies on, and what it logs about
 * them. */
#include <inttypes.h>
#include <stdlib.h>

#include "chaos/client.h"

static struct hold *holds;
static unsigned last_id;

unsigned hold_next_id(void)
{
    return last_id + 1;
}

static uint64_t told_deadline(const struct hold *hold)
{
    if (hold->stop_by_us) {
        return hold->stop_by_us;
    }
    return hold->election ? redlock_election_deadline_us(hold->election)
                          : redlock_lock_deadline_us(hold->lock);
}

static bool is_valid_as_told(const struct hold *hold)
{
    if (hold->stop_by_us) {
        return redlock_clock_us() < hold->stop_by_us;
    }
    return hold->election ? redlock_election_is_leader(hold->election)
                          : redlock_lock_validity_ms(hold->lock) > 0;
}

bool hold_is_valid(const struct hold *hold)
{
    if (!hold->is_relied_on) {
        return false;
    }
    return sabotage_overstays() ? redlock_clock_us() < hold->deadline_us : is_valid_as_told(hold);
}

static bool pair_is_held(void *arg)
{
    return hold_is_valid(arg);
}

static uint64_t pair_changes(uint64_t value, void *arg)
{
    struct hold *hold = arg;

    return sabotage_value(hold->keys[0], value);
}

static void on_pair_done(void *arg)
{
    struct hold *hold = arg;

    if (hold->is_gone) {
        free(hold);
    }
}

static void log_hold(const struct hold *hold, uint64_t fence)
{
    char keys[MOST_IN_LOCK * MOST_NAME];

    json_texts(keys, sizeof(keys), hold->keys, hold->n_keys);
    log_line("hold", "\"lock\":%u,\"keys\":%s,\"fence\":%" PRIu64 ",\"deadline\":%" PRIu64,
             hold->id, keys, fence, hold->deadline_us);
}

static struct hold *begin(struct hold first, const char *const *keys, size_t n, uint64_t fence)
{
    struct hold *hold = malloc(sizeof(*hold));
    size_t i;

    if (!hold) {
        abort();
    }
    *hold = first;
    hold->id = ++last_id;
    for (i = 0; i < n; i++) {
        hold->keys[i] = keys[i];
    }
    hold->n_keys = n;
    fence = n == 1 && fence ? sabotage_fence(keys[0], fence) : fence;
    hold->pair = (struct pair){
        keys[0], n == 1 ? fence : 0, pair_is_held, pair_changes, on_pair_done, hold, false, false};
    hold->is_relied_on = true;
    hold->sampled_us = true_us();
    hold->deadline_us = sabotage_deadline(told_deadline(hold));
    hold->next = holds;
    holds = hold;
    log_hold(hold, fence);
    return hold;
}

struct hold *hold_lock(struct redlock_lock *lock, const char *const *keys, size_t n, bool fencing)
{
    uint64_t fence = redlock_lock_fencing_token(lock);

    if (fencing != (fence > 0)) {
        wrong("a lock that was acquired %s a fencing token has %" PRIu64,
              fencing ? "with" : "without", fence);
    }
    return begin((struct hold){.lock = lock}, keys, n, fence);
}

struct hold *hold_leadership(struct redlock_election *election, const char *const *key,
                             uint64_t term)
{
    return begin((struct hold){.election = election}, key, 1, term);
}

void hold_end(struct hold *hold, const char *why, bool was_told)
{
    uint64_t now_us = true_us();

    hold->pair.is_over = true;
    if (!hold->is_relied_on) {
        return;
    }
    hold->is_relied_on = false;
    log_line("unhold", "\"lock\":%u,\"why\":\"%s\",\"since\":%" PRIu64, hold->id, why,
             was_told ? hold->sampled_us : now_us);
}

void hold_free(struct hold *hold)
{
    struct hold **at = &holds;

    while (*at != hold) {
        at = &(*at)->next;
    }
    *at = hold->next;
    if (hold->pair.is_busy) {
        hold->is_gone = true;
        hold->pair.is_over = true;
    } else {
        free(hold);
    }
}

static void note_loss(struct hold *hold)
{
    if (!sabotage_overstays() || redlock_clock_us() >= hold->deadline_us) {
        hold->is_lost = true;
        hold_end(hold, "lost", true);
    }
}

/* A leader that lost its leadership hears of it from demoted_cb, which logs it. */
static void sample(struct hold *hold, uint64_t now_us)
{
    uint64_t told_us = told_deadline(hold), deadline_us = sabotage_deadline(told_us);

    if (told_us == 0 && hold->lock) {
        note_loss(hold);
    } else if (told_us > 0 && deadline_us != hold->deadline_us) {
        hold->deadline_us = deadline_us;
        log_line("deadline", "\"lock\":%u,\"deadline\":%" PRIu64 ",\"since\":%" PRIu64, hold->id,
                 deadline_us, hold->sampled_us);
    }
    if (told_us > 0 || !hold->election) {
        hold->sampled_us = now_us;
    }
}

void holds_sample(void)
{
    struct hold *hold;
    uint64_t now_us = true_us();

    for (hold = holds; hold; hold = hold->next) {
        if (hold->is_relied_on) {
            sample(hold, now_us);
        }
    }
}

bool holds_any(void)
{
    return holds != NULL;
}
