/* quarantine.c - judging a server by its run, its data, its role and its clock. */
#include "core/quarantine.h"

#include <string.h>

#include "base/time.h"
#include "core/record.h"
#include "core/validity.h"

/* Servers report ages in whole seconds, rounded up or down. */
#define AGE_GRAIN_US 1000000

/* How long a clock has to keep time until it can be relied on again. */
#define STEADY_FOR_US 1000000

void rlk_quarantine_init(struct rlk_quarantine *q, enum rlk_quarantine_policy policy,
                         uint64_t max_ttl_us, uint32_t drift_ppm)
{
    memset(q, 0, sizeof(*q));
    q->policy = policy;
    q->quarantine_us = rlk_validity_gone_us(max_ttl_us, drift_ppm);
    q->old_enough_us = rlk_time_add(q->quarantine_us, AGE_GRAIN_US);
}

/* The longest gap between inspections: over a longer one the allowed drift could hide a step. */
#define WATCH_US 2000000

static void set_end(struct rlk_quarantine *q, enum rlk_quarantine_reason reason, uint64_t until_us)
{
    unsigned i;

    q->until_us[reason] = until_us;
    q->last_us = 0;
    for (i = 0; i < RLK_QUARANTINE_REASONS; i++) {
        q->last_us = rlk_time_max(q->last_us, q->until_us[i]);
    }
}

/* A second quarantine for the same reason never ends the first one sooner. */
static void quarantine(struct rlk_quarantine *q, enum rlk_quarantine_reason reason,
                       uint64_t until_us)
{
    if (q->policy != RLK_QUARANTINE_OFF) {
        set_end(q, reason, rlk_time_max(q->until_us[reason], until_us));
    }
}

static void quarantine_from(struct rlk_quarantine *q, enum rlk_quarantine_reason reason,
                            uint64_t now_us)
{
    quarantine(q, reason, rlk_time_add(now_us, q->quarantine_us));
}

/* Whether the run changed since the last handshake. A run that is not told may be any. */
static bool is_another_run(const struct rlk_quarantine *q, const char *run)
{
    return q->met && strncmp(q->run, run, RLK_RUN_MAX) != 0;
}

static void remember_run(struct rlk_quarantine *q, const char *run)
{
    size_t len = 0;

    while (len < RLK_RUN_MAX && run[len] != '\0') {
        len++;
    }
    if (len > 0) {
        memcpy(q->run, run, len);
        q->run[len] = '\0';
    }
}

/* [S11] A client that cannot see the run would not notice a restart that lost the data. */
static void judge_run(struct rlk_quarantine *q, const char *run)
{
    set_end(q, RLK_QUARANTINED_ANONYMOUS, 0);
    if (q->policy == RLK_QUARANTINE_STRICT && run[0] == '\0') {
        quarantine(q, RLK_QUARANTINED_ANONYMOUS, RLK_NEVER);
    }
}

/* The server counts as one that we have never seen until one of its runs is known: before that it
 * could be any server. */
static void judge_age(struct rlk_quarantine *q, uint64_t age_us, uint64_t now_us)
{
    bool met = q->policy == RLK_QUARANTINE_STRICT && q->run[0] == '\0';

    if (met && age_us < q->old_enough_us) {
        quarantine(q, RLK_QUARANTINED_YOUNG, rlk_time_add(now_us, q->old_enough_us - age_us));
    }
}

/* [S11] A durable server that has its data has their mark, too. One without a mark may be empty,
 * whatever it says about its disk. One that did not replay all of its log has the mark, but maybe
 * not all locks. */
static bool keeps_data(const struct rlk_facts *facts)
{
    return facts->durable && !facts->replay_failed && (facts->birth.mark != 0 || facts->unread);
}

/* The quarantine lasts as long as the server may evict. After that, the locks that it may have
 * evicted still have to expire. */
void rlk_quarantine_set_evicts(struct rlk_quarantine *q, bool evicts, uint64_t now_us)
{
    if (q->policy == RLK_QUARANTINE_STRICT && evicts) {
        quarantine(q, RLK_QUARANTINED_EVICTS, RLK_NEVER);
    } else if (q->until_us[RLK_QUARANTINED_EVICTS] == RLK_NEVER) {
        set_end(q, RLK_QUARANTINED_EVICTS, rlk_time_add(now_us, q->quarantine_us));
    }
}

