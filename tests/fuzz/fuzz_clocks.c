/* fuzz_clocks.c - what masters say of the time, and what that shows.
 *
 * The script begins with the number of nodes. Then each letter is a step, times in microseconds:
 *
 *     a N          node N is asked for the time
 *     t TIME       from now on a round trip takes as long
 *     f N TIME     the clock of node N is set forward        b N TIME   back
 *     z TIME       we are suspended
 *     x N          another server answers at node N
 *     s N SENT TRIP SERVER   a sample, whatever it is
 *     +TIME        time goes by
 *
 * After each sample a model, which computes in 128 bits and tries all amounts, checks the verdict.
 */
#include <string.h>

#include "base/mask.h"
#include "base/time.h"
#include "core/clocks.h"
#include "fuzz.h"
#include "lib/voters.h"

#define DRIFT_PPM 10000
#define MAX_TTL_US UINT64_C(30000000)

__extension__ typedef __int128 wide;

struct model_reading {
    wide sent_us, at_us, server_us, error_us;
};

enum {
    BASE,
    FAR,
    LAST,
    READINGS
};

struct model_clock {
    bool known;
    struct model_reading before[READINGS];
    wide ahead_us;                  /* unexplained */
    wide first_us[2], latest_us[2]; /* when the unexplained parts happened: from, to */
    wide excuse_us; /* for how long we were suspended, as far as known, since it was asked */
};

struct world {
    struct rlk_clocks c;
    unsigned nodes;
    uint64_t now_us, trip_us, distance_us[RLK_MAX_NODES];
    wide suspended_at_us;
    struct model_clock model[RLK_MAX_NODES];
};

/* A sample, and the verdict about it. */
struct verdict {
    enum rlk_clock_verdict verdict;
    uint64_t by_us, nodes;
};

/* The verdict of the model. The change is negative when the clock is behind, and 0 when it is
 * steady. */
struct guess {
    bool moved;
    wide reported_us, since_us;
};

static wide magnitude(wide value)
{
    return value < 0 ? -value : value;
}

static wide least(wide a, wide b)
{
    return a < b ? a : b;
}

static wide most(wide a, wide b)
{
    return a > b ? a : b;
}

static bool is_about(wide a, wide b)
{
    return magnitude(a - b) <= most(a, b) / 10 + 50000;
}

static bool is_late(const struct model_clock *m, wide now_us)
{
    return m->ahead_us == 0 || now_us - m->latest_us[1] > (wide)MAX_TTL_US;
}

/* How many nodes agree when this one has the largest amount, and may have gone ahead at these
 * instants; NULL: at any. */
static unsigned count(const struct world *w, unsigned largest, const wide *first_us,
                      const wide *latest_us, wide now_us)
{
    unsigned i, n = 0;

    for (i = 0; i < w->nodes; i++) {
        const struct model_clock *m = &w->model[i];
        bool meets =
            (!first_us || (m->first_us[0] <= *first_us && *first_us <= m->first_us[1])) &&
            (!latest_us || (m->latest_us[0] <= *latest_us && *latest_us <= m->latest_us[1]));

        n += meets && !is_late(m, now_us) && m->ahead_us <= w->model[largest].ahead_us &&
             is_about(m->ahead_us, w->model[largest].ahead_us);
    }
    return n;
}

/* Instants that a majority with this node has in common. If there are any, the end of a part is one
 * of them. */
static bool has_instants(const struct world *w, unsigned largest, wide now_us)
{
    const struct model_clock *l = &w->model[largest];
    unsigned i, k;

    for (i = 0; i < w->nodes; i++) {
        const wide *first_us = &w->model[i].first_us[1];

        if (*first_us < l->first_us[0] || *first_us > l->first_us[1] ||
            2 * count(w, largest, first_us, NULL, now_us) <= w->nodes) {
            continue;
        }
        for (k = 0; k < w->nodes; k++) {
            const wide *latest_us = &w->model[k].latest_us[1];

            if (*latest_us >= l->latest_us[0] && *latest_us <= l->latest_us[1] &&
                2 * count(w, largest, first_us, latest_us, now_us) > w->nodes) {
                return true;
            }
        }
    }
    return false;
}

