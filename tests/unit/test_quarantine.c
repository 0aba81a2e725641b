/* Whose votes count, and from when on [S11].
 *
 * The cases of the first half are schedules in which two clients would hold one lock if a vote
 * counted too early. In them "a lock" is one that somebody else took just before, with a vote of
 * this server, and that lives for the longest ttl. */
#include <string.h>

#include "base/time.h"
#include "core/quarantine.h"
#include "lib/runner.h"

#define S UINT64_C(1000000)
#define TTL (10 * S)
#define BAR_US (TTL + 100000 + 2000) /* with 1 % and 2 ms */
#define NOW (1000 * S)
#define OLD (86400 * S)

/* A master that we meet at NOW, and that has been up for a day. */
static struct rlk_facts a_master(void)
{
    return (struct rlk_facts){.run = "run-a", .birth.mark = 77, .age_us = OLD, .data_age_us = OLD};
}

static struct rlk_quarantine one_known(enum rlk_quarantine_policy policy)
{
    struct rlk_facts facts = a_master();
    struct rlk_quarantine s;

    rlk_quarantine_init(&s, policy, TTL, 10000);
    rlk_quarantine_greet(&s, &facts, NOW);
    return s;
}

/* Barred for this reason up to this moment, and not at it. */
static void expect(const struct rlk_quarantine *s, enum rlk_quarantine_reason reason,
                   uint64_t until_us)
{
    uint64_t until = 1;

    ck_assert_int_eq(rlk_quarantine_reason(s, until_us - 1, &until), reason);
    ck_assert_uint_eq(until, until_us);
    ck_assert_int_eq(rlk_quarantine_reason(s, until_us - 1, NULL), reason);
    ck_assert_int_eq(rlk_quarantine_reason(s, until_us, &until), RLK_QUARANTINED_NOT);
    ck_assert_uint_eq(until, 0);
}

static void expect_none(const struct rlk_quarantine *s, uint64_t now_us)
{
    uint64_t until = 1;

    ck_assert_int_eq(rlk_quarantine_reason(s, now_us, &until), RLK_QUARANTINED_NOT);
    ck_assert_uint_eq(until, 0);
    ck_assert(!rlk_quarantine_is_clock_suspect(s, now_us));
}

/* ---- schedules that would break exclusion ---- */

/* The server restarts at once, forgets the lock, and we meet it for the first time. It has no
 * history with us: its age is all that there is. It may have been up for a second less than it
 * says. */
START_TEST(a_young_server_that_we_never_met_is_quarantined_until_it_is_old_enough)
{
    struct rlk_facts facts = a_master();
    struct rlk_quarantine s;

    rlk_quarantine_init(&s, RLK_QUARANTINE_STRICT, TTL, 10000);
    facts.age_us = 3 * S;
    rlk_quarantine_greet(&s, &facts, NOW);
    expect(&s, RLK_QUARANTINED_YOUNG, NOW + BAR_US - 3 * S + S);

    rlk_quarantine_init(&s, RLK_QUARANTINE_STRICT, TTL, 10000);
    facts.age_us = BAR_US + S - 1;
    rlk_quarantine_greet(&s, &facts, NOW);
    expect(&s, RLK_QUARANTINED_YOUNG, NOW + 1);

    rlk_quarantine_init(&s, RLK_QUARANTINE_STRICT, TTL, 10000);
    facts.age_us = BAR_US;
    rlk_quarantine_greet(&s, &facts, NOW);
    expect(&s, RLK_QUARANTINED_YOUNG, NOW + S);

    rlk_quarantine_init(&s, RLK_QUARANTINE_STRICT, TTL, 10000);
    facts.age_us = BAR_US + S;
    rlk_quarantine_greet(&s, &facts, NOW);
    expect_none(&s, NOW);
}
END_TEST

/* The lock is taken, the server restarts, we were away meanwhile. We see the restart late, and
 * cannot know how late: the bar is a whole one from then on. */
START_TEST(a_restart_seen_late_bars_from_when_it_is_seen)
{
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_STRICT);
    struct rlk_facts facts = a_master();

    facts.run = "run-b";
    facts.birth.mark = 78;
    facts.age_us = BAR_US - 5 * S;
    rlk_quarantine_greet(&s, &facts, NOW + 60 * S);
    expect(&s, RLK_QUARANTINED_RESTARTED, NOW + 60 * S + BAR_US);
}
END_TEST

/* While it is quarantined it gives a vote to somebody who does not know of the first restart, and
 * restarts again. The second one bars as the first one did. */
START_TEST(a_second_restart_bars_anew)
{
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_STRICT);
    struct rlk_facts facts = a_master();

    facts.run = "run-b";
    rlk_quarantine_greet(&s, &facts, NOW + S);
    expect(&s, RLK_QUARANTINED_RESTARTED, NOW + S + BAR_US);
    facts.run = "run-c";
    rlk_quarantine_greet(&s, &facts, NOW + 9 * S);
    expect(&s, RLK_QUARANTINED_RESTARTED, NOW + 9 * S + BAR_US);
    facts.run = "run-b";
    rlk_quarantine_greet(&s, &facts, NOW + 10 * S);
    expect(&s, RLK_QUARANTINED_RESTARTED, NOW + 10 * S + BAR_US);
}
END_TEST

/* The server starts with its clock an hour slow, is asked for the lock, and then the clock is set:
 * its uptime is an hour now. Who has seen the restart is not impressed. */
START_TEST(an_uptime_that_lies_does_not_end_a_bar)
{
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_STRICT);
    struct rlk_facts facts = a_master();

    facts.run = "run-b";
    facts.age_us = 2 * S;
    rlk_quarantine_greet(&s, &facts, NOW + S);
    facts.age_us = 3603 * S;
    rlk_quarantine_greet(&s, &facts, NOW + 3 * S);
    expect(&s, RLK_QUARANTINED_RESTARTED, NOW + S + BAR_US);

    /* And who met it young and greets it again keeps to what was said first. */
    rlk_quarantine_init(&s, RLK_QUARANTINE_STRICT, TTL, 10000);
    facts.age_us = 2 * S;
    rlk_quarantine_greet(&s, &facts, NOW);
    facts.age_us = 3603 * S;
    rlk_quarantine_greet(&s, &facts, NOW + S);
    expect(&s, RLK_QUARANTINED_YOUNG, NOW + BAR_US - 2 * S + S);
}
END_TEST

/* INFO is refused once, of all times after the restart (an ACL that is loaded late). A run that is
 * not told any more may be another one, and so may the next that is told. */
