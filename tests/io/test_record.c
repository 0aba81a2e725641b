/* io/test_record.c - the record of the masters: who writes it, who goes by it, and what servers may
 * do about it [S15]. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/farm.h"
#include "io/held.h"
#include "io/scripts.h"
#include "io/suspend.h"
#include "io/watch.h"
#include "lib/test.h"

SUITE("record");

#define KEY "redlock:masters"
#define MASTERS 3
#define MAX_TTL_MS 200000u

/* max_ttl_ms, the drift, 5 s, and the drift of both. */
#define WAIT_MS 209100u

/* When the next inspection is due. */
#define INSPECTION_MS 50000u

/* A pause before a writing is shorter, also after some that failed. */
#define PAUSES_MS 8000u

static struct farm f;
static struct redlock *other; /* a second client, if there is one */

static void end(void)
{
    if (other) {
        watch_close(f.base, other);
        other = NULL;
    }
    farm_end_all();
}

FIXTURE(NULL, end);

/* ---- clients and masters ---- */

static struct model *model_of(size_t node)
{
    return fake_model(f.nodes[node]);
}

/* Nobody waits for the quarantine of masters that it sees for the first time. */
static void set_up(size_t n)
{
    farm_start(&f, n, FAKE_UNIX);
    f.options.quarantine = REDLOCK_QUARANTINE_LENIENT;
    f.options.max_ttl_ms = MAX_TTL_MS;
    f.options.inspection_ms = INSPECTION_MS;
}

static void start(void)
{
    set_up(MASTERS);
    farm_open(&f);
}

/* For us and for the servers alike. */
static void pass_ms(unsigned ms)
{
    size_t i;

    loop_settle(f.base);
    for (i = 0; i < f.n; i++) {
        model_of(i)->clock_us += ms * UINT64_C(1000);
    }
    suspend_ms(ms);
    loop_settle(f.base);
}

/* One that has the options of the first, but for what was changed since. */
static void open_other(void)
{
    size_t i;

    ck_assert_int_eq(redlock_new(f.base, &f.options, &other), REDLOCK_OK);
    for (i = 0; i < f.options.n_nodes; i++) {
        watch_for_state(f.base, other, i, REDLOCK_NODE_UP);
    }
}

static int acquire_by(struct redlock *rl, const char *key)
{
    struct redlock_request request = outcome_request(key);
    struct outcome got = outcome_of_acquire(f.base, rl, f.options.n_nodes, &request);

    if (got.status == REDLOCK_OK) {
        ck_assert_int_eq(outcome_of_release(f.base, got.lock), REDLOCK_OK);
    }
    return got.status;
}

static void must_acquire(struct redlock *rl)
{
    ck_assert_int_eq(acquire_by(rl, "k"), REDLOCK_OK);
}

/* ---- the record ---- */

static struct redlock_record_info info_of(struct redlock *rl)
{
    struct redlock_record_info info = {.size = sizeof(info)};

    ck_assert_int_eq(redlock_get_record(rl, &info), REDLOCK_OK);
    return info;
}

static struct redlock_record_master entry_of(struct redlock *rl, size_t index)
{
    struct redlock_record_master master = {.size = sizeof(master)};

    ck_assert_int_eq(redlock_get_record_master(rl, index, &master), REDLOCK_OK);
    return master;
}

static void state_must_be(struct redlock *rl, enum redlock_record_state state)
{
    ck_assert_int_eq(info_of(rl).state, state);
}

/* The error of REDLOCK_RECORD_OTHER; then nothing can be acquired. */
static void must_misfit(struct redlock *rl, const char *word)
{
    ck_assert_int_eq(acquire_by(rl, "misfit"), REDLOCK_ECONFIG);
    state_must_be(rl, REDLOCK_RECORD_OTHER);
    ck_assert_msg(strstr(info_of(rl).error, word) != NULL, "%s", info_of(rl).error);
}

static size_t count_records(void)
{
    size_t i, n = 0;

    for (i = 0; i < f.n; i++) {
        const char *value = rlk_model_get(model_of(i), KEY);

        n += value && strstr(value, "\n1 ");
    }
    return n;
}

static uint64_t quarantine_ms(struct redlock *rl, size_t node)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    ck_assert_int_eq(redlock_get_node_info(rl, node, &info), REDLOCK_OK);
    return info.quarantine_ms;
}

static const char *mark_of(size_t node)
{
    static char mark[17];

    snprintf(mark, sizeof(mark), "%.16s",
             rlk_model_get(model_of(node), "redlock:incarnation") + 41);
    return mark;
}

/* ---- the first record ---- */

