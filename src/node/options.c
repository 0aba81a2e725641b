/* options.c - checks each option, and copies them. */
#include "node/options.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <redlock/error.h>
#include <redlock/lock.h>
#include <redlock/version.h>

#include "base/alloc.h"
#include "base/mask.h"
#include "base/sized.h"
#include "base/time.h"
#include "base/wipe.h"
#include "net/secret.h"
#include "net/tls.h"
#include "net/uri_format.h"
#include "node/login.h"

#define MAX_TIMEOUT_MS 60000
#define MAX_DRIFT_PPM 500000
#define MAX_CLIENT_NAME 64
#define MAX_AUDIT_ENTRIES 10000000
#define WAKE_CHANNEL "redlock:wake:"

/* The fields that every version of the struct has. */
#define LEAST RLK_SIZED_UP_TO(struct redlock_options, n_nodes)

static const struct redlock_options defaults = {
    .size = sizeof(defaults),
    .node_timeout_ms = 500,
    .connect_timeout_ms = 2000,
    .max_ttl_ms = 300000,
    .drift_ppm = 10000,
    .quarantine = REDLOCK_QUARANTINE_STRICT,
    .inspection_ms = 1000,
    .subscribe = 1,
    .tls_verify = 1,
    .record = 1,
};

REDLOCK_EXPORT void redlock_options_init_sized(struct redlock_options *options, size_t size)
{
    rlk_sized_init(options, size, &defaults, sizeof(defaults));
}

__attribute__((format(printf, 3, 4))) static int refuse(const struct redlock_options *p, int status,
                                                        const char *format, ...)
{
    va_list args;

    if (p->error_text && p->error_text_size > 0) {
        va_start(args, format);
        vsnprintf(p->error_text, p->error_text_size, format, args);
        va_end(args);
    }
    return status;
}

static bool valid_client_name(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789-_.:";
    size_t len = strlen(name);

    return len >= 1 && len <= MAX_CLIENT_NAME && strspn(name, allowed) == len;
}

static int check_numbers(const struct redlock_options *p)
{
    if (p->node_timeout_ms < 1 || p->node_timeout_ms > MAX_TIMEOUT_MS) {
        return refuse(p, REDLOCK_EINVAL, "node_timeout_ms is %u; it must be 1 to %d",
                      p->node_timeout_ms, MAX_TIMEOUT_MS);
    }
    if (p->connect_timeout_ms < 1 || p->connect_timeout_ms > MAX_TIMEOUT_MS) {
        return refuse(p, REDLOCK_EINVAL, "connect_timeout_ms is %u; it must be 1 to %d",
                      p->connect_timeout_ms, MAX_TIMEOUT_MS);
    }
    if (p->max_ttl_ms < REDLOCK_MIN_TTL_MS || p->max_ttl_ms > REDLOCK_MAX_TTL_MS) {
        return refuse(p, REDLOCK_EINVAL, "max_ttl_ms is %u; it must be %d to %d (24 h)",
                      p->max_ttl_ms, REDLOCK_MIN_TTL_MS, REDLOCK_MAX_TTL_MS);
    }
    if (p->inspection_ms > MAX_TIMEOUT_MS) {
        return refuse(p, REDLOCK_EINVAL, "inspection_ms is %u; it must be at most %d",
                      p->inspection_ms, MAX_TIMEOUT_MS);
    }
    if (p->quarantine < REDLOCK_QUARANTINE_STRICT || p->quarantine > REDLOCK_QUARANTINE_OFF) {
        return refuse(p, REDLOCK_EINVAL,
                      "quarantine is %d; it must be a value of enum redlock_quarantine",
                      (int)p->quarantine);
    }
    if (p->subscribe != 0 && p->subscribe != 1) {
        return refuse(p, REDLOCK_EINVAL, "subscribe is %d; it must be 0 or 1", p->subscribe);
    }
    if (p->tls_verify != 0 && p->tls_verify != 1) {
        return refuse(p, REDLOCK_EINVAL, "tls_verify is %d; it must be 0 or 1", p->tls_verify);
    }
    if (p->record != 0 && p->record != 1) {
        return refuse(p, REDLOCK_EINVAL, "record is %d; it must be 0 or 1", p->record);
    }
    if (p->drift_ppm > MAX_DRIFT_PPM) {
        return refuse(p, REDLOCK_EINVAL, "drift_ppm is %u; it must be at most %d", p->drift_ppm,
                      MAX_DRIFT_PPM);
    }
    if (p->audit_entries > MAX_AUDIT_ENTRIES) {
        return refuse(p, REDLOCK_EINVAL, "audit_entries is %u; it must be at most %d",
                      p->audit_entries, MAX_AUDIT_ENTRIES);
    }
    return 0;
}

