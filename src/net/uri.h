/* uri.h - reads the URI of a node.
 *
 *     redis://[user[:password]@]host[:port][/db][?quarantine=q]     host: name, IPv4, [IPv6] or
 *                                                                   [IPv6%25zone]
 *     rediss://...[?cacert=FILE&cert=FILE&key=FILE&sni=NAME&verify=none]     the same over TLS
 *     unix:///path[?db=n][&quarantine=q]
 */
#ifndef RLK_NET_URI_H
#define RLK_NET_URI_H

#include <stdbool.h>
#include <stddef.h>

struct rlk_uri {
    char *host;     /* NULL for a unix socket */
    char *zone;     /* of a link-local IPv6 address: the interface; NULL: none */
    char *path;     /* NULL for TCP */
    char *user;     /* NULL: none; likewise the password */
    char *password; /* in net/secret.h */
    char *name;     /* for people: the URI without user and password */
    unsigned port, db;
    int quarantine; /* an enum redlock_quarantine; -1: not given, the manager's policy holds */
    bool tls;
    char *cacert, *cert, *key, *sni; /* NULL: not given */
    int verify;                      /* 0: verify=none; -1: not given */
};

/* The quarantine policy that a word of `len` bytes names: the enum's value, or -1. */
int rlk_uri_quarantine(const char *word, size_t len);

/* 0; REDLOCK_EURI, with a reason in *ret_why that never contains the password; or REDLOCK_ENOMEM.
 * On failure *ret_uri is not written and no memory is kept. */
int rlk_uri_parse(const char *text, struct rlk_uri *ret_uri, const char **ret_why);

/* Free the parts. */
void rlk_uri_end(struct rlk_uri *u);

/* A copy of `len` bytes, NUL terminated; NULL: out of memory. */
char *rlk_uri_copy(const char *text, size_t len);

#endif
