/* record.c - texts about the record of the masters, from what the manager knows of it. */
#include "cli/session/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <redlock/redlock.h>

#include "settings/duration.h"
#include "cli/say/exit.h"
#include "cli/say/json.h"
#include "cli/say/say.h"
#include "cli/session/node_state.h"
#include "cli/session/session.h"
#include "metrics/names.h"

struct redlock_record_info cli_record_of(const struct redlock *rl)
{
    struct redlock_record_info info = {.size = sizeof(info), .error = ""};

    redlock_get_record(rl, &info);
    return info;
}

bool cli_record_differs(const struct redlock *rl)
{
    return cli_record_of(rl).state == REDLOCK_RECORD_OTHER;
}

const char *cli_record_error(const struct redlock *rl)
{
    return cli_record_of(rl).error;
}

static const char *say_known(const struct redlock *rl, const struct redlock_record_info *info,
                             const char *what, char *text)
{
    snprintf(text, CLI_RECORD_LINE, "%s: epoch %" PRIu32 ", max-ttl %s, on %zu of %zu masters%s%s",
             what, info->epoch, rlk_duration(info->max_ttl_ms), info->shown_by,
             redlock_node_count(rl), info->error[0] ? "; " : "", info->error);
    return text;
}

const char *cli_record_sentence(const struct redlock *rl, char *text)
{
    struct redlock_record_info info = cli_record_of(rl);

    switch (info.state) {
    case REDLOCK_RECORD_OFF:
        return "it is turned off here (--no-record, REDLOCK_RECORD or the file of masters)";
    case REDLOCK_RECORD_NONE:
        return info.readable
                   ? "no master has one yet; the first client that acquires a lock writes "
                     "it, when it reaches all masters"
               : cli_nodes_up(rl)
                   ? "none: masters without a quarantine have none, as those of a sandbox; or "
                     "they deny us INFO, EVAL or the key redlock:masters"
                   : "no master can be reached";
    case REDLOCK_RECORD_SEEN:
        return say_known(rl, &info, "not known to be agreed on", text);
    case REDLOCK_RECORD_AGREED:
        return say_known(rl, &info, "agreed on", text);
    case REDLOCK_RECORD_OTHER:
        snprintf(text, CLI_RECORD_LINE, "it differs: %s", info.error);
        return text;
    }
    return "unknown";
}

void cli_record_json(FILE *out, const struct redlock *rl)
{
    struct redlock_record_info info = cli_record_of(rl);
    char text[CLI_RECORD_LINE];

    fprintf(out, "{\"state\": \"%s\"", rlk_record_state_name((int)info.state));
    cli_json_text(out, "text", cli_record_sentence(rl, text));
    cli_json_known(out, "error", info.error);
    cli_json_number(out, "epoch", info.epoch > 0, info.epoch);
    cli_json_number(out, "max_ttl_ms", info.epoch > 0, info.max_ttl_ms);
    cli_json_number(out, "shown_by", true, (int64_t)info.shown_by);
    cli_json_number(out, "readable", true, (int64_t)info.readable);
    fprintf(out, "}");
}

/* ---- the entries ---- */

/* The epoch 1 has no newcomers: everybody was there from the start. */
bool cli_record_is_new(const struct redlock_record_info *info,
                       const struct redlock_record_master *master)
{
    return master->until_epoch == 0 && master->from_epoch == info->epoch && info->epoch > 1;
}

/* For how long its votes do not count yet; "": they do. */
static const char *wait_of(const struct redlock_node_info *node, char *text, size_t size)
{
    text[0] = '\0';
    if (node->quarantine_ms == UINT64_MAX) {
        snprintf(text, size, ", does not vote yet");
    } else if (node->quarantine_ms > 0) {
        snprintf(text, size, ", does not vote for another %s", rlk_duration(node->quarantine_ms));
    }
    return text;
}

