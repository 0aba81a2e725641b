/* test_similar.c - what somebody may have meant who misspelled a name. */
#include <string.h>

#include "cli/args/similar.h"
#include "lib/test.h"

SUITE("similar");

static const struct {
    const char *claim, *written, *meant; /* NULL: none of the names */
} rows[] = {
    {"two_letters_have_changed_places", "wiat", "wait"},
    {"a_letter_is_missing", "jsn", "json"},
    {"a_letter_is_too_many", "waits", "wait"},
    {"a_letter_is_wrong", "tll", "ttl"},
    {"a_name_of_two_letters_may_lack_one", "tt", "ttl"},
    {"two_of_six_are_wrong", "nowait", "no-wait"},
    {"the_nearest_counts", "no-waitt", "no-wait"},
    {"a_longer_one_may_have_more_mistakes", "node-tiemuot", "node-timeout"},
    {"two_of_four_are_too_many", "wade", NULL},
    {"another_word_is_not_similar", "hello", NULL},
    {"nothing_is_similar_to_nothing", "", NULL},
    {"nor_to_a_letter", "x", NULL},
    {"nor_to_a_text_without_end", "node-timeout-node-timeout-node-timeout", NULL},
};

TEST_ROWS(meant, rows)
{
    static const char *const names[] = {"wait", "json", "ttl", "no-wait", "node-timeout"};
    struct cli_similar s;
    size_t i;

    cli_similar_begin(&s, rows[_i].written, strlen(rows[_i].written));
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        cli_similar_offer(&s, names[i]);
    }
    if (rows[_i].meant) {
        ck_assert_pstr_eq(s.best, rows[_i].meant);
    } else {
        ck_assert_ptr_null(s.best);
    }
}
