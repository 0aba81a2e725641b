/* replace.c - redlock masters replace: has another server take the place of a master.
 *
 * The change goes on by itself once it is on record. So this only waits, and says for what.
 */
#include "cli/show/replace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/redlock.h>

#include "cli/say/duration.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/record.h"
#include "cli/session/session.h"

/* How often to say that it still waits. */
#define SAY_EVERY_MS 10000

struct replacing {
    struct cli_session *session;
    const struct cli_replacement *wanted;
    struct redlock_change *change;
    enum redlock_change_stage stage;
    bool begun;       /* `stage` is set */
    uint64_t said_ms; /* the wait that was said last */
    char error[400];  /* that was said last */
    bool done;
    int code;
};

/* ---- which master ---- */

static bool is_number(const char *text)
{
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

/* As in the list, or as the library prints it. */
static bool is_named(const struct cli_session *session, size_t i, const char *uri)
{
    struct redlock_node_info info = {.size = sizeof(info)};

    return strcmp(session->settings.options.nodes[i], uri) == 0 ||
           (redlock_get_node_info(session->rl, i, &info) == 0 && strcmp(info.name, uri) == 0);
}

static int find_master(const struct cli_session *session, const char *text, size_t *ret_index)
{
    size_t n = session->settings.options.n_nodes, i;

    if (is_number(text)) {
        i = strtoul(text, NULL, 10) - 1;
        if (i < n) {
            *ret_index = i;
            return CLI_GO_ON;
        }
    }
    for (i = 0; i < n; i++) {
        if (is_named(session, i, text)) {
            *ret_index = i;
            return CLI_GO_ON;
        }
    }
    return cli_say_usage("masters", "'%s' is not one of the %zu masters in the list", text, n);
}

/* ---- what is going on ---- */

static void say_wait(struct replacing *r, const struct redlock_change_progress *p)
{
    bool again = p->stage == r->stage && r->begun;

    if (again && p->wait_ms + SAY_EVERY_MS > r->said_ms) {
        return;
    }
    r->said_ms = p->wait_ms;
    if (p->stage == REDLOCK_CHANGE_WAITS) {
        cli_say("the change before this one is not over yet: waiting for another %s",
                cli_duration(p->wait_ms));
    } else if (again) {
        cli_say("%s votes in %s", r->wanted->joins, cli_duration(p->wait_ms));
    } else {
        cli_say("%s is on record in the place of %s, and clients connect to it now; it votes in %s",
                r->wanted->joins, r->wanted->leaves, cli_duration(p->wait_ms));
    }
}

static void say_error(struct replacing *r, const struct redlock_change_progress *p)
{
    if (p->error[0] != '\0' && strcmp(p->error, r->error) != 0) {
        cli_say("waiting for a master: %s", p->error);
    }
    snprintf(r->error, sizeof(r->error), "%s", p->error);
}

static void on_progress(struct redlock_change *change,
                        const struct redlock_change_progress *progress, void *arg)
{
    struct replacing *r = arg;

    if (progress->stage == REDLOCK_CHANGE_WAITS || progress->stage == REDLOCK_CHANGE_SETTLES) {
        say_wait(r, progress);
    } else if (r->begun && progress->stage == r->stage) {
        say_error(r, progress);
    }
    r->stage = progress->stage;
    r->begun = true;
    if (progress->stage == REDLOCK_CHANGE_SETTLES && r->wanted->no_wait) {
        redlock_change_cancel(change);
        r->code = CLI_OK;
        r->done = true;
    }
}

static int code_of(int status)
{
    switch (status) {
    case REDLOCK_OK:
        return CLI_OK;
    case REDLOCK_ECONFIG:
        return CLI_CONFIG;
    default:
        return CLI_UNREACHABLE;
    }
}

/* Every master can show one, and none does: so no change was begun. */
static bool has_no_record(const struct redlock *rl)
{
    struct redlock_record_info info = cli_record_of(rl);

    return info.state == REDLOCK_RECORD_NONE && info.readable == redlock_node_count(rl);
}

static void on_changed(int status, const char *error, void *arg)
{
    struct replacing *r = arg;

    if (status == 0) {
        cli_say("%s is a master and votes", r->wanted->joins);
    } else {
        cli_say("%s could not take the place of %s: %s", r->wanted->joins, r->wanted->leaves,
                error[0] ? error : redlock_strerror(status));
    }
    if (status == REDLOCK_ENOQUORUM && !has_no_record(r->session->rl)) {
        cli_say_more("The change may be half done, which harms nothing: clients go on with it. Run "
                     "this again when a majority of the masters can be reached.");
    }
    r->code = code_of(status);
    r->done = true;
}

static void advise(const struct replacing *r)
{
    if (r->code == CLI_OK) {
        cli_say_more(
            "Write it in the place of %s into the list of every client. Until then a client "
            "that is started finds it through the other masters.",
            r->wanted->leaves);
    }
}

/* ---- the change ---- */

int cli_replace_master(struct cli_session *session, const struct cli_replacement *replacement)
{
    struct replacing r = {.session = session, .wanted = replacement};
    struct redlock_options masters = session->settings.options;
    struct redlock_change_options change;
    char error[300] = "";
    int code, status;

    redlock_change_options_init(&change);
    code = find_master(session, replacement->leaves, &change.leaves);
    if (code != CLI_GO_ON) {
        return code;
    }
    change.joins = replacement->joins;
    if (replacement->timeout_ms > 0) {
        change.timeout_ms = replacement->timeout_ms;
    }
    change.progress_cb = on_progress;
    change.change_cb = on_changed;
    change.arg = &r;
    masters.error_text = error;
    masters.error_text_size = sizeof(error);
    masters.error_node = NULL;
    masters.trace_cb = NULL;
    masters.node_cb = NULL;
    status = redlock_change_masters(session->loop.base, &masters, &change, &r.change);
    if (status == REDLOCK_EINVAL || status == REDLOCK_EURI) {
        return cli_say_usage("masters", "%s", error[0] ? error : redlock_strerror(status));
    }
    code = cli_session_await(session, status, replacement->joins, &r.done, &r.code);
    if (!r.done && status == 0) {
        redlock_change_cancel(r.change);
    }
    advise(&r);
    return code;
}
