/* refusal.c - the table of refusals. */
#include "node/refusal.h"

#include <stddef.h>
#include <string.h>

#include "core/classify.h"

#define CLUSTER(word)                                                                              \
    {                                                                                              \
        word, "it is a cluster node (" word ")", "list independent masters, without cluster mode"  \
    }
#define NOT_KNOWN "remove its rename-command; if it is a proxy, list the masters behind it"

static const struct rlk_refusal refusals[] = {
    {"MISCONF", "it cannot write its data to the disk (MISCONF)",
     "check its log, and whether its disk is full or read-only"},
    {"OOM", "its memory is full (OOM)", "raise its maxmemory, or move other data away"},
    {"NOREPLICAS", "it has fewer replicas than it needs for a write (NOREPLICAS)",
     "set its min-replicas-to-write to 0"},
    {"BUSY", "it runs a script or a function that does not end (BUSY)",
     "wait for that, or use SCRIPT KILL or FUNCTION KILL there"},
    {"LOADING", "it is loading its data (LOADING)", "wait until it has finished"},
    {"READONLY", "it is a replica (READONLY)", "list independent masters only"},
    {"MASTERDOWN", "it is a replica without its master (MASTERDOWN)",
     "list independent masters only"},
    {"ERR max number of clients", "it has as many connections as it allows (maxclients)",
     "raise its maxclients, or close other connections"},
    {"ERR unknown command", NULL, NOT_KNOWN},
    {"ERR Unknown Redis command", NULL, NOT_KNOWN},
    CLUSTER("CLUSTERDOWN"),
    CLUSTER("MOVED"),
    CLUSTER("ASK"),
    CLUSTER("TRYAGAIN"),
    CLUSTER("CROSSSLOT"),
};

/* Whether the error begins with these words, and not only with their letters. */
static int begins(const char *error, const char *start)
{
    size_t len = strlen(start);

    return strncmp(error, start, len) == 0 && strchr(" ,.'`", error[len]) != NULL;
}

const struct rlk_refusal *rlk_refusal_of(const char *error)
{
    size_t i;

    error = rlk_classify_skip_places(error);
    for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        if (begins(error, refusals[i].start)) {
            return &refusals[i];
        }
    }
    return NULL;
}
