/* test_fence.c - agreeing on a fence [S12]: every history of three nodes, random ones of five, and
 * a round that wants a fence. */
#include <redlock/error.h>

#include "base/mask.h"
#include "base/prng.h"
#include "base/time.h"
#include "lib/test.h"
#include "lib/voters.h"
#include "round_story.h"

SUITE("fence");

#define TOP 3 /* counters are 1 to this */

/* ---- the fence alone ---- */

/* What has happened so far. The test compares it with the words of the rule. */
struct history {
    struct rlk_fence f;
    unsigned n;
    uint64_t voted, yes, pending; /* pending: asked to confirm, and no answer yet */
    uint64_t first;               /* the majority that the fence was chosen from */
    uint64_t confirmed, was_asked;
    uint64_t counter[5];
};

static uint64_t highest(const struct history *s)
{
    uint64_t value = 0;
    unsigned i;

    for (i = 0; i < s->n; i++) {
        value = s->first >> i & 1 ? rlk_time_max(value, s->counter[i]) : value;
    }
    return value;
}

/* Those of `nodes` whose counter is below, at, or above the fence: sign -1, 0 or 1. */
static uint64_t that_gave(const struct history *s, uint64_t nodes, int sign)
{
    uint64_t found = 0, value = highest(s);
    unsigned i;

    for (i = 0; i < s->n; i++) {
        int is = (s->counter[i] > value) - (s->counter[i] < value);

        found |= (nodes >> i & 1) && is == sign ? rlk_mask_bit(i) : 0;
    }
    return found;
}

static void check(const struct history *s)
{
    ck_assert_uint_eq(s->f.value, highest(s));
    if (s->first) {
        ck_assert_uint_eq(s->f.agreed, that_gave(s, s->voted, 0) | s->confirmed);
        ck_assert_uint_eq(s->f.agreed & that_gave(s, s->voted, 1), 0);
        ck_assert_uint_eq(s->f.asked, s->pending);
    } else {
        ck_assert_uint_eq(s->f.agreed | s->f.asked, 0);
    }
}

static void vote_of(struct history *s, unsigned node, uint64_t counter)
{
    uint64_t bit = rlk_mask_bit(node), asked, wanted = 0;

    s->voted |= bit;
    s->yes |= bit;
    s->counter[node] = counter;
    asked = rlk_fence_voted(&s->f, node, counter, s->yes, all_voters(s->n));
    if (s->first) {
        wanted = that_gave(s, bit, -1);
    } else if (2 * rlk_mask_count(s->yes) > s->n) {
        s->first = s->yes;
        wanted = that_gave(s, s->yes, -1);
    }
    ck_assert_uint_eq(asked, wanted);
    ck_assert_uint_eq(asked & s->was_asked, 0); /* once */
    s->was_asked |= asked;
    s->pending |= asked;
    check(s);
}

static void confirm_of(struct history *s, unsigned node, bool agrees)
{
    s->pending &= ~rlk_mask_bit(node);
    s->confirmed |= agrees ? rlk_mask_bit(node) : 0;
    s->yes &= agrees ? UINT64_MAX : ~rlk_mask_bit(node);
    rlk_fence_confirmed(&s->f, node, agrees);
    check(s);
}

static void begin(struct history *s, unsigned n)
{
    *s = (struct history){.n = n};
    rlk_fence_init(&s->f);
    check(s);
}

/* Plays everything that can come after this; returns how many histories there are. */
static unsigned go_on(const struct history *s)
{
    unsigned node, ends = 0, way;
    bool over = true;

    for (node = 0; node < s->n; node++) {
        bool pending = s->pending >> node & 1, voted = s->voted >> node & 1;

        for (way = 0; way < (pending ? 2 : voted ? 0 : TOP); way++) {
            struct history next = *s;

            over = false;
            if (pending) {
                confirm_of(&next, node, way == 0);
            } else {
                vote_of(&next, node, way + 1);
            }
            ends += go_on(&next);
        }
    }
    return over ? 1 : ends;
}

CASE("agreeing");

