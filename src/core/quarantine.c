/* quarantine.c - judging a server by its run, its data, its role and its clock. */
#include "core/quarantine.h"

#include <string.h>

#include "base/time.h"
#include "core/validity.h"

/* Servers tell ages in whole seconds, rounded up or down. */
#define AGE_GRAIN_US 1000000

/* A clock has to keep time for so long to be relied on again. */
#define STEADY_FOR_US 1000000

void rlk_quarantine_init(struct rlk_quarantine *s, enum rlk_quarantine_policy policy,
                         uint64_t max_ttl_us, uint32_t drift_ppm)
{
    memset(s, 0, sizeof(*s));
    s->policy = policy;
    s->quarantine_us = rlk_validity_gone_us(max_ttl_us, drift_ppm);
    s->old_enough_us = rlk_time_add(s->quarantine_us, AGE_GRAIN_US);
}

/* The longest gap between inspections: over a longer one the allowed drift could hide a step. */
#define WATCH_US 2000000

/* A second quarantine for the same reason never ends the first one sooner. */
static void quarantine(struct rlk_quarantine *s, enum rlk_quarantine_reason reason,
                       uint64_t until_us)
{
    if (s->policy != RLK_QUARANTINE_OFF) {
        s->until_us[reason] = rlk_time_max(s->until_us[reason], until_us);
    }
}

static void quarantine_from(struct rlk_quarantine *s, enum rlk_quarantine_reason reason,
                            uint64_t now_us)
{
    quarantine(s, reason, rlk_time_add(now_us, s->quarantine_us));
}

/* Whether this is another run than that of the last greeting. A run that is not told may be any. */
static bool is_another_run(const struct rlk_quarantine *s, const char *run)
{
    return s->greeted && strncmp(s->run, run, RLK_RUN_MAX) != 0;
}

bool rlk_quarantine_knows(const struct rlk_quarantine *s, const char *run)
{
    return s->greeted && !is_another_run(s, run);
}

static void remember_run(struct rlk_quarantine *s, const char *run)
{
    size_t len = 0;

    while (len < RLK_RUN_MAX && run[len] != '\0') {
        len++;
    }
    if (len > 0) {
        memcpy(s->run, run, len);
        s->run[len] = '\0';
    }
}

/* The server counts as one that we have never seen until one of its runs is known: before that it
 * could be any server. */
static void judge_age(struct rlk_quarantine *s, uint64_t age_us, uint64_t now_us)
{
    if (age_us < s->old_enough_us) {
        quarantine(s, RLK_QUARANTINED_YOUNG, rlk_time_add(now_us, s->old_enough_us - age_us));
    }
}

/* [S11] A durable server that has its data has their mark, too. One without a mark may be empty,
 * whatever it says about its disk. */
static bool keeps_data(const struct rlk_facts *facts)
{
    return facts->durable && (facts->birth.mark != 0 || facts->unread);
}

/* The age of the run does not matter when it kept its data. The age of the data always does. */
static void judge_ages(struct rlk_quarantine *s, const struct rlk_facts *facts, uint64_t now_us)
{
    if (s->policy != RLK_QUARANTINE_STRICT || s->run[0] != '\0') {
        return;
    }
    if (!keeps_data(facts)) {
        judge_age(s, facts->age_us, now_us);
    }
    judge_age(s, facts->data_age_us, now_us);
}

/* The quarantine has no end while the server may evict. After that the locks that it may have
 * evicted until then still have to expire. */
void rlk_quarantine_set_evicts(struct rlk_quarantine *s, bool evicts, uint64_t now_us)
{
    if (s->policy == RLK_QUARANTINE_STRICT && evicts) {
        quarantine(s, RLK_QUARANTINED_EVICTS, RLK_NEVER);
    } else if (s->until_us[RLK_QUARANTINED_EVICTS] == RLK_NEVER) {
        s->until_us[RLK_QUARANTINED_EVICTS] = rlk_time_add(now_us, s->quarantine_us);
    }
}

/* While a mark is missing, data can be lost again and nobody sees it: so each inspection begins the
 * quarantine anew, up to and including the one that finds a new mark. A server that was greeted
 * without a mark may have lost its data before the first mark was read. */
