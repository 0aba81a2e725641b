/* fence/main.c - searches the configurations and says what came of it. See usage(). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fence/key.h"
#include "fence/print.h"
#include "fence/space.h"
#include "lib/place.h"

#define DEFAULT_LIMIT 250000000u

struct options {
    const struct config *named[64];
    unsigned n_named;
    unsigned run;
    bool tap, list, help;
    uint64_t limit;
    bool is_own;
    struct config own; /* from words like N=3 */
};

struct totals {
    unsigned searches, unexpected;
    uint64_t states;
    double seconds;
    size_t bytes; /* the most of one */
};

static void usage(void)
{
    puts("usage: redlock-fence [--config NAME]... [--large | --reduced] [--limit STATES]\n"
         "                     [--tap] [--list]\n"
         "       redlock-fence WORD... [--limit STATES]\n"
         "\n"
         "Searches every schedule of the fences of a few attempts for one lock: that no two have\n"
         "one fence, and that a later one has a larger one. Without a name: what the test suite\n"
         "searches. The exit status is 1 when a search did not find what it must, which is "
         "nothing,\n"
         "or, for a scheme that is wrong, what is wrong with it. The suite takes 20 seconds and\n"
         "130 MB. --list names the configurations; --large searches those that are not in the\n"
         "suite, where each step is taken by itself, and compares them with the merged ones:\n"
         "  two-commands-kept, two-commands-forgets\n"
         "                                       15 million states each, 45 s, 480 MB\n"
         "  five-plain                           7 million states, 20 s, 220 MB\n"
         "  three-bare-plain, three-extend-plain\n"
         "                                       7 million states each, 20 s, 220 MB\n"
         "  three-plain                          18 million states, 70 s, 480 MB\n"
         "  three-forgets-plain\n"
         "                                       85 million states, 7 minutes, 2.3 GB\n"
         "\n"
         "A search of one's own is made of words:\n"
         "  N=1..5        masters (3)\n"
         "  K=1..4        attempts (3; with N=5 3)\n"
         "  heal extend   a holder sets its key again; raises the counter where it has its key\n"
         "  forgets=quarantined, forgets=counted\n"
         "                one master loses everything, once; its later votes do not count (in "
         "quarantine), or do\n"
         "  hints=1..6    a VOTE may carry any hint up to this\n"
         "  losers=1..6   whoever did not get the key counts, up to this (with plain)\n"
         "  plain         each step by itself, not only those that matter\n"
         "  numbers       counters as they are, not relative to each other\n"
         "  scheme=NAME   one of:");
    for (unsigned i = 0; i < n_schemes; i++) {
        printf("                  %s\n", schemes[i].name);
    }
}

/* ---- the command line ---- */

static int complain(const char *what, const char *which)
{
    fprintf(stderr, "redlock-fence: %s%s\n", what, which);
    return 2;
}

static bool parse_number(const char *word, const char *name, unsigned max, unsigned *ret)
{
    size_t len = strlen(name);
    char *end;
    unsigned long value;

    if (strncmp(word, name, len) != 0) {
        return false;
    }
    value = strtoul(word + len, &end, 10);
    if (*end || value < 1 || value > max) {
        return false;
    }
    *ret = (unsigned)value;
    return true;
}

static bool parse_switch(struct config *c, const char *word)
{
    const struct {
        const char *word;
        bool *on;
    } switches[] = {
        {"heal", &c->heal}, {"extend", &c->extend}, {"plain", &c->plain}, {"numbers", &c->numbers}};
    unsigned i;

    for (i = 0; i < sizeof(switches) / sizeof(switches[0]); i++) {
        if (strcmp(word, switches[i].word) == 0) {
            *switches[i].on = true;
            return true;
        }
    }
    return false;
}

static bool parse_word(struct config *c, const char *word)
{
    if (strcmp(word, "forgets=quarantined") == 0) {
        c->forgetting = FORGETS_QUARANTINED;
        return true;
    }
    if (strcmp(word, "forgets=counted") == 0) {
        c->forgetting = FORGETS_COUNTED;
        return true;
    }
    if (strncmp(word, "scheme=", 7) == 0) {
        c->scheme = scheme_by_name(word + 7);
        return c->scheme != NULL;
    }
    return parse_number(word, "N=", MAX_NODES, &c->nodes) ||
           parse_number(word, "K=", MAX_ATTEMPTS, &c->attempts) ||
           parse_number(word, "hints=", 6, &c->hints) ||
           parse_number(word, "losers=", 6, &c->losers) || parse_switch(c, word);
}

static int parse_value(struct options *o, const char *option, const char *value)
{
    if (value == NULL) {
        return complain("needs a value: ", option);
    }
    if (strcmp(option, "--limit") == 0) {
        o->limit = strtoull(value, NULL, 10);
        return 0;
    }
    if (strcmp(option, "--config") != 0) {
        return complain("no such option: ", option);
    }
    if (config_by_name(value) == NULL || o->n_named == sizeof(o->named) / sizeof(o->named[0])) {
        return complain("no such configuration: ", value);
    }
    o->named[o->n_named++] = config_by_name(value);
    return 0;
}

static bool parse_flag(struct options *o, const char *word)
{
    const struct {
        const char *word;
        bool *on;
    } flags[] = {{"--tap", &o->tap}, {"--list", &o->list}, {"--help", &o->help}};
    unsigned i;

    for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (strcmp(word, flags[i].word) == 0) {
            *flags[i].on = true;
            return true;
        }
    }
    if (strcmp(word, "--large") == 0) {
        o->run = RUN_LARGE;
        return true;
    }
    if (strcmp(word, "--reduced") == 0) {
        o->run = RUN_REDUCED;
        return true;
    }
    return false;
}

