/* coverage.c - counts the steps of the machines, and prints the counts.
 *
 * The linker puts the functions of the first half before the steps of machines that no checker
 * watches (-Wl,--wrap, meson.build); watch_core.c notes the others. */
#include "sim/coverage.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "core/election.h"
#include "core/inspection.h"
#include "core/observer.h"
#include "core/round.h"
#include "core/waiting.h"
#include "sim/coverage_names.h"

__typeof__(rlk_round_step) __real_rlk_round_step, __wrap_rlk_round_step;
__typeof__(rlk_waiting_step) __real_rlk_waiting_step, __wrap_rlk_waiting_step;
__typeof__(rlk_observer_step) __real_rlk_observer_step, __wrap_rlk_observer_step;
__typeof__(rlk_election_step) __real_rlk_election_step, __wrap_rlk_election_step;
__typeof__(rlk_inspection_step) __real_rlk_inspection_step, __wrap_rlk_inspection_step;

static struct coverage here;

void coverage_note(enum coverage_machine machine, unsigned state, unsigned event)
{
    here.seen[machine][state][event]++;
}

/* ---- machines that no checker watches ---- */

void __wrap_rlk_round_step(struct rlk_round *r, const struct rlk_round_terms *terms,
                           const struct rlk_event *ev, struct rlk_actions *out)
{
    coverage_note(COVERAGE_ROUND, r->state, ev->kind);
    __real_rlk_round_step(r, terms, ev, out);
}

void __wrap_rlk_waiting_step(struct rlk_waiting *w, const struct rlk_event *ev,
                             struct rlk_prng *prng, struct rlk_actions *out)
{
    unsigned state = w->queues == 0 ? 0 : w->wakes ? 3 : w->listed ? 2 : 1;

    coverage_note(COVERAGE_WAITING, state, ev->kind);
    __real_rlk_waiting_step(w, ev, prng, out);
}

void __wrap_rlk_observer_step(struct rlk_observer *o, const struct rlk_event *ev,
                              struct rlk_prng *prng, struct rlk_actions *out)
{
    coverage_note(COVERAGE_OBSERVER, o->reported.kind, ev->kind);
    __real_rlk_observer_step(o, ev, prng, out);
}

void __wrap_rlk_election_step(struct rlk_election *e, const struct rlk_election_event *ev,
                              struct rlk_election_actions *out)
{
    coverage_note(COVERAGE_ELECTION, e->state, ev->kind);
    __real_rlk_election_step(e, ev, out);
}

void __wrap_rlk_inspection_step(struct rlk_inspection *i, struct rlk_quarantine *q,
                                const struct rlk_server *server,
                                const struct rlk_inspection_event *ev,
                                struct rlk_inspection_actions *out)
{
    unsigned waits = rlk_quarantine_is_over(q, ev->now_us) ? 0 : 2;

    coverage_note(COVERAGE_INSPECTION, waits + i->asked, ev->kind);
    __real_rlk_inspection_step(i, q, server, ev, out);
}

/* ---- many processes ---- */

struct coverage *coverage_share(uint64_t jobs)
{
    void *shared = mmap(NULL, (size_t)jobs * sizeof(struct coverage), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return shared == MAP_FAILED ? NULL : shared;
}

void coverage_save(struct coverage *ret)
{
    *ret = here;
}

static void add_up(const struct coverage *shared, uint64_t jobs)
{
    const uint64_t *from = &shared->seen[0][0][0];
    uint64_t *to = &here.seen[0][0][0];
    size_t i, n = sizeof(here) / sizeof(*to);

    memset(&here, 0, sizeof(here));
    for (i = 0; i < jobs * n; i++) {
        to[i % n] += from[i];
    }
}

/* ---- printing ---- */

static void print_table(unsigned machine)
{
    const struct coverage_names *m = &coverage_names[machine];
    unsigned state, event;

    printf("\n%-14s", m->name);
    for (state = 0; state < COVERAGE_STATES && m->states[state]; state++) {
        printf(" %14.14s", m->states[state]);
    }
    for (event = 0; event < COVERAGE_EVENTS; event++) {
        if (m->events[event]) {
            printf("\n  %-12.12s", m->events[event]);
            for (state = 0; state < COVERAGE_STATES && m->states[state]; state++) {
                printf(" %14" PRIu64, here.seen[machine][state][event]);
            }
        }
    }
    printf("\n");
}

/* Returns whether it is one that should happen. A pair that does and cannot is worth a line, too.
 */
static bool print_pair(unsigned machine, unsigned state, unsigned event)
{
    const struct coverage_names *m = &coverage_names[machine];
    const char *excuse = coverage_excuse((enum coverage_machine)machine, state, event);
    bool seen = here.seen[machine][state][event] > 0;

    if (seen == (excuse != NULL)) {
        printf("%s: %s, %s: %s%s%s\n", seen ? "happened" : "never happened", m->name,
               m->states[state], m->events[event], seen ? ", and it is said that " : "",
               seen ? excuse : "");
    }
    return !seen && excuse == NULL;
}

static void print_missing(unsigned machine, unsigned *ret_pairs, unsigned *ret_missing)
{
    const struct coverage_names *m = &coverage_names[machine];
    unsigned state, event;

    for (state = 0; state < COVERAGE_STATES && m->states[state]; state++) {
        for (event = 0; event < COVERAGE_EVENTS; event++) {
            if (m->events[event]) {
                *ret_pairs += coverage_excuse((enum coverage_machine)machine, state, event) == NULL;
                *ret_missing += print_pair(machine, state, event);
            }
        }
    }
}

void coverage_print(struct coverage *shared, uint64_t jobs)
{
    unsigned machine, pairs = 0, missing = 0;

    add_up(shared, jobs);
    munmap(shared, (size_t)jobs * sizeof(*shared));
    for (machine = 0; machine < COVERAGE_MACHINES; machine++) {
        print_table(machine);
    }
    printf("\n");
    for (machine = 0; machine < COVERAGE_MACHINES; machine++) {
        print_missing(machine, &pairs, &missing);
    }
    printf("%u of %u pairs of a state and an event happened\n\n", pairs - missing, pairs);
}
