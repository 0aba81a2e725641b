/* io/test_versions.c - a program and a library that were built with different headers.
 *
 * Structs of the past are kept here unchanged. Each lives in memory of exactly its size, so that
 * the sanitizer finds every access beyond it. The compile-time assertions hold as long as fields
 * are only appended: a change that breaks one of them breaks programs that were built before. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "io/farm.h"
#include "lib/test.h"

SUITE("versions");

/* ---- structs of the past ---- */

struct options_least {
    size_t size;
    const char *const *nodes;
    size_t n_nodes;
};

struct options_first {
    size_t size;
    const char *const *nodes;
    size_t n_nodes;
    const char *username, *password, *key_prefix, *client_name;
    uint32_t node_timeout_ms, connect_timeout_ms, max_ttl_ms, drift_ppm;
};

struct options_0_1 {
    size_t size;
    const char *const *nodes;
    size_t n_nodes;
    const char *username, *password, *key_prefix, *client_name;
    uint32_t node_timeout_ms, connect_timeout_ms, max_ttl_ms, drift_ppm;
    enum redlock_quarantine quarantine;
    uint32_t inspection_ms;
    char *error_text;
    size_t error_text_size;
};

struct request_least {
    size_t size;
    const char *key;
    size_t key_len;
    uint32_t ttl_ms, wait_ms;
};

struct request_0_1 {
    size_t size;
    const char *key;
    size_t key_len;
    uint32_t ttl_ms, wait_ms, retry_min_ms, retry_max_ms, max_retries, min_validity_ms;
    const char *owner;
    const char *const *keys;
    size_t n_keys;
    int renew, needs_heartbeat;
    uint32_t max_hold_ms, max_renewals;
    int fencing;
    redlock_notice_cb *notice_cb;
    void *notice_arg;
};

struct info_least {
    size_t size;
    const char *name;
    enum redlock_node_state state;
    uint64_t down_ms;
};

struct info_0_1 {
    size_t size;
    const char *name;
    enum redlock_node_state state;
    uint64_t down_ms;
    const char *error, *server;
    uint64_t quarantine_ms, rtt_us;
};

struct detail_0_1 {
    size_t size;
    enum redlock_vote vote;
    const char *holder, *error;
};

struct notice_0_1 {
    size_t size;
    enum redlock_notice_kind kind;
    int reason;
    uint64_t left_ms;
};

struct query_node_0_1 {
    size_t size;
    enum redlock_query_reply reply;
    const char *token;
    uint64_t ttl_ms;
    const char *error;
    uint64_t counter;
};

struct query_result_0_1 {
    size_t size;
    const struct redlock_query_node *const *nodes;
    size_t n_nodes, answered, holding;
    const char *token, *owner;
    uint64_t ttl_ms;
    int held;
    uint64_t fencing_token;
};

struct finding_0_1 {
    size_t size;
    int node;
    enum redlock_severity severity;
    enum redlock_finding_kind kind;
    const char *code, *text, *fix;
};

struct report_0_1 {
    size_t size;
    const struct redlock_examined *const *nodes;
    size_t n_nodes;
    const struct redlock_finding *const *findings;
    size_t n_findings;
    enum redlock_severity verdict;
    size_t quorum, voting, usable;
    int64_t clock_us;
    uint64_t clock_error_us;
};

