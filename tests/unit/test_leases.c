/* test_leases.c - what each node has said of our key, and for how long the lock is valid because of
 * it [S2, S7, S8]. */
#include <string.h>

#include "base/mask.h"
#include "base/time.h"
#include "core/leases.h"
#include "lib/story.h"
#include "lib/test.h"
#include "lib/voters.h"

SUITE("leases");

#define T0 UINT64_C(1000000)
#define ALL5 UINT64_C(0x1f)

/* A round that `yes` won and `no` refused. All keys were asked for until T0. */
static struct rlk_round won_round(unsigned nodes, uint64_t asked, uint64_t yes, uint64_t no)
{
    struct rlk_round round;
    unsigned node;

    rlk_round_init(&round, RLK_NEVER);
    round.state = RLK_ROUND_WON;
    round.asked = asked;
    round.yes = yes;
    round.no = no;
    for (node = 0; node < nodes; node++) {
        round.end_us[node] = T0;
    }
    round.valid_until_us = T0;
    return round;
}

/* Of the leases of a test. */
static uint64_t room[RLK_LEASES_ROOM(RLK_MAX_NODES)];

static struct rlk_leases won(unsigned nodes, uint64_t asked, uint64_t yes, uint64_t no)
{
    struct rlk_round round = won_round(nodes, asked, yes, no);
    struct rlk_leases l;

    memset(&l, 0xff, sizeof(l)); /* every field must be written */
    rlk_leases_init(&l, nodes, all_voters(nodes), &round, room);
    return l;
}

static void answer(struct rlk_leases *l, uint64_t nodes, enum rlk_answer a)
{
    unsigned node;

    RLK_MASK_EACH (node, nodes) {
        rlk_leases_answered(l, node, a);
    }
}

static void vote(struct rlk_leases *l, uint64_t nodes, enum rlk_vote v)
{
    unsigned node;

    RLK_MASK_EACH (node, nodes) {
        rlk_leases_voted(l, node, v);
    }
}

/* ---- the steps of a story ---- */

struct world {
    struct rlk_voters voters;
    struct rlk_leases l;
    uint64_t room[RLK_LEASES_ROOM(RLK_MAX_NODES)]; /* of l: the lease ends come first */
    uint64_t asked;                                /* by the last question */
    bool possible;
    unsigned step;
};

struct step {
    void (*take)(struct world *w, const struct step *s);
    uint64_t nodes; /* or how many */
    uint64_t us;
    unsigned node;
    enum rlk_vote vote;
    enum rlk_answer answer;
    uint64_t asked, yes, no, agreed;
    struct story_field field;
    uint64_t value;
};

struct story {
    const char *claim;
    struct step steps[20];
};

static void win(struct world *w, const struct step *s)
{
    struct rlk_round round = won_round((unsigned)s->nodes, s->asked, s->yes, s->no);

    round.fence.value = s->agreed ? 7 : 0;
    round.fence.agreed = s->agreed;
    memset(&w->l, 0xff, sizeof(w->l)); /* every field must be written */
    w->voters = *all_voters((unsigned)s->nodes);
    rlk_leases_init(&w->l, (unsigned)s->nodes, &w->voters, &round, w->room);
}

static void begin(struct world *w, const struct step *s)
{
    w->asked = rlk_leases_begin(&w->l, s->nodes, s->us);
}

static void join(struct world *w, const struct step *s)
{
    w->asked = rlk_leases_join(&w->l, s->node, s->us);
}

static void heal(struct world *w, const struct step *s)
{
    w->asked = rlk_leases_restore(&w->l, s->nodes, s->us);
}

static void hear_answers(struct world *w, const struct step *s)
{
    answer(&w->l, s->nodes, s->answer);
}

static void hear_votes(struct world *w, const struct step *s)
{
    vote(&w->l, s->nodes, s->vote);
}

