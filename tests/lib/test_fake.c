/* lib/test_fake.c - the fake server, its parts, and the loop helpers, through a plain client. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/event.h>

#include "lib/fake.h"
#include "lib/loop.h"
#include "testing/sha1.h"
#include "lib/test.h"
#include "scripts/scripts.h"

SUITE("fake");

static struct event_base *base;
static struct fake *server;
static int client;
static char got[65536];
static size_t n_got;

static void connect_client(void)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};

    strcpy(name.sun_path, fake_path(server));
    client = socket(AF_UNIX, SOCK_STREAM, 0);
    ck_assert_int_eq(connect(client, (struct sockaddr *)&name, sizeof(name)), 0);
}

static void set_up(void)
{
    base = event_base_new();
    server = fake_new(base, FAKE_UNIX);
    connect_client();
}

static void tear_down(void)
{
    close(client);
    fake_free(server);
    event_base_free(base);
}

/* Send words as one command. */
static void say(const char *words)
{
    char copy[512];
    char bytes[1024] = "";
    size_t n = 0;
    size_t len = 0;
    char *word;
    char *state;

    snprintf(copy, sizeof(copy), "%s", words);
    for (word = strtok_r(copy, " ", &state); word; word = strtok_r(NULL, " ", &state)) {
        len += (size_t)snprintf(bytes + len, sizeof(bytes) - len, "$%zu\r\n%s\r\n", strlen(word),
                                word);
        n++;
    }
    snprintf(copy, sizeof(copy), "*%zu\r\n", n);
    ck_assert_int_ge(send(client, copy, strlen(copy), MSG_NOSIGNAL), 0);
    ck_assert_int_ge(send(client, bytes, len, MSG_NOSIGNAL), 0);
}

/* What has been received so far; 0 at the end of the connection. */
static bool read_more(void)
{
    ssize_t len = recv(client, got + n_got, sizeof(got) - 1 - n_got, MSG_DONTWAIT);

    if (len > 0) {
        n_got += (size_t)len;
        got[n_got] = '\0';
    }
    return len == 0 || (len < 0 && errno == ECONNRESET);
}

static bool has_all(void *arg)
{
    const char *const *wanted = arg;

    read_more();
    return strcmp(got, *wanted) == 0;
}

/* The reply to one command. */
static void expect(const char *words, const char *reply)
{
    n_got = 0;
    got[0] = '\0';
    if (words) {
        say(words);
    }
    if (!loop_until_true(base, has_all, &reply, LOOP_BOUND_MS)) {
        ck_abort_msg("%s: '%s' and not '%s'", words, got, reply);
    }
}

/* SCRIPT LOAD; its text has blanks. */
static void load(const struct rlk_script *script)
{
    char words[][8] = {"SCRIPT", "LOAD"};
    char *argv[] = {words[0], words[1], (char *)(uintptr_t)script->text};
    size_t len[] = {6, 4, script->len};
    struct model_session session = {0};
    struct evbuffer *reply = evbuffer_new();

    rlk_model_run(fake_model(server), &session, &(struct resp_request){3, argv, len}, reply);
    evbuffer_free(reply);
}

/* Run a script with its number of keys, its keys and its arguments; reply NULL: any. */
static void run(const struct rlk_script *script, const char *words, const char *reply)
{
    char line[512];

    load(script);
    snprintf(line, sizeof(line), "EVALSHA %s %s", script->sha, words);
    if (reply) {
        expect(line, reply);
        return;
    }
    say(line);
    loop_settle(base);
    read_more();
    n_got = 0;
}

static bool has_ended(void *arg)
{
    (void)arg;
    return read_more();
}

FIXTURE(set_up, tear_down);

TEST(sha1_is_right)
{
    char hex[41];
    char many[200];

    memset(many, 'a', sizeof(many));
    rlk_sha1_hex("", 0, hex);
    ck_assert_str_eq(hex, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    rlk_sha1_hex("abc", 3, hex);
    ck_assert_str_eq(hex, "a9993e364706816aba3e25717850c26c9cd0d89d");
    rlk_sha1_hex(many, 200, hex);
    ck_assert_str_eq(hex, "e61cfffe0d9195a525fc6cf06ca2d77119c24a40");
}

/* A request that is cut anywhere waits for the rest; a complete one is taken. */
TEST(requests_are_taken_when_whole)
{
    static const char whole[] = "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n";
    size_t cut;

    for (cut = 1; cut < sizeof(whole); cut++) {
        struct evbuffer *in = evbuffer_new();
        struct resp_request request;

        evbuffer_add(in, whole, cut);
        if (cut < sizeof(whole) - 1) {
            ck_assert_int_eq(rlk_resp_take(in, &request), RESP_MORE);
        } else {
            ck_assert_int_eq(rlk_resp_take(in, &request), RESP_ONE);
            ck_assert(rlk_resp_is(&request, 0, "get") && rlk_resp_is(&request, 1, "k"));
            rlk_resp_free(&request);
        }
        evbuffer_free(in);
    }
}

TEST(nonsense_is_not_a_request)
{
    static const char *const bad[] = {"PING\r\n", "*0\r\n",        "*1\r\n+OK\r\n",
                                      "*x\r\n",   "*1\r\n$-1\r\n", "*1\r\n$1\r\nabc"};
    size_t i;

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct evbuffer *in = evbuffer_new();
        struct resp_request request;

        evbuffer_add(in, bad[i], strlen(bad[i]));
        ck_assert_int_eq(rlk_resp_take(in, &request), RESP_BAD);
        evbuffer_free(in);
    }
}

