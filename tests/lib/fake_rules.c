/* lib/fake_rules.c - see fake_rules.h. */
#include "lib/fake_rules.h"

#include <stdlib.h>
#include <string.h>

#include "testing/server_log.h"

static void remove_rule(struct fake_rule **at)
{
    struct fake_rule *rule = *at;

    *at = rule->next;
    free(rule->command);
    free(rule->bytes);
    free(rule);
}

void fake_rules_add(struct fake_rules *rules, unsigned times, const char *command,
                    enum fake_how how, const char *bytes, size_t len)
{
    struct fake_rule *rule = calloc(1, sizeof(*rule));

    rule->next = rules->first;
    rule->command = strdup(command);
    rule->how = how;
    rule->bytes = malloc(len + 1);
    if (len > 0) {
        memcpy(rule->bytes, bytes, len);
    }
    rule->len = len;
    rule->left = times;
    rules->first = rule;
}

struct fake_rule *fake_rules_find(struct fake_rules *rules, const char *text)
{
    struct fake_rule *rule = rules->first;

    while (rule && !rlk_testing_server_log_begins(text, rule->command)) {
        rule = rule->next;
    }
    return rule;
}

void fake_rules_used(struct fake_rules *rules, struct fake_rule *rule)
{
    struct fake_rule **at = &rules->first;

    if (rule->left == 0 || --rule->left > 0) {
        return;
    }
    while (*at != rule) {
        at = &(*at)->next;
    }
    remove_rule(at);
}

void fake_rules_clear(struct fake_rules *rules)
{
    while (rules->first) {
        remove_rule(&rules->first);
    }
}
