/* chaos/client_options.c - the command line of the client: see client.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chaos/client.h"

#define MOST_LENGTH 64
#define LEAST_TTL_MS 50

struct client self = {.workers = 3, .ttl_ms = 1000};

static void take_keys(const char *value);
static void take_elections(const char *value);
static void take_quarantine(const char *value);
static void take_rate(const char *value);
static void take_sabotage(const char *value);

/* An option has one of these: where its text or its number goes, what it sets to 0 and then has no
 * value, or what takes it. */
static const struct {
    const char *name;
    const char **text;
    uint32_t *number;
    int *off;
    void (*take)(const char *value);
} known[] = {
    {"name", .text = &self.name},
    {"log", .text = &self.log},
    {"register", .text = &self.target},
    {"prefix", .text = &self.options.key_prefix},
    {"seed", .number = &self.seed},
    {"ttl", .number = &self.ttl_ms},
    {"max-ttl", .number = &self.max_ttl_ms},
    {"workers", .number = &self.workers},
    {"seconds", .number = &self.seconds},
    {"node-timeout", .number = &self.options.node_timeout_ms},
    {"inspection", .number = &self.options.inspection_ms},
    {"drift", .number = &self.options.drift_ppm},
    {"audit", .number = &self.options.audit_entries},
    {"no-subscribe", .off = &self.options.subscribe},
    {"no-record", .off = &self.options.record},
    {"keys", .take = take_keys},
    {"elections", .take = take_elections},
    {"quarantine", .take = take_quarantine},
    {"rate", .take = take_rate},
    {"sabotage", .take = take_sabotage},
};

void usage(const char *what)
{
    fprintf(stderr, "chaos-client: %s; client.c says what there is\n", what);
    exit(64);
}

/* The parts of a text with commas, each after `before`. They live as long as the process. */
static size_t split(const char *text, const char *before, const char **out)
{
    char *rest = strdup(text), *part, *made;
    size_t n = 0;

    while ((part = strsep(&rest, ",")) != NULL) {
        if (n == MOST_KEYS || strlen(part) > MOST_LENGTH ||
            asprintf(&made, "%s%s", before, part) < 0) {
            usage("too many keys, or too long ones");
        }
        out[n++] = made;
    }
    return n;
}

static void take_keys(const char *value)
{
    self.n_keys = split(value, "", self.keys);
}

static void take_elections(const char *value)
{
    self.n_elections = split(value, "election:", self.elections);
}

static void take_rate(const char *value)
{
    self.rate_ppm = strtod(value, NULL);
}

static void take_quarantine(const char *value)
{
    static const char *const words[] = {"strict", "lenient", "off"};
    unsigned i;

    for (i = 0; i < 3; i++) {
        if (strcmp(words[i], value) == 0) {
            self.options.quarantine = (enum redlock_quarantine)i;
            return;
        }
    }
    usage("--quarantine is strict, lenient or off");
}

static void take_sabotage(const char *value)
{
    if (strcmp(value, "list") == 0) {
        sabotage_list();
        exit(0);
    }
    if (!sabotage_choose(value)) {
        usage("no such sabotage; --sabotage list prints their names");
    }
}

/* Returns how many words it takes. */
static int take_option(const char *name, const char *value)
{
    size_t i = 0;

    while (strcmp(known[i].name, name) != 0) {
        if (++i == sizeof(known) / sizeof(known[0])) {
            usage("no such option");
        }
    }
    if (known[i].off) {
        *known[i].off = 0;
        return 1;
    }
    if (!value) {
        usage("an option has no value");
    }
    if (known[i].text) {
        *known[i].text = value;
    } else if (known[i].number) {
        *known[i].number = (uint32_t)strtoul(value, NULL, 10);
    } else {
        known[i].take(value);
    }
    return 2;
}

static void complete(void)
{
    if (!self.name || strlen(self.name) > MOST_LENGTH || !self.log || !self.target ||
        self.n_keys == 0 || self.n_uris == 0 || self.ttl_ms < LEAST_TTL_MS) {
        usage("--name, --log, --register, --keys, URIs and a --ttl of 50 or more are needed");
    }
    if (self.max_ttl_ms < self.ttl_ms) {
        self.max_ttl_ms = self.ttl_ms;
    }
    self.options.max_ttl_ms = self.max_ttl_ms;
    self.options.client_name = self.name;
    self.options.nodes = self.uris;
    self.options.n_nodes = self.n_uris;
}

void take_arguments(int argc, char **argv)
{
    const char *rate = getenv("RLK_TEST_RATE");
    int i = 1;

    redlock_options_init(&self.options);
    take_rate(rate ? rate : "0");
    while (i < argc) {
        if (strncmp(argv[i], "--", 2) == 0) {
            i += take_option(argv[i] + 2, argv[i + 1]);
        } else if (self.n_uris == MOST_URIS) {
            usage("too many URIs");
        } else {
            self.uris[self.n_uris++] = argv[i++];
        }
    }
    complete();
}