TEST(an_acquire_writes_the_first_record)
{
    size_t i;

    start();
    state_must_be(f.rl, REDLOCK_RECORD_NONE);
    must_acquire(f.rl);
    ck_assert_uint_eq(count_records(), MASTERS);
    state_must_be(f.rl, REDLOCK_RECORD_AGREED);
    ck_assert_str_eq(info_of(f.rl).error, "");
    ck_assert_uint_eq(info_of(f.rl).epoch, 1);
    ck_assert_uint_eq(info_of(f.rl).max_ttl_ms, MAX_TTL_MS);
    ck_assert_uint_eq(info_of(f.rl).n_entries, MASTERS);
    ck_assert_uint_eq(info_of(f.rl).shown_by, MASTERS);
    for (i = 0; i < MASTERS; i++) {
        ck_assert_ptr_nonnull(strstr(rlk_model_get(model_of(0), KEY), mark_of(i)));
        ck_assert_int_eq(strncmp(entry_of(f.rl, i).address, f.uris[i], strlen(f.uris[i])), 0);
        ck_assert_ptr_nonnull(strstr(entry_of(f.rl, i).address, " on "));
        ck_assert_int_eq(entry_of(f.rl, i).node, (int)i);
        ck_assert_uint_eq(entry_of(f.rl, i).from_epoch, 1);
        ck_assert_uint_eq(entry_of(f.rl, i).until_epoch, 0);
        ck_assert_int_eq(entry_of(f.rl, i).lost, 0);
    }
}

/* One promise and one acceptance for each; and no more as long as nothing changes. */
TEST(the_record_is_written_once)
{
    size_t i;

    start();
    must_acquire(f.rl);
    must_acquire(f.rl);
    pass_ms(INSPECTION_MS);
    pass_ms(INSPECTION_MS);
    for (i = 0; i < MASTERS; i++) {
        ck_assert_uint_eq(scripts_count(&f, i, &rlk_script_masters), 2);
    }
}

TEST(the_record_has_the_prefix)
{
    set_up(MASTERS);
    f.options.key_prefix = "app:";
    farm_open(&f);
    must_acquire(f.rl);
    ck_assert_ptr_nonnull(rlk_model_get(model_of(0), "app:" KEY));
    ck_assert_ptr_null(rlk_model_get(model_of(0), KEY));
}

TEST(who_only_looks_writes_no_first_record)
{
    start();
    pass_ms(INSPECTION_MS);
    pass_ms(INSPECTION_MS);
    ck_assert_uint_eq(count_records(), 0);
    state_must_be(f.rl, REDLOCK_RECORD_NONE);
}

TEST(a_second_client_writes_nothing)
{
    start();
    must_acquire(f.rl);
    open_other();
    must_acquire(other);
    state_must_be(other, REDLOCK_RECORD_AGREED);
    pass_ms(PAUSES_MS);
    ck_assert_uint_eq(scripts_count(&f, 0, &rlk_script_masters), 2);
}

/* [M2] An acquire waits until each of them was tried. */
TEST(no_first_record_is_written_without_every_master)
{
    set_up(MASTERS);
    fake_down(f.nodes[2]);
    farm_open_at_once(&f);
    must_acquire(f.rl);
    ck_assert_uint_eq(count_records(), 0);
    state_must_be(f.rl, REDLOCK_RECORD_NONE);
    fake_up(f.nodes[2]);
    farm_wait(&f, 2, REDLOCK_NODE_UP);
    pass_ms(PAUSES_MS);
    ck_assert_uint_eq(count_records(), MASTERS);
}

/* An acquire that is asked for before there is a connection writes it as well. */
TEST(an_acquire_before_the_first_connection_gets_a_lock)
{
    set_up(5);
    farm_open_at_once(&f);
    must_acquire(f.rl);
    ck_assert_uint_eq(count_records(), 5);
    ck_assert_uint_eq(fake_count(f.nodes[0], "SET k"), 1);
}

TEST_LOOP(there_is_no_record_without, 0, 2)
{
    set_up(MASTERS);
    if (_i) {
        f.options.record = 0;
    } else {
        f.options.quarantine = REDLOCK_QUARANTINE_OFF;
    }
    farm_open(&f);
    must_acquire(f.rl);
    pass_ms(PAUSES_MS);
    ck_assert_uint_eq(count_records(), 0);
    ck_assert_uint_eq(scripts_count(&f, 0, &rlk_script_masters), 0);
    state_must_be(f.rl, _i ? REDLOCK_RECORD_OFF : REDLOCK_RECORD_NONE);
    ck_assert_uint_eq(info_of(f.rl).epoch, 0);
    ck_assert_uint_eq(info_of(f.rl).n_entries, 0);
}

/* ---- another list ---- */

TEST(a_client_with_another_max_ttl_acquires_nothing)
{
    start();
    must_acquire(f.rl);
    f.options.max_ttl_ms = MAX_TTL_MS + 1;
    open_other();
    must_misfit(other, "the longest ttl (max-ttl) is 200000 ms on record, and 200001 ms here");
    ck_assert_uint_eq(info_of(other).max_ttl_ms, MAX_TTL_MS);
    ck_assert_uint_eq(fake_count(f.nodes[0], "SET misfit"), 0);
    must_acquire(f.rl);
}

TEST(a_client_with_fewer_masters_acquires_nothing)
{
    start();
    must_acquire(f.rl);
    f.options.n_nodes = 2;
    open_other();
    must_misfit(other, "3 masters are on record, and 2 are listed here");
}

TEST(a_client_with_more_masters_acquires_nothing)
{
    set_up(4);
    f.options.n_nodes = MASTERS;
    f.n = MASTERS;
    farm_open(&f);
    must_acquire(f.rl);
    f.n = f.options.n_nodes = 4;
    open_other();
    must_misfit(other, "is not on record");
    ck_assert_ptr_null(rlk_model_get(model_of(3), KEY));
}

