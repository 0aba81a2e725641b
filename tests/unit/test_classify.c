/* test_classify.c - every reply that a server may give becomes a vote or an answer: only proof is a
 * yes or a no [S5]. */
#include <string.h>

#include "base/time.h"
#include "core/classify.h"
#include "lib/test.h"

SUITE("classify");

#define TOKEN "0123456789abcdef0123456789abcdef01234567"

static struct rlk_reply reply(enum rlk_reply_type type, int64_t integer, const char *str)
{
    struct rlk_reply r = {type, integer, str, strlen(str)};

    return r;
}

/* Errors of a server that did not set the key, or may not have set it. */
static const char *const errors[] = {
    "LOADING Redis is loading the dataset in memory",
    "READONLY You can't write against a read only replica.",
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    "MISCONF Redis is configured to save RDB snapshots",
    "OOM command not allowed when used memory > 'maxmemory'.",
    "NOSCRIPT No matching script. Please use EVAL.",
    "BUSY Redis is busy running a script.",
    "NOAUTH Authentication required.",
    "WRONGPASS invalid username-password pair or user is disabled.",
    "NOPERM this user has no permissions to run the 'set' command",
    "CLUSTERDOWN Hash slot not served",
    "MOVED 11958 127.0.0.1:7000",
    "NOREPLICAS Not enough good replicas to write.",
    "ERR invalid expire time in 'set' command",
    "ERR syntax error",
    "OK", /* an error that says OK */
    "",
};

TEST_LOOP(an_error_is_neither_yes_nor_no, 0, N_ROWS(errors))
{
    struct rlk_reply r = reply(RLK_REPLY_ERROR, 0, errors[_i]);

    ck_assert_int_eq(rlk_classify_set(&r), RLK_VOTE_UNKNOWN);
    ck_assert_int_eq(rlk_classify_set_get(&r, TOKEN, 40), RLK_VOTE_UNKNOWN);
    ck_assert_int_eq(rlk_classify_release(&r), RLK_ANSWER_UNKNOWN);
}

TEST(set_answers_ok_or_nil)
{
    struct rlk_reply ok = reply(RLK_REPLY_STATUS, 0, "OK"), nil = reply(RLK_REPLY_NIL, 0, "");
    struct rlk_reply queued = reply(RLK_REPLY_STATUS, 0, "QUEUED");
    struct rlk_reply one = reply(RLK_REPLY_INTEGER, 1, "");
    struct rlk_reply text = reply(RLK_REPLY_STRING, 0, "OK");

    ck_assert_int_eq(rlk_classify_set(&ok), RLK_VOTE_YES);
    ck_assert_int_eq(rlk_classify_set(&nil), RLK_VOTE_NO);
    ck_assert_int_eq(rlk_classify_set(&queued), RLK_VOTE_UNKNOWN);
    ck_assert_int_eq(rlk_classify_set(&one), RLK_VOTE_UNKNOWN);
    ck_assert_int_eq(rlk_classify_set(&text), RLK_VOTE_UNKNOWN);
}

TEST(set_get_answers_nil_or_the_holder)
{
    struct rlk_reply ok = reply(RLK_REPLY_STATUS, 0, "OK"), nil = reply(RLK_REPLY_NIL, 0, "");
    struct rlk_reply other = reply(RLK_REPLY_STRING, 0, "somebody");
    struct rlk_reply empty = reply(RLK_REPLY_STRING, 0, "");
    struct rlk_reply type = reply(RLK_REPLY_ERROR, 0, "WRONGTYPE Operation against a key");

    ck_assert_int_eq(rlk_classify_set_get(&nil, TOKEN, 40), RLK_VOTE_YES);
    ck_assert_int_eq(rlk_classify_set_get(&other, TOKEN, 40), RLK_VOTE_NO);
    ck_assert_int_eq(rlk_classify_set_get(&empty, TOKEN, 40), RLK_VOTE_NO);
    ck_assert_int_eq(rlk_classify_set_get(&type, TOKEN, 40), RLK_VOTE_NO);
    ck_assert_int_eq(rlk_classify_set_get(&ok, TOKEN, 40), RLK_VOTE_UNKNOWN);
}

