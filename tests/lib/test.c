/* lib/test.c - see test.h. */
#include "lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct test_entry *first;

static struct test_one *all;
static size_t n_all;

static bool is_before(const struct test_entry *a, const struct test_entry *b)
{
    int order = strcmp(a->file, b->file);

    return order < 0 || (order == 0 && a->line < b->line);
}

/* Compilers and linkers differ in the order in which they call constructors. */
void rlk_test_add(struct test_entry *entry)
{
    struct test_entry **at = &first;

    while (*at && is_before(*at, entry)) {
        at = &(*at)->next;
    }
    entry->next = *at;
    *at = entry;
}

static void change(struct test_one *now, const struct test_head *head)
{
    if (head->suite) {
        *now = (struct test_one){.suite = head->suite, .part = head->suite};
    } else if (head->part) {
        now->part = head->part;
    } else if (head->seconds) {
        now->seconds = head->seconds;
    } else {
        now->before = head->before;
        now->after = head->after;
    }
}

static const char *claim(const struct test_body *body, int row)
{
    const void *at = (const char *)body->claims + (size_t)row * body->row_size;

    return *(const char *const *)at;
}

static void add_runs(const struct test_one *now, const struct test_body *body)
{
    int i;

    for (i = body->from; i < body->to; i++) {
        struct test_one *one = &all[n_all++];

        *one = *now;
        one->test = body->test;
        one->signal = body->signal;
        one->needs_memory = body->needs_memory;
        one->i = i;
        one->loops = body->to - body->from > 1 && !body->claims;
        if (body->claims) {
            one->test.name = claim(body, i);
        }
    }
}

static size_t count(void)
{
    const struct test_entry *entry;
    size_t n = 0;

    for (entry = first; entry; entry = entry->next) {
        n += entry->body ? (size_t)(entry->body->to - entry->body->from) : 0;
    }
    return n;
}

static void check_suite(const struct test_entry *suite, const struct test_entry *test)
{
    if (!suite || strcmp(test->file, suite->file) != 0) {
        printf("Bail out! there is no SUITE() before %s:%d\n", test->file, test->line);
        exit(1);
    }
}

static void collect(void)
{
    const struct test_entry *entry, *suite = NULL;
    struct test_one now = {.suite = NULL};

    all = calloc(count() + 1, sizeof(*all));
    if (!all) {
        abort();
    }
    for (entry = first; entry; entry = entry->next) {
        if (entry->body) {
            check_suite(suite, entry);
            add_runs(&now, entry->body);
        } else {
            suite = entry->head->suite ? entry : suite;
            change(&now, entry->head);
        }
    }
}

const struct test_one *rlk_test_all(size_t *ret_n)
{
    if (!all) {
        collect();
    }
    *ret_n = n_all;
    return all;
}

void rlk_test_name(const struct test_one *one, char *ret, size_t size)
{
    snprintf(ret, size, one->loops ? "%s[%d]" : "%s", one->test.name, one->i);
}
