/* broken/operator.h - what O tells its user. */
#ifndef RLK_BROKEN_OPERATOR_H
#define RLK_BROKEN_OPERATOR_H

#include "broken/world.h"

/* Whether it matters: a break that failed changes nothing, unless its operator does. */
bool operator_may_tell(const struct world *w);

/* From the replies that O has read by now. */
void operator_tell(struct world *w);

#endif