static void expect(struct world *w, const struct step *s)
{
    w->possible = rlk_leases_possible(&w->l);
    story_expect(w, &s->field, s->value, w->step);
}

static void suspect(struct world *w, const struct step *s)
{
    rlk_leases_suspect_clock(&w->l, s->node, true);
}

static void change_voters(struct world *w, const struct step *s)
{
    w->voters = (struct rlk_voters){s->nodes, (unsigned)s->us};
    rlk_leases_recount(&w->l);
}

/* Keys end so long after T0. */
#define WON(n, all, y, x) STEP(.take = win, .nodes = (n), .asked = (all), .yes = (y), .no = (x))
#define BEGIN(who, after) STEP(.take = begin, .nodes = (who), .us = T0 + (after))
#define JOIN(i, after) STEP(.take = join, .node = (i), .us = T0 + (after))
#define HEAL(who, after) STEP(.take = heal, .nodes = (who), .us = T0 + (after))
#define ANSWER(who, what) STEP(.take = hear_answers, .nodes = (who), .answer = RLK_ANSWER_##what)
#define VOTE(who, what) STEP(.take = hear_votes, .nodes = (who), .vote = RLK_VOTE_##what)
#define SUSPECT(i) STEP(.take = suspect, .node = (i))
#define VOTERS(mask, n) STEP(.take = change_voters, .nodes = (mask), .us = (n))
#define IS(member, x) STEP(.take = expect, .field = STORY_FIELD(struct world, member), .value = (x))
#define ASKED(who) IS(asked, who)
#define VALID(after) IS(l.valid_until_us, T0 + (after))

static void tell(const struct story *story)
{
    struct world w = {.step = 0};

    STORY_PLAY(&w, story->steps);
}

/* ---- the win ---- */

static const struct story of_the_win[] = {
    /* [S12] The majority that agrees on the fence won the lock. A node that said yes with another
     * number has our key, and counts from the next success on. */
    {"with_a_fence_those_that_agree_count",
     {STEP(.take = win, .nodes = 5, .asked = ALL5, .yes = 0x0f, .agreed = 0x17),
      IS(l.counted, 0x07), IS(l.present, 0x0f), BEGIN(ALL5, 0), ANSWER(0x0b, OURS),
      IS(l.success, false), ANSWER(0x04, OURS), IS(l.success, true), IS(l.counted, 0x0f)}},

    /* All nodes that granted before the win was reported to the user count at once. */
    {"each_node_that_granted_before_the_delivery_counts",
     {WON(5, ALL5, 0x1b, 0x04), IS(l.counted, 0x1b), IS(l.may_have_key, 0x1b), IS(l.unanswered, 0),
      BEGIN(ALL5, 500), ANSWER(0x19, OURS), IS(l.success, true)}},
};

CASE("validity");
TIME_LIMIT(60); /* every way in which four nodes answer three times */

TEST_ROWS(the_win, of_the_win)
{
    tell(&of_the_win[_i]);
}

/* [S11] Whether it had voted or not: it was asked before its clock moved. */
TEST(a_lease_by_a_clock_that_moved_in_the_round_does_not_count)
{
    struct rlk_round round = won_round(5, ALL5, 0x07, 0);
    struct rlk_leases l;

    round.quarantined = round.unknown = 0x08;
    round.clock_suspect = 0x18;
    rlk_leases_init(&l, 5, all_voters(5), &round, room);
    rlk_leases_suspect_clock(&l, 3, false);
    rlk_leases_suspect_clock(&l, 4, false);
    vote(&l, 0x10, RLK_VOTE_YES);
    ck_assert_uint_eq(l.present, ALL5);
    ck_assert_uint_eq(l.end_us[3], 0);
    ck_assert_uint_eq(l.end_us[4], 0);
}

/* [S7] A node without room is left out of a renewal, unless too few of those that count could be
 * asked. A node whose answer is still to come counts as asked. */
