/* unit/test_diagnosis.c - from facts to findings: each fact alone, and the verdict about all
 * masters. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/reply.h"
#include "doctor/diagnosis.h"
#include "doctor/checkup.h"
#include "doctor/rights.h"
#include "lib/test.h"

SUITE("diagnosis");

#define MOST 7

static const struct rlk_diagnosis_context norms = {.key_prefix = "", .node_timeout_us = 500000};
static struct rlk_notes notes;
static struct redlock_examined nodes[MOST];
static const struct redlock_examined *node_list[MOST];
static const struct redlock_finding *findings[MOST];
static struct redlock_report report;
static struct rlk_diagnosis_record record;

/* A master without a fault, apart from the fields that are given. */
#pragma GCC diagnostic ignored "-Woverride-init"
#define WELL_BUT(...)                                                                              \
    {                                                                                              \
        .name = "redis://a:6379/0", .state = REDLOCK_NODE_UP, .error = "", .answered = 1,          \
        .product = "redis", .version = "7.0.15", .run_id = "abc", .role = "master",                \
        .mode = "standalone", .user = "app", .uptime_s = 1000000, .rdb = 1, .fsync = "",           \
        .eviction = "noeviction", .refusal = "", .pings = 20, .ping_max_us = 100,                  \
        .clock_error_us = 100, .tls = "", .subscriber = "", .addresses = "", __VA_ARGS__           \
    }
#define WELL WELL_BUT(.answered = 1)

static struct redlock_examined well(void)
{
    return (struct redlock_examined)WELL;
}

static struct redlock_examined lost(enum redlock_node_state state, const char *error)
{
    struct redlock_examined x = well();

    x.answered = 0;
    x.state = state;
    x.error = error;
    return x;
}

static void judge_for(const struct redlock_examined *x, enum rlk_trouble_kind trouble)
{
    struct rlk_trouble t = {.kind = trouble, .number = 500};

    rlk_diagnose_node(x, &t, 3, &norms, &notes);
}

static void judge(const struct redlock_examined *x)
{
    judge_for(x, RLK_TROUBLE_NONE);
}

static const struct redlock_finding *find(enum redlock_finding_kind kind)
{
    size_t i;

    for (i = 0; i < notes.n; i++) {
        if (notes.finding[i].kind == kind) {
            return &notes.finding[i];
        }
    }
    return NULL;
}

static void must_find(enum redlock_finding_kind kind, enum redlock_severity severity,
                      const char *words)
{
    const struct redlock_finding *f = find(kind);

    if (f == NULL) {
        ck_abort_msg("nothing was found about %s", rlk_finding_row(kind)->code);
    }
    ck_assert_int_eq(f->severity, severity);
    ck_assert_str_eq(f->code, rlk_finding_row(kind)->code);
    if (strstr(f->text, words) == NULL) {
        ck_abort_msg("'%s' is not in '%s'", words, f->text);
    }
}

/* This finding, and no other. */
static void must_have_found_only(enum redlock_finding_kind kind, enum redlock_severity severity,
                                 const char *words)
{
    must_find(kind, severity, words);
    ck_assert_uint_eq(notes.n, 1);
    ck_assert_int_eq(notes.worst, severity);
    ck_assert_int_eq(notes.finding[0].node, 3);
}

static void must_find_only(const struct redlock_examined *x, enum redlock_finding_kind kind,
                           enum redlock_severity severity, const char *words)
{
    judge(x);
    must_have_found_only(kind, severity, words);
}

/* ---- one fact, one finding ---- */

/* What must be found about this master, and nothing else (kind: -1 for nothing), and the fix (NULL:
 * any). */
struct fact {
    struct redlock_examined x;
    int kind;
    enum redlock_severity severity;
    const char *words, *fix;
};

#define FOUND(k, s, words) REDLOCK_FOUND_##k, REDLOCK_##s, words, NULL
#define FIXED(k, s, words, fix) REDLOCK_FOUND_##k, REDLOCK_##s, words, fix
#define NOTHING -1, REDLOCK_FINE, NULL, NULL

