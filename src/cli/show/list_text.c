/* list_text.c - prints a line for each lock, in order of their keys, and what the list cost. */
#include "cli/show/list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/list.h>

#include "settings/duration.h"
#include "cli/say/say.h"
#include "cli/session/node_state.h"
#include "cli/show/status.h"

char *cli_list_key(const struct redlock_listed *listed)
{
    char *text = malloc(4 * listed->key_len + 1), *to = text;
    size_t i;

    for (i = 0; text && i < listed->key_len; i++) {
        if (listed->key[i] == '\0') {
            to = stpcpy(to, "\\x00");
        } else {
            *to++ = listed->key[i];
        }
    }
    if (text) {
        *to = '\0';
    }
    return text;
}

/* ---- a line ---- */

static void write_holder(FILE *out, const struct redlock_query_result *result)
{
    const char *how;
    const char *who = cli_status_holder(result, &how);

    fprintf(out, "%s%s", how, who);
    if (result->ttl_ms == UINT64_MAX) {
        fprintf(out, ", never expires");
    } else {
        fprintf(out, ", %s left", rlk_duration(result->ttl_ms));
    }
}

static void write_numbers(FILE *out, const struct redlock_query_result *result)
{
    if (result->fencing_token) {
        fprintf(out, ", %s %" PRIu64, result->leader[0] ? "term" : "fencing token",
                result->fencing_token);
    }
    if (result->waiters) {
        fprintf(out, ", %" PRIu64 " wait%s", result->waiters, result->waiters == 1 ? "s" : "");
    }
}

static void write_state(FILE *out, const struct redlock_query_result *result)
{
    if (result->held) {
        write_holder(out, result);
        write_numbers(out, result);
        fprintf(out, ", on %zu of %zu masters", result->holding, result->n_nodes);
    } else {
        fprintf(out, "%s, on %zu of %zu masters", result->unknown ? "not known" : "held by nobody",
                result->holding, result->n_nodes);
    }
}

static const char *difference(const struct redlock_query_node *node, const char *token)
{
    switch (node->reply) {
    case REDLOCK_REPLY_FREE:
        return "has no such key";
    case REDLOCK_REPLY_HELD:
        return strcmp(node->token, token) == 0 ? NULL : "has another value";
    case REDLOCK_REPLY_NONE:
        break;
    }
    return node->error;
}

static void write_differences(FILE *out, const struct redlock *rl,
                              const struct redlock_query_result *result)
{
    size_t i;

    for (i = 0; i < result->n_nodes; i++) {
        const char *what = difference(result->nodes[i], result->token);

        if (what) {
            fprintf(out, "; %s %s", cli_node_name(rl, i), what);
        }
    }
}

static bool write_line(FILE *out, const struct redlock *rl, const struct redlock_listed *listed)
{
    char *key = cli_list_key(listed);

    if (key) {
        fprintf(out, "%s: ", key);
        write_state(out, listed->result);
        write_differences(out, rl, listed->result);
        fprintf(out, "%s", listed->ours ? "" : " (another program's)");
    }
    free(key);
    return key != NULL;
}

static bool has_room(struct cli_list_lines *lines)
{
    size_t room = lines->n < lines->room ? lines->room : 2 * lines->room + 64;
    char **more = room == lines->room ? lines->lines : realloc(lines->lines, room * sizeof(*more));

    if (more) {
        lines->lines = more;
        lines->room = room;
    }
    return more != NULL;
}

bool cli_list_text_add(struct cli_list_lines *lines, const struct redlock *rl,
                       const struct redlock_listed *listed)
{
    char *text = NULL;
    size_t length;
    FILE *out = has_room(lines) ? open_memstream(&text, &length) : NULL;
    bool written = out && write_line(out, rl, listed);

    if (out == NULL || fclose(out) != 0 || !written) {
        free(text);
        return false;
    }
    lines->lines[lines->n++] = text;
    return true;
}

/* ---- the list ---- */

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void print_unscanned(const struct redlock *rl, const struct redlock_list_summary *sum)
{
    size_t i;

    for (i = 0; i < sum->n_nodes; i++) {
        if (!sum->nodes[i]->scanned) {
            cli_say_out("%s has not named all its keys: %s\n", cli_node_name(rl, i),
                        sum->nodes[i]->error);
        }
    }
}

/* A minority does no harm: every lock is on a majority. */
static void print_cost(const struct redlock *rl, const struct cli_list_end *end)
{
    const struct redlock_list_summary *sum = end->summary;

    if (end->unread) {
        cli_say_out("%zu keys cannot be read: %s\n", end->unread, end->unread_why);
    }
    if (end->status == 0) {
        print_unscanned(rl, sum);
    }
    printf("%zu shown of %" PRIu64 " keys; %" PRIu64 " commands to %zu masters in %s\n", end->shown,
           sum->names, sum->commands, sum->n_nodes, rlk_duration(sum->elapsed_ms));
}

static size_t count_shown(const struct cli_list_lines *lines, unsigned most)
{
    return most && lines->n + 2 > most ? (most > 2 ? most - 2 : 0) : lines->n;
}

void cli_list_text_print(struct cli_list_lines *lines, unsigned most, const struct redlock *rl,
                         const struct cli_list_end *end)
{
    size_t shown = count_shown(lines, most), i;

    if (lines->n) {
        qsort(lines->lines, lines->n, sizeof(*lines->lines), compare);
    }
    for (i = 0; i < shown; i++) {
        cli_say_out("%s\n", lines->lines[i]);
    }
    if (shown < lines->n) {
        printf("... and %zu more\n", lines->n - shown);
    }
    cli_list_text_free(lines);
    print_cost(rl, end);
}

void cli_list_text_free(struct cli_list_lines *lines)
{
    size_t i;

    for (i = 0; i < lines->n; i++) {
        free(lines->lines[i]);
    }
    free(lines->lines);
    *lines = (struct cli_list_lines){.n = 0};
}