/* The same nil is a yes to SET GET, and a no to SET. */
TEST(a_nil_means_yes_or_no_by_what_was_asked)
{
    struct rlk_reply nil = reply(RLK_REPLY_NIL, 0, ""), own = reply(RLK_REPLY_STRING, 0, TOKEN);

    ck_assert_int_eq(rlk_classify_key(&nil, true, TOKEN, 40), RLK_VOTE_YES);
    ck_assert_int_eq(rlk_classify_key(&nil, false, TOKEN, 40), RLK_VOTE_NO);
    ck_assert_int_eq(rlk_classify_key(&own, true, TOKEN, 40), RLK_VOTE_OURS);
    ck_assert_int_eq(rlk_classify_key(&own, false, TOKEN, 40), RLK_VOTE_UNKNOWN);
}

TEST(our_own_token_as_the_old_value_is_no_second_vote)
{
    struct rlk_reply own = reply(RLK_REPLY_STRING, 0, TOKEN);
    struct rlk_reply longer = reply(RLK_REPLY_STRING, 0, TOKEN ":me");

    ck_assert_int_eq(rlk_classify_set_get(&own, TOKEN, 40), RLK_VOTE_OURS);
    ck_assert_int_eq(rlk_classify_set_get(&longer, TOKEN, 40), RLK_VOTE_NO);
}

TEST(a_refusal_names_the_holder_by_a_number_or_nobody)
{
    struct rlk_reply a = reply(RLK_REPLY_STRING, 1, "a"), b = reply(RLK_REPLY_STRING, 1, "b");
    struct rlk_reply other_a = reply(RLK_REPLY_STRING, 1, "a"), nil = reply(RLK_REPLY_NIL, 0, "");
    struct rlk_reply list = reply(RLK_REPLY_ERROR, 0, "WRONGTYPE Operation against a key");

    ck_assert_uint_eq(rlk_classify_holder(&a), rlk_classify_holder(&other_a));
    ck_assert_uint_ne(rlk_classify_holder(&a), rlk_classify_holder(&b));
    ck_assert_uint_ne(rlk_classify_holder(&a), 0);
    ck_assert_uint_eq(rlk_classify_holder(&nil), 0);
    ck_assert_uint_eq(rlk_classify_holder(&list), 0);
}

TEST(release_answers_deleted_gone_or_taken)
{
    struct rlk_reply one = reply(RLK_REPLY_INTEGER, 1, ""), none = reply(RLK_REPLY_INTEGER, 0, "");
    struct rlk_reply other = reply(RLK_REPLY_INTEGER, -1, "");
    struct rlk_reply two = reply(RLK_REPLY_INTEGER, 2, "");
    struct rlk_reply type = reply(RLK_REPLY_ERROR, 0, "WRONGTYPE Operation against a key");

    ck_assert_int_eq(rlk_classify_release(&one), RLK_ANSWER_OURS);
    ck_assert_int_eq(rlk_classify_release(&none), RLK_ANSWER_GONE);
    ck_assert_int_eq(rlk_classify_release(&other), RLK_ANSWER_TAKEN);
    ck_assert_int_eq(rlk_classify_release(&two), RLK_ANSWER_OURS);
    ck_assert(rlk_classify_woke(&two) && !rlk_classify_woke(&one) && !rlk_classify_woke(&type));
    ck_assert_int_eq(rlk_classify_release(&type), RLK_ANSWER_TAKEN);
}

