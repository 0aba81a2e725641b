/* test_inspection.c - what a connected master is asked, and what its replies and errors mean
 * [S7, S11]. */
#include <stdbool.h>
#include <string.h>

#include "base/time.h"
#include "core/inspection.h"
#include "lib/test.h"

SUITE("inspection");

#define S UINT64_C(1000000)
#define NOW (1000 * S)
#define TTL (10 * S)
#define MARK 77

static struct rlk_inspection inspection;
static struct rlk_quarantine quarantine;
static struct rlk_server server;
static struct rlk_inspection_actions out;

static void step(enum rlk_inspection_event_kind kind, enum rlk_inspection_error error,
                 uint64_t mark)
{
    struct rlk_inspection_event ev = {.kind = kind, .now_us = NOW, .error = error};

    if (error == RLK_INSPECTION_ANSWERED) {
        ev.birth = (struct rlk_birth){.mark = mark, .born_us = NOW, .server_us = NOW + 86400 * S};
    }
    rlk_inspection_step(&inspection, &quarantine, &server, &ev, &out);
}

/* A master that tells its role, has been up for a day, and is not greeted yet. */
static void set_up(enum rlk_quarantine_policy policy)
{
    memset(&inspection, 0, sizeof(inspection));
    rlk_quarantine_init(&quarantine, policy, TTL, 10000);
    rlk_server_init(&server);
    strcpy(server.role, "master");
    strcpy(server.run_id, "abc");
    rlk_inspection_begin(&inspection);
}

/* The same master, greeted: its votes count. */
static void set_up_known(enum rlk_quarantine_policy policy)
{
    set_up(policy);
    step(RLK_INSPECTION_HANDSHAKE, RLK_INSPECTION_ANSWERED, MARK);
}

static bool votes(void)
{
    return rlk_quarantine_reason(&quarantine, NOW, NULL) == RLK_QUARANTINED_NOT;
}

static enum rlk_quarantine_reason reason(void)
{
    return rlk_quarantine_reason(&quarantine, NOW, NULL);
}

/* ---- questions ---- */

CASE("questions");

/* The bits of _i: INFO tells the role, INFO is denied since, HELLO tells the role. */
TEST_LOOP(the_role_is_asked_by_the_command_that_tells_it, 0, 8)
{
    bool by_info = _i & 1, denies_info = _i & 2, hello = _i & 4;
    enum rlk_inspection_role expected = by_info && !denies_info ? RLK_INSPECTION_BY_INFO
                                        : hello                 ? RLK_INSPECTION_BY_HELLO
                                                                : RLK_INSPECTION_NO_ROLE;

    set_up_known(RLK_QUARANTINE_STRICT);
    if (!by_info) {
        server.role[0] = '\0';
    }
    inspection.tells_role = hello;
    step(RLK_INSPECTION_INFO, denies_info ? RLK_INSPECTION_DENIED : RLK_INSPECTION_ANSWERED, 0);
    ck_assert_int_eq(rlk_inspection_ask(&inspection, &quarantine, &server, NOW).role, expected);
}

/* By _i: the policy, whether the run is known, whether the script was denied. After a denial
 * the master is asked for TIME as well. */
TEST_LOOP(the_mark_is_asked_for_whatever_was_denied, 0, 12)
{
    bool run = _i & 1, denied = _i & 2;
    enum rlk_quarantine_policy policy = (enum rlk_quarantine_policy)(_i / 4);
    bool expected = policy != RLK_QUARANTINE_OFF && run;
    struct rlk_inspection_question q;

    set_up(policy);
    if (!run) {
        server.run_id[0] = '\0';
    }
    step(RLK_INSPECTION_HANDSHAKE, denied ? RLK_INSPECTION_DENIED : RLK_INSPECTION_ANSWERED, 0);
    ck_assert_int_eq(rlk_inspection_reads_mark(&quarantine, &server), expected);
    q = rlk_inspection_ask(&inspection, &quarantine, &server, NOW);
    ck_assert_int_eq(q.mark, expected);
    ck_assert_int_eq(q.time, expected && denied);
    step(RLK_INSPECTION_REPLY, RLK_INSPECTION_ANSWERED, expected ? MARK : 0);
    ck_assert(!rlk_inspection_ask(&inspection, &quarantine, &server, NOW).time);
}