void rlk_quarantine_set_unlisted(struct rlk_quarantine *q, uint64_t until_us, bool extends_nothing)
{
    q->extends_nothing = q->policy != RLK_QUARANTINE_OFF && extends_nothing;
    if (q->policy != RLK_QUARANTINE_OFF && q->until_us[RLK_QUARANTINED_UNLISTED] != until_us) {
        set_end(q, RLK_QUARANTINED_UNLISTED, until_us);
    }
}

/* When the log is complete, it has every lock that was granted: there is nothing to wait for. */
void rlk_quarantine_set_log(struct rlk_quarantine *q, bool durable, bool lacks_log)
{
    q->durable = q->durable && durable;
    set_end(q, RLK_QUARANTINED_UNLOGGED, 0);
    if (q->policy == RLK_QUARANTINE_STRICT && lacks_log) {
        quarantine(q, RLK_QUARANTINED_UNLOGGED, RLK_NEVER);
    }
}

/* While the mark is missing, data could be lost again unnoticed. So the quarantine has no end until
 * a mark is found, or until the mark is no longer asked for, because the run is unknown and the
 * policy accepts that. From then on it lasts as long as any other. */
static void end_missing(struct rlk_quarantine *q, uint64_t now_us)
{
    if (q->until_us[RLK_QUARANTINED_LOST_DATA] == RLK_NEVER) {
        set_end(q, RLK_QUARANTINED_LOST_DATA, rlk_time_add(now_us, q->quarantine_us));
    }
}

/* A server whose handshake told no mark may have lost its data before the first mark was read. */
static bool judge_mark(struct rlk_quarantine *q, uint64_t mark, uint64_t now_us)
{
    bool first = q->mark == 0 && mark != 0 && q->met;
    bool another = q->mark_lost || first || (q->mark != 0 && mark != q->mark);

    if (another) {
        quarantine_from(q, RLK_QUARANTINED_LOST_DATA, now_us);
        q->data_replaced = q->data_replaced || q->mark_lost || !first;
    }
    q->mark_lost = mark == 0 && (q->mark_lost || q->mark != 0);
    q->mark = mark;
    q->had_mark = q->had_mark || mark != 0;
    if (q->mark_lost) {
        quarantine(q, RLK_QUARANTINED_LOST_DATA, RLK_NEVER);
    } else if (mark != 0) {
        end_missing(q, now_us);
        set_end(q, RLK_QUARANTINED_UNREAD, 0);
    }
    return another && mark != 0;
}

void rlk_quarantine_set_unread(struct rlk_quarantine *q, bool unread, uint64_t now_us)
{
    set_end(q, RLK_QUARANTINED_UNREAD, 0);
    if (unread) {
        quarantine(q, RLK_QUARANTINED_UNREAD, RLK_NEVER);
    } else {
        end_missing(q, now_us);
    }
}

/* A replica has the data of its master, now or until it was promoted: the mark that we knew says
 * nothing about them. */
static void distrust_copy(struct rlk_quarantine *q, uint64_t now_us)
{
    quarantine_from(q, RLK_QUARANTINED_LOST_DATA, now_us);
    q->mark = 0;
}

/* The server was promoted between two inspections: so it was a replica. */
static bool is_promoted_since(const struct rlk_quarantine *q, uint64_t promotion)
{
    return promotion != 0 && promotion != q->promotion;
}

bool rlk_quarantine_check_role(struct rlk_quarantine *q, bool master, uint64_t promotion,
                               uint64_t now_us)
{
    bool copies = !master || is_promoted_since(q, promotion);

    if (copies) {
        distrust_copy(q, now_us);
        q->replica = q->data_replaced = true;
    }
    return copies;
}

/* The server is a master now. If it was a replica, it mirrored its master's writes. But if it was
 * promoted in place of the run that we knew, its keys are those of that run, unless its mark
 * differs. */
static void judge_promotion(struct rlk_quarantine *q, const struct rlk_facts *facts,
                            uint64_t now_us)
{
    uint64_t mark = facts->birth.mark;
    bool another_mark = q->mark != 0 && mark != 0 && mark != q->mark;

    if (q->replica || (q->met && is_promoted_since(q, facts->promotion))) {
        q->data_replaced = q->data_replaced || another_mark || !is_another_run(q, facts->run);
        distrust_copy(q, now_us);
    }
    q->replica = false;
    q->promotion = facts->promotion;
}

/* A step before we began to watch matters until the locks of that time have expired. */
static void quarantine_for_record(struct rlk_quarantine *q, uint64_t age_us, uint64_t now_us)
{
    uint64_t until_us = rlk_time_add(now_us, rlk_time_sub(q->old_enough_us, age_us));

    quarantine(q, RLK_QUARANTINED_YOUNG,
               rlk_time_min(until_us, rlk_time_add(q->watched_since_us, q->old_enough_us)));
}

