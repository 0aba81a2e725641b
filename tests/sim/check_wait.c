/* check_wait.c - in a healthy crowd everybody who waits is served, in turn, for few messages
 * [W1 to W8].
 *
 * A crowd is many clients that want one key at the same moment, and go on asking for it. In a
 * healthy one nothing fails, so these bounds hold:
 *
 *   - The lock does not stay free for long while somebody waits: whoever is woken needs a message
 *     and a round, and if it does not go, because it is in a back-off, whoever is next looks
 *     25 ms later [W4].
 *   - Nobody waits for longer than all others need, each of them twice. A waiter may miss its turn:
 *     a request that begins just when the key is free may be faster, and a waiter that had votes in
 *     a round that it lost waits for a back-off [W3, W7].
 *   - Commands, pushes and rounds for each lock do not grow with the number of those who wait,
 *     except while a lock that was handed over is reserved on a part of the masters only [H4].
 *   - Who has had the lock rarely has it again before another one that has been listed all the
 * time. Where a lock is held for no longer than a hand-over takes, the two misses above are
 * frequent.
 *
 * With overlapping sets of keys only the first two hold, and the gaps are not known. */
#include "base/time.h"
#include "sim/check.h"
#include "sim/successor.h"
#include "sim/trace.h"

#define LONG_HOLD_US 4000

static bool is_checked(const struct world *w)
{
    return w->o.crowd == CROWD_HEALTHY && w->o.keys == 1 && !w->healed;
}

static uint64_t contenders(const struct world *w)
{
    return (uint64_t)w->o.clients * w->o.workers;
}

/* Two who are next, one after the other, and the round trips of looks and rounds. */
static uint64_t hand_over_us(const struct world *w)
{
    return 60000 + 20 * (w->o.delay_us + w->o.jitter_us + w->o.turn_us);
}

/* Whether a hand-over is the smaller part of the time: the release, the wake and the round travel
 * four ways, and a lock is held for half of hold_us on average. */
static bool is_held_for_long(const struct world *w)
{
    return w->o.hold_us >= LONG_HOLD_US &&
           w->o.hold_us >= 8 * (w->o.delay_us + w->o.jitter_us) + 2 * w->o.turn_us;
}

/* ---- what happens ---- */

void check_listed(struct world *w, unsigned client, const struct message *m)
{
    unsigned i;

    for (i = 0; i < w->o.workers && m->answer == ANSWER_POSITION && m->integer > 0; i++) {
        struct worker *k = world_worker(w, client, i);

        if (k->phase == WORKER_PENDING && k->lock && k->listed_us == 0 && k->keys == m->keys &&
            k->lock->acquiring->attempt.state != RLK_ATTEMPT_BEHIND) {
            k->listed_us = w->now_us;
        }
    }
}

static void check_gap(struct world *w, const struct worker *k)
{
    uint64_t from_us = rlk_time_max(w->effort.freed_us, k->called_us);

    if (from_us + hand_over_us(w) < w->now_us) {
        check_violated(w, "wait", "the lock was free for %.1f ms, and c%u.%u waited",
                       trace_ms(from_us, w->now_us), k->client, k->index);
    }
}

static void check_waited_for(struct world *w, const struct worker *k)
{
    uint64_t most_us = 2 * contenders(w) * (w->o.hold_us + hand_over_us(w));

    if (k->called_us + most_us < w->now_us) {
        check_violated(w, "wait", "c%u.%u has waited for %.1f ms, with %u contenders", k->client,
                       k->index, trace_ms(k->called_us, w->now_us), (unsigned)contenders(w));
    }
}

/* Those who have been listed since before this client had the lock last. */
static void count_overtaken(struct world *w, unsigned client)
{
    uint64_t got_us = w->clients[client].got_us;
    unsigned i, j;

    for (i = 0; i < w->o.clients; i++) {
        for (j = 0; j < w->o.workers; j++) {
            const struct worker *k = world_worker(w, i, j);

            w->effort.overtakings += i != client && k->phase == WORKER_PENDING &&
                                     k->listed_us != 0 && k->listed_us < got_us;
        }
    }
}

void check_waited(struct world *w, unsigned client, unsigned worker)
{
    if (is_checked(w)) {
        check_gap(w, world_worker(w, client, worker));
        check_waited_for(w, world_worker(w, client, worker));
        count_overtaken(w, client);
        w->clients[client].got_us = w->now_us;
    }
}

/* ---- the end ---- */

static bool is_held(const struct world *w)
{
    unsigned i, j;

    for (i = 0; i < w->o.clients; i++) {
        for (j = 0; j < w->o.workers; j++) {
            enum worker_phase phase = w->clients[i].workers[j].phase;

            if (phase == WORKER_HELD || phase == WORKER_RELEASING) {
                return true;
            }
        }
    }
    return false;
}

static void check_those_who_wait(struct world *w)
{
    bool held = is_held(w);
    unsigned i, j;

    for (i = 0; i < w->o.clients; i++) {
        for (j = 0; j < w->o.workers; j++) {
            const struct worker *k = world_worker(w, i, j);

            if (k->phase == WORKER_PENDING && !held) {
                check_gap(w, k);
            }
            if (k->phase == WORKER_PENDING) {
                check_waited_for(w, k);
            }
        }
    }
}

static void check_most(struct world *w, const char *what, uint64_t n, uint64_t most)
{
    if (n > most) {
        check_violated(w, "wait", "%llu %s for %u locks and %u contenders; %llu would be enough",
                       (unsigned long long)n, what, w->acquired, (unsigned)contenders(w),
                       (unsigned long long)most);
    }
}

/* Everybody begins with a round that may be lost, enters the lists, and looks now and then. Rounds
 * have a bound of their own. On each master one costs a SET and, as it is lost, a position check or
 * a release. What a lock costs besides are a release by DELEX, with a look at the list, and one by
 * the script if somebody is in it; and the checks of who is next, which track the key. */
static void check_messages(struct world *w)
{
    uint64_t locks = w->acquired, all = contenders(w), hosts = w->o.nodes < 3 ? w->o.nodes : 3;
    uint64_t looks = (w->now_us - w->o.start_us) / 1500000 + 1, polls = w->effort.polls;

    check_most(w, "commands", w->effort.commands,
               w->o.nodes * (2 * w->effort.rounds + 5 * locks + 6 * all + 3 * polls) +
                   hosts * all * looks);
    check_most(w, "pushes", w->effort.pushes,
               hosts * (5 * locks + 5 * all + w->effort.hand_overs * all + polls));
    check_most(w, "rounds", w->effort.rounds, 5 * locks / 2 + 2 * all + polls);
    if (is_held_for_long(w)) {
        check_most(w, "overtakings", w->effort.overtakings, 7 * (locks + all) * all / 20);
    }
}

void check_effort(struct world *w)
{
    if (is_checked(w)) {
        successor_count_polls(w);
        check_those_who_wait(w);
        check_messages(w);
    }
}