static const struct {
    const char *claim;
    struct fact facts[4];
} facts[] = {
    {"a_good_master_is_fine", {{WELL, NOTHING}}},

    /* What the master said before its connection ended does not count. */
    {"a_master_that_disconnected_or_is_stuck_is_unusable",
     {{WELL_BUT(.state = REDLOCK_NODE_DOWN, .error = "the connection broke: the server closed it",
                .maxmemory = 1000, .eviction = "allkeys-lru"),
       FOUND(DOWN, UNUSABLE, "has not replied")},
      {WELL_BUT(.state = REDLOCK_NODE_UNRESPONSIVE, .error = "has not replied for 510 ms",
                .maxmemory = 1000, .eviction = "allkeys-lru"),
       FOUND(UNRESPONSIVE, UNUSABLE, "has not replied")}}},

    {"a_server_that_is_no_master_is_unusable",
     {{WELL_BUT(.role = "slave"), FOUND(ROLE, UNUSABLE, "slave")},
      {WELL_BUT(.role = "active-replica"), FOUND(ROLE, UNUSABLE, "active-replica")},
      {WELL_BUT(.mode = "cluster"), FOUND(ROLE, UNUSABLE, "cluster")}}},

    {"loading_passes_and_a_rejected_write_does_not",
     {{WELL_BUT(.loading = 1, .refusal = "LOADING Redis is loading the dataset in memory"),
       FOUND(LOADING, NO_VOTE, "loading its data")},
      {WELL_BUT(.refusal = "MISCONF Redis is configured to save RDB snapshots"),
       FIXED(REFUSES, UNUSABLE, "it cannot write its data to the disk (MISCONF)",
             "Check its log, and whether its disk is full or read-only.")},
      {WELL_BUT(.refusal = "ERR a new one"),
       FIXED(REFUSES, UNUSABLE, "refuses our commands: ERR a new one",
             "Fix the cause of this error; until then no lock can be acquired there.")},
      {WELL_BUT(.refusal = "OOM command not allowed", .quarantine_ms = UINT64_MAX,
                .error = "does not vote: its memory is full (OOM)"),
       FOUND(REFUSES, UNUSABLE, "its memory is full (OOM)")}}},

    {"quarantine_is_reported_in_the_words_of_the_manager",
     {{WELL_BUT(.quarantine_ms = 299000, .error = "does not vote for another 299 s"),
       FOUND(QUARANTINE, NO_VOTE, "another 299 s")},
      {WELL_BUT(.quarantine_ms = UINT64_MAX, .error = "does not vote for another 299 s"),
       FIXED(QUARANTINE, NO_VOTE, "does not vote", "Fix the cause that this finding names.")},
      {WELL_BUT(.quarantine_ms = UINT64_MAX, .quarantine_ends = 1, .error = "does not vote"),
       FIXED(QUARANTINE, NO_VOTE, "does not vote",
             "Wait; or use quarantine=lenient, if no lock from before can still be held.")}}},

    /* Under a policy that quarantines it there is one finding, not two. */
    {"eviction_is_worse_when_the_vote_does_not_count",
     {{WELL_BUT(.eviction = "volatile-lru"), NOTHING},
      {WELL_BUT(.eviction = "volatile-lru", .maxmemory = 1000000),
       FIXED(
           EVICTION, WARNING, "volatile-lru",
           "CONFIG SET maxmemory-policy noeviction, and set the same in its configuration file.")},
      {WELL_BUT(.eviction = "volatile-lru", .maxmemory = 1000000, .quarantine_ms = UINT64_MAX,
                .error = "does not vote: it may evict keys"),
       FOUND(EVICTION, NO_VOTE, "does not vote")}}},

    {"memory_that_is_nearly_full_is_reported",
     {{WELL_BUT(.maxmemory = 100 << 20, .used_memory = 89 << 20), NOTHING},
      {WELL_BUT(.maxmemory = 100 << 20, .used_memory = 91 << 20),
       FOUND(MEMORY, WARNING, "91 MiB of 100 MiB")},
      {WELL_BUT(.maxmemory = 1, .used_memory = 1300000),
       FOUND(MEMORY, WARNING, "1269 KiB of 1 bytes")},
      {WELL_BUT(.maxmemory = UINT64_MAX, .used_memory = UINT64_MAX),
       FOUND(MEMORY, WARNING, "memory")}}},

    {"replicas_are_noted_and_failover_is_a_warning",
     {{WELL_BUT(.replicas = 2), FOUND(REPLICAS, FINE, "2 replicas")},
      {WELL_BUT(.promoted = 1), FOUND(PROMOTED, WARNING, "was a replica")},
      {WELL_BUT(.min_replicas = 1), FOUND(MIN_REPLICAS, WARNING, "fewer than 1")}}},

    {"the_connection_and_the_product_are_noted",
     {{WELL_BUT(.remote = 1), FOUND(PLAINTEXT, FINE, "plain text")},
      {WELL_BUT(.ping_max_us = 250001), FOUND(SLOW, WARNING, "250 ms")},
      {WELL_BUT(.ping_max_us = 250000, .product = "valkey"), NOTHING},
      {WELL_BUT(.product = "dragonfly"), FOUND(PRODUCT, FINE, "dragonfly")}}},

    {"a_name_of_several_addresses_is_a_warning",
     {{WELL_BUT(.addresses = "10.0.0.1, 10.0.0.2"),
       FIXED(SEVERAL, WARNING, "several addresses (10.0.0.1, 10.0.0.2)",
             "Give each server a name of its own, or list this one by one address.")}}},

    {"a_subscriber_connection_that_fails_is_a_warning",
     {{WELL_BUT(.subscriber = "refused the connection that wakes waiters"),
       FOUND(SUBSCRIBER, WARNING, "refused the connection that wakes waiters")}}},

    {"tls_that_nobody_verifies_is_a_warning",
     {{WELL_BUT(.remote = 1, .tls = "TLSv1.3, verified"), NOTHING},
      {WELL_BUT(.tls = "TLSv1.3, not verified"), FOUND(UNVERIFIED, WARNING, "verify=none")}}},

    {"a_database_that_is_denied_makes_a_master_unusable",
     {{WELL_BUT(.database = 3, .database_denied = 1),
       FIXED(DATABASE, UNUSABLE, "the user app database 3", "ACL SETUSER app db=3")}}},
};

