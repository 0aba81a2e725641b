/* lib/choice.c - see choice.h. */
#include "lib/choice.h"

#include <stdio.h>
#include <string.h>

void choice_init(struct choice *c, const char *const *words, size_t n)
{
    memset(c, 0, sizeof(*c));
    c->words = words;
    c->n = n < CHOICE_MOST ? n : CHOICE_MOST;
}

void choice_learn(struct choice *c, const char *suite)
{
    size_t i;

    for (i = 0; i < c->n; i++) {
        if (strcmp(c->words[i], suite) == 0) {
            c->is_suite[i] = c->is_met[i] = true;
        }
    }
}

static bool means(const char *word, const char *test, int i)
{
    char one[300];

    snprintf(one, sizeof(one), "%s[%d]", test, i);
    return strcmp(word, test) == 0 || strcmp(word, one) == 0;
}

/* Looks only at the words that are suites, or only at the others: whether one of them means this
 * test, or there are none. */
static bool allows(struct choice *c, bool suites, const char *suite, const char *test, int i)
{
    bool any = false, met = false;
    size_t at;

    for (at = 0; at < c->n; at++) {
        if (c->is_suite[at] == suites) {
            any = true;
            if (suites ? strcmp(c->words[at], suite) == 0 : means(c->words[at], test, i)) {
                met = c->is_met[at] = true;
            }
        }
    }
    return met || !any;
}

bool choice_has(struct choice *c, const char *suite, const char *test, int i)
{
    return allows(c, true, suite, test, i) && allows(c, false, suite, test, i);
}

const char *choice_unmet(const struct choice *c)
{
    size_t i;

    for (i = 0; i < c->n; i++) {
        if (!c->is_met[i]) {
            return c->words[i];
        }
    }
    return NULL;
}
