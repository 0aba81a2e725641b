/* options.h - a manager's options, checked and copied. */
#ifndef RLK_NODE_OPTIONS_H
#define RLK_NODE_OPTIONS_H

#include <redlock/manager.h>

#include "core/quarantine.h"
#include "net/uri.h"

struct rlk_options {
    unsigned n_nodes;
    struct rlk_uri *uris; /* user and password are filled in from the defaults */
    char *key_prefix;     /* never NULL */
    size_t key_prefix_len;
    char *client_name; /* never NULL */
    uint64_t node_timeout_us, connect_timeout_us;
    uint64_t health_us; /* 0: never */
    uint32_t max_ttl_ms, drift_ppm;
    enum redlock_quarantine quarantine;
};

/* The caller's struct, of whatever version, as one of ours. 0; REDLOCK_EINVAL when it was not
 * initialised (then no field of it is looked at), or sets what we do not know. error_text is
 * cleared, and written on failure. */
int rlk_options_read(const struct redlock_options *theirs, struct redlock_options *ret_public);

/* 0, REDLOCK_EINVAL, _EURI or _ENOMEM; public->error_text is written on failure, and nothing
 * is kept. */
int rlk_options_load(struct rlk_options *o, const struct redlock_options *public);

/* The policy for one node. */
enum rlk_quarantine_policy rlk_options_quarantine_policy(const struct rlk_options *o,
                                                         unsigned node);

void rlk_options_end(struct rlk_options *o);

#endif
