/* options.h - a manager's options, checked and copied. */
#ifndef RLK_NODE_OPTIONS_H
#define RLK_NODE_OPTIONS_H

#include <stdbool.h>

#include <redlock/manager.h>

#include "core/quarantine.h"
#include "net/uri.h"
#include "node/command.h"

struct rlk_login;
struct rlk_tls;
struct rlk_tracer;

/* The name of a node before another server took its place: users may still have a pointer to it. */
struct rlk_former_name {
    struct rlk_former_name *next;
    char *name;
};

/* A manager has room for so many nodes more than it is given masters: for those that join later. */
#define RLK_OPTIONS_SPARE 6

struct rlk_options {
    unsigned n_nodes; /* grows when masters join */
    unsigned room;    /* how many nodes there may be */
    uint64_t vacant;  /* nodes whose masters were removed: users do not see them */
    struct rlk_uri *uris;
    struct rlk_former_name *former_names;
    struct rlk_tls **tls;    /* of each master; NULL: it has no TLS */
    struct rlk_login *login; /* for the nodes whose URI has no password */
    char *key_prefix;        /* never NULL */
    size_t key_prefix_len;
    char *client_name; /* never NULL */
    uint64_t node_timeout_us, connect_timeout_us;
    uint64_t inspection_us; /* 0: no inspections */
    uint32_t max_ttl_ms, drift_ppm;
    bool subscribe;         /* waiters are woken over a second connection (node/subscriber.h) */
    char *wake_channel;     /* where the masters wake this manager: no other manager has this name;
                               NULL: unnamed */
    char *record_key;       /* of the record of the masters [S15]; NULL: without one */
    struct rlk_audit audit; /* stream NULL: no entries are written */
    enum redlock_quarantine quarantine;
    struct rlk_tracer *tracer; /* NULL: no trace_cb (node/trace.h) */
};

/* Copy the caller's struct, of whatever version, into one of our version. 0; REDLOCK_EINVAL: it was
 * not initialised (then no field of it is read), or it sets a field that we do not know. The
 * caller's error_text and error_node are cleared; error_text is written when a field is unknown. */
int rlk_options_read(const struct redlock_options *theirs, struct redlock_options *ret_public);

/* Check and copy the options. 0, REDLOCK_EINVAL, _EURI or _ENOMEM. On failure public->error_text
 * says why, and no memory is kept. */
int rlk_options_load(struct rlk_options *o, const struct redlock_options *public);

/* Name the channel of this manager: key_prefix, "redlock:wake:" and the number in hex, 16 digits.
 * 0 or REDLOCK_ENOMEM. */
int rlk_options_name_channel(struct rlk_options *o, uint64_t number);

/* The policy for one node: that of its URI, else that of the options. */
enum rlk_quarantine_policy rlk_options_quarantine_policy(const struct rlk_options *o,
                                                         unsigned node);

/* The name of one of our own keys: `name` with the key prefix in front. The caller frees it. 0 or
 * REDLOCK_ENOMEM. */
int rlk_options_make_name(const struct rlk_options *o, const char *name, char **ret);

/* Another server takes the place of this node: the one at `place` (net/uri_format.h), with the
 * user, password, TLS settings and policy of the one before. On failure nothing has changed:
 * REDLOCK_ENOMEM or _EURI, and why. */
int rlk_options_move(struct rlk_options *o, unsigned node, const char *place, char *why,
                     size_t why_size);

/* One more node: the server at `place`, with the TLS settings and policy of the first node that has
 * TLS if this one has, or none if it has none; and with the user and password that all URIs have,
 * if they have the same. On failure nothing has changed: REDLOCK_ENOMEM, _EURI, or _ELIMIT (there
 * is no room), and why. */
int rlk_options_add(struct rlk_options *o, const char *place, char *why, size_t why_size);

/* Users see the nodes that are not vacant, and know them by their numbers among these. _find: the
 * node with this number; n_nodes: no such node. _numbers: as bits. */
uint64_t rlk_options_seen(const struct rlk_options *o);
unsigned rlk_options_number(const struct rlk_options *o, unsigned node);
unsigned rlk_options_find(const struct rlk_options *o, size_t number);
uint64_t rlk_options_numbers(const struct rlk_options *o, uint64_t nodes);

/* The audit stream, for commands; NULL: no entries are written. */
static inline const struct rlk_audit *rlk_options_audit(const struct rlk_options *o)
{
    return o->audit.stream ? &o->audit : NULL;
}

void rlk_options_end(struct rlk_options *o);

#endif
