/* test_command.c - the commands that are written without hiredis are the same bytes as hiredis
 * writes; and the digests of the scripts are right. */
#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "testing/sha1.h"
#include "lib/test.h"
#include "node/claim.h"
#include "node/command.h"
#include "node/inspect.h"

SUITE("command");

#define CHANNEL "p:redlock:wake:0123456789abcdef"
#define MAX_WORDS (REDLOCK_MAX_KEYS + 24)

static struct rlk_pool pool;
static struct rlk_claim_source source = {.pool = &pool};
static struct rlk_command command;

/* What is expected: words with their lengths. */
static struct words {
    const char *argv[MAX_WORDS];
    size_t lens[MAX_WORDS];
    int argc;
    char room[8][48];
    int rooms;
} words;

static void word_of(const char *text, size_t len)
{
    words.argv[words.argc] = text;
    words.lens[words.argc++] = len;
}

static void word(const char *text)
{
    word_of(text, strlen(text));
}

static void number(uint64_t n)
{
    char *room = words.room[words.rooms++];

    snprintf(room, sizeof(words.room[0]), "%" PRIu64, n);
    word(room);
}

static void check_command(void)
{
    char *bytes;
    long long len = redisFormatCommandArgv(&bytes, words.argc, words.argv, words.lens);

    ck_assert_int_gt(len, 0);
    ck_assert_uint_eq(command.len, (size_t)len);
    ck_assert_mem_eq(command.bytes, bytes, command.len);
    redisFreeCommand(bytes);
    rlk_command_end(&command);
    words.argc = words.rooms = 0;
}

/* EVALSHA or EVAL, and the keys. */
static void script_and_keys(const char *text, const struct rlk_claim *c, bool in_full)
{
    static char sha[41];
    const char *key = rlk_claim_keys(c);
    unsigned i;

    rlk_sha1_hex(text, strlen(text), sha);
    word(in_full ? "EVAL" : "EVALSHA");
    word(in_full ? text : sha);
    number(c->n_keys);
    for (i = 0; i < c->n_keys; i++) {
        word_of(key, c->key_len[i]);
        key += c->key_len[i] + 1;
    }
}

/* The same and the token. */
static void script(const char *text, const struct rlk_claim *c, bool in_full)
{
    script_and_keys(text, c, in_full);
    word_of(rlk_claim_token(c), c->token_len);
}

/* Keys of any bytes, the last as long as can be. */
static struct rlk_claim *make(unsigned n_keys)
{
    static char longest[REDLOCK_MAX_KEY];
    static const char odd[] = {'a', '\0', '\r', '\n', '$', '\xff'};
    struct rlk_key keys[REDLOCK_MAX_KEYS], prefix = {"p:", 2};
    struct rlk_claim *c;
    unsigned i;

    memset(longest, 'k', sizeof(longest));
    for (i = 0; i < n_keys; i++) {
        keys[i] = (struct rlk_key){odd, 1 + i % sizeof(odd)};
    }
    keys[n_keys - 1] = (struct rlk_key){longest, sizeof(longest) - 2};
    c = rlk_claim_new(&source, &prefix, keys, n_keys, RLK_TOKEN_MAX, 30000);
    ck_assert_ptr_nonnull(c);
    rlk_claim_set_token(c, "0123456789abcdef0123456789abcdef01234567:me", 43);
    c->hint = UINT64_C(1763000000123456);
    return c;
}

/* _i: with how many keys. */
static void check_vote(unsigned n_keys, bool adopts)
{
    struct rlk_claim *c = make(n_keys);
    unsigned text, known;

    for (text = 0; text < 2; text++) {
        for (known = 0; known < 2; known++) {
            const char *key = known ? "p:redlock:incarnation" : "";
            const char *start = known ? "0123456789abcdef0123456789abcdef01234567 77aa " : "";

            (adopts ? rlk_command_adopt : rlk_command_vote)(&command, c, text, NULL);
            rlk_command_mark(&command, "the key", "and the mark of the node before");
            rlk_command_mark(&command, key, start);
            script(adopts ? rlk_script_adopt.text : rlk_script_vote.text, c, text);
            number(30000);
            number(c->hint);
            word(key);
            word(start);
            check_command();
        }
    }
    rlk_claim_unref(c);
}

TEST_LOOP(a_vote_is_as_hiredis_writes_it, 1, REDLOCK_MAX_KEYS + 1)
{
    check_vote((unsigned)_i, false);
    check_vote((unsigned)_i, true);
}

/* The longest script is as long as any may be. */
static void check_room(const struct rlk_script *script)
{
    ck_assert_uint_le(command.len + RLK_SCRIPT_SIZE - script->len, sizeof(command.buffer));
    rlk_command_end(&command);
}

