/* test_steps.c - what follows when a master's clock moved, or this client was suspended [S11].
 * Which of the two it was is test_clocks.c. */
#include <stdbool.h>
#include <string.h>

#include "base/mask.h"
#include "base/time.h"
#include "core/steps.h"
#include "lib/test.h"
#include "lib/voters.h"

SUITE("steps");

#define S UINT64_C(1000000)
#define NODES 3
#define TTL (30 * S)
#define EPOCH (UINT64_C(1700000000) * S)

static struct rlk_clocks clocks;
static struct rlk_quarantine standings[NODES];
static struct rlk_quarantine *const quarantine[NODES] = {&standings[0], &standings[1],
                                                         &standings[2]};
static struct rlk_steps_actions out;
static uint64_t now_us, distance_us[NODES];

static void greet(struct rlk_quarantine *s, enum rlk_quarantine_policy policy)
{
    struct rlk_facts facts = {.run = "abc",
                              .birth = {.mark = 77, .born_us = EPOCH, .server_us = EPOCH},
                              .age_us = RLK_NEVER};

    rlk_quarantine_init(s, policy, TTL, 10000);
    rlk_quarantine_take_handshake(s, &facts, now_us);
}

/* A node answers TIME, half a second after the node before. */
static void hear(unsigned node)
{
    struct rlk_clock_sample sample;

    now_us += S / 2;
    sample = (struct rlk_clock_sample){
        .sent_us = now_us, .received_us = now_us, .server_us = now_us + distance_us[node]};
    rlk_steps_take_sample(&clocks, quarantine, node, &sample, &out);
}

static void expect(bool clock_suspect, uint64_t suspended_us, uint64_t note, uint64_t ask)
{
    ck_assert_int_eq(out.clock_suspect, clock_suspect);
    ck_assert_uint_eq(out.suspended_us, suspended_us);
    ck_assert_uint_eq(out.record, note);
    ck_assert_uint_eq(out.ask, ask);
}

static void expect_nothing(void)
{
    expect(false, 0, 0, 0);
}

/* All nodes have answered TIME twice, and kept time. */
static void set_up(enum rlk_quarantine_policy policy)
{
    unsigned i;

    now_us = 5000 * S;
    rlk_clocks_init(&clocks, NODES, all_voters(NODES), 10000, TTL);
    for (i = 0; i < NODES; i++) {
        distance_us[i] = EPOCH + i * 3600 * S;
        greet(quarantine[i], policy);
    }
    for (i = 0; i < 2 * NODES; i++) {
        hear(i % NODES);
        expect_nothing();
    }
}

static enum rlk_quarantine_reason reason_of(unsigned node)
{
    return rlk_quarantine_reason(quarantine[node], now_us, NULL);
}

TEST(a_clock_that_goes_ahead_quarantines_its_master_alone)
{
    set_up(RLK_QUARANTINE_STRICT);
    distance_us[1] += 10 * S;
    hear(1);
    expect(true, 0, 0, 5); /* the possible witnesses are asked */
    ck_assert_int_eq(reason_of(1), RLK_QUARANTINED_CLOCK);
    ck_assert(rlk_quarantine_is_clock_suspect(quarantine[1], now_us));
    ck_assert_int_eq(reason_of(0), RLK_QUARANTINED_NOT);
    ck_assert_int_eq(reason_of(2), RLK_QUARANTINED_NOT);
}

TEST(a_certain_step_is_recorded_until_it_is_on_record)
{
    struct rlk_birth birth = {.mark = 77};

    set_up(RLK_QUARANTINE_STRICT);
    distance_us[1] += 10 * S;
    hear(1);
    hear(0);
    expect(false, 0, 0, 4); /* one witness, and no second has passed: not certain yet */
    hear(2);
    expect(false, 0, 2, 0);
    hear(0);
    expect(false, 0, 2, 0);
    birth.born_us = birth.server_us = now_us + distance_us[1];
    rlk_quarantine_check_birth(quarantine[1], &birth, now_us);
    hear(2);
    expect_nothing();
}

TEST(leases_count_again_after_a_second_and_votes_after_the_quarantine)
{
    set_up(RLK_QUARANTINE_STRICT);
    distance_us[1] += 10 * S;
    hear(1);
    hear(1);
    ck_assert(rlk_quarantine_is_clock_suspect(quarantine[1], now_us));
    hear(1);
    ck_assert(!rlk_quarantine_is_clock_suspect(quarantine[1], now_us));
    ck_assert_int_eq(reason_of(1), RLK_QUARANTINED_CLOCK);
}

/* A majority went ahead: this client was suspended, and none of the clocks has moved. */
TEST(our_suspension_is_reported_and_ends_the_quarantines)
{
    unsigned i;

    set_up(RLK_QUARANTINE_STRICT);
    for (i = 0; i < NODES; i++) {
        distance_us[i] += 10 * S;
    }
    hear(0);
    ck_assert(out.clock_suspect && out.suspended_us == 0);
    hear(1);
    expect(false, 10 * S, 0, 0);
    hear(2);
    expect_nothing();
    for (i = 0; i < NODES; i++) {
        ck_assert_int_eq(reason_of(i), RLK_QUARANTINED_NOT);
        ck_assert(!rlk_quarantine_is_clock_suspect(quarantine[i], now_us));
    }
}

TEST(a_clock_that_falls_behind_changes_nothing)
{
    set_up(RLK_QUARANTINE_STRICT);
    distance_us[1] -= 10 * S;
    hear(1);
    expect_nothing();
    ck_assert_int_eq(reason_of(1), RLK_QUARANTINED_NOT);
}

TEST(with_the_quarantine_off_only_our_own_suspension_is_reported)
{
    set_up(RLK_QUARANTINE_OFF);
    distance_us[0] += 10 * S;
    hear(0);
    expect_nothing();
    ck_assert_int_eq(reason_of(0), RLK_QUARANTINED_NOT);
    distance_us[1] += 10 * S;
    hear(1);
    expect(false, 10 * S, 0, 0);
}
