/* uri_query.c - a table of the parameters: which URIs may have them, and what is wrong with a bad
 * value. */
#include "net/uri_query.h"

#include <string.h>

#include <redlock/manager.h>

#include "net/uri.h"
#include "net/uri_text.h"

enum parameter {
    DB,
    QUARANTINE,
    CACERT,
    CERT,
    KEY,
    SNI,
    VERIFY,
    PARAMETERS
};

#define BAD_FILE(name)                                                                             \
    name " is empty or given twice, or has a '%' without two hex digits (not 00) after it; write " \
         "%25 for a '%'"

static const struct {
    const char *name, *refused;
} parameters[PARAMETERS] = {
    [DB] = {"db", "db= is not a number from 0 to 65535, or is given twice"},
    [QUARANTINE] = {"quarantine", "quarantine= is not strict, lenient or off, or is given twice"},
    [CACERT] = {"cacert", BAD_FILE("cacert=")},
    [CERT] = {"cert", BAD_FILE("cert=")},
    [KEY] = {"key", BAD_FILE("key=")},
    [SNI] = {"sni", BAD_FILE("sni=")},
    [VERIFY] = {"verify", "verify= is not none, or is given twice; leave it out to verify the "
                          "certificate"},
};

int rlk_uri_quarantine(const char *word, size_t len)
{
    static const char *const words[] = {[REDLOCK_QUARANTINE_STRICT] = "strict",
                                        [REDLOCK_QUARANTINE_LENIENT] = "lenient",
                                        [REDLOCK_QUARANTINE_OFF] = "off"};
    int i;

    for (i = 0; i < (int)(sizeof(words) / sizeof(words[0])); i++) {
        if (strlen(words[i]) == len && memcmp(words[i], word, len) == 0) {
            return i;
        }
    }
    return -1;
}

/* Only a unix socket has no host. */
static bool is_allowed(enum parameter p, const struct rlk_uri *u)
{
    if (p == QUARANTINE) {
        return true;
    }
    return p == DB ? u->host == NULL : u->tls;
}

/* The parameter of this name that such a URI may have; PARAMETERS: no such parameter. */
static enum parameter find_parameter(const char *name, size_t len, const struct rlk_uri *u)
{
    unsigned p = 0;

    while (p < PARAMETERS && (strlen(parameters[p].name) != len ||
                              memcmp(parameters[p].name, name, len) != 0 || !is_allowed(p, u))) {
        p++;
    }
    return p;
}

static const char *refuse_name(const struct rlk_uri *u)
{
    if (u->tls) {
        return "after the '?' only cacert=, cert=, key=, sni=, verify=none and quarantine=strict, "
               "=lenient or =off are allowed";
    }
    return u->host ? "after the '?' only quarantine=strict, =lenient or =off is allowed (and, "
                     "after rediss://, cacert=, cert=, key=, sni= and verify=none)"
                   : "after the '?' only db=N and quarantine=strict, =lenient or =off are allowed";
}

static const char *take_text(const char *value, size_t len, char **ret, const char *refused)
{
    if (len == 0) {
        return refused;
    }
    *ret = rlk_uri_copy(value, len);
    return rlk_uri_read_part(*ret, refused);
}

static const char *take_parameter(enum parameter p, const char *value, size_t len,
                                  struct rlk_uri *u)
{
    const char *refused = parameters[p].refused;

    switch (p) {
    case DB:
        return rlk_uri_number(value, len, 0, RLK_URI_MAX_DB, &u->db) ? NULL : refused;
    case QUARANTINE:
        u->quarantine = rlk_uri_quarantine(value, len);
        return u->quarantine >= 0 ? NULL : refused;
    case CACERT:
        return take_text(value, len, &u->cacert, refused);
    case CERT:
        return take_text(value, len, &u->cert, refused);
    case KEY:
        return take_text(value, len, &u->key, refused);
    case SNI:
        return take_text(value, len, &u->sni, refused);
    case VERIFY:
    case PARAMETERS:
        break;
    }
    u->verify = 0;
    return len == 4 && memcmp(value, "none", 4) == 0 ? NULL : refused;
}

/* One "name=value" of `len` bytes. given: the bits of the parameters before this one. */
static const char *parse_parameter(const char *text, size_t len, unsigned *given, struct rlk_uri *u)
{
    const char *equals = memchr(text, '=', len);
    size_t name_len = equals ? (size_t)(equals - text) : 0;
    enum parameter p = equals ? find_parameter(text, name_len, u) : PARAMETERS;

    if (p == PARAMETERS) {
        return refuse_name(u);
    }
    if (*given & 1U << p) {
        return parameters[p].refused;
    }
    *given |= 1U << p;
    return take_parameter(p, equals + 1, len - name_len - 1, u);
}

const char *rlk_uri_parse_query(const char *query, struct rlk_uri *u)
{
    const char *why = NULL;
    unsigned given = 0;

    while (query && why == NULL) {
        size_t len = strcspn(query, "&");

        why = parse_parameter(query, len, &given, u);
        query = query[len] ? query + len + 1 : NULL;
    }
    return why;
}
