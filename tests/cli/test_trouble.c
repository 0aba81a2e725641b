/* test_trouble.c - the line that lists the masters which do not confirm a lock: those with one
 * trouble together. The library is replaced. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <redlock/redlock.h>

#include "cli/say/say.h"
#include "cli/session/node_state.h"
#include "cli/take/trouble.h"
#include "lib/test.h"

SUITE("cli-trouble");

#define NODES 5

static struct redlock_node_info infos[NODES];
static struct redlock_node_detail details[NODES];
static char said[4096];

size_t redlock_node_count(const struct redlock *rl)
{
    (void)rl;
    return NODES;
}

int redlock_get_node_info(const struct redlock *rl, size_t index,
                          struct redlock_node_info *ret_info)
{
    (void)rl;
    *ret_info = infos[index];
    return 0;
}

int redlock_lock_node(const struct redlock_lock *lock, size_t index,
                      struct redlock_node_detail *ret_detail)
{
    (void)lock;
    *ret_detail = details[index];
    return 0;
}

void cli_say(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(said, sizeof(said), format, args);
    va_end(args);
}

void cli_say_more(const char *format, ...)
{
    (void)format;
}

int cli_nodes_explain(struct cli_session *session, const struct redlock_lock *lock)
{
    (void)session;
    (void)lock;
    return 0;
}

/* All masters have the lock. */
static void setup(void)
{
    static const char *const names[NODES] = {"a", "b", "c", "d", "e"};
    size_t i;

    for (i = 0; i < NODES; i++) {
        infos[i] =
            (struct redlock_node_info){.name = names[i], .state = REDLOCK_NODE_UP, .error = ""};
        details[i] = (struct redlock_node_detail){.vote = REDLOCK_VOTE_YES,
                                                  .holder = "",
                                                  .error = "",
                                                  .said = REDLOCK_SAID_KEPT,
                                                  .said_ms = 100};
    }
}

static void silence(size_t node, const char *error, uint64_t said_ms)
{
    infos[node].state = REDLOCK_NODE_UNRESPONSIVE;
    infos[node].error = error;
    details[node].vote = REDLOCK_VOTE_UNKNOWN;
    details[node].said_ms = said_ms;
}

FIXTURE(setup, NULL);

TEST(masters_with_one_trouble_are_named_together_with_the_longest_time)
{
    silence(0, "has not replied for 2013 ms; check why", 3400);
    silence(2, "has not replied for 998 ms; check why", 3600);
    silence(3, "has not replied for 2000 ms; check why", 3500);
    details[4].vote = REDLOCK_VOTE_NO;
    details[4].holder = "0123456789abcdef0123456789abcdef01234567";
    cli_trouble_say(NULL, NULL, "k", "the lock", 5000);
    ck_assert_str_eq(
        said, "cannot renew 'k', the lock ends in 5.0 s: 4 of 5 masters do not confirm it: a, c, d "
              "(unresponsive: has not replied for 2013 ms; check why; had the key 3.6 s "
              "ago), e (held by 01234567...)");
}

TEST(masters_with_different_troubles_are_not)
{
    silence(0, "is the same server as h:7001", 3400);
    silence(1, "is the same server as h:7002", 3400);
    silence(2, "is the same server as h:7001", 3400);
    details[2].said = REDLOCK_SAID_NOTHING;
    cli_trouble_say(NULL, NULL, "k", "the lock", 5000);
    ck_assert_str_eq(said,
                     "cannot renew 'k', the lock ends in 5.0 s: 3 of 5 masters do not confirm it: "
                     "a (unresponsive: is the same server as h:7001; had the key 3.4 s ago), "
                     "b (unresponsive: is the same server as h:7002; had the key 3.4 s ago), "
                     "c (unresponsive: is the same server as h:7001)");
}

/* The same trouble of all is said once. */
TEST(the_line_is_as_long_as_its_masters_are_different)
{
    char error[400];
    size_t i;

    memset(error, 'x', sizeof(error) - 1);
    error[sizeof(error) - 1] = '\0';
    for (i = 0; i < NODES; i++) {
        silence(i, error, 3400);
    }
    cli_trouble_say(NULL, NULL, "k", "the lock", 5000);
    ck_assert_uint_lt(strlen(said), 540);
}
