/* check_reported.c - every call that was accepted gets exactly one result, not later than it
 * promised, and the result is true. */
#include <redlock/error.h>

#include "base/time.h"
#include "sim/auditor.h"
#include "sim/check.h"
#include "sim/process.h"
#include "sim/trace.h"

/* How long the client has been paused; not for how long it will be. */
static uint64_t paused_us(const struct world *w, unsigned client)
{
    const struct client *c = &w->clients[client];

    return c->lost_us - rlk_time_sub(c->busy_us, w->now_us);
}

/* Time in which the client was paused does not count against the library. */
static uint64_t worked_us(const struct world *w, unsigned client, const struct worker *k)
{
    uint64_t took_us = rlk_time_sub(world_client_us(w, client), k->asked_us);
    uint64_t lost_us = paused_us(w, client) - k->lost_us;

    return rlk_time_sub(took_us, lost_us + lost_us / 50);
}

void check_started(struct world *w, unsigned client, unsigned worker, uint64_t limit_us)
{
    struct worker *k = world_worker(w, client, worker);

    k->reported = k->cancelled = false;
    k->refusals = 0;
    k->asked_us = world_client_us(w, client);
    k->lost_us = paused_us(w, client);
    k->limit_us = limit_us;
}

void check_cancelled(struct world *w, unsigned client, unsigned worker)
{
    struct worker *k = world_worker(w, client, worker);

    k->cancelled = true;
    k->limit_us = rlk_time_min(k->limit_us, worked_us(w, client, k));
}

void check_forgotten(struct world *w, unsigned client, unsigned worker)
{
    w->clients[client].workers[worker].reported = true;
}

void check_closing(struct world *w, unsigned client)
{
    struct client *c = &w->clients[client];

    c->close_us = world_client_us(w, client);
    c->close_lost_us = paused_us(w, client);
}

/* A result that is reported later would come after the memory of its lock is gone. */
static void check_all_reported(struct world *w, unsigned client)
{
    unsigned worker;

    for (worker = 0; worker < w->o.workers; worker++) {
        const struct worker *k = world_worker(w, client, worker);
        bool kept = k->phase == WORKER_RELEASING && !world_claim(w, k->claim)->let_go;

        if (!k->reported || k->extending) {
            check_violated(w, "reported", "c%u.%u got no result, and its manager is gone", client,
                           worker);
        } else if (kept) {
            check_violated(w, "left", "t%08x of c%u.%u was held at the close, and is not released",
                           k->claim, client, worker);
        }
    }
}

/* A close may take the time of a release, and more while masters go on answering. */
void check_closed(struct world *w, unsigned client)
{
    const struct client *c = &w->clients[client];
    uint64_t took_us = world_client_us(w, client) - c->close_us;
    uint64_t lost_us = c->lost_us - c->close_lost_us;
    uint64_t limit_us = 4 * w->o.timeout_us + 300000 + 8 * w->o.turn_us;

    took_us = rlk_time_sub(took_us, lost_us + lost_us / 50);
    if (took_us > limit_us + took_us / 50) {
        check_violated(w, "reported", "c%u took %.1f ms to close", client, (double)took_us / 1e3);
    }
    check_all_reported(w, client);
}

/* [S13] The time in the send queue does not count: where capacity is scarce, nothing bounds it. */
static void check_in_time(struct world *w, unsigned client, unsigned worker)
{
    const struct worker *k = world_worker(w, client, worker);
    uint64_t took_us = worked_us(w, client, k);
    uint64_t slack_us = 2000 + w->o.turn_us * 2 + took_us / 50;

    if (w->o.scarce == 0 && took_us > rlk_time_add(k->limit_us, slack_us)) {
        check_violated(w, "reported", "c%u.%u got its result after %.1f ms, and not within %.1f",
                       client, worker, (double)took_us / 1e3, (double)k->limit_us / 1e3);
    }
}

/* [S10] Nothing is acquired while two nodes are known to be one server. */
static void check_no_duplicates(struct world *w, unsigned client, unsigned worker)
{
    unsigned node;

    for (node = 0; node < w->clients[client].nodes; node++) {
        if (world_node(w, client, node)->duplicate) {
            check_violated(w, "reported",
                           "c%u.%u is handed a lock, but n%u is a duplicate of another node",
                           client, worker, node);
        }
    }
}