START_TEST(a_run_that_is_not_told_does_not_hide_a_restart)
{
    struct rlk_quarantine s = one_known(_i ? RLK_QUARANTINE_STRICT : RLK_QUARANTINE_OBSERVED);
    struct rlk_facts silent = {.run = "", .age_us = RLK_NEVER, .data_age_us = RLK_NEVER},
                     facts = a_master();

    rlk_quarantine_greet(&s, &silent, NOW + S);
    expect(&s, RLK_QUARANTINED_RESTARTED, NOW + S + BAR_US);
    rlk_quarantine_greet(&s, &silent, NOW + 2 * S); /* restarted once more, or not */
    expect(&s, RLK_QUARANTINED_RESTARTED, NOW + 2 * S + BAR_US);
    facts.run = "run-b";
    rlk_quarantine_greet(&s, &facts, NOW + 3 * S);
    expect(&s, RLK_QUARANTINED_RESTARTED, NOW + 3 * S + BAR_US);
}
END_TEST

/* The same, but the mark is told: it is another one, which is as good as another run. */
START_TEST(a_run_that_is_not_told_does_not_hide_another_mark)
{
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_STRICT);
    struct rlk_facts facts = {
        .run = "", .birth.mark = 78, .age_us = RLK_NEVER, .data_age_us = RLK_NEVER};

    rlk_quarantine_greet(&s, &facts, NOW + S);
    expect(&s, RLK_QUARANTINED_RESTARTED, NOW + S + BAR_US);
    rlk_quarantine_check_mark(&s, 79, NOW + 2 * S);
    expect(&s, RLK_QUARANTINED_FORGOT, NOW + 2 * S + BAR_US);
}
END_TEST

/* It does not tell its run at first, restarts, and tells it then: nothing shows the restart, and
 * its age is by a clock that may have been set. */
START_TEST(a_run_that_becomes_known_late_is_another_one)
{
    struct rlk_facts silent = {.run = "", .age_us = RLK_NEVER, .data_age_us = RLK_NEVER},
                     facts = a_master();
    struct rlk_quarantine s;

    rlk_quarantine_init(&s, _i ? RLK_QUARANTINE_STRICT : RLK_QUARANTINE_OBSERVED, TTL, 10000);
    rlk_quarantine_greet(&s, &silent, NOW);
    expect_none(&s, NOW);
    rlk_quarantine_greet(&s, &silent, NOW); /* nothing new */
    expect_none(&s, NOW);
    facts.birth.mark = 0;
    rlk_quarantine_greet(&s, &facts, NOW + S);
    expect(&s, RLK_QUARANTINED_RESTARTED, NOW + S + BAR_US);
    rlk_quarantine_greet(&s, &facts, NOW + 3 * S); /* by now we know it */
    expect(&s, RLK_QUARANTINED_RESTARTED, NOW + S + BAR_US);
}
END_TEST

/* It is out of memory when it is greeted, and cannot write its mark. Then there is memory, FLUSHALL
 * takes the lock away, and the first mark is read. */
START_TEST(the_first_mark_after_none_could_be_read_bars)
{
    struct rlk_facts facts = a_master();
    struct rlk_quarantine s;
    uint64_t until;

    rlk_quarantine_init(&s, _i ? RLK_QUARANTINE_STRICT : RLK_QUARANTINE_OBSERVED, TTL, 10000);
    facts.birth.mark = 0;
    facts.unread = true;
    rlk_quarantine_greet(&s, &facts, NOW);
    ck_assert_int_eq(rlk_quarantine_reason(&s, NOW + 1000 * BAR_US, &until),
                     RLK_QUARANTINED_UNREAD);
    ck_assert_uint_eq(until, RLK_NEVER);
    ck_assert(rlk_quarantine_check_mark(&s, 78, NOW + S));
    expect(&s, RLK_QUARANTINED_FORGOT, NOW + S + BAR_US);
    ck_assert(!rlk_quarantine_check_mark(&s, 78, NOW + 2 * S));
    expect(&s, RLK_QUARANTINED_FORGOT, NOW + S + BAR_US);
}
END_TEST

/* Whoever knew it before has something to compare with. */
START_TEST(a_mark_that_could_not_be_read_for_a_while_is_compared)
{
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_STRICT);

    rlk_quarantine_set_unread(&s, true);
    ck_assert_int_eq(rlk_quarantine_reason(&s, NOW + S, NULL), RLK_QUARANTINED_UNREAD);
    ck_assert(!rlk_quarantine_check_mark(&s, 77, NOW + 2 * S));
    expect_none(&s, NOW + 2 * S);
    rlk_quarantine_set_unread(&s, true);
    ck_assert(rlk_quarantine_check_mark(&s, 78, NOW + 3 * S));
    expect(&s, RLK_QUARANTINED_FORGOT, NOW + 3 * S + BAR_US);
    rlk_quarantine_set_unread(&s, true);
    rlk_quarantine_set_unread(&s, false); /* nor will it ever be: it votes unseen */
    expect(&s, RLK_QUARANTINED_FORGOT, NOW + 3 * S + BAR_US);
}
END_TEST

/* REPLICAOF takes the lock away, and what its master has in its place; a replica that may be
 * written to goes on granting. It is no master for as long as nobody greets it as one. */
START_TEST(a_master_that_was_a_replica_is_quarantined_from_when_it_is_none)
{
    struct rlk_quarantine s = one_known(_i ? RLK_QUARANTINE_STRICT : RLK_QUARANTINE_OBSERVED);
    struct rlk_facts facts = a_master();

    ck_assert(!rlk_quarantine_check_role(&s, true, 0, NOW));
    expect_none(&s, NOW);
    ck_assert(rlk_quarantine_check_role(&s, false, 0, NOW + S));
    expect(&s, RLK_QUARANTINED_FORGOT, NOW + S + BAR_US);
    facts.promotion = _i ? 9 : 0; /* or it does not tell */
    facts.birth.mark = 0;         /* no mark can be read: nothing else tells */
    rlk_quarantine_greet(&s, &facts, NOW + 50 * S);
    expect(&s, RLK_QUARANTINED_FORGOT, NOW + 50 * S + BAR_US);
    rlk_quarantine_greet(&s, &facts, NOW + 51 * S);
    expect(&s, RLK_QUARANTINED_FORGOT, NOW + 50 * S + BAR_US);
    ck_assert(!rlk_quarantine_check_role(&s, true, facts.promotion, NOW + 52 * S));
    expect(&s, RLK_QUARANTINED_FORGOT, NOW + 50 * S + BAR_US);
}
END_TEST

/* It is a replica and a master again between two looks, or between two connections. */
START_TEST(a_promotion_that_nobody_saw_bars)
{
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_OBSERVED), t = s;
    struct rlk_facts facts = a_master();

    ck_assert(rlk_quarantine_check_role(&s, true, 9, NOW + S));
    expect(&s, RLK_QUARANTINED_FORGOT, NOW + S + BAR_US);
    facts.promotion = 9;
    rlk_quarantine_greet(&t, &facts, NOW + 2 * S);
    expect(&t, RLK_QUARANTINED_FORGOT, NOW + 2 * S + BAR_US);
    ck_assert(!rlk_quarantine_check_role(&t, true, 9, NOW + 3 * S));
    ck_assert(rlk_quarantine_check_role(&t, true, 10, NOW + 4 * S)); /* and once more */
    expect(&t, RLK_QUARANTINED_FORGOT, NOW + 4 * S + BAR_US);

    rlk_quarantine_init(&s, RLK_QUARANTINE_OBSERVED, TTL, 10000); /* long before we met it */
    rlk_quarantine_greet(&s, &facts, NOW);
    expect_none(&s, NOW);
}
END_TEST

