/* io/test_resize.c - a manager follows when masters join and leave [S15, M8]. Linked with the
 * inside of the library, for the hook that makes allocations fail. */
#include <stdio.h>
#include <string.h>

#include <redlock/error.h>

#include "base/alloc.h"
#include "io/farm.h"
#include "io/suspend.h"
#include "io/watch.h"
#include "lib/test.h"
#include "node/options.h"

SUITE("resize");

#define MASTERS 3
#define SERVERS 4
#define MAX_TTL_MS 200000u

/* max_ttl_ms, the drift, 5 s, and the drift of both. */
#define WAIT_MS 209100u

/* When the next inspection is due, and the longest pause before a writing. */
#define INSPECTION_MS 50000u
#define PAUSE_MS 8000u

static struct farm f;
static struct redlock *other; /* a second client, if there is one */

/* The change that is under way. */
static struct {
    struct redlock_change *handle;
    enum redlock_change_stage stage;
    int ended, status;
    char error[256];
} change;

static void end(void)
{
    rlk_alloc_hook(NULL);
    f.n = SERVERS;
    redlock_change_cancel(change.handle);
    memset(&change, 0, sizeof(change));
    if (other) {
        watch_close(f.base, other);
        other = NULL;
    }
    farm_end_all();
}

FIXTURE(NULL, end);

/* Clients have the first masters of all servers. */
static void start(size_t masters)
{
    farm_start(&f, SERVERS, FAKE_UNIX);
    f.options.quarantine = REDLOCK_QUARANTINE_LENIENT;
    f.options.max_ttl_ms = MAX_TTL_MS;
    f.options.inspection_ms = INSPECTION_MS;
    f.n = f.options.n_nodes = masters;
    farm_open(&f);
    farm_must_acquire(&f, "first"); /* writes the record */
    f.n = SERVERS;
}

static void pass_ms(unsigned ms)
{
    size_t i;

    loop_settle(f.base);
    for (i = 0; i < SERVERS; i++) {
        fake_model(f.nodes[i])->clock_us += ms * UINT64_C(1000);
    }
    suspend_ms(ms);
    loop_settle(f.base);
}

static size_t count(struct redlock *rl)
{
    return redlock_node_count(rl);
}

static const char *name_of(struct redlock *rl, size_t index)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    ck_assert_int_eq(redlock_get_node_info(rl, index, &info), REDLOCK_OK);
    return info.name;
}

/* ---- changes ---- */

static void on_progress(struct redlock_change *handle, const struct redlock_change_progress *p,
                        void *arg)
{
    (void)handle;
    (void)arg;
    change.stage = p->stage;
}

static void on_changed(int status, const char *error, void *arg)
{
    (void)arg;
    change.ended = 1;
    change.status = status;
    change.handle = NULL;
    snprintf(change.error, sizeof(change.error), "%s", error);
}

static int begin_change(size_t leaves, const char *joins)
{
    struct redlock_change_options options;

    memset(&change, 0, sizeof(change));
    redlock_change_options_init(&options);
    options.leaves = leaves;
    options.joins = joins;
    options.progress_cb = on_progress;
    options.change_cb = on_changed;
    return redlock_change_masters(f.base, &f.options, &options, &change.handle);
}

static bool is_settling(void *arg)
{
    (void)arg;
    return change.stage == REDLOCK_CHANGE_SETTLES || change.ended;
}

/* Until it is on record; then running clients see it. */
static void put_on_record(size_t leaves, const char *joins)
{
    ck_assert_msg(begin_change(leaves, joins) == REDLOCK_OK, "%s", f.error_text);
    loop_must_true(f.base, is_settling, NULL);
    ck_assert_msg(change.ended == 0, "%s", change.error);
    pass_ms(INSPECTION_MS);
}

static void finish_change(void)
{
    unsigned i;

    pass_ms(WAIT_MS);
    for (i = 0; i < 20 && !change.ended; i++) {
        pass_ms(1000);
    }
    ck_assert_int_eq(change.ended, 1);
    ck_assert_int_eq(change.status, REDLOCK_OK);
    pass_ms(PAUSE_MS);
}

/* With the masters that the client has by now. */
static struct outcome acquire(const char *key)
{
    struct outcome got;

    f.n = count(f.rl);
    got = farm_acquire(&f, key);
    f.n = SERVERS;
    return got;
}

/* How many masters granted it. */
static unsigned granted(const char *key)
{
    struct outcome got = acquire(key);
    unsigned i, n = 0;

    ck_assert_int_eq(got.status, REDLOCK_OK);
    for (i = 0; i < got.n; i++) {
        n += got.votes[i].vote == REDLOCK_VOTE_YES;
    }
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    return n;
}

/* ---- a master joins ---- */

