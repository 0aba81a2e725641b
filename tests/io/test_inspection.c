/* io/test_inspection.c - what masters are asked about themselves, and what they may deny. */
#include "io/rig.h"
#include "lib/test.h"

SUITE("inspection");
FIXTURE(NULL, farm_end_all);

static void note(void *arg)
{
    *(int *)arg = 1;
}

/* A majority is silent, so the close would wait for the timeout, which does not pass here. */
TEST(a_close_waits_for_no_inspection)
{
    size_t before, i;
    int closed = 0;

    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    before = fake_count(rig.nodes[0], "EVAL");
    farm_on(&rig, 0, 3, "EVAL", FAKE_STALL, NULL);
    rig_pass_ms(RIG_HEALTH_MS);
    for (i = 0; i < 3; i++) {
        farm_wait_count(&rig, i, "EVAL", before + 1);
    }
    ck_assert_int_eq(redlock_close(rig.rl, note, &closed), REDLOCK_OK);
    rig.rl = NULL;
    loop_must(rig.base, &closed);
}

/* ---- commands that are denied ---- */

#define NOPERM "-NOPERM this user has no permissions to run the '%s' command\r\n"

/* The master denies scripts from the start. Its votes count, its clock is inspected, and each
 * inspection asks for its mark. The first mark counts as a change, because its data may have been
 * lost before. */
