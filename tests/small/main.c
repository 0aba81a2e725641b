/* small/main.c - searches the configurations and says what came of it.
 *
 *     redlock-small [--config NAME]... [--faults LIST] [--large | --reduced] [--plain]
 *                   [--limit STATES] [--tap] [--list]
 *
 * Without a name: those of the test suite. --faults replaces the faults of what is searched
 * (break,crash,restart,forget,error,empty,jump,freeze; or none). The exit status is 1 when a
 * configuration did not find what it must: nothing, or, for a control, its own violation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/place.h"
#include "small/check.h"
#include "small/faults.h"
#include "small/moves.h"
#include "small/print.h"
#include "small/space.h"

#define DEFAULT_LIMIT 400000000u

struct options {
    const char *names[64];
    unsigned n_names;
    unsigned run;
    bool new_faults;
    unsigned faults;
    bool plain, tap, list;
    uint64_t limit;
};

struct totals {
    unsigned configs, violations;
    uint64_t states;
};

/* ---- the command line ---- */

static int complain(const char *what, const char *which)
{
    fprintf(stderr, "redlock-small: %s%s\n", what, which);
    return 2;
}

static int parse_faults(struct options *o, const char *list)
{
    o->new_faults = true;
    if (strcmp(list, "none") == 0) {
        return 0;
    }
    while (*list) {
        unsigned len = (unsigned)strcspn(list, ","), fault = fault_by_name(list, len);

        if (fault == 0) {
            return complain("no such fault: ", list);
        }
        o->faults |= fault;
        list += len + (list[len] == ',');
    }
    return 0;
}

static bool is_config(const char *name)
{
    unsigned i;

    for (i = 0; i < n_configs; i++) {
        if (strcmp(configs[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static int parse_value(struct options *o, const char *option, const char *value)
{
    if (value == NULL) {
        return complain("needs a value: ", option);
    }
    if (strcmp(option, "--faults") == 0) {
        return parse_faults(o, value);
    }
    if (strcmp(option, "--limit") == 0) {
        o->limit = strtoull(value, NULL, 10);
        return 0;
    }
    if (strcmp(option, "--config") != 0) {
        return complain("no such option: ", option);
    }
    if (!is_config(value) || o->n_names == sizeof(o->names) / sizeof(o->names[0])) {
        return complain("no such configuration: ", value);
    }
    o->names[o->n_names++] = value;
    return 0;
}

static int parse(struct options *o, char **args)
{
    int status;

    for (; *args; args++) {
        if (strcmp(*args, "--list") == 0) {
            o->list = true;
        } else if (strcmp(*args, "--tap") == 0) {
            o->tap = true;
        } else if (strcmp(*args, "--plain") == 0) {
            o->plain = true;
        } else if (strcmp(*args, "--large") == 0) {
            o->run = RUN_LARGE;
        } else if (strcmp(*args, "--reduced") == 0) {
            o->run = RUN_REDUCED;
        } else {
            status = parse_value(o, args[0], args[1]);
            if (status) {
                return status;
            }
            args++;
        }
    }
    return 0;
}

static bool is_chosen(const struct options *o, const struct config *c)
{
    unsigned i;

    for (i = 0; i < o->n_names; i++) {
        if (strcmp(o->names[i], c->name) == 0) {
            return true;
        }
    }
    return o->n_names == 0 && (c->runs & o->run);
}

/* ---- what came of it ---- */

static void print_numbers(const struct result *r)
{
    printf("%llu states, %llu transitions, depth %u, %.1f seconds", (unsigned long long)r->states,
           (unsigned long long)r->transitions, r->depth, r->seconds);
}

static void print_verdict(const struct config *c, const struct result *r)
{
    if (r->wrong) {
        printf("; %s after %u steps: %s", r->wrong == c->expect ? "found as it must" : "VIOLATION",
               r->steps, check_text((enum wrong)r->wrong));
    } else if (c->expect) {
        printf("; MISSED: %s", check_text(c->expect));
    } else if (!r->complete) {
        printf("; NOT COMPLETE");
    }
}

static void search_one(const struct options *o, const struct config *chosen, struct totals *t)
{
    struct config c = *chosen;
    struct result r;
    char program[300];
    bool good;

    if (o->new_faults) {
        c.faults = o->faults;
    }
    c.plain = o->plain;
    search_run(&space, &c, o->limit, NULL, &r);
    good = r.wrong == c.expect && (r.wrong || r.complete);
    t->configs++;
    t->states += r.states;
    t->violations += !good;
    if (o->tap) {
        printf("%s %u - ", good ? "ok" : "not ok", t->configs);
    }
    printf("%s: ", c.name);
    print_numbers(&r);
    print_verdict(&c, &r);
    putchar('\n');
    if (r.wrong && (!o->tap || !good)) {
        print_trace(&r, o->tap ? "# " : "  ");
    }
    if (!good) {
        place_of_program(program, sizeof(program));
        printf("%srepeat: %s --config %s\n", o->tap ? "# " : "  ", program, c.name);
    }
    fflush(stdout);
    search_end(&r);
}

static void list(void)
{
    unsigned i;

    for (i = 0; i < n_configs; i++) {
        const struct config *c = &configs[i];

        printf("%-20s %-8s %s%s\n", c->name, c->runs & RUN_SUITE ? "suite" : "large", c->about,
               c->expect ? " (must find a violation)" : "");
    }
}

int main(int argc, char **argv)
{
    struct options o = {.run = RUN_SUITE, .limit = DEFAULT_LIMIT};
    struct totals t = {0};
    unsigned i, chosen = 0;
    int status = parse(&o, argv + (argc > 0));

    if (status) {
        return status;
    }
    if (o.list) {
        list();
        return 0;
    }
    for (i = 0; i < n_configs; i++) {
        chosen += is_chosen(&o, &configs[i]);
    }
    if (o.tap) {
        printf("1..%u\n", chosen);
    }
    for (i = 0; i < n_configs; i++) {
        if (is_chosen(&o, &configs[i])) {
            search_one(&o, &configs[i], &t);
        }
    }
    printf("%s%u configurations, %llu states, %u violations\n", o.tap ? "# " : "", t.configs,
           (unsigned long long)t.states, t.violations);
    return t.violations ? 1 : 0;
}