TEST(a_master_that_joins_gets_a_node)
{
    start(MASTERS);
    put_on_record(REDLOCK_NO_MASTER, f.uris[MASTERS]);
    ck_assert_uint_eq(count(f.rl), MASTERS + 1);
    watch_for_state(f.base, f.rl, MASTERS, REDLOCK_NODE_UP);
    ck_assert_str_eq(name_of(f.rl, MASTERS), f.uris[MASTERS]);
}

/* Two of three are enough as long as it does not vote; then three of four are needed. */
TEST(the_number_counts_when_the_new_one_votes)
{
    start(MASTERS);
    put_on_record(REDLOCK_NO_MASTER, f.uris[MASTERS]);
    watch_for_state(f.base, f.rl, MASTERS, REDLOCK_NODE_UP);
    farm_set(&f, 0, 1, "k", FARM_OTHER, 0);
    ck_assert_int_eq(acquire("k").status, REDLOCK_OK);
    finish_change();
    farm_set(&f, 0, 2, "l", FARM_OTHER, 0);
    ck_assert_int_eq(acquire("l").status, REDLOCK_EHELD);
    ck_assert_uint_ge(granted("m"), 3);
}

TEST(a_client_with_the_former_list_connects_to_all)
{
    start(MASTERS);
    put_on_record(REDLOCK_NO_MASTER, f.uris[MASTERS]);
    finish_change();
    ck_assert_int_eq(redlock_new(f.base, &f.options, &other), REDLOCK_OK);
    watch_for_state(f.base, other, MASTERS - 1, REDLOCK_NODE_UP);
    loop_settle(f.base);
    ck_assert_uint_eq(count(other), MASTERS + 1);
    watch_for_state(f.base, other, MASTERS, REDLOCK_NODE_UP);
}

/* It has memory for more than three masters then, whether it waits for the lock or holds it. */
TEST(locks_are_kept_when_a_master_joins)
{
    struct redlock_request request = outcome_request("k");
    static struct outcome waits;
    struct outcome held;
    struct redlock_node_detail detail = {.size = sizeof(detail)};

    start(MASTERS);
    held = acquire("held");
    farm_give_away(&f, 0, MASTERS);
    request.wait_ms = REDLOCK_FOREVER;
    waits = (struct outcome){.n = MASTERS};
    ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, &waits, NULL), 0);
    loop_settle(f.base);
    put_on_record(REDLOCK_NO_MASTER, f.uris[MASTERS]);
    watch_for_state(f.base, f.rl, MASTERS, REDLOCK_NODE_UP);
    ck_assert_int_eq(redlock_lock_node(held.lock, MASTERS, &detail), REDLOCK_OK);
    ck_assert_uint_gt(redlock_lock_validity_ms(held.lock), 0);
    ck_assert_int_eq(farm_release(&f, held.lock), REDLOCK_OK);
    farm_end_other(&f);
    pass_ms(PAUSE_MS);
    loop_must(f.base, &waits.calls);
    ck_assert_int_eq(waits.status, REDLOCK_OK);
    ck_assert_int_eq(farm_release(&f, waits.lock), REDLOCK_OK);
}

/* ---- no memory ---- */

static unsigned fails_at; /* which allocation from now on; 0: none */

static int allow(size_t size)
{
    (void)size;
    return fails_at == 0 || --fails_at > 0;
}

/* Whichever allocation fails: it is tried again, and no lock that is held is lost. */
TEST_LOOP(a_node_without_memory_is_added_later, 1, 40)
{
    struct outcome held;
    unsigned i;

    start(MASTERS);
    held = acquire("held");
    ck_assert_int_eq(begin_change(REDLOCK_NO_MASTER, f.uris[MASTERS]), REDLOCK_OK);
    loop_must_true(f.base, is_settling, NULL);
    ck_assert_int_eq(change.ended, 0);
    redlock_change_cancel(change.handle);
    change.handle = NULL;
    loop_settle(f.base);
    fails_at = (unsigned)_i;
    rlk_alloc_hook(allow);
    pass_ms(INSPECTION_MS);
    rlk_alloc_hook(NULL);
    for (i = 0; i < 5 && count(f.rl) == MASTERS; i++) {
        pass_ms(1000);
        pass_ms(INSPECTION_MS);
    }
    ck_assert_uint_eq(count(f.rl), MASTERS + 1);
    (void)held;
}

/* ---- a master leaves ---- */

TEST(a_master_that_was_removed_is_left_when_the_change_is_over)
{
    start(SERVERS);
    put_on_record(1, NULL);
    ck_assert_uint_eq(count(f.rl), SERVERS);
    ck_assert_uint_ge(granted("k"), 3);
    finish_change();
    ck_assert_str_eq(change.error, "");
    ck_assert_uint_eq(count(f.rl), SERVERS - 1);
    ck_assert_str_eq(name_of(f.rl, 0), f.uris[0]);
    ck_assert_str_eq(name_of(f.rl, 1), f.uris[2]);
    ck_assert_str_eq(name_of(f.rl, 2), f.uris[3]);
    farm_set(&f, 0, 1, "l", FARM_OTHER, 0);
    ck_assert_int_eq(acquire("l").status, REDLOCK_OK);
    ck_assert_ptr_null(rlk_model_get(fake_model(f.nodes[1]), "l"));
}

