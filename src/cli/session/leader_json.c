/* leader_json.c - writes struct redlock_leader as JSON. */
#include "cli/session/leader_json.h"

#include <stdbool.h>
#include <stdint.h>

#include <redlock/election.h>

#include "cli/say/json.h"

void cli_leader_json(FILE *out, const char *key, const struct redlock_leader *leader)
{
    bool leads = leader->known && leader->id[0];

    fprintf(out, "{\"key\": ");
    cli_json_string(out, key);
    cli_json_flag(out, "known", leader->known);
    cli_json_text(out, "leader", leads ? leader->id : NULL);
    cli_json_text(out, "value", leads && leader->value[0] ? leader->value : NULL);
    cli_json_number(out, "term", leads && leader->term, (int64_t)leader->term);
    fprintf(out, "}");
}
