/* testing/server_log.c - see server_log.h. */
#include "testing/server_log.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "testing/memory.h"

/* The handshake checks whether scripts are allowed: EVALSHA of a script that does not exist, and
 * EVAL of src/scripts/upkeep.lua. */
static bool is_try(const struct resp_request *request)
{
    if (request->argc < 3) {
        return false;
    }
    return rlk_resp_is(request, 0, "EVALSHA")
               ? strspn(request->argv[1], "0") == request->len[1]
               : rlk_resp_is(request, 0, "EVAL") && strstr(request->argv[1], "non deterministic");
}

static char *name_of(const struct resp_request *request)
{
    char *text = rlk_resp_text(request), *name;

    if (!text || !is_try(request)) {
        return text;
    }
    name = rlk_testing_memory_new(strlen(text) + sizeof("TRY "));
    if (name) {
        strcpy(name, "TRY ");
        strcat(name, text);
    }
    free(text);
    return name;
}

static bool make_room(struct server_log *log)
{
    size_t room = log->room ? 2 * log->room : 16;
    struct server_entry *entries;

    if (log->n < log->room) {
        return true;
    }
    entries = realloc(log->entries, room * sizeof(*entries));
    if (rlk_testing_memory_note(entries != NULL)) {
        log->entries = entries;
        log->room = room;
    }
    return entries != NULL;
}

void rlk_testing_server_log_add(struct server_log *log, struct resp_request *request)
{
    char *text = name_of(request);

    if (!text || !make_room(log)) {
        free(text);
        rlk_resp_free(request);
        return;
    }
    log->entries[log->n].request = *request;
    log->entries[log->n++].text = text;
}

void rlk_testing_server_log_clear(struct server_log *log)
{
    while (log->n > 0) {
        struct server_entry *entry = &log->entries[--log->n];

        rlk_resp_free(&entry->request);
        free(entry->text);
    }
    free(log->entries);
    log->entries = NULL;
    log->room = 0;
}

bool rlk_testing_server_log_begins(const char *text, const char *words)
{
    size_t len = strlen(words);

    return len == 0 ||
           (strncasecmp(text, words, len) == 0 && (text[len] == ' ' || text[len] == '\0'));
}

size_t rlk_testing_server_log_count(const struct server_log *log, const char *words)
{
    size_t n = 0;
    size_t i;

    for (i = 0; i < log->n; i++) {
        n += rlk_testing_server_log_begins(log->entries[i].text, words);
    }
    return n;
}

long rlk_testing_server_log_find(const struct server_log *log, size_t from, const char *words)
{
    size_t i;

    for (i = from; i < log->n; i++) {
        if (rlk_testing_server_log_begins(log->entries[i].text, words)) {
            return (long)i;
        }
    }
    return -1;
}