TEST(a_master_that_denies_scripts_is_asked_for_the_time_and_for_the_mark)
{
    size_t before, greetings;

    rig_set_up(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    fake_on(rig.nodes[0], "EVAL", FAKE_REPLY, NOPERM);
    farm_open(&rig);
    rig_must_count(0);
    rig_vote_must_count("k", 0);
    before = fake_count(rig.nodes[0], "EVAL");
    rig_pass_ms(RIG_HEALTH_MS);
    farm_wait_count(&rig, 0, "TIME", 1);
    rig_pass_ms(RIG_HEALTH_MS);
    farm_wait_count(&rig, 0, "TIME", 2);
    farm_wait_count(&rig, 0, "EVAL", before + 2);
    rig_must_count(0);
    rig_set_clock_forward(0, 100000);
    rig_pass_ms(RIG_HEALTH_MS);
    rig_wait_until_quarantined(0);
    rig_must_be_quarantined(0, "clock");

    greetings = rig_greetings(0);
    fake_behave(rig.nodes[0]);
    rig_pass_ms(RIG_HEALTH_MS);
    rig_wait_until_greeted(0, greetings);
    rig_must_be_quarantined(0, "data were deleted");
    rig_pass_ms(RIG_QUARANTINE_MS);
    rig_vote_must_count("k", 0);
}

static void deny_later(void)
{
    fake_on(rig.nodes[0], "EVAL", FAKE_REPLY, NOPERM);
    rig_pass_ms(RIG_HEALTH_MS);
    rig_wait_until_quarantined(0);
    rig_must_be_quarantined(0, "no longer lets us see whether it lost its data: NOPERM");
}

static void allow_again(void)
{
    size_t before = fake_count(rig.nodes[0], "EVAL");

    fake_behave(rig.nodes[0]);
    rig_pass_ms(RIG_HEALTH_MS);
    farm_wait_count(&rig, 0, "EVAL", before + 1);
    loop_settle(rig.base);
}

/* [S11] The master has shown its mark before. If it shows the same one again, nothing was lost. */
TEST(a_master_that_denies_scripts_later_does_not_vote)
{
    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    deny_later();
    rig_vote_must_not_count("k", 0, "no longer lets us see");
    rig_pass_ms(RIG_QUARANTINE_MS);
    rig_must_be_quarantined(0, "allow us EVAL");
    allow_again();
    rig_must_count(0);
    rig_vote_must_count("k", 0);
}

/* By _i: the master loses its data before it allows scripts again, or after that. */
TEST_LOOP(a_loss_is_noticed_after_a_denial, 0, 2)
{
    size_t greetings;

    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    deny_later();
    if (_i) {
        allow_again();
        rig_must_count(0);
    }
    rlk_model_flush(rig_model(0));
    greetings = rig_greetings(0);
    allow_again();
    rig_wait_until_greeted(0, greetings);
    rig_must_be_quarantined(0, "data were deleted");
    rig_vote_must_not_count("k", 0, "data were deleted");
}

/* The handshake of an earlier connection has read the mark; that of the next one may not. */
TEST(a_master_that_denies_scripts_after_a_reconnect_does_not_vote)
{
    rig_start(REDLOCK_QUARANTINE_LENIENT, RIG_HEALTH_MS);
    fake_on(rig.nodes[0], "EVAL", FAKE_REPLY, NOPERM);
    rig_reconnect(0);
    rig_vote_must_not_count("k", 0, "no longer lets us see");
    allow_again();
    rig_vote_must_count("k", 0);
}

/* [S7] The leases of held locks depend on the clock of the master. */
TEST(the_clock_of_a_master_that_denies_scripts_later_is_inspected)
{
    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    deny_later();
    rig_pass_ms(RIG_HEALTH_MS);
    farm_wait_count(&rig, 0, "TIME", 1);
    rig_set_clock_forward(0, 100000);
    rig_pass_ms(RIG_HEALTH_MS);
    farm_wait_count(&rig, 0, "TIME", 2);
    loop_settle(rig.base);
    allow_again();
    rig_must_be_quarantined(0, "clock");
}

/* With inspection_ms 0 only votes ask for the mark. After a denial we ask for it every second. By
 * _i: the master denies scripts from the start, or later. */
TEST_LOOP(a_denial_without_regular_inspections_is_asked_about_again, 0, 2)
{
    size_t before, greetings;

    rig_set_up(REDLOCK_QUARANTINE_STRICT, 0);
    if (_i) {
        farm_open(&rig);
    }
    fake_on(rig.nodes[0], "EVAL", FAKE_REPLY, NOPERM);
    if (_i) {
        rig_pass_ms(6000); /* the record is old by then */
        farm_must_acquire(&rig, "other");
        rig_wait_until_quarantined(0);
    } else {
        farm_open(&rig);
    }
    before = fake_count(rig.nodes[0], "EVAL");
    rig_pass_ms(1000);
    farm_wait_count(&rig, 0, "EVAL", before + 1);
    rlk_model_flush(rig_model(0));
    greetings = rig_greetings(0);
    fake_behave(rig.nodes[0]);
    rig_pass_ms(1000);
    rig_wait_until_greeted(0, greetings);
    rig_must_be_quarantined(0, "data were deleted");
}

/* The master may be able to answer in a moment: it is asked again, and does not vote before. */
TEST(a_master_that_is_out_of_memory_is_asked_again)
{
    size_t before;

    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    fake_on_next(rig.nodes[0], 1, "EVAL", FAKE_REPLY, "-OOM no\r\n", 9);
    before = fake_count(rig.nodes[0], "EVAL");
    rig_pass_ms(RIG_HEALTH_MS);
    rig_wait_until_quarantined(0);
    rig_must_be_quarantined(0, "its memory is full (OOM)");
    ck_assert(rig_quarantine_ms(0) == UINT64_MAX);
    rig_pass_ms(RIG_HEALTH_MS);
    farm_wait_count(&rig, 0, "EVAL", before + 2);
    rig_wait_until_it_counts(0);
    rig_vote_must_count("k", 0);
}

/* Nothing would show that it restarted, and lost its locks. */
TEST(a_master_that_denies_info_has_no_vote)
{
    rig_set_up(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    fake_on(rig.nodes[0], "INFO", FAKE_REPLY, NOPERM);
    farm_open(&rig);
    rig_must_be_quarantined(0, "does not tell us its run_id");
    rig_vote_must_not_count("k", 0, "allow us INFO");
    rig_pass_ms(RIG_QUARANTINE_MS);
    rig_must_be_quarantined(0, "quarantine=lenient");
    fake_behave(rig.nodes[0]);
    rig_reconnect(0);
    rig_must_be_quarantined(0, "it restarted");
    rig_pass_ms(RIG_QUARANTINE_MS);
    rig_vote_must_count("k", 0);
}

/* By _i: with regular inspections, or without. */
TEST_LOOP(a_master_that_shows_its_run_later_gets_a_new_handshake, 0, 2)
{
    unsigned pause_ms = _i ? 1000 : RIG_HEALTH_MS;
    size_t i, greetings;

    rig_set_up(REDLOCK_QUARANTINE_STRICT, _i ? 0 : RIG_HEALTH_MS);
    fake_on(rig.nodes[0], "INFO", FAKE_REPLY, NOPERM);
    farm_open(&rig);
    greetings = rig_greetings(0);
    for (i = 1; i <= 4; i++) {
        rig_pass_ms(pause_ms);
        farm_wait_count(&rig, 0, "TIME", i);
    }
    ck_assert_uint_eq(rig_greetings(0), greetings);
    rig_must_be_quarantined(0, "does not tell us its run_id");
    fake_behave(rig.nodes[0]);
    rig_pass_ms(pause_ms);
    farm_wait_count(&rig, 0, "TIME", i);
    rig_pass_ms(pause_ms);
    rig_wait_until_greeted(0, greetings);
    rig_must_be_quarantined(0, "it restarted");
    rig_pass_ms(RIG_QUARANTINE_MS);
    rig_vote_must_count("k", 0);
    farm_end(&rig);
}

TEST(with_lenient_a_master_that_denies_info_votes)
{
    rig_set_up(REDLOCK_QUARANTINE_LENIENT, RIG_HEALTH_MS);
    fake_on(rig.nodes[0], "INFO", FAKE_REPLY, NOPERM);
    fake_on(rig.nodes[0], "CONFIG", FAKE_REPLY, NOPERM);
    rig_model(0)->uptime_s = 0;
    farm_open(&rig);
    rig_must_count(0);
    rig_vote_must_count("k", 0);
    rig_pass_ms(RIG_HEALTH_MS);
    farm_wait_count(&rig, 0, "TIME", 1);
}

static void must_have_been_asked(size_t node, const char *const *words)
{
    size_t i;

    for (i = 0; words[i]; i++) {
        ck_assert_msg(fake_find(rig.nodes[node], 0, i, words[i]) == (long)i, "%zu: %s, not %s", i,
                      fake_text(rig.nodes[node], 0, i), words[i]);
    }
    ck_assert_uint_eq(fake_n_commands(rig.nodes[node], 0), i);
}

TEST_LOOP(the_greeting_is_in_order, 0, 3)
{
    static const char *const all[] = {"HELLO 2",
                                      "CLIENT SETNAME",
                                      "INFO server",
                                      "INFO replication",
                                      "INFO memory",
                                      "INFO persistence",
                                      "INFO commandstats",
                                      "INFO stats",
                                      "CONFIG GET [an]*pendfsync*",
                                      "DELEX",
                                      "DELIFEQ",
                                      "SCRIPT LOAD",
                                      "TRY EVALSHA",
                                      "TRY EVAL",
                                      "EVAL",
                                      NULL};
    static const char *const few[] = {
        "HELLO 2", "CLIENT SETNAME", "INFO server", "INFO replication", "DELEX",
        "DELIFEQ", "SCRIPT LOAD",    "TRY EVALSHA", "TRY EVAL",         NULL};

    rig_start((enum redlock_quarantine)_i, RIG_NO_HEALTH_MS);
    must_have_been_asked(0, _i == REDLOCK_QUARANTINE_OFF ? few : all);
}

TEST(the_incarnation_key_is_written_where_whole_scripts_are_replicated)
{
    rig_set_up(REDLOCK_QUARANTINE_STRICT, RIG_NO_HEALTH_MS);
    rlk_model_del(rig_model(0), "redlock:incarnation");
    rig_model(0)->whole_scripts = true;
    farm_open(&rig);
    ck_assert_ptr_nonnull(rlk_model_get(rig_model(0), "redlock:incarnation"));
}

TEST(the_incarnation_key_has_the_prefix)
{
    rig_set_up(REDLOCK_QUARANTINE_STRICT, RIG_NO_HEALTH_MS);
    rig_leave_out_record();
    rlk_model_del(rig_model(0), "redlock:incarnation");
    rig.options.key_prefix = "app:";
    farm_open(&rig);
    ck_assert_ptr_nonnull(rlk_model_get(rig_model(0), "app:redlock:incarnation"));
    ck_assert_uint_eq(rlk_model_count(rig_model(0)), 1);
}

TEST(with_the_quarantine_off_no_key_is_left)
{
    rig_start(REDLOCK_QUARANTINE_OFF, RIG_HEALTH_MS);
    rig_pass_ms(RIG_HEALTH_MS);
    farm_wait_count(&rig, 0, "TIME", 1);
    ck_assert_uint_eq(rlk_model_count(rig_model(0)), 0);
}

/* Without a mark, the statistics of its commands are all that there is to judge by. */
TEST_LOOP(without_a_mark_a_suspect_does_not_vote, 0, 2)
{
    rig_set_up(REDLOCK_QUARANTINE_STRICT, RIG_NO_HEALTH_MS);
    fake_on(rig.nodes[0], "EVAL", FAKE_REPLY, NOPERM);
    rig_model(0)->flushes = _i == 0;
    rig_model(0)->promoted = _i == 1;
    farm_open(&rig);
    rig_must_be_quarantined(0, "lost its data");
    rig_vote_must_not_count("k", 0, "lost its data");
    rig_pass_ms(RIG_QUARANTINE_MS + 1000);
    rig_must_count(0);
    rig_vote_must_count("k", 0);
}

/* The master votes, although nobody can see whether it should, or it does not: its text says so. */
TEST_LOOP(a_denied_inspection_is_reported, 0, 6)
{
    static const char *const refused[] = {"INFO", "EVAL"};
    static const char *const texts[] = {"allow us INFO", "allow us EVAL"};
    bool votes = _i != 0; /* INFO, with strict */

    rig_set_up((enum redlock_quarantine)(_i / 2), RIG_NO_HEALTH_MS);
    fake_on(rig.nodes[0], refused[_i % 2], FAKE_REPLY, NOPERM);
    farm_open(&rig);
    if (votes) {
        rig_must_count(0);
    }
    if (_i / 2 == REDLOCK_QUARANTINE_OFF) {
        ck_assert_ptr_null(strstr(farm_error(&rig, 0), "allow us"));
    } else {
        ck_assert_ptr_nonnull(strstr(farm_error(&rig, 0), texts[_i % 2]));
    }
    ck_assert_ptr_null(strstr(farm_error(&rig, 1), "allow us"));
}

/* ---- masters that cannot answer for now ---- */

static const struct {
    const char *command;
    const char *bytes;
} for_now[] = {
    {"INFO server", "-BUSY Redis is busy running a script.\r\n"},
    {"INFO server", "-LOADING Redis is loading the dataset in memory\r\n"},
    {"INFO replication", "-LOADING Redis is loading the dataset in memory\r\n"},
    {"INFO persistence", "-BUSY Redis is busy running a script.\r\n"},
    {"EVAL", "-BUSY Redis is busy running a script.\r\n"},
    {"EVAL", "-LOADING Redis is loading the dataset in memory\r\n"},
};
#define N_FOR_NOW ((int)(sizeof(for_now) / sizeof(for_now[0])))

/* The master lost its data a moment ago, and its answers do not show it: it must not vote before
 * it is inspected. */
TEST_LOOP(a_master_that_cannot_answer_for_now_is_asked_again, 0, N_FOR_NOW)
{
    rig_set_up(REDLOCK_QUARANTINE_STRICT, RIG_NO_HEALTH_MS);
    rlk_model_del(rig_model(0), "redlock:incarnation");
    fake_on(rig.nodes[0], for_now[_i].command, FAKE_REPLY, for_now[_i].bytes);
    farm_open_at_once(&rig);
    farm_wait_error(&rig, 0, "for now");
    farm_wait_count(&rig, 0, "HELLO", 3);
    ck_assert_int_ne(farm_state(&rig, 0), REDLOCK_NODE_UP);
    fake_behave(rig.nodes[0]);
    farm_wait(&rig, 0, REDLOCK_NODE_UP);
    rig_must_be_quarantined(0, "a short time ago");
}

/* A master that is out of memory refuses the script, and all votes, too. When it has memory
 * again, its data may have been deleted to get it, before its first mark was read. */
TEST_LOOP(a_master_that_is_out_of_memory_is_greeted_and_does_not_vote, 0, 2)
{
    size_t greetings;

    rig_set_up((enum redlock_quarantine)_i, RIG_HEALTH_MS);
    rig_leave_out_record();
    fake_on(rig.nodes[0], "EVAL", FAKE_REPLY, "-OOM command not allowed\r\n");
    farm_open(&rig);
    ck_assert_uint_eq(fake_count(rig.nodes[0], "HELLO"), 1);
    rig_must_be_quarantined(0, "its memory is full (OOM)");
    rlk_model_flush(rig_model(0));
    fake_behave(rig.nodes[0]);
    rig_vote_must_not_count("k", 0, "its memory is full (OOM)");
    greetings = rig_greetings(0);
    rig_pass_ms(RIG_HEALTH_MS);
    rig_wait_until_greeted(0, greetings);
    rig_must_be_quarantined(0, "data were deleted");
    rig_vote_must_not_count("k", 0, "data were deleted");
    rig_pass_ms(RIG_QUARANTINE_MS);
    rig_must_count(0);
    rig_vote_must_count("k", 0);
}

/* The master is known, and its next greeting cannot read its mark. As soon as it shows the mark
 * that we know, it votes. */
TEST(a_known_mark_that_is_read_again_counts_at_once)
{
    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    fake_on(rig.nodes[0], "EVAL", FAKE_REPLY, "-MISCONF cannot save\r\n");
    rig_reconnect(0);
    rig_must_be_quarantined(0, "(MISCONF)");
    fake_behave(rig.nodes[0]);
    rig_pass_ms(RIG_HEALTH_MS);
    rig_wait_until_it_counts(0);
    rig_vote_must_count("k", 0);
}

/* EVAL is denied at first: the data may have been deleted before it was allowed. */
TEST_LOOP(the_first_mark_that_can_be_read_quarantines, 0, 2)
{
    rig_set_up((enum redlock_quarantine)_i, RIG_NO_HEALTH_MS);
    fake_on(rig.nodes[0], "EVAL", FAKE_REPLY, NOPERM);
    farm_open(&rig);
    rig_must_count(0);
    fake_behave(rig.nodes[0]);
    rig_reconnect(0);
    rig_must_be_quarantined(0, "data were deleted");
}

/* INFO was allowed, and is now denied (the ACL is in the configuration, so the server
 * restarted); or the other way round. */
TEST_LOOP(a_run_id_that_disappears_or_appears_quarantines, 0, 4)
{
    bool strict = _i / 2 == REDLOCK_QUARANTINE_STRICT;

    rig_set_up((enum redlock_quarantine)(_i / 2), RIG_NO_HEALTH_MS);
    if (_i % 2) {
        fake_on(rig.nodes[0], "INFO", FAKE_REPLY, NOPERM);
    }
    farm_open(&rig);
    if (strict && _i % 2) {
        rig_must_be_quarantined(0, "run_id");
    } else {
        rig_must_count(0);
    }
    if (_i % 2) {
        fake_behave(rig.nodes[0]);
    } else {
        fake_on(rig.nodes[0], "INFO", FAKE_REPLY, NOPERM);
    }
    rig_reconnect(0);
    rig_must_be_quarantined(0, strict && _i % 2 == 0 ? "run_id" : "restarted");
}

/* Its clock was set back since it started: a negative uptime is not a great age, where the mark
 * cannot be read. */
TEST(a_negative_uptime_without_a_mark_is_young)
{
    rig_set_up(REDLOCK_QUARANTINE_STRICT, RIG_NO_HEALTH_MS);
    rig_model(0)->uptime_s = -3599;
    fake_on(rig.nodes[0], "EVAL", FAKE_REPLY, NOPERM);
    farm_open(&rig);
    rig_must_be_quarantined(0, "a short time ago");
    rig_pass_ms(RIG_QUARANTINE_MS + 1000);
    rig_must_count(0);
}

/* Its clock was set back by more than its uptime, and its mark is older than the longest ttl. New
 * clients need not wait for as long as the step was. */
TEST(a_negative_uptime_does_not_matter_to_a_mark)
{
    rig_set_up(REDLOCK_QUARANTINE_STRICT, RIG_NO_HEALTH_MS);
    rig_model(0)->uptime_s = -3599;
    farm_open(&rig);
    rig_must_count(0);
}

TEST(a_master_that_is_loading_its_data_is_asked_again)
{
    rig_set_up(REDLOCK_QUARANTINE_STRICT, RIG_NO_HEALTH_MS);
    rig_model(0)->loading = true;
    farm_open_at_once(&rig);
    farm_wait_error(&rig, 0, "is loading its data");
    farm_wait_count(&rig, 0, "HELLO", 3);
    ck_assert_int_ne(farm_state(&rig, 0), REDLOCK_NODE_UP);
    ck_assert_uint_eq(fake_count(rig.nodes[0], "EVAL"), 0);
    rig_model(0)->loading = false;
    farm_wait(&rig, 0, REDLOCK_NODE_UP);
}

/* ---- inspections ---- */

TEST(a_master_is_inspected_as_long_as_it_is_connected)
{
    size_t i, before;

    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    for (i = 1; i <= 3; i++) {
        rig_pass_ms(RIG_HEALTH_MS);
        farm_wait_count(&rig, 0, "EVAL", 1 + i);
        farm_wait_count(&rig, 1, "EVAL", 1 + i);
    }
    fake_down(rig.nodes[0]);
    farm_wait(&rig, 0, REDLOCK_NODE_DOWN);
    before = fake_count(rig.nodes[0], "EVAL");
    for (i = 5; i <= 8; i++) {
        rig_pass_ms(RIG_HEALTH_MS);
        farm_wait_count(&rig, 1, "EVAL", i);
    }
    ck_assert_uint_eq(fake_count(rig.nodes[0], "EVAL"), before);
    fake_up(rig.nodes[0]);
    farm_wait(&rig, 0, REDLOCK_NODE_UP);
    rig_must_count(0);
    farm_wait_count(&rig, 0, "EVAL", before + 1);
    rig_pass_ms(RIG_HEALTH_MS);
    farm_wait_count(&rig, 0, "EVAL", before + 2);
}

TEST(inspections_do_not_pile_up_when_they_are_not_answered)
{
    size_t i, before;

    rig_start(REDLOCK_QUARANTINE_STRICT, RIG_HEALTH_MS);
    before = fake_count(rig.nodes[0], "EVAL");
    fake_pause(rig.nodes[0]);
    for (i = 0; i < 5; i++) {
        rig_pass_ms(RIG_HEALTH_MS);
        farm_wait_count(&rig, 1, "EVAL", 2 + i);
    }
    fake_go_on(rig.nodes[0]);
    farm_wait_count(&rig, 0, "EVAL", before + 1);
    loop_settle(rig.base);
    ck_assert_uint_eq(fake_count(rig.nodes[0], "EVAL"), before + 1);
    rig_pass_ms(RIG_HEALTH_MS);
    farm_wait_count(&rig, 0, "EVAL", before + 2);
}

/* [S11] While no vote is asked for and no lock is held, seldom. */
TEST(a_master_that_nobody_relies_on_is_inspected_less_often)
{
    size_t before, states, i;

    rig_start(REDLOCK_QUARANTINE_STRICT, 1000);
    before = fake_count(rig.nodes[0], "EVAL");
    states = fake_count(rig.nodes[0], "INFO persistence");
    for (i = 0; i < 30; i++) {
        rig_pass_ms(1000);
    }
    loop_settle(rig.base);
    ck_assert_uint_ge(fake_count(rig.nodes[0], "EVAL"), before + 5);
    ck_assert_uint_le(fake_count(rig.nodes[0], "EVAL"), before + 6);
    ck_assert_uint_eq(fake_count(rig.nodes[0], "INFO persistence"), states + 1);
}

/* The last inspection was longer ago than inspection_ms: there is one before the vote, and every
 * inspection_ms while the lock lasts. */
TEST(a_round_begins_with_an_inspection)
{
    size_t before, i;

    rig_start(REDLOCK_QUARANTINE_STRICT, 1000);
    rig_idle();
    before = fake_count(rig.nodes[0], "EVAL");
    farm_must_acquire(&rig, "k");
    ck_assert_uint_eq(fake_count(rig.nodes[0], "EVAL"), before + 1);
    ck_assert_int_lt(fake_find(rig.nodes[0], 0, fake_n_commands(rig.nodes[0], 0) - 3, "EVAL"),
                     fake_find(rig.nodes[0], 0, 0, "SET k"));
    for (i = 1; i <= 3; i++) {
        rig_pass_ms(1000);
        loop_settle(rig.base);
        ck_assert_uint_eq(fake_count(rig.nodes[0], "EVAL"), before + 1 + i);
    }
}