TEST(model_locks_as_redis_does)
{
    expect("PING", "+PONG\r\n");
    expect("SET k a NX PX 60000", "+OK\r\n");
    expect("SET k b NX PX 60000", "$-1\r\n");
    expect("SET k b NX GET PX 60000", "$1\r\na\r\n");
    expect("SET other b NX GET PX 60000", "$-1\r\n");
    expect("GET k", "$1\r\na\r\n");
    expect("PTTL none", ":-2\r\n");
    run(&rlk_script_release, "1 k b", ":-1\r\n");
    run(&rlk_script_release, "1 k a", ":1\r\n");
    run(&rlk_script_release, "1 k a", ":0\r\n");
    ck_assert_ptr_null(rlk_model_get(fake_model(server), "k"));
    ck_assert_str_eq(rlk_model_get(fake_model(server), "other"), "b");
    ck_assert_uint_eq(rlk_model_count(fake_model(server)), 1);
}

TEST(model_keeps_and_sets_as_the_scripts_do)
{
    run(&rlk_script_keep, "2 k l a 60000", ":0\r\n");
    run(&rlk_script_set_all, "2 k l a 60000", ":1\r\n");
    run(&rlk_script_set_all, "2 k l a 60000", ":2\r\n");
    run(&rlk_script_set_all, "2 l m b 60000", "$1\r\na\r\n");
    expect("GET m", "$-1\r\n");
    run(&rlk_script_keep, "2 k l a 90000", ":1\r\n");
    ck_assert_uint_gt(rlk_model_ttl(fake_model(server), "k"), 60000);
    run(&rlk_script_keep, "1 l b 90000", "$1\r\na\r\n");
    run(&rlk_script_release, "2 k m a", ":0\r\n");
    expect("GET k", "$-1\r\n");
}

/* i is the key of the incarnation. It begins as expected only when it is there. */
TEST(model_votes_and_confirms_as_the_scripts_do)
{
    run(&rlk_script_vote, "1 k a 60000 5 i run", "*2\r\n:5\r\n:0\r\n");
    run(&rlk_script_vote, "1 k a 60000 5 i run", ":2\r\n");
    run(&rlk_script_vote, "1 k b 60000 9 i run", "$1\r\na\r\n");
    expect("GET k:redlock-fence", "$1\r\n5\r\n");
    run(&rlk_script_confirm, "1 k a 7", ":1\r\n");
    run(&rlk_script_confirm, "1 k a 6", ":0\r\n");
    run(&rlk_script_confirm, "1 k b 8", ":0\r\n");
    run(&rlk_script_release, "1 k a", ":1\r\n");
    rlk_model_set(fake_model(server), "i", "run 1 2", 0);
    run(&rlk_script_vote, "1 k b 60000 3 i run", "*2\r\n:8\r\n:1\r\n");
    run(&rlk_script_keep, "1 k b 60000 4", ":1\r\n");
    expect("GET k:redlock-fence", "$1\r\n8\r\n");
    run(&rlk_script_keep, "1 k b 60000 11", ":1\r\n");
    expect("GET k:redlock-fence", "$2\r\n11\r\n");
    run(&rlk_script_set_all, "1 l c 60000 12", ":1\r\n");
    expect("GET l:redlock-fence", "$2\r\n12\r\n");
}