/* On record an address may have " on MACHINE" behind it. */
static bool is_name(const char *address, const char *name)
{
    size_t len = strlen(name);

    return strncmp(address, name, len) == 0 && (!address[len] || address[len] == ' ');
}

static const char *say_master(const struct redlock *rl, const struct redlock_record_info *info,
                              const struct redlock_record_master *m, char *text)
{
    struct redlock_node_info node = {.size = sizeof(node), .name = ""};
    bool ours = m->node >= 0 && redlock_get_node_info(rl, (size_t)m->node, &node) == 0;
    bool renamed = ours && !is_name(m->address, node.name);
    char wait[80] = "";

    if (ours && cli_record_is_new(info, m)) {
        wait_of(&node, wait, sizeof(wait));
    }
    snprintf(text, CLI_RECORD_LINE, "%s  since epoch %" PRIu32 "%s%s%s", m->address, m->from_epoch,
             wait, renamed ? ", here " : "", renamed ? node.name : "");
    return text;
}

const char *cli_record_entry(const struct redlock *rl, size_t index, char *text)
{
    struct redlock_record_info info = cli_record_of(rl);
    struct redlock_record_master m = {.size = sizeof(m)};

    if (redlock_get_record_master(rl, index, &m) != 0) {
        return NULL;
    }
    if (m.until_epoch == 0) {
        return say_master(rl, &info, &m, text);
    }
    snprintf(text, CLI_RECORD_LINE, "%s  no master since epoch %" PRIu32 "%s", m.address,
             m.until_epoch, m.lost ? ", because it lost its data" : "");
    return text;
}

/* ---- our masters ---- */

static bool is_on_record(const struct redlock *rl, size_t node)
{
    struct redlock_record_master m = {.size = sizeof(m)};
    size_t i;

    for (i = 0; redlock_get_record_master(rl, i, &m) == 0; i++) {
        if (m.until_epoch == 0 && m.node == (int)node) {
            return true;
        }
    }
    return false;
}

const char *cli_record_ours(const struct redlock *rl, size_t index, char *text)
{
    struct redlock_node_info node = {.size = sizeof(node)};

    if (redlock_get_node_info(rl, index, &node) != 0) {
        return NULL;
    }
    snprintf(text, CLI_RECORD_LINE, "%s%s", node.name,
             is_on_record(rl, index)         ? ""
             : node.state == REDLOCK_NODE_UP ? "  not on record"
                                             : "  not connected, so it may be on record or not");
    return text;
}

const char *cli_record_source(const struct cli_session *session, char *text)
{
    snprintf(text, CLI_RECORD_LINE, "by %s, max-ttl %s", session->settings.found.sources.nodes.from,
             rlk_duration(session->max_ttl_ms));
    return text;
}

/* ---- whether the list is out of date ---- */

/* Whether an entry is about this server: by the address on record, or by that of its node here. */
static bool is_about(const struct redlock *rl, const struct redlock_record_master *m,
                     const char *name)
{
    struct redlock_node_info node = {.size = sizeof(node), .name = ""};

    if (m->node >= 0) {
        redlock_get_node_info(rl, (size_t)m->node, &node);
    }
    return is_name(m->address, name) || strcmp(node.name, name) == 0;
}

static bool is_listed(const struct cli_session *session, const struct redlock_record_master *m)
{
    size_t i;

    for (i = 0; i < REDLOCK_MAX_NODES && session->listed[i]; i++) {
        if (is_about(session->rl, m, session->listed[i])) {
            return true;
        }
    }
    return false;
}

static bool has_entry(const struct redlock *rl, const char *name)
{
    struct redlock_record_master m = {.size = sizeof(m)};
    size_t i;

    for (i = 0; redlock_get_record_master(rl, i, &m) == 0; i++) {
        if (is_about(rl, &m, name)) {
            return true;
        }
    }
    return i == 0; /* there is no record */
}

static void append(char *text, size_t size, const char *sentence)
{
    size_t used = strlen(text);

    snprintf(text + used, size - used, "%s%s", used ? "; " : "", sentence);
}

