/* io/test_config.c - what redlock_new() and the calls refuse, and their error texts. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <event2/event.h>

#include "io/farm.h"
#include "lib/test.h"

SUITE("config");

static struct farm f;
static char text[256];

/* Every URI must be refused with an error text that does not contain the password. */
static const char *const bad_uris[] = {
    "",
    "redis",
    "redis:",
    "redis:/",
    "redis://",
    "http://host",
    "REDIS//host",
    "rediss//host",
    "rediss://user:sesame@host?cacert=",
    "rediss://user:sesame@host?verify=no",
    "redis://user:sesame@host?verify=none",
    "redis://:sesame@",
    "redis://user@host",
    "redis://user:sesame@host:port",
    "redis://user:sesame@host:0",
    "redis://user:sesame@host:65536",
    "redis://user:sesame@host:-1",
    "redis://user:sesame@host:+1",
    "redis://user:sesame@host:63 79",
    "redis://user:sesame@host:99999999999999999999",
    "redis://user:sesame@host/x",
    "redis://user:sesame@host/-1",
    "redis://user:sesame@host/1/2",
    "redis://user:sesame@host/99999999999999999999",
    "redis://user:sesame%@host",
    "redis://user:sesame%4@host",
    "redis://user:sesame%zz@host",
    "redis://user:sesame%00@host",
    "redis://us%er:sesame@host",
    "redis://user:sesame@[::1",
    "redis://user:sesame@[::1]x",
    "redis://user:sesame@[]",
    "redis://user:sesame@::1",
    "redis://user:sesame@[::1]:",
    "redis://user:sesame@host:",
    "redis://user:sesame@ho st",
    "redis://user:sesame@ho\nst",
    "redis://user:sesame@host?db=1",
    "unix://",
    "unix:///",
    "unix://relative/path",
    "unix:/path",
    "unix:///path?db=",
    "unix:///path?db=x",
    "unix:///path?db=-1",
    "unix:///path?database=1",
    "unix:///path?db=1&db=2",
    "unix:///pa%th",
    "unix:///pa%00th",
    ("unix:///0123456789012345678901234567890123456789012345678901234567890123456789"
     "01234567890123456789012345678901234567890123456789"),
};

static int error_node;

static int try_new(const struct redlock_options *options)
{
    struct event_base *base = event_base_new();
    struct redlock *rl = NULL;
    int status;

    memset(text, 'x', sizeof(text));
    error_node = 99;
    status = redlock_new(base, options, &rl);
    if (status == REDLOCK_OK) {
        ck_assert_ptr_nonnull(rl);
        ck_assert_int_eq(redlock_close(rl, NULL, NULL), REDLOCK_OK);
        event_base_loop(base, 0);
    } else {
        ck_assert_ptr_null(rl);
    }
    event_base_free(base);
    return status;
}

static struct redlock_options one_node(const char *const *uri)
{
    struct redlock_options options;

    redlock_options_init(&options);
    options.nodes = uri;
    options.n_nodes = 1;
    options.error_text = text;
    options.error_text_size = sizeof(text);
    options.error_node = &error_node;
    return options;
}

CASE("new");

TEST_LOOP(bad_uri_is_refused_with_a_sentence, 0, N_ROWS(bad_uris))
{
    struct redlock_options options = one_node(&bad_uris[_i]);
    int status = try_new(&options);

    ck_assert_msg(status == REDLOCK_EURI, "%d for number %d of the list", status, _i);
    ck_assert_ptr_nonnull(memchr(text, '\0', sizeof(text)));
    ck_assert_str_ne(text, "");
    ck_assert_msg(strstr(text, "sesame") == NULL, "%s", text);
    ck_assert_int_eq(error_node, 0);
}

/* The valid URIs next to the invalid ones. No server listens there: only the parsing is tested. */
static const struct {
    const char *uri;
    const char *name;
} good_uris[] = {
    {"redis://127.0.0.1", "redis://127.0.0.1:6379/0"},
    {"redis://127.0.0.1:1/15", "redis://127.0.0.1:1/15"},
    {"redis://127.0.0.1/", "redis://127.0.0.1:6379/0"},
    {"redis://user:pass@127.0.0.1:65535", "redis://127.0.0.1:65535/0"},
    {"redis://:pass@127.0.0.1", "redis://127.0.0.1:6379/0"},
    {"redis://u:p%40%3a%2F@127.0.0.1", "redis://127.0.0.1:6379/0"},
    {"redis://[::1]", "redis://[::1]:6379/0"},
    {"redis://[::1]:7000/2", "redis://[::1]:7000/2"},
    {"unix:///run/no%20such.sock", "unix:///run/no such.sock"},
    {"unix:///run/none.sock?db=2", "unix:///run/none.sock?db=2"},
};