TEST(a_deletion_by_value_answers_whether_the_key_was_ours)
{
    struct rlk_reply none = reply(RLK_REPLY_INTEGER, 0, ""), one = reply(RLK_REPLY_INTEGER, 1, "");
    struct rlk_reply list = reply(RLK_REPLY_ERROR, 0, "WRONGTYPE Operation against a key");
    struct rlk_reply queued = reply(RLK_REPLY_STATUS, 0, "QUEUED");

    ck_assert_int_eq(rlk_classify_delete(&one), RLK_ANSWER_OURS);
    ck_assert_int_eq(rlk_classify_delete(&none), RLK_ANSWER_GONE);
    ck_assert_int_eq(rlk_classify_delete(&list), RLK_ANSWER_TAKEN);
    ck_assert_int_eq(rlk_classify_delete(&queued), RLK_ANSWER_UNKNOWN);
    ck_assert_int_eq(rlk_classify_remains(&one), RLK_ANSWER_TAKEN);
    ck_assert_int_eq(rlk_classify_remains(&none), RLK_ANSWER_GONE);
    ck_assert_int_eq(rlk_classify_remains(&queued), RLK_ANSWER_UNKNOWN);
    ck_assert(rlk_classify_is_listed(&one) && !rlk_classify_is_listed(&none));
    ck_assert(!rlk_classify_refused(&list) && !rlk_classify_refused(&none));
}

/* Only the complaint about its arguments shows that a server knows a command. */
TEST_LOOP(an_error_of_another_kind_shows_no_command, 0, N_ROWS(errors))
{
    struct rlk_reply r = reply(RLK_REPLY_ERROR, 0, errors[_i]);
    struct rlk_reply known =
        reply(RLK_REPLY_ERROR, 0, "ERR wrong number of arguments for 'delex' command");

    ck_assert(rlk_classify_known_command(&known));
    ck_assert(!rlk_classify_known_command(&r));
    ck_assert_int_eq(rlk_classify_delete(&r), RLK_ANSWER_UNKNOWN);
    ck_assert_int_eq(rlk_classify_refused(&r), !rlk_classify_refused_for_now(&r));
}

TEST(an_error_is_known_by_its_whole_first_word)
{
    struct rlk_reply r = reply(RLK_REPLY_ERROR, 0, "NOSCRIPTS are nice");
    struct rlk_reply bare = reply(RLK_REPLY_ERROR, 0, "NOSCRIPT");
    struct rlk_reply text = reply(RLK_REPLY_STRING, 0, "NOSCRIPT x");

    ck_assert(!rlk_classify_no_script(&r));
    ck_assert(rlk_classify_no_script(&bare));
    ck_assert(!rlk_classify_no_script(&text));
}

/* With these a release is repeated later [S5]. */
static const char *const for_now[] = {
    "NOSCRIPT No matching script. Please use EVAL.",
    "BUSY Redis is busy running a script.",
    "LOADING Redis is loading the dataset in memory",
    "MISCONF Redis is configured to save RDB snapshots",
    "NOREPLICAS Not enough good replicas to write.",
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    "OOM command not allowed when used memory > 'maxmemory'.",
    "TRYAGAIN Multiple keys request during rehashing of slot",
    "NOAUTH Authentication required.",
    "READONLY You can't write against a read only replica.",
};

TEST_LOOP(an_error_that_may_pass_refuses_for_now, 0, N_ROWS(for_now))
{
    struct rlk_reply r = reply(RLK_REPLY_ERROR, 0, for_now[_i]);

    ck_assert(rlk_classify_refused_for_now(&r));
    ck_assert(!rlk_classify_refused(&r));
}

/* What our user may not do: by a command, in a script, and in one of Redis 7.0. */
static const struct {
    const char *error;
    bool denied;
} denials[] = {
    {"NOPERM this user has no permissions to run the 'xadd' command", true},
    {"ERR Error running script (call to f_0): @user_script:5: @user_script: 5: -NOPERM no", true},
    {"ERR The user executing the script can't run this command or subcommand script: 0", true},
    {"NOPERMISSION", false},
    {"ERR unknown command 'xadd'", false},
};