/* What took the place of a former master; "": nothing, or that is not known. */
static void find_successor(const struct redlock *rl, uint32_t epoch, char *text, size_t size)
{
    struct redlock_record_master m = {.size = sizeof(m)};
    size_t i, n = 0;

    for (i = 0; redlock_get_record_master(rl, i, &m) == 0; i++) {
        if (m.from_epoch == epoch) {
            snprintf(text, size, "%s", m.address);
            n++;
        }
    }
    text[n == 1 ? strlen(text) : 0] = '\0';
}

static void say_unlisted(const struct cli_session *session, char *text, size_t size)
{
    struct redlock_record_master m = {.size = sizeof(m)};
    char line[2 * CLI_RECORD_LINE];
    size_t i;

    for (i = 0; redlock_get_record_master(session->rl, i, &m) == 0; i++) {
        if (m.until_epoch == 0 && !is_listed(session, &m)) {
            snprintf(line, sizeof(line), "%s is on record, and not in the list", m.address);
            append(text, size, line);
        }
    }
}

/* A server that left and came back has two entries. */
static const char *say_listed(const struct redlock *rl, const char *name, char *text, size_t size)
{
    struct redlock_record_master m = {.size = sizeof(m)};
    char successor[CLI_RECORD_LINE] = "";
    uint32_t until = 0;
    size_t i;

    for (i = 0; redlock_get_record_master(rl, i, &m) == 0; i++) {
        if (is_about(rl, &m, name)) {
            if (m.until_epoch == 0) {
                return NULL;
            }
            until = m.until_epoch;
        }
    }
    find_successor(rl, until, successor, sizeof(successor));
    snprintf(text, size, "the list still has %s, which %s%s epoch %" PRIu32, name,
             successor[0] ? successor : "is no master since", successor[0] ? " replaced in" : "",
             until);
    return text;
}

bool cli_record_outdated(const struct cli_session *session, char *ret_text, size_t size)
{
    char line[3 * CLI_RECORD_LINE];
    size_t i;

    ret_text[0] = '\0';
    if (session->listed[0] == NULL || cli_record_differs(session->rl)) {
        return false;
    }
    for (i = 0; i < REDLOCK_MAX_NODES && session->listed[i]; i++) {
        const char *name = session->listed[i];

        if (!has_entry(session->rl, name)) {
            snprintf(line, sizeof(line), "%s is not on record under this address", name);
            append(ret_text, size, line);
        } else if (cli_record_of(session->rl).epoch > 0 &&
                   say_listed(session->rl, name, line, sizeof(line))) {
            append(ret_text, size, line);
        }
    }
    say_unlisted(session, ret_text, size);
    return ret_text[0] != '\0';
}

/* ---- what differs ---- */

void cli_record_advise(void)
{
    cli_say_more("Clients with different masters, or another max-ttl, could hold one lock at the "
                 "same time, so nothing is acquired here.");
    cli_say_more("If the record is right, correct the list of masters or the max-ttl here.");
    cli_say_more("If the record is wrong, stop all clients of these masters, run redlock masters "
                 "delete, and start them again.");
}

int cli_record_explain(const struct cli_session *session)
{
    const struct redlock *rl = session->rl;
    struct redlock_record_info info = cli_record_of(rl);
    char text[CLI_RECORD_LINE];
    const char *line;
    size_t i;

    cli_say_more("On record (epoch %" PRIu32 ", max-ttl %s):", info.epoch,
                 rlk_duration(info.max_ttl_ms));
    for (i = 0; (line = cli_record_entry(rl, i, text)); i++) {
        cli_say_more("  %s", line);
    }
    cli_say_more("Given here (%s):", cli_record_source(session, text));
    for (i = 0; (line = cli_record_ours(rl, i, text)); i++) {
        cli_say_more("  %s", line);
    }
    cli_record_advise();
    return CLI_CONFIG;
}