/* It may come back with the former record. */
TEST(who_changes_the_masters_hears_that_one_does_not_know_that_it_left)
{
    start(SERVERS);
    farm_down(&f, 1, 2);
    put_on_record(1, NULL);
    finish_change();
    ck_assert_ptr_nonnull(strstr(change.error, "keep it off, also empty"));
}

/* It comes back empty, as a new server: in a new node while there is room, then in its old one. */
TEST(a_master_may_come_back)
{
    const char *back;
    unsigned i;

    start(SERVERS);
    back = f.uris[SERVERS - 1];
    for (i = 0; i < 8; i++) {
        f.options.n_nodes = SERVERS;
        put_on_record(SERVERS - 1, NULL);
        finish_change();
        ck_assert_uint_eq(count(f.rl), SERVERS - 1);
        f.options.n_nodes = SERVERS - 1;
        rlk_model_flush(fake_model(f.nodes[SERVERS - 1]));
        pass_ms(MAX_TTL_MS); /* the one before is over, and all locks were renewed since */
        put_on_record(REDLOCK_NO_MASTER, back);
        finish_change();
        ck_assert_uint_eq(count(f.rl), SERVERS);
        ck_assert_str_eq(name_of(f.rl, SERVERS - 1), back);
        ck_assert_uint_ge(granted("k"), 3);
        pass_ms(MAX_TTL_MS);
    }
}

TEST(what_is_not_possible_is_refused)
{
    start(MASTERS);
    ck_assert_int_eq(begin_change(REDLOCK_NO_MASTER, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(begin_change(MASTERS, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(begin_change(MASTERS, f.uris[MASTERS]), REDLOCK_EINVAL);
    ck_assert_int_eq(begin_change(REDLOCK_NO_MASTER, f.uris[0]), REDLOCK_EINVAL);
    f.options.n_nodes = 1;
    ck_assert_int_eq(begin_change(0, NULL), REDLOCK_EINVAL);
}

/* ---- what a record may make us do ---- */

static const struct {
    const char *claim, *node, *place;
    const char *why; /* NULL: it is fine */
} places[] = {
    {"another port", "redis://127.0.0.1:7001", "redis://127.0.0.1:7002", NULL},
    {"a socket of this machine", "redis://127.0.0.1:7001", "unix:///tmp/a", NULL},
    {"a user", "redis://127.0.0.1:7001", "redis://u:p@127.0.0.1:7002", "more than an address"},
    {"a password", "redis://127.0.0.1:7001", "redis://:p@127.0.0.1:7002", "more than an address"},
    {"a policy", "redis://127.0.0.1:7001", "redis://127.0.0.1:7002?quarantine=off",
     "more than an address"},
};

/* Who can write a record on one master would choose how every client logs in. */
TEST_ROWS(a_place_on_record_is_an_address, places)
{
    struct redlock_options theirs;
    struct rlk_options o;
    const char *why = places[_i].why;
    char said[160];

    redlock_options_init(&theirs);
    theirs.nodes = &places[_i].node;
    theirs.n_nodes = 1;
    ck_assert_int_eq(rlk_options_load(&o, &theirs), 0);
    ck_assert_int_eq(rlk_options_add(&o, places[_i].place, said, sizeof(said)),
                     why ? REDLOCK_EURI : 0);
    ck_assert_uint_eq(o.n_nodes, why ? 1 : 2);
    ck_assert_int_eq(rlk_options_move(&o, 0, places[_i].place, said, sizeof(said)),
                     why ? REDLOCK_EURI : 0);
    ck_assert(why == NULL || strstr(said, why) != NULL);
    rlk_options_end(&o);
}

TEST(no_password_is_sent_in_the_clear_because_of_a_record)
{
    static const char *const node = "rediss://127.0.0.1:7001?verify=none";
    struct redlock_options theirs;
    struct rlk_options o;
    char said[160];

    redlock_options_init(&theirs);
    theirs.nodes = (const char *const *)&node;
    theirs.n_nodes = 1;
    if (rlk_options_load(&o, &theirs) == REDLOCK_EINVAL) {
        return; /* it was built without TLS */
    }
    ck_assert_int_eq(rlk_options_add(&o, "redis://127.0.0.1:7002", said, sizeof(said)),
                     REDLOCK_EURI);
    ck_assert_ptr_nonnull(strstr(said, "no TLS"));
    ck_assert_int_eq(rlk_options_move(&o, 0, "redis://127.0.0.1:7002", said, sizeof(said)),
                     REDLOCK_EURI);
    ck_assert_int_eq(rlk_options_add(&o, "rediss://127.0.0.1:7002", said, sizeof(said)), 0);
    rlk_options_end(&o);
}
