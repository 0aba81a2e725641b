/* config.c - splits a list of masters, or a file, into URIs and settings. */
#include "cli/session/config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say/exit.h"
#include "cli/say/say.h"

const char cli_config_separators[] = ", \t\r\n";

static const char blanks[] = " \t\r";

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

static void cut_uris(char *line, unsigned number, struct cli_config *config)
{
    char *save;
    char *uri;

    for (uri = strtok_r(line, cli_config_separators, &save); uri;
         uri = strtok_r(NULL, cli_config_separators, &save)) {
        config->lines[config->n] = number;
        config->uris[config->n++] = uri;
    }
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

static int take_value(const char *path, unsigned number, enum cli_setting setting, char *value,
                      struct cli_config *config)
{
    if (config->values[setting]) {
        cli_say("%s:%u: %s is given twice: see line %u", path, number, cli_setting_in_file(setting),
                config->value_lines[setting]);
        return CLI_USAGE;
    }
    config->values[setting] = value;
    config->value_lines[setting] = number;
    return CLI_OK;
}

/* Say which settings there are: "key-prefix, max-ttl or sni". */
static int refuse_name(const char *path, unsigned number, const char *name)
{
    char known[256] = "";
    int i, last = CLI_SETTINGS;

    if (strcmp(name, "password") == 0) {
        cli_say("%s:%u: a password cannot be given here: write it into a file of its own, and "
                "name that with password-file = FILE",
                path, number);
        return CLI_USAGE;
    }
    while (!cli_settings[--last].in_file) {
    }
    for (i = 0; i <= last; i++) {
        const char *in_file = cli_setting_in_file((enum cli_setting)i);

        if (in_file) {
            strcat(known, !known[0] ? "" : i < last ? ", " : " or ");
            strcat(known, in_file);
        }
    }
    cli_say("%s:%u: unknown setting '%s': write %s, or the URIs of masters", path, number, name,
            known);
    return CLI_USAGE;
}

static int take_named(const char *path, unsigned number, const char *name, char *value,
                      struct cli_config *config)
{
    int i;

    for (i = 0; i < CLI_SETTINGS; i++) {
        const char *in_file = cli_setting_in_file((enum cli_setting)i);

        if (in_file && strcmp(name, in_file) == 0) {
            return take_value(path, number, (enum cli_setting)i, value, config);
        }
    }
    return refuse_name(path, number, name);
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
    return take_named(path, number, name, trim(equals + 1), config);
}

/* Two URIs have a character between them. */
int cli_config_cut(char *text, const char *path, struct cli_config *ret_config)
{
    size_t most = strlen(text) / 2 + 1;
    unsigned number = 0;
    char *line;

    memset(ret_config, 0, sizeof(*ret_config));
    ret_config->uris = calloc(most, sizeof(*ret_config->uris));
    ret_config->lines = calloc(most, sizeof(*ret_config->lines));
    if (ret_config->uris == NULL || ret_config->lines == NULL) {
        cli_say("out of memory");
        return CLI_INTERNAL;
    }
    while ((line = strsep(&text, "\n"))) {
        int code = CLI_GO_ON;

        number++;
        if (path) {
            cut_comment(line);
            code = cut_value(path, number, line, ret_config);
        }
        if (code == CLI_GO_ON) {
            cut_uris(line, number, ret_config);
        } else if (code != CLI_OK) {
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
