/* change.c - redlock masters replace, add, remove: changes which servers are masters.
 *
 * The change goes on by itself once it is on record. So this only waits, and says for what.
 */
#include "cli/show/change.h"

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

struct changing {
    struct cli_session *session;
    const struct cli_change *wanted;
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

static void say_settling(const struct changing *r, const char *wait, bool again)
{
    const struct cli_change *w = r->wanted;

    if (w->joins == NULL) {
        cli_say(again ? "%s stops voting in %s"
                      : "%s is not on record as a master any more; it stops voting in %s",
                w->leaves, wait);
    } else if (again) {
        cli_say("%s votes in %s", w->joins, wait);
    } else if (w->leaves) {
        cli_say("%s is on record in the place of %s, and clients connect to it now; it votes in %s",
                w->joins, w->leaves, wait);
    } else {
        cli_say("%s is on record, and clients connect to it now; it votes in %s", w->joins, wait);
    }
}

static void say_wait(struct changing *r, const struct redlock_change_progress *p)
{
    bool again = p->stage == r->stage && r->begun;

    if (again && p->wait_ms + SAY_EVERY_MS > r->said_ms) {
        return;
    }
    r->said_ms = p->wait_ms;
    if (p->stage == REDLOCK_CHANGE_WAITS) {
        cli_say("the change before this one is not over yet: waiting for another %s",
                cli_duration(p->wait_ms));
    } else {
        say_settling(r, cli_duration(p->wait_ms), again);
    }
}

static void say_error(struct changing *r, const struct redlock_change_progress *p)
{
    if (p->error[0] != '\0' && strcmp(p->error, r->error) != 0) {
        cli_say("waiting for a master: %s", p->error);
    }
    snprintf(r->error, sizeof(r->error), "%s", p->error);
}

static void on_progress(struct redlock_change *change,
                        const struct redlock_change_progress *progress, void *arg)
{
    struct changing *r = arg;

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

static void say_failure(const struct changing *r, const char *why)
{
    const struct cli_change *w = r->wanted;

    if (w->joins == NULL) {
        cli_say("%s could not be removed: %s", w->leaves, why);
    } else if (w->leaves) {
        cli_say("%s could not take the place of %s: %s", w->joins, w->leaves, why);
    } else {
        cli_say("%s could not be added: %s", w->joins, why);
    }
}

static void say_success(const struct changing *r)
{
    if (r->wanted->joins) {
        cli_say("%s is a master and votes", r->wanted->joins);
    } else {
        cli_say("%s is not a master any more", r->wanted->leaves);
    }
}

static void on_changed(int status, const char *error, void *arg)
{
    struct changing *r = arg;

    if (status == 0) {
        say_success(r);
    } else {
        say_failure(r, error[0] ? error : redlock_strerror(status));
    }
    if (status == REDLOCK_ENOQUORUM && !has_no_record(r->session->rl)) {
        cli_say_more("The change may be half done, which harms nothing: clients go on with it. Run "
                     "this again when a majority of the masters can be reached.");
    }
    r->code = code_of(status);
    r->done = true;
}

/* How many masters are on record. The session has followed the change by now. */
static size_t count_masters(const struct redlock *rl)
{
    struct redlock_record_master m = {.size = sizeof(m)};
    size_t i, n = 0;

    for (i = 0; redlock_get_record_master(rl, i, &m) == 0; i++) {
        n += m.until_epoch == 0;
    }
    return n;
}

static void advise_on_number(const struct changing *r)
{
    size_t n = count_masters(r->session->rl);

    if ((r->wanted->joins == NULL || r->wanted->leaves == NULL) && n > 0 && n % 2 == 0) {
        cli_say_more("Of %zu masters no more may fail than of %zu: add or remove another one.", n,
                     n - 1);
    }
}

static void advise(const struct changing *r)
{
    const struct cli_change *w = r->wanted;

    if (r->code != CLI_OK) {
        return;
    }
    if (w->joins == NULL) {
        cli_say_more("Remove it from the list of every client. A client that is started with it "
                     "goes by the record.");
    } else if (w->leaves) {
        cli_say_more("Write it in the place of %s into the list of every client. Until then a "
                     "client that is started finds it through the other masters.",
                     w->leaves);
    } else {
        cli_say_more("Add it to the list of every client. Until then a client that is started "
                     "finds it through the other masters.");
    }
    advise_on_number(r);
}

/* ---- the change ---- */

static int read_change(struct changing *r, struct redlock_change_options *ret_change)
{
    const struct cli_change *w = r->wanted;

    redlock_change_options_init(ret_change);
    ret_change->joins = w->joins;
    if (w->timeout_ms > 0) {
        ret_change->timeout_ms = w->timeout_ms;
    }
    ret_change->progress_cb = on_progress;
    ret_change->change_cb = on_changed;
    ret_change->arg = r;
    return w->leaves ? find_master(r->session, w->leaves, &ret_change->leaves) : CLI_GO_ON;
}

int cli_change_masters(struct cli_session *session, const struct cli_change *wanted)
{
    struct changing r = {.session = session, .wanted = wanted};
    struct redlock_options masters = session->settings.options;
    struct redlock_change_options change;
    char error[300] = "";
    int code = read_change(&r, &change), status;

    if (code != CLI_GO_ON) {
        return code;
    }
    masters.error_text = error;
    masters.error_text_size = sizeof(error);
    masters.error_node = NULL;
    masters.trace_cb = NULL;
    masters.node_cb = NULL;
    status = redlock_change_masters(session->loop.base, &masters, &change, &r.change);
    if (status == REDLOCK_EINVAL || status == REDLOCK_EURI) {
        return cli_say_usage("masters", "%s", error[0] ? error : redlock_strerror(status));
    }
    code = cli_session_await(session, status, wanted->joins ? wanted->joins : wanted->leaves,
                             &r.done, &r.code);
    if (!r.done && status == 0) {
        redlock_change_cancel(r.change);
    }
    advise(&r);
    return code;
}
