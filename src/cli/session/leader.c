/* leader.c - shows struct redlock_leader. */
#include "cli/session/leader.h"

#include <inttypes.h>
#include <stdbool.h>

#include <redlock/election.h>

#include "cli/say/json.h"
#include "cli/session/owner.h"

void cli_leader_text(const struct redlock_leader *leader, char *text, size_t size)
{
    char term[32] = "";

    if (leader->term) {
        snprintf(term, sizeof(term), ", term %" PRIu64, leader->term);
    }
    if (!leader->known) {
        snprintf(text, size, "it is not known who leads");
    } else if (!leader->id[0]) {
        snprintf(text, size, "nobody leads");
    } else {
        snprintf(text, size, "leader %s%s%s%s", leader->id, leader->value[0] ? ", value " : "",
                 leader->value, term);
    }
}

void cli_leader_json(FILE *out, const char *key, const struct redlock_leader *leader,
                     const struct cli_former_leader *former)
{
    const struct cli_broken none = {NULL, 0};
    bool leads = leader->known && leader->id[0];

    fprintf(out, "{\"key\": ");
    cli_json_string(out, key);
    cli_json_flag(out, "known", leader->known);
    cli_json_text(out, "leader", leads ? leader->id : NULL);
    cli_json_text(out, "value", leads && leader->value[0] ? leader->value : NULL);
    cli_json_number(out, "term", leads && leader->term, (int64_t)leader->term);
    cli_broken_json(out, former ? former->broken : &none);
    cli_json_text(out, "former_leader", former ? former->id : NULL);
    fprintf(out, "}");
}
