/* test_hold.c - a lock that is held: renewed, in trouble, and lost [S3, S7, S9]. */
#include <string.h>

#include <redlock/error.h>

#include "base/time.h"
#include "hold_world.h"
#include "lib/runner.h"

/* ---- renewing ---- */

START_TEST(renewed_at_a_third_of_the_ttl_for_all_of_it)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us = T0;
    int i;

    start(&w, &c);
    for (i = 0; i < 50; i++) {
        ck_assert_uint_eq(due(&w), at_us + THIRD);
        timer(&w, at_us + THIRD - 1);
        ck_assert_uint_eq(w.out.extend, 0);
        at_us = renewal(&w);
        ck_assert_uint_eq(w.out.extend, ALL5);
        ck_assert_uint_eq(w.out.ttl_ms, TTL / 1000);
        answer(&w, ALL5, RLK_ANSWER_OURS, at_us + 1000);
        ck_assert_uint_eq(rlk_hold_valid_until_us(&w.h), at_us + LEASE);
    }
    ck_assert_uint_eq(w.told, 0);
    ck_assert_uint_eq(w.h.renewals, 50);
}
END_TEST

START_TEST(renewed_soon_when_a_node_is_there_that_does_not_count)
{
    struct rlk_hold_config c = config();
    struct world w;

    start_won(&w, &c, 0x0f, 0);
    ck_assert_uint_eq(due(&w), T0 + TIMEOUT);
    vote(&w, 0x10, RLK_VOTE_YES, T0 + 400);
    ck_assert_uint_eq(due(&w), T0 + TENTH);
    ck_assert_uint_eq(renewed(&w), T0 + TENTH);
    ck_assert_uint_eq(due(&w), T0 + TENTH + THIRD);
}
END_TEST

START_TEST(not_renewed_when_that_is_not_wanted)
{
    struct rlk_hold_config c = config();
    struct world w;

    c.renew = false;
    start(&w, &c);
    ck_assert_uint_eq(due(&w), T0 + LEASE);
    timer(&w, T0 + LEASE - 1);
    ck_assert_uint_eq(w.out.extend, 0);
    ck_assert_uint_eq(silence(&w), T0 + LEASE);
    ck_assert_uint_eq(w.told, 1); /* the loss, and no trouble before */
    ck_assert_int_eq(w.h.reason, REDLOCK_EUNRENEWED);
}
END_TEST

START_TEST(a_renewal_that_fails_is_tried_again_with_jitter)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t bound_us = TTL / 100, longest_us = 0, at_us;
    int i;

    c.seed = (uint64_t)_i;
    start(&w, &c);
    at_us = renewal(&w);
    for (i = 0; i < 8; i++) {
        answer(&w, ALL5, RLK_ANSWER_UNKNOWN, at_us + 10);
        ck_assert_uint_ge(due(&w), at_us + 10);
        ck_assert_uint_le(due(&w), at_us + 10 + rlk_time_min(bound_us, TTL / 10));
        longest_us = rlk_time_max(longest_us, due(&w) - at_us - 10);
        bound_us *= 2;
        at_us = renewal(&w);
        ck_assert_uint_eq(w.out.extend, ALL5);
    }
    ck_assert_uint_gt(longest_us, TTL / 100);
    ck_assert_uint_eq(rlk_hold_valid_until_us(&w.h), T0 + LEASE);
    answer(&w, 0x07, RLK_ANSWER_OURS, at_us + 10);
    ck_assert_uint_eq(rlk_hold_valid_until_us(&w.h), at_us + LEASE);
    ck_assert_uint_eq(w.h.renewals, 1);
}
END_TEST

START_TEST(who_owes_an_answer_is_not_asked_again_and_joins_when_it_came)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us;

    start(&w, &c);
    at_us = renewal(&w);
    answer(&w, 0x03, RLK_ANSWER_OURS, at_us + 10);
    timer(&w, at_us + TIMEOUT);
    at_us = renewal(&w);
    ck_assert_uint_eq(w.out.extend, 0x03);
    answer(&w, 0x04, RLK_ANSWER_OURS, at_us + 20);
    ck_assert_uint_eq(w.out.extend, 0x04);
    ck_assert_uint_eq(w.out.ttl_ms, TTL / 1000);
    answer(&w, 0x03, RLK_ANSWER_OURS, at_us + 30);
    ck_assert(!w.h.leases.success);
    answer(&w, 0x04, RLK_ANSWER_OURS, at_us + 40);
    ck_assert(w.h.leases.success);
    ck_assert_uint_eq(rlk_hold_valid_until_us(&w.h), at_us + LEASE);
}
END_TEST

