/* diagnosis_set.c - what is wrong with all masters together: their number, votes and clocks. */
#include "doctor/diagnosis.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/time.h"

/* Clocks that NTP keeps differ by less. */
#define APART_US 1000000

static bool will_vote(const struct redlock_examined *x)
{
    return x->verdict < REDLOCK_NO_VOTE || (x->verdict == REDLOCK_NO_VOTE &&
                                            (x->quarantine_ms != UINT64_MAX || x->quarantine_ends));
}

static void count_votes(struct redlock_report *r, const struct rlk_diagnosis_record *record)
{
    size_t i;

    r->quorum = r->n_nodes / 2 + 1;
    if (record->quorum_now > 0 && record->quorum_now < r->quorum) {
        r->quorum = record->quorum_now;
    }
    r->voting = r->usable = 0;
    for (i = 0; i < r->n_nodes; i++) {
        r->voting += r->nodes[i]->verdict < REDLOCK_NO_VOTE;
        r->usable += will_vote(r->nodes[i]);
    }
}

/* The time until a majority votes; UINT64_MAX: unknown. A majority must be usable. */
static uint64_t ms_until_majority(const struct redlock_report *r)
{
    uint64_t sorted[REDLOCK_MAX_NODES];
    size_t i, at, n = 0;

    for (i = 0; i < r->n_nodes; i++) {
        if (will_vote(r->nodes[i])) {
            uint64_t ms = r->nodes[i]->quarantine_ms;

            for (at = n++; at > 0 && sorted[at - 1] > ms; at--) {
                sorted[at] = sorted[at - 1];
            }
            sorted[at] = ms;
        }
    }
    return sorted[r->quorum - 1];
}

/* The end of most quarantines is known; the time that a master needs to load its data, or to
 * rewrite its log, is not. */
static void note_not_yet(const struct redlock_report *r, struct rlk_notes *notes)
{
    uint64_t ms = ms_until_majority(r), s = ms / 1000 + (ms % 1000 > 0);
    char when[48] = "yet";

    if (s > 0 && ms != UINT64_MAX) {
        snprintf(when, sizeof(when), "for another %" PRIu64 " s", s);
    }
    rlk_note(notes, REDLOCK_FOUND_NOT_YET,
             "No lock can be acquired %s: %zu of %zu masters vote, %zu are needed", when, r->voting,
             r->n_nodes, r->quorum);
}

static void judge_majority(const struct redlock_report *r, struct rlk_notes *notes)
{
    if (r->usable < r->quorum) {
        rlk_note(notes, REDLOCK_FOUND_NO_MAJORITY,
                 "No lock can be acquired: %zu of %zu masters are usable, %zu are needed",
                 r->usable, r->n_nodes, r->quorum);
    } else if (r->voting < r->quorum) {
        note_not_yet(r, notes);
    } else if (r->usable == r->quorum && r->n_nodes > 2) {
        rlk_note(notes, REDLOCK_FOUND_NO_SPARE,
                 "No other master may fail: %zu of %zu are usable, and all of these are needed",
                 r->usable, r->n_nodes);
    }
}

static void judge_number(const struct redlock_report *r, struct rlk_notes *notes)
{
    if (r->n_nodes <= 2) {
        rlk_note(notes, REDLOCK_FOUND_FEW, "With %zu master%s, none may fail", r->n_nodes,
                 r->n_nodes == 1 ? "" : "s");
    } else if (r->n_nodes % 2 == 0) {
        rlk_note(notes, REDLOCK_FOUND_EVEN, "%zu masters tolerate no more failures than %zu",
                 r->n_nodes, r->n_nodes - 1);
    }
}

static bool knows_clock(const struct redlock_examined *x)
{
    return x->clock_error_us != UINT64_MAX;
}

static uint64_t absolute(int64_t offset)
{
    return offset < 0 ? -(uint64_t)offset : (uint64_t)offset;
}