/* The fourth in place of the third. */
TEST(a_client_with_another_master_acquires_nothing)
{
    set_up(4);
    f.n = f.options.n_nodes = MASTERS;
    farm_open(&f);
    must_acquire(f.rl);
    f.n = 4;
    f.uris[2] = f.uris[3];
    open_other();
    must_misfit(other, "is not on record");
    ck_assert_ptr_nonnull(strstr(info_of(other).error, "the server at "));
    ck_assert_uint_eq(fake_count(f.nodes[3], "SET misfit"), 0);
    ck_assert_int_eq(entry_of(other, 2).node, -1);
    ck_assert_int_eq(entry_of(other, 1).node, 1);
}

TEST(a_copy_of_a_master_does_not_vote)
{
    set_up(MASTERS);
    farm_open(&f);
    must_acquire(f.rl);
    rlk_model_set(model_of(1), "redlock:incarnation",
                  rlk_model_get(model_of(0), "redlock:incarnation"), 0);
    open_other();
    must_acquire(other);
    ck_assert_uint_eq(quarantine_ms(other, 0), 0);
    ck_assert_uint_eq(quarantine_ms(other, 1), UINT64_MAX);
}

/* Another order is the same list. */
TEST(the_order_of_the_masters_does_not_matter)
{
    const char *first;

    start();
    must_acquire(f.rl);
    first = f.uris[0];
    f.uris[0] = f.uris[2];
    f.uris[2] = first;
    open_other();
    must_acquire(other);
    state_must_be(other, REDLOCK_RECORD_AGREED);
    ck_assert_int_eq(entry_of(other, 0).node, 2);
}

/* [M2] Masters 2 and 3 show nothing, and master 1, the last to be connected, has the record of
 * another list. Nothing was asked before. */
TEST(the_last_master_to_be_connected_may_show_the_record)
{
    struct redlock_request request = outcome_request("k");
    struct outcome got = {.n = MASTERS};

    set_up(5);
    f.n = f.options.n_nodes = MASTERS;
    farm_open(&f);
    must_acquire(f.rl);
    f.n = 5;
    f.options.nodes = f.uris + 2;
    fake_pause(f.nodes[2]);
    ck_assert_int_eq(redlock_new(f.base, &f.options, &other), REDLOCK_OK);
    ck_assert_int_eq(redlock_acquire(other, &request, outcome_on_acquired, &got, NULL), 0);
    watch_for_state(f.base, other, 1, REDLOCK_NODE_UP);
    watch_for_state(f.base, other, 2, REDLOCK_NODE_UP);
    loop_settle(f.base);
    ck_assert_int_eq(got.calls, 0);
    fake_go_on(f.nodes[2]);
    loop_must(f.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_ECONFIG);
    ck_assert_uint_eq(fake_count(f.nodes[3], "SET k"), 0);
    ck_assert_ptr_null(rlk_model_get(model_of(3), KEY));
}

/* A client that sees master 1 without its data has begun to write that. */
static void show_later_record(size_t node, unsigned max_ttl_ms)
{
    char value[1024], marks[MASTERS][17];
    size_t i;

    for (i = 0; i < MASTERS; i++) {
        snprintf(marks[i], sizeof(marks[i]), "%s", mark_of(i));
    }
    snprintf(value, sizeof(value),
             "41 00000000000000aa 5\n1 41 00000000000000aa 2 %u\n%s 1 - redis://a\n"
             "%s 1 2! redis://b\n00000000000000ff 2 - redis://b\n%s 1 - redis://c\n",
             max_ttl_ms, marks[0], marks[1], marks[2]);
    rlk_model_set(model_of(node), KEY, value, 0);
}

/* Whoever holds a lock has it for as long as its leases last. */
TEST(a_lock_that_is_held_goes_on)
{
    struct outcome held;

    start();
    held = farm_must_acquire(&f, "held");
    show_later_record(0, 2 * MAX_TTL_MS);
    pass_ms(INSPECTION_MS);
    must_misfit(f.rl, "max-ttl");
    ck_assert_uint_gt(redlock_lock_validity_ms(held.lock), 0);
    ck_assert_int_eq(farm_release(&f, held.lock), REDLOCK_OK);
}

/* [S11] A master that has denied scripts for a while shows what was written meanwhile. */
TEST(the_record_is_read_again_after_a_denial)
{
    start();
    must_acquire(f.rl);
    fake_on(f.nodes[0], "EVAL", FAKE_REPLY, "-NOPERM no\r\n");
    pass_ms(INSPECTION_MS);
    ck_assert_uint_eq(quarantine_ms(f.rl, 0), UINT64_MAX);
    show_later_record(0, 2 * MAX_TTL_MS);
    pass_ms(INSPECTION_MS);
    must_acquire(f.rl);
    fake_behave(f.nodes[0]);
    pass_ms(INSPECTION_MS);
    must_misfit(f.rl, "max-ttl");
}