/* By its own clock. */
TEST(model_marks_its_data)
{
    struct model *m = fake_model(server);
    char mark[64];

    run(&rlk_script_incarnation, "1 i run1 abc 0 0", NULL);
    snprintf(mark, sizeof(mark), "%s", rlk_model_get(m, "i"));
    ck_assert_int_eq(strncmp(mark, "run1 abc ", 9), 0);
    run(&rlk_script_incarnation, "1 i run1 def 0 0", NULL);
    ck_assert_str_eq(rlk_model_get(m, "i"), mark);
    run(&rlk_script_incarnation, "1 i run2 def 1 0", NULL);
    ck_assert_str_eq(rlk_model_get(m, "i") + 4, mark + 4);
    m->clock_us += 1000000;
    run(&rlk_script_incarnation, "1 i run3 def 0 0", NULL);
    ck_assert_int_eq(strncmp(rlk_model_get(m, "i"), "run3 abc ", 9), 0);
    ck_assert_str_gt(rlk_model_get(m, "i") + 9, mark + 9);
    rlk_model_set(m, "i", "run3 abc 10", 0);
    run(&rlk_script_incarnation, "1 i run3 def 0 9", NULL);
    ck_assert_str_eq(rlk_model_get(m, "i"), "run3 abc 10");
    run(&rlk_script_incarnation, "1 i run3 def 0 11", NULL);
    ck_assert_str_eq(rlk_model_get(m, "i"), "run3 abc 11");
    snprintf(mark, sizeof(mark), "run3 abc %llu", (unsigned long long)rlk_model_now_us(m));
    run(&rlk_script_incarnation, "1 i run3 def 0 9000000000000000", NULL); /* not later than now */
    ck_assert_int_eq(strncmp(rlk_model_get(m, "i"), mark, 16), 0);
    rlk_model_set(m, "i", "run3 abc 9000000000000000", 0);
    run(&rlk_script_incarnation, "1 i run3 def 0 0", NULL);
    ck_assert_int_eq(strncmp(rlk_model_get(m, "i"), mark, 16), 0);
}

TEST(model_forgets_as_it_is_told)
{
    struct model *m = fake_model(server);
    char run[41];

    memcpy(run, m->run_id, sizeof(run));
    expect("SET k a NX PX 60000", "+OK\r\n");
    rlk_model_promote(m);
    ck_assert_str_ne(m->run_id, run);
    ck_assert_str_eq(rlk_model_get(m, "k"), "a");
    m->clock_us += 60000000;
    expect("GET k", "$-1\r\n");
    expect("SET k a NX PX 60000", "+OK\r\n");
    expect("FLUSHALL", "+OK\r\n");
    expect("GET k", "$-1\r\n");
    ck_assert_uint_eq(m->flushes, 1);
    expect("CONFIG GET appendfsync", "*2\r\n$11\r\nappendfsync\r\n$8\r\neverysec\r\n");
    expect("INFO memory", "$52\r\n# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n\r\n");
    expect("INFO commandstats", "$79\r\n# Commandstats\r\ncmdstat_hello:calls=1,usec=9\r\n"
                                "cmdstat_flushall:calls=1,usec=9\r\n\r\n");
}

TEST(model_knows_the_scripts_that_were_loaded)
{
    static const char sha[] = "EVALSHA 32FFBD4626940B1F6A9C77BA13ACF5B2E95C350C 1 k a";

    expect(sha, "-NOSCRIPT No matching script. Please use EVAL.\r\n");
    expect("SCRIPT LOAD return(0)", "$40\r\n32ffbd4626940b1f6a9c77ba13acf5b2e95c350c\r\n");
    expect(sha, ":0\r\n");
    rlk_model_forget_scripts(fake_model(server));
    expect(sha, "-NOSCRIPT No matching script. Please use EVAL.\r\n");
}

/* Words without a blank. */
TEST(model_converts_values_as_redis_does)
{
    expect("EVAL return{-7.9,KEYS[1],{true,{}},false,redis.call('GET','k'),nil,2} 1 key a",
           "*5\r\n:-7\r\n$3\r\nkey\r\n*2\r\n:1\r\n*0\r\n$-1\r\n$-1\r\n");
    expect("EVAL return(redis.call('SET',KEYS[1],2^52)) 1 k", "+OK\r\n");
    expect("EVAL return(redis.call('GET',KEYS[1])+ARGV[1]) 1 k 1", ":4503599627370497\r\n");
    expect("EVAL return(redis.call('NOPE')) 0", "-ERR unknown command\r\n");
    expect("EVAL redis.pcall('NOPE') 0", "$-1\r\n");
    expect("EVAL return(redis.pcall('ZCARD','k').err) 0",
           "$65\r\nWRONGTYPE Operation against a key holding the wrong kind of value\r\n");
    expect("EVAL return(redis.error_reply('FENCE')) 0", "-FENCE\r\n");
    expect("EVAL return{ok='yes'} 0", "+yes\r\n");
    expect("EVAL return(redis.call('NOPE',{})) 0",
           "-ERR Error running script: user_script:1: bad argument #2 to 'call' (string expected, "
           "got table)\r\n");
    expect("SCRIPT LOAD return1",
           "-ERR Error running script: user_script:1: '=' expected near '<eof>'\r\n");
}

