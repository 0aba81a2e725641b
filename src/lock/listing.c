/* listing.c - lists what is locked: scans each master, and asks all of them for each key.
 *
 *     a scan of each master ---> names, each once ---> a query of each ---> listed_cb
 *         (scan.h)                 (names.h)            (query.h)
 *
 * Scans and queries go on side by side, until the scans have ended and all names were asked for.
 * Both go at the pace of each master (core/pace.h): so a list costs a master no more than a fixed
 * part of its time, however many keys there are. A lock that was held all the time is on a majority
 * of the masters, and a majority has named all its keys: so some master has named it. */
#include <redlock/list.h>

#include <stdbool.h>
#include <string.h>

#include <redlock/error.h>

#include "base/alloc.h"
#include "base/mask.h"
#include "base/sized.h"
#include "base/time.h"
#include "core/pace.h"
#include "core/validity.h"
#include "lock/gather.h"
#include "lock/names.h"
#include "lock/query.h"
#include "lock/request.h"
#include "lock/scan.h"
#include "net/clock.h"

/* How many commands a query sends to each master, and how many are under way at once. */
#define LOOK_COST 4
#define MAX_ASKING 128

#define MIN_RATE 10
#define MAX_RATE 1000000
#define MAX_TIMEOUT_MS 86400000
#define MAX_KEYS 100000000

/* One master. */
struct part {
    struct rlk_scan scan;
    struct rlk_pace pace;
    uint64_t looks; /* that it has answered */
};

struct rlk_listing {
    struct rlk_gather gather; /* of the scans */
    struct redlock_list_options options;
    struct rlk_scan_user user; /* one reference until it is reported, and one for each query */
    struct rlk_names names;
    struct rlk_timer timer; /* when a pace allows more, or the time is over */
    uint64_t begun_us, until_us;
    unsigned asking; /* queries under way */
    uint64_t listed;
    int status; /* why it ends early */
    bool reported;
    char prefix[REDLOCK_MAX_KEY + 1];
    struct part parts[];
};

static struct rlk_listing *listing_of(struct rlk_gather *g)
{
    return RLK_CONTAINER(g, struct rlk_listing, gather);
}

static struct rlk_listing *listing_of_scan(const struct rlk_scan *s)
{
    return RLK_CONTAINER(s->user, struct rlk_listing, user);
}

static struct rlk_key key_prefix_of(const struct rlk_listing *l)
{
    return (struct rlk_key){l->gather.rl->options.key_prefix, l->gather.rl->options.key_prefix_len};
}

static void on_listing_unused(struct rlk_scan_user *user)
{
    struct rlk_listing *l = RLK_CONTAINER(user, struct rlk_listing, user);

    rlk_names_end(&l->names);
    rlk_free(l);
}

static bool is_ending(const struct rlk_listing *l)
{
    return l->status || l->gather.cancelled;
}

static void go_on(struct rlk_listing *l, uint64_t now_us);

/* ---- the scans ---- */

/* Masters that are connected and have not named all their keys. */
static uint64_t scanned_now(const struct rlk_listing *l)
{
    return l->gather.awaited & ~l->gather.connecting;
}

static bool name_begins_with(const struct rlk_key *name, const struct rlk_key *prefix)
{
    return name->len >= prefix->len && memcmp(name->bytes, prefix->bytes, prefix->len) == 0;
}

/* A lock has at least one byte behind the key_prefix. */
static void on_name(struct rlk_scan *s, const struct rlk_key *name)
{
    struct rlk_listing *l = listing_of_scan(s);
    const struct rlk_key key_prefix = key_prefix_of(l);

    if (l->status || name->len <= key_prefix.len || name->len > REDLOCK_MAX_KEY ||
        !name_begins_with(name, &l->user.prefix) || rlk_names_is_own(name, &key_prefix)) {
        return;
    }
    if (!rlk_names_add(&l->names, name)) {
        l->status = REDLOCK_ENOMEM;
    } else if (rlk_names_count(&l->names) > l->options.max_keys) {
        l->status = REDLOCK_ELIMIT;
    }
}