TEST_ROWS(a_fact, facts)
{
    const struct fact *f;

    for (f = facts[_i].facts; f < facts[_i].facts + 4 && f->x.name != NULL; f++) {
        judge(&f->x);
        if (f->kind < 0) {
            ck_assert_uint_eq(notes.n, 0);
            ck_assert_int_eq(notes.worst, REDLOCK_FINE);
        } else {
            must_have_found_only((enum redlock_finding_kind)f->kind, f->severity, f->words);
        }
        if (f->fix != NULL) {
            ck_assert_str_eq(notes.finding[0].fix, f->fix);
        }
    }
}

/* tests/unit/test_trouble.c has the findings about a master that does not answer. */
TEST(a_trouble_of_a_master_that_answers_is_a_warning)
{
    struct redlock_examined x = well();

    judge_for(&x, RLK_TROUBLE_MARK_SPOILT);
    must_have_found_only(REDLOCK_FOUND_REFUSES, REDLOCK_WARNING, "is not a string");
    ck_assert_str_eq(notes.finding[0].fix, "Delete that key.");
    judge_for(&x, RLK_TROUBLE_TLS_FILES);
    must_have_found_only(REDLOCK_FOUND_TLS, REDLOCK_WARNING, "the former certificates");
    ck_assert_str_eq(notes.finding[0].fix, "Put files in their place that belong together.");
}

TEST(a_connected_master_that_does_not_answer_is_silent)
{
    struct redlock_examined x = lost(REDLOCK_NODE_UNRESPONSIVE, "has not replied for 500 ms");

    judge_for(&x, RLK_TROUBLE_UNRESPONSIVE);
    must_have_found_only(REDLOCK_FOUND_UNRESPONSIVE, REDLOCK_UNUSABLE, "for 500 ms");
    x = lost(REDLOCK_NODE_UP, "");
    must_find_only(&x, REDLOCK_FOUND_UNRESPONSIVE, REDLOCK_UNUSABLE, "has not replied");
    x = lost(REDLOCK_NODE_CONNECTING, "is still being connected");
    judge_for(&x, RLK_TROUBLE_CONNECTING);
    must_have_found_only(REDLOCK_FOUND_DOWN, REDLOCK_UNUSABLE, "being connected");
}

TEST(without_quarantine_only_the_durable_are_fine)
{
    static const struct {
        int aof;
        const char *fsync;
        int fails;
        bool forgets;
    } cases[] = {{0, "", 0, true},        {1, "everysec", 0, true}, {1, "no", 0, true},
                 {1, "", 0, true},        {-1, "", 0, true},        {1, "always", 1, true},
                 {1, "always", 0, false}, {0, "always", 0, true}};
    size_t i;

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct redlock_examined x = well();

        x.aof = cases[i].aof;
        x.fsync = cases[i].fsync;
        x.disk_fails = cases[i].fails;
        x.policy = REDLOCK_QUARANTINE_OFF;
        judge(&x);
        ck_assert_int_eq(find(REDLOCK_FOUND_VOLATILE) != NULL, cases[i].forgets);
        ck_assert_int_eq(find(REDLOCK_FOUND_DISK) != NULL, cases[i].fails);
        x.policy = REDLOCK_QUARANTINE_STRICT;
        judge(&x);
        ck_assert_ptr_null(find(REDLOCK_FOUND_VOLATILE));
    }
}

