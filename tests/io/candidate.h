/* io/candidate.h - a candidate of an election, and everything that is reported to it.
 *
 * The clock is frozen: time passes, for the library and for the servers, in candidate_pass_ms()
 * only. Each callback checks what must be true in every one of its kind. */
#ifndef RLK_TESTS_IO_CANDIDATE_H
#define RLK_TESTS_IO_CANDIDATE_H

#include "io/farm.h"

/* The times of an election with the defaults, in milliseconds: for candidates of these tests. */
#define CANDIDATE_TTL_MS 30000u
#define CANDIDATE_THIRD_MS (CANDIDATE_TTL_MS / 3)
#define CANDIDATE_DEADLINE_MS (CANDIDATE_TTL_MS / 3 * 2)
#define CANDIDATE_RETRY_MS (CANDIDATE_TTL_MS / 10)

struct candidate {
    struct farm *f;
    struct redlock *rl;         /* the farm's, unless a test sets another one */
    struct redlock_election *e; /* NULL: gone, or never made */
    /* The callbacks in order: 'E'lected, 'D'emoted, 'm'oved, 'h'ealthy, 'l'eader, 'f'reed,
     * 'c'losed. */
    char order[128];
    int elected, demoted, moved, asked, told, freed, closed; /* how often each came */
    uint64_t term;                                           /* of the last lead */
    struct redlock_demotion demotion;                        /* the last one */
    struct redlock_leader leader;                            /* as it was told last */
    char leader_id[REDLOCK_MAX_OWNER + 1];
    int fit;     /* what healthy_cb returns */
    bool inside; /* a call of the library: no callback may come */
    /* Called in the callbacks; NULL: nothing. */
    void (*on_elected)(struct candidate *c);
    void (*on_demoted)(struct candidate *c);
    void (*on_healthy)(struct candidate *c);
    void (*on_moved)(struct candidate *c);
    void (*on_leader)(struct candidate *c);
};

/* Make n masters and open the manager. */
void candidate_start(struct farm *f, size_t n);

/* Zero *c, and fill the options of a candidate "one" for "k". Without healthy_cb. */
struct redlock_election_options candidate_options(struct candidate *c, struct farm *f);

/* For options.healthy_cb, and options.leader_cb. */
redlock_healthy_cb candidate_on_healthy;
redlock_leader_cb candidate_on_leader;

/* Each call must succeed, and no callback may come inside. */
void candidate_new(struct candidate *c, const struct redlock_election_options *options);
void candidate_campaign(struct candidate *c);
void candidate_resign(struct candidate *c);
void candidate_stopped(struct candidate *c);
void candidate_free(struct candidate *c);
void candidate_close(struct candidate *c);

/* Make it, campaign, and wait until it leads. */
void candidate_lead(struct candidate *c, const struct redlock_election_options *options);

/* Wait until a counter of *c has reached `times`. */
void candidate_wait(struct candidate *c, const int *what, int times);

/* Free it, and wait for that. */
void candidate_finish(struct candidate *c);

/* Let everything be answered, and time pass in small steps. */
void candidate_pass_ms(struct candidate *c, unsigned ms);

/* How many times a node was asked for the lock; how many releases, and how many renewals, it has
 * got. */
size_t candidate_votes(const struct farm *f, size_t node);
size_t candidate_releases(const struct farm *f, size_t node);
size_t candidate_renewals(const struct farm *f, size_t node);

#endif