static int parse(struct options *o, char **args)
{
    for (; *args; args++) {
        if (parse_flag(o, *args)) {
            continue;
        }
        if (args[0][0] == '-') {
            if (parse_value(o, args[0], args[1])) {
                return 2;
            }
            args++;
        } else if (parse_word(&o->own, *args)) {
            o->is_own = true;
        } else {
            return complain("cannot be understood: ", *args);
        }
    }
    o->own.plain = o->own.plain || o->own.scheme->two_commands;
    if (!key_fits(&o->own)) {
        return complain("no room in 128 bits for ", "so many masters and attempts");
    }
    return 0;
}

/* A configuration is searched after the one that it is compared with. */
static bool is_chosen(const struct options *o, const struct config *c)
{
    unsigned i;

    for (i = 0; i < o->n_named; i++) {
        const char *compared = o->named[i]->same_as;

        if (o->named[i] == c || (compared && strcmp(compared, c->name) == 0)) {
            return true;
        }
    }
    return o->n_named == 0 && (c->runs & o->run);
}

/* ---- what came of it ---- */

/* Why a search that found nothing has not shown anything; NULL: it has. */
static const char *flaw(const struct config *c, const struct result *r, const struct notes *notes,
                        const struct notes *compared)
{
    if (r->overflow) {
        return "NOT COMPLETE, a counter has no room";
    }
    if (!r->complete) {
        return "NOT COMPLETE, the limit is reached";
    }
    if (notes->held < c->attempts) {
        return "EMPTY, the attempts were never all held";
    }
    if (!notes->two_trips && c->nodes > 1 && c->attempts > 1) {
        return "EMPTY, none was held after a CONFIRM";
    }
    if (c->hints && !notes->hinted) {
        return "EMPTY, no hint was taken";
    }
    if (c->same_as && memcmp(&notes->seen, &compared->seen, sizeof(compared->seen)) != 0) {
        return "OTHER FENCES than in the merged steps";
    }
    return NULL;
}

static const char *verdict(const struct config *c, const struct result *r,
                           const struct notes *notes, const struct notes *compared, bool *ret_good)
{
    const char *found = r->wrong ? NULL : flaw(c, r, notes, compared);

    *ret_good = c->expect ? r->wrong != 0 : !r->wrong && found == NULL;
    if (r->wrong) {
        return print_wrong(r->wrong);
    }
    if (c->expect) {
        return "MISSED what is wrong with it";
    }
    return found ? found : c->same_as ? "nothing wrong, and the same fences" : "nothing wrong";
}

/* A wrong scheme is claimed to be found wrong: "finds". */
static bool search_one(const struct options *o, const struct config *c,
                       const struct notes *compared, struct notes *ret_notes, struct totals *t)
{
    char program[300];
    struct result r;
    const char *text;
    bool good;

    memset(ret_notes, 0, sizeof(*ret_notes));
    search_run(&space, c, o->limit, ret_notes, &r);
    text = verdict(c, &r, ret_notes, compared, &good);
    t->searches++;
    t->states += r.states;
    t->seconds += r.seconds;
    t->bytes = r.bytes > t->bytes ? r.bytes : t->bytes;
    t->unexpected += !good;
    if (o->tap) {
        printf("%s %u - ", good ? "ok" : "not ok", t->searches);
    }
    printf("%s%s (%s): %llu states, depth %u, %.1f s, %zu MB: %s\n", c->expect ? "finds: " : "",
           c->about, c->name, (unsigned long long)r.states, r.depth, r.seconds, r.bytes >> 20,
           text);
    if (r.wrong) {
        print_trace(c, &r, o->tap ? "# " : "    ");
    }
    if (!good && !o->is_own) {
        place_of_program(program, sizeof(program));
        printf("%srepeat: %s --config %s\n", o->tap ? "# " : "    ", program, c->name);
    }
    fflush(stdout);
    search_end(&r);
    return good;
}

static void list(void)
{
    unsigned i;

    for (i = 0; i < n_configs; i++) {
        const struct config *c = &configs[i];

        printf("%-22s %-6s %s%s\n", c->name, c->runs & RUN_SUITE ? "suite" : "large", c->about,
               c->expect ? " (must be found)" : "");
    }
}

static int search_own(struct options *o)
{
    struct notes notes;
    struct totals t = {0};

    return search_one(o, &o->own, NULL, &notes, &t) ? 0 : 1;
}

static int search_all(const struct options *o)
{
    struct notes notes[2]; /* this one and the one before, with which it may be compared */
    struct totals t = {0};
    unsigned i, chosen = 0;

    for (i = 0; i < n_configs; i++) {
        chosen += is_chosen(o, &configs[i]);
    }
    if (o->tap) {
        printf("1..%u\n", chosen);
    }
    for (i = 0; i < n_configs; i++) {
        if (is_chosen(o, &configs[i])) {
            search_one(o, &configs[i], &notes[(i + 1) % 2], &notes[i % 2], &t);
        }
    }
    printf("%s%u searches, %llu states, %.1f s, at most %zu MB, %u not as they must be\n",
           o->tap ? "# " : "", t.searches, (unsigned long long)t.states, t.seconds, t.bytes >> 20,
           t.unexpected);
    return t.unexpected ? 1 : 0;
}

int main(int argc, char **argv)
{
    struct options o = {
        .run = RUN_SUITE,
        .limit = DEFAULT_LIMIT,
        .own = {.name = "own", .about = "a search of one's own", .nodes = 3, .attempts = 3}};

    o.own.scheme = schemes;
    if (parse(&o, argv + (argc > 0))) {
        return 2;
    }
    if (o.help) {
        usage();
        return 0;
    }
    if (o.list) {
        list();
        return 0;
    }
    return o.is_own ? search_own(&o) : search_all(&o);
}
