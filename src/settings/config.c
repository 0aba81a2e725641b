/* config.c - splits a list of masters, or a file, into URIs and settings. */
#include "settings/config.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <redlock/error.h>

#include "base/alloc.h"

/* What a line is, unless it is a mistake. */
enum {
    IS_SETTING = 0,
    IS_NO_SETTING = 1
};

/* Where a line is, for messages. */
struct place {
    const char *path;
    unsigned number;
    const struct rlk_error_text *error;
};

const char rlk_config_separators[] = ", \t\r\n";

static const char blanks[] = " \t\r";

static void cut_comment(char *line)
{
    char before = '\n';

    for (; *line; before = *line++) {
        if (*line == '#' && strchr(rlk_config_separators, before)) {
            *line = '\0';
            return;
        }
    }
}

static void cut_uris(char *line, unsigned number, struct rlk_config *config)
{
    char *save;
    char *uri;

    for (uri = strtok_r(line, rlk_config_separators, &save); uri;
         uri = strtok_r(NULL, rlk_config_separators, &save)) {
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

/* Quotes would be a part of the value. */
static bool is_quoted(const char *value)
{
    size_t length = strlen(value);

    return length > 1 && (*value == '"' || *value == '\'') && value[length - 1] == *value;
}

static int take_value(const struct place *at, enum rlk_setting setting, char *value,
                      struct rlk_config *config)
{
    if (config->values[setting]) {
        return rlk_settings_refuse(at->error, "%s:%u: %s is given twice: see line %u", at->path,
                                   at->number, rlk_setting_in_file(setting),
                                   config->value_lines[setting]);
    }
    if (is_quoted(value)) {
        return rlk_settings_refuse(at->error, "%s:%u: write the value of %s without quotes",
                                   at->path, at->number, rlk_setting_in_file(setting));
    }
    config->values[setting] = value;
    config->value_lines[setting] = at->number;
    return IS_SETTING;
}

/* List the settings in an error: "key-prefix, max-ttl or sni". */
static int refuse_name(const struct place *at, const char *name)
{
    char known[256] = "";
    int i, last = RLK_SETTINGS;

    if (strcmp(name, "password") == 0) {
        return rlk_settings_refuse(at->error,
                                   "%s:%u: a password cannot be given here: write it into a file "
                                   "of its own, and name that with password-file = FILE",
                                   at->path, at->number);
    }
    while (!rlk_setting_rows[--last].in_file) {
    }
    for (i = 0; i <= last; i++) {
        const char *in_file = rlk_setting_in_file((enum rlk_setting)i);

        if (in_file) {
            strcat(known, !known[0] ? "" : i < last ? ", " : " or ");
            strcat(known, in_file);
        }
    }
    return rlk_settings_refuse(at->error,
                               "%s:%u: unknown setting '%s': write %s, or the URIs of masters",
                               at->path, at->number, name, known);
}

static int take_named(const struct place *at, const char *name, char *value,
                      struct rlk_config *config)
{
    int i;

    for (i = 0; i < RLK_SETTINGS; i++) {
        const char *in_file = rlk_setting_in_file((enum rlk_setting)i);

        if (in_file && strcmp(name, in_file) == 0) {
            return take_value(at, (enum rlk_setting)i, value, config);
        }
    }
    return refuse_name(at, name);
}

/* Read a line "name = value"; no URI begins like that. */
static int cut_value(const struct place *at, char *line, struct rlk_config *config)
{
    char *name = line + strspn(line, blanks);
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-");
    char *equals = name + length + strspn(name + length, blanks);

    if (length == 0 || *equals != '=') {
        return IS_NO_SETTING;
    }
    *equals = '\0';
    name[length] = '\0';
    return take_named(at, name, trim(equals + 1), config);
}

static int cut_line(const struct place *at, char *line, struct rlk_config *config)
{
    int result = IS_NO_SETTING;

    if (at->path) {
        cut_comment(line);
        result = cut_value(at, line, config);
    }
    if (result == IS_NO_SETTING) {
        cut_uris(line, at->number, config);
        return 0;
    }
    return result;
}

/* Two URIs have a character between them. */
int rlk_config_cut(char *text, const char *path, const struct rlk_error_text *error,
                   struct rlk_config *ret_config)
{
    struct place at = {.path = path, .error = error};
    size_t most = strlen(text) / 2 + 1;
    int status = 0;
    char *line;

    memset(ret_config, 0, sizeof(*ret_config));
    ret_config->uris = rlk_alloc(most * sizeof(*ret_config->uris));
    ret_config->lines = rlk_alloc(most * sizeof(*ret_config->lines));
    if (ret_config->uris == NULL || ret_config->lines == NULL) {
        return rlk_settings_no_memory(error);
    }
    while (status == 0 && (line = strsep(&text, "\n"))) {
        at.number++;
        status = cut_line(&at, line, ret_config);
    }
    return status;
}

/* Each URI is a string of its own. */
void rlk_config_free(struct rlk_config *config)
{
    size_t i;

    for (i = 0; i < config->n; i++) {
        explicit_bzero((char *)(uintptr_t)config->uris[i], strlen(config->uris[i]));
    }
    rlk_free(config->uris);
    rlk_free(config->lines);
}