/* The majority was there, only late: no less a majority. */
START_TEST(the_last_answer_may_come_when_nobody_waits_for_it)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us;

    start(&w, &c);
    at_us = renewal(&w);
    answer(&w, 0x03, RLK_ANSWER_OURS, at_us + 10);
    answer(&w, 0x10, RLK_ANSWER_GONE, at_us + 10);
    timer(&w, at_us + TIMEOUT);
    ck_assert(w.h.trouble);
    answer(&w, 0x0c, RLK_ANSWER_OURS, at_us + TIMEOUT + 1);
    ck_assert(!w.h.trouble);
    ck_assert_uint_eq(rlk_hold_valid_until_us(&w.h), at_us + LEASE);
    timer(&w, due(&w));
    ck_assert_uint_eq(w.out.heal, 0x10); /* [S8] as after any success */
}
END_TEST

/* ---- trouble and loss ---- */

START_TEST(trouble_is_told_once_until_it_is_over)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us;
    unsigned i, trouble;

    start(&w, &c);
    for (trouble = 1; trouble <= 3; trouble++) {
        for (i = 0; i < 4; i++) {
            at_us = renewal(&w);
            answer(&w, ALL5, RLK_ANSWER_UNKNOWN, at_us + 10);
            ck_assert(w.h.trouble);
            ck_assert_int_eq(w.h.reason, REDLOCK_ENOQUORUM);
            ck_assert_uint_eq(w.told, trouble);
            ck_assert_int_eq(w.h.state, RLK_HOLD_HELD);
        }
        renewed(&w);
        ck_assert(!w.h.trouble);
    }
    ck_assert_uint_eq(w.told, 3);
}
END_TEST

/* Nodes may be waited for longer than the lock lives. */
START_TEST(trouble_is_told_while_there_is_time_left)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us;

    c.timeout_us = 2 * TTL;
    start(&w, &c);
    at_us = renewal(&w);
    timer(&w, at_us + THIRD - 1);
    ck_assert_uint_eq(w.told, 0);
    timer(&w, at_us + THIRD);
    ck_assert_uint_eq(w.told, 1);
    ck_assert(w.h.trouble);
    ck_assert_int_eq(w.h.reason, REDLOCK_ENOQUORUM);
}
END_TEST

START_TEST(trouble_is_told_when_there_is_nobody_to_ask)
{
    struct rlk_hold_config c = config();
    struct world w;

    start(&w, &c);
    w.ready = 0;
    timer(&w, due(&w));
    ck_assert(w.out.report && w.h.trouble);
    ck_assert_uint_eq(w.out.extend, 0);
    ck_assert_uint_le(due(&w), T0 + THIRD + TTL / 100);
}
END_TEST

START_TEST(lost_at_the_deadline_without_a_reply)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us;

    start(&w, &c);
    at_us = renewed(&w);
    renewal(&w); /* and never an answer */
    ck_assert_uint_eq(silence(&w), at_us + LEASE);
    ck_assert(w.out.report);
    ck_assert_uint_eq(due(&w), RLK_NEVER);
    ck_assert_uint_eq(rlk_hold_valid_until_us(&w.h), 0);
    ck_assert_int_eq(w.h.reason, REDLOCK_ENOQUORUM);
    ck_assert_uint_eq(w.told, 2); /* trouble before */
}
END_TEST

START_TEST(lost_one_microsecond_before_it_is_not_and_then_it_is)
{
    struct rlk_hold_config c = config();
    struct world w;

    c.renew = false;
    start(&w, &c);
    pet(&w, T0 + LEASE - 1);
    ck_assert_int_eq(w.h.state, RLK_HOLD_HELD);
    pet(&w, T0 + LEASE);
    ck_assert_int_eq(w.h.state, RLK_HOLD_LOST);
    ck_assert(w.out.report);
}
END_TEST