/* The master shows its mark, and denies its record. Its clock will show so much more by then. */
static void deny_record(size_t node, const char *error, unsigned after_ms)
{
    static char replies[MASTERS][200];
    const char *mark = rlk_model_get(model_of(node), "redlock:incarnation");
    char now[24];

    snprintf(now, sizeof(now), "%" PRIu64,
             rlk_model_now_us(model_of(node)) + after_ms * UINT64_C(1000));
    snprintf(replies[node], sizeof(replies[node]), "*3\r\n$%zu\r\n%s\r\n$%zu\r\n%s\r\n-%s\r\n",
             strlen(mark), mark, strlen(now), now, error);
    fake_on(f.nodes[node], "EVAL", FAKE_REPLY, replies[node]);
}

/* [M6] Two masters let a client read their record, and deny it later. */
TEST(a_master_that_denies_its_record_afterwards_does_not_vote)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    start();
    must_acquire(f.rl);
    deny_record(0, "NOPERM no", INSPECTION_MS);
    deny_record(1, "NOPERM no", INSPECTION_MS);
    pass_ms(INSPECTION_MS);
    ck_assert_int_eq(redlock_get_node_info(f.rl, 0, &info), REDLOCK_OK);
    ck_assert_msg(strstr(info.error, "no longer shows us the record") != NULL, "%s", info.error);
    ck_assert_uint_eq(quarantine_ms(f.rl, 1), UINT64_MAX);
    ck_assert_uint_eq(quarantine_ms(f.rl, 2), 0);
    ck_assert_uint_eq(info_of(f.rl).shown_by, 1);
    ck_assert_int_ne(acquire_by(f.rl, "k"), REDLOCK_OK);
    fake_behave(f.nodes[0]);
    pass_ms(INSPECTION_MS);
    ck_assert_uint_eq(quarantine_ms(f.rl, 0), 0);
    must_acquire(f.rl);
}

static int extend(struct held *h)
{
    int times = h->extended;

    ck_assert_int_eq(held_extend(h, MAX_TTL_MS), REDLOCK_OK);
    held_wait(h, &h->extended, times + 1);
    return h->extend_status;
}

/* A lock that lives for as long as one may, and is not renewed. */
static void start_with_lock(struct held *h)
{
    struct redlock_request request;

    *h = (struct held){0};
    start();
    request = held_request(h, &f, "k");
    request.ttl_ms = MAX_TTL_MS;
    request.renew = 0;
    held_acquire(h, &request);
}

/* [M6] Two masters deny a client their marks, and their records with these. They renew nothing. */
TEST(a_master_that_denies_its_mark_afterwards_extends_nothing)
{
    struct held h;

    start_with_lock(&h);
    fake_on(f.nodes[0], "EVAL", FAKE_REPLY, "-NOPERM no\r\n");
    pass_ms(INSPECTION_MS);
    ck_assert_int_eq(extend(&h), REDLOCK_OK);
    fake_on(f.nodes[1], "EVAL", FAKE_REPLY, "-NOPERM no\r\n");
    pass_ms(INSPECTION_MS);
    ck_assert_int_eq(extend(&h), REDLOCK_ENOQUORUM);
    fake_behave(f.nodes[0]);
    pass_ms(INSPECTION_MS);
    ck_assert_int_eq(extend(&h), REDLOCK_OK);
    ck_assert_int_eq(held_end(&h), REDLOCK_OK);
}

/* [M6] Nor do two that have no memory left for what the inspection writes. */
TEST(a_master_that_cannot_be_inspected_for_long_extends_nothing)
{
    struct held h;

    start_with_lock(&h);
    ck_assert_int_eq(extend(&h), REDLOCK_OK);
    fake_on(f.nodes[0], "EVAL", FAKE_REPLY, "-OOM no\r\n");
    fake_on(f.nodes[1], "EVAL", FAKE_REPLY, "-OOM no\r\n");
    pass_ms(INSPECTION_MS);
    ck_assert_int_eq(extend(&h), REDLOCK_ENOQUORUM);
}

static void deny_info_from_now_on(size_t node)
{
    fake_on(f.nodes[node], "INFO", FAKE_REPLY, "-NOPERM no\r\n");
    fake_hang_up(f.nodes[node]);
    watch_for_state(f.base, f.rl, node, REDLOCK_NODE_DOWN);
    watch_for_state(f.base, f.rl, node, REDLOCK_NODE_UP);
}

/* [M6] Without INFO the mark is not asked for, nor the record. */
TEST(a_master_that_denies_info_afterwards_extends_nothing)
{
    struct held h;

    start_with_lock(&h);
    deny_info_from_now_on(0);
    deny_info_from_now_on(1);
    pass_ms(INSPECTION_MS);
    ck_assert_int_eq(extend(&h), REDLOCK_ENOQUORUM);
    ck_assert_int_ne(acquire_by(f.rl, "other"), REDLOCK_OK);
}

/* From the first connection on they show none: they vote as without a record. */
TEST(a_master_that_has_always_denied_its_record_votes)
{
    start();
    must_acquire(f.rl);
    deny_record(0, "NOPERM no", 0);
    deny_record(1, "NOPERM no", 0);
    open_other();
    ck_assert_int_eq(acquire_by(other, "k"), REDLOCK_OK);
}

