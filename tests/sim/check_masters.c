/* check_masters.c - [S15] the record of the masters: who has others than those on record holds
 * nothing. */
#include "sim/check.h"

bool check_saw_copy(const struct world *w, unsigned client)
{
    const struct client *c = &w->clients[client];
    unsigned node;

    for (node = 0; node < c->nodes && !c->peers[node].copied; node++) {
    }
    return node < c->nodes;
}
