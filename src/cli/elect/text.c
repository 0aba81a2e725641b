/* text.c - makes a line of struct redlock_leader. */
#include "cli/elect/text.h"

#include <inttypes.h>
#include <stdio.h>

#include <redlock/election.h>

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