/* [M2] It is seen between a vote and the report of the lock. */
TEST(the_vote_of_a_master_that_shows_a_later_record_is_taken_back)
{
    struct redlock_request request = outcome_request("k");
    struct outcome got = {.n = MASTERS};

    start();
    must_acquire(f.rl);
    rlk_model_set(model_of(1), "k", "somebody", 0);
    fake_pause(f.nodes[2]);
    ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, &got, NULL), 0);
    farm_wait_count(&f, 0, "SET k", 2);
    loop_settle(f.base);
    show_later_record(0, MAX_TTL_MS);
    pass_ms(INSPECTION_MS);
    ck_assert_uint_eq(info_of(f.rl).epoch, 1);
    ck_assert_uint_eq(info_of(f.rl).shown_by, MASTERS - 1);
    fake_go_on(f.nodes[2]);
    loop_must(f.base, &got.calls);
    ck_assert_int_eq(got.status, REDLOCK_EHELD);
    ck_assert_int_eq(got.votes[0].vote, REDLOCK_VOTE_QUARANTINED);
}

/* ---- masters that lost their data ---- */

/* This client only watches; the record has new data in a new epoch, and these vote when all clients
 * know that. */
TEST(a_master_without_its_data_is_put_on_record_again)
{
    uint64_t wait_ms;

    start();
    must_acquire(f.rl);
    open_other();
    farm_close(&f);
    rlk_model_flush(model_of(0));
    pass_ms(INSPECTION_MS);
    ck_assert_uint_gt(quarantine_ms(other, 0), 0);
    pass_ms(PAUSES_MS);
    ck_assert_uint_eq(count_records(), MASTERS);
    state_must_be(other, REDLOCK_RECORD_AGREED);
    ck_assert_uint_eq(info_of(other).epoch, 2);
    ck_assert_uint_eq(info_of(other).n_entries, MASTERS + 1);
    ck_assert_int_eq(entry_of(other, 0).lost, 1);
    ck_assert_uint_eq(entry_of(other, 0).until_epoch, 2);
    ck_assert_int_eq(entry_of(other, 0).node, -1);
    ck_assert_int_eq(entry_of(other, MASTERS).node, 0);
    ck_assert_uint_eq(entry_of(other, MASTERS).from_epoch, 2);

    wait_ms = quarantine_ms(other, 0);
    ck_assert_uint_gt(wait_ms, MAX_TTL_MS);
    ck_assert_uint_le(wait_ms, WAIT_MS);
    rlk_model_set(model_of(1), "k", "somebody", 0);
    pass_ms((unsigned)wait_ms - 1000);
    ck_assert_int_eq(acquire_by(other, "k"), REDLOCK_EHELD);
    pass_ms(1000);
    ck_assert_uint_eq(quarantine_ms(other, 0), 0);
    must_acquire(other);
}

/* It does not know the age of the data by itself: the masters tell it. */
TEST(a_client_that_comes_later_waits_for_the_same)
{
    start();
    must_acquire(f.rl);
    rlk_model_flush(model_of(0));
    pass_ms(INSPECTION_MS);
    pass_ms(PAUSES_MS);
    pass_ms(100000);
    open_other();
    ck_assert_uint_gt(quarantine_ms(other, 0), 80000);
    ck_assert_uint_le(quarantine_ms(other, 0), WAIT_MS - 100000);
    pass_ms(WAIT_MS - 100000);
    ck_assert_uint_eq(quarantine_ms(other, 0), 0);
}

/* A client that was away finds an empty server at an address on record. */
TEST(a_new_client_puts_lost_data_on_record)
{
    start();
    must_acquire(f.rl);
    farm_close(&f);
    rlk_model_restart(model_of(1));
    open_other();
    ck_assert_uint_eq(quarantine_ms(other, 1), UINT64_MAX);
    must_acquire(other);    /* by the other two */
    pass_ms(INSPECTION_MS); /* its mark must be read after the record was seen */
    pass_ms(PAUSES_MS);
    ck_assert_uint_eq(info_of(other).epoch, 2);
    ck_assert_uint_le(quarantine_ms(other, 1), WAIT_MS);
    ck_assert_uint_eq(count_records(), MASTERS);
}

TEST(a_second_loss_begins_the_change_again)
{
    set_up(5);
    farm_open(&f);
    must_acquire(f.rl);
    rlk_model_flush(model_of(0));
    pass_ms(INSPECTION_MS);
    pass_ms(PAUSES_MS);
    ck_assert_uint_eq(info_of(f.rl).epoch, 2);
    rlk_model_flush(model_of(1));
    pass_ms(INSPECTION_MS);
    pass_ms(PAUSES_MS);
    ck_assert_uint_eq(info_of(f.rl).epoch, 3);
    ck_assert_uint_eq(count_records(), 5);
    ck_assert_uint_gt(quarantine_ms(f.rl, 0), MAX_TTL_MS);
    pass_ms(WAIT_MS);
    ck_assert_uint_eq(quarantine_ms(f.rl, 0), 0);
    ck_assert_uint_eq(quarantine_ms(f.rl, 1), 0);
}

/* Without any record it is as in the beginning; who knew it goes on counting. _i: another client.
 */