TEST(a_late_node_is_asked_when_those_that_count_are_too_few)
{
    struct rlk_round round = won_round(5, ALL5, 0x13, 0);
    struct rlk_leases l;

    round.unknown = 0x0c;
    rlk_leases_init(&l, 5, all_voters(5), &round, room);
    ck_assert_uint_eq(rlk_leases_reach(&l, 0x13, 0x0c), 0x13);
    ck_assert_uint_eq(rlk_leases_reach(&l, 0x0f, 0x10), ALL5);
    ck_assert_uint_eq(rlk_leases_reach(&l, 0x0f, 0), 0x0f);
    l.unanswered = 0x10;
    ck_assert_uint_eq(rlk_leases_reach(&l, 0x0f, 0x10), 0x0f);
}

/* ---- S2 ---- */

/* What is expected: remove the largest end, quorum - 1 times. */
static uint64_t nth_largest(const uint64_t *ends, uint64_t mask, unsigned nth)
{
    uint64_t best_us = 0;
    unsigned node, best = 0;

    for (; nth > 0; nth--) {
        if (mask == 0) {
            return 0;
        }
        for (best_us = 0, node = 0; node < RLK_MAX_NODES; node++) {
            if ((mask >> node & 1) && ends[node] >= best_us) {
                best_us = ends[node];
                best = node;
            }
        }
        mask &= ~rlk_mask_bit(best);
    }
    return best_us;
}

/* N nodes answer three extensions of different lengths: each says that the key is ours, or gone, or
 * nothing, in every combination. The test computes what is expected from the words of the rule. */
static bool three_extensions(unsigned n, unsigned ways)
{
    static const uint64_t until_us[3] = {T0 + 300, T0 + 200, T0 + 900};
    uint64_t ends[RLK_MAX_NODES], counted = rlk_mask_all(n), present = counted;
    struct rlk_leases l = won(n, counted, counted, 0);
    unsigned i, node, quorum = n / 2 + 1;
    bool success, same = true;

    for (node = 0; node < n; node++) {
        ends[node] = T0;
    }
    for (i = 0; i < 3; i++) {
        uint64_t asked = rlk_leases_begin(&l, rlk_mask_all(n), until_us[i]);
        unsigned confirmed = 0;

        same = same && asked == rlk_mask_all(n);
        success = false;
        for (node = 0; node < n; node++) {
            unsigned way = ways % 3;

            ways /= 3;
            if (way == 0) {
                confirmed += (counted & rlk_mask_bit(node)) != 0;
                ends[node] =
                    present >> node & 1 ? rlk_time_max(ends[node], until_us[i]) : until_us[i];
                present |= rlk_mask_bit(node);
                counted = confirmed >= quorum && !success ? present : counted;
                success = confirmed >= quorum;
            } else if (way == 1) {
                present &= ~rlk_mask_bit(node);
                counted &= ~rlk_mask_bit(node);
            }
            rlk_leases_answered(
                &l, node,
                (enum rlk_answer[]){RLK_ANSWER_OURS, RLK_ANSWER_GONE, RLK_ANSWER_UNKNOWN}[way]);
            same = same && l.counted == counted && l.success == success &&
                   l.valid_until_us == nth_largest(ends, counted, quorum) &&
                   rlk_leases_possible(&l) == (rlk_mask_count(counted) >= quorum);
        }
    }
    return same;
}

TEST_LOOP(valid_until_the_majority_th_largest_end_of_those_that_count, 1, 5)
{
    unsigned n = (unsigned)_i, all = 1, ways, i;

    for (i = 0; i < 3 * n; i++) {
        all *= 3;
    }
    for (ways = 0; ways < all; ways++) {
        if (!three_extensions(n, ways)) {
            ck_abort_msg("%u nodes, way %u", n, ways);
        }
    }
}