static int check_texts(const struct redlock_options *p)
{
    if (p->nodes == NULL && p->n_nodes > 0) {
        return refuse(p, REDLOCK_EINVAL, "nodes is NULL, but n_nodes is %zu", p->n_nodes);
    }
    if (p->n_nodes < 1 || p->n_nodes > REDLOCK_MAX_NODES) {
        return refuse(p, REDLOCK_EINVAL, "%zu masters are given; there must be 1 to %d", p->n_nodes,
                      REDLOCK_MAX_NODES);
    }
    if (p->password && p->password_file) {
        return refuse(p, REDLOCK_EINVAL, "password and password_file are both set; set one");
    }
    if (p->username && p->password == NULL && p->password_file == NULL) {
        return refuse(p, REDLOCK_EINVAL, "username is set without password; set both");
    }
    if (p->key_prefix && strlen(p->key_prefix) >= REDLOCK_MAX_KEY) {
        return refuse(p, REDLOCK_EINVAL, "key_prefix is %zu bytes long; at most %d are allowed",
                      strlen(p->key_prefix), REDLOCK_MAX_KEY - 1);
    }
    if (p->client_name && !valid_client_name(p->client_name)) {
        return refuse(p, REDLOCK_EINVAL,
                      "client_name must be 1 to %d letters, digits, '-', '_', '.' or ':'",
                      MAX_CLIENT_NAME);
    }
    return 0;
}

static int load_login(struct rlk_options *o, const struct redlock_options *p)
{
    int status;

    o->login = rlk_alloc(sizeof(*o->login));
    status = o->login ? rlk_login_load(o->login, p) : REDLOCK_ENOMEM;
    if (status == REDLOCK_EINVAL) {
        return refuse(p, status, "cannot read the password from the first line of %s: %s",
                      p->password_file, o->login->unread);
    }
    return status;
}

/* Use a text of the options where the URI has none. */
static int fill_text(char **own, const char *text)
{
    if (*own || text == NULL || text[0] == '\0') {
        return 0;
    }
    *own = rlk_uri_copy(text, strlen(text));
    return *own ? 0 : REDLOCK_ENOMEM;
}

/* Another context that has the CAs of the system: reading them takes some 50 ms. */
static const struct rlk_tls *find_roots(const struct rlk_options *o, unsigned n)
{
    unsigned i;

    for (i = 0; i < n; i++) {
        if (o->tls[i] && o->uris[i].cacert == NULL && o->uris[i].verify) {
            return o->tls[i];
        }
    }
    return NULL;
}

/* The context of a master that has TLS. */
static int load_tls(struct rlk_options *o, const struct redlock_options *p, unsigned i)
{
    struct rlk_uri *u = &o->uris[i];
    char why[RLK_TLS_WHY] = "";
    int status;

    u->verify = u->verify < 0 ? p->tls_verify : u->verify;
    if (fill_text(&u->cacert, p->tls_cacert) || fill_text(&u->sni, p->tls_sni)) {
        return REDLOCK_ENOMEM;
    }
    if (u->cert == NULL && u->key == NULL &&
        (fill_text(&u->cert, p->tls_cert) || fill_text(&u->key, p->tls_key))) {
        return REDLOCK_ENOMEM;
    }
    status = rlk_tls_new(u, find_roots(o, i), &o->tls[i], why, sizeof(why));
    return status == REDLOCK_EINVAL ? refuse(p, status, "%s: %s", u->name, why) : status;
}

static int load_node(struct rlk_options *o, const struct redlock_options *p, unsigned i)
{
    struct rlk_uri *u = &o->uris[i];
    const char *why = "";
    unsigned other;
    int status;

    if (p->nodes[i] == NULL) {
        return refuse(p, REDLOCK_EINVAL, "master %u has no URI (NULL)", i + 1);
    }
    status = rlk_uri_parse(p->nodes[i], u, &why);
    if (status == 0 && u->user && rlk_login_password(o->login, u) == NULL) {
        status = REDLOCK_EURI;
        why = "it has a user but no password; write user:password@";
    }
    if (status == REDLOCK_EURI) {
        return refuse(p, status, "master %u of %zu has a URI that is not valid: %s", i + 1,
                      p->n_nodes, why);
    }
    for (other = 0; status == 0 && other < i; other++) {
        if (strcmp(o->uris[other].name, u->name) == 0) {
            return refuse(p, REDLOCK_EINVAL,
                          "master %u and master %u are the same: %s; list each master once",
                          other + 1, i + 1, u->name);
        }
    }
    return status == 0 && u->tls ? load_tls(o, p, i) : status;
}