/* A lock that is handed out has time left to be used. */
static void check_win_is_true(struct world *w, unsigned client, unsigned worker)
{
    const struct worker *k = world_worker(w, client, worker);
    uint64_t now_us = world_client_us(w, client);
    uint64_t left_us = rlk_time_sub(process_valid_until_us(k), now_us);

    if (left_us < rlk_time_from_ms(k->ttl_ms) / 10) {
        check_violated(w, "reported",
                       "c%u.%u was handed t%08x with %.3f ms left, less than a tenth", client,
                       worker, k->claim, (double)left_us / 1e3);
    }
}

/* While a lock is valid its key is on a majority, and every majority of answers finds it; or what
 * has taken its place when it was broken. */
static void check_release_is_true(struct world *w, unsigned client, unsigned worker, int status)
{
    const struct worker *k = world_worker(w, client, worker);

    if (status == REDLOCK_OK && world_claim(w, k->claim)->deleted == 0) {
        check_violated(w, "reported", "c%u.%u: t%08x was released, but no server deleted it",
                       client, worker, k->claim);
    }
    if ((status == REDLOCK_GONE || status == REDLOCK_TAKEN) &&
        world_client_us(w, client) < k->valid_us && !w->harmed &&
        !(status == REDLOCK_TAKEN && world_claim(w, k->claim)->broken)) {
        check_violated(w, "reported", "c%u.%u: t%08x was %s while it was valid", client, worker,
                       k->claim, status == REDLOCK_GONE ? "gone" : "somebody else's");
    }
}

/* [S10, S15] */
static bool is_misconfigured(const struct world *w, unsigned client)
{
    return w->o.duplicate < SIM_NODES || w->was_copied || w->clients[client].saw_other;
}

/* A failure names a reason that is true. */
static void check_failure_is_true(struct world *w, unsigned client, unsigned worker, int status)
{
    const struct worker *k = world_worker(w, client, worker);
    const struct rlk_attempt *a = &k->lock->acquiring->attempt;

    if ((status == REDLOCK_ECANCELED && !k->cancelled) ||
        (status == REDLOCK_ECONFIG && !is_misconfigured(w, client)) ||
        (status == REDLOCK_EHELD && k->refusals == 0) ||
        (status == REDLOCK_EDEADLINE && world_client_us(w, client) < a->give_up_us) ||
        (a->tries > 1 && a->tries - 1 > a->config.max_retries)) {
        check_violated(w, "reported", "c%u.%u gets result %d after %u rounds, and it is not true",
                       client, worker, status, a->tries);
    }
}

void check_reported(struct world *w, unsigned client, unsigned worker, int status)
{
    struct worker *k = world_worker(w, client, worker);

    if (k->reported) {
        check_violated(w, "reported", "c%u.%u got two results", client, worker);
    }
    k->reported = true;
    check_in_time(w, client, worker);
    if (k->phase == WORKER_HELD) {
        check_win_is_true(w, client, worker);
        check_voters(w, client, worker);
        check_no_duplicates(w, client, worker);
        check_masters_fit(w, client, worker);
        check_fence_reported(w, client, worker);
        check_exclusion(w, client, worker);
        auditor_reported(w, client, worker);
        if (k->cancelled) {
            check_violated(w, "reported", "c%u.%u has cancelled, but is handed t%08x", client,
                           worker, k->claim);
        }
    } else if (k->lock->acquiring) {
        check_failure_is_true(w, client, worker, status);
    } else if (status >= 0) {
        check_release_is_true(w, client, worker, status);
    }
}

void check_reported_at_end(struct world *w)
{
    unsigned client, worker;

    for (client = 0; client < w->o.clients; client++) {
        for (worker = 0; worker < w->o.workers; worker++) {
            const struct worker *k = world_worker(w, client, worker);

            if (!k->reported &&
                worked_us(w, client, k) > rlk_time_add(k->limit_us, CHECK_SETTLE_US)) {
                check_violated(w, "reported", "c%u.%u got no result", client, worker);
            }
            if (k->extending && w->clients[client].alive) {
                check_violated(w, "reported", "c%u.%u got no result of an extension", client,
                               worker);
            }
        }
    }
}