static bool judge_mark(struct rlk_quarantine *s, uint64_t mark, uint64_t now_us)
{
    bool first = s->mark == 0 && mark != 0 && s->greeted;
    bool another = s->mark_lost || first || (s->mark != 0 && mark != s->mark);

    if (another) {
        quarantine_from(s, RLK_QUARANTINED_FORGOT, now_us);
        s->data_replaced = s->data_replaced || s->mark_lost || !first;
    }
    s->mark_lost = mark == 0 && (s->mark_lost || s->mark != 0);
    s->mark = mark;
    s->until_us[RLK_QUARANTINED_UNREAD] = 0;
    return another && mark != 0;
}

void rlk_quarantine_set_unread(struct rlk_quarantine *s, bool unread)
{
    s->until_us[RLK_QUARANTINED_UNREAD] = 0;
    if (unread) {
        quarantine(s, RLK_QUARANTINED_UNREAD, RLK_NEVER);
    }
}

/* A replica has the data of its master, now or until it was promoted: the mark that we knew says
 * nothing about them. */
static void distrust_copy(struct rlk_quarantine *s, uint64_t now_us)
{
    quarantine_from(s, RLK_QUARANTINED_FORGOT, now_us);
    s->mark = 0;
}

/* The server was promoted between two inspections: so it was a replica. */
static bool is_promoted_since(const struct rlk_quarantine *s, uint64_t promotion)
{
    return promotion != 0 && promotion != s->promotion;
}

bool rlk_quarantine_check_role(struct rlk_quarantine *s, bool master, uint64_t promotion,
                               uint64_t now_us)
{
    bool copies = !master || is_promoted_since(s, promotion);

    if (copies) {
        distrust_copy(s, now_us);
        s->replica = s->data_replaced = true;
    }
    return copies;
}

/* The server is a master now. If it was a replica, it lost and got what its master did. But if it
 * was promoted in the place of the run that we knew, its keys are those of that run, unless it has
 * another mark. */
static void judge_promotion(struct rlk_quarantine *s, const struct rlk_facts *facts,
                            uint64_t now_us)
{
    uint64_t mark = facts->birth.mark;
    bool another_mark = s->mark != 0 && mark != 0 && mark != s->mark;

    if (s->replica || (s->greeted && is_promoted_since(s, facts->promotion))) {
        s->data_replaced = s->data_replaced || another_mark || !is_another_run(s, facts->run);
        distrust_copy(s, now_us);
    }
    s->replica = false;
    s->promotion = facts->promotion;
}

/* A step before we began to watch matters until the locks of that time have expired. */
static void quarantine_for_record(struct rlk_quarantine *s, uint64_t age_us, uint64_t now_us)
{
    uint64_t until_us = rlk_time_add(now_us, rlk_time_sub(s->old_enough_us, age_us));

    quarantine(s, RLK_QUARANTINED_YOUNG,
               rlk_time_min(until_us, rlk_time_add(s->watched_since_us, s->old_enough_us)));
}

/* Note an inspection. After a longer gap the server is watched only from now on. */
static void watch(struct rlk_quarantine *s, uint64_t now_us)
{
    if (now_us > rlk_time_add(s->inspected_us, WATCH_US)) {
        s->watched_since_us = now_us;
    }
    s->inspected_us = now_us;
}

/* The birth that records the step that we saw: never later than the server's clock shows now. */
static uint64_t recorded_step_us(const struct rlk_quarantine *s, const struct rlk_birth *birth)
{
    return rlk_time_min(s->step_us, birth->server_us);
}

/* A later birth under the same mark is the record of a step, and it is news unless we wrote it.
 * It belongs to a step that this inspection shows only when it is no older than the inspection
 * before, by the server's clock as it goes now. before_us: when that inspection was. */
static void take_birth(struct rlk_quarantine *s, const struct rlk_birth *birth, uint64_t before_us,
                       uint64_t now_us)
{
    bool later = birth->mark == s->mark && s->born_us != 0 && birth->born_us > s->born_us;
    bool news = later && birth->born_us != recorded_step_us(s, birth);
    uint64_t age_us = rlk_time_sub(birth->server_us, birth->born_us);

    s->recorded_by_other = news && age_us <= rlk_time_sub(now_us, before_us);
    s->born_us = birth->born_us;
    if (news) {
        quarantine_for_record(s, age_us, now_us);
    }
}

void rlk_quarantine_check_birth(struct rlk_quarantine *s, const struct rlk_birth *birth,
                                uint64_t now_us)
{
    uint64_t before_us = s->inspected_us;

    if (birth->mark == 0) {
        return;
    }
    watch(s, now_us);
    take_birth(s, birth, before_us, now_us);
    if (birth->born_us >= recorded_step_us(s, birth)) {
        s->step_us = 0;
    }
}

