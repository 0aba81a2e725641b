/* chaos/client_candidate.c - a candidate of drawn elections: campaigns, leads for a while, resigns
 * or names who is next, and begins again with another election. */
#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>

#include "chaos/client.h"

#define STEP_MOST_MS 40
#define SAFE_MS 2

static struct {
    struct event *timer, *stop_timer;
    struct redlock_election *election; /* NULL: none */
    const char *key;                   /* election:NAME */
    char id[MOST_NAME];
    struct hold *hold;
    unsigned op;
    bool stops_later, is_ending, is_being_freed;
    uint64_t until_us;
} c;

static void wake_in(struct event *timer, uint64_t ms)
{
    struct timeval in = {(time_t)(ms / 1000), (suseconds_t)(ms % 1000 * 1000)};

    event_add(timer, &in);
}

static void no_longer_leads(bool was_told)
{
    if (c.hold) {
        hold_end(c.hold, "demoted", was_told);
        hold_free(c.hold);
        c.hold = NULL;
    }
}

/* Everything that only a leader may do has stopped now; sometimes it is a little late for that. */
static void stopped(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    no_longer_leads(false);
    if (c.election) {
        redlock_election_stopped(c.election);
    }
}

static void on_elected(struct redlock_election *election, uint64_t term, void *arg)
{
    (void)arg;
    if (c.hold) {
        wrong("elected again, and not stopped since the last time");
    }
    c.hold = hold_leadership(election, &c.key, term);
    c.until_us = true_us() + (uint64_t)draw(4 * self.ttl_ms + 1) * 1000;
    wake_in(c.timer, draw(STEP_MOST_MS));
}

static void on_demoted(struct redlock_election *election, const struct redlock_demotion *demotion,
                       void *arg)
{
    uint64_t now_us = redlock_clock_us(), left_ms = 0;

    (void)election;
    (void)arg;
    if (demotion->stop_by_us > now_us) {
        left_ms = (demotion->stop_by_us - now_us) / 1000;
    }
    if (!c.stops_later || left_ms <= SAFE_MS || !c.hold) {
        no_longer_leads(true);
        if (c.stops_later) {
            redlock_election_stopped(c.election);
        }
        return;
    }
    c.hold->stop_by_us = demotion->stop_by_us;
    holds_sample();
    wake_in(c.stop_timer, draw((uint32_t)left_ms + (chance(4) ? 200 : 0)));
}

static void on_freed(void *arg)
{
    (void)arg;
    no_longer_leads(false);
    event_del(c.stop_timer);
    c.election = NULL;
    op_end(c.op, "\"status\":0");
    wake_in(c.timer, self.is_stopping ? 0 : draw(self.ttl_ms));
}

/* What this client did as a leader has stopped before each of these calls, unless it stops later.
 */
static void stop_leading(void)
{
    if (!c.stops_later) {
        no_longer_leads(false);
    }
}

static void free_election(void)
{
    stop_leading();
    c.is_being_freed = true;
    if (redlock_election_free(c.election, on_freed, NULL)) {
        wrong("an election cannot be freed");
    }
}

static void end_campaign(void)
{
    char to[32];

    c.is_ending = true;
    if (chance(3)) {
        free_election();
        return;
    }
    stop_leading();
    if (chance(2)) {
        snprintf(to, sizeof(to), "%c%u-e", self.name[0], draw(MOST_PEERS));
        redlock_election_hand_over(c.election, to, chance(2) ? 0 : self.ttl_ms);
    }
    redlock_election_resign(c.election);
    wake_in(c.timer, draw(self.ttl_ms));
}

static void fill_options(struct redlock_election_options *options)
{
    redlock_election_options_init(options);
    options->name = c.key;
    options->id = c.id;
    options->ttl_ms = self.ttl_ms;
    options->priority = chance(4) ? draw(3) : 0;
    options->stops_later = c.stops_later;
    options->elected_cb = on_elected;
    options->demoted_cb = on_demoted;
}

static void campaign(void)
{
    struct redlock_election_options options;
    int status;

    c.key = self.elections[draw((uint32_t)self.n_elections)];
    c.stops_later = chance(2);
    c.is_ending = c.is_being_freed = false;
    fill_options(&options);
    c.op = op_begin("campaign", "\"keys\":[\"%s\"],\"ttl\":%" PRIu32, c.key, options.ttl_ms);
    status = redlock_election_new(self.rl, &options, &c.election);
    if (status) {
        c.election = NULL;
        op_end(c.op, "\"status\":%d", status);
    } else if (redlock_election_campaign(c.election)) {
        wrong("a new election cannot campaign");
    }
    c.until_us = true_us() + (uint64_t)draw(20 * self.ttl_ms) * 1000;
    wake_in(c.timer, draw(self.ttl_ms));
}

/* A leadership ends when it is time; a candidate that was not elected by then gives up. */
static void step(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    if (!c.election) {
        if (!self.is_stopping) {
            campaign();
        }
    } else if (c.is_being_freed) {
        return;
    } else if (c.is_ending || self.is_stopping) {
        free_election();
    } else if (true_us() >= c.until_us && !(c.hold && c.hold->pair.is_busy)) {
        end_campaign();
    } else {
        if (c.hold) {
            pair_begin(&c.hold->pair);
        }
        wake_in(c.timer, draw_between(1, STEP_MOST_MS));
    }
}

bool candidate_begin(void)
{
    if (self.n_elections == 0) {
        return true;
    }
    snprintf(c.id, sizeof(c.id), "%s-e", self.name);
    c.timer = evtimer_new(self.base, step, NULL);
    c.stop_timer = evtimer_new(self.base, stopped, NULL);
    if (!c.timer || !c.stop_timer) {
        return false;
    }
    wake_in(c.timer, draw(self.ttl_ms));
    return true;
}

void candidate_stop(void)
{
    if (c.timer) {
        wake_in(c.timer, 0);
    }
}

bool candidate_is_idle(void)
{
    return !c.election;
}
