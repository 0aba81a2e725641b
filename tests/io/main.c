/* io/main.c - the real connection code against scripted servers. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "io/suites.h"
#include "lib/runner.h"

static const struct {
    const char *name;
    Suite *(*make)(void);
} suites[] = {
    {"adopt", adopt_suite},       {"callbacks", callbacks_suite}, {"clocks", clocks_suite},
    {"config", config_suite},     {"data", data_suite},           {"deadline", deadline_suite},
    {"details", details_suite},   {"endings", endings_suite},     {"examine", examine_suite},
    {"extend", extend_suite},     {"fence", fence_suite},         {"hold", hold_suite},
    {"hostile", hostile_suite},   {"keys", keys_suite},           {"nonsense", nonsense_suite},
    {"noscript", noscript_suite}, {"probes", probes_suite},       {"query", query_suite},
    {"release", release_suite},   {"restarts", restarts_suite},   {"room", room_suite},
    {"stuck", stuck_suite},       {"twins", twins_suite},         {"versions", versions_suite},
    {"wire", wire_suite},
};

int main(int argc, char **argv)
{
    size_t i;

    for (i = 0; i < sizeof(suites) / sizeof(suites[0]); i++) {
        if (argc == 2 && strcmp(argv[1], suites[i].name) == 0) {
            Suite *(*const one[])(void) = {suites[i].make, NULL};

            return rlk_test_main(suites[i].name, one);
        }
    }
    fprintf(stderr, "usage: %s SUITE\n", argv[0]);
    return 64;
}
