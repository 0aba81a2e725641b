/* io/test_wire.c - the bytes that masters get: client name, login, key and value. */
#include <stdio.h>
#include <string.h>

#include "io/farm.h"
#include "lib/test.h"

SUITE("wire");
FIXTURE(NULL, farm_end_all);

static struct farm f;

/* The only SET that node 0 got on its first connection. */
static const struct resp_request *first_set(void)
{
    long at = fake_find(f.nodes[0], 0, 0, "SET");

    ck_assert_int_ge(at, 0);
    return fake_request(f.nodes[0], 0, (size_t)at);
}

static void acquire_and_release(const struct redlock_request *request)
{
    struct outcome got = farm_acquire_as(&f, request);

    ck_assert_int_eq(got.status, REDLOCK_OK);
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
}

/* Other Redlock clients compete with us by the same command: the key is the resource, the value
 * the token. */
TEST(set_is_what_every_redlock_client_sends)
{
    struct redlock_request request = outcome_request("resource");
    const struct resp_request *set;
    struct outcome got;

    farm_start_open(&f, 3);
    request.ttl_ms = 12345;
    got = farm_acquire_as(&f, &request);
    set = first_set();
    ck_assert_str_eq(set->argv[1], "resource");
    ck_assert_str_eq(set->argv[2], got.token);
    ck_assert_uint_ge(set->argc, 6);
    ck_assert_int_ge(fake_find(f.nodes[0], 0, 0, "SET resource"), 0);
    ck_assert_ptr_nonnull(
        strstr(fake_text(f.nodes[0], 0, (size_t)fake_find(f.nodes[0], 0, 0, "SET")), " NX"));
    ck_assert_ptr_nonnull(
        strstr(fake_text(f.nodes[0], 0, (size_t)fake_find(f.nodes[0], 0, 0, "SET")), " PX 12345"));
}

TEST(token_is_40_hex_digits)
{
    struct outcome got;

    farm_start_open(&f, 3);
    got = farm_acquire(&f, "k");
    ck_assert_uint_eq(strlen(got.token), 40);
    ck_assert_uint_eq(strspn(got.token, "0123456789abcdef"), 40);
    ck_assert_uint_eq(farm_count(&f, "k", got.token), 3);
}

TEST(owner_follows_the_token)
{
    struct redlock_request request = outcome_request("k");
    struct outcome got;

    farm_start_open(&f, 3);
    request.owner = "host-7 pid 12";
    got = farm_acquire_as(&f, &request);
    ck_assert_str_eq(got.token + 40, ":host-7 pid 12");
    ck_assert_uint_eq(farm_count(&f, "k", got.token), 3);
}

TEST(prefix_comes_before_the_key)
{
    struct outcome got;
    struct outcome_released released = {0, 0};
    size_t len;

    farm_start(&f, 3, FAKE_UNIX);
    f.options.key_prefix = "locks:";
    farm_open(&f);
    got = farm_acquire(&f, "k");
    ck_assert_uint_eq(farm_count(&f, "locks:k", got.token), 3);
    ck_assert_str_eq(redlock_lock_key(got.lock, &len), "locks:k");
    ck_assert_uint_eq(len, 7);
    ck_assert_int_eq(redlock_lock_detach(got.lock), REDLOCK_OK);
    ck_assert_int_eq(redlock_release_token(f.rl, &(const char *){"k"}, NULL, 1, got.token,
                                           outcome_on_released, &released),
                     0);
    loop_must(f.base, &released.calls);
    ck_assert_int_eq(released.status, REDLOCK_OK);
    farm_wait_clean(&f);
}

