/* fuzz_clocks.c - what masters say of the time, and what that shows.
 *
 * The script begins with the number of nodes. Then each letter is a step, times in microseconds:
 *
 *     a N          node N is asked for the time
 *     t TIME       from now on a round trip takes as long
 *     f N TIME     the clock of node N is set forward        b N TIME   back
 *     z TIME       we stand still
 *     x N          another server answers at node N
 *     s N SENT TRIP SERVER   a sample, whatever it is
 *     +TIME        time goes by
 *
 * After each sample a model, which reckons in 128 bits and tries all amounts, has its say. */
#include <string.h>

#include "base/mask.h"
#include "base/time.h"
#include "core/clocks.h"
#include "fuzz.h"

#define DRIFT_PPM 10000
#define MAX_TTL_US UINT64_C(30000000)

__extension__ typedef __int128 wide;

struct model_clock {
    bool known;
    wide at_us, server_us, error_us;
    wide ahead_us, ahead_at_us; /* unexplained */
    wide excuse_us;             /* what we are known to have stood still since it was asked */
};

struct world {
    struct rlk_clocks c;
    unsigned nodes;
    uint64_t now_us, trip_us, distance_us[RLK_MAX_NODES];
    struct model_clock model[RLK_MAX_NODES];
};

/* A sample, and what was made of it. */
struct verdict {
    enum rlk_clock_verdict verdict;
    uint64_t by_us, nodes;
    wide change_us, bound_us; /* as the model reckons them; the change is negative when behind */
};

static wide magnitude(wide value)
{
    return value < 0 ? -value : value;
}

static wide least(wide a, wide b)
{
    return a < b ? a : b;
}

static bool is_about(wide a, wide b)
{
    wide largest = a > b ? a : b;

    return magnitude(a - b) <= largest / 10 + 50000;
}

static bool is_late(const struct model_clock *m, wide now_us)
{
    return m->ahead_us == 0 || now_us - m->ahead_at_us > (wide)MAX_TTL_US;
}

/* Whether for any of the amounts, as the largest, a majority agrees. */
static bool has_agreement(const struct world *w, wide now_us)
{
    unsigned i, k;

    for (i = 0; i < w->nodes; i++) {
        unsigned n = 0;

        for (k = 0; k < w->nodes && !is_late(&w->model[i], now_us); k++) {
            const struct model_clock *m = &w->model[k];

            n += !is_late(m, now_us) && m->ahead_us <= w->model[i].ahead_us &&
                 is_about(m->ahead_us, w->model[i].ahead_us);
        }
        if (2 * n > w->nodes) {
            return true;
        }
    }
    return false;
}

static void add_ahead(struct model_clock *m, wide by_us, wide now_us)
{
    m->ahead_us = least((is_late(m, now_us) ? 0 : m->ahead_us) + by_us, RLK_NEVER);
    m->ahead_at_us = now_us;
}

/* The amount of the node itself is that which it shows, or what an excuse leaves of it. */
static void check_standstill(struct world *w, unsigned node, const struct verdict *v, wide now_us)
{
    uint64_t left = v->nodes;
    bool largest = false;
    unsigned i;

    FUZZ_CHECK(2 * rlk_mask_count(v->nodes) > w->nodes, "a majority shows a standstill");
    FUZZ_CHECK((v->nodes & ~rlk_mask_all(w->nodes)) == 0, "of nodes that there are");
    FUZZ_CHECK(v->nodes & rlk_mask_bit(node), "and the last one is among them");
    RLK_MASK_EACH (i, left) {
        struct model_clock *m = &w->model[i];

        FUZZ_CHECK(i == node || !is_late(m, now_us), "whoever shows it got ahead lately");
        FUZZ_CHECK(i == node || (m->ahead_us <= v->by_us && is_about(m->ahead_us, v->by_us)),
                   "the amounts agree, and leases are shortened by the largest");
        largest = largest || m->ahead_us == v->by_us;
        m->ahead_us = 0;
    }
    FUZZ_CHECK(largest || v->by_us >= least(v->change_us - w->model[node].excuse_us, RLK_NEVER),
               "it is no more than somebody shows");
    for (i = 0; i < w->nodes; i++) {
        w->model[i].excuse_us += v->nodes & rlk_mask_bit(i) ? 0 : v->by_us;
    }
}

