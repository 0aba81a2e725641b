/* address.c - reads addresses to listen on, and compares them with what browsers send. */
#include "cli/http/address.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <arpa/inet.h>

/* Enough for every host that is accepted, with its port. */
#define HOST_TEXT 64

static int parse_port(const char *text, uint16_t *ret_port)
{
    unsigned long port = 0;

    if (*text == '\0' || strspn(text, "0123456789") != strlen(text) || strlen(text) > 5) {
        return -1;
    }
    port = strtoul(text, NULL, 10);
    if (port > UINT16_MAX) {
        return -1;
    }
    *ret_port = (uint16_t)port;
    return 0;
}

static int parse_ip(const char *text, int family, struct cli_address *address)
{
    unsigned char bytes[16];

    address->v6 = family == AF_INET6;
    return inet_pton(family, text, bytes) == 1 &&
                   inet_ntop(family, bytes, address->ip, sizeof(address->ip))
               ? 0
               : -1;
}

/* Read a host that `length` characters of text are. */
static int parse_host(const char *text, size_t length, struct cli_address *address)
{
    char host[HOST_TEXT];

    if (length == 0 || length >= sizeof(host)) {
        return -1;
    }
    memcpy(host, text, length);
    host[length] = '\0';
    if (strcasecmp(host, "localhost") == 0) {
        return parse_ip("127.0.0.1", AF_INET, address);
    }
    if (host[0] == '[' && host[length - 1] == ']') {
        host[length - 1] = '\0';
        return parse_ip(host + 1, AF_INET6, address);
    }
    return parse_ip(host, AF_INET, address);
}

/* The colon in front of the port; NULL when there is no port. */
static const char *find_port(const char *text)
{
    const char *colon = strrchr(text, ':');
    const char *bracket = strrchr(text, ']');

    return colon && bracket && colon < bracket ? NULL : colon;
}

int cli_address_parse(const char *text, struct cli_address *ret_address)
{
    struct cli_address address;
    const char *colon = find_port(text);

    if (colon == NULL || parse_port(colon + 1, &address.port) != 0 ||
        parse_host(text, (size_t)(colon - text), &address) != 0) {
        return -1;
    }
    *ret_address = address;
    return 0;
}

bool cli_address_is_loopback(const struct cli_address *address)
{
    return address->v6 ? strcmp(address->ip, "::1") == 0 : strncmp(address->ip, "127.", 4) == 0;
}

bool cli_address_answers(const struct cli_address *address, const char *host)
{
    struct cli_address named;
    const char *colon = host ? find_port(host) : NULL;

    if (!cli_address_is_loopback(address)) {
        return true;
    }
    if (host == NULL || (colon && parse_port(colon + 1, &named.port) != 0)) {
        return false;
    }
    return parse_host(host, colon ? (size_t)(colon - host) : strlen(host), &named) == 0 &&
           cli_address_is_loopback(&named);
}

bool cli_address_is_origin(const char *host, const char *origin)
{
    static const char *const schemes[] = {"http://", "https://"};
    size_t i;

    for (i = 0; origin && i < 2; i++) {
        size_t length = strlen(schemes[i]);

        if (strncasecmp(origin, schemes[i], length) == 0) {
            return host && strcasecmp(origin + length, host) == 0;
        }
    }
    return origin == NULL;
}
