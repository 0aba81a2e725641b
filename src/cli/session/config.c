/* config.c - splits a list of masters, or a file, into URIs and settings. */
#include "cli/session/config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say/exit.h"
#include "cli/say/say.h"

const char cli_config_separators[] = ", \t\r\n";

static const char blanks[] = " \t\r";

static const char *const names[] = {[CLI_CONFIG_KEY_PREFIX] = "key-prefix",
                                    [CLI_CONFIG_MAX_TTL] = "max-ttl",
                                    [CLI_CONFIG_QUARANTINE] = "quarantine",
                                    [CLI_CONFIG_CACERT] = "cacert",
                                    [CLI_CONFIG_CERT] = "cert",
                                    [CLI_CONFIG_KEY] = "key",
                                    [CLI_CONFIG_SNI] = "sni",
                                    [CLI_CONFIG_TLS_VERIFY] = "tls-verify"};

static void cut_comment(char *line)
{
    char before = '\n';

    for (; *line; before = *line++) {
        if (*line == '#' && strchr(cli_config_separators, before)) {
            *line = '\0';
            return;
        }
    }
}

/* Make room for one more URI. Returns 0 or -1. */
static int grow(struct cli_config *config)
{
    const char **uris = realloc(config->uris, (config->n + 1) * sizeof(*uris));
    unsigned *lines;

    if (uris == NULL) {
        return -1;
    }
    config->uris = uris;
    lines = realloc(config->lines, (config->n + 1) * sizeof(*lines));
    if (lines == NULL) {
        return -1;
    }
    config->lines = lines;
    return 0;
}

static int cut_uris(char *line, unsigned number, struct cli_config *config)
{
    char *save;
    char *uri;

    for (uri = strtok_r(line, cli_config_separators, &save); uri;
         uri = strtok_r(NULL, cli_config_separators, &save)) {
        if (grow(config) != 0) {
            cli_say("out of memory");
            return CLI_INTERNAL;
        }
        config->lines[config->n] = number;
        config->uris[config->n++] = uri;
    }
    return CLI_GO_ON;
}

static char *trim(char *text)
{
    size_t length;

    text += strspn(text, blanks);
    length = strlen(text);
    while (length > 0 && strchr(blanks, text[length - 1])) {
        text[--length] = '\0';
    }
    return text;
}

static int take_value(const char *path, unsigned number, const char *name, char *value,
                      struct cli_config *config)
{
    int i;

    for (i = 0; i < CLI_CONFIG_NAMES; i++) {
        if (strcmp(name, names[i]) != 0) {
            continue;
        }
        if (config->values[i]) {
            cli_say("%s:%u: %s is given twice: see line %u", path, number, name,
                    config->value_lines[i]);
            return CLI_USAGE;
        }
        config->values[i] = value;
        config->value_lines[i] = number;
        return CLI_OK;
    }
    cli_say(
        "%s:%u: unknown setting '%s': write key-prefix, max-ttl, quarantine, cacert, cert, key, "
        "sni or tls-verify, or the URIs of masters",
        path, number, name);
    return CLI_USAGE;
}

/* Read a line "name = value"; no URI begins like that. Returns CLI_GO_ON for any other line. */
static int cut_value(const char *path, unsigned number, char *line, struct cli_config *config)
{
    char *name = line + strspn(line, blanks);
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-");
    char *equals = name + length + strspn(name + length, blanks);

    if (length == 0 || *equals != '=') {
        return CLI_GO_ON;
    }
    *equals = '\0';
    name[length] = '\0';
    return take_value(path, number, name, trim(equals + 1), config);
}

int cli_config_cut(char *text, const char *path, struct cli_config *ret_config)
{
    unsigned number = 0;
    char *line;

    memset(ret_config, 0, sizeof(*ret_config));
    while ((line = strsep(&text, "\n"))) {
        int code = CLI_GO_ON;

        number++;
        if (path) {
            cut_comment(line);
            code = cut_value(path, number, line, ret_config);
        }
        if (code == CLI_GO_ON) {
            code = cut_uris(line, number, ret_config);
        }
        if (code != CLI_GO_ON && code != CLI_OK) {
            return code;
        }
    }
    return CLI_OK;
}

/* Each URI is a string of its own. */
void cli_config_free(struct cli_config *config)
{
    size_t i;

    for (i = 0; i < config->n; i++) {
        explicit_bzero((char *)(uintptr_t)config->uris[i], strlen(config->uris[i]));
    }
    free(config->uris);
    free(config->lines);
}