int rlk_options_make_name(const struct rlk_options *o, const char *name, char **ret)
{
    size_t size = o->key_prefix_len + strlen(name) + 1;

    *ret = rlk_alloc(size);
    if (*ret == NULL) {
        return REDLOCK_ENOMEM;
    }
    snprintf(*ret, size, "%s%s", o->key_prefix, name);
    return 0;
}

/* A stream is needed only where entries are written, and a key only where a record is. */
static int load_names(struct rlk_options *o, const struct redlock_options *p)
{
    char *stream = NULL;
    int status = p->audit_entries > 0 ? rlk_options_make_name(o, RLK_COMMAND_AUDIT, &stream) : 0;

    o->audit = (struct rlk_audit){stream, p->audit_entries};
    if (status == 0 && p->record) {
        status = rlk_options_make_name(o, RLK_COMMAND_RECORD, &o->record_key);
    }
    return status;
}

static int load_texts(struct rlk_options *o, const struct redlock_options *p)
{
    const char *prefix = p->key_prefix ? p->key_prefix : "";
    const char *name = p->client_name ? p->client_name : "libredlock";

    o->key_prefix_len = strlen(prefix);
    o->key_prefix = rlk_uri_copy(prefix, o->key_prefix_len);
    o->client_name = rlk_uri_copy(name, strlen(name));
    o->room = (unsigned)p->n_nodes + RLK_OPTIONS_SPARE;
    o->room = o->room < REDLOCK_MAX_NODES ? o->room : REDLOCK_MAX_NODES;
    o->uris = rlk_alloc(o->room * sizeof(*o->uris));
    o->tls = rlk_alloc(o->room * sizeof(*o->tls));
    return o->key_prefix && o->client_name && o->uris && o->tls ? 0 : REDLOCK_ENOMEM;
}

/* A user who gives a certificate believes that the connections are encrypted. */
static int check_tls_is_used(const struct rlk_options *o, const struct redlock_options *p)
{
    bool set = p->tls_cacert || p->tls_cert || p->tls_key || p->tls_sni || p->tls_verify == 0;
    unsigned i;

    for (i = 0; set && i < o->n_nodes; i++) {
        set = !o->uris[i].tls;
    }
    return set ? refuse(p, REDLOCK_EINVAL,
                        "an option about TLS is set (cacert, cert, key, sni or verify), but no "
                        "master has a URI that begins with rediss://; write rediss:// for TLS")
               : 0;
}

static int load(struct rlk_options *o, const struct redlock_options *p)
{
    int status = load_texts(o, p);
    unsigned i;

    if (status == 0) {
        status = load_names(o, p);
    }
    if (status == 0) {
        status = load_login(o, p);
    }
    for (i = 0; status == 0 && i < p->n_nodes; i++) {
        o->n_nodes = i + 1;
        status = load_node(o, p, i);
        if (status != 0 && status != REDLOCK_ENOMEM && p->error_node) {
            *p->error_node = (int)i;
        }
    }
    o->node_timeout_us = rlk_time_from_ms(p->node_timeout_ms);
    o->connect_timeout_us = rlk_time_from_ms(p->connect_timeout_ms);
    o->max_ttl_ms = p->max_ttl_ms;
    o->drift_ppm = p->drift_ppm;
    o->inspection_us = rlk_time_from_ms(p->inspection_ms);
    o->quarantine = p->quarantine;
    o->subscribe = p->subscribe != 0;
    return status ? status : check_tls_is_used(o, p);
}

int rlk_options_read(const struct redlock_options *theirs, struct redlock_options *ret_public)
{
    enum rlk_sized read;

    *ret_public = defaults;
    read = rlk_sized_read(theirs, LEAST, ret_public, sizeof(*ret_public));
    if (ret_public->error_text && ret_public->error_text_size > 0) {
        ret_public->error_text[0] = '\0';
    }
    if (ret_public->error_node) {
        *ret_public->error_node = -1;
    }
    if (read == RLK_SIZED_UNKNOWN) {
        return refuse(ret_public, REDLOCK_EINVAL,
                      "the options set a field that this library (%s) does not know; the program "
                      "was built for a newer version",
                      REDLOCK_VERSION);
    }
    return read == RLK_SIZED_READ ? 0 : REDLOCK_EINVAL;
}

