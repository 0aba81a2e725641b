/* listed.c - lists the locks, and keeps the last list as JSON. */
#include "cli/web/listed.h"

#include <stdlib.h>

#include <redlock/redlock.h>

#include "cli/say/json.h"
#include "cli/show/list.h"
#include "cli/show/status.h"
#include "cli/system/clock.h"

/* The pause between two lists, and how fast one is: slower than `redlock list`, because it goes on
 * as long as the page is open. */
#define PAUSE_US 5000000
#define RATE 5000

static void drop_next(struct cli_listed *listed)
{
    if (listed->out) {
        fclose(listed->out);
        listed->out = NULL;
    }
    free(listed->next);
    listed->next = NULL;
}

static void write_key(struct cli_listed *listed, const struct redlock_listed *found)
{
    char *key = cli_list_key(found);

    if (key) {
        fprintf(listed->out, listed->shown ? ",\n" : "\n");
        cli_status_json_print(listed->out, listed->rl, key, found->result);
        listed->shown++;
    }
    free(key);
}

static void on_web_listed(const struct redlock_listed *found, void *arg)
{
    struct cli_listed *listed = arg;

    if (!found->ours || !(found->result->held || found->result->unknown)) {
        return;
    }
    if (listed->shown < CLI_LISTED_SHOWN) {
        write_key(listed, found);
    } else {
        listed->more++;
    }
}

static void write_summary(const struct cli_listed *listed, const struct redlock_list_summary *sum,
                          int status)
{
    FILE *out = listed->out;

    fprintf(out, "],\n\"complete\": %s", status == 0 ? "true" : "false");
    cli_json_number(out, "more", true, (int64_t)listed->more);
    cli_json_number(out, "scanned", true, (int64_t)sum->scanned);
    cli_json_number(out, "commands", true, (int64_t)sum->commands);
    cli_json_number(out, "elapsed_ms", true, (int64_t)sum->elapsed_ms);
    fprintf(out, "}\n");
}

/* Without memory the last list stays. */
static void on_web_list_end(const struct redlock_list_summary *sum, int status, void *arg)
{
    struct cli_listed *listed = arg;
    FILE *out = listed->out;

    listed->asking = false;
    listed->ended_us = cli_clock_us();
    if (sum) {
        write_summary(listed, sum, status);
        listed->out = NULL;
        if (fclose(out) == 0) {
            free(listed->last);
            listed->last = listed->next;
            listed->next = NULL;
            listed->n_lists++;
        }
    }
    drop_next(listed);
}

static int begin(struct cli_listed *listed)
{
    struct redlock_list_options o;

    redlock_list_options_init(&o);
    o.prefix = listed->prefix;
    o.rate = RATE;
    o.listed_cb = on_web_listed;
    o.list_cb = on_web_list_end;
    o.arg = listed;
    return redlock_list(listed->rl, &o);
}

void cli_listed_ask(struct cli_listed *listed)
{
    bool is_due = listed->n_lists == 0 || cli_clock_us() - listed->ended_us >= PAUSE_US;

    if (listed->prefix == NULL || listed->asking || !is_due) {
        return;
    }
    listed->shown = listed->more = 0;
    listed->out = open_memstream(&listed->next, &listed->next_length);
    if (listed->out) {
        fprintf(listed->out, "{\"keys\": [");
        listed->asking = begin(listed) == 0;
    }
    if (!listed->asking) {
        drop_next(listed);
    }
}

void cli_listed_json(FILE *out, const struct cli_listed *listed, uint64_t now_us)
{
    if (listed->prefix == NULL) {
        fprintf(out, "null");
        return;
    }
    fprintf(out, "{\"prefix\": ");
    cli_json_string(out, listed->prefix);
    cli_json_number(out, "lists", true, (int64_t)listed->n_lists);
    cli_json_number(out, "asked_ms", listed->last != NULL,
                    (int64_t)((now_us - listed->ended_us) / 1000));
    fprintf(out, "}");
}

const char *cli_listed_last(const struct cli_listed *listed)
{
    return listed->last ? listed->last : "null\n";
}

void cli_listed_free(struct cli_listed *listed)
{
    drop_next(listed);
    free(listed->last);
}