static void judge_clocks(const struct redlock_report *r, struct rlk_notes *notes)
{
    const struct redlock_examined *first = NULL, *last = NULL;
    uint64_t apart_us, error_us;
    size_t i;

    for (i = 0; i < r->n_nodes; i++) {
        const struct redlock_examined *x = r->nodes[i];

        if (knows_clock(x)) {
            first = first && first->clock_us <= x->clock_us ? first : x;
            last = last && last->clock_us >= x->clock_us ? last : x;
        }
    }
    if (first == NULL) {
        return;
    }
    apart_us = (uint64_t)last->clock_us - (uint64_t)first->clock_us;
    error_us = rlk_time_add(first->clock_error_us, last->clock_error_us);
    if (apart_us > rlk_time_add(APART_US, error_us)) {
        rlk_note(notes, REDLOCK_FOUND_CLOCKS,
                 "The clocks of the masters are %" PRIu64 ".%" PRIu64
                 " s apart: %s is ahead, %s is behind",
                 apart_us / 1000000, apart_us / 100000 % 10, last->name, first->name);
    }
}

static void judge_own_clock(const struct redlock_report *r, struct rlk_notes *notes)
{
    uint64_t apart_us = absolute(r->clock_us);

    if (r->clock_error_us != UINT64_MAX && apart_us > rlk_time_add(APART_US, r->clock_error_us)) {
        rlk_note(notes, REDLOCK_FOUND_OWN_CLOCK,
                 "The clock of this machine is %" PRIu64 ".%" PRIu64 " s %s that of the masters",
                 apart_us / 1000000, apart_us / 100000 % 10,
                 r->clock_us > 0 ? "ahead of" : "behind");
    }
}

static void judge_policies(const struct redlock_report *r, struct rlk_notes *notes)
{
    size_t i, same = 0;

    for (i = 0; i < r->n_nodes; i++) {
        same += r->nodes[i]->policy == r->nodes[0]->policy;
    }
    if (same < r->n_nodes) {
        rlk_note(notes, REDLOCK_FOUND_POLICIES,
                 "The quarantine policy is not the same for all masters");
    }
}

/* [M6] A master that cannot show it has a finding of its own. */
static void judge_record(const struct rlk_diagnosis_record *r, struct rlk_notes *notes)
{
    const struct redlock_record_info *info = &r->info;

    if (info->state == REDLOCK_RECORD_OTHER) {
        rlk_note(notes, REDLOCK_FOUND_RECORD,
                 "No lock can be acquired: %s. On record (max-ttl %u ms): %s. Given here (max-ttl "
                 "%u ms): %s",
                 info->error, info->max_ttl_ms, r->on_record, r->max_ttl_ms, r->here);
    } else if (info->epoch > 0 && info->shown_by < info->readable) {
        rlk_note_as(notes, REDLOCK_FOUND_RECORD, REDLOCK_WARNING,
                    "Start a client: it writes the record where it is missing.",
                    "The record of the masters is on %zu of the %zu that can show it: a client "
                    "that reaches only the others does not see it",
                    info->shown_by, info->readable);
    }
}

static bool has_duplicates(const struct redlock_report *r)
{
    size_t i;

    for (i = 0; i < r->n_findings; i++) {
        if (r->findings[i]->kind == REDLOCK_FOUND_DUPLICATE) {
            return true;
        }
    }
    return false;
}

void rlk_diagnose_set(struct redlock_report *report, const struct rlk_diagnosis_record *record,
                      struct rlk_notes *notes)
{
    rlk_notes_begin(notes, -1);
    count_votes(report, record);
    if (has_duplicates(report)) {
        rlk_note(notes, REDLOCK_FOUND_SAME_SERVERS,
                 "No lock can be acquired as long as a server is listed twice");
    } else if (record->info.state != REDLOCK_RECORD_OTHER) {
        judge_majority(report, notes);
    }
    judge_record(record, notes);
    judge_number(report, notes);
    judge_clocks(report, notes);
    judge_own_clock(report, notes);
    judge_policies(report, notes);
}