/* Of a reply that is outstanding at the end only the least time that it took is known. */
TEST(a_ping_without_an_answer_counts_if_none_took_longer)
{
    static const struct rlk_reply nil = {.str = ""};
    static struct rlk_checkup p;
    const struct rlk_heard heard = {.context = &p, .reply = &nil};
    struct redlock_examined x;
    unsigned i;

    rlk_checkup_init(&p);
    rlk_checkup_end(&p, 0, 900);
    ck_assert_uint_eq(p.pings, 0);
    for (i = 0; i < RLK_CHECKUP_LINES; i++) {
        if (rlk_checkup_lines[i].take) {
            rlk_checkup_lines[i].take(&heard);
        }
    }
    p.answered = true;
    rlk_checkup_take_time(&p, &nil, 1000, 1300);
    rlk_checkup_take_time(&p, &nil, 2000, 2100);
    rlk_checkup_end(&p, 3000, 3300);
    ck_assert_uint_eq(p.pings, 2);
    rlk_checkup_end(&p, 3000, 303000);
    rlk_checkup_write(&p, &x);
    ck_assert_uint_eq(x.pings, 3);
    ck_assert_uint_eq(x.ping_min_us, 100);
    ck_assert_uint_eq(x.ping_median_us, 300);
    ck_assert_uint_eq(x.ping_max_us, 300000);
    ck_assert_int_eq(x.answered, 1);
}

/* ---- rights ---- */

TEST(each_missing_right_has_its_cost_and_its_fix)
{
    unsigned i, seen = 0;

    ck_assert_uint_eq(rlk_rights_count, 22);
    for (i = 0; i < rlk_rights_count; i++) {
        struct redlock_examined x = well();
        char fix[160];

        seen |= rlk_rights[i].bit;
        x.denied = rlk_rights[i].bit;
        snprintf(fix, sizeof(fix), "ACL SETUSER app %s", rlk_rights[i].acl);
        must_find_only(&x, REDLOCK_FOUND_RIGHTS, rlk_rights[i].severity, rlk_rights[i].cost);
        ck_assert_str_eq(notes.finding[0].fix, fix);
        x.denied = 0;
        x.missing = rlk_rights[i].bit;
        must_find_only(&x, REDLOCK_FOUND_RIGHTS, rlk_rights[i].severity, rlk_rights[i].command);
    }
    ck_assert_uint_eq(seen, (1U << rlk_rights_count) - 1);
}

/* All rights at once: nothing is cut, and the worst severity counts. */
TEST(all_missing_rights_are_fixed_by_one_command)
{
    struct redlock_examined x = well();

    x.denied = (1U << rlk_rights_count) - 1;
    judge(&x);
    ck_assert_uint_eq(notes.n, 1);
    ck_assert_int_eq(notes.worst, REDLOCK_UNUSABLE);
    ck_assert_str_eq(notes.finding[0].fix,
                     "ACL SETUSER app +set +get +del +pexpire +pttl +mget +eval +evalsha "
                     "+script|load "
                     "+time +info +client|setname +client|kill +config|get +hello "
                     "+publish +subscribe &*redlock:wake:* +client|tracking +client|caching "
                     "+client|id +exists &__redis__:invalidate +zadd +zcard +zrange +zrank "
                     "+zrem +zscore +xadd");
    ck_assert_ptr_nonnull(strstr(notes.finding[0].text, rlk_rights[rlk_rights_count - 1].cost));
}

