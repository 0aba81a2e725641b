/* fuzz_uri.c - any bytes as the URI of a node.
 *
 * A password must not show in anything that is for people: not in the name, and not in a
 * reason for a refusal. That is tried with the same URI under another password: all that is
 * said must be the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include <redlock/error.h>
#include <redlock/manager.h>

#include "fuzz.h"
#include "net/uri.h"
#include "node/options.h"

struct parsed {
    int status;
    const char *why;
    struct rlk_uri uri;
};

static struct parsed parse(const char *text)
{
    struct parsed p;

    memset(&p, 0, sizeof(p));
    p.status = rlk_uri_parse(text, &p.uri, &p.why);
    FUZZ_CHECK(p.status == 0 || p.status == REDLOCK_EURI, "understood or refused");
    FUZZ_CHECK(p.status == 0 || (p.why && p.why[0]), "a refusal has a reason");
    return p;
}

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* ---- what is understood ---- */

/* The number that stands at *text behind this character; `without` when it does not. */
static uint64_t number_behind(char c, const char **text, uint64_t without)
{
    char *end;
    uint64_t value;

    if (**text != c || (*text)[1] == '\0') {
        return without;
    }
    value = strtoull(*text + 1, &end, 10);
    *text = end;
    return value;
}

/* The host and its numbers are in the URI as they are reported. */
static void check_numbers(const char *text, const struct rlk_uri *u)
{
    const char *rest = text + strlen(u->tls ? "rediss://" : "redis://"), *slash = strchr(rest, '/');
    const char *at = memrchr(rest, '@', slash ? (size_t)(slash - rest) : strlen(rest));

    rest = at ? at + 1 : rest;
    rest = rest[0] == '[' ? strchr(rest, ']') + 1 : rest + strlen(u->host);
    FUZZ_CHECK(u->port == number_behind(':', &rest, 6379), "the port is that of the URI");
    FUZZ_CHECK(u->db == number_behind('/', &rest, 0), "the database is that of the URI");
}

static void check_host(const struct rlk_uri *u)
{
    const char *c;

    FUZZ_CHECK(u->host[0] != '\0' && strlen(u->host) <= 253, "a host has 1 to 253 characters");
    FUZZ_CHECK(u->port >= 1 && u->port <= 65535, "a port has 16 bits and is not 0");
    for (c = u->host; *c; c++) {
        FUZZ_CHECK(*c > ' ' && *c <= '~' && strchr("@/%?#[]", *c) == NULL,
                   "a host has no character that means something else");
    }
}

static void check_path(const struct rlk_uri *u)
{
    const struct sockaddr_un *un = NULL;

    FUZZ_CHECK(u->path[0] == '/', "a path is absolute");
    FUZZ_CHECK(strlen(u->path) < sizeof(un->sun_path), "a path fits a socket's address");
    FUZZ_CHECK(u->user == NULL && u->password == NULL, "a path has no user");
}

static void check_parts(const char *text, const struct rlk_uri *u)
{
    FUZZ_CHECK((u->host == NULL) != (u->path == NULL), "a host or a path");
    FUZZ_CHECK(u->db <= 65535, "a database has 16 bits");
    FUZZ_CHECK(strstr(text, "%00") == NULL || u->zone, "there is no NUL in a text");
    FUZZ_CHECK(u->name != NULL && strlen(u->name) <= strlen(text) + 16, "a name of its length");
    FUZZ_CHECK(u->user == NULL || strlen(u->user) < strlen(text), "a user no longer than the URI");
    FUZZ_CHECK(u->password == NULL || strlen(u->password) < strlen(text),
               "a password no longer than the URI");
    if (u->host) {
        check_host(u);
        check_numbers(text, u);
    } else {
        check_path(u);
    }
}

/* ---- the way back ---- */

static char *put_escaped(char *to, const char *text)
{
    for (; text && *text; text++) {
        to += sprintf(to, "%%%02X", (unsigned char)*text);
    }
    return to;
}

/* The parameters of TLS. */
static void put_tls(char *to, const struct rlk_uri *u)
{
    const char *const names[] = {"cacert", "cert", "key", "sni"};
    const char *const values[] = {u->cacert, u->cert, u->key, u->sni};
    char before = '?';
    unsigned i;

    for (i = 0; i < 4; i++) {
        if (values[i]) {
            to = put_escaped(to + sprintf(to, "%c%s=", before, names[i]), values[i]);
            before = '&';
        }
    }
    if (u->verify == 0) {
        sprintf(to, "%cverify=none", before);
    }
}