TEST(key_with_a_length_may_hold_any_byte)
{
    static const char key[] = "a\0b\r\n\xff";
    struct redlock_request request = outcome_request(key);
    const struct resp_request *set;
    size_t len;
    struct outcome got;

    farm_start_open(&f, 3);
    request.key_len = 6;
    got = farm_must_acquire_as(&f, &request);
    set = first_set();
    ck_assert_uint_eq(set->len[1], 6);
    ck_assert_mem_eq(set->argv[1], key, 6);
    ck_assert_mem_eq(redlock_lock_key(got.lock, &len), key, 7);
    ck_assert_uint_eq(len, 6);
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
}

TEST(key_length_cuts_the_key)
{
    struct redlock_request request = outcome_request("resource");
    struct outcome got;

    farm_start_open(&f, 3);
    request.key_len = 3;
    got = farm_acquire_as(&f, &request);
    ck_assert_uint_eq(farm_count(&f, "res", got.token), 3);
}

TEST(longest_key_and_owner_go_through)
{
    static char key[REDLOCK_MAX_KEY + 1];
    static char owner[REDLOCK_MAX_OWNER + 1];
    struct redlock_request request = outcome_request(key);

    memset(key, 'k', REDLOCK_MAX_KEY);
    key[REDLOCK_MAX_KEY] = '\0';
    memset(owner, 'o', REDLOCK_MAX_OWNER);
    owner[REDLOCK_MAX_OWNER] = '\0';
    request.owner = owner;
    farm_start_open(&f, 3);
    acquire_and_release(&request);
    ck_assert_uint_eq(first_set()->len[1], REDLOCK_MAX_KEY);
    farm_wait_clean(&f);
}

/* Give node 0 a URI with a login in it; the others need none. */
static void open_with_login(const char *login)
{
    static char uri[200];

    snprintf(uri, sizeof(uri), "redis://%s@127.0.0.1:%d", login, fake_port(f.nodes[0]));
    f.uris[0] = uri;
    farm_open_at_once(&f);
}

static const struct resp_request *first_auth(void)
{
    long at = fake_find(f.nodes[0], 0, 0, "AUTH");

    ck_assert_int_ge(at, 0);
    return fake_request(f.nodes[0], 0, (size_t)at);
}

TEST(user_and_password_are_sent_unescaped)
{
    farm_start(&f, 3, FAKE_TCP);
    fake_model(f.nodes[0])->user = "ann@home";
    fake_model(f.nodes[0])->password = "p:w/ %\xc3\xa9";
    open_with_login("ann%40home:p%3aw%2F%20%25%c3%A9");
    farm_wait(&f, 0, REDLOCK_NODE_UP);
    ck_assert_uint_eq(first_auth()->argc, 3);
    ck_assert_str_eq(first_auth()->argv[1], "ann@home");
    ck_assert_str_eq(first_auth()->argv[2], "p:w/ %\xc3\xa9");
}

TEST(password_alone_is_sent_alone)
{
    farm_start(&f, 3, FAKE_TCP);
    fake_model(f.nodes[0])->password = "secret";
    open_with_login(":secret");
    farm_wait(&f, 0, REDLOCK_NODE_UP);
    ck_assert_uint_eq(first_auth()->argc, 2);
    ck_assert_str_eq(first_auth()->argv[1], "secret");
}

TEST(login_of_the_options_is_for_uris_without_one)
{
    farm_start(&f, 3, FAKE_TCP);
    f.options.username = "ann";
    f.options.password = "general";
    fake_model(f.nodes[0])->user = "bob";
    fake_model(f.nodes[0])->password = "own";
    fake_model(f.nodes[1])->user = "ann";
    fake_model(f.nodes[1])->password = "general";
    open_with_login("bob:own");
    farm_wait(&f, 0, REDLOCK_NODE_UP);
    farm_wait(&f, 1, REDLOCK_NODE_UP);
}

