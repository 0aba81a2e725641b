/* keys.c - collects the keys of a lock, and joins them for messages. */
#include "cli/args/keys.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args/args.h"
#include "cli/say/escape.h"
#include "cli/say/exit.h"
#include "cli/say/say.h"

static int add_key(struct cli_keys *keys, const char *command, const char *key)
{
    size_t i;

    for (i = 0; i < keys->n; i++) {
        if (strcmp(keys->keys[i], key) == 0) {
            return cli_say_usage(command, "KEY '%s' is given twice", key);
        }
    }
    if (keys->n == REDLOCK_MAX_KEYS) {
        return cli_say_usage(command, "too many KEYs: a lock has at most %d", REDLOCK_MAX_KEYS);
    }
    keys->keys[keys->n++] = key;
    return CLI_GO_ON;
}

int cli_keys_take(struct cli_keys *keys, const char *command, int argc, char **argv)
{
    const char *key;
    int code = cli_args_key(command, argc, argv, &key);

    return code == CLI_GO_ON ? add_key(keys, command, key) : code;
}

int cli_keys_read(struct cli_keys *keys, const char *command, int argc, char **argv)
{
    int code;

    do {
        code = cli_keys_take(keys, command, argc, argv);
    } while (code == CLI_GO_ON && optind < argc);
    return code == CLI_GO_ON ? cli_keys_finish(keys) : code;
}

char *cli_keys_join(const struct cli_keys *keys, const char *between)
{
    size_t size = 1, i;
    char *text;

    for (i = 0; i < keys->n; i++) {
        size += strlen(keys->keys[i]) + strlen(between);
    }
    text = calloc(1, size);
    for (i = 0; text && i < keys->n; i++) {
        strcat(text, i > 0 ? between : "");
        strcat(text, keys->keys[i]);
    }
    return text;
}

static char *join_words(const struct cli_keys *keys)
{
    size_t size = 1, i;
    char *text;

    for (i = 0; i < keys->n; i++) {
        size += CLI_ESCAPE_SHELL_SIZE(strlen(keys->keys[i])) + 1;
    }
    text = calloc(1, size);
    for (i = 0; text && i < keys->n; i++) {
        strcat(text, i > 0 ? " " : "");
        cli_escape_shell(keys->keys[i], text + strlen(text));
    }
    return text;
}

int cli_keys_finish(struct cli_keys *keys)
{
    keys->name = cli_keys_join(keys, "' '");
    keys->words = join_words(keys);
    if (keys->name == NULL || keys->words == NULL) {
        return cli_say_no_memory();
    }
    return CLI_GO_ON;
}

void cli_keys_set(const struct cli_keys *keys, struct redlock_request *request)
{
    if (keys->n == 1) {
        request->key = keys->keys[0];
    } else {
        request->keys = keys->keys;
        request->n_keys = keys->n;
    }
}

void cli_keys_free(struct cli_keys *keys)
{
    free(keys->name);
    free(keys->words);
    keys->name = keys->words = NULL;
}
