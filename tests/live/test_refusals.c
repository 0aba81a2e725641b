/* live/test_refusals.c - real masters that refuse us while a lock is held: the lock stays held by
 * the others, and the master has its key again when it is well, or has none after a release.
 *
 * A row for each state; tests/cli/refusals.py has what redlock(1) says of a master that is in one
 * of them. All states run at once, each with a manager of its own on its own master and on two good
 * ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <event2/event.h>

#include "lib/test.h"
#include "live/site.h"

SUITE("refusals");

/* The lock is acquired for OUTCOME_TTL_MS, extended in the state, and again when that is over. */
#define LONG_TTL_MS (OUTCOME_TTL_MS * 3 / 2)
#define LONGEST_TTL_MS (OUTCOME_TTL_MS * 2)

struct state {
    const char *name;
    const char *config;
    void (*bring)(struct master *m);
    void (*heal)(struct master *m);
    const char *says; /* NULL: nothing, as it does not answer, or answers that the key is taken */
};

/* ---- how to bring a master there, and back ---- */

static void must_ask(struct master *m, const char *command)
{
    ck_assert_str_eq(master_ask(m, command), "OK");
}

static void await(struct master *m, const char *command, const char *word)
{
    int looks;

    for (looks = 0; strstr(master_ask(m, command), word) == NULL; looks++) {
        ck_assert_msg(looks < 4000, "no %s: %s", word, master_ask(m, command));
        usleep(5000);
    }
}

static const char *dump_of(struct master *m)
{
    static char path[256];

    snprintf(path, sizeof(path), "%s/dump.rdb", master_folder(m));
    return path;
}

static void fail_save(struct master *m)
{
    ck_assert_int_eq(mkdir(dump_of(m), 0700), 0);
    ck_assert_str_eq(master_ask(m, "CONFIG SET save %s", "3600 1"), "OK");
    master_ask(m, "BGSAVE");
    await(m, "INFO persistence", "rdb_last_bgsave_status:err");
}

static void save(struct master *m)
{
    ck_assert_int_eq(rmdir(dump_of(m)), 0);
    master_ask(m, "BGSAVE");
    await(m, "INFO persistence", "rdb_last_bgsave_status:ok");
}

static void fill(struct master *m)
{
    must_ask(m, "CONFIG SET maxmemory 1");
}

static void make_room(struct master *m)
{
    must_ask(m, "CONFIG SET maxmemory 0");
}

static void want_replicas(struct master *m)
{
    must_ask(m, "CONFIG SET min-replicas-to-write 1");
}

static void want_none(struct master *m)
{
    must_ask(m, "CONFIG SET min-replicas-to-write 0");
}

/* Of a master that is not there, so its data stay. */
static void make_replica(struct master *m)
{
    must_ask(m, "REPLICAOF 127.0.0.1 1");
}

static void promote(struct master *m)
{
    must_ask(m, "REPLICAOF NO ONE");
}

/* A command whose reply is not waited for; the connection stays open until the test ends. */
static void send_only(struct master *m, const char *command)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(name.sun_path, sizeof(name.sun_path), "%s", master_uri(m) + strlen("unix://"));
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&name, sizeof(name)), 0);
    ck_assert_int_eq(write(fd, command, strlen(command)), (ssize_t)strlen(command));
}

static void spin(struct master *m)
{
    send_only(m, "EVAL 'while true do end' 0\r\n");
    await(m, "PING", "-BUSY");
}

static void kill_script(struct master *m)
{
    must_ask(m, "SCRIPT KILL");
    await(m, "PING", "PONG");
}

/* Those that exist are ended, as by a firewall. */
static void refuse_clients(struct master *m)
{
    must_ask(m, "CONFIG SET maxclients 1");
    master_ask(m, "CLIENT KILL TYPE normal SKIPME yes");
}

static void allow_clients(struct master *m)
{
    must_ask(m, "CONFIG SET maxclients 100");
}

static void spoil(struct master *m)
{
    master_ask(m, "DEL k");
    master_ask(m, "LPUSH k x");
}

static void delete_key(struct master *m)
{
    master_ask(m, "DEL k");
}

static void spoil_counter(struct master *m)
{
    master_ask(m, "DEL k:redlock-fence");
    master_ask(m, "LPUSH k:redlock-fence x");
}

