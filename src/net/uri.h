/* uri.h - where a node is, from its URI.
 *
 *     redis://[user[:password]@]host[:port][/db][?quarantine=q]     host: name, IPv4 or [IPv6]
 *     unix:///path[?db=n][&quarantine=q]
 */
#ifndef RLK_NET_URI_H
#define RLK_NET_URI_H

#include <stddef.h>

struct rlk_uri {
    char *host; /* NULL for a unix socket */
    char *path; /* NULL for TCP */
    char *user; /* NULL for none, likewise the password */
    char *password;
    char *name; /* for people: the URI without user and password */
    unsigned port, db;
    int quarantine; /* an enum redlock_quarantine; -1: the manager's */
};

/* The word for a quarantine policy, with its end at `len`: the enum's value, or -1. */
int rlk_uri_quarantine(const char *word, size_t len);

/* 0; REDLOCK_EURI and *ret_why, a part of a sentence that never holds the password;
 * REDLOCK_ENOMEM. On failure nothing is kept. */
int rlk_uri_parse(const char *text, struct rlk_uri *ret_uri, const char **ret_why);

/* Frees the parts; the password is wiped first. */
void rlk_uri_end(struct rlk_uri *u);

/* Free a text after overwriting it; takes NULL. */
void rlk_uri_wipe(char *secret);

/* A copy of `len` bytes, NUL terminated; NULL when there is no memory. */
char *rlk_uri_copy(const char *text, size_t len);

#endif