TEST_LOOP(a_denial_is_known_wherever_it_comes_from, 0, N_ROWS(denials))
{
    struct rlk_reply r = reply(RLK_REPLY_ERROR, 0, denials[_i].error);
    struct rlk_reply text = reply(RLK_REPLY_STRING, 0, denials[_i].error);

    ck_assert_int_eq(rlk_classify_denied(&r), denials[_i].denied);
    ck_assert(!rlk_classify_denied(&text));
}

/* Redis before 7.0 writes the place in the script first. The first word of the error follows the
 * places; a text that only looks like a place is not one. */
TEST_LOOP(the_first_word_of_an_error_from_a_script_comes_after_the_places, 0, 11)
{
#define IN_SCRIPT "ERR Error running script (call to f_488a19661b61470318f71acdc390dc7429f941ee): "
    static const struct {
        const char *text;
        bool refused, type, noperm;
    } cases[] = {
        {IN_SCRIPT "@user_script:5: @user_script: 5: -MISCONF Errors writing to the AOF file: -x",
         true, false, false},
        {IN_SCRIPT "@user_script:12: @user_script: 12: -OOM command not allowed", true, false,
         false},
        {IN_SCRIPT "@user_script:5: -NOREPLICAS", true, false, false},
        {"NOAUTH Authentication required.", true, false, false},
        {"WRONGPASS invalid username-password pair or user is disabled.", false, false, false},
        {"READONLY You can't write against a read only replica.", true, false, false},
        {IN_SCRIPT "@user_script:5: WRONGTYPE Operation against a key", false, true, false},
        {IN_SCRIPT "@user_script:5: @user_script: 5: -NOPERM no", false, false, true},
        {IN_SCRIPT "@user_script:5: @user_script: 5: The user executing: -MISCONF", false, false,
         false},
        {IN_SCRIPT "@user_script:5: MISCONFIGURED", false, false, false},
        {IN_SCRIPT "@user_script", false, false, false},
        {IN_SCRIPT "-MISCONF no place", false, false, false},
        {IN_SCRIPT "@user_script:5: ", false, false, false},
        {"ERR another @user_script:5: MISCONF", false, false, false},
    };
    struct rlk_reply r = reply(RLK_REPLY_ERROR, 0, cases[_i].text);

    ck_assert_int_eq(rlk_classify_refused_for_now(&r), cases[_i].refused);
    ck_assert_int_eq(rlk_classify_is_error(&r, "NOPERM"), cases[_i].noperm);
    ck_assert_int_eq(rlk_classify_release(&r),
                     cases[_i].type ? RLK_ANSWER_TAKEN : RLK_ANSWER_UNKNOWN);
    ck_assert_int_eq(rlk_classify_keep(&r), cases[_i].type ? RLK_ANSWER_TAKEN : RLK_ANSWER_UNKNOWN);
    r.type = RLK_REPLY_STATUS;
    ck_assert(!rlk_classify_refused_for_now(&r));
}

/* One key that is missing, or has another owner, is enough: the lock is not there. */
TEST(keep_answers_ours_gone_or_taken)
{
    struct rlk_reply one = reply(RLK_REPLY_INTEGER, 1, ""), none = reply(RLK_REPLY_INTEGER, 0, "");
    struct rlk_reply other = reply(RLK_REPLY_STRING, 0, "somebody"), nil = {.type = RLK_REPLY_NIL};
    struct rlk_reply nobody = reply(RLK_REPLY_STRING, 0, "");
    struct rlk_reply type = reply(RLK_REPLY_ERROR, 0, "WRONGTYPE Operation against a key");
    struct rlk_reply strange[] = {reply(RLK_REPLY_INTEGER, 2, ""), reply(RLK_REPLY_INTEGER, -1, ""),
                                  reply(RLK_REPLY_STATUS, 0, "OK"), nil};
    unsigned i;

    ck_assert_int_eq(rlk_classify_keep(&one), RLK_ANSWER_OURS);
    ck_assert_int_eq(rlk_classify_adopt(&one), RLK_VOTE_YES);
    ck_assert_int_eq(rlk_classify_keep(&none), RLK_ANSWER_GONE);
    ck_assert_int_eq(rlk_classify_adopt(&none), RLK_VOTE_NO);
    ck_assert_int_eq(rlk_classify_keep(&other), RLK_ANSWER_TAKEN);
    ck_assert_int_eq(rlk_classify_keep(&nobody), RLK_ANSWER_TAKEN);
    ck_assert_int_eq(rlk_classify_keep(&type), RLK_ANSWER_TAKEN);
    ck_assert_int_eq(rlk_classify_adopt(&other), RLK_VOTE_NO);
    for (i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
        ck_assert_int_eq(rlk_classify_keep(&strange[i]), RLK_ANSWER_UNKNOWN);
        ck_assert_int_eq(rlk_classify_adopt(&strange[i]), RLK_VOTE_UNKNOWN);
    }
}