static void delete_counter(struct master *m)
{
    master_ask(m, "DEL k:redlock-fence");
}

static const struct state states[] = {
    {"MISCONF", "", fail_save, save, "(MISCONF)"},
    {"OOM", "", fill, make_room, NULL}, /* a renewal needs no memory */
    {"NOREPLICAS", "", want_replicas, want_none, "(NOREPLICAS)"},
    {"READONLY", "", make_replica, promote, "is a replica"},
    {"MASTERDOWN", "replica-serve-stale-data no", make_replica, promote, "is a replica"},
    {"BUSY", "lua-time-limit 1", spin, kill_script, "(BUSY)"},
    {"maxclients", "", refuse_clients, allow_clients, "(maxclients)"},
    {"stopped", "", master_stop, master_continue, NULL},
    {"WRONGTYPE", "", spoil, delete_key, NULL},
    {"WRONGTYPE of the counter", "", spoil_counter, delete_counter, NULL},
};

#define STATES (sizeof(states) / sizeof(states[0]))

/* ---- a lock for each state ---- */

struct stand {
    const struct state *state;
    struct master *own;
    char uris[3][256];
    struct redlock *rl;
    struct outcome got;
    int lost, extended, extend_status;
    struct outcome_released released;
};

static struct stand stands[STATES];
static struct master *good[2];
static struct event_base *base;

static void on_notice(struct redlock_lock *lock, const struct redlock_notice *notice, void *arg)
{
    (void)lock;
    ((struct stand *)arg)->lost += notice->kind == REDLOCK_NOTICE_LOST;
}

static void on_extended(struct redlock_lock *lock, int status, void *arg)
{
    struct stand *at = arg;

    (void)lock;
    at->extended = 1;
    at->extend_status = status;
}

/* On the good ones each state has a database of its own. */
static void open_stand(struct stand *at, size_t i)
{
    struct master_options options = {.config = states[i].config};
    struct redlock_options ours;
    const char *uris[] = {at->uris[0], at->uris[1], at->uris[2]};
    size_t node;

    memset(at, 0, sizeof(*at));
    at->state = &states[i];
    at->own = master_start(&options);
    snprintf(at->uris[0], sizeof(at->uris[0]), "%s", master_uri(at->own));
    for (node = 1; node < 3; node++) {
        snprintf(at->uris[node], sizeof(at->uris[0]), "%s?db=%zu", master_uri(good[node - 1]), i);
    }
    redlock_options_init(&ours);
    ours.quarantine = REDLOCK_QUARANTINE_OFF;
    ours.inspection_ms = 50;
    ours.nodes = uris;
    ours.n_nodes = 3;
    ours.node_timeout_ms = ours.connect_timeout_ms = SITE_NEVER_MS;
    ck_assert_int_eq(redlock_new(base, &ours, &at->rl), REDLOCK_OK);
    for (node = 0; node < 3; node++) {
        watch_for_state(base, at->rl, node, REDLOCK_NODE_UP);
    }
}

static bool have_all_granted(void *arg)
{
    struct stand *at = arg;
    struct redlock_node_detail detail = {.size = sizeof(detail)};
    size_t i, granted = 0;

    for (i = 0; i < 3; i++) {
        ck_assert_int_eq(redlock_lock_node(at->got.lock, i, &detail), REDLOCK_OK);
        granted += detail.vote == REDLOCK_VOTE_YES;
    }
    return granted == 3;
}

static bool has_own_key(void *arg)
{
    struct stand *at = arg;

    return strcmp(master_ask(at->own, "GET k"), at->got.token) == 0;
}

/* Makes a renewal begin now. */
static void extend(struct stand *at, uint32_t ttl_ms)
{
    at->extended = 0;
    ck_assert_int_eq(redlock_extend(at->got.lock, ttl_ms, on_extended, at), REDLOCK_OK);
    loop_must(base, &at->extended);
    ck_assert_msg(at->extend_status == REDLOCK_OK, "%s: %d", at->state->name, at->extend_status);
}