/* Between two steps no reply is awaited. */
static void on_stepped(struct rlk_scan *s, uint64_t now_us)
{
    struct rlk_listing *l = listing_of_scan(s);

    if (s->complete || s->error[0]) {
        rlk_gather_done(&l->gather, s->node->index);
    } else {
        rlk_gather_extend(&l->gather, s->node->index, RLK_NEVER);
    }
    go_on(l, now_us);
}

static void step_scan(struct rlk_listing *l, unsigned node, uint64_t now_us)
{
    struct rlk_gather *g = &l->gather;

    rlk_pace_charge(&l->parts[node].pace, RLK_SCAN_COST, now_us);
    if (rlk_scan_step(&l->parts[node].scan, now_us)) {
        rlk_gather_extend(g, node, rlk_time_add(now_us, g->rl->options.node_timeout_us));
    } else {
        rlk_gather_done(g, node);
    }
}

static void step_scans(struct rlk_listing *l, uint64_t now_us)
{
    uint64_t left = scanned_now(l);
    unsigned node;

    RLK_MASK_EACH (node, left) {
        if (!l->parts[node].scan.asking && rlk_pace_allows(&l->parts[node].pace, now_us)) {
            step_scan(l, node, now_us);
        }
    }
}

static void end_scans(struct rlk_listing *l)
{
    uint64_t left = l->gather.awaited;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        rlk_scan_end(&l->parts[node].scan, RLK_TROUBLE_SCAN_UNFINISHED);
        rlk_gather_done(&l->gather, node);
    }
}

/* ---- the queries ---- */

static void count_looks(struct rlk_listing *l, const struct redlock_query_result *result)
{
    size_t i;

    for (i = 0; i < result->n_nodes; i++) {
        l->parts[i].looks += result->nodes[i]->reply != REDLOCK_REPLY_NONE;
    }
}

/* A key that is gone by now is not passed on. */
static void pass_key(struct rlk_listing *l, const struct rlk_name *name,
                     const struct redlock_query_result *result)
{
    size_t skip = key_prefix_of(l).len;
    const struct redlock_listed listed = {.size = sizeof(listed),
                                          .key = name->bytes + skip,
                                          .key_len = name->entry.len - skip,
                                          .ours = rlk_claim_is_fresh(result->token),
                                          .result = result};

    if (result->holding > 0 || result->unknown) {
        l->listed++;
        l->options.listed_cb(&listed, l->options.arg);
    }
}

/* The callback of the user may have closed the manager. */
static void on_key_queried(const struct redlock_query_result *result, int status, void *arg)
{
    const struct rlk_name *name = arg;
    struct rlk_listing *l = name->owner;

    (void)status;
    l->asking--;
    if (result && !l->reported) {
        count_looks(l, result);
        pass_key(l, name, result);
    }
    if (!l->reported) {
        go_on(l, rlk_clock_us());
    }
    rlk_scan_unref(&l->user);
}

static bool all_allow(const struct rlk_listing *l, uint64_t now_us)
{
    unsigned i;

    for (i = 0; i < l->gather.rl->options.n_nodes; i++) {
        if (!rlk_pace_allows(&l->parts[i].pace, now_us)) {
            return false;
        }
    }
    return true;
}

static void charge_all(struct rlk_listing *l, uint64_t now_us)
{
    unsigned i;

    for (i = 0; i < l->gather.rl->options.n_nodes; i++) {
        rlk_pace_charge(&l->parts[i].pace, LOOK_COST, now_us);
    }
}