TEST_LOOP(good_uri_is_understood, 0, N_ROWS(good_uris))
{
    struct redlock_options options = one_node(&good_uris[_i].uri);
    struct redlock_node_info info = {.size = sizeof(info)};
    struct event_base *base = event_base_new();
    struct redlock *rl;

    ck_assert_msg(redlock_new(base, &options, &rl) == REDLOCK_OK, "%s", text);
    ck_assert_uint_eq(redlock_node_count(rl), 1);
    ck_assert_int_eq(redlock_get_node_info(rl, 0, &info), REDLOCK_OK);
    ck_assert_str_eq(info.name, good_uris[_i].name);
    redlock_close(rl, NULL, NULL);
    event_base_loop(base, 0);
    event_base_free(base);
}

TEST(error_text_is_cut_to_its_size)
{
    const char *uri = "nonsense";
    struct redlock_options options = one_node(&uri);

    options.error_text_size = 5;
    ck_assert_int_eq(try_new(&options), REDLOCK_EURI);
    ck_assert_uint_eq(strlen(text), 4);
    ck_assert_int_eq(text[5], 'x');
    options.error_text = NULL;
    options.error_text_size = 0;
    ck_assert_int_eq(try_new(&options), REDLOCK_EURI);
}

TEST(the_bad_one_of_many_uris_is_named)
{
    static const char *const uris[] = {"unix:///a", "unix:///b", "bad"};
    struct redlock_options options = one_node(uris);

    options.n_nodes = 3;
    ck_assert_int_eq(try_new(&options), REDLOCK_EURI);
    ck_assert_ptr_nonnull(strchr(text, '3'));
}

/* Each number just outside its range, and just inside. */
static void with_number(struct redlock_options *options, int which, uint32_t value)
{
    switch (which) {
    case 0:
        options->node_timeout_ms = value;
        break;
    case 1:
        options->connect_timeout_ms = value;
        break;
    case 2:
        options->max_ttl_ms = value;
        break;
    case 3:
        options->drift_ppm = value;
        break;
    default:
        options->audit_entries = value;
        break;
    }
}

TEST_LOOP(numbers_of_the_options_have_ranges, 0, 5)
{
    static const uint32_t least[] = {1, 1, 10, 0, 0};
    static const uint32_t most[] = {60000, 60000, 86400000, 500000, 10000000};
    const char *uri = "unix:///none";
    struct redlock_options options = one_node(&uri);

    with_number(&options, _i, least[_i]);
    ck_assert_int_eq(try_new(&options), REDLOCK_OK);
    with_number(&options, _i, most[_i]);
    ck_assert_int_eq(try_new(&options), REDLOCK_OK);
    with_number(&options, _i, most[_i] + 1);
    ck_assert_int_eq(try_new(&options), REDLOCK_EINVAL);
    ck_assert_str_ne(text, "");
    if (least[_i] > 0) {
        with_number(&options, _i, least[_i] - 1);
        ck_assert_int_eq(try_new(&options), REDLOCK_EINVAL);
    }
}

TEST(number_of_nodes_has_a_range)
{
    static char names[REDLOCK_MAX_NODES + 1][24];
    const char *uris[REDLOCK_MAX_NODES + 1] = {NULL};
    struct redlock_options options = one_node(uris);
    size_t i;

    for (i = 0; i < REDLOCK_MAX_NODES + 1; i++) {
        snprintf(names[i], sizeof(names[i]), "unix:///none%zu", i);
        uris[i] = names[i];
    }
    options.n_nodes = REDLOCK_MAX_NODES;
    ck_assert_int_eq(try_new(&options), REDLOCK_OK);
    options.n_nodes = REDLOCK_MAX_NODES + 1;
    ck_assert_int_eq(try_new(&options), REDLOCK_EINVAL);
    options.n_nodes = 0;
    ck_assert_int_eq(try_new(&options), REDLOCK_EINVAL);
    options.n_nodes = 1;
    options.nodes = NULL;
    ck_assert_int_eq(try_new(&options), REDLOCK_EINVAL);
    ck_assert_str_eq(text, "nodes is NULL, but n_nodes is 1");
    uris[1] = NULL;
    options.nodes = uris;
    options.n_nodes = 2;
    ck_assert_int_ne(try_new(&options), REDLOCK_OK);
}