/* The parts as another URI: every character of user, password and path as an escape. */
static char *write_again(const struct rlk_uri *u, size_t room)
{
    char *text = malloc(room), *to = text;

    if (text == NULL) {
        abort();
    }
    if (u->path) {
        to = put_escaped(to + sprintf(to, "unix:///"), u->path + 1);
        sprintf(to, "?db=%u", u->db);
        return text;
    }
    to = put_escaped(to + sprintf(to, u->tls ? "rediss://" : "redis://"), u->user);
    to = u->password ? put_escaped(to + sprintf(to, ":"), u->password) : to;
    to += sprintf(to, u->user || u->password ? "@" : "");
    to += sprintf(to, strchr(u->host, ':') ? "[%s" : "%s", u->host);
    to += u->zone ? sprintf(to, "%%25%s", u->zone) : 0;
    to += sprintf(to, strchr(u->host, ':') ? "]" : "");
    to += sprintf(to, ":%u/%u", u->port, u->db);
    put_tls(to, u);
    return text;
}

static void check_way_back(const char *text, const struct rlk_uri *u)
{
    char *again = write_again(u, 4 * strlen(text) + 64);
    struct parsed p = parse(again);

    FUZZ_CHECK(p.status == 0, "what was understood can be written again");
    FUZZ_CHECK(same(p.uri.host, u->host) && same(p.uri.path, u->path), "the same place");
    FUZZ_CHECK(same(p.uri.zone, u->zone) && (!u->zone || strchr(u->host, ':')),
               "the same zone, of an IPv6 address");
    FUZZ_CHECK(p.uri.db == u->db && (u->path || p.uri.port == u->port), "the same database, port");
    FUZZ_CHECK(same(p.uri.user, u->user) && same(p.uri.password, u->password), "the same login");
    FUZZ_CHECK(same(p.uri.name, u->name), "the same name");
    FUZZ_CHECK(same(p.uri.cacert, u->cacert) && same(p.uri.cert, u->cert) &&
                   same(p.uri.key, u->key) && same(p.uri.sni, u->sni) && p.uri.verify == u->verify,
               "the same TLS");
    rlk_uri_end(&p.uri);
    if (u->host) {
        p = parse(u->name);
        FUZZ_CHECK(p.status == 0 && same(p.uri.name, u->name), "a name of a host is a URI too");
        FUZZ_CHECK(p.uri.user == NULL && p.uri.password == NULL, "a name has no login");
        rlk_uri_end(&p.uri);
    }
    free(again);
}

/* ---- the password ---- */

/* Where the password of redis://user:password@ begins; NULL: it has no password. */
static char *find_password(char *text, size_t *ret_len)
{
    char *login = strstr(text, "://"), *colon, *at, *slash;

    if (login == NULL) {
        return NULL;
    }
    login += 3;
    slash = strchr(login, '/');
    at = memrchr(login, '@', slash ? (size_t)(slash - login) : strlen(login));
    colon = at ? memchr(login, ':', (size_t)(at - login)) : NULL;
    if (colon == NULL) {
        return NULL;
    }
    *ret_len = (size_t)(at - colon) - 1;
    return colon + 1;
}

/* Another password with the same escapes, good or broken. */
static void hide(char *password, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++) {
        if (password[i] == '%') {
            i += 2;
        } else {
            password[i] = 'x';
        }
    }
}

/* What a manager says about a set with this node. */
static int load(const char *text, char *error, size_t size)
{
    struct redlock_options public;
    struct rlk_options o;
    int status;

    redlock_options_init(&public);
    public.nodes = &text;
    public.n_nodes = 1;
    public.error_text = error;
    public.error_text_size = size;
    status = rlk_options_load(&o, &public);
    if (status == 0) {
        rlk_options_end(&o);
    }
    return status;
}

static void check_secret(const char *text, const struct parsed *p)
{
    char *other = fuzz_text((const uint8_t *)text, strlen(text)), *password;
    char error[300] = "", other_error[300] = "";
    size_t len = 0;
    struct parsed q;

    password = find_password(other, &len);
    if (password) {
        hide(password, len);
        q = parse(other);
        FUZZ_CHECK(q.status == p->status, "a URI is as good with another password");
        FUZZ_CHECK(same(q.why, p->why), "a reason says nothing of the password");
        FUZZ_CHECK(same(q.uri.name, p->uri.name), "a name says nothing of the password");
        FUZZ_CHECK(load(text, error, sizeof(error)) == load(other, other_error, sizeof(error)),
                   "a manager takes the one as it takes the other");
        FUZZ_CHECK(same(error, other_error), "what a manager says, says nothing of the password");
        rlk_uri_end(&q.uri);
    }
    free(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct parsed p = parse(text);

    if (p.status == 0) {
        check_parts(text, &p.uri);
        check_way_back(text, &p.uri);
    } else {
        FUZZ_CHECK(p.uri.name == NULL && p.uri.password == NULL, "nothing is kept of a refusal");
    }
    check_secret(text, &p);
    rlk_uri_end(&p.uri);
    free(text);
    return 0;
}