static void query_name(struct rlk_listing *l, struct rlk_name *name, uint64_t now_us)
{
    size_t skip = key_prefix_of(l).len;

    l->status = rlk_query_begin(l->gather.rl, name->bytes + skip, name->entry.len - skip,
                                on_key_queried, name);
    if (l->status == 0) {
        l->asking++;
        l->user.refs++;
        charge_all(l, now_us);
    }
}

static bool may_query(const struct rlk_listing *l)
{
    return l->status == 0 && l->asking < MAX_ASKING && rlk_names_waiting(&l->names) > 0;
}

static void query_names(struct rlk_listing *l, uint64_t now_us)
{
    while (may_query(l) && all_allow(l, now_us)) {
        query_name(l, rlk_names_take(&l->names), now_us);
    }
}

/* ---- both ---- */

/* When the pace of a master allows its next step, or that of all allows the next query. */
static uint64_t next_us(const struct rlk_listing *l)
{
    uint64_t left = scanned_now(l), step_us = RLK_NEVER, query_us = 0;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        if (!l->parts[node].scan.asking) {
            step_us = rlk_time_min(step_us, rlk_pace_free_us(&l->parts[node].pace));
        }
    }
    for (node = 0; node < l->gather.rl->options.n_nodes; node++) {
        query_us = rlk_time_max(query_us, rlk_pace_free_us(&l->parts[node].pace));
    }
    return may_query(l) ? rlk_time_min(step_us, query_us) : step_us;
}

static bool is_listed(const struct rlk_listing *l)
{
    return l->gather.awaited == 0 && l->asking == 0 &&
           (is_ending(l) || rlk_names_waiting(&l->names) == 0);
}

/* Whatever has happened: send what may be sent now, and see whether that was all. */
static void go_on(struct rlk_listing *l, uint64_t now_us)
{
    struct rlk_timers *timers = &l->gather.rl->loop.timers;

    if (l->until_us <= now_us && l->status == 0) {
        l->status = REDLOCK_EDEADLINE;
    }
    if (!is_ending(l)) {
        step_scans(l, now_us);
        query_names(l, now_us);
    }
    if (is_ending(l)) {
        end_scans(l);
    }
    if (is_listed(l)) {
        rlk_timer_cancel(timers, &l->timer);
        rlk_gather_finish(&l->gather);
    } else {
        rlk_timer_set(timers, &l->timer,
                      is_ending(l) ? RLK_NEVER : rlk_time_min(next_us(l), l->until_us));
    }
}

static void on_listing_timer(struct rlk_timer *t, uint64_t now_us)
{
    go_on(RLK_CONTAINER(t, struct rlk_listing, timer), now_us);
}

/* ---- the masters ---- */

static void begin_scan(struct rlk_gather *g, unsigned node, uint64_t now_us)
{
    (void)node;
    go_on(listing_of(g), now_us);
}

static void on_scan_late(struct rlk_gather *g, unsigned node, uint64_t now_us)
{
    (void)now_us;
    rlk_scan_end(&listing_of(g)->parts[node].scan, RLK_TROUBLE_UNANSWERED);
}

/* It may have been the last one, and this may be inside a step of its own: go on later. */
static void stop_scan(struct rlk_gather *g, unsigned node)
{
    struct rlk_listing *l = listing_of(g);

    rlk_scan_end(&l->parts[node].scan, RLK_TROUBLE_ANSWER_BROKEN);
    rlk_timer_set(&g->rl->loop.timers, &l->timer, 0);
}

/* ---- the report ---- */

static const char *error_of(const struct rlk_listing *l, unsigned i, uint64_t now_us)
{
    const struct rlk_scan *s = &l->parts[i].scan;
    const char *trouble = "";

    if (s->complete || s->error[0]) {
        return s->error;
    }
    trouble = rlk_node_explain(&l->gather.rl->nodes[i], now_us);
    return trouble[0] ? trouble : rlk_trouble_rows[RLK_TROUBLE_SCAN_UNFINISHED].sentence;
}