TEST_LOOP(every_history_of_up_to_three_nodes, 1, 4)
{
    /* Of two nodes there are nine pairs of counters in either order. Three pairs are equal; for
     * each of the other six one node is asked, and confirms or refuses. */
    static const unsigned least[] = {0, TOP, 2 * (3 + 6 * 2), 900};
    struct history s;

    begin(&s, (unsigned)_i);
    ck_assert_uint_ge(go_on(&s), least[_i]);
}

static void wander(struct history *s, struct rlk_prng *prng)
{
    unsigned left = 2 * s->n * s->n;

    for (; left > 0; left--) {
        unsigned node = (unsigned)rlk_prng_upto(prng, s->n - 1);

        if (s->pending >> node & 1) {
            confirm_of(s, node, rlk_prng_upto(prng, 3) != 0);
        } else if (!(s->voted >> node & 1)) {
            vote_of(s, node, 1 + rlk_prng_upto(prng, TOP));
        }
    }
}

TEST_LOOP(many_histories_of_five, 0, 10)
{
    struct rlk_prng prng;
    struct history s;
    unsigned i, asked = 0, late = 0;

    rlk_prng_seed(&prng, (uint64_t)_i);
    for (i = 0; i < 2000; i++) {
        begin(&s, 5);
        wander(&s, &prng);
        asked += s.was_asked != 0;
        late += that_gave(&s, s.voted, 1) != 0;
    }
    ck_assert_uint_gt(asked, 500);
    ck_assert_uint_gt(late, 100);
}

TEST(a_node_that_was_not_asked_cannot_confirm)
{
    struct history s;

    begin(&s, 3);
    vote_of(&s, 0, 2);
    rlk_fence_confirmed(&s.f, 0, true);
    rlk_fence_confirmed(&s.f, 2, true);
    check(&s);
    vote_of(&s, 1, 3);
    confirm_of(&s, 0, false);
    rlk_fence_confirmed(&s.f, 0, true); /* answered twice: the first answer counts */
    check(&s);
}

/* ---- a round that wants one ---- */

#define FENCED(n) START(n), SET(terms.fenced, true)