/* The whole command, for whom it is pasted. */
TEST_LOOP(the_least_rights_are_one_command, 0, 5)
{
    static const char commands[] =
        " -@all +set +get +del +pexpire +pttl +mget +eval +evalsha +script|load +time +info "
        "+client|setname +client|kill +config|get +hello +publish +subscribe +client|tracking "
        "+client|caching +client|id +exists +zadd +zcard +zrange +zrank +zrem +zscore";
    static const struct {
        struct rlk_rights_user user;
        const char *begin, *end;
    } rows[] = {
        {{"ann", "app:", 0, true, true, false, " +delex"},
         "ACL SETUSER ann on clearselectors resetkeys ~app:* resetchannels &app:redlock:wake:* "
         "&__redis__:invalidate",
         " +delex"},
        {{"ann", "a*[b]?\\:", 0, true, false, false, ""},
         "ACL SETUSER ann on resetkeys ~a\\*\\[b\\]\\?\\\\:* resetchannels "
         "&a\\*\\[b\\]\\?\\\\:redlock:wake:* &__redis__:invalidate",
         ""},
        {{"ann", "", 3, false, false, false, ""}, "ACL SETUSER ann on resetkeys ~*", " +select"},
        {{"default", "", 0, false, false, false, ""},
         "ACL SETUSER redlock >PASSWORD on resetkeys ~*",
         ""},
        {{"ann", "", 0, false, false, true, ""},
         "ACL SETUSER ann on resetkeys ~*",
         " +xadd +xrevrange"},
    };
    char want[1024], got[1024];

    snprintf(want, sizeof(want), "%s%s%s", rows[_i].begin, commands, rows[_i].end);
    rlk_rights_write(&rows[_i].user, got, sizeof(got));
    ck_assert_str_eq(got, want);
    rlk_rights_write(&rows[_i].user, got, strlen(want));
    ck_assert_str_eq(got, "");
    rlk_rights_write(&rows[_i].user, got, strlen(want) + 1);
    ck_assert_str_eq(got, want);
}

/* The prefix may be wrong as well as the rights. */
TEST(denied_keys_matter_most_under_our_prefix)
{
    const struct rlk_diagnosis_context prefixed = {.key_prefix = "job:", .node_timeout_us = 500000};
    const struct rlk_trouble none = {.kind = RLK_TROUBLE_NONE};
    struct redlock_examined x = well();

    x.keys_denied = 1;
    rlk_diagnose_node(&x, &none, 3, &prefixed, &notes);
    must_find(REDLOCK_FOUND_KEYS, REDLOCK_UNUSABLE, "the keys that begin with job:redlock:");
    ck_assert_str_eq(notes.finding[0].fix,
                     "Is the key prefix right (now: job:)? If it is: ACL SETUSER app ~job:*");
    x.lock_keys_denied = 1;
    rlk_diagnose_node(&x, &none, 3, &prefixed, &notes);
    ck_assert_str_eq(notes.finding[0].text, "denies the user app the keys that begin with job:");
    x.keys_denied = 0;
    rlk_diagnose_node(&x, &none, 3, &prefixed, &notes);
    must_find(REDLOCK_FOUND_KEYS, REDLOCK_UNUSABLE, "begin with job:");
    ck_assert(!rlk_diagnose_missing_prefix(&x, "job:"));
}

/* A user for some keys by name may be meant; one that has neither the keys of locks nor ours has
 * probably a prefix. */
TEST_LOOP(denied_keys_without_a_prefix_ask_for_the_prefix, 0, 3)
{
    static const struct {
        int ours, locks;
        enum redlock_severity severity;
        const char *text, *fix;
    } rows[] = {
        {1, 1, REDLOCK_UNUSABLE, "those of locks", "Is the key prefix right (now: none)?"},
        {1, 0, REDLOCK_WARNING, "begin with redlock:", "ACL SETUSER app ~redlock:*"},
        {0, 1, REDLOCK_WARNING, "such as doctor:", "Is the key prefix right (now: none)?"},
    };
    struct redlock_examined x = well();

    x.keys_denied = rows[_i].ours;
    x.lock_keys_denied = rows[_i].locks;
    must_find_only(&x, REDLOCK_FOUND_KEYS, rows[_i].severity, rows[_i].text);
    ck_assert_ptr_nonnull(strstr(notes.finding[0].fix, rows[_i].fix));
    ck_assert_ptr_null(strstr(notes.finding[0].fix, "~*"));
    ck_assert(rlk_diagnose_missing_prefix(&x, ""));
}