/* FLUSHALL takes the lock away, and the next look finds no mark. */
/* [S7] Whether a key that it has now can be one that it has had all the time. _i: */
START_TEST(data_are_data_replaced_or_kept)
{
    static const struct {
        bool replica; /* seen as one */
        const char *run;
        uint64_t promotion, mark;
        bool data_replaced;
    } greetings[] = {
        {false, "run-a", 0, 77, false}, /* the same */
        {false, "run-b", 0, 77, false}, /* restarted */
        {false, "run-b", 0, 78, true},  /* and empty */
        {false, "run-a", 0, 78, true},  /* emptied */
        {false, "run-a", 9, 77, true},  /* it was a replica for a while */
        {false, "run-b", 9, 77, false}, /* its own replica has taken its place */
        {false, "run-b", 9, 78, true},  /* another's has */
        {true, "run-a", 9, 77, true},   {true, "run-b", 9, 78, true},
    };
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_STRICT);
    struct rlk_facts facts = a_master();

    ck_assert(!rlk_quarantine_take_data_replaced(&s));
    ck_assert_int_eq(rlk_quarantine_check_role(&s, !greetings[_i].replica, 0, NOW + S),
                     greetings[_i].replica);
    facts.run = greetings[_i].run;
    facts.promotion = greetings[_i].promotion;
    facts.birth.mark = greetings[_i].mark;
    rlk_quarantine_greet(&s, &facts, NOW + 2 * S);
    ck_assert_int_eq(rlk_quarantine_take_data_replaced(&s), greetings[_i].data_replaced);
    ck_assert(!rlk_quarantine_take_data_replaced(&s)); /* once */
}
END_TEST

START_TEST(a_look_finds_data_data_replaced)
{
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_STRICT);

    rlk_quarantine_check_mark(&s, 77, NOW + S);
    ck_assert(!rlk_quarantine_take_data_replaced(&s));
    rlk_quarantine_check_mark(&s, 78, NOW + 2 * S);
    ck_assert(rlk_quarantine_take_data_replaced(&s));
    rlk_quarantine_check_mark(&s, 0, NOW + 3 * S);
    ck_assert(rlk_quarantine_take_data_replaced(&s));
    rlk_quarantine_check_mark(&s, 78, NOW + 4 * S);
    ck_assert(rlk_quarantine_take_data_replaced(&s));
}
END_TEST

START_TEST(a_mark_that_is_gone_bars)
{
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_OBSERVED);

    rlk_quarantine_check_mark(&s, 77, NOW + S);
    expect_none(&s, NOW + S);
    rlk_quarantine_check_mark(&s, 0, NOW + 2 * S);
    expect(&s, RLK_QUARANTINED_FORGOT, NOW + 2 * S + BAR_US);
}
END_TEST

/* FLUSHALL, and another client has put a new mark there before our next look: there is a mark, and
 * it is not ours. */
START_TEST(a_mark_that_another_client_has_made_anew_bars)
{
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_STRICT);

    rlk_quarantine_check_mark(&s, 78, NOW + 2 * S);
    expect(&s, RLK_QUARANTINED_FORGOT, NOW + 2 * S + BAR_US);
    rlk_quarantine_check_mark(&s, 78, NOW + 3 * S); /* known now */
    expect(&s, RLK_QUARANTINED_FORGOT, NOW + 2 * S + BAR_US);
    rlk_quarantine_check_mark(&s, 77, NOW + 4 * S); /* as after a restore of a copy */
    expect(&s, RLK_QUARANTINED_FORGOT, NOW + 4 * S + BAR_US);
}
END_TEST

/* FLUSHALL; we look: no mark. A newcomer takes the lock, FLUSHALL again; we look: no mark, as
 * before. Nothing tells these two apart, so the bar begins with each look until there is a mark
 * again, and with that one. */
START_TEST(without_a_mark_data_can_be_lost_again)
{
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_STRICT);
    struct rlk_facts facts = a_master();

    rlk_quarantine_check_mark(&s, 0, NOW + S);
    rlk_quarantine_check_mark(&s, 0, NOW + 9 * S);
    expect(&s, RLK_QUARANTINED_FORGOT, NOW + 9 * S + BAR_US);
    rlk_quarantine_check_mark(&s, 79, NOW + 10 * S);
    expect(&s, RLK_QUARANTINED_FORGOT, NOW + 10 * S + BAR_US);
    rlk_quarantine_check_mark(&s, 79, NOW + 11 * S);
    expect(&s, RLK_QUARANTINED_FORGOT, NOW + 10 * S + BAR_US);

    /* The new mark may be told by a greeting as well; that does not tell one says nothing. */
    rlk_quarantine_check_mark(&s, 0, NOW + 20 * S);
    facts.birth.mark = 0;
    rlk_quarantine_greet(&s, &facts, NOW + 21 * S);
    expect(&s, RLK_QUARANTINED_FORGOT, NOW + 20 * S + BAR_US);
    facts.birth.mark = 80;
    rlk_quarantine_greet(&s, &facts, NOW + 22 * S);
    expect(&s, RLK_QUARANTINED_FORGOT, NOW + 22 * S + BAR_US);
}
END_TEST

/* The restart is seen, FLUSHALL comes after it, and then only the mark is looked at: the bar for
 * the restart is too short for what was forgotten after it. */
START_TEST(a_mark_that_a_restart_did_not_tell_is_still_compared)
{
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_STRICT);
    struct rlk_facts facts = a_master();

    facts.run = "run-b";
    facts.birth.mark = 0;
    rlk_quarantine_greet(&s, &facts, NOW + S);
    rlk_quarantine_check_mark(&s, 78, NOW + 5 * S);
    expect(&s, RLK_QUARANTINED_FORGOT, NOW + 5 * S + BAR_US);
}
END_TEST

/* Every write is on the disk before it is answered, and the mark is the same: nothing is lost. */
START_TEST(a_durable_server_that_kept_its_mark_restarts_freely)
{
    struct rlk_facts facts = a_master();
    struct rlk_quarantine s;

    rlk_quarantine_init(&s, RLK_QUARANTINE_STRICT, TTL, 10000);
    facts.durable = true;
    facts.age_us = S;
    rlk_quarantine_greet(&s, &facts, NOW);
    expect_none(&s, NOW);
    facts.run = "run-b";
    ck_assert(!rlk_quarantine_greet(&s, &facts, NOW + S)); /* nor is its clock another one */
    expect_none(&s, NOW + S);
    facts.run = "run-c"; /* the run is remembered all the same */
    facts.durable = false;
    ck_assert(rlk_quarantine_greet(&s, &facts, NOW + 2 * S));
    expect(&s, RLK_QUARANTINED_RESTARTED, NOW + 2 * S + BAR_US);
}
END_TEST