/* A heal may find keys that are ours already, because the reply to an earlier one was lost.
 * Otherwise that is one server at two addresses [S10]. */
TEST(take_answers_set_or_the_holder)
{
    struct rlk_reply one = reply(RLK_REPLY_INTEGER, 1, ""), two = reply(RLK_REPLY_INTEGER, 2, "");
    struct rlk_reply none = reply(RLK_REPLY_INTEGER, 0, "");
    struct rlk_reply other = reply(RLK_REPLY_STRING, 0, "somebody"), nil = {.type = RLK_REPLY_NIL};
    struct rlk_reply ok = reply(RLK_REPLY_STATUS, 0, "OK");

    ck_assert_int_eq(rlk_classify_set_all(&one), RLK_VOTE_YES);
    ck_assert_int_eq(rlk_classify_set_all(&two), RLK_VOTE_OURS);
    ck_assert_int_eq(rlk_classify_set_all(&other), RLK_VOTE_NO);
    ck_assert_int_eq(rlk_classify_set_all(&none), RLK_VOTE_UNKNOWN);
    ck_assert_int_eq(rlk_classify_set_all(&nil), RLK_VOTE_UNKNOWN);
    ck_assert_int_eq(rlk_classify_set_all(&ok), RLK_VOTE_UNKNOWN);
}

TEST_LOOP(an_error_of_a_script_is_unknown, 0, N_ROWS(errors))
{
    struct rlk_reply r = reply(RLK_REPLY_ERROR, 0, errors[_i]);

    ck_assert_int_eq(rlk_classify_keep(&r), RLK_ANSWER_UNKNOWN);
    ck_assert_int_eq(rlk_classify_adopt(&r), RLK_VOTE_UNKNOWN);
    ck_assert_int_eq(rlk_classify_set_all(&r), RLK_VOTE_UNKNOWN);
}

/* ---- with a fence [S12] ---- */

/* {first, second}, with the given types. */
static enum rlk_vote fenced(enum rlk_reply_type type, int64_t first, int64_t second, uint64_t *ret)
{
    struct rlk_reply pair[3] = {reply(RLK_REPLY_ARRAY, 2, ""), reply(type, first, "7"),
                                reply(RLK_REPLY_INTEGER, second, "")};

    *ret = 99; /* the second number is always there */
    return rlk_classify_fenced(pair, ret);
}

TEST(a_vote_with_a_counter_is_a_yes_that_may_not_count)
{
    static const int64_t good[] = {1, 2, INT64_C(1763000000123456), (INT64_C(1) << 53) - 1};
    uint64_t fence;
    unsigned i;

    for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        ck_assert_int_eq(fenced(RLK_REPLY_INTEGER, good[i], 1, &fence), RLK_VOTE_YES);
        ck_assert_uint_eq(fence, (uint64_t)good[i]);
        ck_assert_int_eq(fenced(RLK_REPLY_INTEGER, good[i], 0, &fence), RLK_VOTE_QUARANTINED);
        ck_assert_uint_eq(fence, (uint64_t)good[i]);
        ck_assert_int_eq(fenced(RLK_REPLY_INTEGER, good[i], 2, &fence), RLK_VOTE_QUARANTINED);
    }
}