TEST_LOOP(all_masters_may_lose_their_data, 0, 2)
{
    unsigned i;

    start();
    must_acquire(f.rl);
    for (i = 0; i < MASTERS; i++) {
        rlk_model_flush(model_of(i));
    }
    if (_i) {
        farm_close(&f);
        open_other();
        must_acquire(other);
        ck_assert_uint_eq(info_of(other).epoch, 1);
    } else {
        pass_ms(INSPECTION_MS);
        pass_ms(PAUSES_MS);
        ck_assert_uint_eq(info_of(f.rl).epoch, 2);
        pass_ms(WAIT_MS);
        must_acquire(f.rl);
    }
    ck_assert_uint_eq(count_records(), MASTERS);
}

/* The record alone is deleted: it is not a loss of data. */
TEST(a_record_that_was_deleted_is_written_again)
{
    start();
    must_acquire(f.rl);
    rlk_model_del(model_of(0), KEY);
    pass_ms(INSPECTION_MS);
    ck_assert_uint_eq(quarantine_ms(f.rl, 0), 0);
    pass_ms(PAUSES_MS);
    ck_assert_uint_eq(count_records(), MASTERS);
    ck_assert_uint_eq(info_of(f.rl).epoch, 1);
    ck_assert_uint_eq(info_of(f.rl).shown_by, MASTERS);
}

/* ---- writing that goes wrong ---- */

/* Then votes count as without a record, and it is tried again later. */
static void must_acquire_without(void)
{
    suspend_freeze();
    must_acquire(f.rl);
    ck_assert_uint_eq(count_records(), 0);
    pass_ms(PAUSES_MS);
    ck_assert_uint_eq(count_records(), MASTERS);
    state_must_be(f.rl, REDLOCK_RECORD_AGREED);
}

static const struct {
    const char *claim, *reply;
} refused[] = {
    {"a_refusal_for_memory_is_no_promise", "-OOM command not allowed\r\n"},
    {"a_denial_is_no_promise", "-NOPERM no permissions\r\n"},
    {"another_type_is_no_promise", "-WRONGTYPE wrong kind of value\r\n"},
    {"a_status_is_no_promise", "+OK\r\n"},
    {"a_number_is_no_promise", ":1\r\n"},
    {"nothing_is_no_promise", "$-1\r\n"},
    {"an_empty_list_is_no_promise", "*0\r\n"},
    {"a_list_of_nothing_is_no_promise", "*2\r\n$-1\r\n$-1\r\n"},
    {"a_list_of_numbers_is_no_promise", "*2\r\n:1\r\n:2\r\n"},
    {"empty_texts_are_no_promise", "*2\r\n$0\r\n\r\n$0\r\n\r\n"},
    {"garbage_is_no_promise", "*2\r\n$7\r\ngarbage\r\n$1\r\n5\r\n"},
    {"three_answers_are_no_promise", "*3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n"},
    {"another_ballot_is_no_promise", "*2\r\n$21\r\n1 00000000000000aa 5\n\r\n$1\r\n5\r\n"},
};

TEST_ROWS(no_promise, refused)
{
    start();
    fake_on_next(f.nodes[1], 1, "EVAL", FAKE_REPLY, refused[_i].reply, strlen(refused[_i].reply));
    must_acquire_without();
}

/* Another client has promised itself a later ballot in between. */
TEST(a_later_ballot_is_respected_and_overruled)
{
    start();
    rlk_model_set(model_of(2), KEY, "41 00000000000000aa 5\n", 0);
    must_acquire_without();
    ck_assert_int_eq(strncmp(rlk_model_get(model_of(2), KEY), "42 ", 3), 0);
}

/* It has even written a record, of which nobody knows yet whether it was agreed on. */
TEST(a_record_that_a_promise_shows_is_taken_over)
{
    char value[1024];

    start();
    must_acquire(f.rl);
    snprintf(value, sizeof(value), "%s", rlk_model_get(model_of(2), KEY));
    farm_close(&f);
    rlk_model_del(model_of(0), KEY);
    rlk_model_del(model_of(1), KEY);
    rlk_model_del(model_of(2), KEY);
    open_other();
    rlk_model_set(model_of(2), KEY, value, 0);
    must_acquire(other);
    pass_ms(PAUSES_MS);
    ck_assert_uint_eq(count_records(), MASTERS);
    ck_assert_uint_eq(info_of(other).epoch, 1);
}

/* The record of other masters. */
TEST(a_record_that_a_promise_shows_may_not_fit)
{
    char value[1024];

    start();
    snprintf(value, sizeof(value),
             "41 00000000000000aa 5\n1 41 00000000000000aa 1 200001\n%s 1 - redis://a\n",
             mark_of(2));
    rlk_model_set(model_of(2), KEY, value, 0);
    must_misfit(f.rl, "max-ttl");
    ck_assert_ptr_null(strstr(rlk_model_get(model_of(0), KEY), "\n1 "));
    ck_assert_uint_eq(fake_count(f.nodes[0], "SET misfit"), 0);
}

/* [S6] The round waits as long as it would for a connection. */
TEST(a_master_that_does_not_answer_the_promise_delays_one_round)
{
    start();
    fake_on_next(f.nodes[1], 1, "EVAL", FAKE_MUTE, NULL, 0);
    farm_acquire_to_timeout(&f, "k");
    ck_assert_uint_eq(count_records(), 0);
    must_acquire(f.rl);
    pass_ms(PAUSES_MS);
    ck_assert_uint_eq(count_records(), MASTERS);
}

