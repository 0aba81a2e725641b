/* io/test_election_options.c - each option of an election that is refused, with its sentence; the
 * limits that are not; and structs of other versions. */
#include <redlock/error.h>
#include <stdio.h>
#include <string.h>

#include "io/candidate.h"
#include "lib/test.h"

SUITE("election-options");
FIXTURE(NULL, farm_end_all);

static struct farm f;
static struct candidate c;
static struct redlock_election_options o;

static char long_text[REDLOCK_MAX_KEY + 2];

static void start_with(uint32_t drift_ppm, const char *prefix)
{
    farm_start_frozen(&f, 1);
    f.options.drift_ppm = drift_ppm;
    f.options.key_prefix = prefix;
    farm_open(&f);
    o = candidate_options(&c, &f);
}

static void start(void)
{
    start_with(10000, NULL);
}

/* A text of so many bytes. */
static const char *bytes(size_t n)
{
    ck_assert_uint_lt(n, sizeof(long_text));
    memset(long_text, 'x', n);
    long_text[n] = '\0';
    return long_text;
}

static void must_refuse(int status, const char *sentence)
{
    struct redlock_election *e = NULL;

    ck_assert_int_eq(redlock_election_new(f.rl, &o, &e), status);
    ck_assert_ptr_null(e);
    ck_assert_str_eq(redlock_error_text(f.rl), sentence);
}

static void must_take(void)
{
    candidate_new(&c, &o);
    candidate_finish(&c);
}

/* ---- texts ---- */

static const struct {
    const char *claim, *name, *id, *value;
    const char *sentence; /* NULL: it is taken */
} texts[] = {
    {"without_a_name", NULL, "one", NULL, "no name is given; set the election's name"},
    {"with_an_empty_name", "", "one", NULL, "key 1 is empty; a key needs at least one byte"},
    {"with_a_reserved_name", "k:redlock-waiting", "one", NULL,
     "key 1 has a name that is reserved for the library; use another name"},
    {"with_an_empty_id", "k", "", NULL,
     "the id is empty; name this candidate, or set NULL to observe"},
    {"with_a_space_in_the_id", "k", "o ne", NULL,
     "the id has a byte that is not allowed; use printable ASCII without spaces"},
    {"with_a_control_byte_in_the_id", "k", "o\x7fne", NULL,
     "the id has a byte that is not allowed; use printable ASCII without spaces"},
    {"with_an_umlaut_in_the_id", "k", "\xc3\xb6ne", NULL,
     "the id has a byte that is not allowed; use printable ASCII without spaces"},
    {"with_a_tab_in_the_value", "k", "one", "a\tb",
     "the value has a byte that is not allowed; use printable ASCII"},
    {"with_every_byte_that_is_allowed", "k", "!~", " ~!", NULL},
    {"with_an_empty_value", "k", "one", "", NULL},
};

TEST_ROWS(a_text, texts)
{
    start();
    o.name = texts[_i].name;
    o.id = texts[_i].id;
    o.value = texts[_i].value;
    if (texts[_i].sentence) {
        must_refuse(REDLOCK_EINVAL, texts[_i].sentence);
    } else {
        must_take();
    }
}

static const struct {
    const char *claim;
    const char **field;
    size_t most;
    const char *prefix, *sentence;
} lengths[] = {
    {"the_longest_name", &o.name, REDLOCK_MAX_KEY - 12, NULL,
     "the name is 1013 bytes long; at most 1012 are allowed"},
    {"the_longest_name_with_a_prefix", &o.name, REDLOCK_MAX_KEY - 18,
     "locks:", "the name is 1007 bytes long; at most 1006 are allowed"},
    {"the_longest_id", &o.id, REDLOCK_MAX_ID, NULL,
     "the id is 65 bytes long; at most 64 are allowed"},
    {"the_longest_value", &o.value, REDLOCK_MAX_VALUE, NULL,
     "the value is 129 bytes long; at most 128 are allowed"},
};

TEST_ROWS(a_length, lengths)
{
    start_with(10000, lengths[_i].prefix);
    *lengths[_i].field = bytes(lengths[_i].most);
    must_take();
    *lengths[_i].field = bytes(lengths[_i].most + 1);
    must_refuse(REDLOCK_EINVAL, lengths[_i].sentence);
}

