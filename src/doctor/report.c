/* report.c - from the checkups of all masters to the report of the public API. */
#include "doctor/report.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <redlock/error.h>
#include <redlock/record.h>

#include "base/alloc.h"
#include "base/mask.h"
#include "base/time.h"
#include "core/validity.h"
#include "doctor/diagnosis.h"
#include "doctor/rights.h"
#include "lock/manager.h"
#include "net/clock.h"

/* A limit for the offset of a clock, so that sums and differences cannot overflow: 36,000 years. */
#define OFFSET_MAX_US (UINT64_C(1) << 60)

int rlk_report_init(struct rlk_report *r, size_t n_nodes)
{
    size_t i;

    *r = (struct rlk_report){.public = {.size = sizeof(r->public)}, .n = (unsigned)n_nodes};
    r->nodes = rlk_alloc(n_nodes * sizeof(*r->nodes));
    r->node_list = rlk_alloc(n_nodes * sizeof(*r->node_list));
    r->findings = rlk_alloc((n_nodes + 1) * RLK_NOTES_MAX * sizeof(*r->findings));
    r->parts = rlk_alloc(n_nodes * sizeof(*r->parts));
    if (r->nodes == NULL || r->node_list == NULL || r->findings == NULL || r->parts == NULL) {
        rlk_report_end(r);
        return REDLOCK_ENOMEM;
    }
    for (i = 0; i < n_nodes; i++) {
        rlk_checkup_init(&r->parts[i].checkup);
    }
    r->public.nodes = r->node_list;
    r->public.findings = r->findings;
    return 0;
}

void rlk_report_end(struct rlk_report *r)
{
    rlk_free(r->nodes);
    rlk_free(r->node_list);
    rlk_free(r->findings);
    rlk_free(r->parts);
}

/* ---- each master ---- */

/* Why the master did not reply, or does not vote. */
static void explain_trouble(struct rlk_report_node *part, const struct rlk_node *n,
                            const char *error)
{
    if (part->trouble.kind == RLK_TROUBLE_NONE) {
        part->trouble = rlk_node_trouble(n, rlk_clock_us());
        snprintf(part->error, sizeof(part->error), "%s", error);
    } else {
        rlk_trouble_write(&part->trouble, part->error, sizeof(part->error));
    }
}

/* By the version of Redis. Other products do not say by their version what they know. */
static bool is_redis_below(const struct redlock_examined *x, char major)
{
    return strcmp(x->product, "redis") == 0 && x->version[0] >= '1' && x->version[0] < major &&
           x->version[1] == '.';
}

static bool knows_selectors(const struct redlock_examined *x)
{
    return strcmp(x->product, "valkey") == 0 ||
           (strcmp(x->product, "redis") == 0 && x->version[0] && !is_redis_below(x, '7'));
}

/* Redis before 6.0 has no ACLs, and before 7.0 no selectors. */
static void write_acl(struct rlk_report_node *part, const struct redlock *rl, unsigned node,
                      struct redlock_examined *x)
{
    static const char *const natives[] = {
        [RLK_NATIVE_NONE] = "", [RLK_NATIVE_DELEX] = " +delex", [RLK_NATIVE_DELIFEQ] = " +delifeq"};
    struct rlk_rights_user user = {.name = x->user,
                                   .key_prefix = rl->options.key_prefix,
                                   .database = x->database,
                                   .channels = !x->no_channels,
                                   .selectors = knows_selectors(x),
                                   .audit = rlk_options_audit(&rl->options) != NULL,
                                   .native = natives[rl->nodes[node].native]};

    if (x->answered && !is_redis_below(x, '6') &&
        !rlk_diagnose_missing_prefix(x, user.key_prefix)) {
        rlk_rights_write(&user, part->acl, sizeof(part->acl));
    }
    x->acl = part->acl;
}

static void describe_node(struct rlk_report *r, struct redlock *rl, unsigned node)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    struct rlk_report_node *part = &r->parts[node];
    struct redlock_examined *x = &r->nodes[node];

    redlock_get_node_info(rl, rlk_options_number(&rl->options, node), &info);
    explain_trouble(part, &rl->nodes[node], info.error);
    *x = (struct redlock_examined){.size = sizeof(*x),
                                   .name = info.name,
                                   .state = info.state,
                                   .error = part->error,
                                   .quarantine_ms = info.quarantine_ms,
                                   .tls = info.tls,
                                   .addresses = rl->nodes[node].several,
                                   .quarantine_ends = info.quarantine_ends,
                                   .record_denied = (rl->record.denied & rlk_mask_bit(node)) != 0};
    x->policy = (enum redlock_quarantine)rlk_options_quarantine_policy(&rl->options, node);
    rlk_checkup_write(&part->checkup, x);
    write_acl(part, rl, node, x);
}

/* ---- the clocks ---- */

static void compare_clocks(struct rlk_report *r, const struct redlock *rl)
{
    unsigned n = r->n, i;
    uint64_t by_us, nodes;

    r->voters = (struct rlk_voters){rlk_mask_all(n), n};
    rlk_clocks_init(&r->clocks, n, &r->voters, rl->options.drift_ppm,
                    rlk_time_from_ms(rl->options.max_ttl_ms));
    for (i = 0; i < n; i++) {
        if (r->parts[i].checkup.time.received_us) {
            rlk_clocks_sample(&r->clocks, i, &r->parts[i].checkup.time, &by_us, &nodes);
        }
    }
    for (i = 0; i < n; i++) {
        if (!rlk_clocks_offset(&r->clocks, i, &r->nodes[i].clock_us, &r->nodes[i].clock_error_us)) {
            r->nodes[i].clock_error_us = UINT64_MAX;
        }
    }
}

