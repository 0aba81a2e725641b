/* login.h - user and password for a master: those of its URI, else those of the options.
 *
 *            refused, and the password is in a file
 *   CURRENT ----------------------------------------> STALE
 *      ^                                                |
 *      +-- before the next AUTH: read the file again ---+
 *
 * A password of the options is kept once, for all masters, in memory for secrets. */
#ifndef RLK_NODE_LOGIN_H
#define RLK_NODE_LOGIN_H

#include <stdbool.h>

#include "node/trouble.h"

struct redlock_options;
struct rlk_reply;
struct rlk_uri;

/* Of the options; NULL: none. */
struct rlk_login {
    char *user, *password, *file;
    char unread[96]; /* why the file could not be read the last time; "" */
};

/* Copy the options, and read the file. 0 or REDLOCK_ENOMEM; REDLOCK_EINVAL: the file cannot be
 * read, and `unread` says why. On failure call rlk_login_end(), too. */
int rlk_login_load(struct rlk_login *l, const struct redlock_options *public);
void rlk_login_end(struct rlk_login *l);

/* What to log in with; NULL: none. The user of the options comes with their password only. */
const char *rlk_login_user(const struct rlk_login *l, const struct rlk_uri *u);
const char *rlk_login_password(const struct rlk_login *l, const struct rlk_uri *u);

#define RLK_LOGIN_WORDS 4

/* The words of AUTH, with NULL behind them, borrowed until the next call. renew: the last attempt
 * was refused, so read the file again first, if the password is in one; if that fails, try the
 * former password again. False: there is no password, so no AUTH is sent. */
bool rlk_login_words(struct rlk_login *l, const struct rlk_uri *u, bool renew,
                     const char *ret_words[RLK_LOGIN_WORDS]);

/* Whether an error says that we are not logged in, to a command other than AUTH. */
bool rlk_login_is_missing(const struct rlk_reply *reply);

/* What is wrong when our login was refused with this error, or is missing. */
struct rlk_trouble rlk_login_trouble(const struct rlk_login *l, const struct rlk_uri *u,
                                     const char *error);

#endif
