/* io/scripts.h - which of the library's scripts a fake server was sent, and with what. */
#ifndef RLK_TESTS_IO_SCRIPTS_H
#define RLK_TESTS_IO_SCRIPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/farm.h"

enum script {
    SCRIPT_NONE = 0, /* another command, or a script that nobody knows */
    SCRIPT_RELEASE,
    SCRIPT_KEEP, /* our keys are to live longer */
    SCRIPT_TAKE  /* our keys are to be set: of a lock with several, or to heal */
};

/* How many came to a node, on all connections. */
size_t scripts_count(const struct farm *f, size_t node, enum script script);

/* The newest one of them. Dies when there is none. */
const struct resp_request *scripts_last(const struct farm *f, size_t node, enum script script);

/* What it said. */
uint32_t scripts_ttl(const struct resp_request *request);
const char *scripts_token(const struct resp_request *request);
bool scripts_is_text(const struct resp_request *request);

/* Wait until so many have come to a node. */
void scripts_wait(struct farm *f, size_t node, enum script script, size_t count);

/* The same for each node from first on, before last. */
void scripts_wait_all(struct farm *f, size_t first, size_t last, enum script script, size_t count);

#endif