#define SAME(past, present, field)                                                                 \
    _Static_assert(offsetof(struct past, field) == offsetof(struct present, field),                \
                   #field " has moved")

SAME(options_0_1, redlock_options, nodes);
SAME(options_0_1, redlock_options, n_nodes);
SAME(options_0_1, redlock_options, username);
SAME(options_0_1, redlock_options, password);
SAME(options_0_1, redlock_options, key_prefix);
SAME(options_0_1, redlock_options, client_name);
SAME(options_0_1, redlock_options, node_timeout_ms);
SAME(options_0_1, redlock_options, connect_timeout_ms);
SAME(options_0_1, redlock_options, max_ttl_ms);
SAME(options_0_1, redlock_options, drift_ppm);
SAME(options_0_1, redlock_options, quarantine);
SAME(options_0_1, redlock_options, inspection_ms);
SAME(options_0_1, redlock_options, error_text);
SAME(options_0_1, redlock_options, error_text_size);
SAME(request_0_1, redlock_request, key);
SAME(request_0_1, redlock_request, key_len);
SAME(request_0_1, redlock_request, ttl_ms);
SAME(request_0_1, redlock_request, wait_ms);
SAME(request_0_1, redlock_request, retry_min_ms);
SAME(request_0_1, redlock_request, retry_max_ms);
SAME(request_0_1, redlock_request, max_retries);
SAME(request_0_1, redlock_request, min_validity_ms);
SAME(request_0_1, redlock_request, owner);
SAME(request_0_1, redlock_request, keys);
SAME(request_0_1, redlock_request, n_keys);
SAME(request_0_1, redlock_request, renew);
SAME(request_0_1, redlock_request, needs_heartbeat);
SAME(request_0_1, redlock_request, max_hold_ms);
SAME(request_0_1, redlock_request, max_renewals);
SAME(request_0_1, redlock_request, fencing);
SAME(request_0_1, redlock_request, notice_cb);
SAME(request_0_1, redlock_request, notice_arg);
SAME(info_0_1, redlock_node_info, name);
SAME(info_0_1, redlock_node_info, state);
SAME(info_0_1, redlock_node_info, down_ms);
SAME(info_0_1, redlock_node_info, error);
SAME(info_0_1, redlock_node_info, server);
SAME(info_0_1, redlock_node_info, quarantine_ms);
SAME(info_0_1, redlock_node_info, rtt_us);
SAME(detail_0_1, redlock_node_detail, vote);
SAME(detail_0_1, redlock_node_detail, holder);
SAME(detail_0_1, redlock_node_detail, error);
SAME(notice_0_1, redlock_notice, kind);
SAME(notice_0_1, redlock_notice, reason);
SAME(notice_0_1, redlock_notice, left_ms);
SAME(query_node_0_1, redlock_query_node, reply);
SAME(query_node_0_1, redlock_query_node, token);
SAME(query_node_0_1, redlock_query_node, ttl_ms);
SAME(query_node_0_1, redlock_query_node, error);
SAME(query_node_0_1, redlock_query_node, counter);
SAME(query_result_0_1, redlock_query_result, nodes);
SAME(query_result_0_1, redlock_query_result, n_nodes);
SAME(query_result_0_1, redlock_query_result, answered);
SAME(query_result_0_1, redlock_query_result, holding);
SAME(query_result_0_1, redlock_query_result, token);
SAME(query_result_0_1, redlock_query_result, owner);
SAME(query_result_0_1, redlock_query_result, ttl_ms);
SAME(query_result_0_1, redlock_query_result, held);
SAME(query_result_0_1, redlock_query_result, fencing_token);
SAME(finding_0_1, redlock_finding, node);
SAME(finding_0_1, redlock_finding, severity);
SAME(finding_0_1, redlock_finding, kind);
SAME(finding_0_1, redlock_finding, code);
SAME(finding_0_1, redlock_finding, text);
SAME(finding_0_1, redlock_finding, fix);
SAME(report_0_1, redlock_report, nodes);
SAME(report_0_1, redlock_report, n_nodes);
SAME(report_0_1, redlock_report, findings);
SAME(report_0_1, redlock_report, n_findings);
SAME(report_0_1, redlock_report, verdict);
SAME(report_0_1, redlock_report, quorum);
SAME(report_0_1, redlock_report, voting);
SAME(report_0_1, redlock_report, usable);
SAME(report_0_1, redlock_report, clock_us);
SAME(report_0_1, redlock_report, clock_error_us);

/* A field that is appended into padding at the end would lie inside the size of the older
 * struct: so no version ends with padding. */
#define FULL(name, last)                                                                           \
    _Static_assert(offsetof(struct name, last) + sizeof(((struct name *)0)->last) ==               \
                       sizeof(struct name),                                                        \
                   "there is padding behind " #last)

FULL(options_0_1, error_text_size);
FULL(request_0_1, notice_arg);
FULL(info_0_1, rtt_us);
FULL(detail_0_1, error);
FULL(notice_0_1, left_ms);

/* ---- what they do ---- */

static struct farm f;

static void setup(void)
{
    farm_start(&f, 3, FAKE_UNIX);
}

static void teardown(void)
{
    farm_end(&f);
}

/* Memory of exactly this size, filled with bytes that no program would put there. */
static void *exactly(size_t size)
{
    void *memory = malloc(size);

    ck_assert_ptr_nonnull(memory);
    memset(memory, 0x5a, size);
    return memory;
}

static struct redlock_options *past_options(size_t size)
{
    struct redlock_options *options = exactly(size);

    redlock_options_init_sized(options, size);
    options->nodes = f.uris;
    options->n_nodes = f.n;
    return options;
}

static struct redlock_request *past_request(size_t size)
{
    struct redlock_request *request = exactly(size);

    redlock_request_init_sized(request, size);
    request->key = "k";
    return request;
}

FIXTURE(setup, teardown);

/* The other limits are those of the defaults. */
TEST_LOOP(options_of_the_past_leave_the_rest_to_the_defaults, 0, 3)
{
    static const size_t sizes[] = {sizeof(struct options_least), sizeof(struct options_first),
                                   sizeof(struct options_0_1)};
    struct redlock_options *options = past_options(sizes[_i]);
    struct redlock_request request;

    ck_assert_int_eq(redlock_new(f.base, options, &f.rl), REDLOCK_OK);
    free(options);
    redlock_request_init(&request);
    request.key = "k";
    request.ttl_ms = 300001;
    ck_assert_int_eq(redlock_acquire(f.rl, &request, outcome_on_acquired, NULL, NULL),
                     REDLOCK_ETTL);
}

TEST(options_of_the_future_are_taken_while_the_rest_is_zero)
{
    size_t size = sizeof(struct redlock_options) + 24, i;
    struct redlock_options *options = past_options(size);
    char text[256];

    options->error_text = text;
    options->error_text_size = sizeof(text);
    for (i = sizeof(*options); i < size; i++) {
        ((char *)options)[i] = 1;
        ck_assert_int_eq(redlock_new(f.base, options, &f.rl), REDLOCK_EINVAL);
        ck_assert_ptr_nonnull(strstr(text, "does not know; the program"));
        ((char *)options)[i] = 0;
    }
    ck_assert_int_eq(redlock_new(f.base, options, &f.rl), REDLOCK_OK);
    ck_assert_str_eq(text, "");
    free(options);
}

TEST_LOOP(requests_of_the_past_leave_the_rest_to_the_defaults, 0, 2)
{
    static const size_t sizes[] = {sizeof(struct request_least), sizeof(struct request_0_1)};
    struct redlock_request *request = past_request(sizes[_i]);
    struct outcome got;

    farm_open(&f);
    got = farm_must_acquire_as(&f, request);
    free(request);
    ck_assert_int_eq(farm_release(&f, got.lock), REDLOCK_OK);
}

TEST(requests_of_the_future_are_taken_while_the_rest_is_zero)
{
    size_t size = sizeof(struct redlock_request) + 24, i;
    struct redlock_request *request = past_request(size);

    farm_open(&f);
    for (i = sizeof(*request); i < size; i++) {
        ((char *)request)[i] = 1;
        ck_assert_int_eq(redlock_acquire(f.rl, request, outcome_on_acquired, NULL, NULL),
                         REDLOCK_EINVAL);
        ck_assert_int_eq(redlock_adopt(f.rl, request, "t", outcome_on_acquired, NULL, NULL),
                         REDLOCK_EINVAL);
        ((char *)request)[i] = 0;
    }
    farm_must_acquire_as(&f, request);
    free(request);
}

TEST_LOOP(a_master_is_described_in_as_much_room_as_the_caller_has, 0, 3)
{
    static const size_t sizes[] = {sizeof(struct info_least), sizeof(struct info_0_1),
                                   sizeof(struct redlock_node_info) + 16};
    struct redlock_node_info *info = exactly(sizes[_i]);

    farm_open(&f);
    info->size = sizes[_i];
    ck_assert_int_eq(redlock_get_node_info(f.rl, 1, info), 0);
    ck_assert_uint_eq(info->size, sizes[_i]);
    ck_assert_int_eq(info->state, REDLOCK_NODE_UP);
    ck_assert_uint_eq(info->down_ms, 0);
    free(info);
}

TEST_LOOP(a_vote_is_described_in_as_much_room_as_the_caller_has, 0, 2)
{
    static const size_t sizes[] = {sizeof(struct detail_0_1),
                                   sizeof(struct redlock_node_detail) + 16};
    struct redlock_node_detail *detail = exactly(sizes[_i]);
    struct outcome got;

    farm_open(&f);
    got = farm_acquire(&f, "k");
    detail->size = sizes[_i];
    ck_assert_int_eq(redlock_lock_node(got.lock, 0, detail), 0);
    ck_assert_uint_eq(detail->size, sizes[_i]);
    ck_assert_int_eq(detail->vote, REDLOCK_VOTE_YES);
    ck_assert_str_eq(detail->error, "");
    free(detail);
}
