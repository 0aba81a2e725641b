/* test_pieces.c - the small pieces of io: the ring, the pending releases, tokens, the parser, the
 * texts of the status codes. */
#include <redlock/redlock.h>
#include <string.h>

#include "lib/test.h"
#include "net/entropy.h"
#include "net/reply.h"
#include "node/claim.h"
#include "node/pending_list.h"
#include "node/inflight.h"

SUITE("pieces");

static struct rlk_pool pool;
static struct rlk_claim_source source = {.pool = &pool};

static struct rlk_claim *claim(const char *key)
{
    struct rlk_claim *c;

    pool.keep = 8;
    c = rlk_claim_new(&source, &(struct rlk_key){"p:", 2}, &(struct rlk_key){key, strlen(key)}, 1,
                      RLK_TOKEN_MAX, 1000);
    ck_assert_ptr_nonnull(c);
    return c;
}

TEST(the_ring_is_a_fifo_that_grows_to_its_bound)
{
    struct rlk_inflight q = {0};
    struct rlk_exchange r = {0};
    size_t in = 0, out = 0, i;

    while (rlk_inflight_reserve(&q)) {
        r.sent_us = in++;
        rlk_inflight_push(&q, &r);
        if (in % 3 == 0) {
            ck_assert(rlk_inflight_pop(&q, &r));
            ck_assert_uint_eq(r.sent_us, out++);
        }
    }
    ck_assert_uint_eq(q.ring.count, RLK_INFLIGHT_MAX);
    ck_assert_uint_eq(rlk_inflight_oldest_us(&q), out);
    for (i = out; rlk_inflight_pop(&q, &r); i++) {
        ck_assert_uint_eq(r.sent_us, i);
    }
    ck_assert_uint_eq(i, in);
    rlk_inflight_end(&q);
}

TEST(expired_pending_releases_are_not_sent)
{
    struct rlk_pending_list d = {0};
    struct rlk_claim *a = claim("a"), *b = claim("b");

    rlk_pending_list_add(&d, a, 100);
    rlk_pending_list_add(&d, b, 300);
    ck_assert_ptr_eq(rlk_pending_list_first(&d, 99), a);
    ck_assert_ptr_eq(rlk_pending_list_first(&d, 100), b);
    ck_assert_uint_eq(a->refs, 1);
    ck_assert_uint_eq(b->refs, 2);
    rlk_pending_list_drop(&d);
    ck_assert_ptr_null(rlk_pending_list_first(&d, 100));
    ck_assert_uint_eq(b->refs, 1);
    rlk_claim_unref(a);
    rlk_claim_unref(b);
    rlk_pending_list_end(&d);
}

TEST(pending_releases_are_bounded_and_the_oldest_goes_first)
{
    struct rlk_pending_list d = {0};
    struct rlk_claim *c = claim("a");
    size_t i, n = 0;

    for (i = 0; i < RLK_PENDING_MAX + 10; i++) {
        rlk_pending_list_add(&d, c, 1000 + i);
    }
    ck_assert_uint_eq(d.ring.count, RLK_PENDING_MAX);
    ck_assert_uint_eq(c->refs, RLK_PENDING_MAX + 1);
    for (; rlk_pending_list_first(&d, 1009); n++) {
        rlk_pending_list_drop(&d);
    }
    ck_assert_uint_eq(n, RLK_PENDING_MAX);
    ck_assert_uint_eq(c->refs, 1);
    rlk_pending_list_add(&d, c, 5000);
    rlk_pending_list_end(&d);
    ck_assert_uint_eq(c->refs, 1);
    rlk_claim_unref(c);
}

TEST(tokens_are_forty_hex_digits_and_never_the_same)
{
    static struct rlk_entropy e;
    struct rlk_claim *c = claim("a");
    char seen[500][64];
    int i, j;

    rlk_entropy_init(&e);
    for (i = 0; i < 500; i++) {
        ck_assert_int_eq(rlk_claim_fresh_token(c, &e, ""), 0);
        ck_assert_uint_eq(c->token_len, 40);
        ck_assert_uint_eq(strspn(rlk_claim_token(c), "0123456789abcdef"), 40);
        strcpy(seen[i], rlk_claim_token(c));
        for (j = 0; j < i; j++) {
            ck_assert_str_ne(seen[i], seen[j]);
        }
    }
    ck_assert_int_eq(rlk_claim_fresh_token(c, &e, "web-1"), 0);
    ck_assert_str_eq(rlk_claim_token(c) + 40, ":web-1");
    rlk_claim_unref(c);
}

TEST(long_and_short_keys_are_kept_whole)
{
    char key[REDLOCK_MAX_KEY + 1];
    size_t len;

    memset(key, 'k', sizeof(key));
    for (len = 1; len < REDLOCK_MAX_KEY; len++) {
        struct rlk_claim *c;

        key[len] = '\0';
        c = claim(key);
        ck_assert_uint_eq(c->key_len[0], len + 2);
        ck_assert_str_eq(rlk_claim_keys(c) + 2, key);
        rlk_claim_unref(c);
        key[len] = 'k';
    }
}

