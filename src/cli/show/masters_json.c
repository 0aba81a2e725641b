/* masters_json.c - prints the record as JSON. A value that is not known is null. */
#include "cli/show/masters.h"

#include <inttypes.h>
#include <stdio.h>

#include <redlock/redlock.h>

#include "cli/say/json.h"
#include "cli/session/record.h"
#include "cli/session/session.h"

/* null when it is not one of ours, or nobody knows which. */
static void print_ours(const struct redlock *rl, int node)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    bool known = node >= 0 && redlock_get_node_info(rl, (size_t)node, &info) == 0;

    cli_json_text(stdout, "node", known ? info.name : NULL);
    cli_json_number(stdout, "quarantine_ms", known,
                    known && info.quarantine_ms != UINT64_MAX ? (int64_t)info.quarantine_ms : -1);
}

static void print_entry(const struct redlock *rl, const struct redlock_record_info *info,
                        const struct redlock_record_master *m)
{
    printf("  {\"address\": ");
    cli_json_string(stdout, m->address);
    print_ours(rl, m->node);
    cli_json_number(stdout, "from_epoch", true, m->from_epoch);
    cli_json_number(stdout, "until_epoch", m->until_epoch > 0, m->until_epoch);
    printf(", \"lost_data\": %s, \"newcomer\": %s}", m->lost ? "true" : "false",
           cli_record_is_new(info, m) ? "true" : "false");
}

static void print_entries(const struct redlock *rl, const struct redlock_record_info *info)
{
    struct redlock_record_master m = {.size = sizeof(m)};
    size_t i;

    printf(", \"masters\": [");
    for (i = 0; redlock_get_record_master(rl, i, &m) == 0; i++) {
        printf(i ? ",\n" : "\n");
        print_entry(rl, info, &m);
    }
    printf("%s]", i ? "\n " : "");
}

static void print_here(const struct cli_session *session)
{
    struct redlock_node_info info = {.size = sizeof(info)};
    size_t i;

    printf(",\n \"here\": {\"from\": ");
    cli_json_string(stdout, session->settings.found.sources.nodes.from);
    cli_json_number(stdout, "max_ttl_ms", true, session->max_ttl_ms);
    printf(", \"nodes\": [");
    for (i = 0; redlock_get_node_info(session->rl, i, &info) == 0; i++) {
        printf("%s", i ? ", " : "");
        cli_json_string(stdout, info.name);
    }
    printf("]}}\n");
}

void cli_masters_json_print(const struct cli_session *session)
{
    struct redlock_record_info info = cli_record_of(session->rl);

    printf("{\"record\": ");
    cli_record_json(stdout, session->rl);
    print_entries(session->rl, &info);
    print_here(session);
}
