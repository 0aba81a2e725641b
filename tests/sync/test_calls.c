/* sync/test_calls.c - every call, and every way in which it is refused. */
#include <stdio.h>
#include <string.h>

#include "lib/test.h"
#include "sync/rig.h"

SUITE("calls");

static struct rig r;

/* ---- a lock ---- */

TEST(a_lock_is_acquired_and_released)
{
    struct redlock_sync_lock *lock;
    size_t len;

    rig_start(&r);
    lock = rig_acquire_everywhere(&r, "k");
    ck_assert_uint_gt(redlock_sync_lock_validity_ms(lock), RIG_TTL_MS / 2);
    ck_assert_uint_gt(redlock_sync_lock_deadline_us(lock), redlock_clock_us());
    ck_assert_int_eq(redlock_sync_lock_lost(lock), 0);
    ck_assert_str_eq(redlock_sync_lock_key(lock, &len), "k");
    ck_assert_uint_eq(len, 1);
    ck_assert_str_eq(redlock_sync_lock_token(lock), master_ask(r.masters[0], "GET k"));
    ck_assert_uint_eq(redlock_sync_lock_fencing_token(lock), 0);
    ck_assert_str_eq(redlock_sync_error_text(), "");
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
    rig_expect_clean(&r);
    rig_end(&r);
}

TEST(the_key_is_the_masters_and_the_fence_grows)
{
    struct redlock_request request = rig_request("k");
    struct redlock_sync_lock *lock;
    uint64_t fence;

    rig_prepare(&r);
    r.options.key_prefix = "app:";
    rig_open(&r);
    request.fencing = 1;
    ck_assert_int_eq(redlock_sync_acquire(r.s, &request, NULL, &lock), REDLOCK_OK);
    ck_assert_str_eq(redlock_sync_lock_key(lock, NULL), "app:k");
    fence = redlock_sync_lock_fencing_token(lock);
    ck_assert_uint_gt(fence, 0);
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_acquire(r.s, &request, NULL, &lock), REDLOCK_OK);
    ck_assert_uint_gt(redlock_sync_lock_fencing_token(lock), fence);
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
    rig_end(&r);
}

/* By the first digits of its token, with which nobody can release it. */
static void must_name(const char *token)
{
    char shown[32];

    snprintf(shown, sizeof(shown), "held by %.8s...", token);
    ck_assert_int_eq(strstr(redlock_sync_error_text(), shown) != NULL,
                     master_names_holders(r.masters[0]));
    ck_assert_ptr_null(strstr(redlock_sync_error_text(), token));
    ck_assert_ptr_null(strstr(redlock_sync_error_text(), "expired"));
    ck_assert_ptr_null(strstr(redlock_sync_error_text(), "in time"));
}

/* The holder is named, master by master. */
TEST(a_lock_that_is_held_is_refused_with_its_holder)
{
    struct redlock_request request = rig_request("k");
    struct redlock_sync_lock *lock, *other = NULL;

    rig_start(&r);
    lock = rig_acquire(&r, "k");
    ck_assert_int_eq(redlock_sync_acquire(r.s, &request, NULL, &other), REDLOCK_EHELD);
    ck_assert_ptr_null(other);
    ck_assert_int_eq(redlock_sync_error_reason(), REDLOCK_EHELD);
    ck_assert_ptr_nonnull(
        strstr(redlock_sync_error_text(), "of 3 masters granted the lock; unix:"));
    must_name(redlock_sync_lock_token(lock));
    request.wait_ms = 50;
    ck_assert_int_eq(redlock_sync_acquire(r.s, &request, NULL, &other), REDLOCK_EDEADLINE);
    ck_assert_int_eq(redlock_sync_error_reason(), REDLOCK_EHELD);
    ck_assert_ptr_nonnull(strstr(redlock_sync_error_text(), "this manager holds the key itself"));
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_error_reason(), 0);
    rig_end(&r);
}