/* Whether for any of the amounts above this one, as the largest, a majority agrees. */
static bool has_agreement(const struct world *w, wide above_us, wide now_us)
{
    unsigned i;

    for (i = 0; i < w->nodes; i++) {
        if (!is_late(&w->model[i], now_us) && w->model[i].ahead_us > above_us &&
            2 * count(w, i, NULL, NULL, now_us) > w->nodes && has_instants(w, i, now_us)) {
            return true;
        }
    }
    return false;
}

static void add_ahead(struct model_clock *m, const struct guess *g, wide now_us)
{
    bool fresh = is_late(m, now_us);

    m->ahead_us = least((fresh ? 0 : m->ahead_us) + g->reported_us, RLK_NEVER);
    m->latest_us[0] = g->since_us;
    m->latest_us[1] = now_us;
    if (fresh) {
        memcpy(m->first_us, m->latest_us, sizeof(m->first_us));
    }
}

/* No instant in the first parts, or in the last, is before the latest beginning. */
static void check_instants(const struct world *w, uint64_t nodes)
{
    wide first_us[2] = {0, RLK_NEVER}, latest_us[2] = {0, RLK_NEVER};
    unsigned i;

    RLK_MASK_EACH (i, nodes) {
        const struct model_clock *m = &w->model[i];

        first_us[0] = most(first_us[0], m->first_us[0]);
        first_us[1] = least(first_us[1], m->first_us[1]);
        latest_us[0] = most(latest_us[0], m->latest_us[0]);
        latest_us[1] = least(latest_us[1], m->latest_us[1]);
    }
    FUZZ_CHECK(first_us[0] <= first_us[1], "what happened first happened to all at once");
    FUZZ_CHECK(latest_us[0] <= latest_us[1], "and what happened last");
}

/* Nodes that were asked before the suspension are excused; it does not concern the others. */
static void excuse(struct world *w, const struct verdict *v)
{
    unsigned i;

    for (i = 0; i < w->nodes; i++) {
        struct model_clock *m = &w->model[i];

        if (v->nodes & rlk_mask_bit(i)) {
            m->ahead_us = 0;
        } else if (m->known && m->before[LAST].sent_us <= w->suspended_at_us) {
            m->excuse_us = least(m->excuse_us + v->by_us, RLK_NEVER);
        } else if (m->known) {
            m->before[BASE] = m->before[FAR] = m->before[LAST];
            m->excuse_us = 0;
        }
    }
}

static void check_suspension(struct world *w, unsigned node, const struct verdict *v, wide now_us)
{
    uint64_t left = v->nodes;
    bool largest = false;
    unsigned i;

    FUZZ_CHECK(2 * rlk_mask_count(v->nodes) > w->nodes, "a majority shows a suspension");
    FUZZ_CHECK((v->nodes & ~rlk_mask_all(w->nodes)) == 0, "of nodes that there are");
    FUZZ_CHECK(v->nodes & rlk_mask_bit(node), "and the last one is among them");
    check_instants(w, v->nodes);
    w->suspended_at_us = RLK_NEVER;
    RLK_MASK_EACH (i, left) {
        const struct model_clock *m = &w->model[i];

        FUZZ_CHECK(!is_late(m, now_us), "whoever shows it got ahead lately");
        FUZZ_CHECK(m->ahead_us <= v->by_us && is_about(m->ahead_us, v->by_us),
                   "the amounts agree, and leases are shortened by the largest");
        largest = largest || m->ahead_us == v->by_us;
        w->suspended_at_us = least(w->suspended_at_us, m->latest_us[1]);
    }
    FUZZ_CHECK(largest, "the amount is that of one of the nodes");
    FUZZ_CHECK(!has_agreement(w, v->by_us, now_us), "and no majority agrees on more");
    excuse(w, v);
}

