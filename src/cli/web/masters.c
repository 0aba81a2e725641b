/* masters.c - reads the state of the masters, which sends nothing to them. */
#include "cli/web/masters.h"

#include <stdint.h>

#include "settings/duration.h"
#include "cli/say/json.h"
#include "cli/session/node_change.h"
#include "metrics/names.h"

static void look_at(struct cli_masters *masters, size_t i, const struct redlock_node_info *info,
                    cli_masters_cb *on_change, void *arg)
{
    bool quarantined = info->quarantine_ms > 0;
    char text[512];

    if (!masters->begun || info->state != masters->seen[i].state ||
        quarantined != masters->seen[i].quarantined) {
        cli_node_describe(info, text, sizeof(text));
        on_change(arg, info->name, text);
    }
    masters->seen[i].state = info->state;
    masters->seen[i].quarantined = quarantined;
}

void cli_masters_look(struct cli_masters *masters, const struct redlock *rl,
                      cli_masters_cb *on_change, void *arg)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    size_t i;

    for (i = 0; redlock_get_node_info(rl, i, &info) == 0; i++) {
        look_at(masters, i, &info, on_change, arg);
    }
    masters->begun = true;
}

static void write_master(FILE *out, const struct redlock_node_info *info)
{
    bool up = info->state == REDLOCK_NODE_UP;

    fprintf(out, "{\"node\": ");
    cli_json_string(out, info->name);
    cli_json_text(out, "state", rlk_node_state_name((int)info->state));
    cli_json_number(out, "down_ms", !up, (int64_t)info->down_ms);
    cli_json_number(out, "quarantine_ms", true,
                    info->quarantine_ms == UINT64_MAX ? -1 : (int64_t)info->quarantine_ms);
    cli_json_number(out, "rtt_us", info->rtt_us > 0, (int64_t)info->rtt_us);
    cli_json_number(out, "clock_us", info->clock_error_us != UINT64_MAX, info->clock_us);
    cli_json_number(out, "clock_error_us", info->clock_error_us != UINT64_MAX,
                    (int64_t)info->clock_error_us);
    cli_json_known(out, "server", info->server);
    cli_json_known(out, "tls", info->tls);
    cli_json_text(out, "error", info->error);
    fprintf(out, "}");
}

void cli_masters_json(FILE *out, const struct redlock *rl)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    size_t i;

    fprintf(out, "[");
    for (i = 0; redlock_get_node_info(rl, i, &info) == 0; i++) {
        fprintf(out, "%s\n ", i ? "," : "");
        write_master(out, &info);
    }
    fprintf(out, "]");
}