/* [S7] Until the first renewal only the masters count that were the first to grant the lock. */
static void acquire(struct stand *at)
{
    struct redlock_request request = outcome_fenced_request("k");

    request.notice_cb = on_notice;
    request.notice_arg = at;
    at->got = outcome_of_acquire(base, at->rl, 3, &request);
    ck_assert_msg(at->got.status == REDLOCK_OK, "%s: %d", at->state->name, at->got.status);
    loop_must_true(base, have_all_granted, at);
    extend(at, OUTCOME_TTL_MS);
}

static bool lets_scripts_write(struct master *m)
{
    return strcmp(master_ask(m, "EVAL %s 0", "return redis.call('SET','x','')"), "OK") == 0;
}

/* Before 7.0 a master with fewer replicas than it needs carries out a renewal, which is a script.
 */
static bool is_refused(const struct stand *at)
{
    return at->state->says && !(at->state->bring == want_replicas && lets_scripts_write(at->own));
}

/* The others are enough: the lock lives longer than any key that its own master has. */
static void must_be_held(struct stand *at)
{
    ck_assert_msg(at->lost == 0, "%s: lost", at->state->name);
    ck_assert_msg(redlock_lock_validity_ms(at->got.lock) > OUTCOME_TTL_MS, "%s: not extended",
                  at->state->name);
    if (is_refused(at)) {
        watch_for_error(base, at->rl, 0, at->state->says);
    }
}

static bool has_full_ttl(void *arg)
{
    struct stand *at = arg;

    return has_own_key(at) && atol(master_ask(at->own, "PTTL k")) > (long)LONG_TTL_MS;
}

/* Extends again until the master has the key for as long. */
static void must_heal(struct stand *at)
{
    int tries = 0, never = 0;

    watch_for_state(base, at->rl, 0, REDLOCK_NODE_UP);
    do {
        ck_assert_msg(tries++ < 100, "%s: the key is not there", at->state->name);
        extend(at, LONGEST_TTL_MS);
        loop_until(base, &never, 50);
    } while (!has_full_ttl(at));
    ck_assert_msg(at->lost == 0, "%s: lost", at->state->name);
}

static bool is_free(void *arg)
{
    struct stand *at = arg;

    return strcmp(master_ask(at->own, "EXISTS k"), "0") == 0;
}

static void begin_release(struct stand *at)
{
    ck_assert_int_eq(redlock_release(at->got.lock, outcome_on_released, &at->released), REDLOCK_OK);
}

static void must_be_released(struct stand *at)
{
    loop_must(base, &at->released.calls);
    ck_assert_msg(at->released.status == REDLOCK_OK, "%s: %d", at->state->name,
                  at->released.status);
    ck_assert_msg(loop_until_true(base, is_free, at, LOOP_BOUND_MS), "%s: the key stays",
                  at->state->name);
}

static void set_up(void)
{
    size_t i;

    base = event_base_new();
    good[0] = master_start(NULL);
    good[1] = master_start(NULL);
    for (i = 0; i < STATES; i++) {
        open_stand(&stands[i], i);
        acquire(&stands[i]);
    }
    for (i = 0; i < STATES; i++) {
        master_ask(stands[i].own, "PING"); /* connects: a busy master greets nobody */
        states[i].bring(stands[i].own);
    }
}

static void tear_down(void)
{
    size_t i;

    for (i = 0; i < STATES; i++) {
        watch_close(base, stands[i].rl);
        master_free(stands[i].own);
    }
    master_free(good[0]);
    master_free(good[1]);
    event_base_free(base);
}

FIXTURE(set_up, tear_down);

TEST(a_lock_is_held_by_the_others_and_heals)
{
    size_t i;

    for (i = 0; i < STATES; i++) {
        extend(&stands[i], LONG_TTL_MS);
        must_be_held(&stands[i]);
    }
    for (i = 0; i < STATES; i++) {
        states[i].heal(stands[i].own);
        must_heal(&stands[i]);
        begin_release(&stands[i]);
        must_be_released(&stands[i]);
    }
}

/* [S5] The keys would live for two minutes. */
TEST(a_release_is_carried_out_when_the_master_is_well_again)
{
    size_t i;

    for (i = 0; i < STATES; i++) {
        begin_release(&stands[i]);
    }
    loop_settle(base);
    for (i = 0; i < STATES; i++) {
        states[i].heal(stands[i].own);
        must_be_released(&stands[i]);
    }
}