/* We still wait for the reply to the script, and the time says nothing about the votes. */
TEST(the_time_that_is_asked_for_besides_is_not_the_reply)
{
    set_up_known(RLK_QUARANTINE_STRICT);
    step(RLK_INSPECTION_REPLY, RLK_INSPECTION_DENIED, 0);
    rlk_inspection_ask(&inspection, &quarantine, &server, NOW + 1);
    step(RLK_INSPECTION_TIME, RLK_INSPECTION_ANSWERED, 0);
    ck_assert_uint_eq(inspection.read_us, NOW + 1);
    ck_assert(!rlk_inspection_is_free(&inspection));
    ck_assert_int_eq(reason(), RLK_QUARANTINED_UNREAD);
}

TEST_LOOP(there_is_one_inspection_at_a_time_and_not_too_often, 0, 6)
{
    static const enum rlk_inspection_event_kind ends[] = {
        RLK_INSPECTION_HANDSHAKE, RLK_INSPECTION_REPLY, RLK_INSPECTION_BROKEN};

    set_up_known(RLK_QUARANTINE_STRICT);
    ck_assert(rlk_inspection_is_free(&inspection) && rlk_inspection_is_due(&inspection, NOW));
    rlk_inspection_ask(&inspection, &quarantine, &server, NOW);
    ck_assert(!rlk_inspection_is_free(&inspection) && !rlk_inspection_is_due(&inspection, NOW + S));
    step(ends[_i / 2], _i % 2 ? RLK_INSPECTION_NOT_NOW : RLK_INSPECTION_ANSWERED, MARK);
    ck_assert(rlk_inspection_is_free(&inspection));
    ck_assert(!rlk_inspection_is_due(&inspection, NOW + 19999) &&
              rlk_inspection_is_due(&inspection, NOW + 20000));
}

TEST(a_new_connection_has_nothing_outstanding_and_nothing_denied)
{
    set_up(RLK_QUARANTINE_STRICT);
    inspection.asked = inspection.refused = inspection.denies_info = inspection.records_step = true;
    rlk_inspection_begin(&inspection);
    ck_assert(!inspection.asked && !inspection.refused && !inspection.denies_info);
    ck_assert(inspection.records_step); /* a new connection puts no step on record */
}

/* By _i: the policy, and whether the master evicts. */
TEST_LOOP(whether_it_evicts_is_asked_more_often_while_it_does, 0, 6)
{
    enum rlk_quarantine_policy policy = (enum rlk_quarantine_policy)(_i / 2);
    unsigned i, asked = 0, turn = _i % 2 ? 2 : 30;

    set_up_known(policy);
    server.maxmemory = 1;
    strcpy(server.policy, _i % 2 ? "allkeys-lru" : "noeviction");
    for (i = 1; i <= 60; i++) {
        bool ask = rlk_inspection_count(&inspection, &quarantine, &server, 1);

        ck_assert(!ask || i % turn == 0);
        asked += ask;
    }
    ck_assert_uint_eq(asked, policy == RLK_QUARANTINE_STRICT ? 60 / turn : 0);
}

/* [S11] By _i: whether we rely on the master, and whether its votes count. */
TEST_LOOP(a_master_that_votes_and_that_nobody_relies_on_is_inspected_less_often, 0, 4)
{
    bool relied_on = _i & 1, counts = _i & 2;

    set_up_known(RLK_QUARANTINE_STRICT);
    if (!counts) {
        step(RLK_INSPECTION_MARK_MISSED, RLK_INSPECTION_ANSWERED, 0);
    }
    ck_assert_uint_eq(rlk_inspection_pause_us(&quarantine, S, relied_on, NOW),
                      counts && !relied_on ? 5 * S : S);
    ck_assert_uint_eq(rlk_inspection_pause_us(&quarantine, S / 20, relied_on, NOW),
                      counts && !relied_on ? S / 4 : S / 20);
    ck_assert_uint_eq(rlk_inspection_pause_us(&quarantine, 2 * S, relied_on, NOW),
                      counts && !relied_on ? 5 * S : 2 * S);
    ck_assert_uint_eq(rlk_inspection_pause_us(&quarantine, 60 * S, relied_on, NOW), 60 * S);
}

/* [S11, S15] The time of a reply is that of its question, also when the next one was sent while
 * what the reply said was carried out. */
