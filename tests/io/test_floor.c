/* io/test_floor.c - the second floor of the benchmark sends what the library sends, byte for byte.
 * A scripted master records what the library sends for a lock that nobody else wants, once its
 * script is loaded. */
#include <string.h>

#include <event2/buffer.h>

#include "commands.h"
#include "io/farm.h"
#include "lib/test.h"
#include "node/command.h"
#include "testing/resp.h"

SUITE("floor");
FIXTURE(NULL, farm_end_all);

#define TTL_MS 10000

static struct farm f;

/* How each kind of server is asked. */
static const struct kind {
    const char *claim;
    const char *native; /* as model.h says */
    int major;
    struct commands asked;
} kinds[] = {
    {"set_and_the_script", "", 6, {.returns_holder = false, .native = RLK_NATIVE_NONE}},
    {"set_with_get_and_the_script", "", 7, {.returns_holder = true, .native = RLK_NATIVE_NONE}},
    {"delex_and_the_check_for_waiters",
     "DELEX",
     7,
     {.returns_holder = true, .native = RLK_NATIVE_DELEX}},
    {"delifeq_and_the_check_for_waiters",
     "DELIFEQ",
     7,
     {.returns_holder = true, .native = RLK_NATIVE_DELIFEQ}},
};

static void acquire_and_release(void)
{
    struct redlock_request request = outcome_request("bench:lock:000007");
    struct outcome got;

    request.ttl_ms = TTL_MS;
    got = farm_must_acquire_as(&f, &request);
    loop_settle(f.base);
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
    loop_settle(f.base);
}

/* The next request that the master got has the words of `bytes`, except for the token. */
static void must_be_next(size_t *at, struct evbuffer *bytes)
{
    const struct resp_request *got = fake_request(f.nodes[0], 0, (*at)++);
    struct resp_request sent;
    size_t i;

    ck_assert_int_eq(rlk_resp_take(bytes, &sent), RESP_ONE);
    ck_assert_ptr_nonnull(got);
    ck_assert_uint_eq(got->argc, sent.argc);
    for (i = 0; i < sent.argc; i++) {
        ck_assert_uint_eq(got->len[i], sent.len[i]);
        if (strcmp(sent.argv[i], WIRE_NO_TOKEN) != 0) {
            ck_assert_mem_eq(got->argv[i], sent.argv[i], sent.len[i]);
        }
    }
    rlk_resp_free(&sent);
}

/* RESP has one way to write a request if lengths have no leading zeros. So the same words in the
 * same number of bytes are the same bytes. */
static void must_be_sent(size_t at, const struct wire_command *set,
                         const struct wire_command *release)
{
    struct evbuffer *bytes = evbuffer_new();

    ck_assert_ptr_nonnull(bytes);
    evbuffer_add(bytes, set->bytes, set->len);
    evbuffer_add(bytes, release->bytes, release->len);
    while (evbuffer_get_length(bytes) > 0) {
        must_be_next(&at, bytes);
    }
    ck_assert_uint_eq(fake_n_commands(f.nodes[0], 0), at);
    evbuffer_free(bytes);
}

TEST_ROWS(the_floor_sends_what_the_library_sends, kinds)
{
    const struct kind *row = &kinds[_i];
    struct wire_command set, release;
    struct commands asked = row->asked;
    size_t commands, bytes;

    farm_start(&f, 1, FAKE_UNIX);
    fake_model(f.nodes[0])->major = row->major;
    fake_model(f.nodes[0])->native = row->native;
    farm_open(&f);
    acquire_and_release();
    commands = fake_n_commands(f.nodes[0], 0);
    bytes = fake_n_received(f.nodes[0]);
    acquire_and_release();
    strcpy(asked.sha, rlk_script_release.sha);
    commands_set_init(&asked, &set, "bench:lock:000007", TTL_MS);
    commands_release_init(&asked, &release, "bench:lock:000007");
    must_be_sent(commands, &set, &release);
    ck_assert_uint_eq(fake_n_received(f.nodes[0]) - bytes, set.len + release.len);
}
