/* address.c - reads addresses to listen on, and compares them with what browsers send. */
#include "cli/http/address.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <arpa/inet.h>
#include <unistd.h>

/* Enough for every host that is accepted, with its port. */
#define HOST_TEXT 64

#define NAME_MAX_LENGTH 253

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

bool cli_address_is_loopback(const char *ip)
{
    static const char mapped[] = "::ffff:";
    size_t skip = strncasecmp(ip, mapped, sizeof(mapped) - 1) == 0 ? sizeof(mapped) - 1 : 0;

    return strcmp(ip, "::1") == 0 || strncmp(ip + skip, "127.", 4) == 0;
}

bool cli_address_is_name(const char *name)
{
    size_t length = strlen(name);

    return length > 0 && length <= NAME_MAX_LENGTH &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") ==
               length;
}

/* Whether the `length` characters of host are this name. */
static bool is_name(const char *host, size_t length, const char *name)
{
    return strlen(name) == length && strncasecmp(host, name, length) == 0;
}

static bool is_this_machine(const char *host, size_t length)
{
    char name[NAME_MAX_LENGTH + 1] = "";

    return gethostname(name, sizeof(name) - 1) == 0 && name[0] && is_name(host, length, name);
}

bool cli_address_answers(const struct cli_address_names *names, const char *host)
{
    struct cli_address address;
    const char *colon = host ? find_port(host) : NULL;
    size_t length = colon ? (size_t)(colon - host) : host ? strlen(host) : 0, i;

    if (names->any) {
        return true;
    }
    if (host == NULL || (colon && parse_port(colon + 1, &address.port) != 0)) {
        return false;
    }
    for (i = 0; i < names->n; i++) {
        if (is_name(host, length, names->names[i])) {
            return true;
        }
    }
    return parse_host(host, length, &address) == 0 || is_this_machine(host, length);
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