int rlk_options_load(struct rlk_options *o, const struct redlock_options *public)
{
    int status;

    *o = (struct rlk_options){0};
    status = check_texts(public);
    if (status == 0) {
        status = check_numbers(public);
    }
    if (status == 0) {
        status = load(o, public);
    }
    if (status == REDLOCK_ENOMEM) {
        refuse(public, status, "out of memory");
    }
    if (status) {
        rlk_options_end(o);
    }
    rlk_wipe_stack();
    return status;
}

int rlk_options_name_channel(struct rlk_options *o, uint64_t number)
{
    size_t size = o->key_prefix_len + sizeof(WAKE_CHANNEL) + 16;

    o->wake_channel = rlk_alloc(size);
    if (o->wake_channel == NULL) {
        return REDLOCK_ENOMEM;
    }
    snprintf(o->wake_channel, size, "%s" WAKE_CHANNEL "%016" PRIx64, o->key_prefix, number);
    return 0;
}

/* ---- another server in the place of one ---- */

static int copy_text(char **ret, const char *text)
{
    *ret = text ? rlk_uri_copy(text, strlen(text)) : NULL;
    return text && *ret == NULL ? REDLOCK_ENOMEM : 0;
}

static int take_over(struct rlk_uri *u, const struct rlk_uri *former)
{
    int status = copy_text(&u->user, former->user);

    u->quarantine = former->quarantine;
    u->verify = former->verify;
    if (status == 0 && former->password) {
        u->password = rlk_secret_copy(former->password, strlen(former->password));
        status = u->password ? 0 : REDLOCK_ENOMEM;
    }
    if (status || !u->tls) {
        return status;
    }
    return copy_text(&u->cacert, former->cacert) || copy_text(&u->cert, former->cert) ||
                   copy_text(&u->key, former->key) || copy_text(&u->sni, former->sni)
               ? REDLOCK_ENOMEM
               : 0;
}

/* A place comes from a master: who can write a record there must not choose how we log in. NULL: it
 * is an address, and no more. */
static const char *refuse_place(const struct rlk_uri *u, const struct rlk_uri *former)
{
    if (u->user || u->password || u->cacert || u->cert || u->key || u->sni || u->verify >= 0 ||
        u->quarantine >= 0) {
        return "the record has more than an address";
    }
    return former->tls && !u->tls && u->host ? "it has no TLS, and our masters have" : NULL;
}

static int parse_place(struct rlk_uri *u, const char *uri, const struct rlk_uri *former,
                       const char **ret_reason)
{
    int status = rlk_uri_parse(uri, u, ret_reason);
    const char *refusal = status == 0 ? refuse_place(u, former) : NULL;

    if (refusal) {
        rlk_uri_end(u);
        *ret_reason = refusal;
        status = REDLOCK_EURI;
    }
    return status;
}

static int read_place(struct rlk_uri *u, const char *place, const struct rlk_uri *former, char *why,
                      size_t why_size)
{
    char *uri = rlk_alloc(strlen(place) + 1);
    const char *reason = "only that machine finds it there";
    int status = REDLOCK_ENOMEM;

    if (uri) {
        status =
            rlk_uri_read_place(place, uri) ? parse_place(u, uri, former, &reason) : REDLOCK_EURI;
    }
    rlk_free(uri);
    snprintf(why, why_size, "%s", status == REDLOCK_ENOMEM ? "out of memory" : reason);
    if (status == 0) {
        status = take_over(u, former);
        if (status) {
            rlk_uri_end(u);
        }
    }
    return status;
}

static void keep_name(struct rlk_options *o, struct rlk_former_name *kept, struct rlk_uri *u)
{
    *kept = (struct rlk_former_name){o->former_names, u->name};
    o->former_names = kept;
    u->name = NULL;
}

static bool are_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* A password that is not that of all masters may be meant for one of them only. */
static bool have_one_login(const struct rlk_options *o)
{
    uint64_t left = rlk_options_seen(o);
    unsigned node, first = rlk_options_find(o, 0);

    RLK_MASK_EACH (node, left) {
        if (!are_same(o->uris[node].user, o->uris[first].user) ||
            !are_same(o->uris[node].password, o->uris[first].password)) {
            return false;
        }
    }
    return true;
}