/* The commands with the most words, each as long as it can be. */
TEST(there_is_room_for_the_longest_command)
{
    static char longest[REDLOCK_MAX_KEY], incarnation[RLK_COMMAND_INCARNATION_SIZE];
    static char channel[REDLOCK_MAX_KEY + sizeof(CHANNEL)];
    static char stream[REDLOCK_MAX_KEY + sizeof(RLK_COMMAND_AUDIT)];
    struct rlk_audit longest_audit = {stream, UINT32_MAX};
    char token[RLK_TOKEN_MAX], start[RLK_COMMAND_START_SIZE];
    struct rlk_key keys[REDLOCK_MAX_KEYS], prefix = {"", 0};
    struct rlk_claim *c;
    unsigned i;

    memset(longest, 'k', sizeof(longest));
    memset(incarnation, 'i', sizeof(incarnation) - 1);
    memset(channel, 'c', sizeof(channel) - 1);
    memset(stream, 's', sizeof(stream) - 1);
    memset(token, 'o', sizeof(token));
    memcpy(token, "0123456789abcdef0123456789abcdef01234567:", RLK_TOKEN_HEX + 1);
    memset(start, 's', sizeof(start) - 1);
    start[sizeof(start) - 1] = '\0';
    for (i = 0; i < REDLOCK_MAX_KEYS; i++) {
        keys[i] = (struct rlk_key){longest, sizeof(longest)};
    }
    c = rlk_claim_new(&source, &prefix, keys, REDLOCK_MAX_KEYS, sizeof(token), UINT32_MAX);
    ck_assert_ptr_nonnull(c);
    rlk_claim_set_token(c, token, sizeof(token));
    memset(token, 'a', sizeof(token) - 1);
    memcpy(token, RLK_RESERVED, strlen(RLK_RESERVED));
    token[strlen(RLK_RESERVED) + RLK_TOKEN_HEX] = ':';
    token[sizeof(token) - 1] = '\0';
    ck_assert(rlk_claim_set_reservation(c, token));
    c->hint = UINT64_MAX;
    c->fence = UINT64_MAX;
    rlk_command_vote(&command, c, true, &longest_audit);
    rlk_command_mark(&command, incarnation, start);
    check_room(&rlk_script_vote);
    c->channel = channel;
    rlk_command_release(&command, c, true, &longest_audit);
    check_room(&rlk_script_release);
    rlk_command_hand_over(&command, c, UINT32_MAX, true, &longest_audit);
    check_room(&rlk_script_hand_over);
    c->yields = true;
    rlk_command_wait(&command, c, UINT64_MAX, channel, true);
    check_room(&rlk_script_wait);
    rlk_claim_unref(c);
}

TEST_LOOP(a_confirmation_is_as_hiredis_writes_it, 1, REDLOCK_MAX_KEYS + 1)
{
    struct rlk_claim *c = make((unsigned)_i);
    unsigned text;

    for (text = 0; text < 2; text++) {
        c->fence = text ? 1 : (UINT64_C(1) << 52) - 1;
        rlk_command_confirm(&command, c, text);
        script(rlk_script_confirm.text, c, text);
        number(c->fence);
        check_command();
    }
    rlk_claim_unref(c);
}

TEST(a_break_is_as_hiredis_writes_it)
{
    struct rlk_claim *c = make(1);
    unsigned text;

    for (text = 0; text < 2; text++) {
        rlk_command_swap(&command, c, "former", text, NULL);
        script(rlk_script_swap.text, c, text);
        word("former");
        check_command();
    }
    rlk_claim_unref(c);
}

/* With a fence the fence is the last word; without one there is no further word. */
TEST_LOOP(take_and_keep_send_the_fence, 1, REDLOCK_MAX_KEYS + 1)
{
    struct rlk_claim *c = make((unsigned)_i);
    unsigned text, fenced, keep;

    for (text = 0; text < 2; text++) {
        for (fenced = 0; fenced < 2; fenced++) {
            for (keep = 0; keep < 2; keep++) {
                c->fence = fenced ? 1763000000123457 : 0;
                if (keep) {
                    rlk_command_keep(&command, c, 5000, text, NULL);
                } else {
                    rlk_command_set_all(&command, c, 5000, text, NULL);
                }
                script(keep ? rlk_script_keep.text : rlk_script_set_all.text, c, text);
                number(5000);
                if (fenced) {
                    number(c->fence);
                }
                check_command();
            }
        }
    }
    rlk_claim_unref(c);
}