static void check_verdict(struct world *w, unsigned node, const struct verdict *v,
                          const struct guess *g, wide now_us)
{
    FUZZ_CHECK((v->verdict == RLK_CLOCK_WE_WERE_SUSPENDED) == (v->nodes != 0),
               "whose suspension it is");
    if (g->reported_us == 0) {
        FUZZ_CHECK(v->verdict == RLK_CLOCK_STEADY && v->by_us == 0, "a clock that is steady");
    } else if (g->reported_us < 0) {
        FUZZ_CHECK(v->verdict == RLK_CLOCK_BEHIND, "a clock that fell behind");
        FUZZ_CHECK(v->by_us == least(-g->reported_us, RLK_NEVER), "by how much it fell behind");
    } else {
        add_ahead(&w->model[node], g, now_us);
        if (v->verdict == RLK_CLOCK_WE_WERE_SUSPENDED) {
            check_suspension(w, node, v, now_us);
            return;
        }
        FUZZ_CHECK(v->verdict == RLK_CLOCK_AHEAD, "a clock that got ahead");
        FUZZ_CHECK(v->by_us == least(g->reported_us, RLK_NEVER), "by how much it got ahead");
        FUZZ_CHECK(!has_agreement(w, 0, now_us), "a majority that agrees is a suspension of ours");
    }
}

/* By how much the clock has moved since then; *ret_moved: whether it has moved by more than is
 * excused. */
static wide change_us(const struct model_reading *then, const struct model_reading *now,
                      wide excuse_us, bool *ret_moved)
{
    wide gone_us = now->at_us - then->at_us, errors_us = then->error_us + now->error_us;
    wide change = now->server_us - then->server_us - gone_us;
    wide bound = ((gone_us + errors_us) * DRIFT_PPM + 999999) / 1000000 + errors_us + 2000;

    bound = least(bound, RLK_NEVER);
    change = change < 0 ? -least(-change, RLK_NEVER) : least(change, RLK_NEVER);
    *ret_moved = magnitude(change) > bound;
    if (*ret_moved && change > 0 && excuse_us > 0 && is_about(change, excuse_us)) {
        change -= least(change, excuse_us);
    }
    return magnitude(change) > bound ? change : 0;
}

static struct guess guess(const struct model_clock *m, const struct model_reading *now)
{
    struct guess g = {false, 0, 0};
    int i;

    for (i = 0; i < READINGS; i++) {
        bool moved;
        wide by_us = change_us(&m->before[i], now, m->excuse_us, &moved);

        if (by_us > 0) {
            g.since_us = most(g.since_us, m->before[i].sent_us);
        }
        if (i != LAST) {
            g.moved = g.moved || moved;
            g.reported_us = g.reported_us ? g.reported_us : by_us;
        }
    }
    return g;
}

static void rebase(const struct world *w, struct model_clock *m, const struct model_reading *now,
                   bool moved)
{
    bool anew = moved || (m->excuse_us > 0 && now->sent_us > w->suspended_at_us);

    if (anew || now->at_us - m->before[BASE].at_us >= 1000000) {
        m->before[BASE] = *now;
    }
    if (anew || now->at_us - m->before[FAR].at_us >= (wide)(MAX_TTL_US / 4) ||
        2 * (now->error_us + 2000) <= m->before[FAR].error_us) {
        m->before[FAR] = *now;
    }
    m->before[LAST] = *now;
    m->excuse_us = anew ? 0 : m->excuse_us;
}

/* The verdict of the model about a sample that is not older than the one before. */
static void compare(struct world *w, unsigned node, const struct rlk_clock_sample *sample,
                    struct verdict *v)
{
    struct model_clock *m = &w->model[node];
    wide trip_us = (wide)sample->received_us - sample->sent_us;
    struct model_reading now = {sample->sent_us, sample->sent_us + trip_us / 2, sample->server_us,
                                (trip_us + 1) / 2};
    struct guess g;

    if (!m->known || now.at_us < m->before[LAST].at_us) {
        FUZZ_CHECK(v->verdict == RLK_CLOCK_STEADY && v->by_us == 0, "nothing to compare with");
        if (!m->known) {
            *m = (struct model_clock){.known = true, .before = {now, now, now}};
        }
        return;
    }
    g = guess(m, &now);
    rebase(w, m, &now, g.moved);
    check_verdict(w, node, v, &g, sample->received_us);
}

static wide clamped(const struct model_clock *m)
{
    wide far = (wide)1 << 60;

    return least(far, most(-far, m->before[BASE].server_us - m->before[BASE].at_us));
}