/* [S3] Whatever is the first to be seen after a resume: all that was due meanwhile is not done. */
START_TEST(lost_at_once_after_a_suspend)
{
    static const enum rlk_event_kind kinds[] = {RLK_EVENT_TIMER, RLK_EVENT_ANSWER, RLK_EVENT_VOTE,
                                                RLK_EVENT_EXTEND, RLK_EVENT_PET};
    struct rlk_hold_config c = config();
    struct world w;
    unsigned i;

    for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct rlk_event ev = {.kind = kinds[i], .now_us = T0 + 3600 * TTL};

        start(&w, &c);
        if (_i) {
            renewal(&w);
        }
        if (ev.kind == RLK_EVENT_EXTEND) {
            ev.ttl_us = TTL;
        } else {
            ev.answer = RLK_ANSWER_OURS;
            ev.vote = RLK_VOTE_YES;
        }
        step(&w, ev);
        ck_assert_int_eq(w.h.state, RLK_HOLD_LOST);
        ck_assert_int_eq(w.h.reason, REDLOCK_ESUSPENDED);
        ck_assert(w.out.report);
        ck_assert_uint_eq(w.out.extend | w.out.heal, 0);
        ck_assert_uint_eq(rlk_hold_valid_until_us(&w.h), 0);
    }
}
END_TEST

/* Up to a tenth of the ttl before the end somebody could still have kept it. */
START_TEST(a_loss_is_explained_by_what_was_due_and_not_done)
{
    struct rlk_hold_config c = config();
    uint64_t bound_us = T0 + LEASE - TTL / 10;
    struct world w;
    int late;

    for (late = 0; late < 2; late++) {
        start(&w, &c);
        renewal(&w);
        w.h.round_until_us = bound_us + late; /* answers were waited for until then */
        timer(&w, T0 + LEASE);
        ck_assert_int_eq(w.h.reason, late ? REDLOCK_ENOQUORUM : REDLOCK_ESUSPENDED);
        start(&w, &c);
        timer(&w, due(&w)); /* the answers to the win: nobody is to be healed */
        w.h.renew_us = bound_us + late;
        w.h.leases.success = true;
        w.h.round_until_us = RLK_NEVER;
        timer(&w, T0 + LEASE);
        ck_assert_int_eq(w.h.reason, late ? REDLOCK_EUNRENEWED : REDLOCK_ESUSPENDED);
    }
    c.renew = false;
    start(&w, &c);
    timer(&w, T0 + 100 * LEASE);
    ck_assert_int_eq(w.h.reason, REDLOCK_EUNRENEWED);
    c.renew = true;
    start(&w, &c);
    step(&w, (struct rlk_event){.kind = RLK_EVENT_SUSPENDED,
                                .now_us = T0 + THIRD - 1,
                                .by_us = LEASE - THIRD + 1});
    ck_assert_int_eq(w.h.reason, REDLOCK_ESUSPENDED);
}
END_TEST

START_TEST(lost_at_once_when_no_majority_can_have_had_it)
{
    struct rlk_hold_config c = config();
    struct world w;
    uint64_t at_us;

    start(&w, &c);
    at_us = renewal(&w);
    answer(&w, 0x01, RLK_ANSWER_GONE, at_us + 10);
    answer(&w, 0x02, RLK_ANSWER_TAKEN, at_us + 10);
    ck_assert_int_eq(w.h.state, RLK_HOLD_HELD);
    answer(&w, 0x04, _i ? RLK_ANSWER_TAKEN : RLK_ANSWER_GONE, at_us + 10);
    ck_assert_int_eq(w.h.state, RLK_HOLD_LOST);
    ck_assert_int_eq(w.h.reason, REDLOCK_ELOST);
    ck_assert(w.out.report);
    ck_assert_uint_eq(rlk_hold_valid_until_us(&w.h), 0);
}
END_TEST

