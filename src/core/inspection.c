/* inspection.c - what to ask a master, and what follows from each reply. */
#include "core/inspection.h"

#include <stddef.h>

#include "base/time.h"

/* Renewals begin an inspection, but not each of them: at most one in this time. */
#define AGAIN_AFTER_US 20000

/* Every 30th regular inspection also asks whether the master evicts, and whether its log is
 * complete; every second one while it does not vote for one of these reasons, or because its run
 * is unknown. */
#define STATE_PERIOD 30
#define STATE_PERIOD_WITHOUT_VOTE 2

/* The pause between two regular inspections while nobody relies on the master: so many periods, but
 * no longer than this, unless a period is. */
#define IDLE_PERIODS 5
#define IDLE_MAX_US 5000000

/* ---- questions ---- */

void rlk_inspection_begin(struct rlk_inspection *i)
{
    i->asked = i->refused = i->denies_info = false;
}

bool rlk_inspection_reads_mark(const struct rlk_quarantine *q, const struct rlk_server *server)
{
    return q->policy != RLK_QUARANTINE_OFF && server->run_id[0] != '\0';
}

bool rlk_inspection_is_free(const struct rlk_inspection *i)
{
    return !i->asked;
}

bool rlk_inspection_is_due(const struct rlk_inspection *i, uint64_t now_us)
{
    return rlk_inspection_is_free(i) && now_us >= rlk_time_add(i->sent_us, AGAIN_AFTER_US);
}

/* INFO tells more than HELLO, such as the promotion. */
static enum rlk_inspection_role role_question(const struct rlk_inspection *i,
                                              const struct rlk_server *server)
{
    if (server->role[0] != '\0' && !i->denies_info) {
        return RLK_INSPECTION_BY_INFO;
    }
    return i->tells_role ? RLK_INSPECTION_BY_HELLO : RLK_INSPECTION_NO_ROLE;
}

struct rlk_inspection_question rlk_inspection_ask(struct rlk_inspection *i,
                                                  const struct rlk_quarantine *q,
                                                  const struct rlk_server *server, uint64_t now_us)
{
    bool mark = rlk_inspection_reads_mark(q, server);

    i->asked = true;
    i->sent_us = now_us;
    return (struct rlk_inspection_question){
        .role = role_question(i, server),
        .mark = mark,
        .time = mark && i->refused,
        .keeps_data = rlk_server_keeps_data(server),
        .step_us = i->records_step ? rlk_quarantine_step_to_record(q, now_us) : 0};
}

/* [S11] As long as no vote counts and no lock is held here, we are as a client that is not
 * connected: the next round begins with an inspection. */
uint64_t rlk_inspection_pause_us(const struct rlk_quarantine *q, uint64_t period_us, bool relied_on,
                                 uint64_t now_us)
{
    bool waits = relied_on || !rlk_quarantine_is_over(q, now_us);
    uint64_t idle_us = rlk_time_min(IDLE_PERIODS * period_us, IDLE_MAX_US);

    return waits ? period_us : rlk_time_max(period_us, idle_us);
}

bool rlk_inspection_is_old(const struct rlk_inspection *i, uint64_t period_us, uint64_t now_us)
{
    return now_us >= rlk_time_add(i->sent_us, rlk_time_min(period_us, RLK_INSPECTION_OLDEST_US));
}

/* All of these may change at any time. While a master does not vote because of them we ask more
 * often, so that it votes soon after it was corrected. */
bool rlk_inspection_count(struct rlk_inspection *i, const struct rlk_quarantine *q,
                          const struct rlk_server *server, unsigned periods)
{
    bool waits = rlk_server_evicts(server) || rlk_server_may_lack_log(server) ||
                 rlk_quarantine_is_anonymous(q);
    unsigned period = waits ? STATE_PERIOD_WITHOUT_VOTE : STATE_PERIOD;

    i->regular += periods;
    return q->policy == RLK_QUARANTINE_STRICT && i->regular % period < periods;
}

bool rlk_inspection_record_step(struct rlk_inspection *i, const struct rlk_quarantine *q,
                                const struct rlk_server *server)
{
    if (i->records_step || !rlk_inspection_reads_mark(q, server)) {
        return false;
    }
    i->records_step = true;
    return true;
}

/* ---- replies ---- */

/* [S11] Whether the votes wait for the mark: the master rejects commands only for now, or it has
 * shown us a mark before. Why it no longer shows one says nothing about its data. */
static bool waits_for_mark(const struct rlk_quarantine *q, enum rlk_inspection_error error)
{
    return error == RLK_INSPECTION_NOT_NOW || (error != RLK_INSPECTION_ANSWERED && q->had_mark);
}

/* A master that has never shown us a mark votes without one, until it shows the first. */
static void on_handshake(struct rlk_inspection *i, struct rlk_quarantine *q,
                         const struct rlk_server *server, const struct rlk_inspection_event *ev,
                         struct rlk_inspection_actions *out)
{
    struct rlk_facts facts = rlk_server_facts(server, &ev->birth, waits_for_mark(q, ev->error));

    i->asked = false;
    i->refused = ev->error != RLK_INSPECTION_ANSWERED;
    out->restarted = rlk_quarantine_take_handshake(q, &facts, ev->now_us);
}

