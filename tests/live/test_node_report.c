/* live/test_node_report.c - options.node_cb: the user learns when a master changes its state. */
#include <stdio.h>
#include <string.h>

#include <event2/event.h>

#include "lib/test.h"
#include "live/site.h"

SUITE("node-report");
FIXTURE(NULL, site_end_all);

static struct site s;

/* What the callback of the first manager was told, of one master; and inside what it ran. */
static char said[400];
static size_t about;
static int closed;
static bool in_a_call, closes;

static void note(const char *word)
{
    snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s%s", said[0] ? " " : "", word);
}

static void on_node(struct redlock *rl, size_t index, const struct redlock_node_info *info,
                    void *arg)
{
    static const char *const words[] = {"down", "connecting", "up", "unresponsive"};
    struct redlock_node_info now = {.size = sizeof(now)};

    ck_assert(!in_a_call);
    ck_assert_ptr_eq(arg, &s);
    if (rl != s.rl[0] || index != about) {
        return;
    }
    ck_assert_int_eq(redlock_get_node_info(rl, index, &now), REDLOCK_OK);
    ck_assert_int_eq(now.state, info->state);
    ck_assert_str_eq(now.name, info->name);
    note(words[info->state]);
    note(info->quarantine_ms == 0            ? "votes"
         : info->quarantine_ms == UINT64_MAX ? "no-vote"
                                             : "votes-later");
    if (closes) {
        ck_assert_int_eq(redlock_close(rl, watch_on_closed, &closed), REDLOCK_OK);
        s.rl[0] = NULL;
    }
}

static void begin(size_t n)
{
    said[0] = '\0';
    about = 0;
    closed = 0;
    in_a_call = closes = false;
    site_start(&s, n, NULL);
    s.options.node_cb = on_node;
    s.options.node_arg = &s;
}

static void open_both(void)
{
    in_a_call = true;
    site_open_at_once(&s);
    in_a_call = false;
}

static bool has_said(void *arg)
{
    return strcmp(said, arg) == 0;
}

static bool ends_with(void *arg)
{
    size_t len = strlen(said), wanted = strlen(arg);

    return len >= wanted && strcmp(said + len - wanted, arg) == 0;
}

static void must_say(const char *text)
{
    if (!loop_until_true(s.base, has_said, (void *)(uintptr_t)text, LOOP_BOUND_MS)) {
        ck_abort_msg("said '%s' instead of '%s'", said, text);
    }
}

TEST(a_master_that_dies_and_comes_back_is_reported)
{
    begin(3);
    about = 1;
    open_both();
    must_say("up votes");
    master_kill(s.masters[1]);
    must_say("up votes down votes");
    said[0] = '\0';
    master_restart(s.masters[1]);
    must_say("up votes");
}

TEST(a_master_that_does_not_answer_is_reported)
{
    struct redlock_request request = outcome_request("k");

    begin(3);
    open_both();
    must_say("up votes");
    master_stop(s.masters[0]);
    ck_assert_int_eq(site_acquire_with(&s, 0, &request).status, REDLOCK_OK);
    ck_assert_str_eq(said, "up votes");
    site_time_out(&s);
    must_say("up votes unresponsive votes");
    master_continue(s.masters[0]);
    must_say("up votes unresponsive votes up votes");
}

TEST(a_quarantine_is_reported)
{
    begin(1);
    s.options.quarantine = REDLOCK_QUARANTINE_STRICT;
    open_both();
    must_say("up votes-later");
    suspend_ms(s.options.max_ttl_ms * 2);
    must_say("up votes-later up votes");
}

/* A master is up before we know enough of the record to say when it votes. */
TEST(when_a_quarantine_ends_is_reported_as_soon_as_it_is_known)
{
    begin(3);
    s.options.quarantine = REDLOCK_QUARANTINE_STRICT;
    s.options.record = 1;
    open_both();
    loop_must_true(s.base, ends_with, (void *)(uintptr_t) "up votes-later");
}

TEST(the_callback_may_close_the_manager)
{
    begin(3);
    closes = true;
    open_both();
    loop_must(s.base, &closed);
    ck_assert_str_eq(said, "up votes");
}

TEST(nothing_is_reported_while_nothing_changes)
{
    begin(1);
    open_both();
    must_say("up votes");
    suspend_ms(s.options.inspection_ms * 5);
    ck_assert_int_eq(site_release(&s, site_acquire(&s, "k").lock), REDLOCK_OK);
    loop_settle(s.base);
    ck_assert_str_eq(said, "up votes");
}