/* Begin to watch another run; what we saw of the one before no longer helps. If the data were kept,
 * another client may have recorded since then that they are young (a replica took the server's
 * place, or its clock stepped): then we know no more about them than a client that is new here. */
static void watch_run(struct rlk_quarantine *s, const struct rlk_birth *birth, bool keeps_data,
                      uint64_t now_us)
{
    uint64_t before_us = s->inspected_us;

    s->watched_since_us = s->inspected_us = now_us;
    s->recorded_by_other = false;
    if (!keeps_data) {
        s->born_us = birth->born_us;
    } else if (birth->mark != 0) {
        take_birth(s, birth, before_us, now_us);
    }
    s->step_us = 0;
}

bool rlk_quarantine_greet(struct rlk_quarantine *s, const struct rlk_facts *facts, uint64_t now_us)
{
    /* If the run before was not durable, it may have lost keys; that a later run is durable does
     * not help. */
    bool restarted = is_another_run(s, facts->run) && !(s->durable && keeps_data(facts));

    if (!s->greeted || is_another_run(s, facts->run)) {
        watch_run(s, &facts->birth, !restarted, now_us);
    } else {
        rlk_quarantine_check_birth(s, &facts->birth, now_us);
    }
    judge_ages(s, facts, now_us);
    judge_promotion(s, facts, now_us);
    rlk_quarantine_set_evicts(s, facts->evicts, now_us);
    if (restarted) {
        quarantine_from(s, RLK_QUARANTINED_RESTARTED, now_us);
    }
    if (facts->birth.mark != 0) {
        judge_mark(s, facts->birth.mark, now_us);
    } else {
        rlk_quarantine_set_unread(s, facts->unread);
    }
    remember_run(s, facts->run);
    s->greeted = true;
    s->durable = facts->durable;
    return restarted;
}

bool rlk_quarantine_take_data_replaced(struct rlk_quarantine *s)
{
    bool data_replaced = s->data_replaced;

    s->data_replaced = false;
    return data_replaced;
}

bool rlk_quarantine_check_mark(struct rlk_quarantine *s, uint64_t mark, uint64_t now_us)
{
    return judge_mark(s, mark, now_us);
}

uint64_t rlk_quarantine_step_to_record(const struct rlk_quarantine *s, uint64_t now_us)
{
    return s->until_us[RLK_QUARANTINED_CLOCK] > now_us ? s->step_us : 0;
}

void rlk_quarantine_clock_moved(struct rlk_quarantine *s, uint64_t server_us, uint64_t now_us)
{
    quarantine_from(s, RLK_QUARANTINED_CLOCK, now_us);
    s->clock_suspect = s->policy != RLK_QUARANTINE_OFF;
    s->moved_us = now_us;
    s->step_us = s->recorded_by_other ? 0 : server_us;
}

void rlk_quarantine_clock_steady(struct rlk_quarantine *s, uint64_t now_us)
{
    if (now_us >= rlk_time_add(s->moved_us, STEADY_FOR_US)) {
        s->clock_suspect = false;
    }
}

void rlk_quarantine_clock_excused(struct rlk_quarantine *s)
{
    s->until_us[RLK_QUARANTINED_CLOCK] = 0;
    s->clock_suspect = false;
    s->step_us = 0;
}

/* RLK_NEVER is never over, even at now_us == RLK_NEVER. */
static bool is_over(uint64_t until_us, uint64_t now_us)
{
    return until_us <= now_us && until_us != RLK_NEVER;
}

enum rlk_quarantine_reason rlk_quarantine_reason(const struct rlk_quarantine *s, uint64_t now_us,
                                                 uint64_t *ret_until_us)
{
    unsigned longest = RLK_QUARANTINED_NOT, reason;

    for (reason = RLK_QUARANTINED_NOT + 1; reason < RLK_QUARANTINE_REASONS; reason++) {
        if (!is_over(s->until_us[reason], now_us) && s->until_us[reason] > s->until_us[longest]) {
            longest = reason;
        }
    }
    if (ret_until_us != NULL) {
        *ret_until_us = s->until_us[longest];
    }
    return (enum rlk_quarantine_reason)longest;
}

bool rlk_quarantine_is_clock_suspect(const struct rlk_quarantine *s, uint64_t now_us)
{
    return s->clock_suspect && !is_over(s->until_us[RLK_QUARANTINED_CLOCK], now_us);
}