/* Everything that can be wrong with one master, and texts as long as they can be. */
TEST(there_is_room_for_all_findings_at_once)
{
    static char prefix[1024], user[64], refusal[160], error[256];
    const struct rlk_diagnosis_context long_norms = {.key_prefix = prefix, .node_timeout_us = 1};
    struct redlock_examined x = well();
    size_t i;

    memset(prefix, 'p', sizeof(prefix) - 1);
    memset(user, 'u', sizeof(user) - 1);
    memset(refusal, 'r', sizeof(refusal) - 1);
    memset(error, 'e', sizeof(error) - 1);
    x.user = user;
    x.refusal = refusal;
    x.error = error;
    x.role = x.eviction = x.product = "something-that-is-long";
    x.denied = x.missing = (1U << rlk_rights_count) - 1;
    x.keys_denied = x.database_denied = x.disk_fails = x.promoted = x.remote = 1;
    x.quarantine_ms = 5;
    x.maxmemory = x.used_memory = 1000000;
    x.replicas = x.min_replicas = 1000;
    x.replay_errors = INT64_MAX;
    x.policy = REDLOCK_QUARANTINE_OFF;
    rlk_diagnose_node(&x, &(struct rlk_trouble){.kind = RLK_TROUBLE_MARK_SPOILT}, 0, &long_norms,
                      &notes);
    ck_assert_uint_lt(notes.n, RLK_NOTES_MAX);
    ck_assert_uint_lt(notes.used, sizeof(notes.buffer) - 1);
    for (i = 0; i < notes.n; i++) {
        ck_assert_str_ne(notes.finding[i].text, "");
        ck_assert_str_ne(notes.finding[i].code, "");
    }
}

TEST(notes_without_room_are_cut_and_not_overrun)
{
    static char text[RLK_NOTES_SIZE];
    size_t i;

    memset(text, 'x', sizeof(text) - 1);
    rlk_notes_begin(&notes, 0);
    for (i = 0; i < RLK_NOTES_MAX + 3; i++) {
        rlk_note(&notes, REDLOCK_FOUND_DOWN, "%.1900s", text);
    }
    ck_assert_uint_eq(notes.n, RLK_NOTES_MAX);
    ck_assert_uint_eq(strlen(notes.finding[1].text), 1900);
    ck_assert_uint_eq(strlen(notes.finding[2].text), RLK_NOTES_SIZE - 2 * 1901 - 1);
    ck_assert_str_eq(notes.finding[3].text, "");
}

/* ---- all of them ---- */

static void set_up(size_t n)
{
    size_t i;

    for (i = 0; i < n; i++) {
        nodes[i] = well();
        node_list[i] = &nodes[i];
    }
    report =
        (struct redlock_report){.nodes = node_list, .n_nodes = n, .clock_error_us = UINT64_MAX};
    record = (struct rlk_diagnosis_record){.on_record = "", .here = ""};
}

static void judge_set(void)
{
    rlk_diagnose_set(&report, &record, &notes);
}

/* [M8] A fourth one joins three: until it votes, two of the three are enough. */
TEST(during_a_change_of_the_number_a_majority_is_that_of_the_old_masters)
{
    set_up(4);
    nodes[3].verdict = REDLOCK_NO_VOTE;
    nodes[3].quarantine_ms = 1000;
    record.quorum_now = 2;
    judge_set();
    ck_assert_uint_eq(report.quorum, 2);
    ck_assert_uint_eq(report.voting, 3);
    ck_assert(find(REDLOCK_FOUND_NO_SPARE) == NULL);
}

/* Four of seven are needed, and three are known yet: the others are not lost. */
TEST(masters_that_are_not_found_yet_are_not_missing)
{
    set_up(3);
    record.quorum_now = 4;
    judge_set();
    ck_assert_uint_eq(report.quorum, 2);
    ck_assert(find(REDLOCK_FOUND_NO_MAJORITY) == NULL);
}

/* Each master of up to five votes, waits, or is unusable for one of two reasons. */
TEST(majorities_are_counted)
{
    size_t n, way, ways, i;

    for (n = 3, ways = 64; n <= 5; n++, ways *= 4) {
        for (way = 0; way < ways; way++) {
            size_t voting = 0, usable = 0;

            set_up(n);
            for (i = 0; i < n; i++) {
                size_t how = way >> (2 * i) & 3;

                nodes[i].verdict = how == 0   ? REDLOCK_WARNING
                                   : how == 3 ? REDLOCK_UNUSABLE
                                              : REDLOCK_NO_VOTE;
                nodes[i].quarantine_ms = how == 1 ? 1000 : how == 2 ? UINT64_MAX : 0;
                voting += how == 0;
                usable += how < 2;
            }
            judge_set();
            ck_assert_uint_eq(report.quorum, n / 2 + 1);
            ck_assert_uint_eq(report.voting, voting);
            ck_assert_uint_eq(report.usable, usable);
            ck_assert_int_eq(find(REDLOCK_FOUND_NO_MAJORITY) != NULL, usable < n / 2 + 1);
            ck_assert_int_eq(find(REDLOCK_FOUND_NOT_YET) != NULL,
                             usable > n / 2 && voting < n / 2 + 1);
            ck_assert_int_eq(find(REDLOCK_FOUND_NO_SPARE) != NULL,
                             usable == n / 2 + 1 && voting == n / 2 + 1);
        }
    }
}

