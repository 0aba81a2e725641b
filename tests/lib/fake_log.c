/* lib/fake_log.c - see fake_log.h. */
#include "lib/fake_log.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The greeting tries whether it may run scripts: EVALSHA of none, and EVAL of
 * src/scripts/upkeep.lua. */
static bool is_try(const struct resp_request *request)
{
    if (request->argc < 3) {
        return false;
    }
    return resp_is(request, 0, "EVALSHA")
               ? strspn(request->argv[1], "0") == request->len[1]
               : resp_is(request, 0, "EVAL") && strstr(request->argv[1], "non deterministic");
}

static char *name_of(const struct resp_request *request)
{
    char *text = resp_text(request), *name;

    if (!is_try(request)) {
        return text;
    }
    name = malloc(strlen(text) + sizeof("TRY "));
    strcpy(name, "TRY ");
    strcat(name, text);
    free(text);
    return name;
}

void fake_log_add(struct fake_log *log, const struct resp_request *request)
{
    struct fake_entry *entry;

    if (log->n == log->room) {
        log->room = log->room ? 2 * log->room : 16;
        log->entries = realloc(log->entries, log->room * sizeof(*log->entries));
    }
    entry = &log->entries[log->n++];
    entry->request = *request;
    entry->text = name_of(request);
}

void fake_log_free(struct fake_log *log)
{
    while (log->n > 0) {
        struct fake_entry *entry = &log->entries[--log->n];

        resp_free(&entry->request);
        free(entry->text);
    }
    free(log->entries);
    log->entries = NULL;
}

bool fake_log_begins(const char *text, const char *words)
{
    size_t len = strlen(words);

    return len == 0 ||
           (strncasecmp(text, words, len) == 0 && (text[len] == ' ' || text[len] == '\0'));
}

size_t fake_log_count(const struct fake_log *log, const char *words)
{
    size_t n = 0;
    size_t i;

    for (i = 0; i < log->n; i++) {
        n += fake_log_begins(log->entries[i].text, words);
    }
    return n;
}

long fake_log_find(const struct fake_log *log, size_t from, const char *words)
{
    size_t i;

    for (i = from; i < log->n; i++) {
        if (fake_log_begins(log->entries[i].text, words)) {
            return (long)i;
        }
    }
    return -1;
}
