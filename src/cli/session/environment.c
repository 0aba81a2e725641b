/* environment.c - sets variables from the settings, without secrets, and from a lock. */
#include "cli/session/environment.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args/keys.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "settings/file.h"
#include "settings/node_list.h"
#include "cli/session/settings.h"
#include "cli/system/secret.h"

/* The absolute path of a file that can be read again; NULL for a pipe. */
static char *find_file(const char *path)
{
    return path && rlk_file_is_regular(path) ? realpath(path, NULL) : NULL;
}

static bool is_secret(const struct rlk_config *config)
{
    size_t i;

    for (i = 0; i < config->n; i++) {
        if (rlk_node_list_has_secret(config->uris[i])) {
            return true;
        }
    }
    return false;
}

/* A URI without its password; its user stays. */
static void append_uri(char *list, const char *uri)
{
    const char *login = strstr(uri, "://");
    const char *end = rlk_node_list_find_login(uri);
    const char *colon = login && end ? memchr(login + 3, ':', (size_t)(end - login - 3)) : NULL;

    strcat(list, list[0] ? " " : "");
    if (colon == NULL) {
        strcat(list, uri);
        return;
    }
    strncat(list, uri, (size_t)(colon - uri));
    strcat(list, end + (colon == login + 3)); /* no user: no '@' */
}

static int set_list(const struct rlk_config *config)
{
    size_t size = 1, i;
    char *list;
    int result;

    for (i = 0; i < config->n; i++) {
        size += strlen(config->uris[i]) + 1;
    }
    list = calloc(1, size);
    if (list == NULL) {
        return -1;
    }
    for (i = 0; i < config->n; i++) {
        append_uri(list, config->uris[i]);
    }
    cli_secret_unset("REDLOCK_NODES");
    result = setenv("REDLOCK_NODES", list, 1);
    free(list);
    return result;
}

/* Name the file if the URIs came from a file and have passwords. */
static int set_nodes(const struct rlk_node_list *nodes)
{
    char *path = is_secret(&nodes->config) ? find_file(nodes->path) : NULL;
    int result;

    if (path == NULL) {
        return set_list(&nodes->config);
    }
    cli_secret_unset("REDLOCK_NODES");
    result = setenv("REDLOCK_CONFIG", path, 1);
    free(path);
    return result;
}

int cli_environment_put(const char *variable, const char *value)
{
    return value ? setenv(variable, value, 1) : unsetenv(variable);
}

static int set_login(const struct cli_settings *settings)
{
    char *path = find_file(settings->found.password.file);
    int result = cli_environment_put("REDLOCK_PASSWORD_FILE", path);

    free(path);
    cli_secret_unset("REDLOCK_PASSWORD");
    result |= cli_environment_put("REDLOCK_PASSWORD_COMMAND", settings->password.command);
    return result | cli_environment_put("REDLOCK_USERNAME", settings->options.username);
}

static int put_file(const char *variable, const char *path)
{
    char *absolute = path ? realpath(path, NULL) : NULL;
    int result = cli_environment_put(variable, absolute ? absolute : path);

    free(absolute);
    return result;
}

/* Defaults are set too: otherwise CMD's redlock would take the settings of some file. */
static int set_value(const struct rlk_setting_row *row, const struct redlock_options *options)
{
    const void *field = (const char *)options + row->field;
    char text[24];

    switch (row->kind) {
    case RLK_KIND_TEXT:
        return cli_environment_put(row->variable,
                                   *(const char *const *)field ? *(const char *const *)field : "");
    case RLK_KIND_NAME:
        return cli_environment_put(row->variable, *(const char *const *)field);
    case RLK_KIND_FILE:
        return put_file(row->variable, *(const char *const *)field);
    case RLK_KIND_TIME:
        snprintf(text, sizeof(text), "%" PRIu32 "ms", *(const uint32_t *)field);
        return cli_environment_put(row->variable, text);
    case RLK_KIND_NUMBER:
        snprintf(text, sizeof(text), "%" PRIu32, *(const uint32_t *)field);
        return cli_environment_put(row->variable, text);
    case RLK_KIND_WORD:
        return cli_environment_put(row->variable, row->words[*(const int *)field]);
    case RLK_KIND_SWITCH:
        return cli_environment_put(row->variable, *(const int *)field ? "1" : "0");
    case RLK_KIND_OWN:
        break;
    }
    return 0;
}

static int set_values(const struct redlock_options *options)
{
    int result = 0, i;

    for (i = 0; i < RLK_SETTINGS; i++) {
        result |= set_value(&rlk_setting_rows[i], options);
    }
    return result;
}

int cli_environment_set(const struct cli_settings *settings)
{
    if (set_nodes(&settings->found.sources.nodes) != 0 || set_login(settings) != 0 ||
        set_values(&settings->options) != 0) {
        return cli_say_no_memory();
    }
    return CLI_OK;
}

/* ---- a lock ---- */

static int put_number(const char *name, uint64_t number)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRIu64, number);
    return setenv(name, text, 1);
}

static int put_keys(const struct cli_keys *keys)
{
    char *lines = cli_keys_join(keys, "\n");
    bool failed = lines == NULL || setenv("REDLOCK_KEY", keys->keys[0], 1) != 0 ||
                  setenv("REDLOCK_KEYS", lines, 1) != 0;

    free(lines);
    return failed ? -1 : 0;
}

/* A fencing token that was inherited belongs to another lock. */
static int put_fence(const struct redlock_lock *lock)
{
    uint64_t fence = redlock_lock_fencing_token(lock);

    return fence ? put_number("REDLOCK_FENCING_TOKEN", fence) : unsetenv("REDLOCK_FENCING_TOKEN");
}

int cli_environment_set_lock(const struct cli_keys *keys, const struct redlock_lock *lock)
{
    uint32_t tries;
    uint64_t took_us;

    redlock_lock_effort(lock, &tries, &took_us);
    if (put_keys(keys) != 0 || put_fence(lock) != 0 || put_number("REDLOCK_TRIES", tries) != 0 ||
        cli_environment_put("REDLOCK_TOKEN", redlock_lock_token(lock)) != 0 ||
        put_number("REDLOCK_TOOK_US", took_us) != 0) {
        return cli_say_no_memory();
    }
    return CLI_OK;
}

void cli_environment_unset_lock(void)
{
    static const char *const variables[] = {
        "REDLOCK_KEY",           "REDLOCK_KEYS",  "REDLOCK_TOKEN",
        "REDLOCK_FENCING_TOKEN", "REDLOCK_TRIES", "REDLOCK_TOOK_US",
        "REDLOCK_TERM",          "REDLOCK_ID",    "REDLOCK_VALUE"};
    size_t i;

    for (i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        unsetenv(variables[i]);
    }
}