TEST(the_wait_lasts_until_a_majority_votes)
{
    static const uint64_t ms[] = {9000, 2000, 7000, UINT64_MAX, 500};
    size_t i;

    set_up(5);
    for (i = 0; i < 5; i++) {
        nodes[i].verdict = REDLOCK_NO_VOTE;
        nodes[i].quarantine_ms = ms[i];
    }
    judge_set();
    must_find(REDLOCK_FOUND_NOT_YET, REDLOCK_NO_VOTE, "another 7 s");
}

TEST(the_wait_for_a_rewrite_has_no_known_end)
{
    size_t i;

    set_up(3);
    for (i = 0; i < 2; i++) {
        nodes[i].verdict = REDLOCK_NO_VOTE;
        nodes[i].quarantine_ms = UINT64_MAX;
        nodes[i].quarantine_ends = 1;
    }
    judge_set();
    ck_assert_uint_eq(report.usable, 3);
    must_find(REDLOCK_FOUND_NOT_YET, REDLOCK_NO_VOTE, "No lock can be acquired yet");
}

TEST(small_and_even_numbers_of_masters_are_reported)
{
    size_t n;

    for (n = 1; n <= MOST; n++) {
        set_up(n);
        judge_set();
        ck_assert_int_eq(find(REDLOCK_FOUND_FEW) != NULL, n <= 2);
        ck_assert_int_eq(find(REDLOCK_FOUND_EVEN) != NULL, n > 2 && n % 2 == 0);
        ck_assert_uint_eq(notes.n, n <= 2 || n % 2 == 0);
    }
}

TEST(clocks_that_are_apart_are_reported_by_name)
{
    set_up(3);
    nodes[0].name = "A";
    nodes[0].clock_us = -700000;
    nodes[1].clock_us = 200000;
    judge_set();
    ck_assert_ptr_null(find(REDLOCK_FOUND_CLOCKS));
    nodes[2].name = "C";
    nodes[2].clock_us = 300201;
    judge_set();
    must_find(REDLOCK_FOUND_CLOCKS, REDLOCK_WARNING, "1.0 s apart: C is ahead, A is behind");
    nodes[2].clock_error_us = UINT64_MAX;
    judge_set();
    ck_assert_ptr_null(find(REDLOCK_FOUND_CLOCKS));
    nodes[2].clock_error_us = 101;
    judge_set();
    ck_assert_ptr_null(find(REDLOCK_FOUND_CLOCKS));
}

TEST(our_own_clock_is_reported)
{
    set_up(3);
    report.clock_us = -61200000;
    judge_set();
    ck_assert_uint_eq(notes.n, 0);
    report.clock_error_us = 1000;
    judge_set();
    must_find(REDLOCK_FOUND_OWN_CLOCK, REDLOCK_WARNING, "61.2 s behind that of the masters");
    report.clock_us = 61200000;
    judge_set();
    must_find(REDLOCK_FOUND_OWN_CLOCK, REDLOCK_WARNING, "61.2 s ahead of that of the masters");
    report.clock_us = 1000000;
    judge_set();
    ck_assert_uint_eq(notes.n, 0);
}

TEST(different_policies_and_duplicates_are_findings_about_all)
{
    set_up(3);
    nodes[2].policy = REDLOCK_QUARANTINE_OFF;
    judge_set();
    must_find(REDLOCK_FOUND_POLICIES, REDLOCK_FINE, "policy");
    set_up(3);
    report.findings = findings;
    report.n_findings = 1;
    findings[0] = &(struct redlock_finding){.node = 1, .kind = REDLOCK_FOUND_DUPLICATE};
    judge_set();
    must_find(REDLOCK_FOUND_SAME_SERVERS, REDLOCK_UNUSABLE, "listed twice");
    ck_assert_int_eq(notes.finding[0].node, -1);
}