/* The promise of a master is carried out, and its connection ends. */
TEST(a_connection_that_breaks_is_no_promise)
{
    start();
    fake_on_next(f.nodes[1], 1, "EVAL", FAKE_DO_CLOSE, NULL, 0);
    must_acquire(f.rl);
    farm_wait(&f, 1, REDLOCK_NODE_UP);
    pass_ms(PAUSES_MS);
    ck_assert_uint_eq(count_records(), MASTERS);
}

static struct outcome pending;

static void begin_acquire(void)
{
    struct redlock_request request = outcome_request("k");

    pending = (struct outcome){.n = MASTERS};
    ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, &pending, NULL), 0);
}

static void must_end_acquire(void)
{
    loop_must(f.base, &pending.calls);
    ck_assert_int_eq(pending.status, REDLOCK_OK);
    ck_assert_int_eq(farm_release(&f, pending.lock), REDLOCK_OK);
}

/* Open, and acquire up to the promises of the first `n` masters, which are held back. What these
 * masters do with the next script, the acceptance, is set now. */
static void hold_back_promises(size_t n)
{
    size_t i, before[MASTERS];

    start();
    for (i = 0; i < n; i++) {
        before[i] = fake_count(f.nodes[i], "EVAL");
        fake_on_next(f.nodes[i], 1, "EVAL", FAKE_STALL, NULL, 0);
    }
    begin_acquire();
    for (i = 0; i < n; i++) {
        farm_wait_count(&f, i, "EVAL", before[i] + 1);
    }
    ck_assert_uint_eq(count_records(), 0);
}

static const struct {
    const char *claim;
    enum fake_how how;
    const char *bytes;
    size_t records;
} broken[] = {
    {"a_master_may_refuse_the_record", FAKE_REPLY, "-OOM command not allowed\r\n", 2},
    {"a_master_may_answer_nonsense_for_the_record", FAKE_REPLY, "*2\r\n:1\r\n:2\r\n", 2},
    {"a_connection_may_break_before_the_record", FAKE_REPLY_CLOSE, "", 2},
    {"a_connection_may_break_after_the_record", FAKE_DO_CLOSE, NULL, MASTERS},
};

/* The other two have agreed. */
TEST_ROWS(acceptance, broken)
{
    hold_back_promises(1);
    fake_on_next(f.nodes[0], 1, "EVAL", broken[_i].how, broken[_i].bytes,
                 broken[_i].bytes ? strlen(broken[_i].bytes) : 0);
    fake_go_on(f.nodes[0]);
    must_end_acquire();
    ck_assert_uint_eq(count_records(), broken[_i].records);
    state_must_be(f.rl, REDLOCK_RECORD_AGREED);
    farm_wait(&f, 0, REDLOCK_NODE_UP);
    pass_ms(INSPECTION_MS);
    pass_ms(PAUSES_MS);
    ck_assert_uint_eq(count_records(), MASTERS);
}

/* All have promised, and none accepts: nobody waits for the next writing. */
TEST(masters_that_promise_and_do_not_accept_hold_up_nobody)
{
    static const char oom[] = "-OOM command not allowed\r\n";
    size_t i;

    suspend_freeze();
    hold_back_promises(MASTERS);
    for (i = 0; i < MASTERS; i++) {
        fake_on_next(f.nodes[i], 1, "EVAL", FAKE_REPLY, oom, strlen(oom));
        fake_go_on(f.nodes[i]);
    }
    must_end_acquire();
    ck_assert_uint_eq(count_records(), 0);
    ck_assert_uint_eq(scripts_count(&f, 0, &rlk_script_masters), 2);
    pass_ms(INSPECTION_MS);
    pass_ms(PAUSES_MS);
    ck_assert_uint_eq(count_records(), MASTERS);
}

/* A master answers the promise when it is waited for no longer, and shows another record. */
TEST(an_answer_that_comes_too_late_is_looked_at)
{
    char value[1024];

    hold_back_promises(1);
    farm_time_out(&f);
    loop_must(f.base, &pending.calls);
    snprintf(value, sizeof(value),
             "41 00000000000000aa 5\n1 41 00000000000000aa 1 200001\n%s 1 - redis://a\n",
             mark_of(0));
    rlk_model_set(model_of(0), KEY, value, 0);
    fake_go_on(f.nodes[0]);
    loop_settle(f.base);
    state_must_be(f.rl, REDLOCK_RECORD_OTHER);
    must_misfit(f.rl, "max-ttl");
}

TEST(a_manager_may_be_closed_while_it_writes)
{
    int closed = 0;

    hold_back_promises(1);
    ck_assert_int_eq(redlock_close(f.rl, watch_on_closed, &closed), REDLOCK_OK);
    f.rl = NULL;
    loop_must(f.base, &closed);
    ck_assert_int_eq(pending.calls, 1);
    ck_assert_int_eq(pending.status, REDLOCK_ECANCELED);
    fake_go_on(f.nodes[0]);
    loop_settle(f.base);
    ck_assert_uint_eq(count_records(), 0);
}

