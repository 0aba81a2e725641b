/* address.h - where a server of this command listens, and which names of it a browser may use.
 */
#ifndef CLI_HTTP_ADDRESS_H
#define CLI_HTTP_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Enough for every IP address as text. */
#define CLI_ADDRESS_TEXT 46

struct cli_address {
    char ip[CLI_ADDRESS_TEXT]; /* without the brackets of IPv6 */
    bool v6;
    uint16_t port; /* 0: the kernel chooses */
};

/* Read "HOST:PORT", where HOST is an IPv4 address, an IPv6 address in brackets, or "localhost",
 * which is 127.0.0.1. Other names are refused: to look them up would block.
 *
 * Returns 0; -1 when `text` is something else. */
int cli_address_parse(const char *text, struct cli_address *ret_address);

/* Whether only this machine can reach this IP address, or connect from it. A server that listens
 * for IPv6 has clients such as ::ffff:127.0.0.1. */
bool cli_address_is_loopback(const char *ip);

/* The names by which browsers may address a server, besides its addresses and localhost. */
struct cli_address_names {
    bool any;           /* every name: nothing that is served is a secret */
    const char **names; /* borrowed */
    size_t n;
};

/* Whether `name` can be the name of a host: letters, digits, '-', '_' and '.', 1 to 253 of them. */
bool cli_address_is_name(const char *name);

/* Whether a request with this header "Host" (NULL: without one) may be answered.
 *
 * A page from elsewhere can give its own name our address, and a browser then takes us for a part
 * of that page (DNS rebinding). The name is still in the header. So the host must be an IP address,
 * which no page can borrow, "localhost", the name of this machine, or one of `names`. The port may
 * be another one, as behind `ssh -L`. */
bool cli_address_answers(const struct cli_address_names *names, const char *host);

/* Whether a request with this header "Origin" (NULL: without one) comes from our own page: the
 * origin must be http or https with the host of `host`. */
bool cli_address_is_origin(const char *host, const char *origin);

#endif