/* Note an inspection. After a longer gap the server is watched only from now on. */
static void watch_clock(struct rlk_quarantine *q, uint64_t now_us)
{
    if (now_us > rlk_time_add(q->inspected_us, WATCH_US)) {
        q->watched_since_us = now_us;
    }
    q->inspected_us = now_us;
}

/* The birth that records the step that we saw: never later than the server's clock shows now. */
static uint64_t recorded_step_us(const struct rlk_quarantine *q, const struct rlk_birth *birth)
{
    return rlk_time_min(q->step_us, birth->server_us);
}

/* A later birth under the same mark is the record of a step, and it is news unless we wrote it. It
 * may belong to a step that this inspection shows only if it is no older than the previous
 * inspection, by the server's clock as it goes now. before_us: when that inspection was. */
static void take_birth(struct rlk_quarantine *q, const struct rlk_birth *birth, uint64_t before_us,
                       uint64_t now_us)
{
    bool later = birth->mark == q->mark && q->born_us != 0 && birth->born_us > q->born_us;
    bool news = later && birth->born_us != recorded_step_us(q, birth);
    uint64_t age_us = rlk_time_sub(birth->server_us, birth->born_us);

    q->recorded_by_other = news && age_us <= rlk_time_sub(now_us, before_us);
    q->born_us = birth->born_us;
    if (news) {
        quarantine_for_record(q, age_us, now_us);
    }
}

void rlk_quarantine_check_birth(struct rlk_quarantine *q, const struct rlk_birth *birth,
                                uint64_t now_us)
{
    uint64_t before_us = q->inspected_us;

    if (birth->mark == 0) {
        return;
    }
    watch_clock(q, now_us);
    take_birth(q, birth, before_us, now_us);
    if (birth->born_us >= recorded_step_us(q, birth)) {
        q->step_us = 0;
    }
}

/* Begin to watch another run; what we saw of the one before no longer helps. If the data were kept,
 * another client may have recorded since then that they are young (a replica took the server's
 * place, or its clock stepped): then we know no more about them than a new client. */
static void watch_run(struct rlk_quarantine *q, const struct rlk_birth *birth, bool keeps_data,
                      uint64_t now_us)
{
    uint64_t before_us = q->inspected_us;

    q->watched_since_us = q->inspected_us = now_us;
    q->recorded_by_other = false;
    if (!keeps_data) {
        q->born_us = birth->born_us;
    } else if (birth->mark != 0) {
        take_birth(q, birth, before_us, now_us);
    }
    q->step_us = 0;
}

bool rlk_quarantine_take_handshake(struct rlk_quarantine *q, const struct rlk_facts *facts,
                                   uint64_t now_us)
{
    /* If the run before was not durable, it may have lost keys; that a later run is durable does
     * not help. */
    bool restarted = is_another_run(q, facts->run) && !(q->durable && keeps_data(facts));

    if (!q->met || is_another_run(q, facts->run)) {
        watch_run(q, &facts->birth, !restarted, now_us);
    } else {
        rlk_quarantine_check_birth(q, &facts->birth, now_us);
    }
    judge_run(q, facts->run);
    judge_age(q, facts->age_us, now_us);
    judge_promotion(q, facts, now_us);
    rlk_quarantine_set_evicts(q, facts->evicts, now_us);
    if (restarted) {
        quarantine_from(q, RLK_QUARANTINED_RESTARTED, now_us);
    }
    if (facts->birth.mark != 0) {
        judge_mark(q, facts->birth.mark, now_us);
    } else {
        rlk_quarantine_set_unread(q, facts->unread, now_us);
    }
    remember_run(q, facts->run);
    q->met = true;
    q->durable = facts->durable;
    rlk_quarantine_set_log(q, facts->durable, facts->lacks_log);
    return restarted;
}

bool rlk_quarantine_needs_inspection(const struct rlk_quarantine *q)
{
    return q->mark_lost || q->until_us[RLK_QUARANTINED_UNREAD] == RLK_NEVER ||
           q->until_us[RLK_QUARANTINED_UNLISTED] == RLK_NEVER ||
           q->until_us[RLK_QUARANTINED_UNLOGGED] == RLK_NEVER || rlk_quarantine_is_anonymous(q);
}

bool rlk_quarantine_is_anonymous(const struct rlk_quarantine *q)
{
    return q->until_us[RLK_QUARANTINED_ANONYMOUS] == RLK_NEVER;
}

