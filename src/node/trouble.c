#include "node/trouble.h"

const char *rlk_trouble_fault(const struct rlk_fault *fault)
{
    switch (fault->kind) {
    case RLK_FAULT_NONE:
        break;
    case RLK_FAULT_SYSTEM:
        return fault->said;
    case RLK_FAULT_NO_ADDRESS:
        return "it has no address";
    case RLK_FAULT_CLOSED:
        return "it closed the connection";
    case RLK_FAULT_MEMORY:
        return "out of memory";
    case RLK_FAULT_TOO_LARGE:
        return "an answer that is too large";
    case RLK_FAULT_TOO_MANY:
        return "an answer with too many elements";
    case RLK_FAULT_GARBLED:
        return "an answer that is not in the Redis protocol";
    }
    return "";
}