/* How far a master's clock is ahead of our wall clock, which is our boot clock + wall_us. */
static int64_t ahead_of_us(const struct rlk_clock_sample *s, uint64_t wall_us)
{
    uint64_t trip_us = s->received_us - s->sent_us;
    uint64_t ours_us = s->sent_us + trip_us / 2 + wall_us;

    return s->server_us > ours_us ? (int64_t)rlk_time_min(s->server_us - ours_us, OFFSET_MAX_US)
                                  : -(int64_t)rlk_time_min(ours_us - s->server_us, OFFSET_MAX_US);
}

static void insert_sorted(int64_t *sorted, unsigned n, int64_t value)
{
    for (; n > 0 && sorted[n - 1] > value; n--) {
        sorted[n] = sorted[n - 1];
    }
    sorted[n] = value;
}

static void compare_own_clock(struct rlk_report *r)
{
    uint64_t wall_us = rlk_time_sub(rlk_clock_wall_us(), rlk_clock_us()), error_us = 0;
    int64_t sorted[REDLOCK_MAX_NODES];
    unsigned i, n = 0;

    for (i = 0; i < r->n; i++) {
        const struct rlk_clock_sample *s = &r->parts[i].checkup.time;

        if (s->received_us) {
            insert_sorted(sorted, n++, ahead_of_us(s, wall_us));
            error_us = rlk_time_max(error_us, s->received_us - s->sent_us);
        }
    }
    r->public.clock_us = n ? -(sorted[(n - 1) / 2] / 2 + sorted[n / 2] / 2) : 0;
    r->public.clock_error_us = n ? error_us : UINT64_MAX;
}

/* ---- the record ---- */

/* As much as there is room for. */
static void append_name(char *list, size_t size, const char *name)
{
    size_t used = strlen(list);

    snprintf(list + used, size - used, "%s%s", used ? ", " : "", name);
}

static void describe_record(struct rlk_report *r, const struct redlock *rl)
{
    struct redlock_record_master m = {.size = sizeof(m)};
    size_t i;

    r->on_record[0] = r->here[0] = '\0';
    r->record = (struct rlk_diagnosis_record){.info.size = sizeof(r->record.info),
                                              .max_ttl_ms = rl->options.max_ttl_ms,
                                              .quorum_now = rlk_voters_quorum(&rl->voters),
                                              .on_record = r->on_record,
                                              .here = r->here};
    redlock_get_record(rl, &r->record.info);
    for (i = 0; redlock_get_record_master(rl, i, &m) == 0; i++) {
        if (m.until_epoch == 0) {
            append_name(r->on_record, sizeof(r->on_record), m.address);
        }
    }
    for (i = 0; i < r->public.n_nodes; i++) {
        append_name(r->here, sizeof(r->here), r->public.nodes[i]->name);
    }
}

/* ---- the verdicts ---- */

static void collect_notes(struct rlk_report *r, const struct rlk_notes *notes)
{
    size_t i;

    for (i = 0; i < notes->n; i++) {
        r->findings[r->public.n_findings++] = &notes->finding[i];
    }
    if (notes->worst > r->public.verdict) {
        r->public.verdict = notes->worst;
    }
}

static void judge_all(struct rlk_report *r, const struct redlock *rl)
{
    const struct rlk_diagnosis_context context = {.key_prefix = rl->options.key_prefix,
                                                  .node_timeout_us = rl->options.node_timeout_us,
                                                  .record_differs =
                                                      r->record.info.state == REDLOCK_RECORD_OTHER};
    uint64_t left = r->seen;
    unsigned i;
    int number = 0;

    RLK_MASK_EACH (i, left) {
        struct rlk_notes *notes = &r->parts[i].notes;

        rlk_diagnose_node(&r->nodes[i], &r->parts[i].trouble, number++, &context, notes);
        r->nodes[i].verdict = notes->worst;
        collect_notes(r, notes);
    }
    rlk_diagnose_set(&r->public, &r->record, &r->notes);
    collect_notes(r, &r->notes);
}

static int status_of(const struct rlk_report *r)
{
    size_t i;

    for (i = 0; i < r->notes.n; i++) {
        if (r->notes.finding[i].kind == REDLOCK_FOUND_SAME_SERVERS) {
            return REDLOCK_ECONFIG;
        }
    }
    if (r->record.info.state == REDLOCK_RECORD_OTHER) {
        return REDLOCK_ECONFIG;
    }
    return r->public.usable >= r->public.quorum ? 0 : REDLOCK_ENOQUORUM;
}

int rlk_report_make(struct rlk_report *r, struct redlock *rl)
{
    uint64_t left;
    unsigned i;

    r->seen = rlk_options_seen(&rl->options) & rlk_mask_all(r->n);
    r->public.n_nodes = 0;
    for (left = r->seen; left; left &= left - 1) {
        i = (unsigned)__builtin_ctzll(left);
        describe_node(r, rl, i);
        r->node_list[r->public.n_nodes++] = &r->nodes[i];
    }
    compare_clocks(r, rl);
    compare_own_clock(r);
    describe_record(r, rl);
    judge_all(r, rl);
    return status_of(r);
}