/* The disk is replaced, or somebody removed the file: durable, and empty. */
START_TEST(a_durable_server_that_lost_its_mark_is_quarantined)
{
    struct rlk_facts facts = a_master();
    struct rlk_quarantine s, t;

    rlk_quarantine_init(&s, RLK_QUARANTINE_STRICT, TTL, 10000);
    facts.durable = true;
    rlk_quarantine_greet(&s, &facts, NOW);
    t = s;
    facts.run = "run-b";
    facts.birth.mark = 78;
    rlk_quarantine_greet(&s, &facts, NOW + S);
    expect(&s, RLK_QUARANTINED_FORGOT, NOW + S + BAR_US);

    facts.birth.mark = 0; /* the greeting does not tell, the look does */
    facts.unread = true;
    ck_assert(!rlk_quarantine_greet(&t, &facts, NOW + S));
    rlk_quarantine_check_mark(&t, 0, NOW + 2 * S);
    expect(&t, RLK_QUARANTINED_FORGOT, NOW + 2 * S + BAR_US);
}
END_TEST

/* The disk is replaced, and nobody may look at the mark: that it is durable proves nothing. */
START_TEST(a_durable_server_that_shows_no_mark_counts_by_its_run)
{
    struct rlk_facts facts = a_master();
    struct rlk_quarantine s;

    rlk_quarantine_init(&s, RLK_QUARANTINE_STRICT, TTL, 10000);
    facts.durable = true;
    facts.birth.mark = 0;
    facts.age_us = 3 * S;
    facts.data_age_us = RLK_NEVER;
    rlk_quarantine_greet(&s, &facts, NOW);
    expect(&s, RLK_QUARANTINED_YOUNG, NOW + BAR_US - 3 * S + S);
    facts.run = "run-b";
    ck_assert(rlk_quarantine_greet(&s, &facts, NOW + 60 * S));
    expect(&s, RLK_QUARANTINED_RESTARTED, NOW + 60 * S + BAR_US);
}
END_TEST

/* The operator makes it durable, by a restart: which loses the last second of what was not durable
 * until then: the lock, and not the mark. */
START_TEST(a_restart_that_makes_a_server_durable_is_none_of_a_durable_server)
{
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_STRICT);
    struct rlk_facts facts = a_master();

    facts.run = "run-b";
    facts.durable = true;
    rlk_quarantine_greet(&s, &facts, NOW + S);
    expect(&s, RLK_QUARANTINED_RESTARTED, NOW + S + BAR_US);
    facts.run = "run-c";
    rlk_quarantine_greet(&s, &facts, NOW + 2 * S);
    expect(&s, RLK_QUARANTINED_RESTARTED, NOW + S + BAR_US);
}
END_TEST

/* The lock is thrown away to make room. Nothing but its word tells that it does not do that any
 * more: the bar has no end by itself. And then what it has thrown away just before is waited for:
 * a vote that was counted before it was told to evict, evicted before it was told not to. */
START_TEST(a_server_that_evicts_is_quarantined_until_long_after_it_says_that_it_does_not)
{
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_STRICT);
    struct rlk_facts facts = a_master();
    uint64_t until;

    facts.evicts = true;
    rlk_quarantine_greet(&s, &facts, NOW + S);
    ck_assert_int_eq(rlk_quarantine_reason(&s, NOW + 1000 * BAR_US, &until),
                     RLK_QUARANTINED_EVICTS);
    ck_assert_uint_eq(until, RLK_NEVER);
    ck_assert_int_eq(rlk_quarantine_reason(&s, RLK_NEVER, NULL), RLK_QUARANTINED_EVICTS);
    rlk_quarantine_check_mark(&s, 77, NOW + 2 * S);
    ck_assert_int_eq(rlk_quarantine_reason(&s, NOW + 2 * S, NULL), RLK_QUARANTINED_EVICTS);
    facts.evicts = false;
    rlk_quarantine_greet(&s, &facts, NOW + 3 * S);
    expect(&s, RLK_QUARANTINED_EVICTS, NOW + 3 * S + BAR_US);
    rlk_quarantine_greet(&s, &facts, NOW + 4 * S);
    expect(&s, RLK_QUARANTINED_EVICTS, NOW + 3 * S + BAR_US);
}
END_TEST

/* Switching eviction off ends no other bar. */
START_TEST(a_server_that_stops_evicting_by_a_restart_is_still_quarantined)
{
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_STRICT);
    struct rlk_facts facts = a_master();

    facts.evicts = true;
    rlk_quarantine_greet(&s, &facts, NOW + S);
    facts.evicts = false;
    facts.run = "run-b";
    rlk_quarantine_greet(&s, &facts, NOW + 2 * S);
    facts.run = "run-c";
    rlk_quarantine_greet(&s, &facts, NOW + 3 * S);
    expect(&s, RLK_QUARANTINED_RESTARTED, NOW + 3 * S + BAR_US);
}
END_TEST

/* Its clock is set forward: the lock ends before its time. This is the one reason for which what
 * it says of our own key does not count either. */
START_TEST(a_clock_that_moved_bars_votes_and_confirmations)
{
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_OBSERVED);

    rlk_quarantine_clock_moved(&s, 0, NOW + S);
    expect(&s, RLK_QUARANTINED_CLOCK, NOW + S + BAR_US);
    ck_assert(rlk_quarantine_is_clock_suspect(&s, NOW + S));
    ck_assert(rlk_quarantine_is_clock_suspect(&s, NOW + S + BAR_US - 1));
    ck_assert(!rlk_quarantine_is_clock_suspect(&s, NOW + S + BAR_US));
    rlk_quarantine_clock_moved(&s, 0, NOW + 5 * S);
    expect(&s, RLK_QUARANTINED_CLOCK, NOW + 5 * S + BAR_US);
}
END_TEST

/* It is set forward once, and for as long as the locks that it ended too early could have lived
 * it votes for no other. What it says of our key is by its length again when it has kept time for
 * a second: not by one look right behind the step, which a clock that is too fast passes as well.
 */
START_TEST(a_clock_that_keeps_time_again_confirms_and_does_not_vote)
{
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_OBSERVED);

    rlk_quarantine_clock_moved(&s, 0, NOW);
    rlk_quarantine_clock_steady(&s, NOW + S - 1);
    ck_assert(rlk_quarantine_is_clock_suspect(&s, NOW + S));
    rlk_quarantine_clock_moved(&s, 0, NOW + S);
    rlk_quarantine_clock_steady(&s, NOW + 2 * S - 1);
    ck_assert(rlk_quarantine_is_clock_suspect(&s, NOW + 2 * S));
    rlk_quarantine_clock_steady(&s, NOW + 2 * S);
    ck_assert(!rlk_quarantine_is_clock_suspect(&s, NOW + 2 * S));
    expect(&s, RLK_QUARANTINED_CLOCK, NOW + S + BAR_US);
    rlk_quarantine_clock_moved(&s, 0, NOW + 3 * S);
    ck_assert(rlk_quarantine_is_clock_suspect(&s, NOW + 3 * S));
}
END_TEST

