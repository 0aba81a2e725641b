/* lib/fake_rules.h - how a fake server handles which commands. Only for fake.c. */
#ifndef RLK_TESTS_LIB_FAKE_RULES_H
#define RLK_TESTS_LIB_FAKE_RULES_H

#include <stddef.h>

#include "lib/fake.h"

struct fake_rule {
    struct fake_rule *next;
    char *command;
    enum fake_how how;
    char *bytes;
    size_t len;
    /* How often it still counts; 0: for ever. */
    unsigned left;
};

/* The newest rule is the first. */
struct fake_rules {
    struct fake_rule *first;
};

void fake_rules_add(struct fake_rules *rules, unsigned times, const char *command,
                    enum fake_how how, const char *bytes, size_t len);

/* The rule for a command, or NULL. A rule that is used up counts for the last time: the caller
 * calls fake_rules_used() when it no longer needs the rule. */
struct fake_rule *fake_rules_find(struct fake_rules *rules, const char *text);
void fake_rules_used(struct fake_rules *rules, struct fake_rule *rule);

void fake_rules_clear(struct fake_rules *rules);

#endif
