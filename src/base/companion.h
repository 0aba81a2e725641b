/* companion.h - what the library and `redlock companion` agree on.
 *
 * The library starts `redlock companion PID`, for ps(1) to show, with these files. The settings are
 * names and values, each NUL terminated: first RLK_COMPANION_VERSION and its value, last an empty
 * name. The tokens are a ledger (base/ledger.h).
 *
 * The companion says RLK_COMPANION_READY, or why it is not, over its life socket, once. Then it
 * waits until it can read the end of the socket, which means that the program is dead. A byte means
 * that the manager was closed. */
#ifndef RLK_BASE_COMPANION_H
#define RLK_BASE_COMPANION_H

#define RLK_COMPANION_COMMAND "companion"

enum rlk_companion_file {
    RLK_COMPANION_LIFE,
    RLK_COMPANION_SETTINGS,
    RLK_COMPANION_TOKENS,
    RLK_COMPANION_PASSWORD, /* only if the program has its password in a file that it has open */
    RLK_COMPANION_FILES
};

/* The number of the first file; the others follow. */
#define RLK_COMPANION_FIRST_FD 3

#define RLK_COMPANION_READY "ready"

/* Names and values of the settings. Numbers are decimal. */
#define RLK_COMPANION_VERSION "companion"
#define RLK_COMPANION_THIS_VERSION "1"
#define RLK_COMPANION_NODE "node" /* a URI; once for each master */
#define RLK_COMPANION_USERNAME "username"
#define RLK_COMPANION_PASSWORD_TEXT "password"
#define RLK_COMPANION_PASSWORD_FILE "password-file"
#define RLK_COMPANION_CLIENT_NAME "client-name"
#define RLK_COMPANION_MAX_TTL_MS "max-ttl-ms"
#define RLK_COMPANION_NODE_TIMEOUT_MS "node-timeout-ms"
#define RLK_COMPANION_CONNECT_TIMEOUT_MS "connect-timeout-ms"

#endif
