/* watched.c - asks who holds a key, and observes who leads.
 *
 * An observer hears at once when a key gets another holder, candidate or not. It does not hear of
 * renewals, waiters and single masters: those are asked for.
 */
#include "cli/web/watched.h"

#include <stdlib.h>
#include <string.h>

#include <redlock/redlock.h>

#include "cli/say/json.h"
#include "cli/session/leader.h"
#include "cli/show/status.h"
#include "cli/system/clock.h"

static void replace(char **text, char *with)
{
    free(*text);
    *text = with;
}

/* ---- who holds it ---- */

static void note_token(struct cli_watched *watched, const struct redlock_query_result *result)
{
    bool same = watched->token && result->held && strcmp(watched->token, result->token) == 0;

    if (result->unknown || same) {
        return;
    }
    replace(&watched->token, result->held ? strdup(result->token) : NULL);
    watched->seen_us = cli_clock_us();
}

static void note_status(struct cli_watched *watched, const struct redlock_query_result *result)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    if (out) {
        cli_status_json_print(out, watched->rl, watched->key, result);
        if (fclose(out) == 0) {
            replace(&watched->status, text);
            return;
        }
    }
    free(text);
}

static void on_key_status(const struct redlock_query_result *result, int status, void *arg)
{
    struct cli_watched *watched = arg;

    (void)status;
    watched->asking = false;
    if (result) {
        watched->asked_us = cli_clock_us();
        watched->is_election |= result->held && result->leader[0];
        note_token(watched, result);
        note_status(watched, result);
    }
}

void cli_watched_ask(struct cli_watched *watched)
{
    if (!watched->asking) {
        watched->asking = redlock_query(watched->rl, watched->key, 0, on_key_status, watched) == 0;
    }
}

/* ---- who leads ---- */

static void note_leader(struct cli_watched *watched, const struct redlock_leader *leader)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    if (out) {
        cli_leader_json(out, watched->key, leader, NULL);
        if (fclose(out) == 0) {
            replace(&watched->leader, text);
            return;
        }
    }
    free(text);
}

static void on_watched_leader(struct redlock_election *election,
                              const struct redlock_leader *leader, void *arg)
{
    struct cli_watched *watched = arg;
    char text[256];

    (void)election;
    note_leader(watched, leader);
    if (!leader->known) {
        snprintf(text, sizeof(text), "not known: fewer than a majority of the masters answer");
    } else if (!leader->id[0]) {
        snprintf(text, sizeof(text), "free");
    } else {
        snprintf(text, sizeof(text), "held by %s%s%s", leader->id,
                 leader->value[0] ? ", value " : "", leader->value);
    }
    watched->on_change(watched->arg, watched->is_election ? "election" : "lock", watched->key, text,
                       watched->leader);
    cli_watched_ask(watched);
}

int cli_watched_begin(struct cli_watched *watched)
{
    struct redlock_election_options options;

    redlock_election_options_init(&options);
    options.name = watched->key;
    options.leader_cb = on_watched_leader;
    options.arg = watched;
    return redlock_election_new(watched->rl, &options, &watched->observer);
}

void cli_watched_json(FILE *out, const struct cli_watched *watched, uint64_t now_us)
{
    fprintf(out, "{\"election\": %s", watched->is_election ? "true" : "false");
    cli_json_number(out, "seen_ms", watched->token != NULL,
                    (int64_t)((now_us - watched->seen_us) / 1000));
    cli_json_number(out, "asked_ms", watched->status != NULL,
                    (int64_t)((now_us - watched->asked_us) / 1000));
    fprintf(out, ",\n \"observed\": %s,\n \"status\":", watched->leader ? watched->leader : "null");
    fprintf(out, "%s}", watched->status ? watched->status : " null");
}

void cli_watched_free(struct cli_watched *watched)
{
    free(watched->status);
    free(watched->leader);
    free(watched->token);
}