/* Every write is on its disk, and so is the FLUSHALL: its data are younger than the lock. That it
 * has just started is nothing. */
START_TEST(a_durable_stranger_is_as_old_as_its_data)
{
    struct rlk_facts facts = a_master();
    struct rlk_quarantine s;

    facts.durable = true;
    facts.data_age_us = 3 * S;
    rlk_quarantine_init(&s, RLK_QUARANTINE_STRICT, TTL, 10000);
    rlk_quarantine_greet(&s, &facts, NOW);
    expect(&s, RLK_QUARANTINED_YOUNG, NOW + BAR_US - 3 * S + S);

    facts.age_us = 0;
    facts.data_age_us = _i ? RLK_NEVER : BAR_US + S;
    rlk_quarantine_init(&s, RLK_QUARANTINE_STRICT, TTL, 10000);
    rlk_quarantine_greet(&s, &facts, NOW);
    expect_none(&s, NOW);

    facts.durable = false;
    facts.age_us = OLD;
    facts.data_age_us = 5 * S;
    rlk_quarantine_init(&s, RLK_QUARANTINE_STRICT, TTL, 10000);
    rlk_quarantine_greet(&s, &facts, NOW);
    expect(&s, RLK_QUARANTINED_YOUNG, NOW + BAR_US - 5 * S + S);
}
END_TEST

/* Between two greetings, too. */
START_TEST(eviction_that_is_switched_on_bars_until_long_after_it_is_off)
{
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_STRICT);
    struct rlk_quarantine other = one_known(RLK_QUARANTINE_OBSERVED);

    rlk_quarantine_set_evicts(&s, false, NOW);
    expect_none(&s, NOW);
    rlk_quarantine_set_evicts(&s, true, NOW + S);
    ck_assert_int_eq(rlk_quarantine_reason(&s, NOW + 1000 * BAR_US, NULL), RLK_QUARANTINED_EVICTS);
    rlk_quarantine_set_evicts(&s, false, NOW + 2 * S);
    rlk_quarantine_set_evicts(&s, false, NOW + 3 * S);
    expect(&s, RLK_QUARANTINED_EVICTS, NOW + 2 * S + BAR_US);
    rlk_quarantine_set_evicts(&other, true, NOW + S);
    expect_none(&other, NOW + S);
}
END_TEST

/* ---- what strangers are to know ---- */

#define SERVER_US UINT64_C(1700000000000000)

static struct rlk_birth born(uint64_t ago_us)
{
    return (struct rlk_birth){.mark = 77, .born_us = SERVER_US - ago_us, .server_us = SERVER_US};
}

static void tell_born(struct rlk_quarantine *s, uint64_t ago_us, uint64_t now_us)
{
    struct rlk_birth birth = born(ago_us);

    rlk_quarantine_check_birth(s, &birth, now_us);
}

/* Until it is there, and no later than the step matters. */
START_TEST(a_step_is_to_be_put_on_record_once)
{
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_STRICT);

    ck_assert_uint_eq(rlk_quarantine_step_to_record(&s, NOW), 0);
    tell_born(&s, OLD, NOW + S);
    rlk_quarantine_clock_moved(&s, SERVER_US, NOW + S);
    ck_assert_uint_eq(rlk_quarantine_step_to_record(&s, NOW + S), SERVER_US);
    ck_assert_uint_eq(rlk_quarantine_step_to_record(&s, NOW + S + BAR_US - 1), SERVER_US);
    ck_assert_uint_eq(rlk_quarantine_step_to_record(&s, NOW + S + BAR_US), 0);
    tell_born(&s, OLD, NOW + 2 * S); /* it could not be written */
    ck_assert_uint_eq(rlk_quarantine_step_to_record(&s, NOW + 2 * S), SERVER_US);
    tell_born(&s, 0, NOW + 3 * S);
    ck_assert_uint_eq(rlk_quarantine_step_to_record(&s, NOW + 3 * S), 0);
    expect(&s, RLK_QUARANTINED_CLOCK, NOW + S + BAR_US);

    rlk_quarantine_clock_moved(&s, SERVER_US + S, NOW + 3 * S); /* another, in the same answer */
    ck_assert_uint_eq(rlk_quarantine_step_to_record(&s, NOW + 4 * S), SERVER_US + S);
    rlk_quarantine_clock_excused(&s);
    ck_assert_uint_eq(rlk_quarantine_step_to_record(&s, NOW + 4 * S), 0);
}
END_TEST

/* Another has put an earlier step on record, and does not live to see this one. _i: its record is
 * as old as our last look, or older. */
START_TEST(the_record_of_an_earlier_step_is_none_of_this_one)
{
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_STRICT);

    tell_born(&s, OLD, NOW + S);
    tell_born(&s, S + (unsigned)_i, NOW + 2 * S);
    rlk_quarantine_clock_moved(&s, SERVER_US, NOW + 2 * S);
    ck_assert_uint_eq(rlk_quarantine_step_to_record(&s, NOW + 2 * S), _i ? SERVER_US : 0);
}
END_TEST

/* The clock is put right before the step is on record: that says what the clock shows then. It is
 * ours, and not written with each look. */
START_TEST(a_record_is_no_later_than_the_clock)
{
    struct rlk_birth birth = {
        .mark = 77, .born_us = SERVER_US - 60 * S, .server_us = SERVER_US - 60 * S};
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_STRICT);

    tell_born(&s, OLD, NOW + S);
    rlk_quarantine_clock_moved(&s, SERVER_US, NOW + S);
    rlk_quarantine_check_birth(&s, &birth, NOW + 2 * S);
    ck_assert_uint_eq(rlk_quarantine_step_to_record(&s, NOW + 2 * S), 0);
    expect(&s, RLK_QUARANTINED_CLOCK, NOW + S + BAR_US);
    rlk_quarantine_clock_moved(&s, SERVER_US, NOW + 3 * S);
    ck_assert_uint_eq(rlk_quarantine_step_to_record(&s, NOW + 3 * S), SERVER_US);
}
END_TEST

START_TEST(nothing_is_put_on_record_without_a_quarantine)
{
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_OFF);

    rlk_quarantine_clock_moved(&s, SERVER_US, NOW + S);
    ck_assert_uint_eq(rlk_quarantine_step_to_record(&s, NOW + S), 0);
}
END_TEST

/* Another was faster: who puts each step there again keeps strangers waiting for ever. */
START_TEST(a_step_that_another_put_on_record_is_left_at_that)
{
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_STRICT);
    struct rlk_facts facts = a_master();

    tell_born(&s, OLD, NOW + S);
    tell_born(&s, 500, NOW + 2 * S);
    rlk_quarantine_clock_moved(&s, SERVER_US, NOW + 2 * S);
    ck_assert_uint_eq(rlk_quarantine_step_to_record(&s, NOW + 2 * S), 0);
    expect(&s, RLK_QUARANTINED_CLOCK, NOW + 2 * S + BAR_US);
    tell_born(&s, 500, NOW + 3 * S);
    rlk_quarantine_clock_moved(&s, SERVER_US, NOW + 3 * S);
    ck_assert_uint_eq(rlk_quarantine_step_to_record(&s, NOW + 3 * S), SERVER_US);

    facts.run = "run-b"; /* what was seen of the run before says nothing of this one */
    facts.birth = born(0);
    rlk_quarantine_greet(&s, &facts, NOW + 4 * S);
    ck_assert_uint_eq(rlk_quarantine_step_to_record(&s, NOW + 4 * S), 0);
}
END_TEST

