/* set_all.c - extends a lock until every master that is up has its key.
 *
 * An extension also asks the masters that the acquire did not reach. When it has succeeded, the
 * library sets the key on masters that do not have it, but never replaces the key of somebody else.
 */
#include "cli/take/set_all.h"

#include <stdbool.h>

#include <redlock/redlock.h>

#include "cli/say/exit.h"
#include "cli/session/session.h"
#include "cli/system/clock.h"
#include "cli/system/signals.h"

/* When a master does not have the key after this time, it is asked again; each pause is twice as
 * long as the one before. */
#define FIRST_PAUSE_US 2000

/* The least time to wait for masters that are being connected. */
#define SETTLE_US 100000

/* No wait is longer than this fraction of the ttl. */
#define TTL_PARTS 10

struct job {
    const struct redlock *rl;
    struct redlock_lock *lock;
    uint64_t up_until_us;     /* when the wait for masters that are up ends */
    uint64_t others_until_us; /* when the wait for masters that are being connected, or have an
                                 error, ends */
    uint64_t next_us;         /* when masters without the key are asked again */
    uint64_t pause_us;
    bool extending;
    int signo;
};

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static bool has_key(const struct redlock_node_detail *detail)
{
    return detail->vote == REDLOCK_VOTE_YES || detail->vote == REDLOCK_VOTE_QUARANTINED;
}

/* Until when to wait for a master; 0: do not wait. A master with an error, or with the key of
 * somebody else, may never have our key. */
static uint64_t wait_until_us(const struct job *job, size_t index, bool *ret_up)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    struct redlock_node_detail detail = {.size = sizeof(detail)};

    *ret_up = false;
    if (redlock_get_node_info(job->rl, index, &info) != 0 ||
        redlock_lock_node(job->lock, index, &detail) != 0 || has_key(&detail)) {
        return 0;
    }
    *ret_up = info.state == REDLOCK_NODE_UP;
    if (*ret_up && !info.error[0] && !detail.holder[0]) {
        return job->up_until_us;
    }
    return *ret_up || info.state == REDLOCK_NODE_CONNECTING ? job->others_until_us : 0;
}

/* Whether to wait for some master; *ret_ask: one of these can be asked now. */
static bool is_waiting(const struct job *job, uint64_t now_us, bool *ret_ask)
{
    bool waiting = false;
    bool up;
    size_t i;

    *ret_ask = false;
    for (i = 0; i < redlock_node_count(job->rl); i++) {
        if (now_us < wait_until_us(job, i, &up)) {
            waiting = true;
            *ret_ask |= up;
        }
    }
    return waiting;
}

static void on_extended(struct redlock_lock *lock, int status, void *arg)
{
    struct job *job = arg;

    (void)lock;
    (void)status;
    job->extending = false;
}

static bool is_set_all_over(void *arg)
{
    struct job *job = arg;
    uint64_t now_us = cli_clock_us();
    bool ask;

    if (job->extending) {
        return false;
    }
    if (job->signo || redlock_lock_validity_ms(job->lock) == 0 || !is_waiting(job, now_us, &ask)) {
        return true;
    }
    if (ask && now_us >= job->next_us) {
        job->extending = redlock_extend(job->lock, 0, on_extended, job) == 0;
        job->next_us = now_us + job->pause_us;
        job->pause_us *= 2;
    }
    return false;
}

static void on_set_all_signal(void *arg, int signo)
{
    struct job *job = arg;

    if (cli_signals_ends(signo)) {
        job->signo = signo;
    }
}

static void plan(struct job *job, const struct cli_session *session, uint32_t ttl_ms)
{
    uint64_t now_us = cli_clock_us();
    uint64_t up_us =
        smaller(session->node_timeout_ms * UINT64_C(1000), ttl_ms * UINT64_C(1000) / TTL_PARTS);
    uint64_t took_us;

    redlock_lock_effort(job->lock, NULL, &took_us);
    took_us = took_us > SETTLE_US ? took_us : SETTLE_US;
    job->up_until_us = now_us + up_us;
    job->others_until_us = now_us + smaller(up_us, took_us);
    job->pause_us = FIRST_PAUSE_US;
    job->next_us = now_us + job->pause_us;
}

int cli_set_all(struct cli_session *session, struct redlock_lock *lock, uint32_t ttl_ms,
                struct cli_signals *signals)
{
    struct job job = {.rl = session->rl, .lock = lock};
    int code;

    plan(&job, session, ttl_ms);
    if (signals) {
        signals->on = on_set_all_signal;
        signals->arg = &job;
    }
    code = cli_loop_watch(&session->loop, is_set_all_over, &job);
    if (signals) {
        signals->on = NULL;
    }
    return code == CLI_GO_ON && job.signo ? CLI_SIGNALED + job.signo : code;
}