TEST(model_replicates_whole_scripts_unless_they_ask_for_another_way)
{
    fake_model(server)->whole_scripts = true;
    expect("EVAL redis.call('PTTL','k')return(redis.call('SET','k','a')) 0",
           "-ERR Write commands not allowed after non deterministic commands.\r\n");
    expect("EVAL redis.replicate_commands()redis.call('TIME')return(redis.call('DEL','k')) 0",
           ":0\r\n");
}

TEST(model_wants_the_password)
{
    fake_model(server)->password = "secret";
    expect("SET k a", "-NOAUTH Authentication required.\r\n");
    expect("AUTH wrong", "-WRONGPASS invalid username-password pair or user is disabled.\r\n");
    expect("AUTH default secret", "+OK\r\n");
    expect("SET k a", "+OK\r\n");
}

static bool is_expired(void *arg)
{
    (void)arg;
    return rlk_model_get(fake_model(server), "k") == NULL;
}

TEST(model_keys_expire)
{
    expect("SET k a NX PX 20", "+OK\r\n");
    loop_must_true(base, is_expired, NULL);
}

TEST(rules_replace_replies)
{
    fake_on(server, "GET", FAKE_REPLY, "-LOADING\r\n");
    fake_on_next(server, 1, "SET k", FAKE_REPLY, ":7\r\n", 4);
    expect("GET k", "-LOADING\r\n");
    expect("SET k a", ":7\r\n");
    expect("SET k a", "+OK\r\n");
    fake_on(server, "SET", FAKE_TWICE, NULL);
    expect("SET k a", "+OK\r\n+OK\r\n");
    fake_behave(server);
    expect("GET k", "$1\r\na\r\n");
}

TEST(a_dripped_reply_comes_whole_in_the_end)
{
    fake_on(server, "PING", FAKE_DRIP, NULL);
    say("PING");
    loop_settle(base);
    n_got = 0;
    expect(NULL, "+PONG\r\n");
}

TEST(a_stall_keeps_the_order)
{
    fake_on_next(server, 1, "GET", FAKE_STALL, NULL, 0);
    say("GET k");
    say("SET k a");
    loop_settle(base);
    ck_assert_uint_eq(fake_count(server, "SET"), 1);
    ck_assert_ptr_null(rlk_model_get(fake_model(server), "k"));
    fake_go_on(server);
    expect(NULL, "$-1\r\n+OK\r\n");
}

TEST(a_paused_server_does_what_came_before_the_client_left)
{
    expect("PING", "+PONG\r\n");
    fake_pause(server);
    say("SET k a");
    close(client);
    loop_settle(base);
    ck_assert_ptr_null(rlk_model_get(fake_model(server), "k"));
    fake_go_on(server);
    ck_assert_str_eq(rlk_model_get(fake_model(server), "k"), "a");
    connect_client();
}

TEST(every_end_ends_the_connection)
{
    static const enum fake_how ends[] = {FAKE_REPLY_CLOSE, FAKE_REPLY_RESET, FAKE_DO_CLOSE};
    size_t i;

    for (i = 0; i < 3; i++) {
        fake_on_next(server, 1, "PING", ends[i], "+half", 5);
        say("PING");
        loop_must_true(base, has_ended, NULL);
        ck_assert_uint_eq(fake_n_open(server), 0);
        ck_assert_uint_eq(fake_n_conns(server), i + 1);
        close(client);
        connect_client();
    }
}

TEST(a_server_that_is_down_comes_back_at_its_address)
{
    expect("PING", "+PONG\r\n");
    fake_down(server);
    loop_must_true(base, has_ended, NULL);
    close(client);
    fake_up(server);
    connect_client();
    expect("PING", "+PONG\r\n");
}

TEST(what_was_sent_is_written_down)
{
    expect("PING", "+PONG\r\n");
    expect("SET k a", "+OK\r\n");
    ck_assert_uint_eq(fake_n_commands(server, 0), 2);
    ck_assert_str_eq(fake_text(server, 0, 1), "SET k a");
    ck_assert_uint_eq(fake_request(server, 0, 1)->argc, 3);
    ck_assert_int_eq(fake_find(server, 0, 0, "set k"), 1);
    ck_assert_int_eq(fake_find(server, 0, 0, "se"), -1);
    ck_assert_uint_eq(fake_n_bad(server), 0);
}

TEST(loop_gives_up_at_the_bound)
{
    int flag = 0;

    ck_assert(!loop_until(base, &flag, 1));
    flag = 1;
    ck_assert(loop_until(base, &flag, 1));
}