TEST(a_counter_that_no_master_gives_is_unknown)
{
    static const int64_t bad[] = {0, -1, INT64_C(1) << 53, INT64_MAX, INT64_MIN};
    uint64_t fence;
    unsigned i;

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_int_eq(fenced(RLK_REPLY_INTEGER, bad[i], 1, &fence), RLK_VOTE_UNKNOWN);
        ck_assert_uint_eq(fence, 0);
    }
    ck_assert_int_eq(fenced(RLK_REPLY_STRING, 7, 1, &fence), RLK_VOTE_UNKNOWN);
    ck_assert_uint_eq(fence, 0);
}

/* A script that is not ours must have run. */
TEST(a_yes_without_a_counter_is_unknown)
{
    struct rlk_reply one = reply(RLK_REPLY_INTEGER, 1, ""), two = reply(RLK_REPLY_INTEGER, 2, "");
    struct rlk_reply other = reply(RLK_REPLY_STRING, 0, "somebody"), nil = {.type = RLK_REPLY_NIL};
    struct rlk_reply ok = reply(RLK_REPLY_STATUS, 0, "OK"), none = reply(RLK_REPLY_ARRAY, 0, "");
    struct rlk_reply three[4] = {reply(RLK_REPLY_ARRAY, 3, ""), one, one, one};
    uint64_t fence = 99;

    ck_assert_int_eq(rlk_classify_fenced(&one, &fence), RLK_VOTE_UNKNOWN);
    ck_assert_uint_eq(fence, 0);
    ck_assert_int_eq(rlk_classify_fenced(&two, &fence), RLK_VOTE_OURS);
    ck_assert_int_eq(rlk_classify_fenced(&other, &fence), RLK_VOTE_NO);
    ck_assert_int_eq(rlk_classify_fenced(&nil, &fence), RLK_VOTE_UNKNOWN);
    ck_assert_int_eq(rlk_classify_fenced(&ok, &fence), RLK_VOTE_UNKNOWN);
    ck_assert_int_eq(rlk_classify_fenced(&none, &fence), RLK_VOTE_UNKNOWN);
    ck_assert_int_eq(rlk_classify_fenced(three, &fence), RLK_VOTE_UNKNOWN);
    ck_assert_uint_eq(fence, 0);
}

TEST(only_a_one_confirms)
{
    struct rlk_reply one = reply(RLK_REPLY_INTEGER, 1, ""), zero = reply(RLK_REPLY_INTEGER, 0, "");
    struct rlk_reply two = reply(RLK_REPLY_INTEGER, 2, ""), text = reply(RLK_REPLY_STRING, 1, "1");
    struct rlk_reply ok = reply(RLK_REPLY_STATUS, 1, "OK"), nil = {.type = RLK_REPLY_NIL};

    ck_assert_int_eq(rlk_classify_confirm(&one), RLK_ANSWER_OURS);
    ck_assert_int_eq(rlk_classify_confirm(&zero), RLK_ANSWER_GONE);
    ck_assert_int_eq(rlk_classify_confirm(&two), RLK_ANSWER_UNKNOWN);
    ck_assert_int_eq(rlk_classify_confirm(&text), RLK_ANSWER_UNKNOWN);
    ck_assert_int_eq(rlk_classify_confirm(&ok), RLK_ANSWER_UNKNOWN);
    ck_assert_int_eq(rlk_classify_confirm(&nil), RLK_ANSWER_UNKNOWN);
}