TEST(other_masters_on_record_are_a_finding_with_both_lists)
{
    set_up(3);
    record = (struct rlk_diagnosis_record){.info = {.state = REDLOCK_RECORD_OTHER,
                                                    .error = "it differs",
                                                    .epoch = 1,
                                                    .max_ttl_ms = 1000},
                                           .max_ttl_ms = 2000,
                                           .on_record = "A, B",
                                           .here = "A, C"};
    nodes[0].verdict = nodes[1].verdict = nodes[2].verdict = REDLOCK_NO_VOTE;
    nodes[0].quarantine_ms = nodes[1].quarantine_ms = nodes[2].quarantine_ms = UINT64_MAX;
    judge_set();
    must_find(REDLOCK_FOUND_RECORD, REDLOCK_UNUSABLE,
              "No lock can be acquired: it differs. On record (max-ttl 1000 ms): A, B. Given here "
              "(max-ttl 2000 ms): A, C");
    ck_assert_ptr_null(find(REDLOCK_FOUND_NO_MAJORITY));
    ck_assert_int_eq(notes.finding[0].node, -1);
}

/* One that cannot be read is another finding. */
TEST(a_record_that_some_masters_lack_is_a_warning)
{
    size_t shown_by;

    for (shown_by = 1; shown_by <= 3; shown_by++) {
        set_up(3);
        record.info = (struct redlock_record_info){.state = REDLOCK_RECORD_AGREED,
                                                   .error = "",
                                                   .epoch = 1,
                                                   .shown_by = shown_by,
                                                   .readable = 2};
        judge_set();
        ck_assert_int_eq(find(REDLOCK_FOUND_RECORD) != NULL, shown_by < 2);
    }
    record.info.shown_by = 1;
    judge_set();
    must_find(REDLOCK_FOUND_RECORD, REDLOCK_WARNING, "on 1 of the 2 that can show it");
    record.info =
        (struct redlock_record_info){.state = REDLOCK_RECORD_NONE, .error = "", .readable = 2};
    judge_set();
    ck_assert_uint_eq(notes.n, 0);
}

/* It does not vote, and may again without being changed. */
static struct redlock_examined without_vote(const char *error)
{
    struct redlock_examined x = well();

    x.quarantine_ms = UINT64_MAX;
    x.quarantine_ends = 1;
    x.error = error;
    return x;
}

/* Of a client with another list, no master votes, and the cause is said once. */
TEST(a_master_does_not_vote_for_a_client_with_another_list)
{
    struct rlk_diagnosis_context context = norms;
    struct redlock_examined x = without_vote("does not vote: so");
    const struct rlk_trouble t = {.kind = RLK_TROUBLE_NONE};

    context.record_differs = true;
    rlk_diagnose_node(&x, &t, 3, &context, &notes);
    must_have_found_only(REDLOCK_FOUND_QUARANTINE, REDLOCK_NO_VOTE, "does not vote: so");
    ck_assert_str_eq(notes.finding[0].fix, "See the finding about the record of the masters.");
}

/* A lenient policy does not help there. */
TEST(a_record_that_nobody_confirms_is_no_reason_to_be_lenient)
{
    const struct rlk_trouble unconfirmed = {.kind = RLK_TROUBLE_UNCONFIRMED_RECORD};
    struct redlock_examined x = without_vote("does not vote: too few masters reply");

    rlk_diagnose_node(&x, &unconfirmed, 3, &norms, &notes);
    must_find(REDLOCK_FOUND_QUARANTINE, REDLOCK_NO_VOTE, "too few masters reply");
    ck_assert_str_eq(notes.finding[0].fix, "Fix the masters that do not reply.");
}

TEST(a_record_that_is_denied_is_a_warning)
{
    struct redlock_examined x = well();

    x.record_denied = 1;
    must_find_only(&x, REDLOCK_FOUND_UNRECORDED, REDLOCK_WARNING,
                   "denies the user app the key redlock:masters");
    ck_assert_str_eq(notes.finding[0].fix, "ACL SETUSER app ~redlock:masters");
    x.keys_denied = 1;
    judge(&x);
    ck_assert_ptr_null(find(REDLOCK_FOUND_UNRECORDED));
    ck_assert_ptr_nonnull(find(REDLOCK_FOUND_KEYS));
}

/* The words of the kinds never change, and no two kinds have the same word. */
TEST(every_kind_has_a_word_of_its_own)
{
    int a, b, n = 0;

    for (a = 0; a < 100; a++) {
        const char *word = rlk_finding_row((enum redlock_finding_kind)a)->code;

        n += word[0] != '\0';
        for (b = 0; b < a && word[0]; b++) {
            ck_assert_str_ne(word, rlk_finding_row((enum redlock_finding_kind)b)->code);
        }
    }
    ck_assert_int_eq(n, 37);
    ck_assert_str_eq(rlk_finding_row((enum redlock_finding_kind) - 1)->code, "");
    ck_assert_str_eq(rlk_finding_row(REDLOCK_FOUND_EVICTION)->code, "eviction");
}