bool rlk_quarantine_take_data_replaced(struct rlk_quarantine *q)
{
    bool data_replaced = q->data_replaced;

    q->data_replaced = false;
    return data_replaced;
}

bool rlk_quarantine_check_mark(struct rlk_quarantine *q, uint64_t mark, uint64_t now_us)
{
    return judge_mark(q, mark, now_us);
}

uint64_t rlk_quarantine_step_to_record(const struct rlk_quarantine *q, uint64_t now_us)
{
    return q->until_us[RLK_QUARANTINED_CLOCK] > now_us ? q->step_us : 0;
}

void rlk_quarantine_clock_moved(struct rlk_quarantine *q, uint64_t server_us, uint64_t now_us)
{
    quarantine_from(q, RLK_QUARANTINED_CLOCK, now_us);
    q->clock_suspect = q->policy != RLK_QUARANTINE_OFF;
    q->moved_us = now_us;
    q->step_us = q->recorded_by_other ? 0 : server_us;
}

void rlk_quarantine_clock_steady(struct rlk_quarantine *q, uint64_t now_us)
{
    if (now_us >= rlk_time_add(q->moved_us, STEADY_FOR_US)) {
        q->clock_suspect = false;
    }
}

void rlk_quarantine_clock_excused(struct rlk_quarantine *q)
{
    set_end(q, RLK_QUARANTINED_CLOCK, 0);
    q->clock_suspect = false;
    q->step_us = 0;
}

/* RLK_NEVER is never over, even at now_us == RLK_NEVER. */
static bool is_quarantine_over(uint64_t until_us, uint64_t now_us)
{
    return until_us <= now_us && until_us != RLK_NEVER;
}

/* A master that lost its data is also unlisted, for a little longer: the loss says more. */
enum rlk_quarantine_reason rlk_quarantine_reason(const struct rlk_quarantine *q, uint64_t now_us,
                                                 uint64_t *ret_until_us)
{
    unsigned longest = RLK_QUARANTINED_NOT, reason;
    uint64_t unlisted_us = q->until_us[RLK_QUARANTINED_UNLISTED];

    for (reason = RLK_QUARANTINED_NOT + 1; reason < RLK_QUARANTINED_UNLISTED; reason++) {
        if (q->until_us[reason] > q->until_us[longest] &&
            !is_quarantine_over(q->until_us[reason], now_us)) {
            longest = reason;
        }
    }
    if (longest == RLK_QUARANTINED_NOT && !is_quarantine_over(unlisted_us, now_us)) {
        longest = RLK_QUARANTINED_UNLISTED;
    }
    if (ret_until_us != NULL) {
        *ret_until_us =
            rlk_time_max(q->until_us[longest], longest == RLK_QUARANTINED_NOT ? 0 : unlisted_us);
    }
    return (enum rlk_quarantine_reason)longest;
}

bool rlk_quarantine_is_over(const struct rlk_quarantine *q, uint64_t now_us)
{
    return is_quarantine_over(q->last_us, now_us);
}

bool rlk_quarantine_ends(const struct rlk_quarantine *q, uint64_t now_us)
{
    bool in_quarantine = false;
    unsigned reason;

    for (reason = RLK_QUARANTINED_NOT + 1; reason < RLK_QUARANTINE_REASONS; reason++) {
        if (q->until_us[reason] == RLK_NEVER && reason != RLK_QUARANTINED_UNLOGGED &&
            reason != RLK_QUARANTINED_UNLISTED) {
            return false;
        }
        in_quarantine = in_quarantine || !is_quarantine_over(q->until_us[reason], now_us);
    }
    return in_quarantine;
}

bool rlk_quarantine_extends_nothing(const struct rlk_quarantine *q, uint64_t now_us)
{
    return q->extends_nothing && !is_quarantine_over(q->until_us[RLK_QUARANTINED_UNLISTED], now_us);
}

bool rlk_quarantine_may_be_restored(const struct rlk_quarantine *q, uint64_t now_us)
{
    uint64_t until_us = q->until_us[RLK_QUARANTINED_UNLISTED];

    return until_us != RLK_NEVER && now_us >= rlk_time_sub(until_us, RLK_RECORD_RESTORE_US);
}

bool rlk_quarantine_is_clock_suspect(const struct rlk_quarantine *q, uint64_t now_us)
{
    return q->clock_suspect && !is_quarantine_over(q->until_us[RLK_QUARANTINED_CLOCK], now_us);
}