/* The fencing token is there in any case, perhaps empty. */
TEST_LOOP(a_take_of_reserved_keys_sends_the_reservation, 1, REDLOCK_MAX_KEYS + 1)
{
    struct rlk_claim *c = make((unsigned)_i);
    unsigned text;

    ck_assert(rlk_claim_set_reservation(c, "for:0123:b"));
    for (text = 0; text < 2; text++) {
        c->fence = text ? 1763000000123457 : 0;
        rlk_command_set_all(&command, c, 5000, text, NULL);
        script(rlk_script_set_all.text, c, text);
        number(5000);
        if (c->fence) {
            number(c->fence);
        } else {
            word("");
        }
        word("for:0123:b");
        check_command();
    }
    rlk_claim_unref(c);
}

TEST_LOOP(a_vote_for_reserved_keys_sends_the_reservation_last, 1, REDLOCK_MAX_KEYS + 1)
{
    struct rlk_claim *c = make((unsigned)_i);
    unsigned text;

    ck_assert(rlk_claim_set_reservation(c, "for:0123:b"));
    c->hint = 7;
    for (text = 0; text < 2; text++) {
        rlk_command_vote(&command, c, text, NULL);
        rlk_command_mark(&command, "incarnation", "run mark ");
        script(rlk_script_vote.text, c, text);
        number(c->ttl_ms);
        number(7);
        word("incarnation");
        word("run mark ");
        word("for:0123:b");
        check_command();
    }
    rlk_claim_unref(c);
}

TEST_LOOP(a_hand_over_is_as_hiredis_writes_it, 1, REDLOCK_MAX_KEYS + 1)
{
    static const char *const channels[] = {"", CHANNEL};
    struct rlk_claim *c = make((unsigned)_i);
    unsigned text, i;

    ck_assert(rlk_claim_set_reservation(c, "for:0123:b"));
    for (text = 0; text < 2; text++) {
        for (i = 0; i < 2; i++) {
            c->channel = channels[i];
            rlk_command_hand_over(&command, c, 1500, text, NULL);
            script(rlk_script_hand_over.text, c, text);
            word(channels[i]);
            word("for:0123:b");
            number(1500);
            check_command();
        }
    }
    rlk_claim_unref(c);
}

/* Three locks of one key, or two of several. */
TEST_LOOP(a_keep_of_many_is_as_hiredis_writes_it, 1, 3)
{
    struct rlk_claim *claims[3];
    unsigned each = (unsigned)_i, n = each == 1 ? 3 : 2, text, fenced, i, k;

    for (i = 0; i < n; i++) {
        claims[i] = make(each);
    }
    for (text = 0; text < 2; text++) {
        for (fenced = 0; fenced < 2; fenced++) {
            claims[0]->fence = fenced ? 7 : 0;
            claims[1]->fence = claims[n - 1]->fence = fenced ? 1763000000123457 : 0;
            rlk_command_keep_all(&command, claims, n, 5000, text);
            script_and_keys(rlk_script_keep_all.text, claims[0], text);
            words.argv[2] = each == 1 ? "3" : "4";
            for (i = 1; i < n; i++) {
                const char *key = rlk_claim_keys(claims[i]);

                for (k = 0; k < each; k++) {
                    word_of(key, claims[i]->key_len[k]);
                    key += claims[i]->key_len[k] + 1;
                }
            }
            number(5000);
            number(each);
            for (i = 0; i < n; i++) {
                word_of(rlk_claim_token(claims[i]), claims[i]->token_len);
            }
            for (i = 0; i < n && fenced; i++) {
                number(claims[i]->fence);
            }
            check_command();
        }
    }
    for (i = 0; i < n; i++) {
        rlk_claim_unref(claims[i]);
    }
}

/* A channel is the last word, unless it is empty. */
TEST_LOOP(a_release_is_as_hiredis_writes_it, 1, REDLOCK_MAX_KEYS + 1)
{
    static const char *const channels[] = {NULL, "", CHANNEL}, *const said[] = {"-", NULL, CHANNEL};
    struct rlk_claim *c = make((unsigned)_i);
    unsigned text, i;

    for (text = 0; text < 2; text++) {
        for (i = 0; i < 3; i++) {
            c->channel = channels[i];
            rlk_command_release(&command, c, text, NULL);
            script(rlk_script_release.text, c, text);
            if (said[i]) {
                word(said[i]);
            }
            check_command();
        }
    }
    rlk_claim_unref(c);
}

static const struct rlk_audit audit = {"p:redlock:audit", 5000};