/* [S10] In every spelling. */
TEST_LOOP(one_address_twice_is_refused, 0, 4)
{
    static const char *const same[][2] = {
        {"redis://a.example", "redis://a.example"},
        {"redis://a.example", "redis://:secret@a.example:6379/0"},
        {"redis://[::1]:7000/2", "redis://user:secret@[::1]:7000/2"},
        {"unix:///none", "unix:///none?db=0"},
    };
    const char *uris[] = {same[_i][0], "redis://b.example", same[_i][1]};
    struct redlock_options options = one_node(uris);

    options.n_nodes = 2;
    ck_assert_int_eq(try_new(&options), REDLOCK_OK);
    ck_assert_int_eq(error_node, -1);
    options.n_nodes = 3;
    ck_assert_int_eq(try_new(&options), REDLOCK_EINVAL);
    ck_assert_ptr_nonnull(strstr(text, "master 1 and master 3 are the same"));
    ck_assert_int_eq(error_node, 2);
    ck_assert_ptr_null(strstr(text, "secret"));
}

TEST(databases_of_one_address_are_several_nodes)
{
    const char *uris[] = {"redis://a.example/0", "redis://a.example/1"};
    struct redlock_options options = one_node(uris);

    options.n_nodes = 2;
    ck_assert_int_eq(try_new(&options), REDLOCK_OK);
}

TEST(texts_of_the_options_are_checked)
{
    static char long_text[2000];
    const char *uri = "unix:///none";
    struct redlock_options options = one_node(&uri);

    memset(long_text, 'x', sizeof(long_text) - 1);
    options.client_name = "a b";
    ck_assert_int_eq(try_new(&options), REDLOCK_EINVAL);
    options.client_name = long_text;
    ck_assert_int_eq(try_new(&options), REDLOCK_EINVAL);
    options.client_name = NULL;
    options.key_prefix = long_text;
    ck_assert_int_eq(try_new(&options), REDLOCK_EINVAL);
    options.key_prefix = NULL;
    options.username = "user";
    ck_assert_int_eq(try_new(&options), REDLOCK_EINVAL);
    options.password = "pass";
    ck_assert_int_eq(try_new(&options), REDLOCK_OK);
}

TEST(options_that_were_not_initialised_are_refused)
{
    const char *uri = "unix:///none";
    struct redlock_options options = one_node(&uri);
    struct event_base *base = event_base_new();
    struct redlock *rl = NULL;

    ck_assert_int_eq(redlock_new(NULL, &options, &rl), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_new(base, NULL, &rl), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_new(base, &options, NULL), REDLOCK_EINVAL);
    options.size = 0;
    ck_assert_int_eq(redlock_new(base, &options, &rl), REDLOCK_EINVAL);
    options.size = SIZE_MAX;
    ck_assert_int_eq(redlock_new(base, &options, &rl), REDLOCK_EINVAL);
    ck_assert_ptr_null(rl);
    event_base_free(base);
}

/* So long that no lock ends while a test runs. */
#define MAX_TTL_MS 100000

static void set_up(void)
{
    farm_start(&f, 3, FAKE_UNIX);
    f.options.max_ttl_ms = MAX_TTL_MS;
    farm_open(&f);
}

static void tear_down(void)
{
    farm_end(&f);
}

static void never_called(struct redlock_lock *lock, int status, void *arg)
{
    (void)lock;
    (void)arg;
    ck_abort_msg("a refused call has called back with %d", status);
}

static struct redlock_request good_request(void)
{
    struct redlock_request request = outcome_request("k");

    request.ttl_ms = MAX_TTL_MS;
    return request;
}

static void must_refuse(const struct redlock_request *request, int status)
{
    struct redlock_lock *none = (struct redlock_lock *)&f;
    struct redlock_lock *lock = none;

    ck_assert_int_eq(redlock_acquire(f.rl, request, never_called, NULL, &lock), status);
    ck_assert_ptr_eq(lock, none);
    ck_assert_str_ne(redlock_error_text(f.rl), "");
    loop_settle(f.base);
    ck_assert_uint_eq(fake_count(f.nodes[0], "SET"), 0);
}