TEST(wrong_password_is_reported_and_never_shown)
{
    struct outcome got;

    farm_start(&f, 3, FAKE_TCP);
    fake_model(f.nodes[0])->password = "right";
    open_with_login(":sesame");
    farm_wait_error(&f, 0, "WRONGPASS");
    ck_assert_ptr_null(strstr(farm_error(&f, 0), "sesame"));
    got = farm_must_acquire(&f, "k");
    ck_assert_int_eq(got.votes[0].vote, REDLOCK_VOTE_NONE);
    ck_assert_ptr_nonnull(strstr(got.votes[0].error, "WRONGPASS"));
    ck_assert_ptr_null(strstr(got.votes[0].error, "sesame"));
}

TEST(missing_password_is_reported)
{
    farm_start(&f, 3, FAKE_UNIX);
    fake_model(f.nodes[0])->password = "right";
    farm_open_at_once(&f);
    farm_wait_error(&f, 0, "password");
    ck_assert_int_ne(farm_state(&f, 0), REDLOCK_NODE_UP);
}

/* A server without AUTH quotes our own command. */
TEST(password_that_a_server_quotes_is_not_shown)
{
    farm_start(&f, 3, FAKE_TCP);
    fake_on(f.nodes[0], "AUTH", FAKE_REPLY,
            "-ERR unknown command 'AUTH', with args beginning with: 'sesame' \r\n");
    open_with_login(":sesame");
    farm_wait_error(&f, 0, "(user default): ERR; ");
    ck_assert_ptr_null(strstr(farm_error(&f, 0), "sesame"));
}

TEST(name_of_a_node_has_no_login)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    char name[64];

    farm_start(&f, 3, FAKE_TCP);
    fake_model(f.nodes[0])->user = "ann";
    fake_model(f.nodes[0])->password = "sesame";
    open_with_login("ann:sesame");
    snprintf(name, sizeof(name), "redis://127.0.0.1:%d/0", fake_port(f.nodes[0]));
    ck_assert_int_eq(redlock_get_node_info(f.rl, 0, &info), REDLOCK_OK);
    ck_assert_str_eq(info.name, name);
}

TEST(database_is_selected_before_anything_is_set)
{
    static char uri[200];
    struct redlock_request request = outcome_request("k");

    farm_start(&f, 3, FAKE_UNIX);
    snprintf(uri, sizeof(uri), "unix://%s?db=3", fake_path(f.nodes[0]));
    f.uris[0] = uri;
    farm_open(&f);
    acquire_and_release(&request);
    ck_assert_int_ge(fake_find(f.nodes[0], 0, 0, "SELECT 3"), 0);
    ck_assert_int_lt(fake_find(f.nodes[0], 0, 0, "SELECT 3"), fake_find(f.nodes[0], 0, 0, "SET"));
    ck_assert_int_eq(fake_find(f.nodes[1], 0, 0, "SELECT"), -1);
}

TEST(missing_database_is_reported)
{
    static char uri[200];

    farm_start(&f, 3, FAKE_TCP);
    snprintf(uri, sizeof(uri), "redis://127.0.0.1:%d/77", fake_port(f.nodes[0]));
    f.uris[0] = uri;
    farm_open_at_once(&f);
    farm_wait_error(&f, 0, "77");
    ck_assert_int_ne(farm_state(&f, 0), REDLOCK_NODE_UP);
}

TEST(client_name_is_set)
{
    farm_start(&f, 3, FAKE_UNIX);
    f.options.client_name = "worker:7";
    farm_open(&f);
    ck_assert_uint_eq(fake_count(f.nodes[0], "CLIENT SETNAME worker:7"), 1);
    farm_close(&f);
    f.options.client_name = NULL;
    farm_open(&f);
    ck_assert_uint_eq(fake_count(f.nodes[0], "CLIENT SETNAME libredlock"), 1);
}

TEST(version_of_a_server_is_reported)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    farm_start_open(&f, 3);
    ck_assert_int_eq(redlock_get_node_info(f.rl, 0, &info), REDLOCK_OK);
    ck_assert_str_eq(info.server, "redis 7.0.15");
}