/* The token itself is never in an entry. */
static void entry(const char *event, unsigned ttl_ms, uint64_t fence)
{
    word(audit.stream);
    number(audit.entries);
    word("event");
    word(event);
    word("id");
    word("01234567");
    word("owner");
    word("me");
    if (ttl_ms) {
        word("ttl");
        number(ttl_ms);
    }
    if (fence) {
        word("fence");
        number(fence);
    }
}

TEST_LOOP(the_entry_of_a_vote_follows_its_mark, 1, REDLOCK_MAX_KEYS + 1)
{
    struct rlk_claim *c = make((unsigned)_i);
    unsigned adopts;

    for (adopts = 0; adopts < 2; adopts++) {
        (adopts ? rlk_command_adopt : rlk_command_vote)(&command, c, true, &audit);
        rlk_command_mark(&command, "a longer mark", "than the next one");
        rlk_command_mark(&command, "mark", "start");
        script(adopts ? rlk_script_adopt.text : rlk_script_vote.text, c, true);
        number(30000);
        number(c->hint);
        word("mark");
        word("start");
        if (!adopts) {
            word("");
        }
        entry(adopts ? "adopted" : "acquired", 30000, 0);
        check_command();
    }
    rlk_claim_unref(c);
}

/* A fencing token that the lock does not have is an empty word then. */
TEST_LOOP(the_entry_of_a_lock_is_behind_its_fencing_token, 0, 4)
{
    struct rlk_claim *c = make(2);
    bool keep = _i & 1;

    c->fence = _i & 2 ? 1763000000123457 : 0;
    (keep ? rlk_command_keep : rlk_command_set_all)(&command, c, 5000, false, &audit);
    script(keep ? rlk_script_keep.text : rlk_script_set_all.text, c, false);
    number(5000);
    if (c->fence) {
        number(c->fence);
    } else {
        word("");
    }
    if (!keep) {
        word("");
    }
    entry(keep ? "adopted" : "acquired", 5000, c->fence);
    check_command();
    rlk_claim_unref(c);
}

/* Of a lock that is handed over, and of one that is acquired from a hand-over. */
TEST(the_entries_of_a_hand_over_are_behind_the_reservation)
{
    static const char reservation[] = RLK_RESERVED "0123456789abcdef0123456789abcdef01234567:bob";
    struct rlk_claim *c = make(1);

    ck_assert(rlk_claim_set_reservation(c, reservation));
    c->channel = "";
    c->fence = 7;
    rlk_command_hand_over(&command, c, 1500, false, &audit);
    script(rlk_script_hand_over.text, c, false);
    word("");
    word(reservation);
    number(1500);
    entry("handed over", 0, 7);
    word("to");
    word("bob");
    check_command();
    rlk_command_set_all(&command, c, 5000, false, &audit);
    script(rlk_script_set_all.text, c, false);
    number(5000);
    number(7);
    word(reservation);
    entry("acquired", 5000, 7);
    check_command();
    rlk_command_vote(&command, c, false, &audit);
    rlk_command_mark(&command, "mark", "start");
    script(rlk_script_vote.text, c, false);
    number(30000);
    number(c->hint);
    word("mark");
    word("start");
    word(reservation);
    entry("acquired", 30000, 0);
    check_command();
    rlk_claim_unref(c);
}

/* A round that was not won has no channel, and is withdrawn. */
TEST_LOOP(the_entry_of_a_release_is_behind_its_channel, 0, 6)
{
    static const char *const channels[] = {NULL, "", CHANNEL};
    struct rlk_claim *c = make(1);
    bool lost = _i >= 3;

    c->channel = channels[_i % 3];
    c->was_lost = lost;
    c->fence = 7;
    rlk_command_release(&command, c, false, &audit);
    script(rlk_script_release.text, c, false);
    word(c->channel ? c->channel : "-");
    entry(lost ? "lost" : c->channel ? "released" : "withdrawn", 0, 7);
    check_command();
    rlk_claim_unref(c);
}

/* It is about the lock that is broken. A foreign token shows nothing of itself. */
TEST_LOOP(the_entry_of_a_break_says_by_whom, 0, 2)
{
    static const char *const former[] = {"0123456789abcdef0123456789abcdef01234567:me", "foreign"};
    struct rlk_claim *c = make(1);

    rlk_claim_set_token(c, "fedcba9876543210fedcba9876543210fedcba98:" REDLOCK_BROKEN_BY "ann",
                        41 + strlen(REDLOCK_BROKEN_BY) + 3);
    rlk_command_swap(&command, c, former[_i], false, &audit);
    script(rlk_script_swap.text, c, false);
    word(former[_i]);
    word(audit.stream);
    number(audit.entries);
    word("event");
    word("broken");
    word("id");
    word(_i ? "" : "01234567");
    word("owner");
    word(_i ? "" : "me");
    word("by");
    word("ann");
    check_command();
    rlk_claim_unref(c);
}