/* Looked at for so long since it was met, and as it was. */
static void tell_each_second(struct rlk_quarantine *s, uint64_t time_us)
{
    uint64_t gone_us;

    for (gone_us = S; gone_us <= time_us; gone_us += S) {
        tell_born(s, OLD, NOW + gone_us);
    }
}

/* A step just before we met it, by somebody who saw it, and told behind our greeting. Whoever has
 * known the clock for longer than a lock lives has seen every step that matters. */
START_TEST(a_record_bars_who_has_not_known_the_clock_for_long)
{
    struct rlk_quarantine s = one_known(_i ? RLK_QUARANTINE_STRICT : RLK_QUARANTINE_OBSERVED);

    tell_born(&s, OLD, NOW + S);
    expect_none(&s, NOW + S);
    tell_born(&s, 2 * S, NOW + 3 * S);
    expect(&s, RLK_QUARANTINED_YOUNG, NOW + BAR_US + S);
    tell_born(&s, 2 * S, NOW + 5 * S);
    expect(&s, RLK_QUARANTINED_YOUNG, NOW + BAR_US + S);
    ck_assert(!rlk_quarantine_is_clock_suspect(&s, NOW + 5 * S));

    s = one_known(RLK_QUARANTINE_STRICT);
    tell_born(&s, OLD, NOW + S);
    tell_born(&s, 7 * S, NOW + 3 * S); /* it stood there for long, and we did not look */
    expect(&s, RLK_QUARANTINED_YOUNG, NOW + 3 * S + BAR_US + S - 7 * S);

    s = one_known(RLK_QUARANTINE_STRICT);
    tell_each_second(&s, BAR_US);
    tell_born(&s, 0, NOW + BAR_US + S);
    expect_none(&s, NOW + BAR_US + S);
}
END_TEST

/* It stood still, or was cut off: the step hides in what drift may do in so long a time. And so it
 * is for a step that is put on record behind the first look after that. */
START_TEST(a_record_bars_who_has_not_looked_for_long)
{
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_STRICT);
    uint64_t back_us = NOW + BAR_US + 3600 * S;

    tell_each_second(&s, BAR_US);
    if (_i == 1) {
        tell_born(&s, OLD, back_us);
    }
    tell_born(&s, S / 2, back_us + S);
    expect(&s, RLK_QUARANTINED_YOUNG, back_us + BAR_US + (_i == 1 ? S : S + S + S / 2 - S));
}
END_TEST

/* Older than it was: its clock was set back. Or of other data, for which there is another bar. */
START_TEST(only_a_later_birth_of_the_same_data_is_a_record)
{
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_STRICT);
    struct rlk_birth birth = born(0);

    tell_born(&s, 5 * S, NOW + S);
    tell_born(&s, 9 * S, NOW + S);
    tell_born(&s, 9 * S, NOW + S);
    birth.mark = 78;
    rlk_quarantine_check_birth(&s, &birth, NOW + S);
    birth.mark = 0; /* it is not told */
    rlk_quarantine_check_birth(&s, &birth, NOW + S);
    expect_none(&s, NOW + S);
}
END_TEST

/* A replica took the place of a durable master, and lacks the lock; another client saw that, and
 * put on record that these data are from then. It restarts with them, and says no more of a
 * promotion. Its key may not be readable at first. */
START_TEST(a_record_of_a_run_that_we_have_not_met_bars)
{
    struct rlk_facts facts = a_master();
    struct rlk_quarantine s;

    rlk_quarantine_init(&s, RLK_QUARANTINE_STRICT, TTL, 10000);
    facts.durable = true;
    facts.birth = born(OLD);
    rlk_quarantine_greet(&s, &facts, NOW);
    facts.run = "run-c";
    if (_i == 1) {
        facts.birth = (struct rlk_birth){.mark = 0};
        facts.unread = true;
        ck_assert(!rlk_quarantine_greet(&s, &facts, NOW + S));
        facts.unread = false;
    }
    facts.birth = born(3 * S);
    ck_assert(!rlk_quarantine_greet(&s, &facts, NOW + S));
    expect(&s, RLK_QUARANTINED_YOUNG, NOW + S + BAR_US + S - 3 * S);
}
END_TEST

/* The bar of the restart is enough. */
START_TEST(what_is_on_record_of_a_run_that_lost_its_data_is_no_news)
{
    struct rlk_facts facts = a_master();
    struct rlk_quarantine s;

    rlk_quarantine_init(&s, RLK_QUARANTINE_STRICT, TTL, 10000);
    facts.birth = born(OLD);
    rlk_quarantine_greet(&s, &facts, NOW);
    facts.run = "run-c";
    facts.birth = born(0);
    ck_assert(rlk_quarantine_greet(&s, &facts, NOW + S));
    expect(&s, RLK_QUARANTINED_RESTARTED, NOW + S + BAR_US);
    ck_assert(!s.noted);
}
END_TEST

/* ---- the rest of the rules ---- */

START_TEST(a_clock_that_is_excused_bars_no_more)
{
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_STRICT);

    rlk_quarantine_check_mark(&s, 78, NOW);
    rlk_quarantine_clock_moved(&s, 0, NOW + S);
    rlk_quarantine_clock_excused(&s);
    expect(&s, RLK_QUARANTINED_FORGOT, NOW + BAR_US);
    ck_assert(!rlk_quarantine_is_clock_suspect(&s, NOW + S));
}
END_TEST

START_TEST(only_a_clock_makes_a_server_clock_suspect)
{
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_STRICT);
    struct rlk_facts facts = a_master();

    facts.run = "run-b";
    facts.evicts = true;
    rlk_quarantine_greet(&s, &facts, NOW + S);
    rlk_quarantine_check_mark(&s, 0, NOW + S);
    ck_assert(!rlk_quarantine_is_clock_suspect(&s, NOW + S));
}
END_TEST

START_TEST(the_same_again_bars_nothing)
{
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_STRICT);
    struct rlk_facts facts = a_master();

    expect_none(&s, NOW);
    facts.age_us = S; /* its clock was set back */
    rlk_quarantine_greet(&s, &facts, NOW + S);
    rlk_quarantine_check_mark(&s, 77, NOW + 2 * S);
    expect_none(&s, NOW + 2 * S);
}
END_TEST

