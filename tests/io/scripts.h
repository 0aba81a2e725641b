/* io/scripts.h - which of the library's scripts a fake server was sent, and with what. */
#ifndef RLK_TESTS_IO_SCRIPTS_H
#define RLK_TESTS_IO_SCRIPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/farm.h"
#include "scripts/scripts.h"

/* How many came to a node, on all connections. */
size_t scripts_count(const struct farm *f, size_t node, const struct rlk_script *script);

/* The newest one of them. Dies when there is none. */
const struct resp_request *scripts_last(const struct farm *f, size_t node,
                                        const struct rlk_script *script);

/* What it said. */
uint32_t scripts_ttl(const struct resp_request *request);
const char *scripts_token(const struct resp_request *request);
bool scripts_is_text(const struct resp_request *request);

/* Wait until so many have come to a node. */
void scripts_wait(struct farm *f, size_t node, const struct rlk_script *script, size_t count);

/* The same for each node from first on, before last. */
void scripts_wait_all(struct farm *f, size_t first, size_t last, const struct rlk_script *script,
                      size_t count);

#endif