TEST_LOOP(a_reply_belongs_to_its_own_question, 0, 2)
{
    set_up_known(RLK_QUARANTINE_STRICT);
    rlk_inspection_ask(&inspection, &quarantine, &server, NOW);
    step(_i ? RLK_INSPECTION_HANDSHAKE : RLK_INSPECTION_REPLY, RLK_INSPECTION_ANSWERED, MARK);
    rlk_inspection_ask(&inspection, &quarantine, &server, NOW + S);
    ck_assert_uint_eq(inspection.read_us, NOW);
    step(RLK_INSPECTION_BROKEN, RLK_INSPECTION_OTHER, 0);
    ck_assert_uint_eq(inspection.read_us, NOW);
}

TEST(an_inspection_is_old_after_a_period)
{
    set_up_known(RLK_QUARANTINE_STRICT);
    rlk_inspection_ask(&inspection, &quarantine, &server, NOW);
    ck_assert(!rlk_inspection_is_old(&inspection, S, NOW + S - 1));
    ck_assert(rlk_inspection_is_old(&inspection, S, NOW + S));
}

/* [S15] However long the period is. */
TEST(an_inspection_is_old_after_five_seconds)
{
    set_up_known(RLK_QUARANTINE_STRICT);
    rlk_inspection_ask(&inspection, &quarantine, &server, NOW);
    ck_assert(!rlk_inspection_is_old(&inspection, 60 * S, NOW + 5 * S - 1));
    ck_assert(rlk_inspection_is_old(&inspection, 60 * S, NOW + 5 * S));
    ck_assert(rlk_inspection_is_old(&inspection, RLK_NEVER, NOW + 5 * S));
}

/* [S11] By _i: how many periods are between two inspections. */
TEST_LOOP(rare_inspections_ask_for_the_state_as_often, 1, 8)
{
    unsigned i, asked = 0;

    set_up_known(RLK_QUARANTINE_STRICT);
    for (i = 0; i < 600; i += (unsigned)_i) {
        asked += rlk_inspection_count(&inspection, &quarantine, &server, (unsigned)_i);
    }
    ck_assert_uint_ge(asked, 20);
    ck_assert_uint_le(asked, 21);
}

TEST(each_inspection_records_a_step_until_it_is_on_record)
{
    set_up_known(RLK_QUARANTINE_STRICT);
    rlk_quarantine_clock_moved(&quarantine, NOW + 86400 * S + 9, NOW);
    ck_assert_uint_eq(rlk_inspection_ask(&inspection, &quarantine, &server, NOW).step_us, 0);
    ck_assert(rlk_inspection_record_step(&inspection, &quarantine, &server));
    ck_assert(!rlk_inspection_record_step(&inspection, &quarantine, &server));
    step(RLK_INSPECTION_REPLY, RLK_INSPECTION_ANSWERED,
         MARK); /* the write of the record was rejected */
    ck_assert_uint_eq(rlk_inspection_ask(&inspection, &quarantine, &server, NOW).step_us,
                      NOW + 86400 * S + 9);
    rlk_inspection_step(&inspection, &quarantine, &server,
                        &(struct rlk_inspection_event){.kind = RLK_INSPECTION_REPLY,
                                                       .now_us = NOW,
                                                       .birth = {.mark = MARK,
                                                                 .born_us = NOW + 86400 * S + 9,
                                                                 .server_us = NOW + 86400 * S + 9}},
                        &out);
    ck_assert_uint_eq(rlk_inspection_ask(&inspection, &quarantine, &server, NOW).step_us, 0);
    ck_assert(!inspection.records_step);
}

TEST(where_no_mark_is_read_no_step_is_recorded)
{
    set_up_known(RLK_QUARANTINE_OFF);
    ck_assert(!rlk_inspection_record_step(&inspection, &quarantine, &server));
    set_up(RLK_QUARANTINE_STRICT);
    server.run_id[0] = '\0';
    step(RLK_INSPECTION_HANDSHAKE, RLK_INSPECTION_ANSWERED, 0);
    ck_assert(!rlk_inspection_record_step(&inspection, &quarantine, &server));
}

TEST(a_step_is_recorded_when_the_master_no_longer_refuses_that)
{
    set_up_known(RLK_QUARANTINE_STRICT);
    rlk_quarantine_clock_moved(&quarantine, NOW + 86400 * S + 9, NOW);
    step(RLK_INSPECTION_REPLY, RLK_INSPECTION_DENIED, 0);
    ck_assert(rlk_inspection_record_step(&inspection, &quarantine, &server));
    step(RLK_INSPECTION_REPLY, RLK_INSPECTION_DENIED, 0);
    ck_assert_uint_eq(rlk_inspection_ask(&inspection, &quarantine, &server, NOW).step_us,
                      NOW + 86400 * S + 9);
}