static const struct story of_validity[] = {
    {"an_extension_never_shortens",
     {WON(5, ALL5, ALL5, 0), BEGIN(ALL5, -500), ANSWER(ALL5, OURS), IS(l.success, true), VALID(0)}},

    {"one_that_fails_changes_nothing",
     {WON(5, ALL5, ALL5, 0), BEGIN(ALL5, 500), ANSWER(0x03, OURS), ANSWER(0x1c, UNKNOWN),
      IS(l.success, false), VALID(0), IS(l.counted, ALL5), IS(possible, true)}},

    /* A node was extended for long, together with two that do not all count (0 and 3 do, 4 does not
     * yet). It forgot, and its key was set again for a short time. The long lease ended with the
     * first key. */
    {"a_lease_dies_with_its_key",
     {WON(5, ALL5, 0x0f, 0), VOTE(0x10, YES), BEGIN(ALL5, 9000000), ANSWER(0x19, OURS),
      ANSWER(0x06, UNKNOWN), IS(l.success, false), BEGIN(ALL5, 100), ANSWER(0x17, OURS),
      ANSWER(0x08, GONE), VALID(100), HEAL(ALL5, 90), ASKED(0x08), VOTE(0x08, YES),
      BEGIN(ALL5, 200), ANSWER(0x17, OURS), IS(l.counted, ALL5), VALID(200)}},

    {"the_largest_end_is_an_end_like_others",
     {WON(3, 7, 7, 0), BEGIN(7, RLK_NEVER - T0), ANSWER(1, OURS), VALID(0), ANSWER(2, OURS),
      IS(l.valid_until_us, RLK_NEVER)}},
};

TEST_ROWS(validity, of_validity)
{
    tell(&of_validity[_i]);
}

/* ---- S7 ---- */

static const struct story of_counting[] = {
    /* A holds 0, 1, 2; node 2 restarts empty; B takes 2, 3, 4, works, releases; A extends
     * in time. If A set the key again where it is missing, it would count five and never notice. So
     * A only asks 0, 1 and 2: 3 and 4 have refused. */
    {"a_restart_after_which_somebody_had_the_lock_is_a_loss",
     {WON(5, ALL5, 0x07, 0x18), BEGIN(ALL5, 500), ASKED(0x07), ANSWER(0x03, OURS),
      IS(l.success, false), ANSWER(0x04, GONE), IS(l.success, false), IS(possible, false),
      IS(l.valid_until_us, 0)}},

    /* The same while B still has the lock; 3 and 4 were not asked before. */
    {"a_restart_while_somebody_has_the_lock_is_a_loss",
     {WON(5, 0x07, 0x07, 0), BEGIN(ALL5, 500), ANSWER(0x04, TAKEN), IS(possible, false),
      ANSWER(0x03, OURS), IS(l.success, false), IS(l.valid_until_us, 0)}},

    /* {1, 2, 3} hold it; 3 forgets at t1; 4 is healed at t2. Between t1 and t2 a rival
     * could hold and release {0, 3, 4}, so a confirmation by 1, 2 and 4 proves nothing. */
    {"a_healed_node_does_not_stand_in_for_one_that_forgot",
     {WON(5, 0x0e, 0x0e, 0), HEAL(0x10, -10), ASKED(0x10), VOTE(0x10, YES), BEGIN(ALL5, 500),
      ASKED(0x1e), ANSWER(0x16, OURS), IS(l.success, false), VALID(0), ANSWER(0x08, GONE),
      IS(possible, false)}},

    /* With 3 up all of them confirm, and from there on 4 counts like any other. */
    {"a_healed_node_counts_from_the_next_success_on",
     {WON(5, 0x0e, 0x0e, 0), HEAL(0x10, -10), VOTE(0x10, YES), IS(l.counted, 0x0e),
      BEGIN(ALL5, 500), ANSWER(0x1e, OURS), IS(l.success, true), IS(l.counted, 0x1e),
      BEGIN(ALL5, 900), ANSWER(0x16, OURS), IS(l.success, true), VALID(900)}},

    /* A late yes of the first round, and the first yes of a node whose SET was lost, count like the
     * yes of a healed node. */
    {"late_votes_count_from_the_next_success_on",
     {WON(5, ALL5, 0x07, 0), VOTE(0x08, YES), VOTE(0x10, UNKNOWN), IS(l.present, 0x0f),
      IS(l.counted, 0x07), BEGIN(ALL5, 500), ANSWER(0x1b, OURS), IS(l.success, false), VALID(0),
      ANSWER(0x04, OURS), IS(l.success, true), IS(l.counted, ALL5)}},

    {"the_late_answers_of_a_round_that_has_succeeded_do_not_count_in_it",
     {WON(5, ALL5, 0x07, 0), VOTE(0x18, UNKNOWN), BEGIN(ALL5, 500), ANSWER(0x07, OURS),
      IS(l.success, true), ANSWER(0x18, OURS), IS(l.present, ALL5), IS(l.counted, 0x07)}},
};