/* The text also says why the master that is up was not asked. */
TEST(without_a_majority_the_masters_that_are_down_are_named)
{
    struct redlock_request request = rig_request("k");
    struct redlock_sync_lock *lock;
    char name[200];

    rig_start(&r);
    ck_assert_int_eq(redlock_sync_release(rig_acquire(&r, "k")), REDLOCK_OK);
    master_kill(r.masters[1]);
    master_kill(r.masters[2]);
    request.wait_ms = 100;
    ck_assert_int_eq(redlock_sync_acquire(r.s, &request, NULL, &lock), REDLOCK_EDEADLINE);
    ck_assert_int_eq(redlock_sync_error_reason(), REDLOCK_ENOQUORUM);
    snprintf(name, sizeof(name), "; %s: ", r.uris[1]);
    ck_assert_msg(strstr(redlock_sync_error_text(), name) != NULL, "%s", redlock_sync_error_text());
    ck_assert_int_eq(
        strncmp(redlock_sync_error_text(), "1 of 3 masters are up, 2 are needed; ", 37), 0);
    snprintf(name, sizeof(name), "; %s: was not asked: too few masters are up", r.uris[0]);
    ck_assert_msg(strstr(redlock_sync_error_text(), name) != NULL, "%s", redlock_sync_error_text());
    rig_end(&r);
}

TEST(a_lock_is_extended_and_petted)
{
    struct redlock_request request = rig_request("k");
    struct redlock_sync_lock *lock;

    rig_start(&r);
    request.ttl_ms = 60000;
    ck_assert_int_eq(redlock_sync_acquire(r.s, &request, NULL, &lock), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_extend(lock, 240000), REDLOCK_OK);
    ck_assert_uint_gt(redlock_sync_lock_validity_ms(lock), 120000);
    ck_assert_int_eq(redlock_sync_extend(lock, 1), REDLOCK_ETTL);
    ck_assert_ptr_nonnull(strstr(redlock_sync_error_text(), "ttl"));
    ck_assert_int_eq(redlock_sync_lock_heartbeat(lock), REDLOCK_OK);
    ck_assert_str_eq(redlock_sync_error_text(), "");
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
    rig_end(&r);
}

TEST(a_release_says_what_it_found)
{
    struct redlock_sync_lock *lock;
    size_t i;

    rig_start(&r);
    lock = rig_acquire_everywhere(&r, "gone");
    for (i = 0; i < RIG_MASTERS; i++) {
        master_ask(r.masters[i], "DEL gone");
    }
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_GONE);
    lock = rig_acquire_everywhere(&r, "taken");
    for (i = 0; i < RIG_MASTERS; i++) {
        master_ask(r.masters[i], "SET taken other");
    }
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_TAKEN);
    rig_end(&r);
}

TEST(a_release_without_a_majority_ends_too)
{
    struct redlock_request request = rig_request("k");
    struct redlock_sync_lock *lock;

    rig_prepare(&r);
    r.options.node_timeout_ms = 100;
    rig_open(&r);
    request.wait_ms = 20000;
    ck_assert_int_eq(redlock_sync_acquire(r.s, &request, NULL, &lock), REDLOCK_OK);
    rig_stop_masters(&r);
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_ENOQUORUM);
    rig_continue_masters(&r);
    rig_end(&r);
}

/* By another façade, as in another process. */
TEST(a_lock_is_forgotten_adopted_and_released_by_its_token)
{
    struct redlock_request request = rig_request("k");
    struct redlock_sync_lock *lock;
    struct redlock_sync *other;
    const char *const keys[] = {"k"};
    char token[160];

    rig_start(&r);
    ck_assert_int_eq(redlock_sync_new(&r.options, &other), REDLOCK_OK);
    lock = rig_acquire(&r, "k");
    snprintf(token, sizeof(token), "%s", redlock_sync_lock_token(lock));
    ck_assert_int_eq(redlock_sync_lock_detach(lock), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_adopt(other, &request, token, NULL, &lock), REDLOCK_OK);
    ck_assert_str_eq(redlock_sync_lock_token(lock), token);
    ck_assert_uint_gt(redlock_sync_lock_validity_ms(lock), 0);
    ck_assert_int_eq(redlock_sync_lock_detach(lock), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_release_token(r.s, keys, NULL, 1, token), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_release_token(r.s, keys, NULL, 1, token), REDLOCK_GONE);
    ck_assert_int_eq(redlock_sync_adopt(other, &request, token, NULL, &lock), REDLOCK_ELOST);
    ck_assert_int_eq(redlock_sync_close(other), REDLOCK_OK);
    rig_end(&r);
}