/* ---- what a master may show ---- */

static const struct {
    const char *claim, *value;
} shown[] = {
    {"an_empty_key_is_no_record", ""},
    {"a_text_is_no_record", "text"},
    {"a_promise_alone_is_no_record", "5 00000000000000aa 7\n"},
    {"a_head_alone_is_no_record", "5 00000000000000aa 7\n1 5 00000000000000aa 1 200001\n"},
    {"a_record_of_another_server_is_no_record",
     "5 00000000000000aa 7\n1 5 00000000000000aa 1 200001\n00000000000000ff 1 - redis://a\n"},
    {"an_address_with_an_escape_is_no_record",
     "5 00000000000000aa 7\n1 5 00000000000000aa 1 200001\n00000000000000ff 1 - \033[2J\n"},
};

TEST_ROWS(no_record, shown)
{
    set_up(MASTERS);
    rlk_model_set(model_of(1), KEY, shown[_i].value, 0);
    farm_open(&f);
    state_must_be(f.rl, REDLOCK_RECORD_NONE);
    must_acquire(f.rl);
    ck_assert_uint_eq(count_records(), MASTERS);
    ck_assert_uint_eq(info_of(f.rl).max_ttl_ms, MAX_TTL_MS);
}

/* The inspection says so, and goes on. [M6] The others vote. */
TEST(a_record_that_cannot_be_read_is_left_alone)
{
    start();
    must_acquire(f.rl);
    deny_record(1, "WRONGTYPE no", INSPECTION_MS);
    pass_ms(INSPECTION_MS);
    ck_assert_uint_eq(quarantine_ms(f.rl, 1), UINT64_MAX);
    must_acquire(f.rl);
    pass_ms(PAUSES_MS);
    ck_assert_uint_eq(scripts_count(&f, 1, &rlk_script_masters), 2);
}

/* ---- the calls ---- */

TEST(the_calls_refuse_what_is_not_possible)
{
    struct redlock_record_info info = {.size = sizeof(info)};
    struct redlock_record_master master = {.size = sizeof(master)};

    start();
    ck_assert_int_eq(redlock_get_record(NULL, &info), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_get_record(f.rl, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_get_record_master(NULL, 0, &master), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_get_record_master(f.rl, 0, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_get_record_master(f.rl, 0, &master), REDLOCK_EINVAL);
    must_acquire(f.rl);
    ck_assert_int_eq(redlock_get_record_master(f.rl, MASTERS - 1, &master), REDLOCK_OK);
    ck_assert_int_eq(redlock_get_record_master(f.rl, MASTERS, &master), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_get_record_master(f.rl, SIZE_MAX, &master), REDLOCK_EINVAL);
}

/* A size of zero, one that is too small, and one that is unlikely. */
TEST(the_calls_refuse_an_impossible_size)
{
    static const size_t sizes[] = {0, 1, sizeof(size_t), SIZE_MAX};
    struct redlock_record_info info;
    struct redlock_record_master master;
    unsigned i;

    start();
    must_acquire(f.rl);
    for (i = 0; i < N_ROWS(sizes); i++) {
        info.size = master.size = sizes[i];
        ck_assert_int_eq(redlock_get_record(f.rl, &info), REDLOCK_EINVAL);
        ck_assert_int_eq(redlock_get_record_master(f.rl, 0, &master), REDLOCK_EINVAL);
    }
}

/* A program of a later version knows more fields: they are zero. */
TEST(what_this_library_does_not_know_is_zero)
{
    struct {
        struct redlock_record_info info;
        unsigned char more[16];
    } later;

    start();
    memset(&later, 0xff, sizeof(later));
    later.info.size = sizeof(later);
    ck_assert_int_eq(redlock_get_record(f.rl, &later.info), REDLOCK_OK);
    ck_assert_int_eq(later.more[0] | later.more[15], 0);
    ck_assert_int_eq(later.info.state, REDLOCK_RECORD_NONE);
}

TEST(a_forked_child_is_refused)
{
    struct redlock_record_info info = {.size = sizeof(info)};
    struct redlock_record_master master = {.size = sizeof(master)};
    int status = -1;
    pid_t child;

    start();
    must_acquire(f.rl);
    child = fork();
    if (child == 0) {
        _exit((redlock_get_record(f.rl, &info) == REDLOCK_EFORK ? 1 : 0) +
              (redlock_get_record_master(f.rl, 0, &master) == REDLOCK_EFORK ? 2 : 0));
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 3);
}

/* What a later version has written is left alone, and we go on as without a record. */
TEST(a_record_of_a_later_form_is_left_alone)
{
    static const char later[] = "7 00000000000000aa 5\n2 other";
    size_t i;

    set_up(MASTERS);
    for (i = 0; i < MASTERS; i++) {
        rlk_model_set(model_of(i), KEY, later, 0);
    }
    farm_open(&f);
    must_acquire(f.rl);
    pass_ms(PAUSES_MS);
    state_must_be(f.rl, REDLOCK_RECORD_NONE);
    for (i = 0; i < MASTERS; i++) {
        ck_assert_str_eq(rlk_model_get(model_of(i), KEY), later);
    }
}