/* ---- replies ---- */

CASE("replies");

TEST_LOOP(a_master_that_has_not_changed_keeps_its_votes, 0, 6)
{
    static const enum rlk_inspection_event_kind kinds[] = {
        RLK_INSPECTION_HANDSHAKE, RLK_INSPECTION_REPLY, RLK_INSPECTION_BROKEN,
        RLK_INSPECTION_INFO,      RLK_INSPECTION_ROLE,  RLK_INSPECTION_STATE};

    set_up_known(RLK_QUARANTINE_STRICT);
    ck_assert(votes() && !out.quarantined);
    step(kinds[_i], RLK_INSPECTION_ANSWERED, MARK);
    ck_assert(votes() && !out.quarantined && !out.restarted && out.reconnect == RLK_RECONNECT_NOT);
}

/* At a greeting. Even when the master is in quarantine already, the votes over the connection
 * before are of another run. */
TEST(another_run_retracts_the_votes)
{
    set_up_known(RLK_QUARANTINE_STRICT);
    strcpy(server.run_id, "abd");
    step(RLK_INSPECTION_HANDSHAKE, RLK_INSPECTION_ANSWERED, MARK);
    ck_assert(out.quarantined && out.restarted && !votes());
    strcpy(server.run_id, "abe");
    step(RLK_INSPECTION_HANDSHAKE, RLK_INSPECTION_ANSWERED, MARK);
    ck_assert(out.quarantined && out.restarted && !votes());
}

TEST(another_mark_retracts_the_votes_and_needs_a_new_greeting)
{
    set_up_known(RLK_QUARANTINE_STRICT);
    step(RLK_INSPECTION_REPLY, RLK_INSPECTION_ANSWERED, MARK + 1);
    ck_assert(out.quarantined && !votes());
    ck_assert_int_eq(out.reconnect, RLK_RECONNECT_DATA_REPLACED);
}

/* Only the time was asked for. */
TEST(a_reply_without_a_mark_changes_nothing)
{
    set_up_known(RLK_QUARANTINE_STRICT);
    step(RLK_INSPECTION_REPLY, RLK_INSPECTION_ANSWERED, 0);
    ck_assert(votes() && !out.quarantined && out.reconnect == RLK_RECONNECT_NOT);
}

/* The next inspection finds the new mark. */
TEST(a_vote_that_misses_the_mark_retracts_the_votes)
{
    set_up_known(RLK_QUARANTINE_STRICT);
    step(RLK_INSPECTION_MARK_MISSED, RLK_INSPECTION_ANSWERED, 0);
    ck_assert(out.quarantined && !votes() && out.reconnect == RLK_RECONNECT_NOT);
    quarantine.data_replaced = false; /* that was reported */
    step(RLK_INSPECTION_REPLY, RLK_INSPECTION_ANSWERED, MARK + 1);
    ck_assert_int_eq(out.reconnect, RLK_RECONNECT_DATA_REPLACED);
}

/* A master in quarantine has no votes left to retract. But replaced data matter to held locks,
 * too. */
TEST(votes_are_retracted_once)
{
    set_up_known(RLK_QUARANTINE_STRICT);
    server.maxmemory = 1;
    strcpy(server.policy, "allkeys-lru");
    step(RLK_INSPECTION_STATE, RLK_INSPECTION_ANSWERED, 0);
    ck_assert(out.quarantined && !votes());
    step(RLK_INSPECTION_STATE, RLK_INSPECTION_ANSWERED, 0);
    ck_assert(!out.quarantined && !votes());
    quarantine.data_replaced = true;
    step(RLK_INSPECTION_STATE, RLK_INSPECTION_ANSWERED, 0);
    ck_assert(out.quarantined);
}

/* [S11] The append-only file was switched off and on: the rewrite that begins it still runs. From
 * its end on the master votes at once, and counts as one that was not durable until it is greeted.
 */
TEST_LOOP(votes_wait_until_the_log_is_complete, 0, 3)
{
    bool strict = _i == RLK_QUARANTINE_STRICT;

    set_up_known((enum rlk_quarantine_policy)_i);
    quarantine.durable = server.aof = server.aof_rewrites = server.config_set = true;
    strcpy(server.fsync, "always");
    step(RLK_INSPECTION_STATE, RLK_INSPECTION_ANSWERED, 0);
    ck_assert(out.quarantined == strict && votes() == !strict && !quarantine.durable);
    ck_assert_int_eq(rlk_quarantine_needs_inspection(&quarantine), strict);
    rlk_inspection_count(&inspection, &quarantine, &server, 1);
    ck_assert_int_eq(rlk_inspection_count(&inspection, &quarantine, &server, 1), strict);
    server.aof_rewrites = false;
    step(RLK_INSPECTION_STATE, RLK_INSPECTION_ANSWERED, 0);
    ck_assert(votes() && !rlk_quarantine_needs_inspection(&quarantine) && !quarantine.durable);
}

