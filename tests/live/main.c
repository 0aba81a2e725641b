/* live/main.c - the library on real masters. */
#include <stdio.h>
#include <string.h>

#include "lib/runner.h"
#include "live/suites.h"

static const struct {
    const char *name;
    Suite *(*make)(void);
} suites[] = {{"address", address_suite}, {"faults", faults_suite},     {"fence", fence_suite},
              {"hold", hold_suite},       {"many", many_suite},         {"renew", renew_suite},
              {"roles", roles_suite},     {"standing", standing_suite}, {"steps", steps_suite}};

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