static const struct story of_rounds[] = {
    {"no_confirmation_is_needed_when_all_agree",
     {FENCED(5), YES(0, 7), YES(1, 7), ASKING, YES(2, 7), WON, IS(out.confirm, 0),
      IS(round.fence.value, 7), VALID(LEASE)}},

    {"only_nodes_with_a_lower_number_are_asked",
     {FENCED(5), YES(0, 5), IS(out.confirm, 0), YES(3, 9), IS(out.confirm, 0), YES(4, 5), ASKING,
      IS(out.confirm, 0x11), IS(out.fence, 9), CONFIRM(0, OURS), ASKING, IS(out.confirm, 0),
      CONFIRM(4, OURS), WON, IS(round.fence.value, 9)}},

    /* A vote that comes while the others are asked: the same number agrees; a node with a lower one
     * is asked. */
    {"a_late_equal_vote_agrees",
     {FENCED(5), YES(0, 5), YES(1, 6), YES(2, 6), IS(out.confirm, 0x01), YES(3, 6),
      IS(out.confirm, 0), WON, IS(round.fence.value, 6)}},
    {"a_late_lower_node_is_asked_to_confirm",
     {FENCED(5), YES(0, 5), YES(1, 6), YES(2, 6), YES(3, 4), IS(out.confirm, 0x08),
      IS(out.fence, 6), ASKING, CONFIRM(3, OURS), WON, IS(round.fence.value, 6)}},

    /* A master with a greater number has given ours away before, perhaps to a later holder. It has
     * our key, and so a lease, but it does not agree. */
    {"a_late_greater_vote_has_a_lease_and_does_not_agree",
     {FENCED(3), YES(0, 5), YES(1, 6), IS(out.confirm, 0x1), YES(2, 7), IS(out.confirm, 0), ASKING,
      IS(round.fence.value, 6), IS(round.yes, 0x7), CONFIRM(0, OURS), WON}},
    /* 1 and 2 have our key, with the numbers 6 and 7. */
    {"a_late_greater_vote_does_not_replace_a_confirmation",
     {FENCED(3), YES(0, 5), YES(1, 6), YES(2, 7), CONFIRM(0, GONE), LOST(ENOQUORUM, 0x7)}},

    /* The win is valid as long as a majority of the nodes that agree: only they made it a win. */
    {"a_late_greater_vote_does_not_count_for_the_validity",
     {FENCED(3), SET(round.end_us[0], T0 + LEASE - 500), YES(0, 5), YES(1, 6), YES(2, 7),
      CONFIRM(0, OURS), WON, IS(counted, 0x3), VALID(LEASE - 500)}},

    /* Whether the greater number comes before or after the vote that no longer counts. There is a
     * majority of yes votes with enough validity, but no majority that agrees. */
    {"a_late_greater_vote_does_not_replace_one_that_no_longer_counts",
     {FENCED(3), YES(0, 5), YES(1, 5), WON, YES(2, 9), QUARANTINE(0x2), IS(round.yes, 0x5),
      IS(round.valid_until_us, 0), DELIVER(100), LOST(ENOQUORUM, 0x7)}},
    {"a_greater_vote_after_it_does_not_replace_one_that_no_longer_counts",
     {FENCED(3), YES(0, 5), YES(1, 5), WON, QUARANTINE(0x2), YES(2, 9), IS(round.yes, 0x5),
      IS(round.valid_until_us, 0), DELIVER(100), LOST(ENOQUORUM, 0x7)}},

    {"a_late_equal_vote_replaces_one_that_no_longer_counts",
     {FENCED(3), YES(0, 5), YES(1, 5), YES(2, 5), QUARANTINE(0x2), DELIVER(100), WON,
      IS(counted, 0x5), VALID(LEASE)}},

    /* The round is lost as soon as the nodes that agree, that are asked, and that have not voted
     * yet are too few. */
    {"lost_at_once_when_no_majority_can_agree",
     {FENCED(3), YES(0, 6), YES(1, 5), VOTE(0x4, NO), ASKING, CONFIRM(1, UNKNOWN),
      IS(round.state, RLK_ROUND_LOST), IS(out.release, 0x3)}},

    {"confirmations_are_waited_for_until_the_deadline",
     {FENCED(3), YES(0, 5), YES(1, 6), IS(round.deadline_us, T0 + TIMEOUT), TIMER(TIMEOUT - 1),
      ASKING, TIMER(TIMEOUT), LOST(ENOQUORUM, 0x7), CONFIRM(0, OURS),
      IS(round.state, RLK_ROUND_LOST)}},

    /* [S2] The leases are those of the votes, however late the nodes agree. */
    {"the_time_to_agree_reduces_the_validity",
     {FENCED(3), YES(0, 5), YES(1, 6), AT(LEASE - MIN_LEFT, CONFIRM, .answer = RLK_ANSWER_OURS),
      WON, VALID(LEASE), FENCED(3), YES(0, 5), YES(1, 6),
      AT(LEASE - MIN_LEFT + 1, CONFIRM, .answer = RLK_ANSWER_OURS), LOST(ETOOSLOW, 0x7)}},

    {"a_yes_without_a_number_is_unknown",
     {FENCED(3), YES(0, 0), YES(1, 0), LOST(ENOQUORUM, 0x7), IS(round.yes, 0)}},

    {"each_node_whose_vote_does_not_count_stays_unknown",
     {FENCED(13), VOTE(0x3, UNKNOWN), YES(2, 7), QUARANTINE(0x4), IS(round.unknown, 0x7), YES(3, 0),
      VOTE(0x10, QUARANTINED), VOTE(0x20, OURS), ASKING, IS(round.unknown, 0x3f)}},

    {"nothing_is_asked_after_the_win",
     {FENCED(5), YES(0, 6), YES(1, 6), YES(2, 6), YES(3, 5), IS(out.confirm, 0), YES(4, 9),
      IS(out.confirm, 0), WON, IS(round.fence.value, 6), IS(round.yes, 0x1f)}},

    /* A node that refuses to confirm does not have our key; the win stays without it. */
    {"a_node_that_confirms_after_the_win_agrees",
     {FENCED(5), YES(0, 5), YES(1, 6), YES(2, 6), YES(3, 6), WON, CONFIRM(0, OURS), WON,
      IS(round.yes, 0xf), IS(counted, 0xf), VALID(LEASE)}},
    {"a_refusal_to_confirm_after_the_win_leaves_it_a_win",
     {FENCED(5), YES(0, 5), YES(1, 6), YES(2, 6), YES(3, 6), WON, CONFIRM(0, GONE), WON,
      IS(round.yes, 0xe), IS(counted, 0xe), VALID(LEASE)}},

    /* At first there is no fence yet. */
    {"an_unasked_confirmation_is_ignored",
     {FENCED(5), YES(0, 5), YES(1, 6), CONFIRM(0, GONE), IS(round.yes, 0x3), YES(2, 6),
      CONFIRM(1, GONE), CONFIRM(3, OURS), IS(round.yes, 0x7), ASKING, CONFIRM(0, OURS), WON}},

    /* [S11] A number from a node in quarantine does not count. */
    {"a_quarantined_vote_does_not_raise_the_fence",
     {FENCED(3),
      EVENT(.kind = RLK_EVENT_VOTE, .node = 2, .vote = RLK_VOTE_QUARANTINED, .fence = 90),
      YES(0, 5), YES(1, 5), WON, IS(round.fence.value, 5)}},

    {"without_a_fence_numbers_do_not_matter",
     {START(3), YES(0, 5), YES(1, 6), WON, IS(out.confirm, 0), IS(round.fence.value, 0), START(3),
      YES(0, 5), YES(1, 0), WON, IS(out.confirm, 0), IS(round.fence.value, 0)}},

    /* [S1] */
    {"a_node_without_a_vote_adds_nothing_to_the_fence",
     {FENCED(4), SET(voters.set, 0x7), SET(voters.size, 3), YES(3, 9), YES(0, 5), ASKING, YES(1, 5),
      WON, IS(round.fence.value, 5), IS(out.confirm, 0)}},
    {"but_it_is_asked_to_confirm_and_agrees_when_it_has_a_vote",
     {FENCED(4), SET(voters.set, 0x7), SET(voters.size, 3), YES(3, 3), YES(0, 5), YES(1, 6),
      IS(round.fence.value, 6), IS(out.confirm, 0x9), CONFIRM(3, OURS), ASKING, VOTERS(100, 0xf, 4),
      ASKING, YES(2, 6), WON, IS(counted, 0xe)}},
    {"but_not_when_enough_voters_agree",
     {FENCED(4), SET(voters.set, 0x7), SET(voters.size, 3), YES(3, 3), YES(0, 6), YES(1, 6), WON,
      IS(round.fence.value, 6), IS(out.confirm, 0)}},
    {"fewer_voters_may_be_the_first_majority",
     {FENCED(4), YES(0, 5), YES(1, 7), IS(out.confirm, 0), VOTERS(100, 0x7, 3), ASKING,
      IS(out.confirm, 0x1), IS(out.fence, 7), IS(round.fence.value, 7), CONFIRM(0, OURS), WON}},
    {"the_vote_of_a_new_voter_may_make_the_first_majority",
     {FENCED(5), SET(voters.set, 0x7), SET(voters.size, 4), YES(0, 5), YES(1, 7), YES(3, 9), ASKING,
      IS(round.fence.value, 0), VOTERS(100, 0xf, 4), IS(out.confirm, 0x3), IS(out.fence, 9)}},
    {"a_change_asks_nobody_twice",
     {FENCED(5), YES(0, 5), YES(1, 6), YES(2, 6), IS(out.confirm, 0x1), VOTERS(100, 0xf, 4),
      IS(out.confirm, 0), ASKING, CONFIRM(0, OURS), WON}},
};

CASE("rounds");

TEST_ROWS(a_round, of_rounds)
{
    round_tell(&of_rounds[_i]);
}

/* _i: the answer instead of a confirmation. The key may still be there. */
TEST_LOOP(a_vote_that_is_not_confirmed_does_not_count, 0, 3)
{
    static const enum rlk_answer answers[] = {RLK_ANSWER_UNKNOWN, RLK_ANSWER_GONE,
                                              RLK_ANSWER_TAKEN};
    struct world w;

    PLAY(&w, FENCED(5), YES(0, 5), YES(1, 6), YES(2, 6),
         EVENT(.kind = RLK_EVENT_CONFIRM, .answer = answers[_i]), ASKING, IS(round.yes, 0x6),
         IS(round.unknown, 0x1), VOTE(0x8, NO), ASKING, VOTE(0x10, UNKNOWN),
         IS(round.state, RLK_ROUND_LOST), IS(out.release, 0x17));
}
