/* broken/main.c - searches the worlds of one break, and says what came of it.
 *
 *     redlock-broken [--config NAME] [--large | --reduced] [--tap]
 *
 * The exit status is 1 when a search did not find what it must: nothing, or, where the operator
 * does something wrong, what is wrong with it. */
#include <stdio.h>
#include <string.h>

#include "broken/moves.h"
#include "broken/print.h"
#include "broken/space.h"
#include "lib/place.h"

#define LIMIT 100000000u

static const struct config configs[] = {
    {.name = "once", .about = "a renewal", .ttl_ms = 21, .renewals = 1, .runs = RUN_REDUCED},
    {.name = "renew", .about = "two renewals", .ttl_ms = 21, .renewals = 2},
    {.name = "restore",
     .about = "a renewal and a restore",
     .ttl_ms = 31,
     .renewals = 1,
     .restores = 1},
    {.name = "lose",
     .about = "two renewals, and a reply is lost",
     .ttl_ms = 21,
     .renewals = 2,
     .losses = 1,
     .alone = true,
     .runs = RUN_LARGE},
    {.name = "alone",
     .about = "two renewals and a restore, without another client",
     .ttl_ms = 31,
     .renewals = 2,
     .restores = 1,
     .alone = true,
     .runs = RUN_LARGE},
    {.name = "control-new-ttl",
     .about = "the new token has a ttl of its own, and is released when the break has failed",
     .ttl_ms = 21,
     .slips = SLIP_NEW_TTL,
     .expect = WRONG_EXCLUSION,
     .runs = RUN_REDUCED},
    {.name = "control-gone-counts",
     .about = "a master without the key counts",
     .ttl_ms = 21,
     .renewals = 2,
     .alone = true,
     .slips = SLIP_GONE_COUNTS,
     .expect = WRONG_RENEWED},
    {.name = "control-all-keys",
     .about = "the bound is when a majority of the replaced keys is gone",
     .ttl_ms = 31,
     .renewals = 1,
     .alone = true,
     .slips = SLIP_ALL_KEYS,
     .expect = WRONG_BOUND,
     .runs = RUN_REDUCED},
};

#define N_CONFIGS (sizeof(configs) / sizeof(configs[0]))

struct options {
    const char *name;
    enum run run;
    bool tap;
};

static int parse(struct options *o, char **args)
{
    for (; *args; args++) {
        if (strcmp(*args, "--tap") == 0) {
            o->tap = true;
        } else if (strcmp(*args, "--reduced") == 0) {
            o->run = RUN_REDUCED;
        } else if (strcmp(*args, "--large") == 0) {
            o->run = RUN_LARGE;
        } else if (strcmp(*args, "--config") == 0 && args[1]) {
            o->name = *++args;
        } else {
            fprintf(stderr,
                    "usage: redlock-broken [--config NAME] [--large | --reduced] [--tap]\n");
            return 2;
        }
    }
    return 0;
}

static bool is_chosen(const struct options *o, const struct config *c)
{
    if (o->name) {
        return strcmp(o->name, c->name) == 0;
    }
    return o->run == RUN_SUITE ? c->runs != RUN_LARGE : c->runs == o->run;
}

static bool is_as_it_must_be(const struct config *c, const struct result *r)
{
    return r->wrong == c->expect && (r->wrong || r->complete);
}

static void report(const struct options *o, const struct config *c, const struct result *r,
                   unsigned number)
{
    const char *prefix = o->tap ? "# " : "  ";
    bool good = is_as_it_must_be(c, r);
    char program[300];

    if (o->tap) {
        printf("%s %u - ", good ? "ok" : "not ok", number);
    }
    printf("%s: %s: %llu states, %llu transitions, depth %u, %.1f seconds: %s\n", c->name, c->about,
           (unsigned long long)r->states, (unsigned long long)r->transitions, r->depth, r->seconds,
           r->wrong      ? print_wrong(r->wrong)
           : r->complete ? "nothing is wrong"
                         : "NOT COMPLETE");
    if (r->wrong) {
        print_trace(r, prefix);
    }
    if (!good) {
        place_of_program(program, sizeof(program));
        printf("%srepeat: %s --config %s\n", prefix, program, c->name);
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct options o = {0};
    struct result r;
    unsigned i, n = 0, bad = 0;

    if (parse(&o, argv + (argc > 0))) {
        return 2;
    }
    for (i = 0; i < N_CONFIGS; i++) {
        if (is_chosen(&o, &configs[i])) {
            search_run(&space, &configs[i], LIMIT, NULL, &r);
            report(&o, &configs[i], &r, ++n);
            bad += !is_as_it_must_be(&configs[i], &r);
            search_end(&r);
        }
    }
    printf(o.tap ? "1..%u\n" : "%u searches\n", n);
    return bad || n == 0;
}
