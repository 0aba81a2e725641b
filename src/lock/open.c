/* open.c - makes a manager. */
#include <string.h>

#include <redlock/error.h>
#include <redlock/manager.h>

#include "base/alloc.h"
#include "base/mask.h"
#include "base/time.h"
#include "lock/close.h"
#include "lock/drive_attempt.h"
#include "lock/hooks.h"
#include "lock/manager.h"
#include "lock/renewals.h"
#include "net/clock.h"

/* How many bytes of freed objects are kept for the next ones: enough for some 1,000 locks that are
 * acquired and released all the time. */
#define KEEP_BYTES ((size_t)1 << 20)

/* A number for each use. Everybody can read the channel name on a master, and must not be able to
 * compute the other numbers from it: knowing the seed of the table, one could choose keys that
 * collide. */
static uint64_t derive(uint64_t seed, char use)
{
    const struct rlk_hash_seed secret = {{seed, 0}};

    return rlk_hash(&secret, &use, sizeof(use));
}

static void init_contention(struct redlock *rl, uint64_t seed)
{
    const struct rlk_hash_seed own = {{derive(seed, 't'), derive(seed, 'u')}};

    rlk_contention_init(&rl->contention, &rl->pool, &own, rlk_lock_contend);
}

static void init_observed(struct redlock *rl, uint64_t seed)
{
    const struct rlk_hash_seed own = {{derive(seed, 'o'), derive(seed, 'p')}};

    rlk_observed_init(&rl->observed, &own);
}

void rlk_manager_init_node(struct redlock *rl, unsigned node)
{
    struct rlk_node *n = &rl->nodes[node];

    rlk_node_init(n, &rl->loop, &rl->options, node, &rlk_hooks, rl, rlk_prng_next(&rl->prng));
    rl->quarantine[node] = &n->quarantine;
}

static int make_nodes(struct redlock *rl)
{
    unsigned i;
    uint64_t seed;
    int status = rlk_entropy_take(&rl->entropy, &seed, sizeof(seed));

    if (status == 0) {
        status = rlk_options_name_channel(&rl->options, derive(seed, 'c'));
    }
    if (status) {
        return status;
    }
    rlk_prng_seed(&rl->prng, seed);
    rl->voters = (struct rlk_voters){rlk_mask_all(rl->options.n_nodes), rl->options.n_nodes};
    rlk_clocks_init(&rl->clocks, rl->options.n_nodes, &rl->voters, rl->options.drift_ppm,
                    rlk_time_from_ms(rl->options.max_ttl_ms));
    rl->nodes = rlk_alloc(rl->options.room * sizeof(*rl->nodes));
    if (rl->nodes == NULL) {
        return REDLOCK_ENOMEM;
    }
    for (i = 0; i < rl->options.n_nodes; i++) {
        rlk_manager_init_node(rl, i);
    }
    rlk_queue_init(&rl->queue, &rl->loop, &rl->options, rl->nodes, &rl->voters);
    init_contention(rl, seed);
    init_observed(rl, seed);
    return rlk_keeper_init(&rl->record, &(struct rlk_keeper_of){.loop = &rl->loop,
                                                                .options = &rl->options,
                                                                .nodes = rl->nodes,
                                                                .prng = &rl->prng,
                                                                .hooks = &rlk_keeper_hooks});
}

static void set_tracer(struct redlock *rl, const struct redlock_options *public)
{
    rl->tracer = (struct rlk_tracer){.cb = public->trace_cb, .arg = public->trace_arg};
    rl->options.tracer = public->trace_cb ? &rl->tracer : NULL;
}

static struct redlock *make_manager(void)
{
    struct redlock *rl = rlk_alloc(sizeof(*rl));

    if (rl == NULL) {
        return NULL;
    }
    rlk_entropy_init(&rl->entropy);
    rlk_pool_init(&rl->pool, KEEP_BYTES);
    rl->claims.pool = &rl->pool;
    rlk_list_init(&rl->operations);
    rlk_batches_init(&rl->renewals, &rl->pool, rlk_renewals_send);
    return rl;
}

static void explain_open(const struct redlock_options *o, int status)
{
    if (o->error_text && o->error_text_size > 0 && o->error_text[0] == '\0') {
        strncpy(o->error_text, redlock_strerror(status), o->error_text_size - 1);
        o->error_text[o->error_text_size - 1] = '\0';
    }
}

REDLOCK_EXPORT int redlock_new(struct event_base *base, const struct redlock_options *options,
                               struct redlock **ret_rl)
{
    return rlk_manager_open(base, options, NULL, ret_rl);
}

int rlk_manager_open(struct event_base *base, const struct redlock_options *options,
                     const struct rlk_manager_move *move, struct redlock **ret_rl)
{
    struct redlock_options public;
    struct redlock *rl;
    int status;
    unsigned i;

    if (base == NULL || options == NULL || ret_rl == NULL) {
        return REDLOCK_EINVAL;
    }
    status = rlk_options_read(options, &public);
    if (status) {
        return status;
    }
    rl = make_manager();
    status = rl ? rlk_options_load(&rl->options, &public) : REDLOCK_ENOMEM;
    if (status == 0) {
        set_tracer(rl, &public);
        status = rlk_close_prepare(rl, base);
    }
    if (status == 0) {
        status = make_nodes(rl);
    }
    if (status) {
        if (rl) {
            rlk_close_destroy(rl);
        }
        explain_open(&public, status);
        return status;
    }
    if (move) {
        rlk_keeper_move(&rl->record, move->joins, move->leaves, move->judged);
    }
    rlk_node_report_begin(&rl->node_report, rl, &rl->loop, &rl->options, &public);
    for (i = 0; i < rl->options.n_nodes; i++) {
        rlk_node_start(&rl->nodes[i], rlk_clock_us());
    }
    *ret_rl = rl;
    return 0;
}