CASE("counting");

TEST_ROWS(counting, of_counting)
{
    tell(&of_counting[_i]);
}

/* ---- which question an answer belongs to ---- */

static const struct story of_questions[] = {
    /* 1 and 2 have not answered the older question yet. The lease of each ended at 500. */
    {"an_answer_to_an_older_question_does_not_answer_this_one",
     {WON(3, 7, 7, 0), BEGIN(7, 500), ANSWER(1, OURS), BEGIN(7, 900), ASKED(1), ANSWER(6, OURS),
      IS(l.success, false), IS(room[1], T0 + 500), IS(room[2], T0 + 500), VALID(500),
      ANSWER(1, OURS), IS(l.success, false), VALID(500)}},

    /* [S2] The lock needs three leases, whatever the rounds were. */
    {"a_round_counts_no_confirmation_of_the_one_before",
     {WON(5, ALL5, ALL5, 0), BEGIN(ALL5, 500), ANSWER(0x03, OURS), ANSWER(0x1c, UNKNOWN),
      BEGIN(ALL5, 900), ANSWER(0x04, OURS), ANSWER(0x1b, UNKNOWN), IS(l.success, false),
      VALID(500)}},

    /* 2 has not answered; 0 was asked already. */
    {"a_node_joins_the_round_once_when_it_answered_the_older_question",
     {WON(3, 7, 7, 0), BEGIN(4, 500), BEGIN(7, 900), JOIN(2, 950), ASKED(0), JOIN(0, 950), ASKED(0),
      ANSWER(4, UNKNOWN), JOIN(2, 950), ASKED(4), JOIN(2, 990), ASKED(0), ANSWER(1, OURS),
      ANSWER(4, OURS), IS(l.success, true), IS(room[2], T0 + 950), VALID(900)}},

    {"a_node_that_cannot_have_our_key_does_not_join",
     {WON(3, 7, 3, 4), BEGIN(7, 500), JOIN(2, 500), ASKED(0), JOIN(63, 500), ASKED(0)}},

    /* [S10] 4 is another address of a server that has voted: it never counts, and its key is
     * released. So is that of 3, which had refused, and has our token now. */
    {"a_duplicate_is_never_asked_again",
     {WON(5, ALL5, 0x07, 0x08), VOTE(0x10, OURS), HEAL(ALL5, -10), ASKED(0x08), VOTE(0x08, OURS),
      IS(l.present, 0x07), BEGIN(ALL5, 500), ASKED(0x07), JOIN(4, 500), ASKED(0),
      ANSWER(0x07, OURS), HEAL(ALL5, 0), ASKED(0), IS(l.counted, 0x07), IS(l.may_have_key, ALL5)}},

    /* The SET was carried out, and its reply was lost. */
    {"our_key_where_an_answer_was_lost_is_no_duplicate",
     {WON(5, ALL5, 0x0f, 0), VOTE(0x10, UNKNOWN), HEAL(ALL5, -10), ASKED(0x10), VOTE(0x10, OURS),
      IS(l.present, ALL5), IS(l.counted, 0x0f)}},

    /* 3 refused the first SET and is restored, 4 refuses it late; then 0 and 1 lose the key. */
    {"a_node_is_absent_as_long_as_its_last_answer_says_so",
     {WON(5, ALL5, 0x07, 0x08), IS(l.absent, 0x08), VOTE(0x10, NO), IS(l.absent, 0x18),
      HEAL(0x08, -10), VOTE(0x08, YES), IS(l.absent, 0x10), BEGIN(0x07, 500), ANSWER(0x01, GONE),
      ANSWER(0x02, TAKEN), ANSWER(0x04, UNKNOWN), IS(l.absent, 0x13)}},

    {"unknown_is_never_a_no",
     {WON(3, 7, 7, 0), BEGIN(7, 500), ANSWER(7, UNKNOWN), IS(l.present, 7), IS(l.counted, 7),
      IS(l.may_have_key, 7), VALID(0)}},
};