/* SAFETY: A holds 0, 1, 2; 2 restarts empty; B takes 2, 3, 4, and releases; A extends in time. */
START_TEST(a_loss_in_between_is_seen)
{
    struct rlk_hold_config c = config();
    struct world w;

    start_won(&w, &c, 0x07, 0x18);
    w.ready = 0x07; /* so that nothing is healed before */
    timer(&w, due(&w));
    extend(&w, TTL, T0 + 2 * TENTH);
    ck_assert_uint_eq(w.out.extend, 0x07);
    answer(&w, 0x03, RLK_ANSWER_OURS, T0 + 2 * TENTH + 10);
    answer(&w, 0x04, RLK_ANSWER_GONE, T0 + 2 * TENTH + 10);
    ck_assert_int_eq(w.h.state, RLK_HOLD_LOST);
    ck_assert_int_eq(w.h.reason, REDLOCK_ELOST);
    ck_assert(w.out.report_extended);
    ck_assert_int_eq(w.h.extended, REDLOCK_ELOST);
}
END_TEST

/* Every event after it, in every order of two. */
START_TEST(nothing_undoes_a_loss)
{
    struct rlk_hold_config c = config();
    struct rlk_hold before;
    struct world w;
    unsigned kind;

    start(&w, &c);
    renewal(&w);
    timer(&w, T0 + LEASE);
    ck_assert_uint_eq(w.told, 1);
    memcpy(&before, &w.h, sizeof(before));
    for (kind = 0; kind < 2 * RLK_EVENT_KINDS; kind++) {
        struct rlk_event ev = {
            .kind = (enum rlk_event_kind)(kind / 2), .node = kind % 2, .now_us = T0 + LEASE + kind};

        if (ev.kind == RLK_EVENT_EXTEND) {
            ev.ttl_us = 60 * TTL;
        } else {
            ev.vote = RLK_VOTE_YES;
            ev.answer = RLK_ANSWER_OURS;
        }
        step(&w, ev);
        ck_assert_uint_eq(w.out.extend | w.out.heal, 0);
        ck_assert_uint_eq(due(&w), RLK_NEVER);
    }
    answer(&w, ALL5, RLK_ANSWER_OURS, T0 + LEASE);
    ck_assert_mem_eq(&before, &w.h, sizeof(before));
    ck_assert_uint_eq(w.told, 1);
    ck_assert_uint_eq(w.extended, 0);
}
END_TEST

static TCase *renewing(void)
{
    TCase *c = tcase_create("renewing");

    tcase_add_test(c, renewed_at_a_third_of_the_ttl_for_all_of_it);
    tcase_add_test(c, renewed_soon_when_a_node_is_there_that_does_not_count);
    tcase_add_test(c, not_renewed_when_that_is_not_wanted);
    tcase_add_loop_test(c, a_renewal_that_fails_is_tried_again_with_jitter, 0, 20);
    tcase_add_test(c, who_owes_an_answer_is_not_asked_again_and_joins_when_it_came);
    tcase_add_test(c, the_last_answer_may_come_when_nobody_waits_for_it);
    return c;
}

static TCase *losing(void)
{
    TCase *c = tcase_create("losing");

    tcase_add_test(c, trouble_is_told_once_until_it_is_over);
    tcase_add_test(c, trouble_is_told_while_there_is_time_left);
    tcase_add_test(c, trouble_is_told_when_there_is_nobody_to_ask);
    tcase_add_test(c, lost_at_the_deadline_without_a_reply);
    tcase_add_test(c, lost_one_microsecond_before_it_is_not_and_then_it_is);
    tcase_add_loop_test(c, lost_at_once_after_a_suspend, 0, 2);
    tcase_add_test(c, a_loss_is_explained_by_what_was_due_and_not_done);
    tcase_add_loop_test(c, lost_at_once_when_no_majority_can_have_had_it, 0, 2);
    tcase_add_test(c, a_loss_in_between_is_seen);
    tcase_add_test(c, nothing_undoes_a_loss);
    return c;
}

static Suite *suite(void)
{
    Suite *s = suite_create("hold");

    suite_add_tcase(s, renewing());
    suite_add_tcase(s, hold_limits());
    suite_add_tcase(s, hold_line());
    suite_add_tcase(s, losing());
    suite_add_tcase(s, hold_extending());
    suite_add_tcase(s, hold_healing());
    return s;
}

int main(int argc, char **argv)
{
    Suite *(*const suites[])(void) = {suite, NULL};

    return rlk_test_main(argc, argv, suites);
}