CASE("calls");
FIXTURE(set_up, tear_down);

TEST(ttl_has_a_range)
{
    struct redlock_request request = good_request();

    request.ttl_ms = 9;
    must_refuse(&request, REDLOCK_ETTL);
    request.ttl_ms = 0;
    must_refuse(&request, REDLOCK_ETTL);
    request.ttl_ms = MAX_TTL_MS + 1;
    must_refuse(&request, REDLOCK_ETTL);
    request.ttl_ms = UINT32_MAX;
    must_refuse(&request, REDLOCK_ETTL);
    request.ttl_ms = MAX_TTL_MS;
    farm_must_acquire_as(&f, &request);
}

TEST(key_has_a_length)
{
    static char key[REDLOCK_MAX_KEY + 2];
    struct redlock_request request = good_request();

    memset(key, 'k', sizeof(key) - 1);
    request.key = key;
    must_refuse(&request, REDLOCK_EINVAL);
    request.key_len = REDLOCK_MAX_KEY + 1;
    must_refuse(&request, REDLOCK_EINVAL);
    request.key_len = SIZE_MAX;
    must_refuse(&request, REDLOCK_EINVAL);
    request.key_len = 0;
    request.key = "";
    must_refuse(&request, REDLOCK_EINVAL);
    request.key = NULL;
    must_refuse(&request, REDLOCK_EINVAL);
    request.key_len = 3;
    must_refuse(&request, REDLOCK_EINVAL);
}

TEST(key_limit_counts_the_prefix)
{
    static char key[REDLOCK_MAX_KEY + 1];
    struct redlock_request request = good_request();

    farm_close(&f);
    f.options.key_prefix = "p:";
    farm_open(&f);
    memset(key, 'k', sizeof(key) - 1);
    request.key = key;
    must_refuse(&request, REDLOCK_EINVAL);
    request.key_len = REDLOCK_MAX_KEY - 2;
    farm_must_acquire_as(&f, &request);
}

TEST(owner_is_printable_and_short)
{
    static char owner[REDLOCK_MAX_OWNER + 2];
    static const char *const bad[] = {"new\nline", "nul\x7f", "\xc3\xa9t\xc3\xa9", "\t", owner};
    struct redlock_request request = good_request();
    size_t i;

    memset(owner, 'o', sizeof(owner) - 1);
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        request.owner = bad[i];
        must_refuse(&request, REDLOCK_EINVAL);
    }
}

TEST(other_numbers_of_the_request_are_checked)
{
    struct redlock_request request = good_request();

    request.retry_max_ms = 0;
    must_refuse(&request, REDLOCK_EINVAL);
    request = good_request();
    request.retry_min_ms = 300;
    request.retry_max_ms = 250;
    must_refuse(&request, REDLOCK_EINVAL);
    request = good_request();
    request.ttl_ms = 1000;
    request.min_validity_ms = 988; /* ttl 1000 less a drift of 10 + 2 */
    must_refuse(&request, REDLOCK_EINVAL);
    request.min_validity_ms = UINT32_MAX;
    must_refuse(&request, REDLOCK_EINVAL);
    request = good_request();
    request.size = 0;
    must_refuse(&request, REDLOCK_EINVAL);
    request.size = SIZE_MAX;
    must_refuse(&request, REDLOCK_EINVAL);
}