static void check_ahead(struct world *w, unsigned node, const struct verdict *v, wide now_us)
{
    struct model_clock *m = &w->model[node];
    wide shown_us = least(v->change_us, RLK_NEVER);

    if (v->verdict == RLK_CLOCK_STEADY) {
        FUZZ_CHECK(m->excuse_us > 0, "what got ahead is told, but for a standstill");
        FUZZ_CHECK(v->change_us - m->excuse_us <= v->bound_us, "and for no more than that");
    } else if (v->verdict == RLK_CLOCK_WE_STOOD) {
        check_standstill(w, node, v, now_us);
    } else {
        FUZZ_CHECK(v->verdict == RLK_CLOCK_AHEAD, "what got ahead is not behind");
        FUZZ_CHECK(v->by_us <= shown_us && v->by_us + m->excuse_us >= shown_us, "by how much");
        FUZZ_CHECK(v->by_us > v->bound_us, "by more than can be by chance");
        add_ahead(m, v->by_us, now_us);
        FUZZ_CHECK(!has_agreement(w, now_us), "a majority that agrees is a standstill of ours");
    }
}

static void check_verdict(struct world *w, unsigned node, const struct verdict *v, wide now_us)
{
    FUZZ_CHECK((v->verdict == RLK_CLOCK_WE_STOOD) == (v->nodes != 0), "whose standstill it is");
    FUZZ_CHECK((v->verdict == RLK_CLOCK_STEADY) == (v->by_us == 0), "an amount, when it moved");
    if (least(magnitude(v->change_us), RLK_NEVER) <= v->bound_us) {
        FUZZ_CHECK(v->verdict == RLK_CLOCK_STEADY, "within the bound a clock is steady");
    } else if (v->change_us < 0) {
        FUZZ_CHECK(v->verdict == RLK_CLOCK_BEHIND, "a clock that fell behind");
        FUZZ_CHECK(v->by_us == least(-v->change_us, RLK_NEVER), "by how much it fell behind");
    } else {
        check_ahead(w, node, v, now_us);
    }
}

/* What the model makes of a sample that is not older than the one before. */
static void compare(struct world *w, unsigned node, const struct rlk_clock_sample *sample,
                    struct verdict *v)
{
    struct model_clock *m = &w->model[node], now = *m;
    wide gone_us, trip_us = (wide)sample->received_us - sample->sent_us;
    bool moved;

    now.known = true;
    now.at_us = sample->sent_us + trip_us / 2;
    now.error_us = (trip_us + 1) / 2;
    now.server_us = sample->server_us;
    if (!m->known || now.at_us < m->at_us) {
        FUZZ_CHECK(v->verdict == RLK_CLOCK_STEADY && v->by_us == 0, "nothing to compare with");
        *m = m->known ? *m : now;
        return;
    }
    gone_us = now.at_us - m->at_us;
    v->change_us = now.server_us - m->server_us - gone_us;
    v->bound_us = (gone_us * DRIFT_PPM + 999999) / 1000000 + m->error_us + now.error_us + 2000;
    v->bound_us = least(v->bound_us, RLK_NEVER);
    moved = least(magnitude(v->change_us), RLK_NEVER) > v->bound_us;
    check_verdict(w, node, v, sample->received_us);
    m->excuse_us = moved ? 0 : m->excuse_us;
    if (moved || gone_us >= 1000000) {
        m->at_us = now.at_us;
        m->server_us = now.server_us;
        m->error_us = now.error_us;
    }
}

static wide clamped(const struct model_clock *m)
{
    wide most = (wide)1 << 60, offset = m->server_us - m->at_us;

    return offset > most ? most : offset < -most ? -most : offset;
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

static void stand_still(struct world *w, uint64_t time_us)
{
    unsigned i;

    for (i = 0; i < w->nodes; i++) {
        w->distance_us[i] += time_us;
    }
}

static void forget(struct world *w, unsigned node)
{
    rlk_clocks_forget(&w->c, node);
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
        stand_still(w, fuzz_number(s));
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
    rlk_clocks_init(&w.c, w.nodes, DRIFT_PPM, MAX_TTL_US);
    stand_still(&w, UINT64_C(1700000000000000));
    while ((letter = fuzz_letter(&s)) >= 0) {
        step(&w, &s, letter);
    }
    return 0;
}
