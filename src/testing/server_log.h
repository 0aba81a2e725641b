/* testing/server_log.h - what a connection has sent, in order. */
#ifndef RLK_TESTING_SERVER_LOG_H
#define RLK_TESTING_SERVER_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "testing/resp.h"

struct server_entry {
    struct resp_request request;
    char *text;
};

struct server_log {
    struct server_entry *entries;
    size_t n;
    size_t room;
};

/* Takes over the request, also when out of memory (memory.h). */
void rlk_testing_server_log_add(struct server_log *log, struct resp_request *request);
void rlk_testing_server_log_clear(struct server_log *log);

/* Whether a command's text begins with these words. */
bool rlk_testing_server_log_begins(const char *text, const char *words);
size_t rlk_testing_server_log_count(const struct server_log *log, const char *words);
long rlk_testing_server_log_find(const struct server_log *log, size_t from, const char *words);

#endif