/* Before Redis 7 SET knows NX and GET only apart, before 6 there is no HELLO. */
TEST_LOOP(older_servers_vote_without_naming_the_holder, 5, 7)
{
    struct redlock_request request = outcome_request("free");
    struct outcome got;
    size_t i;

    farm_start(&f, 3, FAKE_UNIX);
    for (i = 0; i < 3; i++) {
        fake_model(f.nodes[i])->major = _i;
        rlk_model_set(fake_model(f.nodes[i]), "taken", "somebody", 60000);
    }
    farm_open(&f);
    acquire_and_release(&request);
    got = farm_acquire(&f, "taken");
    ck_assert_int_eq(got.status, REDLOCK_EHELD);
    ck_assert_int_eq(got.votes[0].vote, REDLOCK_VOTE_NO);
    ck_assert_str_eq(got.votes[0].holder, "");
}

TEST(the_holder_is_named)
{
    struct outcome got;

    farm_start(&f, 3, FAKE_UNIX);
    farm_set(&f, 0, 3, "k", "somebody\n else", 60000);
    farm_open(&f);
    got = farm_acquire(&f, "k");
    ck_assert_int_eq(got.status, REDLOCK_EHELD);
    ck_assert_int_eq(got.reason, REDLOCK_EHELD);
    ck_assert_str_eq(got.votes[0].holder, "somebody\\x0a else");
}

/* [S11] The writable replica is the dangerous one: only INFO shows its role. */
TEST_LOOP(unfit_servers_do_not_vote, 0, 3)
{
    static const struct {
        const char *role;
        const char *mode;
        const char *word;
    } rows[] = {{"replica", "standalone", "replica"},
                {"master", "cluster", "cluster"},
                {"master", "sentinel", "sentinel"}};
    struct outcome got;

    farm_start(&f, 3, FAKE_UNIX);
    fake_model(f.nodes[0])->role = rows[_i].role;
    fake_model(f.nodes[0])->mode = rows[_i].mode;
    farm_open_at_once(&f);
    farm_wait_error(&f, 0, rows[_i].word);
    got = farm_must_acquire(&f, "k");
    ck_assert_int_eq(got.votes[0].vote, REDLOCK_VOTE_NONE);
    ck_assert_ptr_nonnull(strstr(got.votes[0].error, rows[_i].word));
    ck_assert_uint_eq(fake_count(f.nodes[0], "SET"), 0);
}

/* The role of a server without HELLO is in INFO. */
TEST(old_replica_does_not_vote)
{
    farm_start(&f, 3, FAKE_UNIX);
    fake_model(f.nodes[0])->major = 5;
    fake_model(f.nodes[0])->role = "replica";
    farm_open_at_once(&f);
    farm_wait_error(&f, 0, "replica");
    ck_assert_int_ne(farm_state(&f, 0), REDLOCK_NODE_UP);
}

/* Redis 6.0 wants a right for HELLO. */
static void start_without_right_to_hello(void)
{
    size_t i;

    farm_start(&f, 3, FAKE_UNIX);
    for (i = 0; i < 3; i++) {
        fake_model(f.nodes[i])->major = 6;
        fake_on(f.nodes[i], "HELLO", FAKE_REPLY,
                "-NOPERM this user has no permissions to run the 'hello' command or its "
                "subcommand\r\n");
    }
}

TEST(server_that_denies_hello_is_greeted_without_it)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    struct redlock_request request = outcome_request("k");

    start_without_right_to_hello();
    farm_open(&f);
    ck_assert_int_eq(redlock_get_node_info(f.rl, 0, &info), REDLOCK_OK);
    ck_assert_str_eq(info.server, "redis 6.0.15");
    acquire_and_release(&request);
}

TEST(replica_that_denies_hello_does_not_vote)
{
    start_without_right_to_hello();
    fake_model(f.nodes[0])->role = "slave";
    farm_open_at_once(&f);
    farm_wait_error(&f, 0, "is a replica");
    ck_assert_int_ne(farm_state(&f, 0), REDLOCK_NODE_UP);
}