/* An error of the script says nothing about the data, so no held lock ends because of it [S7]. */
static void on_error(struct rlk_quarantine *q, const struct rlk_server *server,
                     const struct rlk_inspection_event *ev)
{
    bool waits = rlk_inspection_reads_mark(q, server) && waits_for_mark(q, ev->error);

    rlk_quarantine_set_unread(q, waits, ev->now_us);
}

static void on_reply(struct rlk_inspection *i, struct rlk_quarantine *q,
                     const struct rlk_server *server, const struct rlk_inspection_event *ev,
                     struct rlk_inspection_actions *out)
{
    i->asked = false;
    i->refused = ev->error != RLK_INSPECTION_ANSWERED;
    if (i->refused) {
        on_error(q, server, ev);
        return;
    }
    rlk_quarantine_check_birth(q, &ev->birth, ev->now_us);
    i->records_step = i->records_step && rlk_quarantine_step_to_record(q, ev->now_us) != 0;
    if (ev->birth.mark != 0 && rlk_quarantine_check_mark(q, ev->birth.mark, ev->now_us)) {
        out->reconnect = RLK_RECONNECT_DATA_REPLACED;
    }
}

/* Under every policy a replica has no vote, nor has a master that was a replica since the
 * handshake. */
static void judge_role(struct rlk_quarantine *q, enum rlk_unfit unfit, uint64_t promotion,
                       uint64_t now_us, struct rlk_inspection_actions *out)
{
    if (rlk_quarantine_check_role(q, unfit == RLK_UNFIT_NOT, promotion, now_us)) {
        out->quarantined = true;
        out->reconnect = unfit == RLK_UNFIT_NOT ? RLK_RECONNECT_REPLICA : RLK_RECONNECT_UNFIT;
        out->unfit = unfit;
    }
}

/* A role that could not be read changes nothing. */
static void on_info(struct rlk_inspection *i, struct rlk_quarantine *q,
                    const struct rlk_server *server, const struct rlk_inspection_event *ev,
                    struct rlk_inspection_actions *out)
{
    i->denies_info = ev->error == RLK_INSPECTION_DENIED;
    judge_role(q, rlk_server_unfit(server->role, server->mode), server->promotion, ev->now_us, out);
}

/* A run that is told only now may be one that lost its data. Only a handshake can judge that, with
 * all that the master tells. */
static void on_state(struct rlk_quarantine *q, const struct rlk_server *server, uint64_t now_us,
                     struct rlk_inspection_actions *out)
{
    rlk_quarantine_set_evicts(q, rlk_server_evicts(server), now_us);
    rlk_quarantine_set_log(q, rlk_server_is_durable(server), rlk_server_may_lack_log(server));
    if (rlk_quarantine_is_anonymous(q) && server->run_id[0] != '\0') {
        out->reconnect = RLK_RECONNECT_NAMED;
    }
}

static void dispatch(struct rlk_inspection *i, struct rlk_quarantine *q,
                     const struct rlk_server *server, const struct rlk_inspection_event *ev,
                     struct rlk_inspection_actions *out)
{
    switch (ev->kind) {
    case RLK_INSPECTION_HANDSHAKE:
        i->read_us = i->sent_us;
        on_handshake(i, q, server, ev, out);
        break;
    case RLK_INSPECTION_TIME:
        i->read_us = i->sent_us;
        break;
    case RLK_INSPECTION_REPLY:
        i->read_us = i->sent_us;
        on_reply(i, q, server, ev, out);
        break;
    case RLK_INSPECTION_BROKEN:
        i->asked = false;
        break;
    case RLK_INSPECTION_INFO:
        on_info(i, q, server, ev, out);
        break;
    case RLK_INSPECTION_ROLE:
        judge_role(q, ev->unfit, 0, ev->now_us, out);
        break;
    case RLK_INSPECTION_STATE:
        on_state(q, server, ev->now_us, out);
        break;
    case RLK_INSPECTION_MARK_MISSED:
        rlk_quarantine_check_mark(q, 0, ev->now_us);
        break;
    }
}

/* [S11] When a quarantine begins, earlier votes of this master that were not reported to a user are
 * retracted. So are those of an earlier connection, which may be of another run. When the data were
 * replaced, the key of a held lock has to be confirmed again [S7]. */
void rlk_inspection_step(struct rlk_inspection *i, struct rlk_quarantine *q,
                         const struct rlk_server *server, const struct rlk_inspection_event *ev,
                         struct rlk_inspection_actions *out)
{
    bool voted = ev->kind == RLK_INSPECTION_HANDSHAKE || rlk_quarantine_is_over(q, ev->now_us);

    *out = (struct rlk_inspection_actions){.quarantined = false};
    dispatch(i, q, server, ev, out);
    out->quarantined =
        out->quarantined || (voted && !rlk_quarantine_is_over(q, ev->now_us)) || q->data_replaced;
}

/* ---- blind spots ---- */

enum rlk_blind_spot rlk_inspection_blind_spot(const struct rlk_inspection *i,
                                              const struct rlk_quarantine *q,
                                              const struct rlk_server *server)
{
    if (q->policy == RLK_QUARANTINE_OFF) {
        return RLK_BLIND_TO_NOTHING;
    }
    if (server->run_id[0] == '\0') {
        return i->tells_role ? RLK_BLIND_TO_RESTART : RLK_BLIND_TO_RESTART_AND_ROLE;
    }
    return i->refused && !q->had_mark ? RLK_BLIND_TO_DATA : RLK_BLIND_TO_NOTHING;
}
