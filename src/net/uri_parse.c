/* uri_parse.c - parses a URI. */
#include "net/uri.h"

#include <stdbool.h>
#include <stdio.h>
#include <net/if.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>

#include <redlock/error.h>
#include <redlock/manager.h>

#include "base/alloc.h"
#include "net/secret.h"
#include "net/uri_query.h"
#include "net/uri_text.h"

#define DEFAULT_PORT 6379
#define MAX_HOST 253

void rlk_uri_end(struct rlk_uri *u)
{
    rlk_free(u->host);
    rlk_free(u->zone);
    rlk_free(u->path);
    rlk_free(u->user);
    rlk_secret_free(u->password);
    rlk_free(u->cacert);
    rlk_free(u->cert);
    rlk_free(u->key);
    rlk_free(u->sni);
    rlk_free(u->name);
    *u = (struct rlk_uri){0};
}

/* The text before the '@': user, user:password or :password. */
static const char *parse_login(const char *text, size_t len, struct rlk_uri *u)
{
    const char *colon = memchr(text, ':', len);
    size_t user_len = colon ? (size_t)(colon - text) : len;

    const char *why = NULL;

    if (user_len > 0) {
        u->user = rlk_uri_copy(text, user_len);
        why = rlk_uri_read_part(
            u->user,
            "the user has a '%' without two hex digits (not 00) after it; write %25 for a '%'");
    }
    if (why == NULL && colon) {
        u->password = rlk_secret_copy(colon + 1, len - user_len - 1);
        why = rlk_uri_read_part(
            u->password,
            "the password has a '%' without two hex digits (not 00) after it; write %25 for a '%'");
    }
    return why;
}

/* How many characters at the beginning are allowed in a name or an IPv4 address, or in [ ]. */
static size_t host_span(const char *text, bool bracket)
{
    return strspn(text, bracket ? "0123456789abcdefABCDEF:."
                                : "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789-_.");
}

/* What stands behind the '%' of an IPv6 address. RFC 6874 wants the '%' itself to be escaped; many
 * write it as it is. */
static const char *parse_zone(const char *text, size_t len, struct rlk_uri *u)
{
    size_t escape = len > 2 && strncmp(text, "25", 2) == 0 ? 2 : 0;

    text += escape;
    len -= escape;
    if (len == 0 || len >= IF_NAMESIZE ||
        strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~") < len) {
        return "the zone after the '%' of an IPv6 address is not the name of an interface "
               "(write [fe80::1%25eth0])";
    }
    u->zone = rlk_uri_copy(text, len);
    return u->zone ? NULL : rlk_uri_no_memory;
}

/* host, host:port, [v6] or [v6]:port, also with a zone. */
static const char *parse_address(const char *text, size_t len, struct rlk_uri *u)
{
    bool bracket = len > 0 && text[0] == '[';
    const char *end = bracket ? memchr(text, ']', len) : memchr(text, ':', len);
    const char *host = bracket ? text + 1 : text, *percent, *why;
    size_t host_len, used;

    if (bracket && end == NULL) {
        return "the '[' of an IPv6 address has no ']'";
    }
    host_len = end ? (size_t)(end - host) : len;
    used = host_len + (bracket ? 2 : 0);
    percent = bracket ? memchr(host, '%', host_len) : NULL;
    if (percent && memchr(host, ':', host_len) == NULL) {
        return "only an IPv6 address has a zone after a '%' (write [fe80::1%25eth0])";
    }
    if (percent) {
        why = parse_zone(percent + 1, (size_t)(host + host_len - percent - 1), u);
        if (why) {
            return why;
        }
        host_len = (size_t)(percent - host);
    }
    if (host_len == 0 || host_len > MAX_HOST || host_span(host, bracket) < host_len) {
        return "the host is missing, too long, or has a character that is not allowed";
    }
    u->port = DEFAULT_PORT;
    if (used < len && (text[used] != ':' ||
                       !rlk_uri_number(text + used + 1, len - used - 1, 1, 65535, &u->port))) {
        return "the port is not a number from 1 to 65535 (write an IPv6 address in [ ])";
    }
    u->host = rlk_uri_copy(host, host_len);
    return u->host ? NULL : rlk_uri_no_memory;
}

