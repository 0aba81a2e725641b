/* io/watch.c - see watch.h. */
#include "io/watch.h"

#include <check.h>
#include <stdbool.h>
#include <string.h>

#include "lib/loop.h"

struct wanted {
    struct redlock *rl;
    size_t node;
    enum redlock_node_state state;
    const char *word;
};

static struct redlock_node_info info_of(struct redlock *rl, size_t node)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    ck_assert_int_eq(redlock_get_node_info(rl, node, &info), REDLOCK_OK);
    return info;
}

enum redlock_node_state watch_state(struct redlock *rl, size_t node)
{
    return info_of(rl, node).state;
}

const char *watch_error(struct redlock *rl, size_t node)
{
    return info_of(rl, node).error;
}

static bool is_in_state(void *arg)
{
    const struct wanted *wanted = arg;

    return watch_state(wanted->rl, wanted->node) == wanted->state;
}

void watch_for_state(struct event_base *base, struct redlock *rl, size_t node,
                     enum redlock_node_state state)
{
    struct wanted wanted = {.rl = rl, .node = node, .state = state};

    if (!loop_until_true(base, is_in_state, &wanted, LOOP_BOUND_MS)) {
        ck_abort_msg("node %zu is in state %d instead of %d: %s", node, (int)watch_state(rl, node),
                     (int)state, watch_error(rl, node));
    }
}

static bool has_error(void *arg)
{
    const struct wanted *wanted = arg;
    const char *error = watch_error(wanted->rl, wanted->node);

    return *error && strstr(error, wanted->word) && !strstr(error, "being connected");
}

void watch_for_error(struct event_base *base, struct redlock *rl, size_t node, const char *word)
{
    struct wanted wanted = {.rl = rl, .node = node, .word = word};

    if (!loop_until_true(base, has_error, &wanted, LOOP_BOUND_MS)) {
        ck_abort_msg("the text about node %zu is '%s', without '%s'", node, watch_error(rl, node),
                     word);
    }
}

void watch_on_closed(void *arg)
{
    int *closed = arg;

    ++*closed;
}

void watch_close(struct event_base *base, struct redlock *rl)
{
    int closed = 0;

    ck_assert_int_eq(redlock_close(rl, watch_on_closed, &closed), REDLOCK_OK);
    loop_must(base, &closed);
    loop_settle(base);
    ck_assert_int_eq(closed, 1);
}
