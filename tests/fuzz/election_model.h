/* election_model.h - what a candidate of an election must do, written again from the rules L1 to L6
 * and not from core/election.c: it keeps what has become of the lock, and what the application was
 * told. Each step is checked against that. (The head start of L6 is in the attempt, and its model
 * in fuzz_attempt.c.) */
#ifndef RLK_TESTS_FUZZ_ELECTION_MODEL_H
#define RLK_TESTS_FUZZ_ELECTION_MODEL_H

#include "core/election.h"

enum election_model_lock {
    ELECTION_MODEL_NO_LOCK = 0,
    ELECTION_MODEL_ASKED,
    ELECTION_MODEL_CANCELED, /* its end was not reported yet */
    ELECTION_MODEL_HELD,
    ELECTION_MODEL_LOST /* it still has to be released */
};

enum election_model_lead {
    ELECTION_MODEL_NO_LEAD = 0,
    ELECTION_MODEL_LEADS,
    ELECTION_MODEL_DEMOTED, /* demoted_cb comes next */
    ELECTION_MODEL_STOPS    /* demoted_cb was called, and the application stops */
};

struct election_model {
    struct rlk_election e;
    struct rlk_election_config config;
    uint64_t now_us, deadline_us;
    enum election_model_lock lock;
    enum election_model_lead lead;
    bool renews;                   /* the lock is renewed by itself */
    bool wants, outranked, called; /* as the last events said */
    uint64_t called_until_us;      /* how long a call counts for a candidate that does not ask */
    bool led_by_lower;             /* the last leader that was seen has a lower priority */
    bool closed;                   /* the manager closes */
    bool hands_over;               /* the lock is for somebody, if the application stops in time */
    bool stopped;                  /* the application has stopped inside demoted_cb */
    int reason;                    /* of the last demotion */
    uint64_t valid_until_us; /* of the lock; from the demotion on, what the application was told */
    unsigned won, released, elected, demoted;
};

void election_model_init(struct election_model *m, const struct rlk_election_config *config);

/* Whether the driver can send such an event now. */
bool election_model_may(const struct election_model *m, enum rlk_election_event_kind kind);

/* Step the machine, and check what it does. now_us is set here. */
void election_model_step(struct election_model *m, struct rlk_election_event ev);

/* Let everything end, as when the election is freed: nothing may be left. */
void election_model_end(struct election_model *m);

#endif
