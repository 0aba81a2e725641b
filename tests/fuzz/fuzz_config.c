/* fuzz_config.c - any bytes as a list of masters, and as a file with such a list.
 *
 * A message must not show a URI, because it may contain a password.
 */
#include <stdlib.h>
#include <string.h>

#include <redlock/error.h>

#include "fuzz.h"
#include "settings/config.h"

#define PATH "/etc/redlock/nodes"

static void check_message(const char *message)
{
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
static void check_words(const char *text, const struct rlk_config *config)
{
    size_t i, length;

    for (i = 0; i < config->n; i++) {
        text += strspn(text, rlk_config_separators);
        length = strcspn(text, rlk_config_separators);
        FUZZ_CHECK(strlen(config->uris[i]) == length && memcmp(config->uris[i], text, length) == 0,
                   "each word of a list is a URI");
        text += length;
    }
    FUZZ_CHECK(text[strspn(text, rlk_config_separators)] == '\0', "and no word is left");
}

static void check_lines(const char *path, unsigned lines, const struct rlk_config *config)
{
    unsigned last = 1;
    size_t i;

    for (i = 0; i < config->n; i++) {
        FUZZ_CHECK(config->uris[i][0] && !strpbrk(config->uris[i], rlk_config_separators),
                   "a URI is a word");
        FUZZ_CHECK(!path || config->uris[i][0] != '#', "a comment is no URI");
        FUZZ_CHECK(config->lines[i] >= last && config->lines[i] <= lines, "each has its line");
        last = config->lines[i];
    }
    for (i = 0; i < RLK_SETTINGS; i++) {
        FUZZ_CHECK(!config->values[i] ||
                       (config->value_lines[i] > 0 && config->value_lines[i] <= lines),
                   "and so has a setting");
        FUZZ_CHECK(!config->values[i] || !strchr(config->values[i], '\n'), "which is on one line");
    }
}

static void try(const char *text, const char *path)
{
    char *copy = strdup(text);
    char message[4096] = "";
    struct rlk_error_text error = {message, sizeof(message)};
    struct rlk_config config;
    int status;

    if (copy == NULL) {
        abort();
    }
    status = rlk_config_cut(copy, path, &error, &config);
    FUZZ_CHECK(status == 0 || (path && status == REDLOCK_EINVAL), "only a file can be wrong");
    FUZZ_CHECK((message[0] != '\0') == (status != 0), "what is wrong is said");
    if (status != 0) {
        check_message(message);
    }
    check_lines(path, lines_of(text), &config);
    if (path == NULL) {
        check_words(text, &config);
    }
    rlk_config_free(&config);
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