CASE("questions");

TEST_ROWS(question, of_questions)
{
    tell(&of_questions[_i]);
}

TEST(unasked_answers_change_nothing)
{
    struct rlk_leases l = won(5, 0x1f, 0x0f, 0), before = l;
    uint64_t room_before[RLK_LEASES_ROOM(5)];
    unsigned node;

    memcpy(room_before, room, sizeof(room_before));
    vote(&l, 0x10, RLK_VOTE_UNKNOWN);
    before.unanswered = 0;
    before.doubtful = 0x10;
    for (node = 0; node < 64; node++) {
        rlk_leases_answered(&l, node, RLK_ANSWER_GONE);
        rlk_leases_answered(&l, node, RLK_ANSWER_TAKEN);
        rlk_leases_answered(&l, node, RLK_ANSWER_OURS);
        rlk_leases_voted(&l, node, RLK_VOTE_YES);
        rlk_leases_voted(&l, node, RLK_VOTE_NO);
    }
    ck_assert_mem_eq(&l, &before, sizeof(l));
    ck_assert_mem_eq(room, room_before, sizeof(room_before));
}

/* ---- S8, S5 ---- */

static const struct story of_healing[] = {
    /* The vote of 4 is outstanding, 5 and 6 were not asked at first, and 6 is not ready. Each node
     * that was asked must be released, whatever it says. */
    {"nodes_are_healed_that_are_ready_have_no_key_and_no_open_question",
     {WON(7, ALL5, 0x0f, 0), HEAL(UINT64_MAX & ~UINT64_C(0x40), -10), ASKED(0x20),
      IS(l.may_have_key, 0x3f), HEAL(UINT64_MAX, -10), ASKED(0x40), VOTE(0x10, UNKNOWN),
      VOTE(0x20, YES), VOTE(0x40, NO), IS(l.present, 0x2f), HEAL(UINT64_MAX, -10), ASKED(0x50)}},

    {"a_key_of_another_owner_is_not_healed_before_the_next_round",
     {WON(5, ALL5, ALL5, 0), BEGIN(ALL5, 500), ANSWER(0x01, TAKEN), ANSWER(0x02, GONE),
      ANSWER(0x1c, OURS), HEAL(ALL5, 400), ASKED(0x02), VOTE(0x02, YES), BEGIN(ALL5, 900),
      ASKED(ALL5), ANSWER(0x1e, OURS), ANSWER(0x01, GONE), HEAL(ALL5, 800), ASKED(0x01)}},

    /* A late no to the first SET spares the node the release. A no to a heal does not: a SET whose
     * reply was lost may have set some of several keys. */
    {"a_refusal_spares_a_node_that_was_never_healed",
     {WON(5, ALL5, 0x07, 0), VOTE(0x08, NO), VOTE(0x10, UNKNOWN), IS(l.may_have_key, 0x17),
      HEAL(ALL5, -10), ASKED(0x18), VOTE(0x18, NO), IS(l.may_have_key, ALL5), BEGIN(ALL5, 500),
      ASKED(ALL5)}},
};

