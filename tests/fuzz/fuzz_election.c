/* fuzz_election.c - sequences of events into a candidate of an election.
 *
 * The script begins with five numbers: the lease, the renew deadline, the pause after a try that
 * failed and the pause after a lead that was lost, in microseconds, and whether the application
 * stops later (1) or not (0). Our priority is 5. Then each letter is a step: an event (see `events`
 * below, and what is read after each), or
 *
 *     +TIME    time goes by
 *     @, <     to the deadline, or to just before it
 *
 * An event that the driver cannot send then is passed over. Ends as the election is freed. */
#include <string.h>

#include <redlock/error.h>

#include "base/time.h"
#include "election_model.h"
#include "fuzz.h"

static const struct {
    int letter;
    const char *reads; /* v: until when the lock is valid, from now; r: why renewals fail, or the
                          lock is lost; p: the priority of who leads */
    struct rlk_election_event ev;
} events[] = {
    {'c', "", {.kind = RLK_ELECTION_CAMPAIGN}},
    {'r', "", {.kind = RLK_ELECTION_RESIGN}},
    {'h', "", {.kind = RLK_ELECTION_HAND_OVER}},
    {'C', "", {.kind = RLK_ELECTION_CLOSE}},
    {'w', "v", {.kind = RLK_ELECTION_WON, .healthy = true}},
    {'W', "v", {.kind = RLK_ELECTION_WON}},
    {'f', "", {.kind = RLK_ELECTION_FAILED}},
    {'m', "v", {.kind = RLK_ELECTION_MOVED}},
    {'M', "vr", {.kind = RLK_ELECTION_MOVED}},
    {'L', "r", {.kind = RLK_ELECTION_LOST}},
    {'s', "", {.kind = RLK_ELECTION_SICK}},
    {'p', "p", {.kind = RLK_ELECTION_LED, .led = true}},
    {'P', "", {.kind = RLK_ELECTION_LED}},
    {'o', "", {.kind = RLK_ELECTION_OUTRANKED, .outranked = true}},
    {'O', "", {.kind = RLK_ELECTION_OUTRANKED}},
    {'a', "", {.kind = RLK_ELECTION_CALLED, .called = true}},
    {'A', "", {.kind = RLK_ELECTION_CALLED}},
    {'d', "", {.kind = RLK_ELECTION_REPORTED}},
    {'S', "", {.kind = RLK_ELECTION_STOPPED}},
    {'t', "", {.kind = RLK_ELECTION_TIMER}},
    {'T', "r", {.kind = RLK_ELECTION_TIMER}},
};

/* The reasons that a hold has (core/hold.h), by the number in the script. */
static int reason(struct fuzz_script *s)
{
    static const int reasons[] = {REDLOCK_ELOST, REDLOCK_ENOQUORUM, REDLOCK_ESUSPENDED,
                                  REDLOCK_ELIMIT, REDLOCK_EUNRENEWED};

    return reasons[fuzz_number(s) % (sizeof(reasons) / sizeof(reasons[0]))];
}

static void play_event(struct election_model *m, struct fuzz_script *s, size_t i)
{
    struct rlk_election_event ev = events[i].ev;

    if (strchr(events[i].reads, 'v')) {
        ev.valid_until_us = fuzz_later(m->now_us, fuzz_number(s));
    }
    if (strchr(events[i].reads, 'r')) {
        ev.reason = reason(s);
    }
    if (strchr(events[i].reads, 'p')) {
        ev.priority = (uint32_t)rlk_time_min(fuzz_number(s), UINT32_MAX);
    }
    if (election_model_may(m, ev.kind)) {
        election_model_step(m, ev);
    }
}

static void play(struct election_model *m, struct fuzz_script *s, int letter)
{
    size_t i;

    for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        if (events[i].letter == letter) {
            play_event(m, s, i);
            return;
        }
    }
    fuzz_time(s, letter, &m->now_us, m->deadline_us);
}

/* As the public call checks it: the lease is the longest, and no pause after a try is empty. */
static void configure(struct rlk_election_config *c, struct fuzz_script *s)
{
    c->lease_us = rlk_time_max(2, rlk_time_min(fuzz_number(s), RLK_NEVER / 2));
    c->renew_deadline_us = rlk_time_max(1, rlk_time_min(fuzz_number(s), c->lease_us - 1));
    c->retry_us = rlk_time_max(1, rlk_time_min(fuzz_number(s), c->lease_us));
    c->delay_us = rlk_time_min(fuzz_number(s), RLK_NEVER / 2);
    c->stops_later = fuzz_number(s) & 1;
    c->priority = 5;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_script s = {data, data + size};
    struct rlk_election_config config;
    struct election_model m;
    int letter;

    memset(&config, 0, sizeof(config));
    configure(&config, &s);
    election_model_init(&m, &config);
    while ((letter = fuzz_letter(&s)) >= 0) {
        play(&m, &s, letter);
    }
    election_model_end(&m);
    return 0;
}