/* [S11] By _i: the policy. A master that did not tell its run when it was greeted. */
TEST_LOOP(a_run_that_is_told_later_needs_a_new_greeting, 0, 3)
{
    bool strict = _i == RLK_QUARANTINE_STRICT;

    set_up((enum rlk_quarantine_policy)_i);
    server.run_id[0] = '\0';
    step(RLK_INSPECTION_HANDSHAKE, RLK_INSPECTION_ANSWERED, 0);
    ck_assert(votes() == !strict);
    ck_assert_int_eq(rlk_quarantine_needs_inspection(&quarantine), strict);
    rlk_inspection_count(&inspection, &quarantine, &server, 1);
    ck_assert_int_eq(rlk_inspection_count(&inspection, &quarantine, &server, 1), strict);
    step(RLK_INSPECTION_STATE, RLK_INSPECTION_ANSWERED, 0);
    ck_assert_int_eq(out.reconnect, RLK_RECONNECT_NOT);
    strcpy(server.run_id, "abc");
    step(RLK_INSPECTION_STATE, RLK_INSPECTION_ANSWERED, 0);
    ck_assert_int_eq(out.reconnect, strict ? RLK_RECONNECT_NAMED : RLK_RECONNECT_NOT);
    ck_assert(votes() == !strict); /* the greeting decides */
}

static const struct {
    const char *role;
    uint64_t promotion;
    enum rlk_reconnect reconnect;
    enum rlk_unfit unfit;
} roles[] = {{"master", 0, RLK_RECONNECT_NOT, RLK_UNFIT_NOT},
             {"slave", 0, RLK_RECONNECT_UNFIT, RLK_UNFIT_REPLICA},
             {"arbiter", 0, RLK_RECONNECT_UNFIT, RLK_UNFIT_ROLE},
             {"master", 9, RLK_RECONNECT_REPLICA, RLK_UNFIT_NOT}};

/* Under every policy. */
TEST_LOOP(a_replica_and_a_former_replica_need_a_new_greeting, 0, 12)
{
    int row = _i % 4;

    set_up_known((enum rlk_quarantine_policy)(_i / 4));
    strcpy(server.role, roles[row].role);
    server.promotion = roles[row].promotion;
    step(RLK_INSPECTION_INFO, RLK_INSPECTION_ANSWERED, 0);
    ck_assert_int_eq(out.reconnect, roles[row].reconnect);
    ck_assert_int_eq(out.unfit, roles[row].unfit);
    ck_assert_int_eq(out.quarantined, roles[row].reconnect != RLK_RECONNECT_NOT);
}

static void step_role(enum rlk_unfit unfit)
{
    struct rlk_inspection_event ev = {.kind = RLK_INSPECTION_ROLE, .now_us = NOW, .unfit = unfit};

    rlk_inspection_step(&inspection, &quarantine, &server, &ev, &out);
}

TEST(hello_tells_the_role_as_info_does)
{
    set_up_known(RLK_QUARANTINE_STRICT);
    step_role(RLK_UNFIT_REPLICA);
    ck_assert(out.quarantined && out.reconnect == RLK_RECONNECT_UNFIT &&
              out.unfit == RLK_UNFIT_REPLICA);
}

/* By _i: the mark is unknown, known or lost; and the error. A denial says no more about the data
 * than another error. */