/* A value with no more than half of all on either side, or the middle of two of these. */
static void check_offset(const struct world *w, unsigned node)
{
    unsigned i, n = 0, above = 0, below = 0;
    uint64_t error_us;
    int64_t offset_us;

    if (!rlk_clocks_offset(&w->c, node, &offset_us, &error_us)) {
        FUZZ_CHECK(node >= w->nodes || !w->model[node].known, "the offset of a known clock");
        return;
    }
    for (i = 0; i < w->nodes; i++) {
        wide other = clamped(&w->model[node]) - clamped(&w->model[i]);

        n += w->model[i].known;
        above += w->model[i].known && other > (wide)offset_us + 1;
        below += w->model[i].known && other < (wide)offset_us - 1;
    }
    FUZZ_CHECK(2 * above <= n && 2 * below <= n, "the median has half of them on either side");
    FUZZ_CHECK(n == 1 || error_us >= 2000, "an offset to others is not exact");
}

/* ---- the script ---- */

static void take(struct world *w, unsigned node, const struct rlk_clock_sample *sample)
{
    struct verdict v = {.by_us = 1, .nodes = 1};

    v.verdict = rlk_clocks_sample(&w->c, node, sample, &v.by_us, &v.nodes);
    if (node >= w->nodes || sample->received_us < sample->sent_us) {
        FUZZ_CHECK(v.verdict == RLK_CLOCK_STEADY && v.by_us == 0 && v.nodes == 0, "no sample");
    } else {
        compare(w, node, sample, &v);
    }
    check_offset(w, node);
}

static void ask(struct world *w, unsigned node)
{
    struct rlk_clock_sample sample = {.sent_us = w->now_us};

    if (node < w->nodes) {
        w->now_us = fuzz_later(w->now_us, w->trip_us);
        sample.received_us = w->now_us;
        sample.server_us =
            sample.sent_us + (sample.received_us - sample.sent_us) / 2 + w->distance_us[node];
        take(w, node, &sample);
    }
}

static void raw(struct world *w, struct fuzz_script *s)
{
    unsigned node = fuzz_node(s);
    struct rlk_clock_sample sample = {.sent_us = fuzz_number(s)};

    sample.received_us = sample.sent_us + fuzz_number(s); /* may wrap round */
    sample.server_us = fuzz_number(s);
    take(w, node, &sample);
}

static void set(struct world *w, struct fuzz_script *s, bool forward)
{
    unsigned node = fuzz_node(s);
    uint64_t by_us = fuzz_number(s);

    if (node < w->nodes) {
        w->distance_us[node] += forward ? by_us : 0 - by_us;
    }
}

static void suspend(struct world *w, uint64_t time_us)
{
    unsigned i;

    for (i = 0; i < w->nodes; i++) {
        w->distance_us[i] += time_us;
    }
}

static void forget(struct world *w, unsigned node)
{
    rlk_clocks_reset(&w->c, node);
    if (node < w->nodes) {
        memset(&w->model[node], 0, sizeof(w->model[node]));
    }
}

static void step(struct world *w, struct fuzz_script *s, int letter)
{
    switch (letter) {
    case 'a':
        ask(w, fuzz_node(s));
        break;
    case 't':
        w->trip_us = fuzz_number(s);
        break;
    case 'f':
    case 'b':
        set(w, s, letter == 'f');
        break;
    case 'z':
        suspend(w, fuzz_number(s));
        break;
    case 'x':
        forget(w, fuzz_node(s));
        break;
    case 's':
        raw(w, s);
        break;
    default:
        (void)fuzz_time(s, letter, &w->now_us, 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_script s = {data, data + size};
    struct world w = {.now_us = UINT64_C(5000000000)};
    int letter;

    w.nodes = fuzz_count(&s);
    rlk_clocks_init(&w.c, w.nodes, all_voters(w.nodes), DRIFT_PPM, MAX_TTL_US);
    suspend(&w, UINT64_C(1700000000000000));
    while ((letter = fuzz_letter(&s)) >= 0) {
        step(&w, &s, letter);
    }
    return 0;
}