static struct redlock_list_node show_part(const struct rlk_listing *l, unsigned i, uint64_t now_us)
{
    const struct part *p = &l->parts[i];

    return (struct redlock_list_node){.size = sizeof(struct redlock_list_node),
                                      .scanned = p->scan.complete,
                                      .error = error_of(l, i, now_us),
                                      .names = p->scan.names,
                                      .commands = p->scan.steps + p->looks * LOOK_COST};
}

/* `shown` and `list` have room for each master. */
static struct redlock_list_summary sum_up(const struct rlk_listing *l,
                                          struct redlock_list_node *shown,
                                          const struct redlock_list_node **list)
{
    uint64_t now_us = rlk_clock_us();
    struct redlock_list_summary sum = {.size = sizeof(sum),
                                       .nodes = list,
                                       .names = rlk_names_count(&l->names),
                                       .listed = l->listed,
                                       .unasked = rlk_names_waiting(&l->names),
                                       .elapsed_ms = rlk_time_sub(now_us, l->begun_us) / 1000};
    uint64_t left = rlk_options_seen(&l->gather.rl->options);
    unsigned i;

    RLK_MASK_EACH (i, left) {
        shown[i] = show_part(l, i, now_us);
        list[sum.n_nodes++] = &shown[i];
        sum.scanned += shown[i].scanned != 0;
        sum.commands += shown[i].commands;
    }
    return sum;
}

static uint64_t scanned_nodes(const struct rlk_listing *l)
{
    uint64_t nodes = 0;
    unsigned i;

    for (i = 0; i < l->gather.rl->options.n_nodes; i++) {
        nodes |= l->parts[i].scan.complete ? rlk_mask_bit(i) : 0;
    }
    return nodes;
}

static void report_listing(struct rlk_gather *g, bool cancelled)
{
    struct rlk_listing *l = listing_of(g);
    struct redlock_list_node shown[RLK_MAX_NODES];
    const struct redlock_list_node *list[RLK_MAX_NODES];
    struct redlock_list_summary sum = sum_up(l, shown, list);
    bool enough = rlk_voters_are_enough(&g->rl->voters, scanned_nodes(l));

    l->reported = true;
    rlk_timer_cancel(&g->rl->loop.timers, &l->timer);
    if (cancelled) {
        l->options.list_cb(NULL, REDLOCK_ECANCELED, l->options.arg);
    } else {
        l->options.list_cb(&sum, l->status || enough ? l->status : REDLOCK_ENOQUORUM,
                           l->options.arg);
    }
}

static void unref_listing(struct rlk_gather *g)
{
    rlk_scan_unref(&listing_of(g)->user);
}

static const struct rlk_gather_kind gather_kind = {.ask = begin_scan,
                                                   .time_out = on_scan_late,
                                                   .stop = stop_scan,
                                                   .report = report_listing,
                                                   .unref = unref_listing};

/* ---- the options ---- */

static const struct redlock_list_options defaults = {
    .size = sizeof(defaults),
    .rate = 10000,
    .timeout_ms = 600000,
    .max_keys = 1000000,
};

static const struct rlk_request_form options_form = {
    .defaults = &defaults,
    .size = sizeof(defaults),
    .least = RLK_SIZED_UP_TO(struct redlock_list_options, arg),
    .is = "options are",
    .was = "options were",
    .sets = "options set",
    .init = "redlock_list_options_init",
};

REDLOCK_EXPORT void redlock_list_options_init_sized(struct redlock_list_options *options,
                                                    size_t size)
{
    rlk_sized_init(options, size, &defaults, sizeof(defaults));
}

static int check_prefix(struct redlock *rl, struct redlock_list_options *o)
{
    o->prefix = o->prefix ? o->prefix : "";
    o->prefix_len = o->prefix_len ? o->prefix_len : strlen(o->prefix);
    if (o->prefix_len <= REDLOCK_MAX_KEY - rl->options.key_prefix_len) {
        return 0;
    }
    return rlk_manager_refuse(rl, REDLOCK_EINVAL,
                              "the prefix is %zu bytes long; it must be at most %d with key_prefix",
                              o->prefix_len, REDLOCK_MAX_KEY);
}

