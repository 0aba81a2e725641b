/* settings.c - reads names and values into the options of a manager. */
#include "cli/companion/settings.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <redlock/redlock.h>

#include "base/alloc.h"
#include "base/companion.h"
#include "net/secret.h"

static const char no_memory[] = "out of memory";
static const char other_version[] =
    "the command redlock is of another version than the library; use the newer one";

/* Overwrite the file, which may have a password. It is one of settings: nobody loses anything. */
static int wipe(int fd, size_t len)
{
    static const char zeros[512];
    size_t at, part;

    for (at = 0; at < len; at += part) {
        part = len - at < sizeof(zeros) ? len - at : sizeof(zeros);
        if (pwrite(fd, zeros, part, (off_t)at) != (ssize_t)part) {
            return -1;
        }
    }
    return 0;
}

/* The whole file, with a NUL behind it; the caller frees it. */
static const char *read_text(int fd, char **ret_text, size_t *ret_len)
{
    struct stat status;
    size_t len;
    char *text;

    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        return "a companion is started by a program that uses libredlock, not by hand";
    }
    len = (size_t)status.st_size;
    text = rlk_secret_alloc_text(len + 1);
    if (text == NULL) {
        return no_memory;
    }
    if (pread(fd, text, len, 0) != (ssize_t)len) {
        rlk_secret_free(text);
        return "the settings cannot be read";
    }
    *ret_text = text;
    *ret_len = len;
    return NULL;
}

/* The text after this one; NULL: it was the last. */
static const char *after(const char *text, const char *end)
{
    const char *next = text + strlen(text) + 1;

    return next < end ? next : NULL;
}

static uint32_t number(const char *value)
{
    return (uint32_t)strtoul(value, NULL, 10);
}

/* Where the value of a name goes. */
static const char **find_text(struct cli_companion_settings *s, const char *name)
{
    struct redlock_options *o = &s->session.options;

    return strcmp(name, RLK_COMPANION_USERNAME) == 0        ? &o->username
           : strcmp(name, RLK_COMPANION_PASSWORD_TEXT) == 0 ? &o->password
           : strcmp(name, RLK_COMPANION_PASSWORD_FILE) == 0 ? &o->password_file
           : strcmp(name, RLK_COMPANION_CLIENT_NAME) == 0   ? &o->client_name
                                                            : NULL;
}

static uint32_t *find_number(struct cli_companion_settings *s, const char *name)
{
    struct redlock_options *o = &s->session.options;

    return strcmp(name, RLK_COMPANION_MAX_TTL_MS) == 0           ? &o->max_ttl_ms
           : strcmp(name, RLK_COMPANION_NODE_TIMEOUT_MS) == 0    ? &o->node_timeout_ms
           : strcmp(name, RLK_COMPANION_CONNECT_TIMEOUT_MS) == 0 ? &o->connect_timeout_ms
                                                                 : NULL;
}

/* False: a name that this version does not know. */
static bool take_setting(struct cli_companion_settings *s, const char *name, const char *value)
{
    struct rlk_config *masters = &s->session.found.sources.nodes.config;
    const char **text = find_text(s, name);
    uint32_t *ms = find_number(s, name);

    if (text) {
        *text = value;
    } else if (ms) {
        *ms = number(value);
    } else if (strcmp(name, RLK_COMPANION_NODE) == 0 && masters->n < REDLOCK_MAX_NODES) {
        masters->uris[masters->n++] = value;
    } else {
        return false;
    }
    return true;
}

static const char *take_settings(struct cli_companion_settings *s, size_t len)
{
    const char *name = s->text, *end = s->text + len, *value = after(name, end);

    if (len == 0 || value == NULL || strcmp(name, RLK_COMPANION_VERSION) != 0 ||
        strcmp(value, RLK_COMPANION_THIS_VERSION) != 0) {
        return other_version;
    }
    while ((name = after(value, end)) && name[0]) {
        value = after(name, end);
        if (value == NULL || !take_setting(s, name, value)) {
            return other_version;
        }
    }
    return NULL;
}

/* A release needs no vote, and nobody to wake it. */
static const char *begin_settings(struct cli_companion_settings *s)
{
    struct rlk_node_list *nodes = &s->session.found.sources.nodes;

    s->session.password.fd = -1;
    nodes->from = "the program's settings";
    nodes->config.uris = rlk_alloc(REDLOCK_MAX_NODES * sizeof(*nodes->config.uris));
    nodes->config.lines = rlk_alloc(REDLOCK_MAX_NODES * sizeof(*nodes->config.lines));
    redlock_options_init(&s->session.options);
    s->session.options.quarantine = REDLOCK_QUARANTINE_OFF;
    s->session.options.inspection_ms = 0;
    s->session.options.record = 0;
    s->session.options.subscribe = 0;
    return nodes->config.uris && nodes->config.lines ? NULL : no_memory;
}

const char *cli_companion_settings_read(int fd, struct cli_companion_settings *ret_settings)
{
    struct cli_companion_settings s = {.text = NULL};
    size_t len = 0;
    const char *why = read_text(fd, &s.text, &len);

    if (why) {
        return why;
    }
    why = begin_settings(&s);
    if (why == NULL) {
        why = take_settings(&s, len);
    }
    if (why == NULL && wipe(fd, len) != 0) {
        why = "the settings cannot be wiped";
    }
    if (why) {
        cli_settings_free(&s.session);
        rlk_secret_free(s.text);
        return why;
    }
    s.session.options.nodes = s.session.found.sources.nodes.config.uris;
    s.session.options.n_nodes = s.session.found.sources.nodes.config.n;
    *ret_settings = s;
    return NULL;
}