/* Our token is what an adoption looks for; so "some keys had it already" is no answer to it. */
TEST(an_adoption_with_a_fence_is_a_pair_or_a_refusal)
{
    struct rlk_reply pair[] = {{.type = RLK_REPLY_ARRAY, .integer = 2},
                               {.type = RLK_REPLY_INTEGER, .integer = 7},
                               {.type = RLK_REPLY_INTEGER, .integer = 1}};
    struct rlk_reply zero = reply(RLK_REPLY_INTEGER, 0, ""), two = reply(RLK_REPLY_INTEGER, 2, "");
    struct rlk_reply one = reply(RLK_REPLY_INTEGER, 1, ""), other = reply(RLK_REPLY_STRING, 0, "x");
    uint64_t fence = 0;

    ck_assert_int_eq(rlk_classify_adopt_fenced(pair, &fence), RLK_VOTE_YES);
    ck_assert_uint_eq(fence, 7);
    pair[2].integer = 0;
    ck_assert_int_eq(rlk_classify_adopt_fenced(pair, &fence), RLK_VOTE_QUARANTINED);
    ck_assert_int_eq(rlk_classify_adopt_fenced(&zero, &fence), RLK_VOTE_NO);
    ck_assert_int_eq(rlk_classify_adopt_fenced(&other, &fence), RLK_VOTE_NO);
    ck_assert_int_eq(rlk_classify_adopt_fenced(&one, &fence), RLK_VOTE_UNKNOWN);
    ck_assert_int_eq(rlk_classify_adopt_fenced(&two, &fence), RLK_VOTE_UNKNOWN);
    ck_assert_uint_eq(fence, 0);
}

/* Only a number of ms proves that the new token is there; and no value but another one that the
 * key was not ours to break. */
TEST(a_swap_says_how_long_the_key_lives_on)
{
    struct rlk_reply left = reply(RLK_REPLY_INTEGER, 4711, "");
    struct rlk_reply gone = reply(RLK_REPLY_INTEGER, 0, "");
    struct rlk_reply never = reply(RLK_REPLY_INTEGER, -1, "");
    struct rlk_reply other = reply(RLK_REPLY_STRING, 0, "other");
    struct rlk_reply list = reply(RLK_REPLY_ERROR, 0, "WRONGTYPE Operation against a key");
    struct rlk_reply mine = reply(RLK_REPLY_STRING, 0, "new"),
                     ok = reply(RLK_REPLY_STATUS, 1, "OK");
    uint64_t us = 1;

    ck_assert_int_eq(rlk_classify_swap(&left, "new", 3, &us), RLK_ANSWER_OURS);
    ck_assert_uint_eq(us, 4711000);
    ck_assert_int_eq(rlk_classify_swap(&gone, "new", 3, &us), RLK_ANSWER_GONE);
    ck_assert_uint_eq(us, 0);
    ck_assert_int_eq(rlk_classify_swap(&never, "new", 3, &us), RLK_ANSWER_UNKNOWN);
    ck_assert_int_eq(rlk_classify_swap(&other, "new", 3, &us), RLK_ANSWER_TAKEN);
    ck_assert_int_eq(rlk_classify_swap(&list, "new", 3, &us), RLK_ANSWER_TAKEN);
    ck_assert_int_eq(rlk_classify_swap(&mine, "new", 3, &us), RLK_ANSWER_UNKNOWN);
    ck_assert_int_eq(rlk_classify_swap(&ok, "new", 3, &us), RLK_ANSWER_UNKNOWN);
}

TEST_LOOP(an_error_is_no_counter_and_no_confirmation, 0, N_ROWS(errors))
{
    struct rlk_reply r = reply(RLK_REPLY_ERROR, 1, errors[_i]);
    uint64_t fence = 99;

    ck_assert_int_eq(rlk_classify_fenced(&r, &fence), RLK_VOTE_UNKNOWN);
    ck_assert_uint_eq(fence, 0);
    ck_assert_int_eq(rlk_classify_confirm(&r), RLK_ANSWER_UNKNOWN);
}

/* ---- waiting ---- */