static int read_options(struct redlock *rl, const struct redlock_list_options *theirs,
                        struct redlock_list_options *ret)
{
    int status = rlk_request_read(rl, &options_form, theirs, ret);

    if (status == 0) {
        status = rlk_request_number(rl, "rate", ret->rate, MIN_RATE, MAX_RATE);
    }
    if (status == 0) {
        status = rlk_request_number(rl, "timeout_ms", ret->timeout_ms, 1, MAX_TIMEOUT_MS);
    }
    if (status == 0) {
        status = rlk_request_number(rl, "max_keys", ret->max_keys, 1, MAX_KEYS);
    }
    if (status == 0 && (ret->listed_cb == NULL || ret->list_cb == NULL)) {
        status = rlk_manager_refuse(rl, REDLOCK_EINVAL, "%s is NULL",
                                    ret->listed_cb ? "list_cb" : "listed_cb");
    }
    return status ? status : check_prefix(rl, ret);
}

/* ---- the beginning ---- */

static void copy_prefix(struct rlk_listing *l)
{
    const struct rlk_key before = key_prefix_of(l);

    memcpy(l->prefix, before.bytes, before.len);
    memcpy(l->prefix + before.len, l->options.prefix, l->options.prefix_len);
    l->user.prefix = (struct rlk_key){l->prefix, before.len + l->options.prefix_len};
    l->options.prefix = NULL; /* the caller's */
}

static struct rlk_listing *make_listing(struct redlock *rl, const struct rlk_hash_seed *seed,
                                        const struct redlock_list_options *o)
{
    unsigned n = rl->options.room, i;
    struct rlk_listing *l = rlk_alloc(sizeof(*l) + n * sizeof(l->parts[0]));

    if (l == NULL) {
        return NULL;
    }
    l->options = *o;
    l->user = (struct rlk_scan_user){
        .refs = 1, .found = on_name, .stepped = on_stepped, .free = on_listing_unused};
    for (i = 0; i < n; i++) {
        l->parts[i].scan.user = &l->user;
        l->parts[i].scan.node = &rl->nodes[i];
        l->parts[i].pace.rate = o->rate;
    }
    rlk_names_init(&l->names, seed, l);
    rlk_timer_init(&l->timer, on_listing_timer);
    rlk_gather_init(&l->gather, rl, &gather_kind);
    l->gather.follows = true;
    copy_prefix(l);
    return l;
}

static void start_listing(struct rlk_listing *l)
{
    struct redlock *rl = l->gather.rl;
    uint64_t now_us = rlk_clock_us(), ready, connecting;

    l->begun_us = now_us;
    l->until_us = rlk_time_add(now_us, rlk_time_from_ms(l->options.timeout_ms));
    rlk_manager_nodes(rl, now_us, &ready, &connecting, NULL);
    rlk_gather_start(&l->gather, ready, connecting, now_us,
                     rlk_time_add(now_us, rl->options.connect_timeout_us));
    go_on(l, now_us);
}

REDLOCK_EXPORT int redlock_list(struct redlock *rl, const struct redlock_list_options *options)
{
    struct redlock_list_options own;
    struct rlk_hash_seed seed;
    struct rlk_listing *l;
    int status = rlk_manager_check_call(rl, RLK_OPERATION_QUERY);

    if (status == 0) {
        status = read_options(rl, options, &own);
    }
    if (status == 0) {
        status = rlk_entropy_take(&rl->entropy, &seed, sizeof(seed));
    }
    if (status) {
        return status;
    }
    l = make_listing(rl, &seed, &own);
    if (l == NULL) {
        return REDLOCK_ENOMEM;
    }
    start_listing(l);
    return 0;
}