static const struct rlk_reply *parse(struct rlk_reply_parser *p, const char *bytes)
{
    const struct rlk_reply *r = NULL;

    ck_assert_int_eq(rlk_reply_parser_init(p), 0);
    ck_assert_int_eq(rlk_reply_feed(p, bytes, strlen(bytes)), 0);
    return rlk_reply_next(p, &r) == 1 ? r : NULL;
}

static struct rlk_reply_parser parser;

TEST(a_nested_array_becomes_a_row)
{
    const struct rlk_reply *r = parse(&parser, "*3\r\n:7\r\n*2\r\n+a\r\n$-1\r\n$2\r\nhi\r\n");

    ck_assert_ptr_nonnull(r);
    ck_assert(r[0].type == RLK_REPLY_ARRAY && r[0].integer == 3);
    ck_assert(r[1].type == RLK_REPLY_INTEGER && r[1].integer == 7);
    ck_assert(r[2].type == RLK_REPLY_ARRAY && r[2].integer == 2);
    ck_assert(r[3].type == RLK_REPLY_STATUS);
    ck_assert(r[4].type == RLK_REPLY_NIL);
    ck_assert_str_eq(r[5].str, "hi");
    rlk_reply_parser_end(&parser);
}

static const char *const hostile[] = {
    "hello\r\n",
    "*1000000000\r\n",
    "*129\r\n",
    "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n",
    ":99999999999999999999\r\n",
    "$-5\r\n",
    "$99999999999999999999\r\n",
    "*-7\r\n",
    "%1\r\n+a\r\n+b\r\n",
    "~1\r\n+a\r\n",
    ">1\r\n+a\r\n",
    "_\r\n",
    "#t\r\n",
    ",1.5\r\n",
    "(12345678901234567890\r\n",
    "=6\r\ntxt:hi\r\n",
};

TEST_LOOP(hostile_bytes_are_no_reply, 0, N_ROWS(hostile))
{
    ck_assert_ptr_null(parse(&parser, hostile[_i]));
    rlk_reply_parser_end(&parser);
}

TEST(a_reply_may_come_byte_by_byte)
{
    static const char bytes[] = "*2\r\n$5\r\nhello\r\n:-12\r\n+OK\r\n";
    const struct rlk_reply *r = NULL;
    size_t i;
    int replies = 0;

    ck_assert_int_eq(rlk_reply_parser_init(&parser), 0);
    for (i = 0; bytes[i]; i++) {
        ck_assert_int_eq(rlk_reply_feed(&parser, &bytes[i], 1), 0);
        while (rlk_reply_next(&parser, &r) == 1) {
            replies++;
            if (replies == 1) {
                ck_assert_str_eq(r[1].str, "hello");
                ck_assert_int_eq(r[2].integer, -12);
            }
        }
    }
    ck_assert_int_eq(replies, 2);
    ck_assert_str_eq(r->str, "OK");
    rlk_reply_parser_end(&parser);
}

TEST(a_flood_without_an_end_is_cut_off)
{
    static char block[65536];
    size_t fed = 0;
    const struct rlk_reply *r;

    memset(block, 'x', sizeof(block));
    parse(&parser, "$4294967296\r\n");
    while (rlk_reply_feed(&parser, block, sizeof(block)) == 0) {
        fed += sizeof(block);
        ck_assert_int_le(rlk_reply_next(&parser, &r), 0);
        ck_assert_uint_le(fed, RLK_REPLY_BYTES);
    }
    rlk_reply_parser_end(&parser);
}

TEST(long_texts_are_cut_not_refused)
{
    static char block[20000];
    const struct rlk_reply *r;

    memset(block, 'x', sizeof(block));
    memcpy(block, "$19000\r\n", 8);
    memcpy(block + 8 + 19000, "\r\n", 3);
    r = parse(&parser, block);
    ck_assert_ptr_nonnull(r);
    ck_assert_uint_lt(r->len, RLK_REPLY_TEXT);
    ck_assert_uint_eq(strlen(r->str), r->len);
    rlk_reply_parser_end(&parser);
}

TEST(every_status_has_a_text_of_its_own)
{
    static const int all[] = {REDLOCK_OK,         REDLOCK_GONE,       REDLOCK_TAKEN,
                              REDLOCK_EINVAL,     REDLOCK_ESTATE,     REDLOCK_EURI,
                              REDLOCK_ETTL,       REDLOCK_EFORK,      REDLOCK_ELIMIT,
                              REDLOCK_EHELD,      REDLOCK_ETOOSLOW,   REDLOCK_EDEADLINE,
                              REDLOCK_ESUSPENDED, REDLOCK_EUNRENEWED, REDLOCK_ECANCELED,
                              REDLOCK_ELOST,      REDLOCK_EOUTRANKED, REDLOCK_ECONFIG,
                              REDLOCK_ENOQUORUM,  REDLOCK_ENOMEM,     REDLOCK_ESYSTEM};
    size_t i, j;

    for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        ck_assert_uint_le(strcspn(redlock_strerror(all[i]), ";:("), 80); /* its short part */
        ck_assert_str_ne(redlock_strerror(all[i]), redlock_strerror(-999));
        for (j = 0; j < i; j++) {
            ck_assert_str_ne(redlock_strerror(all[i]), redlock_strerror(all[j]));
        }
    }
    ck_assert_str_eq(redlock_version(), REDLOCK_VERSION);
}