TEST_LOOP(after_an_error_the_votes_wait_for_the_mark_or_count_without_it, 0, 18)
{
    static const enum rlk_inspection_error errors[] = {RLK_INSPECTION_NOT_NOW,
                                                       RLK_INSPECTION_DENIED, RLK_INSPECTION_OTHER};
    enum rlk_inspection_event_kind kind = _i < 9 ? RLK_INSPECTION_REPLY : RLK_INSPECTION_HANDSHAKE;
    enum rlk_inspection_error error = errors[_i % 3];
    int before = _i / 3 % 3; /* no mark yet, a mark, a mark that was lost */
    bool waits = error == RLK_INSPECTION_NOT_NOW || before != 0;

    set_up(RLK_QUARANTINE_LENIENT);
    step(RLK_INSPECTION_HANDSHAKE, RLK_INSPECTION_ANSWERED, before == 0 ? 0 : MARK);
    if (before == 2) {
        step(RLK_INSPECTION_MARK_MISSED, RLK_INSPECTION_ANSWERED, 0);
        quarantine.data_replaced = false;
        /* To see what the error does. */
        quarantine.until_us[RLK_QUARANTINED_LOST_DATA] = quarantine.last_us = 0;
    }
    step(kind, error, 0);
    ck_assert_int_eq(reason(), waits ? RLK_QUARANTINED_UNREAD : RLK_QUARANTINED_NOT);
    ck_assert_int_eq(out.quarantined, waits);
    ck_assert(rlk_inspection_ask(&inspection, &quarantine, &server, NOW).mark);
    ck_assert_int_eq(out.reconnect, RLK_RECONNECT_NOT);
    ck_assert(!quarantine.data_replaced); /* an error says nothing about the data */
}

/* By _i: the master denies the mark to the handshake or to an inspection. Afterwards its mark is
 * another one, or the same. */
TEST_LOOP(the_mark_after_a_denial_shows_whether_the_data_were_lost, 0, 4)
{
    bool same = _i / 2;

    set_up_known(RLK_QUARANTINE_LENIENT);
    step(_i % 2 ? RLK_INSPECTION_REPLY : RLK_INSPECTION_HANDSHAKE, RLK_INSPECTION_DENIED, 0);
    step(RLK_INSPECTION_REPLY, RLK_INSPECTION_ANSWERED, same ? MARK : MARK + 1);
    ck_assert_int_eq(reason(), same ? RLK_QUARANTINED_NOT : RLK_QUARANTINED_LOST_DATA);
    ck_assert_int_eq(out.reconnect, same ? RLK_RECONNECT_NOT : RLK_RECONNECT_DATA_REPLACED);
}

/* By _i: the master denies its mark to the handshake only, or to an inspection as well. It may have
 * lost its data before we read its first mark. */
TEST_LOOP(the_first_mark_after_a_denial_from_the_start_quarantines, 0, 2)
{
    set_up(RLK_QUARANTINE_LENIENT);
    step(RLK_INSPECTION_HANDSHAKE, RLK_INSPECTION_DENIED, 0);
    if (_i) {
        step(RLK_INSPECTION_REPLY, RLK_INSPECTION_DENIED, 0);
    }
    ck_assert(votes());
    step(RLK_INSPECTION_REPLY, RLK_INSPECTION_ANSWERED, MARK);
    ck_assert_int_eq(reason(), RLK_QUARANTINED_LOST_DATA);
}

/* The master was a replica, so the mark that we knew says nothing any more. But we have read its
 * mark before, so it does not vote until we can read it again. */
TEST(a_former_replica_that_denies_its_mark_does_not_vote)
{
    set_up_known(RLK_QUARANTINE_LENIENT);
    step_role(RLK_UNFIT_REPLICA);
    step(RLK_INSPECTION_HANDSHAKE, RLK_INSPECTION_DENIED, 0);
    quarantine.until_us[RLK_QUARANTINED_LOST_DATA] = 0;
    ck_assert_int_eq(reason(), RLK_QUARANTINED_UNREAD);
}

/* ---- blind spots ---- */

/* By _i: the policy; the run is known, HELLO tells the role, the script is denied. */
TEST_LOOP(blind_spots_are_reported, 0, 24)
{
    bool run = _i & 1, hello = _i & 2, denied = _i & 4;
    enum rlk_quarantine_policy policy = (enum rlk_quarantine_policy)(_i / 8);
    enum rlk_blind_spot expected = RLK_BLIND_TO_NOTHING;

    if (policy != RLK_QUARANTINE_OFF && !run) {
        expected = hello ? RLK_BLIND_TO_RESTART : RLK_BLIND_TO_RESTART_AND_ROLE;
    } else if (policy != RLK_QUARANTINE_OFF && denied) {
        expected = RLK_BLIND_TO_DATA;
    }
    set_up(policy);
    if (!run) {
        server.run_id[0] = '\0';
    }
    inspection.tells_role = hello;
    step(RLK_INSPECTION_HANDSHAKE, denied ? RLK_INSPECTION_DENIED : RLK_INSPECTION_ANSWERED, 0);
    ck_assert_int_eq(rlk_inspection_blind_spot(&inspection, &quarantine, &server), expected);
}