/* ---- hand over ---- */

/* Another manager waits for the lock, as in another process. */
struct heir {
    struct redlock_sync *s;
    struct redlock_sync_lock *lock;
    int status;
};

static void *inherit(void *arg)
{
    struct redlock_request request = rig_request("k");
    struct heir *heir = arg;

    request.owner = "heir";
    request.wait_ms = REDLOCK_FOREVER;
    heir->status = redlock_sync_acquire(heir->s, &request, NULL, &heir->lock);
    return NULL;
}

static void must_be_reserved(const char *to)
{
    struct redlock_query_result *result;

    ck_assert_int_eq(redlock_sync_query(r.s, "k", 0, &result), REDLOCK_OK);
    ck_assert_str_eq(result->reserved_for, to);
    redlock_sync_query_free(result);
}

TEST(a_lock_is_handed_over)
{
    struct redlock_sync_lock *lock;
    struct heir heir = {.status = -1};
    pthread_t thread;

    rig_start(&r);
    ck_assert_int_eq(redlock_sync_new(&r.options, &heir.s), REDLOCK_OK);
    lock = rig_acquire_everywhere(&r, "k");
    ck_assert_int_eq(redlock_sync_hand_over(lock, "heir", 0), REDLOCK_OK);
    must_be_reserved("heir");
    thread = rig_thread(inherit, &heir);
    rig_join(thread);
    ck_assert_int_eq(heir.status, REDLOCK_OK);
    ck_assert_uint_gt(redlock_sync_lock_validity_ms(heir.lock), 0);
    ck_assert_int_eq(redlock_sync_release(heir.lock), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_close(heir.s), REDLOCK_OK);
    rig_end(&r);
}

TEST(a_lock_is_handed_over_by_its_token)
{
    const char *const keys[] = {"k"};
    struct redlock_sync_lock *lock;
    char token[160];

    rig_start(&r);
    lock = rig_acquire_everywhere(&r, "k");
    snprintf(token, sizeof(token), "%s", redlock_sync_lock_token(lock));
    ck_assert_int_eq(redlock_sync_lock_detach(lock), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_hand_over_token(r.s, keys, NULL, 1, token, "", 0),
                     REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_hand_over_token(r.s, keys, NULL, 1, token, "heir", RIG_TTL_MS),
                     REDLOCK_OK);
    must_be_reserved("heir");
    ck_assert_int_eq(redlock_sync_hand_over_token(r.s, keys, NULL, 1, token, "heir", 0),
                     REDLOCK_TAKEN);
    rig_end(&r);
}

TEST(a_hand_over_that_is_refused_leaves_the_lock)
{
    struct redlock_sync_lock *lock;

    rig_start(&r);
    lock = rig_acquire_everywhere(&r, "k");
    ck_assert_int_eq(redlock_sync_hand_over(lock, "", 0), REDLOCK_EINVAL);
    ck_assert_str_eq(redlock_sync_error_text(),
                     "to is NULL or empty; it must be the owner text of a waiter");
    ck_assert_uint_gt(redlock_sync_lock_validity_ms(lock), 0);
    ck_assert_int_eq(redlock_sync_extend(lock, 0), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_close(r.s), REDLOCK_OK);
    r.s = NULL;
    ck_assert_int_eq(redlock_sync_hand_over(lock, "heir", 0), REDLOCK_ECANCELED);
    rig_end(&r);
}

/* ---- the rest ---- */

