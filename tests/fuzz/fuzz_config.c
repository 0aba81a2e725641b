/* fuzz_config.c - any bytes as a list of masters, and as a file with such a list.
 *
 * The file of messages is replaced: a message must not show a URI, because it may have a password.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say/exit.h"
#include "cli/say/say.h"
#include "cli/session/config.h"
#include "fuzz.h"

#define PATH "/etc/redlock/nodes"

static unsigned said;

void cli_say(const char *format, ...)
{
    char message[4096];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    said++;
    FUZZ_CHECK(strncmp(message, PATH ":", sizeof(PATH)) == 0, "a message says where");
    FUZZ_CHECK(!strchr(message, '@') && !strstr(message, "//"), "a message shows no URI");
}

static unsigned lines_of(const char *text)
{
    unsigned n = 1;

    for (; *text; text++) {
        n += *text == '\n';
    }
    return n;
}

/* A list is its words, in order. */
static void check_words(const char *text, const struct cli_config *config)
{
    size_t i, length;

    for (i = 0; i < config->n; i++) {
        text += strspn(text, cli_config_separators);
        length = strcspn(text, cli_config_separators);
        FUZZ_CHECK(strlen(config->uris[i]) == length && memcmp(config->uris[i], text, length) == 0,
                   "each word of a list is a URI");
        text += length;
    }
    FUZZ_CHECK(text[strspn(text, cli_config_separators)] == '\0', "and no word is left");
}

static void check_lines(const char *path, unsigned lines, const struct cli_config *config)
{
    unsigned last = 1;
    size_t i;

    for (i = 0; i < config->n; i++) {
        FUZZ_CHECK(config->uris[i][0] && !strpbrk(config->uris[i], cli_config_separators),
                   "a URI is a word");
        FUZZ_CHECK(!path || config->uris[i][0] != '#', "a comment is no URI");
        FUZZ_CHECK(config->lines[i] >= last && config->lines[i] <= lines, "each has its line");
        last = config->lines[i];
    }
    for (i = 0; i < CLI_SETTINGS; i++) {
        FUZZ_CHECK(!config->values[i] ||
                       (config->value_lines[i] > 0 && config->value_lines[i] <= lines),
                   "and so has a setting");
        FUZZ_CHECK(!config->values[i] || !strchr(config->values[i], '\n'), "which is on one line");
    }
}

static void try(const char *text, const char *path)
{
    char *copy = strdup(text);
    struct cli_config config;
    int code;

    if (copy == NULL) {
        abort();
    }
    said = 0;
    code = cli_config_cut(copy, path, &config);
    FUZZ_CHECK(code == CLI_OK || (path && code == CLI_USAGE), "only a file can be wrong");
    FUZZ_CHECK(said == (code != CLI_OK), "what is wrong is said, once");
    check_lines(path, lines_of(text), &config);
    if (path == NULL) {
        check_words(text, &config);
    }
    cli_config_free(&config);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);

    try(text, NULL);
    try(text, PATH);
    free(text);
    return 0;
}