TEST_LOOP(waiting_and_leaving_are_as_hiredis_writes_them, 1, REDLOCK_MAX_KEYS + 1)
{
    struct rlk_claim *c = make((unsigned)_i);
    const uint64_t waited_us = UINT64_C(1795357800123456);
    unsigned text, yields;

    for (text = 0; text < 2; text++) {
        for (yields = 0; yields < 2; yields++) {
            c->yields = yields;
            rlk_command_wait(&command, c, waited_us, CHANNEL, text);
            script_and_keys(rlk_script_wait.text, c, text);
            word(CHANNEL);
            number(waited_us);
            number(yields);
            number(10000);
            check_command();
        }
        rlk_command_leave(&command, c, CHANNEL, text);
        script_and_keys(rlk_script_leave.text, c, text);
        word(CHANNEL);
        check_command();
    }
    rlk_claim_unref(c);
}

TEST(a_set_is_as_hiredis_writes_it)
{
    struct rlk_claim *c = make(1);
    unsigned get;

    for (get = 0; get < 2; get++) {
        rlk_command_set(&command, c, get);
        word("SET");
        word_of(rlk_claim_keys(c), c->key_len[0]);
        word_of(rlk_claim_token(c), c->token_len);
        word("NX");
        word("PX");
        number(30000);
        if (get) {
            word("GET");
        }
        check_command();
    }
    rlk_claim_unref(c);
}

/* Only the first key is asked about. */
TEST_LOOP(questions_are_as_hiredis_writes_them, 1, REDLOCK_MAX_KEYS + 1)
{
    static const char *const endings[] = {"", ":redlock-fence", ":redlock-waiting"};
    struct rlk_claim *c = make((unsigned)_i);
    char name[REDLOCK_MAX_KEY + 32];
    size_t i;

    for (i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        rlk_command_ask(&command, "PTTL", c, endings[i]);
        memcpy(name, rlk_claim_keys(c), c->key_len[0]);
        strcpy(name + c->key_len[0], endings[i]);
        word("PTTL");
        word(name);
        check_command();
    }
    rlk_claim_unref(c);
}

/* What a pattern would take for more than itself is escaped. */
TEST(a_scan_is_as_hiredis_writes_it)
{
    static const struct {
        const char *prefix;
        size_t len;
        const char *pattern;
        size_t pattern_len;
    } rows[] = {{"", 0, "*", 1},
                {"app:", 4, "app:*", 5},
                {"a*b?[c]\\", 8, "a\\*b\\?\\[c\\]\\\\*", 14},
                {"a\0b", 3, "a\0b*", 4}};
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        rlk_command_scan(&command, UINT64_C(18446744073709551615),
                         &(struct rlk_key){rows[i].prefix, rows[i].len}, 50);
        word("SCAN");
        word("18446744073709551615");
        word("MATCH");
        word_of(rows[i].pattern, rows[i].pattern_len);
        word("COUNT");
        number(50);
        word("TYPE");
        word("string");
        check_command();
    }
}

TEST(the_longest_prefix_of_a_scan_fits)
{
    char prefix[REDLOCK_MAX_KEY];

    memset(prefix, '*', sizeof(prefix));
    rlk_command_scan(&command, 0, &(struct rlk_key){prefix, sizeof(prefix)}, 1);
    ck_assert_uint_gt(command.len, 2 * sizeof(prefix));
    ck_assert_uint_le(command.len, sizeof(command.buffer));
}

TEST(the_scripts_name_the_counter_as_we_do)
{
    static const char *const scripts[] = {rlk_script_set_all.text, rlk_script_keep.text,
                                          rlk_script_vote.text, rlk_script_confirm.text};
    unsigned i;

    for (i = 0; i < 4; i++) {
        const char *at = strstr(scripts[i], "'" RLK_COMMAND_COUNTER "'");

        ck_assert_ptr_nonnull(at);
        ck_assert_ptr_nonnull(strstr(scripts[i], "'PX', '691200000')"));
    }
    ck_assert_ptr_null(strstr(rlk_script_release.text, "redlock-fence"));
}

TEST(the_scripts_name_the_waiting_list_as_we_do)
{
    static const char *const scripts[] = {rlk_script_wait.text, rlk_script_leave.text,
                                          rlk_script_release.text};
    unsigned i;

    for (i = 0; i < 3; i++) {
        ck_assert_ptr_nonnull(strstr(scripts[i], "'" RLK_COMMAND_WAITING "'"));
    }
}