TEST(a_query_is_copied)
{
    struct redlock_query_result *free_key, *held_key, *none = NULL;
    struct redlock_request request = rig_request("k");
    struct redlock_sync_lock *lock;

    rig_start(&r);
    request.owner = "ann";
    ck_assert_int_eq(redlock_sync_query(r.s, "k", 0, &free_key), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_acquire(r.s, &request, NULL, &lock), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_query(r.s, "k", 0, &held_key), REDLOCK_OK);
    ck_assert_int_eq(free_key->held, 0);
    ck_assert_str_eq(free_key->token, "");
    ck_assert_int_eq(held_key->held, 1);
    ck_assert_uint_eq(held_key->n_nodes, RIG_MASTERS);
    ck_assert_str_eq(held_key->owner, "ann");
    ck_assert_str_eq(held_key->token, redlock_sync_lock_token(lock));
    ck_assert_str_eq(held_key->nodes[2]->token, redlock_sync_lock_token(lock));
    ck_assert_str_eq(held_key->nodes[2]->error, "");
    redlock_sync_query_free(free_key);
    redlock_sync_query_free(held_key);
    redlock_sync_query_free(NULL);
    ck_assert_int_eq(redlock_sync_query(r.s, "", 0, &none), REDLOCK_EINVAL);
    ck_assert_str_ne(redlock_sync_error_text(), "");
    ck_assert_ptr_null(none);
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
    rig_end(&r);
}

TEST(a_key_with_a_nul_has_a_length)
{
    struct redlock_request request = rig_request("k\0z");
    const char *const keys[] = {request.key};
    const size_t lens[] = {3};
    struct redlock_query_result *whole, *cut;
    struct redlock_sync_lock *lock;

    rig_start(&r);
    request.key_len = 3;
    ck_assert_int_eq(redlock_sync_acquire(r.s, &request, NULL, &lock), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_query(r.s, request.key, 3, &whole), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_query(r.s, request.key, 0, &cut), REDLOCK_OK);
    ck_assert_int_eq(whole->held, 1);
    ck_assert_int_eq(cut->held, 0);
    ck_assert_int_eq(redlock_sync_release_token(r.s, keys, NULL, 1, whole->token), REDLOCK_GONE);
    ck_assert_int_eq(redlock_sync_release_token(r.s, keys, lens, 1, whole->token), REDLOCK_OK);
    redlock_sync_query_free(whole);
    redlock_sync_query_free(cut);
    ck_assert_int_ge(redlock_sync_release(lock), REDLOCK_OK);
    rig_end(&r);
}

TEST(a_query_without_a_majority_has_a_result_too)
{
    struct redlock_query_result *result = NULL;

    rig_start(&r);
    ck_assert_int_eq(redlock_sync_release(rig_acquire(&r, "k")), REDLOCK_OK);
    master_kill(r.masters[0]);
    master_kill(r.masters[1]);
    ck_assert_int_eq(redlock_sync_query(r.s, "k", 0, &result), REDLOCK_ENOQUORUM);
    ck_assert_ptr_nonnull(result);
    ck_assert_uint_eq(result->answered, 1);
    ck_assert_str_ne(result->nodes[0]->error, "");
    redlock_sync_query_free(result);
    rig_end(&r);
}

struct seen {
    size_t nodes;
    int status, from_inside;
    struct redlock_sync *s;
};

static void look(struct redlock *rl, void *arg)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    struct seen *seen = arg;

    seen->nodes = redlock_node_count(rl);
    seen->status = redlock_get_node_info(rl, 0, &info);
    seen->from_inside = redlock_sync_run(seen->s, look, seen);
}

TEST(a_function_runs_on_the_io_thread)
{
    struct seen seen = {.status = -1};

    rig_start(&r);
    seen.s = r.s;
    ck_assert_int_eq(redlock_sync_run(r.s, look, &seen), REDLOCK_OK);
    ck_assert_uint_eq(seen.nodes, RIG_MASTERS);
    ck_assert_int_eq(seen.status, REDLOCK_OK);
    ck_assert_int_eq(seen.from_inside, REDLOCK_ESTATE);
    rig_end(&r);
}

static void on_examined(const struct redlock_report *report, int status, void *arg)
{
    *(size_t *)arg = status == 0 ? report->usable : 0;
}