/* A server found by its place, with the settings of another one. */
static int load_place(const struct rlk_options *o, const char *place, const struct rlk_uri *former,
                      struct rlk_uri *u, struct rlk_tls **ret_tls, char *why, size_t why_size)
{
    int status = read_place(u, place, former, why, why_size);

    *ret_tls = NULL;
    if (status == 0 && u->tls) {
        u->verify = u->verify < 0 ? 1 : u->verify;
        status = rlk_tls_new(u, find_roots(o, o->n_nodes), ret_tls, why, why_size);
        if (status) {
            rlk_uri_end(u);
        }
    }
    return status;
}

int rlk_options_add(struct rlk_options *o, const char *place, char *why, size_t why_size)
{
    bool tls = strncmp(place, "rediss:", 7) == 0;
    unsigned like = 0;
    struct rlk_uri settings;
    int status;

    if (o->n_nodes == o->room) {
        snprintf(why, why_size, "there is room for %u masters; restart to have more", o->room);
        return REDLOCK_ELIMIT;
    }
    while (like < o->n_nodes && o->uris[like].tls != tls) {
        like++;
    }
    settings = o->uris[like < o->n_nodes ? like : 0]; /* nothing in it is owned */
    if (!have_one_login(o)) {
        settings.user = settings.password = NULL;
    }
    status =
        load_place(o, place, &settings, &o->uris[o->n_nodes], &o->tls[o->n_nodes], why, why_size);
    o->n_nodes += status == 0;
    return status;
}

int rlk_options_move(struct rlk_options *o, unsigned node, const char *place, char *why,
                     size_t why_size)
{
    struct rlk_uri u;
    struct rlk_tls *tls;
    struct rlk_former_name *kept = rlk_alloc(sizeof(*kept));
    int status =
        kept ? load_place(o, place, &o->uris[node], &u, &tls, why, why_size) : REDLOCK_ENOMEM;

    if (status) {
        rlk_free(kept);
        return status;
    }
    keep_name(o, kept, &o->uris[node]);
    rlk_tls_free(o->tls[node]);
    rlk_uri_end(&o->uris[node]);
    o->tls[node] = tls;
    o->uris[node] = u;
    return 0;
}

uint64_t rlk_options_seen(const struct rlk_options *o)
{
    return rlk_mask_all(o->n_nodes) & ~o->vacant;
}

unsigned rlk_options_number(const struct rlk_options *o, unsigned node)
{
    return rlk_mask_count(rlk_options_seen(o) & (rlk_mask_bit(node) - 1));
}

unsigned rlk_options_find(const struct rlk_options *o, size_t number)
{
    uint64_t left = rlk_options_seen(o);
    size_t i;

    for (i = 0; i < number && left != 0; i++) {
        left &= left - 1;
    }
    return left ? (unsigned)__builtin_ctzll(left) : o->n_nodes;
}

uint64_t rlk_options_numbers(const struct rlk_options *o, uint64_t nodes)
{
    uint64_t left = nodes & rlk_options_seen(o), numbers = 0;
    unsigned node;

    RLK_MASK_EACH (node, left) {
        numbers |= rlk_mask_bit(rlk_options_number(o, node));
    }
    return numbers;
}

enum rlk_quarantine_policy rlk_options_quarantine_policy(const struct rlk_options *o, unsigned node)
{
    int own = o->uris[node].quarantine;

    switch (own < 0 ? o->quarantine : (enum redlock_quarantine)own) {
    case REDLOCK_QUARANTINE_LENIENT:
        return RLK_QUARANTINE_LENIENT;
    case REDLOCK_QUARANTINE_OFF:
        return RLK_QUARANTINE_OFF;
    case REDLOCK_QUARANTINE_STRICT:
        break;
    }
    return RLK_QUARANTINE_STRICT;
}

void rlk_options_end(struct rlk_options *o)
{
    unsigned i;

    for (i = 0; i < o->n_nodes; i++) {
        rlk_tls_free(o->tls[i]);
        rlk_uri_end(&o->uris[i]);
    }
    rlk_free(o->tls);
    rlk_free(o->uris);
    while (o->former_names) {
        struct rlk_former_name *kept = o->former_names;

        o->former_names = kept->next;
        rlk_free(kept->name);
        rlk_free(kept);
    }
    if (o->login) {
        rlk_login_end(o->login);
        rlk_free(o->login);
    }
    rlk_free(o->key_prefix);
    rlk_free(o->client_name);
    rlk_free(o->wake_channel);
    rlk_free((char *)(uintptr_t)o->audit.stream);
    rlk_free(o->record_key);
    *o = (struct rlk_options){0};
}