TEST(null_is_refused_everywhere)
{
    struct redlock_request request = good_request();
    struct redlock_node_info info = {.size = sizeof(info)};

    must_refuse(NULL, REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_acquire(NULL, &request, never_called, NULL, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_acquire(f.rl, &request, NULL, NULL, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_cancel(NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_release(NULL, never_called, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_lock_detach(NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(
        redlock_release_token(NULL, &(const char *){"k"}, NULL, 1, "t", never_called, NULL),
        REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_release_token(f.rl, NULL, NULL, 1, "t", never_called, NULL),
                     REDLOCK_EINVAL);
    ck_assert_int_eq(
        redlock_release_token(f.rl, &(const char *){"k"}, NULL, 1, NULL, never_called, NULL),
        REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_query(f.rl, "k", 0, NULL, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_close(NULL, NULL, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_get_node_info(NULL, 0, &info), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_get_node_info(f.rl, 0, NULL), REDLOCK_EINVAL);
    ck_assert_uint_eq(redlock_node_count(NULL), 0);
}

static void must_say(const char *words)
{
    const char *said = redlock_error_text(f.rl);

    ck_assert_msg(strstr(said, words) != NULL, "'%s' is not in '%s'", words, said);
}

static void must_refuse_and_say(const struct redlock_request *request, const char *words)
{
    ck_assert_int_lt(redlock_acquire(f.rl, request, never_called, NULL, NULL), 0);
    must_say(words);
    ck_assert_int_lt(redlock_adopt(f.rl, request, "t", never_called, NULL, NULL), 0);
    must_say(words);
}

TEST(each_wrong_field_of_a_request_is_named)
{
    static const char *const twice[] = {"a", "b", "a"}, *const empty[] = {"a", ""},
                             *const gap[] = {"a", NULL};
    struct redlock_request bad[11], good = good_request();
    static const char *const words[] = {"not initialised",
                                        "no key is given",
                                        "key 1 is empty",
                                        "is reserved for the library",
                                        "both set",
                                        "17 keys",
                                        "same",
                                        "key 2 is empty",
                                        "key 2 is NULL",
                                        "retry_min_ms",
                                        "min_validity_ms is 9999"};
    size_t i;

    for (i = 0; i < 11; i++) {
        bad[i] = good;
        bad[i].key = i < 5 ? "k" : NULL;
        bad[i].n_keys = i == 5 ? 17 : i == 6 ? 3 : i > 6 ? 2 : 0;
    }
    bad[0].size = 1;
    bad[1].key = NULL;
    bad[2].key = "";
    bad[3].key = "redlock:incarnation";
    bad[4].n_keys = 1;
    bad[5].keys = bad[6].keys = twice;
    bad[7].keys = empty;
    bad[8].keys = gap;
    bad[9] = bad[10] = good;
    bad[9].retry_min_ms = 251;
    bad[10].ttl_ms = 10000;
    bad[10].min_validity_ms = 9999;
    for (i = 0; i < 11; i++) {
        must_refuse_and_say(&bad[i], words[i]);
    }
    must_refuse_and_say(NULL, "NULL");
    good.owner = "new\nline";
    must_refuse_and_say(&good, "owner");
    good.owner = NULL;
    good.flags = 4;
    must_refuse_and_say(&good, "flags");
    good.flags = 0;
    good.renew = 2;
    must_refuse_and_say(&good, "renew is 2; it must be 0 or 1");
    good.renew = 1;
    good.needs_heartbeat = -1;
    must_refuse_and_say(&good, "needs_heartbeat is -1; it must be 0 or 1");
    good.needs_heartbeat = 0;
    good.fencing = 7;
    must_refuse_and_say(&good, "fencing is 7; it must be 0 or 1");
    good.fencing = 0;
    good.ttl_ms = 9;
    must_refuse_and_say(&good, "the ttl is 9 ms; it must be 10 to ");
}

static void never_asked(const struct redlock_query_result *result, int status, void *arg)
{
    (void)result;
    never_called(NULL, status, arg);
}

static void ignored(struct redlock_lock *lock, int status, void *arg)
{
    (void)lock;
    (void)status;
    (void)arg;
}

TEST(other_calls_say_what_is_wrong_too)
{
    static const char *const key = "k", *const none = "";
    struct redlock_request request = good_request();
    struct outcome got;

    ck_assert_str_eq(redlock_error_text(NULL), "");
    ck_assert_int_lt(redlock_adopt(f.rl, &request, "", never_called, NULL, NULL), 0);
    must_say("token");
    ck_assert_int_lt(redlock_release_token(f.rl, &none, NULL, 1, "t", NULL, NULL), 0);
    must_say("key 1 is empty");
    ck_assert_int_lt(redlock_release_token(f.rl, &key, NULL, 1, "", NULL, NULL), 0);
    must_say("token");
    ck_assert_int_lt(redlock_query(f.rl, "", 0, never_asked, NULL), 0);
    must_say("0 bytes");
    ck_assert_int_lt(redlock_examine(f.rl, NULL, NULL), 0);
    must_say("cb");
    got = farm_must_acquire_as(&f, &request);
    ck_assert_str_eq(redlock_error_text(f.rl), ""); /* after a successful call there is no error */
    ck_assert_int_lt(redlock_extend(got.lock, 9, never_called, NULL), 0);
    must_say("the ttl is 9 ms");
    ck_assert_int_eq(redlock_extend(got.lock, 0, ignored, NULL), 0);
    ck_assert_str_eq(redlock_error_text(f.rl), "");
    ck_assert_int_lt(redlock_extend(got.lock, 0, never_called, NULL), 0);
    must_say("another extension");
}

TEST(index_and_size_are_checked)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    struct redlock_node_detail detail = {.size = sizeof(detail)};
    struct redlock_request request = good_request();
    struct outcome got = farm_acquire_as(&f, &request);

    ck_assert_int_eq(redlock_get_node_info(f.rl, 3, &info), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_lock_node(got.lock, 3, &detail), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_lock_node(got.lock, 0, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_lock_node(NULL, 0, &detail), REDLOCK_EINVAL);
    info.size = 0;
    ck_assert_int_eq(redlock_get_node_info(f.rl, 0, &info), REDLOCK_EINVAL);
    detail.size = 0;
    ck_assert_int_eq(redlock_lock_node(got.lock, 0, &detail), REDLOCK_EINVAL);
}

static void on_queried(const struct redlock_query_result *result, int status, void *arg)
{
    (void)result;
    (void)status;
    ++*(int *)arg;
}

/* The limit of acquires does not limit releases by token or queries. */
static void others_are_not_refused(int *reported)
{
    static const char *const keys[] = {"k"};

    ck_assert_int_eq(redlock_release_token(f.rl, keys, NULL, 1, "token", NULL, NULL), REDLOCK_OK);
    ck_assert_int_eq(redlock_query(f.rl, "k", 0, on_queried, reported), REDLOCK_OK);
}

/* The limit of the header: 65536 pending acquires. */
TEST(acquires_have_a_limit)
{
    struct redlock_request request = good_request();
    struct outcome got = {.n = 0};
    int i, queried = 0;

    for (i = 0; i < 3; i++) {
        fake_down(f.nodes[i]);
        farm_wait(&f, (size_t)i, REDLOCK_NODE_DOWN);
    }
    request.wait_ms = REDLOCK_FOREVER;
    for (i = 0; i < 65536; i++) {
        ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, &got, NULL), 0);
    }
    ck_assert_int_eq(redlock_acquire(f.rl, &request, never_called, NULL, NULL), REDLOCK_ELIMIT);
    others_are_not_refused(&queried);
    farm_close(&f);
    ck_assert_int_eq(queried, 1);
    ck_assert_int_eq(got.calls, 65536);
    ck_assert_int_eq(got.status, REDLOCK_ECANCELED);
    farm_up(&f, 0, 3);
}

CASE("new");
FIXTURE(NULL, NULL);

TEST(every_code_has_a_sentence)
{
    static const int codes[] = {REDLOCK_OK,         REDLOCK_GONE,       REDLOCK_TAKEN,
                                REDLOCK_EINVAL,     REDLOCK_ESTATE,     REDLOCK_EURI,
                                REDLOCK_ETTL,       REDLOCK_EFORK,      REDLOCK_ELIMIT,
                                REDLOCK_EHELD,      REDLOCK_ETOOSLOW,   REDLOCK_EDEADLINE,
                                REDLOCK_ESUSPENDED, REDLOCK_EUNRENEWED, REDLOCK_ECANCELED,
                                REDLOCK_ENOQUORUM,  REDLOCK_ENOMEM,     REDLOCK_ESYSTEM};
    size_t i;
    size_t j;

    for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        ck_assert_str_ne(redlock_strerror(codes[i]), "");
        for (j = 0; j < i; j++) {
            ck_assert_str_ne(redlock_strerror(codes[i]), redlock_strerror(codes[j]));
        }
    }
    ck_assert_ptr_nonnull(redlock_strerror(12345));
    ck_assert_ptr_nonnull(redlock_strerror(INT_MIN));
}

TEST(version_is_that_of_the_headers)
{
    char expected[32];

    snprintf(expected, sizeof(expected), "%d.%d.%d", REDLOCK_VERSION_MAJOR, REDLOCK_VERSION_MINOR,
             REDLOCK_VERSION_PATCH);
    ck_assert_str_eq(redlock_version(), REDLOCK_VERSION);
    ck_assert_str_eq(redlock_version(), expected);
}