TEST(what_was_done_is_counted)
{
    struct redlock_stats stats = {.size = sizeof(stats)};
    struct redlock_node_stats node = {.size = sizeof(node)};
    struct redlock_sync_lock *lock;
    static char text[1 << 17];

    rig_start(&r);
    lock = rig_acquire_everywhere(&r, "k");
    ck_assert_int_eq(redlock_sync_get_stats(r.s, &stats), REDLOCK_OK);
    ck_assert_uint_eq(stats.acquired, 1);
    ck_assert_int_eq(redlock_sync_get_node_stats(r.s, 2, &node), REDLOCK_OK);
    ck_assert_uint_eq(node.connections, 1);
    ck_assert_int_eq(redlock_sync_get_node_stats(r.s, 99, &node), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_get_node_stats(r.s, 0, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_get_stats(r.s, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_get_stats(NULL, &stats), REDLOCK_EINVAL);
    ck_assert_uint_lt(redlock_sync_prometheus(r.s, 0, text, sizeof(text)), sizeof(text));
    ck_assert_ptr_nonnull(strstr(text, "\nredlock_acquires_total{outcome=\"acquired\"} 1\n"));
    ck_assert_uint_eq(redlock_sync_prometheus(NULL, 0, text, sizeof(text)), 0);
    ck_assert_str_eq(text, "");
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_OK);
    rig_end(&r);
}

TEST(the_masters_are_examined)
{
    size_t usable = 0;

    rig_start(&r);
    ck_assert_int_eq(redlock_sync_examine(r.s, on_examined, &usable), REDLOCK_OK);
    ck_assert_uint_eq(usable, RIG_MASTERS);
    ck_assert_int_eq(redlock_sync_examine(r.s, NULL, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_examine(NULL, on_examined, &usable), REDLOCK_EINVAL);
    rig_end(&r);
}

/* What the callbacks of a break and of a list were told. */
struct told {
    int status;
    uint64_t left_ms, listed;
    size_t replaced, keys;
};

static void on_broken(const struct redlock_break_result *result, int status, void *arg)
{
    struct told *told = arg;

    told->status = status;
    told->left_ms = result->left_ms;
    told->replaced = result->replaced;
}

TEST(a_lock_is_broken)
{
    struct told told = {.status = -1};
    struct redlock_sync_lock *lock;
    char token[256];

    rig_start(&r);
    lock = rig_acquire_everywhere(&r, "k");
    snprintf(token, sizeof(token), "%s", redlock_sync_lock_token(lock));
    ck_assert_int_eq(redlock_sync_break(r.s, "k", 0, token, "ann", NULL, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_break(NULL, "k", 0, token, "ann", on_broken, &told),
                     REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_break(r.s, "k", 0, token, "a\n", on_broken, &told),
                     REDLOCK_EINVAL);
    ck_assert_str_ne(redlock_sync_error_text(), "");
    ck_assert_int_eq(told.status, -1);
    ck_assert_int_eq(redlock_sync_break(r.s, "k", 0, token, "ann", on_broken, &told), REDLOCK_OK);
    ck_assert_int_eq(told.status, REDLOCK_OK);
    ck_assert_uint_eq(told.replaced, RIG_MASTERS);
    ck_assert_uint_gt(told.left_ms, 0);
    ck_assert_int_eq(redlock_sync_break(r.s, "k", 0, token, "ann", on_broken, &told),
                     REDLOCK_TAKEN);
    ck_assert_int_eq(told.status, REDLOCK_TAKEN);
    ck_assert_int_eq(redlock_sync_release(lock), REDLOCK_TAKEN);
    rig_end(&r);
}

static void on_listed(const struct redlock_listed *key, void *arg)
{
    (void)key;
    ((struct told *)arg)->keys++;
}

static void on_list(const struct redlock_list_summary *summary, int status, void *arg)
{
    struct told *told = arg;

    told->status = status;
    told->listed = summary->listed;
}

TEST(the_locks_are_listed)
{
    struct told told = {.status = -1};
    struct redlock_list_options options;
    struct redlock_sync_lock *locks[2];

    rig_start(&r);
    locks[0] = rig_acquire_everywhere(&r, "job:1");
    locks[1] = rig_acquire_everywhere(&r, "job:2");
    redlock_list_options_init(&options);
    options.prefix = "job:";
    ck_assert_int_eq(redlock_sync_list(r.s, &options), REDLOCK_EINVAL);
    ck_assert_str_eq(redlock_sync_error_text(), "listed_cb is NULL");
    options.listed_cb = on_listed;
    options.list_cb = on_list;
    options.arg = &told;
    ck_assert_int_eq(redlock_sync_list(NULL, &options), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_list(r.s, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(told.status, -1);
    ck_assert_int_eq(redlock_sync_list(r.s, &options), REDLOCK_OK);
    ck_assert_int_eq(told.status, REDLOCK_OK);
    ck_assert_uint_eq(told.listed, 2);
    ck_assert_uint_eq(told.keys, 2);
    ck_assert_int_eq(redlock_sync_release(locks[0]), REDLOCK_OK);
    ck_assert_int_eq(redlock_sync_release(locks[1]), REDLOCK_OK);
    rig_end(&r);
}

/* ---- refused ---- */

TEST(options_that_are_wrong_are_refused_with_a_text)
{
    struct redlock_options options;
    struct redlock_sync *s = NULL;
    char text[200] = "";

    redlock_options_init(&options);
    options.error_text = text;
    options.error_text_size = sizeof(text);
    ck_assert_int_eq(redlock_sync_new(&options, &s), REDLOCK_EINVAL);
    ck_assert_str_ne(text, "");
    ck_assert_str_eq(redlock_sync_error_text(), text);
    options.error_text = NULL;
    options.error_text_size = 0;
    options.nodes = &(const char *){"http://a"};
    options.n_nodes = 1;
    ck_assert_int_eq(redlock_sync_new(&options, &s), REDLOCK_EURI);
    ck_assert_ptr_nonnull(strstr(redlock_sync_error_text(), "redis://"));
    ck_assert_int_eq(redlock_sync_new(NULL, &s), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_new(&options, NULL), REDLOCK_EINVAL);
    ck_assert_ptr_null(s);
}

TEST(a_request_that_is_wrong_is_refused_with_a_text)
{
    struct redlock_request request = rig_request("");
    struct redlock_sync_lock *lock = NULL;

    rig_start(&r);
    ck_assert_int_eq(redlock_sync_acquire(r.s, &request, NULL, &lock), REDLOCK_EINVAL);
    ck_assert_ptr_nonnull(strstr(redlock_sync_error_text(), "empty"));
    request = rig_request("k");
    request.ttl_ms = 1;
    ck_assert_int_eq(redlock_sync_acquire(r.s, &request, NULL, &lock), REDLOCK_ETTL);
    request = rig_request("k");
    request.size = 3;
    ck_assert_int_eq(redlock_sync_acquire(r.s, &request, NULL, &lock), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_acquire(r.s, NULL, NULL, &lock), REDLOCK_EINVAL);
    ck_assert_str_ne(redlock_sync_error_text(), "");
    request = rig_request("k");
    ck_assert_int_eq(redlock_sync_acquire(r.s, &request, NULL, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_adopt(r.s, &request, "", NULL, &lock), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_adopt(r.s, &request, NULL, NULL, &lock), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_release_token(r.s, NULL, NULL, 0, "x"), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_run(r.s, NULL, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_query(r.s, "k", 0, NULL), REDLOCK_EINVAL);
    ck_assert_ptr_null(lock);
    rig_expect_clean(&r);
    rig_end(&r);
}

TEST(null_is_refused_everywhere)
{
    struct redlock_request request = rig_request("k");
    struct redlock_query_result *result = NULL;
    struct redlock_sync_canceler *canceler;
    struct redlock_sync_lock *lock = NULL;
    size_t len = 7;

    ck_assert_int_eq(redlock_sync_close(NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_acquire(NULL, &request, NULL, &lock), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_release(NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_hand_over(NULL, "ann", 0), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_extend(NULL, 0), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_lock_heartbeat(NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_lock_detach(NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_lock_lost(NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_lock_fd(NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_query(NULL, "k", 0, &result), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_canceler_new(NULL, &canceler), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_sync_cancel(NULL), REDLOCK_EINVAL);
    redlock_sync_canceler_free(NULL);
    ck_assert_uint_eq(redlock_sync_lock_validity_ms(NULL), 0);
    ck_assert_uint_eq(redlock_sync_lock_deadline_us(NULL), 0);
    ck_assert_uint_eq(redlock_sync_lock_fencing_token(NULL), 0);
    ck_assert_str_eq(redlock_sync_lock_token(NULL), "");
    ck_assert_str_eq(redlock_sync_lock_key(NULL, &len), "");
    ck_assert_uint_eq(len, 0);
}