static const char *parse_redis(const char *rest, struct rlk_uri *u)
{
    /* A password may have a '?', and the name of a file an '@'. */
    const char *login_end = memrchr(rest, '@', strcspn(rest, "/"));
    size_t login = login_end ? (size_t)(login_end - rest) : 0;
    size_t all = login + strcspn(rest + login, "?");
    const char *slash = memchr(rest, '/', all);
    size_t len = slash ? (size_t)(slash - rest) : all;
    const char *end = rest + all;
    const char *at = memrchr(rest, '@', len);
    const char *why = NULL;

    if (at) {
        why = parse_login(rest, (size_t)(at - rest), u);
        len -= (size_t)(at + 1 - rest);
        rest = at + 1;
    }
    if (why == NULL) {
        why = parse_address(rest, len, u);
    }
    if (why == NULL && slash && slash + 1 < end &&
        !rlk_uri_number(slash + 1, (size_t)(end - slash - 1), 0, RLK_URI_MAX_DB, &u->db)) {
        why = "the database after the '/' is not a number from 0 to 65535";
    }
    return why || *end == '\0' ? why : rlk_uri_parse_query(end + 1, u);
}

/* Whether a user or a password comes before the path. The text up to the first '?' has this length;
 * a password may contain a '?'. */
static bool has_login(const char *rest, size_t len)
{
    return memchr(rest, '@', memchr(rest, ':', len) ? strcspn(rest, "/") : len) != NULL;
}

static const char *parse_unix(const char *rest, struct rlk_uri *u)
{
    const char *query = strchr(rest, '?');
    size_t len = query ? (size_t)(query - rest) : strlen(rest);
    const char *why;

    if (rest[0] != '/' && has_login(rest, len)) {
        return "a unix:// URI has no place for a user or a password: give them as the options "
               "username and password, and write unix:///path/to.sock";
    }
    if (len < 2 || rest[0] != '/') {
        return "the path of the socket must be absolute: unix:///path/to.sock";
    }
    why = query ? rlk_uri_parse_query(query + 1, u) : NULL;
    if (why == NULL) {
        u->path = rlk_uri_copy(rest, len);
        why = rlk_uri_read_part(
            u->path,
            "the path has a '%' without two hex digits (not 00) after it; write %25 for a '%'");
    }
    if (why == NULL && strlen(u->path) >= sizeof(((struct sockaddr_un *)0)->sun_path)) {
        why = "the path is longer than 107 bytes, the limit of a unix socket";
    }
    return why;
}

static char *format_name(const struct rlk_uri *u)
{
    bool v6 = u->host && strchr(u->host, ':');
    const char *zone = u->zone ? u->zone : "";
    size_t size = strlen(u->path ? u->path : u->host) + strlen(zone) + 64;
    char *name = rlk_alloc(size);

    if (name && u->path) {
        snprintf(name, size, u->db ? "unix://%s?db=%u" : "unix://%s", u->path, u->db);
    } else if (name) {
        snprintf(name, size, "%s://%s%s%s%s%s:%u/%u", u->tls ? "rediss" : "redis", v6 ? "[" : "",
                 u->host, zone[0] ? "%" : "", zone, v6 ? "]" : "", u->port, u->db);
    }
    return name;
}

int rlk_uri_parse(const char *text, struct rlk_uri *ret_uri, const char **ret_why)
{
    struct rlk_uri u = {.quarantine = -1, .verify = -1};
    const char *why;

    /* RFC 3986: a scheme in any case */
    if (strncasecmp(text, "redis://", 8) == 0) {
        why = parse_redis(text + 8, &u);
    } else if (strncasecmp(text, "rediss://", 9) == 0) {
        u.tls = true;
        why = parse_redis(text + 9, &u);
    } else if (strncasecmp(text, "unix://", 7) == 0) {
        why = parse_unix(text + 7, &u);
    } else {
        why = "it must begin with redis://, rediss:// (TLS) or unix://";
    }
    if (why == NULL) {
        u.name = format_name(&u);
        why = u.name ? NULL : rlk_uri_no_memory;
    }
    if (why) {
        rlk_uri_end(&u);
        *ret_why = why;
        return why == rlk_uri_no_memory ? REDLOCK_ENOMEM : REDLOCK_EURI;
    }
    *ret_uri = u;
    return 0;
}
