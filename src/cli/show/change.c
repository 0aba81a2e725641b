/* change.c - redlock masters replace, add, remove: changes which servers are masters.
 *
 * The change goes on by itself once it is on record. So this only waits, and says for what.
 */
#include "cli/show/change.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/redlock.h>

#include "settings/duration.h"
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
    bool writes;      /* it has tried to put the change on record */
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

/* As the library names masters: without a user and a password. */
static void name_server(const char *uri, char *ret_name, size_t size)
{
    const char *scheme = strstr(uri, "://"), *at = scheme ? strrchr(uri, '@') : NULL;

    if (at && strncmp(uri, "unix:", 5) != 0) {
        snprintf(ret_name, size, "%.*s%s", (int)(scheme + 3 - uri), uri, at + 1);
    } else {
        snprintf(ret_name, size, "%s", uri);
    }
}

static int check_new(const struct cli_session *session, const struct cli_change *change)
{
    size_t i;

    for (i = 0; i < session->settings.options.n_nodes; i++) {
        if (is_named(session, i, change->joins) || is_named(session, i, change->joined)) {
            return cli_say_usage("masters",
                                 "%s is already in the list: give a new server, and the list from "
                                 "before the change",
                                 change->joined);
        }
    }
    return CLI_GO_ON;
}

int cli_change_find(const struct cli_session *session, struct cli_change *change)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    int code = change->leaves ? find_master(session, change->leaves, &change->index) : CLI_GO_ON;

    if (code == CLI_GO_ON && change->leaves &&
        redlock_get_node_info(session->rl, change->index, &info) == 0) {
        snprintf(change->left, sizeof(change->left), "%s", info.name);
    }
    if (code == CLI_GO_ON && change->joins) {
        name_server(change->joins, change->joined, sizeof(change->joined));
        code = check_new(session, change);
    }
    if (code == CLI_GO_ON && change->joins == NULL && session->settings.options.n_nodes == 1) {
        code = cli_say_usage("masters", "%s is the only master in the list", change->left);
    }
    return code;
}

/* ---- what is going on ---- */

static void say_settling(const struct changing *r, const char *wait, bool again)
{
    const struct cli_change *w = r->wanted;

    if (w->joins == NULL) {
        cli_say(again ? "%s stops voting in %s"
                      : "%s is not on record as a master any more; it stops voting in %s",
                w->left, wait);
    } else if (again) {
        cli_say("%s votes in %s", w->joined, wait);
    } else if (w->leaves) {
        cli_say("%s is on record in the place of %s, and clients connect to it now; it votes in %s",
                w->joined, w->left, wait);
    } else {
        cli_say("%s is on record, and clients connect to it now; it votes in %s", w->joined, wait);
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
                rlk_duration(p->wait_ms));
    } else {
        say_settling(r, rlk_duration(p->wait_ms), again);
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
    r->writes = r->writes || progress->stage == REDLOCK_CHANGE_WRITES;
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

static void say_failure(const struct changing *r, const char *why)
{
    const struct cli_change *w = r->wanted;

    if (w->joins == NULL) {
        cli_say("%s could not be removed: %s", w->left, why);
    } else if (w->leaves) {
        cli_say("%s could not take the place of %s: %s", w->joined, w->left, why);
    } else {
        cli_say("%s could not be added: %s", w->joined, why);
    }
}

static void say_success(const struct changing *r)
{
    if (r->wanted->joins) {
        cli_say("%s is a master and votes", r->wanted->joined);
    } else {
        cli_say("%s is not a master any more", r->wanted->left);
    }
}

static void on_changed(int status, const char *error, void *arg)
{
    struct changing *r = arg;

    if (status == 0) {
        say_success(r);
        if (error[0]) {
            cli_say("%s", error);
        }
    } else {
        say_failure(r, error[0] ? error : redlock_strerror(status));
    }
    if (status == REDLOCK_ENOQUORUM && r->writes) {
        cli_say_more("The change may be half done, which harms nothing: clients go on with it. Run "
                     "this again when a majority of the masters can be reached.");
    }
    r->code = code_of(status);
    r->done = true;
}

/* How many masters there are after the change, whether or not this session has followed it. */
static size_t count_masters(const struct changing *r)
{
    const struct cli_change *w = r->wanted;
    struct redlock_node_info info = {.size = sizeof(info)};
    struct redlock_record_master m = {.size = sizeof(m)};
    size_t i, n = 0;
    bool joined = false, left = true;

    for (i = 0; redlock_get_record_master(r->session->rl, i, &m) == 0; i++) {
        if (m.until_epoch == 0) {
            n++;
            if (m.node >= 0 && redlock_get_node_info(r->session->rl, (size_t)m.node, &info) == 0) {
                joined = joined || strcmp(info.name, w->joined) == 0;
                left = left && strcmp(info.name, w->left) != 0;
            }
        }
    }
    return n + (w->joins && !joined) - (w->leaves && !left);
}

static void advise_on_number(const struct changing *r)
{
    size_t n = count_masters(r);

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
                     w->left);
    } else {
        cli_say_more("Add it to the list of every client. Until then a client that is started "
                     "finds it through the other masters.");
    }
    advise_on_number(r);
}

/* ---- the change ---- */

static void read_change(struct changing *r, struct redlock_change_options *ret_change)
{
    const struct cli_change *w = r->wanted;

    redlock_change_options_init(ret_change);
    ret_change->joins = w->joins;
    if (w->leaves) {
        ret_change->leaves = w->index;
    }
    if (w->timeout_ms > 0) {
        ret_change->timeout_ms = w->timeout_ms;
    }
    ret_change->progress_cb = on_progress;
    ret_change->change_cb = on_changed;
    ret_change->arg = r;
}

int cli_change_masters(struct cli_session *session, const struct cli_change *wanted)
{
    struct changing r = {.session = session, .wanted = wanted};
    struct redlock_options masters = session->settings.options;
    struct redlock_change_options change;
    char error[300] = "";
    int code, status;

    read_change(&r, &change);
    masters.error_text = error;
    masters.error_text_size = sizeof(error);
    masters.error_node = NULL;
    masters.trace_cb = NULL;
    masters.node_cb = NULL;
    status = redlock_change_masters(session->loop.base, &masters, &change, &r.change);
    if (status == REDLOCK_EINVAL || status == REDLOCK_EURI) {
        return cli_say_usage("masters", "%s", error[0] ? error : redlock_strerror(status));
    }
    code = cli_session_await(session, status, wanted->joins ? wanted->joined : wanted->left,
                             &r.done, &r.code);
    if (!r.done && status == 0) {
        redlock_change_cancel(r.change);
    }
    advise(&r);
    return code;
}