START_TEST(a_mark_that_becomes_known_late_is_remembered)
{
    struct rlk_facts facts = a_master();
    struct rlk_quarantine s;

    facts.birth.mark = 0;
    rlk_quarantine_init(&s, RLK_QUARANTINE_STRICT, TTL, 10000);
    rlk_quarantine_greet(&s, &facts, NOW);
    ck_assert(!rlk_quarantine_check_mark(&s, 0, NOW + S));
    expect_none(&s, NOW + S);
    ck_assert(rlk_quarantine_check_mark(&s, 5, NOW + 2 * S));
    expect(&s, RLK_QUARANTINED_FORGOT, NOW + 2 * S + BAR_US);
    ck_assert(rlk_quarantine_check_mark(&s, 6, NOW + 3 * S));
    expect(&s, RLK_QUARANTINED_FORGOT, NOW + 3 * S + BAR_US);
}
END_TEST

START_TEST(the_mark_of_another_run_is_remembered)
{
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_STRICT);
    struct rlk_facts facts = a_master();

    rlk_quarantine_check_mark(&s, 0, NOW + S);
    facts.run = "run-b";
    facts.birth.mark = 78;
    rlk_quarantine_greet(&s, &facts, NOW + 2 * S);
    rlk_quarantine_check_mark(&s, 78, NOW + 3 * S);
    expect(&s, RLK_QUARANTINED_RESTARTED, NOW + 2 * S + BAR_US);
}
END_TEST

START_TEST(only_what_was_seen_bars_when_only_that_is_wanted)
{
    struct rlk_facts facts = a_master();
    struct rlk_quarantine s;

    rlk_quarantine_init(&s, RLK_QUARANTINE_OBSERVED, TTL, 10000);
    facts.age_us = 0;
    facts.evicts = true;
    rlk_quarantine_greet(&s, &facts, NOW);
    expect_none(&s, NOW);
    facts.run = "run-b";
    rlk_quarantine_greet(&s, &facts, NOW + S);
    expect(&s, RLK_QUARANTINED_RESTARTED, NOW + S + BAR_US);
}
END_TEST

START_TEST(nothing_bars_when_nothing_is_wanted_but_it_is_remembered)
{
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_OFF);
    struct rlk_facts facts = a_master();

    facts.run = "run-b";
    facts.birth.mark = 78;
    facts.age_us = 0;
    facts.evicts = true;
    rlk_quarantine_greet(&s, &facts, NOW + S);
    ck_assert_str_eq(s.run, "run-b");
    ck_assert_uint_eq(s.mark, 78);
    rlk_quarantine_check_mark(&s, 79, NOW + S);
    ck_assert_uint_eq(s.mark, 79);
    rlk_quarantine_check_mark(&s, 0, NOW + S);
    rlk_quarantine_clock_moved(&s, 0, NOW + S);
    expect_none(&s, NOW + S);
}
END_TEST

START_TEST(a_server_that_tells_no_age_is_not_young)
{
    struct rlk_facts facts = a_master();
    struct rlk_quarantine s;

    rlk_quarantine_init(&s, RLK_QUARANTINE_STRICT, TTL, 10000);
    facts.age_us = RLK_NEVER;
    rlk_quarantine_greet(&s, &facts, NOW);
    expect_none(&s, NOW);
}
END_TEST

/* The reason told is the one that lasts longest; the others come out when it is over. */
START_TEST(the_reason_is_the_one_that_lasts_longest)
{
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_STRICT);
    struct rlk_facts facts = a_master();

    rlk_quarantine_clock_moved(&s, 0, NOW + 3 * S);
    facts.run = "run-b";
    rlk_quarantine_greet(&s, &facts, NOW + 2 * S);
    rlk_quarantine_check_mark(&s, 0, NOW + S);
    expect(&s, RLK_QUARANTINED_CLOCK, NOW + 3 * S + BAR_US);
    rlk_quarantine_clock_excused(&s);
    expect(&s, RLK_QUARANTINED_RESTARTED, NOW + 2 * S + BAR_US);
}
END_TEST

/* Time that seems to go back, as between two loop turns, makes no bar shorter. */
START_TEST(no_bar_gets_shorter)
{
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_STRICT);
    struct rlk_facts facts = a_master();

    facts.run = "run-b";
    rlk_quarantine_greet(&s, &facts, NOW + 2 * S);
    facts.run = "run-c";
    rlk_quarantine_greet(&s, &facts, NOW + S);
    expect(&s, RLK_QUARANTINED_RESTARTED, NOW + 2 * S + BAR_US);
    facts.durable = true;
    rlk_quarantine_greet(&s, &facts, NOW + 3 * S);
    expect(&s, RLK_QUARANTINED_RESTARTED, NOW + 2 * S + BAR_US);
}
END_TEST

/* A bar that cannot be reckoned any more does not end. */
START_TEST(a_bar_beyond_the_end_of_time_is_for_good)
{
    struct rlk_quarantine s = one_known(RLK_QUARANTINE_STRICT);
    uint64_t until;

    rlk_quarantine_clock_moved(&s, 0, RLK_NEVER - BAR_US + 1);
    ck_assert_int_eq(rlk_quarantine_reason(&s, RLK_NEVER, &until), RLK_QUARANTINED_CLOCK);
    ck_assert_uint_eq(until, RLK_NEVER);
    ck_assert(rlk_quarantine_is_clock_suspect(&s, RLK_NEVER));
    rlk_quarantine_clock_excused(&s);
    rlk_quarantine_clock_moved(&s, 0, RLK_NEVER - BAR_US - 1);
    expect(&s, RLK_QUARANTINED_CLOCK, RLK_NEVER - 1);
}
END_TEST

START_TEST(a_young_server_at_the_end_of_time_is_quarantined_for_good)
{
    struct rlk_facts facts = a_master();
    struct rlk_quarantine s;
    uint64_t until;

    rlk_quarantine_init(&s, RLK_QUARANTINE_STRICT, TTL, 10000);
    facts.age_us = 0;
    rlk_quarantine_greet(&s, &facts, RLK_NEVER - BAR_US - S + 1);
    ck_assert_int_eq(rlk_quarantine_reason(&s, RLK_NEVER - 1, &until), RLK_QUARANTINED_YOUNG);
    ck_assert_uint_eq(until, RLK_NEVER);
}
END_TEST

/* Forty characters are compared, whatever stands behind them; and no byte beyond them is read. */
START_TEST(of_a_run_only_so_much_counts)
{
    static const char a[] = "0123456789012345678901234567890123456789 and more";
    static const char b[] = "0123456789012345678901234567890123456789";
    static const char c[] = "012345678901234567890123456789012345678x";
    struct rlk_facts facts = {.run = a, .age_us = RLK_NEVER, .data_age_us = RLK_NEVER};
    struct rlk_quarantine s;
    char exact[RLK_RUN_MAX];

    rlk_quarantine_init(&s, RLK_QUARANTINE_STRICT, TTL, 10000);
    rlk_quarantine_greet(&s, &facts, NOW);
    ck_assert_str_eq(s.run, b);
    memcpy(exact, b, sizeof(exact));
    facts.run = exact;
    rlk_quarantine_greet(&s, &facts, NOW);
    expect_none(&s, NOW);
    facts.run = c;
    rlk_quarantine_greet(&s, &facts, NOW);
    expect(&s, RLK_QUARANTINED_RESTARTED, NOW + BAR_US);
    facts.run = "0123456789"; /* a shorter one is another one */
    rlk_quarantine_greet(&s, &facts, NOW + S);
    expect(&s, RLK_QUARANTINED_RESTARTED, NOW + S + BAR_US);
    ck_assert_str_eq(s.run, "0123456789");
}
END_TEST