CASE("healing");

TEST_ROWS(healing, of_healing)
{
    tell(&of_healing[_i]);
}

/* ---- voters ---- */

static const struct story of_voters[] = {
    {"a_new_voter_that_is_present_counts_at_once",
     {WON(4, 0xf, 0xb, 0), VOTERS(0x7, 3), IS(l.counted, 0x3), VOTERS(0xf, 4), IS(l.counted, 0xb),
      VALID(0)}},
    {"one_that_is_absent_does_not_and_the_majority_is_gone",
     {WON(4, 0xf, 0x7, 0x8), VOTERS(0x7, 3), BEGIN(0x4, 500), ANSWER(0x4, GONE), IS(l.counted, 0x3),
      VOTERS(0xf, 4), IS(l.counted, 0x3), IS(l.valid_until_us, 0), IS(possible, false)}},
    {"a_majority_is_left_when_one_of_four_leaves",
     {WON(4, 0xf, 0xe, 0), VOTERS(0x7, 3), IS(l.counted, 0x6), VALID(0), IS(possible, true)}},
    {"none_is_left_when_one_of_the_only_three_of_five_leaves",
     {WON(5, ALL5, 0x1c, 0), VOTERS(0xf, 4), IS(l.counted, 0xc), IS(l.valid_until_us, 0),
      IS(possible, false)}},
    {"late_votes_make_up_for_the_one_that_leaves",
     {WON(5, ALL5, 0x1c, 0), VOTE(0x3, YES), IS(l.counted, 0x1c), VOTERS(0xf, 4),
      IS(l.counted, 0xf), IS(possible, true)}},
    {"a_voter_whose_clock_is_suspect_does_not_count",
     {WON(4, 0xf, 0xf, 0), VOTERS(0x7, 3), SUSPECT(3), VOTERS(0xf, 4), IS(l.counted, 0x7)}},
    {"a_voter_that_was_present_before_waits_for_the_next_success",
     {WON(5, ALL5, 0x07, 0), VOTE(0x08, YES), IS(l.counted, 0x07), VOTERS(ALL5 & ~0x10, 4),
      IS(l.counted, 0x07), BEGIN(ALL5, 500), ANSWER(0x07, OURS), IS(l.counted, 0x0f)}},
    {"without_a_vote_a_node_is_present_and_asked_and_never_counts",
     {WON(4, 0xf, 0xf, 0), VOTERS(0x7, 3), BEGIN(0xf, 500), ASKED(0xf), ANSWER(0x9, OURS),
      IS(l.success, false), ANSWER(0x2, OURS), IS(l.success, true), IS(l.counted, 0x7),
      IS(l.present, 0xf)}},
    {"a_round_succeeds_when_fewer_voters_are_enough",
     {WON(4, 0xf, 0xf, 0), BEGIN(0xf, 500), ANSWER(0x3, OURS), IS(l.success, false), VOTERS(0x7, 3),
      IS(l.success, true), VALID(500)}},
    {"a_new_voter_that_has_confirmed_in_the_round_counts_for_its_success",
     {WON(4, 0xf, 0xf, 0), VOTERS(0x7, 4), BEGIN(0xf, 500), ANSWER(0xb, OURS), IS(l.success, false),
      VOTERS(0xf, 4), IS(l.success, true), VALID(500)}},
    {"it_is_restored_like_all_others",
     {WON(4, 0xf, 0x7, 0), VOTERS(0x7, 3), VOTE(0x8, UNKNOWN), HEAL(0xf, 500), ASKED(0x8)}},
};

CASE("voters");

TEST_ROWS(voters, of_voters)
{
    tell(&of_voters[_i]);
}
