/* trouble.h - what is wrong with a node, in words. */
#ifndef RLK_NODE_TROUBLE_H
#define RLK_NODE_TROUBLE_H

#include "net/fault.h"

/* Why a connection has ended, or could not be made: a part of a sentence. */
const char *rlk_trouble_fault(const struct rlk_fault *fault);

#endif