START_TEST(the_quarantine_is_the_longest_ttl_with_the_drift_against_us)
{
    struct rlk_quarantine s;

    rlk_quarantine_init(&s, RLK_QUARANTINE_STRICT, TTL, 10000);
    ck_assert_uint_eq(s.quarantine_us, BAR_US);
    rlk_quarantine_init(&s, RLK_QUARANTINE_STRICT, 86400 * S, 0);
    ck_assert_uint_eq(s.quarantine_us, 86400 * S + 2000);
    expect_none(&s, 0);
}
END_TEST

START_TEST(the_run_that_was_greeted_last_is_known_and_no_other)
{
    struct rlk_quarantine s;
    struct rlk_facts facts = a_master();

    rlk_quarantine_init(&s, RLK_QUARANTINE_STRICT, TTL, 10000);
    ck_assert(!rlk_quarantine_knows(&s, "run-a") && !rlk_quarantine_knows(&s, ""));
    rlk_quarantine_greet(&s, &facts, NOW);
    ck_assert(rlk_quarantine_knows(&s, "run-a") && !rlk_quarantine_knows(&s, "run-b"));
    facts.run = "run-b";
    rlk_quarantine_greet(&s, &facts, NOW);
    ck_assert(rlk_quarantine_knows(&s, "run-b") && !rlk_quarantine_knows(&s, "run-a"));
}
END_TEST

static TCase *schedules(void)
{
    TCase *c = tcase_create("schedules");

    tcase_add_test(c, a_young_server_that_we_never_met_is_quarantined_until_it_is_old_enough);
    tcase_add_test(c, a_restart_seen_late_bars_from_when_it_is_seen);
    tcase_add_test(c, a_second_restart_bars_anew);
    tcase_add_test(c, an_uptime_that_lies_does_not_end_a_bar);
    tcase_add_loop_test(c, a_run_that_is_not_told_does_not_hide_a_restart, 0, 2);
    tcase_add_test(c, a_run_that_is_not_told_does_not_hide_another_mark);
    tcase_add_loop_test(c, a_run_that_becomes_known_late_is_another_one, 0, 2);
    tcase_add_loop_test(c, the_first_mark_after_none_could_be_read_bars, 0, 2);
    tcase_add_test(c, a_mark_that_could_not_be_read_for_a_while_is_compared);
    tcase_add_loop_test(c, a_master_that_was_a_replica_is_quarantined_from_when_it_is_none, 0, 2);
    tcase_add_test(c, a_promotion_that_nobody_saw_bars);
    tcase_add_test(c, a_step_is_to_be_put_on_record_once);
    tcase_add_loop_test(c, the_record_of_an_earlier_step_is_none_of_this_one, 0, 2);
    tcase_add_test(c, a_record_is_no_later_than_the_clock);
    tcase_add_test(c, nothing_is_put_on_record_without_a_quarantine);
    tcase_add_test(c, a_step_that_another_put_on_record_is_left_at_that);
    tcase_add_loop_test(c, a_record_bars_who_has_not_known_the_clock_for_long, 0, 2);
    tcase_add_loop_test(c, a_record_bars_who_has_not_looked_for_long, 0, 2);
    tcase_add_test(c, only_a_later_birth_of_the_same_data_is_a_record);
    tcase_add_loop_test(c, data_are_data_replaced_or_kept, 0, 9);
    tcase_add_test(c, a_look_finds_data_data_replaced);
    tcase_add_test(c, a_mark_that_is_gone_bars);
    tcase_add_test(c, a_mark_that_another_client_has_made_anew_bars);
    tcase_add_test(c, without_a_mark_data_can_be_lost_again);
    tcase_add_test(c, a_mark_that_a_restart_did_not_tell_is_still_compared);
    tcase_add_test(c, a_durable_server_that_kept_its_mark_restarts_freely);
    tcase_add_test(c, a_durable_server_that_lost_its_mark_is_quarantined);
    tcase_add_test(c, a_durable_server_that_shows_no_mark_counts_by_its_run);
    tcase_add_test(c, a_restart_that_makes_a_server_durable_is_none_of_a_durable_server);
    tcase_add_test(c,
                   a_server_that_evicts_is_quarantined_until_long_after_it_says_that_it_does_not);
    tcase_add_test(c, a_server_that_stops_evicting_by_a_restart_is_still_quarantined);
    tcase_add_test(c, a_clock_that_moved_bars_votes_and_confirmations);
    tcase_add_test(c, a_clock_that_keeps_time_again_confirms_and_does_not_vote);
    tcase_add_loop_test(c, a_record_of_a_run_that_we_have_not_met_bars, 0, 2);
    tcase_add_test(c, what_is_on_record_of_a_run_that_lost_its_data_is_no_news);
    tcase_add_loop_test(c, a_durable_stranger_is_as_old_as_its_data, 0, 2);
    tcase_add_test(c, eviction_that_is_switched_on_bars_until_long_after_it_is_off);
    return c;
}

static TCase *rules(void)
{
    TCase *c = tcase_create("rules");

    tcase_add_test(c, a_clock_that_is_excused_bars_no_more);
    tcase_add_test(c, only_a_clock_makes_a_server_clock_suspect);
    tcase_add_test(c, the_same_again_bars_nothing);
    tcase_add_test(c, a_mark_that_becomes_known_late_is_remembered);
    tcase_add_test(c, the_mark_of_another_run_is_remembered);
    tcase_add_test(c, only_what_was_seen_bars_when_only_that_is_wanted);
    tcase_add_test(c, nothing_bars_when_nothing_is_wanted_but_it_is_remembered);
    tcase_add_test(c, a_server_that_tells_no_age_is_not_young);
    tcase_add_test(c, the_reason_is_the_one_that_lasts_longest);
    tcase_add_test(c, no_bar_gets_shorter);
    tcase_add_test(c, a_bar_beyond_the_end_of_time_is_for_good);
    tcase_add_test(c, a_young_server_at_the_end_of_time_is_quarantined_for_good);
    tcase_add_test(c, the_run_that_was_greeted_last_is_known_and_no_other);
    tcase_add_test(c, of_a_run_only_so_much_counts);
    tcase_add_test(c, the_quarantine_is_the_longest_ttl_with_the_drift_against_us);
    return c;
}

static Suite *suite(void)
{
    Suite *s = suite_create("quarantine");

    suite_add_tcase(s, schedules());
    suite_add_tcase(s, rules());
    return s;
}

int main(int argc, char **argv)
{
    Suite *(*const suites[])(void) = {suite, NULL};

    return rlk_test_main(argc, argv, suites);
}