/* {place, left, value}; what was in the event before must not stay. */
static struct rlk_event waits(int64_t place, int64_t left_ms)
{
    struct rlk_reply answer[4] = {
        reply(RLK_REPLY_ARRAY, 3, ""), reply(RLK_REPLY_INTEGER, place, ""),
        reply(RLK_REPLY_INTEGER, left_ms, ""), reply(RLK_REPLY_STRING, 0, TOKEN)};
    struct rlk_event ev = {.woken = true, .listed = true, .position = 99, .left_us = 99};

    rlk_classify_wait(answer, &ev);
    return ev;
}

static void check_place(struct rlk_event ev, bool turn, uint32_t place, uint64_t left_us)
{
    ck_assert_int_eq(ev.woken, turn);
    ck_assert_int_eq(ev.listed, place > 0);
    ck_assert_uint_eq(ev.position, place);
    ck_assert_uint_eq(ev.left_us, left_us);
}

TEST(wait_answers_our_turn_a_place_or_that_the_list_is_full)
{
    check_place(waits(0, -2), true, 0, 0);
    check_place(waits(1, 30000), false, 1, 30000000);
    check_place(waits(1024, 1), false, 1024, 1000);
    check_place(waits(UINT32_MAX, 0), false, UINT32_MAX, 0);
    check_place(waits(3, -1), false, 3, RLK_NEVER);
    check_place(waits(3, -2), false, 3, 0);
    check_place(waits(3, INT64_MAX), false, 3, RLK_NEVER);
    check_place(waits(-1, 30000), false, 0, 30000000);
}

/* Each array is as long as its longest reading. */
TEST(a_place_that_no_master_gives_is_unknown)
{
    struct rlk_reply one = reply(RLK_REPLY_INTEGER, 1, ""), text = reply(RLK_REPLY_STRING, 1, "1");
    struct rlk_reply three = reply(RLK_REPLY_ARRAY, 3, ""), two = reply(RLK_REPLY_ARRAY, 2, "");
    struct rlk_reply nil = {.type = RLK_REPLY_NIL};
    struct rlk_reply strange[][4] = {{one},
                                     {text},
                                     {nil},
                                     {two, one, one, text},
                                     {three, text, one, text},
                                     {three, one, text, text},
                                     {three, one, one, one},
                                     {three, one, one, nil}};
    unsigned i;

    check_place(waits(-2, 30000), false, 0, 0);
    check_place(waits(INT64_C(1) << 32, 30000), false, 0, 0);
    check_place(waits(0, 30000), false, 0, 0);
    check_place(waits(1, -3), false, 0, 0);
    for (i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
        struct rlk_event ev = {.woken = true, .listed = true, .position = 99, .left_us = 99};

        rlk_classify_wait(strange[i], &ev);
        check_place(ev, false, 0, 0);
    }
}

TEST(leave_answers_a_one_or_a_zero)
{
    struct rlk_reply one = reply(RLK_REPLY_INTEGER, 1, ""), zero = reply(RLK_REPLY_INTEGER, 0, "");
    struct rlk_reply two = reply(RLK_REPLY_INTEGER, 2, ""), text = reply(RLK_REPLY_STRING, 1, "1");

    ck_assert_int_eq(rlk_classify_leave(&one), RLK_ANSWER_OURS);
    ck_assert_int_eq(rlk_classify_leave(&zero), RLK_ANSWER_OURS);
    ck_assert_int_eq(rlk_classify_leave(&two), RLK_ANSWER_UNKNOWN);
    ck_assert_int_eq(rlk_classify_leave(&text), RLK_ANSWER_UNKNOWN);
}

TEST_LOOP(an_error_is_no_place, 0, N_ROWS(errors))
{
    struct rlk_reply r = reply(RLK_REPLY_ERROR, 1, errors[_i]);
    struct rlk_event ev = {.woken = true, .listed = true, .position = 99, .left_us = 99};

    rlk_classify_wait(&r, &ev);
    check_place(ev, false, 0, 0);
    ck_assert_int_eq(rlk_classify_leave(&r), RLK_ANSWER_UNKNOWN);
}
