/* lib/fake_log.h - what a connection to a fake server has sent, in order. Only for fake.c. */
#ifndef RLK_TESTS_LIB_FAKE_LOG_H
#define RLK_TESTS_LIB_FAKE_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/resp.h"

struct fake_entry {
    struct resp_request request;
    char *text;
};

struct fake_log {
    struct fake_entry *entries;
    size_t n;
    size_t room;
};

/* Takes over the request. */
void fake_log_add(struct fake_log *log, const struct resp_request *request);
void fake_log_free(struct fake_log *log);

/* Whether a command's text begins with these words. */
bool fake_log_begins(const char *text, const char *words);
size_t fake_log_count(const struct fake_log *log, const char *words);
long fake_log_find(const struct fake_log *log, size_t from, const char *words);

#endif