/* The longest id and value together are an owner text. */
TEST(the_longest_texts_are_published)
{
    static const char value[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
                                "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    char owner[REDLOCK_MAX_KEY + 300];

    start();
    o.id = bytes(REDLOCK_MAX_ID);
    o.value = value;
    o.priority = 999;
    snprintf(owner, sizeof(owner), ":leader+999 %s %s", o.id, value);
    candidate_lead(&c, &o);
    ck_assert_str_eq(strchr(rlk_model_get(fake_model(f.nodes[0]), "k"), ':'), owner);
}

/* They are copied. */
TEST(the_texts_of_the_caller_may_change)
{
    char name[] = "k", id[] = "one", value[] = "v";

    start();
    o.name = name;
    o.id = id;
    o.value = value;
    candidate_new(&c, &o);
    name[0] = id[0] = value[0] = '?';
    candidate_campaign(&c);
    candidate_wait(&c, &c.elected, 1);
    loop_settle(f.base);
    ck_assert_str_eq(strchr(rlk_model_get(fake_model(f.nodes[0]), "k"), ':'), ":leader one v");
}

/* ---- times ---- */

/* A ttl of 30000 ms is 29698 ms without a drift of 1 percent. */
static const struct {
    const char *claim;
    uint32_t drift_ppm, ttl_ms, deadline_ms, retry_ms, delay_ms;
    int status;
    const char *sentence;
} times[] = {
    {"the_shortest_ttl", 10000, 10, 0, 0, 0, REDLOCK_OK, NULL},
    {"the_longest_ttl", 10000, 300000, 0, 0, 0, REDLOCK_OK, NULL},
    {"a_ttl_that_is_too_short", 10000, 9, 0, 0, 0, REDLOCK_ETTL,
     "the ttl is 9 ms; it must be 10 to 300000 (max_ttl_ms)"},
    {"a_ttl_that_is_too_long", 10000, 300001, 0, 0, 0, REDLOCK_ETTL,
     "the ttl is 300001 ms; it must be 10 to 300000 (max_ttl_ms)"},
    {"the_longest_deadline", 10000, 30000, 29697, 0, 0, REDLOCK_OK, NULL},
    {"a_deadline_that_is_too_long", 10000, 30000, 29698, 0, 0, REDLOCK_EINVAL,
     "renew_deadline_ms is 29698; it must be less than the ttl without the drift (29698 ms)"},
    {"a_default_deadline_that_is_too_long", 400000, 30000, 0, 0, 0, REDLOCK_EINVAL,
     "renew_deadline_ms is 20000; it must be less than the ttl without the drift (17998 ms)"},
    {"the_shortest_deadline", 10000, 30000, 13001, 0, 0, REDLOCK_OK, NULL},
    {"a_deadline_that_is_too_short", 10000, 30000, 13000, 0, 0, REDLOCK_EINVAL,
     "renew_deadline_ms is 13000; it must be more than a third of the ttl and retry_ms together "
     "(13000 ms)"},
    {"the_longest_retry", 10000, 30000, 0, 9999, 0, REDLOCK_OK, NULL},
    {"the_shortest_retry", 10000, 30000, 0, 1, 0, REDLOCK_OK, NULL},
    {"a_retry_that_is_too_long", 10000, 30000, 0, 10000, 0, REDLOCK_EINVAL,
     "renew_deadline_ms is 20000; it must be more than a third of the ttl and retry_ms together "
     "(20000 ms)"},
    {"a_retry_without_an_end", 10000, 30000, 0, UINT32_MAX, 0, REDLOCK_EINVAL,
     "renew_deadline_ms is 20000; it must be more than a third of the ttl and retry_ms together "
     "(4294977295 ms)"},
    {"the_longest_delay", 10000, 30000, 0, 0, 86400000, REDLOCK_OK, NULL},
    {"a_delay_that_is_too_long", 10000, 30000, 0, 0, 86400001, REDLOCK_EINVAL,
     "delay_ms is 86400001; it must be at most 86400000"},
};

TEST_ROWS(a_time, times)
{
    start_with(times[_i].drift_ppm, NULL);
    o.ttl_ms = times[_i].ttl_ms;
    o.renew_deadline_ms = times[_i].deadline_ms;
    o.retry_ms = times[_i].retry_ms;
    o.delay_ms = times[_i].delay_ms;
    if (times[_i].sentence) {
        must_refuse(times[_i].status, times[_i].sentence);
    } else {
        must_take();
    }
}

TEST(a_priority)
{
    start();
    o.priority = 999;
    must_take();
    o.priority = 1000;
    must_refuse(REDLOCK_EINVAL, "priority is 1000; it must be at most 999");
}

TEST(the_deadline_is_that_of_the_lead)
{
    uint64_t left_us;

    start();
    o.renew_deadline_ms = 15000;
    candidate_lead(&c, &o);
    left_us = redlock_election_deadline_us(c.e) - redlock_clock_us();
    ck_assert_uint_eq(left_us, 15000 * 1000);
}

/* ---- callbacks and pointers ---- */

TEST(a_candidate_needs_its_callbacks)
{
    redlock_demoted_cb *demoted_cb;
    redlock_elected_cb *elected_cb;

    start();
    demoted_cb = o.demoted_cb;
    elected_cb = o.elected_cb;
    o.demoted_cb = NULL;
    must_refuse(REDLOCK_EINVAL, "demoted_cb is NULL; a candidate needs elected_cb and demoted_cb");
    o.demoted_cb = demoted_cb;
    o.elected_cb = NULL;
    must_refuse(REDLOCK_EINVAL, "elected_cb is NULL; a candidate needs elected_cb and demoted_cb");
    o.elected_cb = elected_cb;
    o.stops_later = 2;
    must_refuse(REDLOCK_EINVAL, "stops_later is 2; it must be 0 or 1");
}

static void on_leader(struct redlock_election *e, const struct redlock_leader *leader, void *arg)
{
    (void)e;
    (void)leader;
    (void)arg;
}

TEST(an_observer)
{
    start();
    o.id = NULL;
    o.elected_cb = NULL;
    o.demoted_cb = NULL;
    must_refuse(REDLOCK_EINVAL, "leader_cb is NULL; an observer (without id) needs it");
    o.leader_cb = on_leader;
    candidate_new(&c, &o);
    ck_assert_int_eq(redlock_election_campaign(c.e), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_election_resign(c.e), REDLOCK_OK);
    ck_assert_int_eq(redlock_election_stopped(c.e), REDLOCK_ESTATE);
    candidate_finish(&c);
}

TEST(pointers_that_are_null)
{
    struct redlock_election *e = NULL;

    start();
    ck_assert_int_eq(redlock_election_new(NULL, &o, &e), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_election_new(f.rl, NULL, &e), REDLOCK_EINVAL);
    ck_assert_str_eq(redlock_error_text(f.rl), "the options are NULL");
    ck_assert_int_eq(redlock_election_new(f.rl, &o, NULL), REDLOCK_EINVAL);
    ck_assert_str_eq(redlock_error_text(f.rl), "ret_election is NULL");
    ck_assert_ptr_null(e);
}

/* ---- rule 10 ---- */

struct newer {
    struct redlock_election_options options;
    uint64_t more;
};

TEST(rule_10_options_of_a_newer_version)
{
    struct newer newer;
    struct redlock_election *e = NULL;

    start();
    redlock_election_options_init_sized(&newer.options, sizeof(newer));
    ck_assert_uint_eq(newer.options.size, sizeof(newer));
    ck_assert_uint_eq(newer.more, 0);
    newer.options = o;
    newer.options.size = sizeof(newer);
    ck_assert_int_eq(redlock_election_new(f.rl, &newer.options, &e), REDLOCK_OK);
    ck_assert_int_eq(redlock_election_free(e, NULL, NULL), REDLOCK_OK);
    newer.more = 1;
    ck_assert_int_eq(redlock_election_new(f.rl, &newer.options, &e), REDLOCK_EINVAL);
    ck_assert_ptr_nonnull(strstr(redlock_error_text(f.rl), "built for a newer version"));
}

TEST(rule_10_options_without_a_size)
{
    start();
    o.size = 0;
    must_refuse(REDLOCK_EINVAL,
                "the options were not initialised; call redlock_election_options_init() first");
    o.size = 16;
    must_refuse(REDLOCK_EINVAL,
                "the options were not initialised; call redlock_election_options_init() first");
}

TEST(rule_10_no_more_is_written_than_fits)
{
    struct redlock_election_options small;

    memset(&small, 0xee, sizeof(small));
    redlock_election_options_init_sized(&small, sizeof(small.size));
    ck_assert_uint_eq(small.size, sizeof(small.size));
    ck_assert_uint_eq(((unsigned char *)&small)[sizeof(small.size)], 0xee);
}

TEST(rule_10_a_leader_of_another_version)
{
    struct redlock_leader leader;

    start();
    candidate_new(&c, &o);
    memset(&leader, 0xee, sizeof(leader));
    leader.size = 0;
    ck_assert_int_eq(redlock_election_leader(c.e, &leader), REDLOCK_EINVAL);
    leader.size = sizeof(leader);
    ck_assert_int_eq(redlock_election_leader(c.e, &leader), REDLOCK_OK);
    ck_assert_str_eq(leader.id, "");
    ck_assert_int_eq(leader.known, 0);
    ck_assert_int_eq(redlock_election_leader(c.e, NULL), REDLOCK_EINVAL);
}
